/*
 * codes.h: what the codes of rows add to the sums of a pass.
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

/* The coded part of some rows. */
typedef struct DpermCodes
{
	const DpermLayout *layout;
	const uint16_t *codes;		/* of the first row */
	size_t		stride;			/* from row to row, in codes */
	const double *entries;		/* of its curves */
	size_t		entry_stride;	/* from row to row */
} DpermCodes;

/* The coded part of rows, stride words apart. */
extern DpermCodes dperm_codes_of(const DpermLayout *layout, const double *rows, size_t stride);

/* Add count rows to their outputs. */
extern void dperm_codes_outputs(const DpermCodes *rows, int count, const double *weights,
								double *outputs);

/*
 * The sum over count rows, beginning with first, of their coordinates times
 * slopes, which are those of all rows: in sum, from layout.first_code on.
 */
extern void dperm_codes_slopes(const DpermCodes *rows, int first, int count, const double *slopes,
							   double *sum);

/*
 * Add to a Hessian the second derivatives in which a code takes part, in the
 * upper triangle, where a column is contiguous.
 */
extern void dperm_codes_curvatures(const DpermLayout *layout, const double *rows, int count,
								   size_t stride, const double *curvatures, double *hess);

/* Move what was added from the upper triangle to the lower one. */
extern void dperm_codes_fold(const DpermLayout *layout, double *hess);

#endif							/* DPERM_CODES_H */
