/*
 * descent.h: a slow method that always finds the minimiser.
 *
 * If the solver ends at a point that doubles cannot certify, because it stopped
 * short or because its weights are too large, this continues in extended
 * precision. It begins with steps that use a Hessian, like iterative refinement
 * of a linear system, and shortens them until they reduce the gradient; that is
 * usually enough. (With several classes they are Newton's steps by conjugate
 * gradients, in doubles.) Then comes accelerated gradient descent (Nesterov 2004),
 * which reaches its goal after a number of steps that is known in advance,
 * whatever the rows contain: docs/guarantee.md, "The solver always certifies".
 */
#ifndef DPERM_DESCENT_H
#define DPERM_DESCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/loss/loss.h"
#include "core/solve/ask.h"
#include "core/solve/conjugate.h"
#include "core/solve/metric.h"

/* What is to be minimised, and what is known about it in advance. */
typedef struct DpermDescentProblem
{
	int			dim;
	double		lambda;
	const double *tilt;			/* dim; NULL for none */
	DpermLoss	loss;
	int64_t		rows;
	double		bound;			/* on the exact gradient at the result */
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		steps;			/* enough for descent: dperm_descent_steps() */
} DpermDescentProblem;

typedef struct DpermDescent
{
	DpermDescentProblem problem;
	bool		certified;		/* at the end: is the gradient within its bound? */
	int			phase;
	int64_t		taken;			/* steps of this phase */
	double		norm;			/* of the gradient at the best point */
	double		step;			/* step length that is being tried */
	bool		fresh;			/* is the Hessian that of the best point? */
	double	   *weights;		/* the caller's */

	/* vectors of dim high parts, then dim low parts (core.h) */
	double	   *at;				/* where the gradient is asked for */
	double	   *gradient;
	double	   *best;			/* refinement: the best point so far, */
	double	   *best_gradient;	/* its gradient, */
	double	   *ahead;			/* and the direction from there; then v of the accelerated method */
	double		value;			/* not used */
	DpermMetric metric;			/* the caller's: a Hessian, then its factor */
	DpermConjugate conjugate;	/* several classes: steps from the best point */
	double	   *conjugate_room;
} DpermDescent;

/* How many doubles of room it needs, in addition to that of the metric. */
extern size_t dperm_descent_room(int dim);

/* Begin at weights. room stays in use, and so does that of the metric. */
extern void dperm_descent_start(DpermDescent *descent, const DpermDescentProblem *problem,
								double *weights, const DpermMetric *metric, double *room);

/* As dperm_solver_next(); at the end the weights are the result. */
extern bool dperm_descent_next(DpermDescent *descent, DpermAsk *ask);

/*
 * The gradient that accelerated descent can reach, and the number of steps it
 * needs for bound, given these public quantities; tilt is a bound on the norm
 * of the tilt.
 */
extern double dperm_descent_reach(int dim, double lambda, DpermLoss loss, int64_t rows,
								  double weight_bound, double tilt);
extern int64_t
dperm_descent_steps(double lambda, double curvature, double weight_bound, double bound);

#endif							/* DPERM_DESCENT_H */
