/*
 * tree.c: JSON for the core in tests: as strict as the server, but a text is in no
 * encoding, and an object keeps the text that it was read from.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define DEPTH 64

/* A value; text is a string without its escapes, else as it was read. */
typedef struct Node
{
	DpermTree	tree;
	DpermText	key;
	struct Node *first;
	struct Node *last;			/* of an array */
	struct Node *next;
} Node;

typedef struct Parser
{
	const char *at;
	const char *end;
	int			depth;
} Parser;

static Node *parse_value(Parser *p);

static void
skip_space(Parser *p)
{
	while (p->at < p->end && strchr(" \t\n\r", *p->at) && *p->at)
		p->at++;
}

/* Is this character next? Then it is behind. */
static bool
take(Parser *p, char c)
{
	skip_space(p);
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

/* Four digits of an escape; -1: they are not. */
static int
parse_hex(Parser *p)
{
	int			value = 0;

	for (int i = 0; i < 4; i++, p->at++)
	{
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *digit = p->at < p->end && *p->at ? strchr(digits, *p->at) : NULL;

		if (digit == NULL)
			return -1;
		value = value * 16 + (int) (digit - digits) % 16;
	}
	return value;
}

/* What is behind a backslash, appended as UTF-8. */
static bool
parse_escape(Parser *p, char **out)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *found = p->at < p->end && *p->at ? strchr(from, *p->at) : NULL;
	int			code;
	int			low;

	if (found)
	{
		*(*out)++ = to[found - from];
		p->at++;
		return true;
	}
	if (p->at == p->end || *p->at++ != 'u' || (code = parse_hex(p)) < 1 || code >> 10 == 0x37)
		return false;
	if (code >> 10 == 0x36)
	{
		if (p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
			return false;
		p->at += 2;
		low = parse_hex(p);
		if (low >> 10 != 0x37)
			return false;
		code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
	}
	for (int bits = code < 0x80 ? 0 : code < 0x800 ? 6 : code < 0x10000 ? 12 : 18, first = 1;
		 bits >= 0; bits -= 6, first = 0)
		*(*out)++ = (char) (code < 0x80 ? code : !first ? 0x80 | (code >> bits & 0x3f) :
							(bits == 6 ? 0xc0 : bits == 12 ? 0xe0 : 0xf0) | code >> bits);
	return true;
}

/* A string. */
static bool
parse_string(Parser *p, DpermText *text)
{
	const char *close;
	char	   *out;

	if (!take(p, '"'))
		return false;
	for (close = p->at; close < p->end && *close != '"'; close++)
		close += *close == '\\';
	text->bytes = out = test_host_keep((size_t) (close - p->at) + 1);
	while (p->at < p->end && *p->at != '"')
	{
		if ((unsigned char) *p->at < 0x20)
			return false;
		if (*p->at != '\\')
			*out++ = *p->at++;
		else
		{
			p->at++;
			if (!parse_escape(p, &out))
				return false;
		}
	}
	text->len = (int) (out - text->bytes);
	return take(p, '"');
}

/* Digits, at least one. */
static bool
skip_digits(Parser *p)
{
	const char *start = p->at;

	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > start;
}

static bool
parse_number(Parser *p)
{
	if (p->at < p->end && *p->at == '-')
		p->at++;
	if (p->at < p->end && *p->at == '0')
		p->at++;
	else if (!skip_digits(p))
		return false;
	if (p->at < p->end && *p->at == '.')
	{
		p->at++;
		if (!skip_digits(p))
			return false;
	}
	if (p->at < p->end && (*p->at == 'e' || *p->at == 'E'))
	{
		p->at++;
		if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
			p->at++;
		if (!skip_digits(p))
			return false;
	}
	return p->at == p->end || strchr(",]} \t\n\r", *p->at);
}

/* Add a member, in place of one of its name. */
static void
add(Node *parent, Node *child)
{
	Node	  **at = parent->last ? &parent->last->next : &parent->first;

	if (parent->tree.kind == DPERM_TREE_LIST)
		parent->last = child;
	else
		while (*at && ((*at)->key.len != child->key.len ||
					   memcmp((*at)->key.bytes, child->key.bytes, (size_t) child->key.len) != 0))
			at = &(*at)->next;
	child->next = *at ? (*at)->next : NULL;
	parent->tree.count += *at == NULL;
	*at = child;
}

/* What is in an array or an object. */
static bool
parse_members(Parser *p, Node *node, char closer)
{
	if (++p->depth > DEPTH)
		return false;
	if (!take(p, closer))
		do
		{
			DpermText	key = {NULL, 0};
			Node	   *child;

			if (closer == '}' && (!parse_string(p, &key) || !take(p, ':')))
				return false;
			child = parse_value(p);
			if (child == NULL)
				return false;
			child->key = key;
			add(node, child);
		} while (take(p, ','));
	else
		p->at--;
	p->depth--;
	return take(p, closer);
}

/* A literal name. */
static bool
parse_word(Parser *p, const char *word)
{
	if ((size_t) (p->end - p->at) < strlen(word) || memcmp(p->at, word, strlen(word)) != 0)
		return false;
	p->at += strlen(word);
	return true;
}

/* Any value; NULL if it is none. */
static Node *
parse_value(Parser *p)
{
	Node	   *node = test_host_keep(sizeof(Node));
	const char *start;
	bool		good;

	skip_space(p);
	start = p->at;
	switch (p->at < p->end ? *p->at : 0)
	{
		case '{':
		case '[':
			node->tree.kind = *p->at == '{' ? DPERM_TREE_OBJECT : DPERM_TREE_LIST;
			p->at++;
			good = parse_members(p, node, *start == '{' ? '}' : ']');
			break;
		case '"':
			node->tree.kind = DPERM_TREE_TEXT;
			good = parse_string(p, &node->tree.text);
			break;
		case 't':
		case 'f':
			node->tree.kind = DPERM_TREE_BOOL;
			node->tree.flag = *p->at == 't';
			good = parse_word(p, node->tree.flag ? "true" : "false");
			break;
		case 'n':
			good = parse_word(p, "null");
			break;
		default:
			node->tree.kind = DPERM_TREE_NUMBER;
			good = parse_number(p);
	}
	if (node->tree.kind != DPERM_TREE_TEXT)
		node->tree.text = (DpermText) {start, (int) (p->at - start)};
	node->tree.at = node;
	return good ? node : NULL;
}

bool
dperm_tree_parse(DpermText text, DpermTree *out)
{
	Parser		p = {text.bytes, text.bytes + text.len, 0};
	Node	   *node = text.len > 0 ? parse_value(&p) : NULL;

	skip_space(&p);
	if (node == NULL || p.at < p.end)
		return false;
	*out = node->tree;
	return true;
}

bool
dperm_tree_member(const DpermTree *object, const char *key, DpermTree *out)
{
	const Node *at = object->kind == DPERM_TREE_OBJECT ? ((const Node *) object->at)->first : NULL;

	while (at && (strlen(key) != (size_t) at->key.len || memcmp(at->key.bytes, key, strlen(key)) != 0))
		at = at->next;
	if (at)
		*out = at->tree;
	return at != NULL;
}

DpermTree
dperm_tree_element(const DpermTree *list, int i)
{
	const Node *at = ((const Node *) list->at)->first;

	while (i-- > 0)
		at = at->next;
	return at->tree;
}

/* The digits, with a zero byte. */
static char *
digits(const DpermTree *number)
{
	return memcpy(test_host_keep((size_t) number->text.len + 1), number->text.bytes,
				  (size_t) number->text.len);
}

double
dperm_tree_number(const DpermTree *number)
{
	char	   *text = digits(number);
	double		rounded = strtod(text, NULL);

	return rounded == 0 && strcspn(text, "123456789") < strcspn(text, "eE") ? NAN : rounded;
}

bool
dperm_tree_integer(const DpermTree *number, int64_t *out)
{
	char	   *end;

	errno = 0;
	*out = strtoll(digits(number), &end, 10);
	return errno == 0 && *end == '\0';
}

DpermText
dperm_tree_print(const DpermTree *object)
{
	return object->text;
}
