/*
 * json.c: a strict pull reader for JSON (RFC 8259).
 */
#include "core/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stop the reader; the first reason is kept. */
static bool
stop(DpermJson *r, const char *why)
{
	if (r->why == NULL)
		r->why = why;
	r->at = r->end;
	return false;
}

/* Stop at a well-formed start of a value that is not what was asked for. */
static bool
stop_mistyped(DpermJson *r, const char *why)
{
	if (r->why == NULL)
		r->mistyped = true;
	return stop(r, why);
}

/* Skip the four white space characters that the standard allows. */
static void
skip_space(DpermJson *r)
{
	while (r->at < r->end &&
		   (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
		r->at++;
}

/* Start reading a text. */
void
dperm_json_open(DpermJson *r, const char *text, size_t len)
{
	memset(r, 0, sizeof(*r));
	r->at = text;
	r->end = text + len;
}

/* End reading: true if all went well and nothing is left. */
bool
dperm_json_close(DpermJson *r)
{
	if (r->why)
		return false;
	if (r->depth > 0)
		return stop(r, "the text was not read to its end");
	skip_space(r);
	if (r->at < r->end)
		return stop(r, "there is text after the value");
	return true;
}

/* The type of the next value, from its first character. */
DpermJsonType
dperm_json_peek(DpermJson *r)
{
	if (r->why)
		return DPERM_JSON_BAD;
	skip_space(r);
	if (r->at >= r->end)
		return DPERM_JSON_BAD;
	switch (*r->at)
	{
		case '{':
			return DPERM_JSON_OBJECT;
		case '[':
			return DPERM_JSON_ARRAY;
		case '"':
			return DPERM_JSON_STRING;
		case 't':
		case 'f':
			return DPERM_JSON_BOOL;
		case 'n':
			return DPERM_JSON_NULL;
		case '-':
			return DPERM_JSON_NUMBER;
		default:
			return *r->at >= '0' && *r->at <= '9' ? DPERM_JSON_NUMBER : DPERM_JSON_BAD;
	}
}

/* True if a value of this type comes next; otherwise the reader stops. */
static bool
expect(DpermJson *r, DpermJsonType type, const char *why)
{
	DpermJsonType next = dperm_json_peek(r);

	if (next == type)
		return true;
	if (r->why)
		return false;
	if (next == DPERM_JSON_BAD)
		return stop(r, r->at < r->end ? "a value is expected" : "the text ends too early");
	return stop_mistyped(r, why);
}

/* Consume the opening bracket and remember the closing one. */
static bool
enter(DpermJson *r, char closer)
{
	if (r->depth >= DPERM_JSON_DEPTH)
		return stop(r, "the nesting is too deep");
	r->at++;
	r->closer[r->depth++] = closer;
	r->first = true;
	return true;
}

/*
 * Move to the next member of the innermost array or object: past the comma if
 * there must be one. False at the closing bracket, which is consumed.
 */
static bool
advance(DpermJson *r, char closer)
{
	if (r->why)
		return false;
	if (r->depth == 0 || r->closer[r->depth - 1] != closer)
		return stop(r, "the innermost array or object is of the other kind");
	skip_space(r);
	if (r->at >= r->end)
		return stop(r, "the text ends too early");
	if (*r->at == closer)
	{
		r->at++;
		r->depth--;
		r->first = false;
		return false;
	}
	if (!r->first)
	{
		if (*r->at != ',')
			return stop(r, "a comma or a closing bracket is expected");
		r->at++;
		skip_space(r);
		if (r->at < r->end && *r->at == closer)
			return stop(r, "there is a comma before a closing bracket");
	}
	r->first = false;
	return true;
}

/* Enter an object. */
bool
dperm_json_object(DpermJson *r)
{
	return expect(r, DPERM_JSON_OBJECT, "an object is expected") && enter(r, '}');
}

/* The next key of the innermost object, or false at its end. */
bool
dperm_json_key(DpermJson *r, char *key, size_t room)
{
	if (!advance(r, '}'))
		return false;
	/* A key that is not a string is broken syntax, not a mistyped value. */
	if (dperm_json_peek(r) != DPERM_JSON_STRING)
		return stop(r, r->at < r->end ? "a key is expected" : "the text ends too early");
	if (!dperm_json_string(r, key, room))
		return false;
	skip_space(r);
	if (r->at >= r->end)
		return stop(r, "the text ends too early");
	if (*r->at != ':')
		return stop(r, "a colon is expected after a key");
	r->at++;
	return true;
}

/* Enter an array. */
bool
dperm_json_array(DpermJson *r)
{
	return expect(r, DPERM_JSON_ARRAY, "an array is expected") && enter(r, ']');
}

/* Is there one more element in the innermost array? */
bool
dperm_json_element(DpermJson *r)
{
	return advance(r, ']');
}

/* Four hexadecimal digits. */
static bool
read_hex4(DpermJson *r, unsigned *out)
{
	unsigned	value = 0;

	if (r->end - r->at < 4)
		return false;
	for (int i = 0; i < 4; i++)
	{
		char		c = *r->at++;

		value <<= 4;
		if (c >= '0' && c <= '9')
			value |= (unsigned) (c - '0');
		else if (c >= 'a' && c <= 'f')
			value |= (unsigned) (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			value |= (unsigned) (c - 'A' + 10);
		else
			return false;
	}
	*out = value;
	return true;
}

/*
 * The rest of a \u escape as UTF-8, including the second half of a surrogate
 * pair.
 */
static size_t
read_unicode(DpermJson *r, char utf8[4])
{
	unsigned	code;
	unsigned	low;

	if (!read_hex4(r, &code) || code == 0)
		return 0;				/* a zero byte would end the string early */
	if (code >= 0xDC00 && code <= 0xDFFF)
		return 0;
	if (code >= 0xD800 && code <= 0xDBFF)
	{
		if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
			return 0;
		r->at += 2;
		if (!read_hex4(r, &low) || low < 0xDC00 || low > 0xDFFF)
			return 0;
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
		utf8[0] = (char) (0xF0 | (code >> 18));
		utf8[1] = (char) (0x80 | ((code >> 12) & 0x3F));
		utf8[2] = (char) (0x80 | ((code >> 6) & 0x3F));
		utf8[3] = (char) (0x80 | (code & 0x3F));
		return 4;
	}
	if (code >= 0x800)
	{
		utf8[0] = (char) (0xE0 | (code >> 12));
		utf8[1] = (char) (0x80 | ((code >> 6) & 0x3F));
		utf8[2] = (char) (0x80 | (code & 0x3F));
		return 3;
	}
	if (code >= 0x80)
	{
		utf8[0] = (char) (0xC0 | (code >> 6));
		utf8[1] = (char) (0x80 | (code & 0x3F));
		return 2;
	}
	utf8[0] = (char) code;
	return 1;
}

/* One character of a string, escape or not, as bytes; 0 if it is not valid. */
static size_t
read_char(DpermJson *r, char bytes[4])
{
	char		c = *r->at++;

	bytes[0] = c;
	if ((unsigned char) c < 0x20)
		return 0;
	if (c != '\\')
		return 1;
	if (r->at >= r->end)
		return 0;
	c = *r->at++;
	switch (c)
	{
		case '"':
		case '\\':
		case '/':
			bytes[0] = c;
			return 1;
		case 'b':
			bytes[0] = '\b';
			return 1;
		case 'f':
			bytes[0] = '\f';
			return 1;
		case 'n':
			bytes[0] = '\n';
			return 1;
		case 'r':
			bytes[0] = '\r';
			return 1;
		case 't':
			bytes[0] = '\t';
			return 1;
		case 'u':
			return read_unicode(r, bytes);
		default:
			return 0;
	}
}

/* Read a string, cut to the given room. */
bool
dperm_json_string(DpermJson *r, char *out, size_t room)
{
	size_t		used = 0;

	if (!expect(r, DPERM_JSON_STRING, "a string is expected"))
		return false;
	r->at++;
	while (r->at < r->end && *r->at != '"')
	{
		char		bytes[4];
		size_t		count = read_char(r, bytes);

		if (count == 0)
			return stop(r, "a string contains an invalid character or escape");
		for (size_t i = 0; i < count; i++)
			if (used + 1 < room)
				out[used++] = bytes[i];
	}
	if (r->at >= r->end)
		return stop(r, "the text ends too early");
	r->at++;
	if (room > 0)
		out[used] = '\0';
	return true;
}

/* Skip any number of decimal digits, possibly none. */
static void
skip_digits(DpermJson *r)
{
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
}

/*
 * Read one number as the grammar defines it; *integer is true if it has only
 * digits and a sign.
 */
static bool
read_number(DpermJson *r, char *copy, bool *integer)
{
	const char *start;
	const char *mark;
	size_t		len;

	if (!expect(r, DPERM_JSON_NUMBER, "a number is expected"))
		return false;
	start = r->at;
	if (*r->at == '-')
		r->at++;

	mark = r->at;
	skip_digits(r);
	if (r->at == mark || (*mark == '0' && r->at - mark > 1))
		return stop(r, "a number is malformed");
	*integer = true;

	if (r->at < r->end && *r->at == '.')
	{
		*integer = false;
		mark = ++r->at;
		skip_digits(r);
		if (r->at == mark)
			return stop(r, "a number is malformed");
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E'))
	{
		*integer = false;
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		mark = r->at;
		skip_digits(r);
		if (r->at == mark)
			return stop(r, "a number is malformed");
	}

	len = (size_t) (r->at - start);
	if (len > DPERM_JSON_NUMBER_MAX)
		return stop(r, "a number has too many digits");
	memcpy(copy, start, len);
	copy[len] = '\0';
	return true;
}

/* Read a number as a double. */
bool
dperm_json_number(DpermJson *r, double *out)
{
	char		copy[DPERM_JSON_NUMBER_MAX + 1];
	bool		integer;
	double		value;

	if (!read_number(r, copy, &integer))
		return false;
	/*
	 * The server, like any C program that does not change it, has LC_NUMERIC C.
	 */
	value = strtod(copy, NULL);
	if (!isfinite(value))
		return stop(r, "a number is out of range");
	*out = value;
	return true;
}

/* Read a number that is an integer, exactly. */
bool
dperm_json_integer(DpermJson *r, int64_t *out)
{
	char		copy[DPERM_JSON_NUMBER_MAX + 1];
	const char *c = copy;
	bool		integer;
	bool		negative;
	int64_t		value = 0;

	if (!read_number(r, copy, &integer))
		return false;
	if (!integer)
		return stop_mistyped(r, "an integer is expected");
	negative = *c == '-';
	if (negative)
		c++;
	/* Accumulate as a negative number, so that INT64_MIN fits. */
	for (; *c; c++)
	{
		int			digit = *c - '0';

		if (value < (INT64_MIN + digit) / 10)
			return stop(r, "a number is out of range");
		value = value * 10 - digit;
	}
	if (!negative && value == INT64_MIN)
		return stop(r, "a number is out of range");
	*out = negative ? value : -value;
	return true;
}

/* Consume a literal name; the next call checks what follows it. */
static bool
read_literal(DpermJson *r, const char *name)
{
	size_t		len = strlen(name);

	if ((size_t) (r->end - r->at) < len || memcmp(r->at, name, len) != 0)
		return stop(r, "a value is expected");
	r->at += len;
	return true;
}

/* Read true or false. */
bool
dperm_json_bool(DpermJson *r, bool *out)
{
	bool		value;

	if (!expect(r, DPERM_JSON_BOOL, "a boolean is expected"))
		return false;
	value = *r->at == 't';
	if (!read_literal(r, value ? "true" : "false"))
		return false;
	*out = value;
	return true;
}

/* Read any value and discard it. A loop, so that depth costs no stack. */
bool
dperm_json_skip(DpermJson *r)
{
	char		number[DPERM_JSON_NUMBER_MAX + 1];
	int			base = r->depth;
	bool		ignored;
	bool		more;

	do
	{
		switch (dperm_json_peek(r))
		{
			case DPERM_JSON_OBJECT:
				dperm_json_object(r);
				break;
			case DPERM_JSON_ARRAY:
				dperm_json_array(r);
				break;
			case DPERM_JSON_STRING:
				dperm_json_string(r, NULL, 0);
				break;
			case DPERM_JSON_NUMBER:
				read_number(r, number, &ignored);
				break;
			case DPERM_JSON_BOOL:
				dperm_json_bool(r, &ignored);
				break;
			default:
				if (expect(r, DPERM_JSON_NULL, "null is expected"))
					read_literal(r, "null");
				break;
		}
		/*
		 * Move to the next nested value, leaving all arrays and objects that
		 * end here.
		 */
		for (more = false; !more && !r->why && r->depth > base;)
			more = r->closer[r->depth - 1] == '}' ?
				dperm_json_key(r, NULL, 0) : dperm_json_element(r);
	} while (more);
	return r->why == NULL;
}
