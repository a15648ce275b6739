/*
 * minimise.h: from rows to certified weights: the tool that mechanisms use.
 *
 * The steps: a start on a sample, Newton's method, and, if doubles cannot
 * certify the result, descent in extended precision. Passes over all rows are
 * questions that the caller answers. It knows nothing about privacy; it promises
 * that the exact gradient at the weights is within the given bound
 * (docs/guarantee.md, "Rounding" and "The solver always certifies").
 */
#ifndef DPERM_MINIMISE_H
#define DPERM_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/loss/loss.h"
#include "core/solve/descent.h"
#include "core/solve/sums.h"
#include "core/solve/solver.h"

/* What is to be minimised, and what must hold at the end. */
typedef struct DpermMinimiseTask
{
	DpermLoss	loss;
	int			dim;
	int64_t		rows;			/* number of units in the means: rows, or persons */
	int64_t		most_rows;		/* terms of a sum at most: more than rows if units are persons */
	double		lambda;
	const double *tilt;			/* dim; NULL for none */
	double		goal;			/* the solver aims at this computed norm of the gradient */
	double		bound;			/* on the norm of the exact gradient */
	/*
	 * rounding error of a gradient in doubles: constant term, and term per unit
	 * of the norm of the weights
	 */
	double		rounding[2];
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		descent_steps;	/* enough for descent */
	/* a sample of the rows to start from, or NULL */
	DpermMatrix *sample;
	double		hess_cost;		/* as in DpermProblem, for all rows */
} DpermMinimiseTask;

typedef struct DpermMinimise
{
	DpermMinimiseTask task;
	/* at the end: is the exact gradient at the weights within its bound? */
	bool		certified;
	bool		ended;			/* nothing is left to ask */
	double	   *weights;		/* the caller's */
	double	   *room;
	DpermProblem problem;
	DpermSolver solver;
	bool		descending;		/* did the solver end at uncertified weights? */
	DpermDescent descent;
} DpermMinimise;

/*
 * A sample need not have more than one in so many of the rows: a start on more of
 * them takes longer than the passes that it saves.
 */
#define DPERM_MINIMISE_PART 8

/* How many doubles of room it needs. */
extern size_t dperm_minimise_room(int dim, int blocks);

/*
 * Is single precision enough for the Hessians that are asked for? Their
 * rounding must be small against lambda.
 */
extern bool dperm_minimise_rough(const DpermMinimiseTask *task);

/* Begin at weights. */
extern void dperm_minimise_start(DpermMinimise *min, const DpermMinimiseTask *task, double *weights,
								 double *room);

/* The next question about all rows; false at the end. */
extern bool dperm_minimise_next(DpermMinimise *min, DpermAsk *ask);

#endif							/* DPERM_MINIMISE_H */
