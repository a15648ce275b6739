/*
 * tagged.h: the values of a row as bytes that mean the same on every server.
 *
 * A row is a sequence of values, so that the concatenation of two rows is a
 * row. A value begins with a tag for the type of its column, even if the value
 * is null, followed by the data for that tag:
 *
 *   NUMBER, TIME    double
 *   FLAG            byte, 0 or 1
 *   TEXT            byte, the encoding of the text | length, 4 bytes | bytes
 *   FLOAT8, FLOAT4  number of elements, 4 bytes | elements
 *
 * A null has the tag with DPERM_TAG_NULL and nothing else, except for the
 * encoding of a text: so errors in the columns show in every row, whatever it
 * contains. Numbers are big-endian, with the sign of zero. The reader accepts hostile
 * bytes.
 */
#ifndef DPERM_TAGGED_H
#define DPERM_TAGGED_H

#include "core/base/bytes.h"
#include "core/encode/encoder.h"

/* The type of a column. The numbers are sent to other servers: append only. */
typedef enum DpermTag
{
	DPERM_TAG_NUMBER = 1,
	DPERM_TAG_TIME = 2,			/* days since 2000-01-01 */
	DPERM_TAG_FLAG = 3,
	DPERM_TAG_TEXT = 4,
	DPERM_TAG_FLOAT8 = 5,		/* a vector of doubles */
	DPERM_TAG_FLOAT4 = 6		/* a vector of floats */
} DpermTag;

#define DPERM_TAG_NULL 0x80

/* The largest number of bytes of a value, not counting a text or elements. */
#define DPERM_TAGGED_HEAD 9

/* A value of a row. */
typedef struct DpermTagged
{
	DpermTag	tag;
	bool		present;
	int			encoding;		/* TEXT; it fits into a byte */
	double		number;			/* NUMBER, TIME; FLAG: -1 or +1 */
	int			count;			/* TEXT: bytes; FLOAT8, FLOAT4: elements */
	const unsigned char *bytes; /* of the text or, if it was read, elements as in the row */
} DpermTagged;

/* Write a value, whose elements are these numbers; returns the position after it. */
extern unsigned char *dperm_tagged_put(unsigned char *at, const DpermTagged *value,
									   const double *elements);

/*
 * Read the next value: false if there is none, or if the bytes are not valid.
 */
extern bool dperm_tagged_get(DpermBytes *row, DpermTagged *value);

/* The elements of a FLOAT8 or FLOAT4 that is present, count of them. */
extern void dperm_tagged_elements(const DpermTagged *value, double *out);

/* Can a column of this type provide values for a kind of block? */
extern bool dperm_tagged_fits(DpermTag tag, DpermBlockKind kind);

#endif							/* DPERM_TAGGED_H */
