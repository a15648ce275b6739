/*
 * layout.h: how an encoded row lies in memory.
 *
 * A row of numbers is a vector. A category is one coordinate of many, so a
 * column of categories is kept as one code and not as a vector of zeros: a pass
 * costs the number of columns, not of coordinates. The trained coordinates are
 * numbered anew for this, those that are numbers first:
 *
 *   numbers dense | codes, 16 bits each, padded to a word | what the row weighs
 *
 * Weights are there where the unit of privacy is a person: rows of one weigh as
 * much as one row together. Else each weighs 1. The first code is the sign of
 * the row, the others are coordinates, or dim for none. The objective, the
 * noise and the release do not care for the order of coordinates; the model
 * does, so weights are put into its order at the end.
 */
#ifndef DPERM_LAYOUT_H
#define DPERM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/encode/encoder.h"

typedef struct DpermLayout
{
	int			dim;			/* trained coordinates */
	int			dense;			/* of them numbers; they come first */
	int			codes;			/* columns that are codes */
	int			words;			/* of a row, in doubles */
	bool		weighted;		/* is the last word what the row weighs? */
	double		unit;			/* the norm of a block, and so the coordinate of a category */
	/* dim: where a coordinate is in the model; NULL: where it is here */
	const int  *place;
} DpermLayout;

/* The signs of a row, in its first code. */
enum
{
	DPERM_ROW_ZERO = 0,			/* no label: all coordinates are zero */
	DPERM_ROW_POSITIVE = 1,
	DPERM_ROW_NEGATIVE = 2
};

/* Vectors of one dimension. */
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
 * Let rows have weights, each at most 1, in a last word that encoding leaves
 * alone, except that a row without a label weighs 0.
 */
extern void dperm_layout_weigh(DpermLayout *layout);

/* Weights in the order of the model. */
extern void dperm_layout_restore(const DpermLayout *layout, const double *weights, double *out);

/* The codes of a row. */
static inline const uint16_t *
dperm_row_codes(const DpermLayout *layout, const double *row)
{
	return (const uint16_t *) (row + layout->dense);
}

/* The coordinate of its categories, with the sign of the row. */
static inline double
dperm_row_unit(const DpermLayout *layout, const uint16_t *codes)
{
	return codes[0] == DPERM_ROW_ZERO ? 0 :
		codes[0] == DPERM_ROW_POSITIVE ? layout->unit : -layout->unit;
}

/* Where the weight of a row is. */
static inline double *
dperm_row_weight(const DpermLayout *layout, double *row)
{
	return row + layout->words - 1;
}

#endif							/* DPERM_LAYOUT_H */
