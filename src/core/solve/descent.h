/*
 * descent.h: the way to the minimiser that cannot fail.
 *
 * Where the solver ends at a point that doubles cannot certify, because it
 * stopped short or because its weights are too large, this goes on in twice the
 * precision. First some steps with a Hessian, as they refine the solution of a
 * linear system, shortened as long as they do not make the gradient smaller;
 * they are enough as a rule. Then accelerated gradient descent (Nesterov 2004),
 * which reaches its goal after a number of steps that is known in advance,
 * whatever the rows hold: docs/guarantee.md, "The solver always certifies".
 */
#ifndef DPERM_DESCENT_H
#define DPERM_DESCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/solve/solver.h"

/* What is to be minimised, and what is known about it in advance. */
typedef struct DpermDescentProblem
{
	int			dim;
	double		lambda;
	const double *tilt;			/* dim; NULL for none */
	double		curvature;		/* of the loss, at most */
	int64_t		rows;
	double		bound;			/* on the exact gradient where it stops */
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		steps;			/* after which descent has arrived: dperm_descent_steps() */
	DpermPoll	poll;
} DpermDescentProblem;

typedef struct DpermDescent
{
	DpermDescentProblem problem;
	bool		certified;		/* at the end: is the gradient at the weights within its bound? */
	int			phase;
	int64_t		taken;			/* steps of the phase */
	double		norm;			/* of the gradient at best */
	double		step;			/* share of the direction that is tried */
	bool		fresh;			/* was the Hessian taken at best? */
	double	   *weights;		/* the caller's */

	/* wide vectors: dim high parts, then dim low parts */
	double	   *at;				/* where the gradient is asked for */
	double	   *gradient;
	double	   *best;			/* while refining: the best point so far, */
	double	   *best_gradient;	/* its gradient, */
	double	   *ahead;			/* and the direction from there; then v of the accelerated method */
	double		value;			/* of no interest */
	double	   *hess;			/* dim x dim: a Hessian, then its factor */
} DpermDescent;

/* How many doubles of room it needs, besides dim x dim for hess. */
extern size_t dperm_descent_room(int dim);

/* Begin at weights. room stays in use. */
extern void dperm_descent_start(DpermDescent *descent, const DpermDescentProblem *problem,
								double *weights, double *hess, double *room);

/* As dperm_solver_next(); at the end the weights are the result. */
extern bool dperm_descent_next(DpermDescent *descent, DpermAsk *ask);

/*
 * What accelerated descent can reach, and after how many steps it has reached
 * bound, for a problem of these public quantities; tilt is a bound on its norm.
 */
extern double dperm_descent_reach(int dim, double lambda, double curvature, int64_t rows,
								  double weight_bound, double tilt);
extern int64_t
dperm_descent_steps(double lambda, double curvature, double weight_bound, double bound);

#endif							/* DPERM_DESCENT_H */
