/*
 * matrix.h: rows in memory that answer what the solver asks.
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
#include "core/solve/solver.h"

/*
 * Encoded rows in chunks of equal size but for the last, each in stripes or in
 * one piece.
 */
typedef struct DpermMatrix
{
	DpermLoss	loss;
	int			dim;
	const DpermLayout *layout;	/* of the rows; NULL: vectors */
	int64_t		count;			/* rows in all */
	/*
	 * rows that they are all or a sample of; 0: of as many as the training is
	 * told
	 */
	int64_t		of;
	/* what the sums over all of those are divided by; 0: their number */
	double		units;
	int64_t		chunk_rows;		/* rows of a chunk */
	double	  **chunks;
	int			stripes;		/* as in keep.h, or 1; 0 is the same */
	int64_t		step; /* only every step-th row counts, or so many stripes; 0: all. With stripes,
								 * a power of two. */
	bool		compact;		/* are the rows as in compact.h? */
	bool		single;			/* then: is a gradient in single precision enough? */
	bool		rough;			/* is a Hessian in single precision enough? */
	DpermPoll	poll;
	double	   *room;			/* dperm_moments_room(dim, true) doubles */
} DpermMatrix;

/* The rows that are kept; poll and room are left to the caller. */
extern DpermMatrix dperm_matrix_of(const DpermKeep *keep, const DpermLayout *layout,
								   DpermLoss loss);

/*
 * The mean over the rows that count: their sums, divided by the units of all
 * rows, or by as large a part of them as of the rows if only some count.
 */
extern void dperm_matrix_answer(const DpermMatrix *x, const DpermAsk *ask);

/* Overwrite the weights that were looked at, and all else in the room. */
extern void dperm_matrix_wipe(DpermMatrix *matrix);

/*
 * The sums of a finished pass as means over so many units: the answer to a
 * question.
 */
extern void dperm_matrix_means(DpermMoments *m, double units, const DpermAsk *ask);

/*
 * Start a pass that answers a question by the rows of a matrix, some of which
 * need not be in memory.
 */
extern void dperm_matrix_start(const DpermMatrix *x, const DpermAsk *ask, DpermMoments *m);

/*
 * The same for sums that come one by one: value and its low part, gradient and
 * its low part.
 */
extern void
dperm_matrix_sums_means(const double *value, const double *gradient, const double *gradient_low,
						double n, int dim, const DpermAsk *ask);

#endif							/* DPERM_MATRIX_H */
