/*
 * matrix.h: answer the solver's questions from rows in memory.
 */
#ifndef DPERM_MATRIX_H
#define DPERM_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/encode/layout.h"
#include "core/loss/loss.h"
#include "core/solve/moments.h"
#include "core/solve/ask.h"

/* Encoded rows in chunks of equal size except for the last. */
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
 * The mean over the selected rows: their sums divided by the units of all rows,
 * in proportion if only some rows are selected.
 */
extern void dperm_matrix_answer(const DpermMatrix *x, const DpermAsk *ask);

/* Overwrite the room, including the weights in it. */
extern void dperm_matrix_wipe(DpermMatrix *matrix);

/*
 * Turn the sums of a finished pass into means over this many units: the answer
 * to a question.
 */
extern void dperm_matrix_means(DpermMoments *m, double units, const DpermAsk *ask);

/*
 * Start a pass that answers a question over the rows of a matrix, not all of
 * which need to be in memory.
 */
extern void dperm_matrix_start(const DpermMatrix *x, const DpermAsk *ask, DpermMoments *m);

/* Add one in step of count contiguous rows to a pass. */
extern void dperm_matrix_add(DpermMoments *m, const double *rows, int64_t count, int64_t step);

/*
 * dperm_matrix_means() for separate sums: value with its low part, gradient and
 * its low parts.
 */
extern void
dperm_matrix_sums_means(const double *value, const double *gradient, const double *gradient_low,
						double n, int dim, const DpermAsk *ask);

#endif							/* DPERM_MATRIX_H */
