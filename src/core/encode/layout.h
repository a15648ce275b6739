/*
 * layout.h: the layout of an encoded row in memory.
 *
 * A row of numbers is a vector. A category sets one coordinate of many, so a
 * column of categories is stored as one code, not as a vector of zeros. A curve
 * sets two neighbouring coordinates, so it is stored as the entry of the first
 * of them and as a code, its place: the other entry is what the first one
 * leaves of the unit (knots.h); a vector of curves is stored as so many of them.
 * A pass takes time proportional to the number of columns, not of coordinates,
 * and so does memory. The trained coordinates are renumbered for this, with
 * numbers first, then categories, then curves:
 *
 *   numbers dense | entries of curves | codes, 16 bits each, padded to a word |
 *   what the row weighs
 *
 * Numbers that may become curves later (bend.h) are numbers that have room for
 * the code of a curve, after the other codes: until then it says whether there
 * is a number.
 *
 * Rows have weights if the unit of privacy is a person: the rows of a person
 * together weigh as much as one row. Otherwise each row weighs 1. The first
 * code is the sign of the row; then come the coordinates of categories, and the
 * first coordinates of curves, or dim for none. The objective, the noise and
 * the release do not depend on the order of coordinates; the model does, so the
 * trained weights are restored to its order at the end.
 */
#ifndef DPERM_LAYOUT_H
#define DPERM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/encode/encoder.h"

typedef struct DpermLayout
{
	int			dim;			/* trained coordinates */
	int			dense;			/* how many of them are numbers; they come first */
	int			codes;			/* columns that are codes */
	int			curves;			/* numbers that are an entry and a code: columns or elements */
	int			first_curve;	/* their coordinates come last, from this one on */
	int			open;			/* numbers that have room for the code of a curve */
	int			words;			/* of a row, in doubles */
	bool		weighted;		/* is the last word the weight of the row? */
	/* the norm of a block: the coordinate of a category, the sum of a curve's entries */
	double		unit;
	/* dim positions of coordinates in the model; NULL: the same as here */
	const int  *place;
} DpermLayout;

/* The signs of a row, in its first code. */
enum
{
	DPERM_ROW_ZERO = 0,			/* no label: all coordinates are zero */
	DPERM_ROW_POSITIVE = 1,
	DPERM_ROW_NEGATIVE = 2
};

/* The layout of plain vectors. */
extern DpermLayout dperm_layout_dense(int dim);

/*
 * The layout for the rows of an encoder; places is room for dperm_encoder_dim()
 * integers.
 */
extern DpermLayout dperm_layout_make(const DpermEncoder *enc, int *places);

/*
 * Encode a row without a kernel: sign is -1 or +1, or 0 for a row without a
 * label. Writes all words.
 */
extern void dperm_layout_encode(const DpermLayout *layout, const DpermEncoder *enc,
								const DpermValue *values, int sign, double *row);

/*
 * Give rows weights of at most 1 in an additional last word. Encoding does not
 * set it, except to 0 for a row without a label.
 */
extern void dperm_layout_weigh(DpermLayout *layout);

/* Restore trained weights to the order of the model. */
extern void dperm_layout_restore(const DpermLayout *layout, const double *weights, double *out);

/* The number of codes of a row, its sign included; 0 if it is a plain vector. */
static inline int
dperm_layout_codes(const DpermLayout *layout)
{
	int			columns = layout->codes + layout->curves;

	return columns > 0 ? columns + 1 : 0;
}

/* The same with the room for more: the 16-bit words that are stored. */
static inline int
dperm_layout_slots(const DpermLayout *layout)
{
	return layout->open > 0 ? 1 + layout->codes + layout->curves + layout->open :
		dperm_layout_codes(layout);
}

/* Those codes: the sign, then categories, then curves. */
static inline const uint16_t *
dperm_row_codes(const DpermLayout *layout, const double *row)
{
	return (const uint16_t *) (row + layout->dense + layout->curves);
}

/* What its category coordinates are, and entries add up to, with its sign. */
static inline double
dperm_row_unit(const DpermLayout *layout, const uint16_t *codes)
{
	return codes[0] == DPERM_ROW_ZERO ? 0 :
		codes[0] == DPERM_ROW_POSITIVE ? layout->unit : -layout->unit;
}

/* A pointer to the weight of a row. */
static inline double *
dperm_row_weight(const DpermLayout *layout, double *row)
{
	return row + layout->words - 1;
}

#endif							/* DPERM_LAYOUT_H */
