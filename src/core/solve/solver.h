/*
 * solver.h: look for the minimiser of a regularised empirical risk by asking
 * questions about it.
 *
 * The solver knows neither rows nor SQL nor privacy: it asks for the mean loss
 * and its derivatives at a point, which may cost a scan of a table. It does not
 * say when it is done, either: its caller asks the certificate (certify.h) about
 * each answer, and the weights of the first question that passes are the result.
 * So nothing here has to be trusted; it has to be fast, and to come to an end.
 *
 * There are four stages, each begun where the one before leads no further:
 *
 *  - Steps in doubles. A gradient is cheap and a Hessian expensive, so a Hessian
 *    serves for many steps, corrected with the gradients (BFGS); the solver asks
 *    for a new one when it saves more than it costs. With several classes there
 *    is a metric in its place (metric.h). The first steps are over a sample.
 *  - The same along a path of decreasing lambda: for losses with flat pieces,
 *    which have to be crossed bend by bend from a bad start.
 *  - The same steps in extended precision, if doubles cannot certify the result,
 *    because the solver stopped short or because the weights are too large.
 *  - Accelerated gradient descent (descent.h), which always arrives.
 *
 * Every step satisfies Wolfe's conditions in the form that survives rounding
 * (Hager and Zhang 2005).
 */
#ifndef DPERM_SOLVER_H
#define DPERM_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/solve/ask.h"
#include "core/solve/certify.h"
#include "core/solve/sums.h"
#include "core/solve/metric.h"

/* What is to be minimised, and what helps. */
typedef struct DpermProblem
{
	DpermObjective objective;
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		descent_steps;	/* enough for descent */
	/* a sample of the rows to start from, or NULL */
	DpermMatrix *sample;
	double		hess_cost;		/* of a Hessian over all rows, in gradients; 0: as in memory */
} DpermProblem;

/*
 * A sample need not have more than one in so many of the rows: a start on more of
 * them takes longer than the passes that it saves.
 */
#define DPERM_SOLVER_PART 8

/* Private to the solver. */
typedef struct DpermSolver
{
	DpermProblem problem;
	int			stage;
	int			state;			/* what was asked last */
	double		lambda;			/* of this leg of the path, or of the problem */
	int64_t		steps;			/* of this leg, or of descent */
	DpermPoint	at;
	DpermPoint	trial;
	double	   *direction;
	DpermMetric metric;
	int			held;			/* what the metric holds */
	bool		want_hess;		/* with the next full step, which is usually accepted */

	/* the line search: slopes at 0, and at the ends of the bracket */
	double		slope;
	double		low;
	double		low_slope;
	double		high;
	double		high_slope;
	double		step;
	int			trials;
} DpermSolver;

/* How many doubles of room the solver needs. */
extern size_t dperm_solver_room(int dim, int blocks);

/*
 * Is single precision enough for the Hessians that are asked for? Their
 * rounding must be small against lambda.
 */
extern bool dperm_solver_rough(double lambda, DpermLoss loss);

/*
 * Begin at weights, or near the minimiser over the sample, which overwrites them.
 * The caller has control:
 *
 *   dperm_solver_start(&solver, &problem, weights, room);
 *   while (dperm_solver_next(&solver, &ask))
 *   {
 *       ... answer what is asked over all rows ...
 *       if (dperm_certify(&problem.objective, &ask))
 *           break;             the result is ask.weights
 *   }
 */
extern void dperm_solver_start(DpermSolver *solver, const DpermProblem *problem,
							   double *weights, double *room);

/*
 * Process the answer to the last question, and ask the next one; false if descent
 * has taken all of its steps.
 */
extern bool dperm_solver_next(DpermSolver *solver, DpermAsk *ask);

#endif							/* DPERM_SOLVER_H */
