/*
 * moments.h: one pass over encoded rows at given weights.
 *
 * A row enters as a = y x (the label is in its sign), so that its margin is a.w.
 * The sums are over rows: loss(a.w), loss'(a.w) a, loss''(a.w) a a'. Rows are
 * gathered into blocks; a full block costs two matrix-vector products and one
 * symmetric rank-k update. The sums of blocks are compensated, so the rounding
 * error of the gradient does not grow with the number of rows: that is what
 * dperm_moments_rounding() states and the certificate of the solver rests on.
 */
#ifndef DPERM_MOMENTS_H
#define DPERM_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loss.h"

/* Rows of a block: enough for BLAS, few enough for the cache. */
#define DPERM_BLOCK_ROWS_MAX 256

typedef struct DpermMoments
{
	int			dim;
	bool		hessian;		/* accumulate second derivatives too? */
	DpermLoss	loss;
	int64_t		rows;			/* rows summed up or waiting in the block */

	/* sums, each as a pair high + low; the Hessian as its lower triangle */
	double		value[2];
	double	   *gradient;		/* dim */
	double	   *gradient_low;	/* dim */
	double	   *hess;			/* dim x dim by columns; NULL without hessian */

	double	   *weights;		/* dim */

	/* the block under way, and scratch */
	int			block_rows;		/* capacity */
	int			block_used;
	double	   *block;			/* block_rows x dim, row after row */
	double	   *scaled;			/* the same, times the root of the curvature */
	double	   *margin;			/* block_rows */
	double	   *part;			/* dim */
} DpermMoments;

/* How many doubles of room a pass needs. */
extern size_t dperm_moments_room(int dim, bool hessian);

/* Start a pass with zero sums; room stays in use. */
extern void dperm_moments_init(DpermMoments *m, DpermLoss loss, int dim, bool hessian,
							   const double *weights, double *room);

/* The place for one more row; the caller fills in all dim coordinates. */
extern double *dperm_moments_next(DpermMoments *m);

/* Add rows that lie in memory already, count of them, row after row. */
extern void dperm_moments_add(DpermMoments *m, const double *rows, int64_t count);

/* Bring the rows of the block under way into the sums. */
extern void dperm_moments_flush(DpermMoments *m);

/* Add sums that another pass made at the same weights. hess is packed, by columns. */
extern void dperm_moments_merge(DpermMoments *m, int64_t rows, const double *value,
								const double *gradient, const double *gradient_low,
								const double *hess_packed);

/* The lower triangle of the Hessian, column after column. */
extern void dperm_moments_pack(const DpermMoments *m, double *packed);

/* Entries of a packed triangle. */
static inline size_t
dperm_packed_size(int dim)
{
	return (size_t) dim * (dim + 1) / 2;
}

/*
 * A bound on |computed - exact| for the mean gradient at weights no longer than
 * length, for a loss of curvature at most c (docs/guarantee.md, "Rounding").
 */
extern double dperm_moments_rounding(int dim, double curvature, double length);

#endif							/* DPERM_MOMENTS_H */
