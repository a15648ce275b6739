/*
 * moments.h: one pass over encoded rows at given weights.
 *
 * A row is x, with its label: its output is x.w, and its loss is a function of
 * both (loss.h). The sums are over rows: losses, slopes by the output times x,
 * curvatures times x x', each times the weight of the row if it has one. A row
 * without a label adds a constant to the first, and nothing to the others.
 *
 * With several classes a row has an output, a slope and a block of weights for
 * each; weights and gradient are in the order of products.h. The Hessian would
 * be too large: in its place are the sums of tr(S) x x' and of S, the curvature
 * of a row by pairs of classes. A pass may multiply the Hessian by a vector.
 *
 * Rows
 * are gathered into blocks; a full block costs two matrix-vector products and
 * one symmetric rank-k update for the numbers of its rows, and a look-up for
 * each code (codes.h). The sums of blocks are compensated, so the rounding
 * error of the gradient does not grow with the number of rows:
 * dperm_moments_rounding() is the bound, and the certificate of the solver
 * relies on it.
 */
#ifndef DPERM_MOMENTS_H
#define DPERM_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/encode/layout.h"
#include "core/loss/loss.h"
#include "core/solve/extended.h"
#include "core/solve/squares.h"

/* Rows of a block: enough for BLAS, few enough for the cache. */
#define DPERM_BLOCK_ROWS_MAX DPERM_LOSS_BLOCK

/* Rows whose gradients are added up without compensation. */
#define DPERM_PIECE_ROWS 96

typedef struct DpermMoments
{
	int			dim;			/* weights: for each class, the dimension of rows */
	int			blocks;			/* classes, or 1 */
	DpermLayout layout;			/* of the rows */
	bool		hessian;		/* accumulate second derivatives too? */
	bool		careful;		/* only the gradient, in extended precision? */
	DpermLoss	loss;
	int64_t		rows;			/* rows added or waiting in the block */

	/* sums, each as a pair high + low; the Hessian as its lower triangle */
	double		value[2];
	double	   *gradient;		/* dim */
	double	   *gradient_low;	/* dim */
	double	   *hess;			/* by columns, of the dimension of rows; NULL without hessian.
								 * Between flushes, what codes add is in the upper triangle. */
	double	   *pairs;			/* packed, by pairs of classes (loss.h) */

	double	   *weights;		/* dim, and zeros for the code of a missing value (codes.h) */
	double	   *direction;		/* the same; NULL: no product is asked for */
	double	   *weights_low;	/* dim, if careful */
	DpermExtendedPass extended; /* the same */

	/* the current block, and scratch space */
	int			block_rows;		/* capacity */
	int			block_used;
	double	   *block;			/* block_rows x layout.words, row after row */
	DpermSquares squares;		/* what their numbers add to the Hessian */
	double	   *margin;			/* block_rows, for each block: outputs, then slopes by the output */
	double	   *moved;			/* the same of the direction */
	double	   *label;			/* block_rows */
	double	   *curve;			/* block_rows */
	double	   *part;			/* dim + blocks DPERM_CODES_BEYOND */
	double	   *decoded;		/* DPERM_CODES_ROOM(): positions and codes of rows */
	double	   *extended_room;
} DpermMoments;

/* How many doubles of room a pass needs, for dim weights in blocks. */
extern size_t dperm_moments_room(int dim, int blocks, bool hessian);

/*
 * Start a pass over rows of a layout, with zero sums; room stays in use. Room
 * for vectors is enough for any layout.
 */
extern void dperm_moments_init_rows(DpermMoments *m, DpermLoss loss, const DpermLayout *layout,
									bool hessian, const double *weights, double *room);

/*
 * To be called just after the start of a pass with a Hessian if single
 * precision is enough for it. That is twice as fast, and good enough for the
 * metric of a solver unless lambda is tiny (squares.h has the error).
 */
extern void dperm_moments_be_rough(DpermMoments *m);

/*
 * To be called just after the start of a pass without a Hessian if weights and
 * gradient are pairs (quad.h); weights_low are the low parts of the weights. The
 * mean loss is not computed.
 */
extern void dperm_moments_be_careful(DpermMoments *m, const double *weights_low);

/*
 * To be called just after the start of a pass without a Hessian: with several
 * classes, multiply the Hessian by a vector, in place of the gradient.
 */
extern void dperm_moments_be_product(DpermMoments *m, const double *direction);

/* The place for one more row; the caller fills in all of its words. */
extern double *dperm_moments_next(DpermMoments *m);

/* The place for count more rows, at most block_rows. */
extern double *dperm_moments_next_rows(DpermMoments *m, int count);

/*
 * Add every step-th of rows that are contiguous in memory; count is how many
 * are added.
 */
extern void dperm_moments_add_every(DpermMoments *m, const double *rows, int64_t count,
									int64_t step);

/* Add the rows of the current block to the sums. */
extern void dperm_moments_flush(DpermMoments *m);

/* Add the sums of another pass at the same weights. hess is packed. */
extern void dperm_moments_merge(DpermMoments *m, int64_t rows, const double *value,
								const double *gradient, const double *gradient_low,
								const double *hess_packed);

/* The lower triangle of the Hessian, column after column; then pairs of classes. */
extern void dperm_moments_pack(const DpermMoments *m, double *packed);

/* Overwrite secrets in a way that the compiler does not optimise away. */
static inline void
dperm_wipe(double *x, size_t count)
{
	volatile double *v = x;

	for (size_t i = 0; i < count; i++)
		v[i] = 0;
}

/* How many numbers that is, for dim weights. */
static inline size_t
dperm_moments_packed(int dim, DpermLoss loss)
{
	size_t		d = (size_t) (dim / dperm_loss_blocks(loss));

	return d * (d + 1) / 2 + dperm_loss_pairs_size(loss.classes);
}

/*
 * The relative error of one rounding, with a margin for terms of second order.
 */
#define DPERM_ROUNDING_UNIT (1.0625 * 0x1p-53)

/*
 * How many rows in memory are added at a time. The bound below rests on it: as
 * many as DPERM_PIECE_ROWS, or long ones, or 32 (docs/guarantee.md, Lemma 8).
 */
extern int	dperm_moments_piece(const DpermMoments *m, int eighths);

/*
 * A bound on |computed - exact| for the mean gradient at dim weights of this
 * norm (docs/guarantee.md, "Rounding").
 */
extern double dperm_moments_rounding(int dim, DpermLoss loss, double norm);

#endif							/* DPERM_MOMENTS_H */
