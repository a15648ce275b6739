/*
 * tagged.h: the values of a row as bytes that mean the same on every server. Trusted.
 *
 * A row is a sequence of values, so that the concatenation of two rows is a
 * row. A value begins with a tag for the kind of its column, even if the value
 * is null, followed by the data for that tag:
 *
 *   1, 2  number, time: double
 *   3     boolean: byte, 0 or 1
 *   4     category: byte, the encoding of the text | length, 4 bytes | bytes
 *   5, 6  vector of doubles, of floats: number of elements, 4 bytes | elements
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

#define DPERM_TAG_NULL 0x80

/* The largest number of bytes of a value, not counting a text or elements. */
#define DPERM_TAGGED_HEAD 9

/* A value of a row. */
typedef struct DpermTagged
{
	DpermBlockKind kind;		/* what its column can be as a block; VECTOR for BOX */
	bool		single;			/* VECTOR: of floats, not doubles */
	bool		present;
	int			encoding;		/* CATEGORY: of the text; it fits into a byte */
	double		number;			/* NUMBER, TIME; FLAG: -1 or +1 */
	int			count;			/* CATEGORY: bytes; VECTOR: elements */
	const unsigned char *bytes; /* of the text or, if it was read, elements as in the row */
} DpermTagged;

/* Write a value, whose elements are these numbers; returns the position after it. */
extern unsigned char *dperm_tagged_put(unsigned char *at, const DpermTagged *value,
									   const double *elements);

/*
 * Read the next value: false if there is none, or if the bytes are not valid.
 */
extern bool dperm_tagged_get(DpermBytes *row, DpermTagged *value);

/* The elements of a VECTOR that is present, count of them. */
extern void dperm_tagged_elements(const DpermTagged *value, double *out);

/* Can a column of this kind provide values for a kind of block? */
static inline bool
dperm_tagged_fits(DpermBlockKind kind, DpermBlockKind block)
{
	return kind == (block == DPERM_BLOCK_BOX ? DPERM_BLOCK_VECTOR : block);
}

#endif							/* DPERM_TAGGED_H */
