/*
 * squares.h: what the numbers of rows, and the intercept, add to a Hessian.
 *
 * In doubles, or in single precision. The error of that: a term is the product
 * of two factors that were rounded up to 4 times each, and is rounded again, and
 * so are at most DPERM_ROUGH_ROWS - 1 sums, in any order. With u = 2^-24,
 * (DPERM_ROUGH_ROWS + 8) u (1 + 1e-4) sum curvature |x_i| |x_j| bounds the error
 * of an element; rows have norm at most 1, so that of the whole matrix, in the
 * 2-norm, is at most 3.2e-5 times rows times the curvature of the loss.
 */
#ifndef DPERM_SQUARES_H
#define DPERM_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/encode/layout.h"

/*
 * The updates of this many rows are added up in single precision by BLAS, in
 * any order.
 */
#define DPERM_ROUGH_ROWS 512

typedef struct DpermSquares
{
	bool		rough;			/* in single precision? */
	double	   *scaled;			/* numbers and intercepts, times the root of the curvature */
	float	   *rough_scaled;	/* the same, if rough */
	float	   *rough_hess;		/* the update of the last few blocks, up to layout.first_code */
	int			rough_rows;		/* number of rows in it */
} DpermSquares;

/* How many doubles of room they need, for so many rows at a time. */
extern size_t dperm_squares_room(int dim, int rows);

extern DpermSquares dperm_squares_make(int dim, int rows, double *room);

/* Add rows, stride words apart, times curvatures; hess is dim x dim. */
extern void dperm_squares_add(DpermSquares *s, const DpermLayout *layout, const double *rows,
							  int count, size_t stride, const double *curvatures, double *hess);

/* Add what has not been added to the Hessian yet. */
extern void dperm_squares_fold(DpermSquares *s, const DpermLayout *layout, double *hess);

#endif							/* DPERM_SQUARES_H */
