/*
 * matrix.h: answer the solver's questions from rows in memory.
 */
#ifndef DPERM_MATRIX_H
#define DPERM_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/encode/keep.h"
#include "core/encode/layout.h"
#include "core/loss/loss.h"
#include "core/solve/moments.h"
#include "core/solve/ask.h"

struct DpermMatrix;

/*
 * Other processes that can sum up rows of a matrix together with this one:
 * sum() adds the selected rows to a pass that has been started. Sums over few
 * rows are better done alone.
 */
typedef struct DpermHelp
{
	void		(*sum) (void *arg, const struct DpermMatrix *x, const DpermAsk *ask,
						DpermMoments *m);
	void	   *arg;
	int64_t		least_words;	/* of the selected rows; below that, alone */
} DpermHelp;

/*
 * Encoded rows in chunks of equal size except for the last, each in stripes or
 * contiguous.
 */
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
	int			stripes;		/* as in keep.h, or 1; 0 is the same */
	/*
	 * use one in step rows, as whole stripes where possible; 0: all. With
	 * stripes, a power of two
	 */
	int64_t		step;
	bool		compact;		/* are the rows compact (compact.h)? */
	bool		single;			/* if so: is a gradient in single precision enough? */
	bool		rough;			/* is a Hessian in single precision enough? */
	const DpermHelp *help;		/* NULL, or without a function: none */
	double	   *room;			/* dperm_moments_room() doubles, with a Hessian */
} DpermMatrix;

/* The matrix of the rows that are kept; the caller sets the room. */
extern DpermMatrix dperm_matrix_of(const DpermKeep *keep, const DpermLayout *layout,
								   DpermLoss loss);

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

/* How many chunks there are; and add the selected rows of some of them to a pass. */
static inline int64_t
dperm_matrix_chunks(const DpermMatrix *x)
{
	return (x->count + x->chunk_rows - 1) / x->chunk_rows;
}

extern void dperm_matrix_add(const DpermMatrix *x, DpermMoments *m, int64_t first, int64_t last);

/*
 * dperm_matrix_means() for separate sums: value with its low part, gradient and
 * its low parts.
 */
extern void
dperm_matrix_sums_means(const double *value, const double *gradient, const double *gradient_low,
						double n, int dim, const DpermAsk *ask);

#endif							/* DPERM_MATRIX_H */
