/*
 * codec.c: a field as bytes and as JSON, in and out. Trusted.
 */
#include "core/base/codec.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/core.h"

/* Every element of a list has at least so many bytes. */
#define ELEMENT_MIN 4

#define TOO_EARLY "it ends too early"

/* More numbers than any field has: bounds of all coordinates. */
#define NUMBERS_MAX (2 * DPERM_DIM_MAX)

/* Room for more bytes. */
static char *
grow(DpermOut *out, size_t size)
{
	if (size > out->room - out->len)
	{
		char	   *bytes;

		out->room = 2 * (out->len + size) + 256;
		bytes = dperm_host_alloc(out->room);
		if (out->len > 0)
			memcpy(bytes, out->bytes, out->len);
		out->bytes = bytes;
	}
	return out->bytes + out->len;
}

/* Append formatted text, and a zero byte that does not count. */
void
dperm_codec_put(DpermOut *out, const char *format,...)
{
	for (size_t size = 256;; size *= 4)
	{
		char	   *at = grow(out, size);
		va_list		args;
		int			len;

		va_start(args, format);
		len = vsnprintf(at, size, format, args);
		va_end(args);
		if (len < 0 || (size_t) len >= size)
			continue;
		out->len += (size_t) len;
		return;
	}
}

/* Append the shortest decimal that reads back as the same double. */
void
dperm_codec_put_double(DpermOut *out, double value)
{
	char		digits[32];

	if (value == 0.0)
		value = 0.0;			/* no negative zero */
	for (int precision = 15; precision <= 17; precision++)
	{
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	dperm_codec_put(out, "%s", digits);
}

/* Append bytes as they are. */
void
dperm_codec_put_bytes(DpermOut *out, const void *bytes, size_t len)
{
	(void) dperm_bytes_put((unsigned char *) grow(out, len), bytes, len);
	out->len += len;
}

/* Append a string in quotes, with the escapes that JSON asks for. */
static void
put_string(DpermOut *out, DpermText text)
{
	int			plain = 0;		/* start of the bytes not yet written */

	dperm_codec_put_bytes(out, "\"", 1);
	for (int i = 0; i < text.len; i++)
	{
		unsigned char c = (unsigned char) text.bytes[i];

		if (c != '"' && c != '\\' && c >= 0x20)
			continue;
		dperm_codec_put_bytes(out, text.bytes + plain, (size_t) (i - plain));
		dperm_codec_put(out, c < 0x20 ? "\\u%04x" : "\\%c", c);
		plain = i + 1;
	}
	if (plain < text.len)
		dperm_codec_put_bytes(out, text.bytes + plain, (size_t) (text.len - plain));
	dperm_codec_put(out, "\"");
}

/* Stop reading; the first reason is kept. */
void
dperm_codec_fail(DpermCodec *c, const char *why)
{
	if (c->why == NULL)
		c->why = why;
}

/* The same because of a field. */
void
dperm_codec_complain(DpermCodec *c, const char *key, const char *what)
{
	DpermOut	why = {NULL, 0, 0};
	const char *of = NULL;

	if (c->why)
		return;
	for (int i = c->depth - 1; of == NULL && i >= 0; i--)
		of = c->levels[i].key;
	if (key)
		dperm_codec_put(&why, "key \"%s\"", key);
	else
		dperm_codec_put(&why, of ? "an element" : "it");
	if (of)
		dperm_codec_put(&why, " of \"%s\"", of);
	dperm_codec_put(&why, " %s", what);
	c->why = why.bytes;
}

/* The end of bytes that are read: what is wrong with them, or NULL. */
const char *
dperm_codec_end_of_bytes(DpermCodec *c)
{
	if (c->in.left > 0)
		dperm_codec_fail(c, "there is data after its end");
	return c->why;
}

static bool
is_bytes(const DpermCodec *c)
{
	return c->form == DPERM_CODEC_WRITE_BYTES || c->form == DPERM_CODEC_READ_BYTES;
}

/* The next bytes that are read, or NULL. */
static const unsigned char *
get_bytes(DpermCodec *c, size_t len)
{
	const unsigned char *at = c->why ? NULL : dperm_bytes_get(&c->in, len);

	if (at == NULL)
		dperm_codec_fail(c, TOO_EARLY);
	return at;
}

/* A number as so many bytes, if the form is bytes; 0 if they are not there. */
static bool
as_bytes(DpermCodec *c, uint64_t *bits, int size)
{
	const unsigned char *at;

	if (c->form == DPERM_CODEC_WRITE_BYTES)
	{
		(void) dperm_bytes_put_int((unsigned char *) grow(&c->out, 8), *bits, size);
		c->out.len += (size_t) size;
	}
	else if (c->form == DPERM_CODEC_READ_BYTES)
	{
		at = get_bytes(c, (size_t) size);
		*bits = at ? dperm_bytes_load(at, size) : 0;
	}
	return is_bytes(c);
}

/* The level of JSON that is open. */
static DpermCodecLevel *
level(DpermCodec *c)
{
	return &c->levels[c->depth - 1];
}

/* If JSON is written: a comma and the key of a value that follows. */
static bool
as_json(DpermCodec *c, const char *key)
{
	if (c->form != DPERM_CODEC_WRITE_JSON)
		return false;
	if (c->depth > 0 && level(c)->done++ > 0)
		dperm_codec_put(&c->out, ", ");
	if (key)
		dperm_codec_put(&c->out, "\"%s\": ", key);
	return true;
}

/* If JSON is read, find a value: of a key, the next element, or the whole. */
static bool
find(DpermCodec *c, const char *key, DpermTree *out)
{
	if (c->form != DPERM_CODEC_READ_JSON || c->why)
		return false;
	if (key)
		return dperm_tree_member(&level(c)->tree, key, out);
	if (c->depth > 0 && level(c)->done >= level(c)->tree.count)
		return false;
	*out = c->depth > 0 ? dperm_tree_element(&level(c)->tree, level(c)->done) : c->root;
	return true;
}

/* The same for a value that is required and of this kind: the next one follows it. */
static bool
take(DpermCodec *c, const char *key, DpermTreeKind kind, DpermTree *out)
{
	static const char *const faults[] = {"must be null", "must be true or false",
										 "must be a number", "must be a string",
										 "must be an array", "must be an object"};

	if (!find(c, key, out))
		dperm_codec_complain(c, key, "is missing");
	else if (out->kind != kind)
		dperm_codec_complain(c, key, faults[kind]);
	else if (c->depth > 0)
		level(c)->done++;
	return c->why == NULL;
}

/* Is this text the name? */
static bool
is_name(DpermText text, const char *name)
{
	return strlen(name) == (size_t) text.len && memcmp(name, text.bytes, strlen(name)) == 0;
}

/* A number; JSON has a string for infinity. */
void
dperm_codec_number(DpermCodec *c, const char *key, double *value)
{
	uint64_t	bits = dperm_bytes_bits(*value == 0 ? 0 : *value);
	DpermTree	tree;

	if (as_bytes(c, &bits, 8))
		*value = dperm_bytes_double(bits);
	else if (as_json(c, key))
	{
		if (isinf(*value))
			dperm_codec_put(&c->out, "\"Infinity\"");
		else
			dperm_codec_put_double(&c->out, *value);
	}
	else if (find(c, key, &tree) && tree.kind == DPERM_TREE_TEXT && is_name(tree.text, "Infinity"))
		*value = take(c, key, DPERM_TREE_TEXT, &tree) ? INFINITY : 0;
	else
	{
		*value = take(c, key, DPERM_TREE_NUMBER, &tree) ? dperm_tree_number(&tree) : 0;
		if (!isfinite(*value))
			dperm_codec_complain(c, key, "is out of range");
	}
}

/* A signed number of 64 bits. */
void
dperm_codec_integer(DpermCodec *c, const char *key, int64_t *value)
{
	uint64_t	bits = (uint64_t) *value;
	DpermTree	tree;

	if (as_bytes(c, &bits, 8))
		memcpy(value, &bits, sizeof(bits));
	else if (as_json(c, key))
		dperm_codec_put(&c->out, "%" PRId64, *value);
	else
	{
		*value = 0;
		if (take(c, key, DPERM_TREE_NUMBER, &tree) && !dperm_tree_integer(&tree, value))
			dperm_codec_complain(c, key, "must be an integer");
	}
}

/* A number of things, of which a model has at most DPERM_DIM_MAX; 0 if the input is wrong. */
int
dperm_codec_count(DpermCodec *c, const char *key, int count)
{
	uint64_t	bits = (uint64_t) count;
	int64_t		value = count;

	if (as_bytes(c, &bits, 4))
		value = (int64_t) bits;
	else
		dperm_codec_integer(c, key, &value);
	if (dperm_codec_reads(c) && (value < 0 || value > DPERM_DIM_MAX))
		dperm_codec_complain(c, key, "is out of range");
	return c->why ? 0 : (int) value;
}

bool
dperm_codec_flag(DpermCodec *c, const char *key, bool flag)
{
	uint64_t	bits = flag;
	DpermTree	tree;

	if (as_bytes(c, &bits, 1))
		return bits == 1;
	if (!as_json(c, key))
		return take(c, key, DPERM_TREE_BOOL, &tree) && tree.flag;
	dperm_codec_put(&c->out, flag ? "true" : "false");
	return flag;
}

/* One of count names: its number, which is 0 if the input is wrong. */
int
dperm_codec_name(DpermCodec *c, const char *key, int number, const char *(*name) (int), int count)
{
	uint64_t	bits = (uint64_t) number;
	DpermTree	tree;

	if (as_bytes(c, &bits, 1))
		number = (int) bits;
	else if (as_json(c, key))
		dperm_codec_put(&c->out, "\"%s\"", name(number));
	else if (take(c, key, DPERM_TREE_TEXT, &tree))
		for (number = 0; number < count && !is_name(tree.text, name(number)); number++)
			continue;
	if (dperm_codec_reads(c) && number >= count)
		dperm_codec_complain(c, key, "has an unknown value");
	return c->why ? 0 : number;
}

/* A text of any length, without zero bytes. */
void
dperm_codec_text(DpermCodec *c, const char *key, DpermText *text)
{
	uint64_t	len = (uint64_t) text->len;
	DpermTree	tree;

	if (as_bytes(c, &len, 4))
	{
		if (c->form == DPERM_CODEC_WRITE_BYTES)
			dperm_codec_put_bytes(&c->out, text->bytes, len);
		else
			text->bytes = (const char *) get_bytes(c, len);
		text->len = text->bytes ? (int) len : 0;
		if (text->len > 0 && memchr(text->bytes, 0, (size_t) text->len))
			dperm_codec_fail(c, "a text contains a zero byte");
	}
	else if (as_json(c, key))
		put_string(&c->out, *text);
	else
		*text = take(c, key, DPERM_TREE_TEXT, &tree) ? tree.text : (DpermText) {NULL, 0};
}

/* The text of an object that is opaque here; of bytes, nobody has checked that it is one. */
void
dperm_codec_object_text(DpermCodec *c, const char *key, DpermText *text)
{
	DpermTree	tree;

	if (is_bytes(c))
		dperm_codec_text(c, key, text);
	else if (as_json(c, key))
		dperm_codec_put_bytes(&c->out, text->bytes, (size_t) text->len);
	else if (take(c, key, DPERM_TREE_OBJECT, &tree))
		*text = dperm_tree_print(&tree);
}

/* Enter an object or an array of JSON, which has so many elements. */
static void
enter(DpermCodec *c, const char *key, DpermTreeKind kind, int count)
{
	DpermTree	tree = {0};

	if (is_bytes(c))
		return;
	if (as_json(c, key))
		dperm_codec_put(&c->out, kind == DPERM_TREE_OBJECT ? "{" : "[");
	else if (!take(c, key, kind, &tree))
		return;
	else if (kind == DPERM_TREE_LIST && tree.count != count)
	{
		dperm_codec_complain(c, key, "has too few or too many elements");
		return;
	}
	if (c->depth == DPERM_CODEC_DEPTH)
		dperm_host_fail("a codec is nested too deeply");
	c->levels[c->depth++] = (DpermCodecLevel) {key, 0, kind, tree};
}

/*
 * Some numbers whose count is known: an array, or so many arrays with so many
 * each. Returns these, or those that were read: NULL if the input is wrong.
 */
const double *
dperm_codec_numbers(DpermCodec *c, const char *key, const double *numbers, int lists, int count)
{
	int			arrays = lists > 0 ? lists : 1;
	size_t		total = (size_t) arrays * (size_t) count;
	double	   *read = NULL;
	size_t		at = 0;

	if (c->form == DPERM_CODEC_READ_BYTES && c->in.left / 8 < total)
		dperm_codec_fail(c, TOO_EARLY);
	if (total > NUMBERS_MAX)
		dperm_codec_complain(c, key, "has too many elements");
	if (c->why)
		return NULL;
	if (dperm_codec_reads(c))
		read = dperm_host_alloc(sizeof(double) * total);
	if (lists > 0)
		enter(c, key, DPERM_TREE_LIST, lists);
	for (int k = 0; k < arrays && c->why == NULL; k++)
	{
		enter(c, lists > 0 ? NULL : key, DPERM_TREE_LIST, count);
		for (int i = 0; i < count && c->why == NULL; i++, at++)
		{
			double		number = read ? 0 : numbers[at];

			dperm_codec_number(c, NULL, &number);
			if (read)
				read[at] = number;
		}
		dperm_codec_end(c);
	}
	if (lists > 0)
		dperm_codec_end(c);
	return c->why ? NULL : read ? read : numbers;
}

/* Two numbers as an array. */
void
dperm_codec_pair(DpermCodec *c, const char *key, double *first, double *second)
{
	double		pair[2] = {*first, *second};
	const double *numbers = dperm_codec_numbers(c, key, pair, 0, 2);

	*first = numbers ? numbers[0] : 0;
	*second = numbers ? numbers[1] : 0;
}

/* Is there something that may be missing? Bytes say so. */
bool
dperm_codec_some(DpermCodec *c, const char *key, bool there)
{
	return is_bytes(c) ? dperm_codec_flag(c, key, there) : dperm_codec_has(c, key, there);
}

/* The same for a value that is always there in bytes, since its own says it. */
bool
dperm_codec_has(DpermCodec *c, const char *key, bool there)
{
	DpermTree	tree;

	return c->form == DPERM_CODEC_READ_JSON ? find(c, key, &tree) : is_bytes(c) || there;
}

/* The same for one that follows from others: it is in no bytes, and JSON may lack it. */
bool
dperm_codec_says(DpermCodec *c, const char *key)
{
	return !is_bytes(c) && dperm_codec_has(c, key, true);
}

/* 0 for a number, 1 for an array of them, 2 for an array of arrays. */
int
dperm_codec_nesting(DpermCodec *c, const char *key, int nesting)
{
	uint64_t	bits = (uint64_t) nesting;
	DpermTree	tree = {0};

	if (as_bytes(c, &bits, 1) || c->form == DPERM_CODEC_WRITE_JSON)
		return (int) bits;
	(void) find(c, key, &tree);
	for (nesting = 0; nesting < 2 && tree.kind == DPERM_TREE_LIST; nesting++)
		tree = tree.count > 0 ? dperm_tree_element(&tree, 0) : (DpermTree) {0};
	return nesting;
}

/* The number of elements of a list that follows; 0 if the input is wrong. */
int
dperm_codec_length(DpermCodec *c, const char *key, int count)
{
	DpermTree	tree;

	if (is_bytes(c))
		count = dperm_codec_count(c, key, count);
	else if (c->form == DPERM_CODEC_READ_JSON)
		count = find(c, key, &tree) && tree.kind == DPERM_TREE_LIST ? tree.count : 0;
	if (c->form == DPERM_CODEC_READ_BYTES && (size_t) count > c->in.left / ELEMENT_MIN)
		dperm_codec_fail(c, TOO_EARLY);
	if (count > DPERM_DIM_MAX)
		dperm_codec_complain(c, key, "has too many elements");
	return c->why ? 0 : count;
}

/* Enter an object, which bytes do not show. */
void
dperm_codec_object(DpermCodec *c, const char *key)
{
	enter(c, key, DPERM_TREE_OBJECT, 0);
}

/* Enter a list of anything, and say how many elements are to be visited. */
int
dperm_codec_list(DpermCodec *c, const char *key, int count)
{
	count = dperm_codec_length(c, key, count);
	enter(c, key, DPERM_TREE_LIST, count);
	return c->why ? 0 : count;
}

/* Leave a list or an object. */
void
dperm_codec_end(DpermCodec *c)
{
	DpermCodecLevel left;

	if (c->why || is_bytes(c))
		return;
	left = c->levels[--c->depth];
	if (c->form == DPERM_CODEC_WRITE_JSON)
		dperm_codec_put(&c->out, left.kind == DPERM_TREE_OBJECT ? "}" : "]");
	else if (left.done < left.tree.count)
		dperm_codec_complain(c, left.key, "has an unknown key");
}
