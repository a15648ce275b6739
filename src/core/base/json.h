/*
 * json.h: a strict pull reader for JSON (RFC 8259).
 *
 * The caller asks for what it expects. The first mismatch stops the reader
 * permanently: every later call returns false, and why is a static string that
 * describes the problem. Nothing is allocated, and nothing is read past the
 * given length. Nesting is limited to DPERM_JSON_DEPTH.
 *
 * 	dperm_json_open(&r, text, len);
 * 	if (dperm_json_object(&r))
 * 		while (dperm_json_key(&r, key, sizeof(key)))
 * 			... exactly one value ...
 * 	if (!dperm_json_close(&r))
 * 		... r.why ...
 */
#ifndef DPERM_JSON_H
#define DPERM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPERM_JSON_DEPTH 16

/*
 * Longest number that is accepted. jsonb writes doubles without an exponent, so
 * the smallest ones have 340 digits after the point.
 */
#define DPERM_JSON_NUMBER_MAX 350

typedef enum DpermJsonType
{
	DPERM_JSON_BAD = 0,			/* no value can start here, or the reader stopped */
	DPERM_JSON_NULL,
	DPERM_JSON_BOOL,
	DPERM_JSON_NUMBER,
	DPERM_JSON_STRING,
	DPERM_JSON_ARRAY,
	DPERM_JSON_OBJECT
} DpermJsonType;

typedef struct DpermJson
{
	const char *at;
	const char *end;
	int			depth;			/* open arrays and objects */
	bool		first;			/* nothing read yet in the innermost of them */
	char		closer[DPERM_JSON_DEPTH];	/* ']' or '}' of each */
	bool		mistyped;		/* stopped at a value of another type */
	const char *why;			/* NULL: no error so far */
} DpermJson;

extern void dperm_json_open(DpermJson *r, const char *text, size_t len);

/* True if the whole text was one value and all of it has been read. */
extern bool dperm_json_close(DpermJson *r);

/* The type of the next value; reads nothing but white space. */
extern DpermJsonType dperm_json_peek(DpermJson *r);

/*
 * Enter an object; dperm_json_key then reads each key, and returns false at the
 * end.
 */
extern bool dperm_json_object(DpermJson *r);
extern bool dperm_json_key(DpermJson *r, char *key, size_t room);

/*
 * Enter an array; dperm_json_element then tells whether there is another
 * element.
 */
extern bool dperm_json_array(DpermJson *r);
extern bool dperm_json_element(DpermJson *r);

/*
 * A string, unescaped and zero-terminated. What does not fit is truncated, so
 * provide more room than the longest text of interest; with room 0 the string
 * is discarded. Bytes above 127 are copied unchanged: the result is in the
 * caller's encoding, except for \u escapes, which become UTF-8.
 */
extern bool dperm_json_string(DpermJson *r, char *out, size_t room);

/* A number that is finite as a double. */
extern bool dperm_json_number(DpermJson *r, double *out);

/* A number without fraction and exponent that fits 64 bits. */
extern bool dperm_json_integer(DpermJson *r, int64_t *out);

extern bool dperm_json_bool(DpermJson *r, bool *out);

/* Any value, including everything nested in it: checked and discarded. */
extern bool dperm_json_skip(DpermJson *r);

#endif							/* DPERM_JSON_H */
