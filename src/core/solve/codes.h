/*
 * codes.h: rows, decoded, and what their codes add to the sums of a pass.
 *
 * A category is one coordinate, which is the unit; a curve is two neighbouring
 * ones, which add up to it (layout.h). The code of a missing value
 * is dim, and that of a missing curve stands for dim + 1, too: weights are zero
 * there, and what is added there is ignored.
 */
#ifndef DPERM_CODES_H
#define DPERM_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "core/encode/layout.h"

/* Elements of weights and sums beyond the trained coordinates. */
#define DPERM_CODES_BEYOND 2

/* Some rows, decoded. */
typedef struct DpermCodes
{
	const DpermLayout *layout;
	const double *numbers;		/* of the first row: layout.dense */
	size_t		number_stride;	/* from row to row */
	const uint16_t *codes;		/* the coordinates of categories, row after row */
	const int32_t *places;		/* the first coordinates of curves, row after row */
	const double *entries;		/* of these */
	size_t		entry_stride;
} DpermCodes;

/* Doubles of room to decode so many rows. */
#define DPERM_CODES_ROOM(dim, rows) ((rows) * (2 * (size_t) (dim) + 1))

/* Decode count rows, stride words apart. */
extern DpermCodes dperm_codes_of(const DpermLayout *layout, const double *rows, int count,
								 size_t stride, double *room);

/* The same without the first few of them. */
static inline DpermCodes
dperm_codes_after(const DpermCodes *rows, int first)
{
	DpermCodes	rest = *rows;

	rest.numbers += first * rows->number_stride;
	rest.codes += first * rows->layout->codes;
	rest.places += first * rows->layout->curves;
	rest.entries += first * rows->entry_stride;
	return rest;
}

/* Add count rows to their outputs. */
extern void dperm_codes_outputs(const DpermCodes *rows, int count, const double *weights,
								double *outputs);

/* The sum over count rows of their coordinates times slopes: in sum, from layout.first_code on. */
extern void dperm_codes_slopes(const DpermCodes *rows, int count, const double *slopes,
							   double *sum);

/*
 * Add to a Hessian the second derivatives in which a code takes part, in the
 * upper triangle, where a column is contiguous.
 */
extern void dperm_codes_curvatures(const DpermCodes *rows, int count, const double *curvatures,
								   double *hess);

/* Move what was added from the upper triangle to the lower one. */
extern void dperm_codes_fold(const DpermLayout *layout, double *hess);

#endif							/* DPERM_CODES_H */
