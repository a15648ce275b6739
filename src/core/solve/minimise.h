/*
 * minimise.h: from rows to certified weights: the tool that mechanisms use.
 *
 * The way: a start on some rows or on compact ones, corrections of that,
 * Newton's method, and where doubles do not certify what it comes to, descent
 * in twice the precision. All rows are asked for by questions that the caller
 * answers. It knows nothing about privacy; what it promises is that the exact
 * gradient at the weights is within the bound that it was given
 * (docs/guarantee.md, "Rounding" and "The solver always certifies").
 */
#ifndef DPERM_MINIMISE_H
#define DPERM_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/loss/loss.h"
#include "core/solve/descent.h"
#include "core/solve/matrix.h"
#include "core/solve/solver.h"

/* What is to be minimised, and what must hold at the end. */
typedef struct DpermMinimiseTask
{
	DpermLoss	loss;
	int			dim;
	int64_t		rows;			/* what the means are over: rows, or persons */
	int64_t		most_rows;		/* that a sum may be of: more than rows if these are persons */
	double		lambda;
	const double *tilt;			/* dim; NULL for none */
	double		goal;			/* the solver aims at this computed norm of the gradient */
	double		bound;			/* on the norm of the exact gradient */
	/*
	 * of a gradient in doubles: so much, and so much for each unit of norm of
	 * the weights
	 */
	double		rounding[2];
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		descent_steps;	/* after which descent has arrived */
	/*
	 * some of the rows, or all of them, perhaps compact, to start from; or NULL
	 */
	DpermMatrix *sample;
	double		hess_cost;		/* as in DpermProblem, of all rows */
	DpermPoll	poll;
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
	DpermSolver solver;			/* over all rows; while correcting, over the compact ones */
	bool		descending;		/* has the solver ended at weights that are not certified? */
	DpermDescent descent;

	/* as long as the minimiser over compact rows is corrected */
	bool		correcting;
	bool		asked;			/* for an exact gradient */
	int			corrections;
	DpermPoint	exact;			/* the weights, and what is known of G over all rows */
	DpermPoint	best;			/* the best of those before */
	double	   *tilt;			/* dim: of the compact problem */
} DpermMinimise;

/* How many doubles of room it needs. */
extern size_t dperm_minimise_room(int dim);

/*
 * Is single precision enough for the Hessians that are asked for? Their
 * rounding must be small against lambda.
 */
extern bool dperm_minimise_rough(const DpermMinimiseTask *task);

/* Begin at weights. */
extern void dperm_minimise_start(DpermMinimise *min, const DpermMinimiseTask *task, double *weights,
								 double *room);

/* What to ask of all rows next; false at the end. */
extern bool dperm_minimise_next(DpermMinimise *min, DpermAsk *ask);

#endif							/* DPERM_MINIMISE_H */
