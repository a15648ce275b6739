/*
 * sums.h: sums over encoded rows at given weights: of losses, their gradients, and
 * their Hessians. Trusted, as far as gradients go: the certificate of the solver
 * rests on them.
 *
 * A row is x; its output is x.w, and its loss is a function of that and of its
 * label (loss.h). The gradient is the sum of slopes times x, the Hessian that of
 * curvatures times x x', each times the weight of the row if it has one. A row
 * without a label adds a constant to the loss, and nothing else.
 *
 * With several classes a row has an output and a slope for each. Weights and
 * gradients are coordinate by coordinate, with a number for each class: w[j K + k].
 * The Hessian would be too large: in its place are the sums of tr(S) x x' and of
 * the diagonal of S, the curvature of a row by pairs of classes.
 *
 * Rows are summed up in batches, which are decoded first: numbers stay where they
 * are, a category becomes a coordinate, where the row has the unit, and a curve
 * becomes a coordinate and two entries, for that and for the next one. What follows is
 * in few loops, each of which is for one class or several, in doubles or in extended
 * precision.
 *
 * Order and rounding. The output of a row is in four sums for numbers, four for
 * codes and four for curves; with several classes it is one sum. Gradients are added
 * up without further care within a piece of at most DPERM_PIECE_ROWS rows, which may be
 * in several batches and chunks. The sums of pieces are compensated (Knuth's two-sum),
 * and those of other processes are added in extended precision.
 * dperm_moments_rounding() bounds the error (docs/guarantee.md, Lemma 8). Hessians are
 * for the solver alone; no bound on them is needed.
 *
 * Extended precision. Doubles are enough for most trainings. If the weights are so
 * large that the rounding of outputs could hide more than the certificate allows,
 * or if the solver stops short of its goal, the gradient is computed in extended
 * precision, at weights that are pairs of doubles. Sums are integers of 128 bits then,
 * so that they are exact in any order, and faster than the numbers of 113 bits in which
 * slopes are computed. dperm_moments_extended_rounding() bounds the error (Lemma 11).
 */
#ifndef DPERM_SUMS_H
#define DPERM_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/encode/layout.h"
#include "core/loss/loss.h"
#include "core/solve/certify.h"

/* Rows whose gradients are added up without compensation. */
#define DPERM_PIECE_ROWS 96

/* Rows of a batch, at most. */
#define DPERM_BATCH_ROWS DPERM_PIECE_ROWS

/*
 * Rows whose second derivatives are added up by BLAS at a time; and in single
 * precision.
 *
 * The error of that: a term is the product of two factors that were rounded up to
 * 4 times each, and is rounded again, and so are at most DPERM_ROUGH_ROWS - 1 sums,
 * in any order. With u = 2^-24,
 * (DPERM_ROUGH_ROWS + 8) u (1 + 1e-4) sum curvature |x_i| |x_j| bounds the error
 * of an element; rows have norm at most 1, so that of the whole matrix, in the
 * 2-norm, is at most 3.2e-5 times rows times the curvature of the loss. That is
 * good enough for the metric of a solver unless lambda is tiny, and twice as fast.
 */
#define DPERM_SQUARES_ROWS 96
#define DPERM_ROUGH_ROWS 512

/* What sums in extended precision are of: multiples of a power of two. */
__extension__ typedef __int128 DpermFixed;

typedef struct DpermMoments
{
	DpermPassOrder order;		/* what is summed up */
	DpermLoss	loss;
	DpermLayout layout;			/* of the rows */
	int			dim;			/* weights: for each class, the dimension of rows */
	int			classes;		/* or 1 */
	bool		hessian;		/* are there second derivatives? */
	int64_t		rows;			/* rows added */

	/* sums, each as a pair high + low, except for second derivatives */
	double		value[2];
	double	   *gradient;		/* dim */
	double	   *gradient_low;	/* dim */
	double	   *hess;			/* see dperm_moments_second(); NULL: none */
	double	   *by_class;		/* with several classes: of their own curvatures */

	/* vectors that codes select from have a place for missing values: zeros here */
	double	   *weights;
	double	   *piece;			/* the gradient of the current piece */
	int			piece_rows;		/* number of rows in it */

	/* a batch */
	int			batch_rows;		/* at most */
	double	   *numbers;		/* of decoded rows, with straight lines */
	uint16_t   *codes;			/* coordinates of categories, row by row */
	int32_t    *places;			/* first coordinates of curves */
	double	   *entries;		/* two for each */
	double	   *outputs;		/* row by row, for each class; then slopes */

	/* rows times the roots of their curvatures, in doubles or in single precision */
	int			scaled_rows;
	double	   *scaled;			/* NULL: in single precision */
	float	   *rough_scaled;	/* else NULL */
	float	   *rough_hess;		/* and the sum over them */

	/* in extended precision: weights, the piece, and outputs, then slopes */
	double		fixed_unit;		/* weights and outputs are multiples of it */
	DpermFixed *fixed_weights;
	DpermFixed *fixed_piece;
	DpermFixed *fixed_outputs;
} DpermMoments;

/* How many doubles of room a pass needs, for dim weights of so many classes, or 1. */
extern size_t dperm_moments_room(int dim, int classes, bool hessian);

/*
 * Start a pass over rows of a layout, with zero sums; room stays in use, and is
 * enough for any layout. weights_low is for extended precision, in which the mean
 * loss is not computed; else NULL.
 */
extern void dperm_moments_start(DpermMoments *m, DpermPassOrder order, DpermLoss loss,
								const DpermLayout *layout, const double *weights,
								const double *weights_low, double *room);

/* Add one in step of count contiguous rows, which stay where they are. */
extern void dperm_moments_add(DpermMoments *m, const double *rows, int64_t count, int64_t step);

/*
 * The outputs of a row at the weights of a pass, one for each class, until the next
 * call. Their rounding does not depend on other rows.
 */
extern const double *dperm_moments_outputs(DpermMoments *m, const double *row);

/* Finish the sums over the rows so far; more may follow. */
extern void dperm_moments_flush(DpermMoments *m);

/* Add the sums of another pass at the same weights. hess is packed. */
extern void dperm_moments_merge(DpermMoments *m, int64_t rows, const double *value,
								const double *gradient, const double *gradient_low,
								const double *hess_packed);

/* The lower triangle of the Hessian, column after column; then by class. */
extern void dperm_moments_pack(const DpermMoments *m, double *packed);

/*
 * Columns of the Hessian are this far apart: there are elements for missing values,
 * which mean nothing.
 */
#define DPERM_BEYOND 2

/* Element (i, j), for i >= j. The upper triangle is kept, where columns are contiguous. */
static inline double
dperm_moments_second(const DpermMoments *m, int i, int j)
{
	return m->hess[(size_t) i * (size_t) (m->layout.dim + DPERM_BEYOND) + (size_t) j];
}

/* How many numbers a packed Hessian has, for dim weights. */
static inline size_t
dperm_moments_packed(int dim, DpermLoss loss)
{
	size_t		d = (size_t) (dim / dperm_loss_blocks(loss));

	return d * (d + 1) / 2 + (size_t) loss.classes;
}

/* The relative error of one rounding, with a margin for terms of second order. */
#define DPERM_ROUNDING_UNIT (1.0625 * 0x1p-53)

/*
 * A bound on |computed - exact| for the mean gradient at dim weights of this
 * norm, in doubles.
 */
extern double dperm_moments_rounding(int dim, DpermLoss loss, double norm);

/*
 * The same for the gradient of a regularised and tilted mean over rows, in extended
 * precision; units have one row, and so many more.
 */
extern double dperm_moments_extended_rounding(int dim, DpermLoss loss, int64_t rows,
											  double more_rows, double lambda, double norm,
											  double tilt);

/* Encoded rows in memory, in chunks of equal size except for the last. */
typedef struct DpermMatrix
{
	DpermLoss	loss;
	int			dim;			/* weights */
	const DpermLayout *layout;	/* of the rows; NULL: vectors */
	int64_t		count;			/* rows in all */
	/*
	 * the number of rows that these are all of, or a sample of; 0: that of the
	 * training
	 */
	int64_t		of;
	/* the divisor for sums over all of those; 0: their number */
	double		units;
	int64_t		chunk_rows;		/* rows of a chunk */
	double	  **chunks;
	int64_t		step;			/* use one in so many rows of a chunk; 0: all */
	bool		rough;			/* is a Hessian in single precision enough? */
	double	   *room;			/* dperm_moments_room() doubles, with a Hessian */
} DpermMatrix;

/*
 * Answer a question: the mean over the selected rows. Their sums are divided by the
 * units of all rows, in proportion if only some rows are selected.
 */
extern void dperm_matrix_answer(const DpermMatrix *x, const DpermAsk *ask);

/*
 * The same in steps, for rows that are elsewhere: start a pass, add sums or rows to
 * it, and turn them into means over this many units.
 */
extern void dperm_matrix_start(const DpermMatrix *x, const DpermAsk *ask, DpermMoments *m);
extern void dperm_matrix_means(DpermMoments *m, double units, const DpermAsk *ask);

/* Overwrite the room, including the weights in it. */
extern void dperm_matrix_wipe(DpermMatrix *matrix);

/* Overwrite secrets in a way that the compiler does not optimise away. */
static inline void
dperm_wipe(double *x, size_t count)
{
	volatile double *v = x;

	for (size_t i = 0; i < count; i++)
		v[i] = 0;
}

#endif							/* DPERM_SUMS_H */
