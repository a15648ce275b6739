/*
 * solver.h: minimise a regularised empirical risk by asking questions about it.
 *
 *   G(f) = mean loss(f) + (lambda/2) |f|^2 + tilt . f
 *
 * The solver knows neither rows nor SQL nor privacy: it asks for the mean loss
 * and its derivatives at a point, which may cost a scan of a table. A gradient
 * is cheap and a Hessian expensive, so a Hessian serves for many steps,
 * corrected with the gradients (BFGS with the factor of the Hessian as the
 * initial metric); the solver asks for a new one when it saves more than it
 * costs. It converges from any start: a step with a fresh Hessian descends
 * because its eigenvalues are at least lambda, and every step satisfies Wolfe's
 * conditions in the form that survives rounding (Hager and Zhang 2005).
 *
 * With several classes there is a metric in place of the Hessian (metric.h).
 * Where that is slow, a step is Newton's, by conjugate gradients
 * (conjugate.h).
 */
#ifndef DPERM_SOLVER_H
#define DPERM_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/core.h"
#include "core/solve/ask.h"
#include "core/solve/conjugate.h"
#include "core/solve/corrections.h"
#include "core/solve/metric.h"

typedef struct DpermProblem
{
	int			dim;
	int			blocks;			/* classes; 0 or 1: one block of weights */
	double		lambda;			/* > 0 */
	const double *tilt;			/* dim; NULL for none */
	double		goal;			/* stop at |gradient of G| <= goal, */
	/*
	 * or within its rounding error: constant term, and term per unit of the
	 * norm of the weights
	 */
	double		rounding[2];
	/* does the loss have flat pieces? They are crossed on a lambda path. */
	bool		flat;
	double		hess_cost;		/* of a Hessian, in gradients; 0: dperm_solver_hess_cost() */
} DpermProblem;

/*
 * The cost of a Hessian of rows in memory, in gradients; and a cost that counts
 * as cheap.
 */
extern double dperm_solver_hess_cost(int dim, int blocks);
#define DPERM_CHEAP_HESS 4

/* How many doubles of room the solver needs. */
extern size_t dperm_solver_room(int dim, int blocks);

/*
 * Improve weights until the goal is reached. The caller has control, so that
 * several solvers can share one scan:
 *
 *   dperm_solver_start(&solver, &problem, weights, room);
 *   while (dperm_solver_next(&solver, &ask))
 *       ... answer what is asked ...
 *
 * Then solver.status is DPERM_OK and weights are the result; or it is
 * DPERM_NOT_CERTIFIED, because the solver cannot reach the goal, and weights
 * are the best point seen.
 */

/* Turn the mean loss and its gradient at a point into those of G. */
extern void dperm_solver_complete(const DpermProblem *problem, DpermPoint *point);

/* Private to the solver, except for status. */
typedef struct DpermSolver
{
	DpermStatus status;
	DpermProblem problem;		/* of the current leg */
	double		lambda;			/* as requested */
	double		goal;
	double	   *weights;		/* the caller's */
	int			phase;
	int			leg;
	int			steps;			/* of the leg */

	DpermPoint	at;
	DpermPoint	trial;
	double	   *direction;

	/* the metric: a Hessian or its factor, and corrections */
	DpermMetric metric;
	int			held;			/* what the metric holds */
	bool		fresh;			/* is the Hessian that of the current point? */
	DpermCorrections corrections;

	/* Newton's steps with several classes; its room is that of the corrections */
	bool		newton;
	DpermConjugate conjugate;

	/* the line search: slopes at 0, and at the ends of the bracket */
	double		slope;
	double		low;
	double		low_slope;
	double		high;
	double		high_slope;
	double		step;
	int			trials;
	bool		want_hess;		/* with the next trial of a full step */
} DpermSolver;

extern void dperm_solver_start(DpermSolver *solver, const DpermProblem *problem, double *weights,
							   double *room);

/*
 * To be called between start and the first next, if the start is near the
 * minimiser. With a metric, a Hessian of the mean loss, perhaps over some of the
 * rows, has been written to solver.metric.hess and is good enough to begin with.
 */
extern void dperm_solver_start_near(DpermSolver *solver, bool metric);

extern bool dperm_solver_next(DpermSolver *solver, DpermAsk *ask);

/*
 * The current point, and what is known there. Its norm is infinite before the
 * first answer.
 */
static inline const DpermPoint *
dperm_solver_at(const DpermSolver *solver)
{
	return &solver->at;
}

/*
 * A question about weights whose answer is stored in the solver, with the
 * Hessian where dperm_solver_start_near() expects it.
 */
static inline DpermAsk
dperm_solver_ask_metric(DpermSolver *solver, const double *weights)
{
	return (DpermAsk) {.weights = weights,
					   .value = &solver->trial.value,
					   .gradient = solver->trial.gradient,
					   .hess = solver->metric.hess};
}

#endif							/* DPERM_SOLVER_H */
