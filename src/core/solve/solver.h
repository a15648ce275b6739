/*
 * solver.h: look for the minimiser of a regularised empirical risk by asking
 * questions about it. Fast.
 *
 * The solver knows neither rows nor SQL nor privacy: it asks for the mean loss
 * and its derivatives at a point, which may cost a scan of a table. It does not
 * say when it is done, either: its caller asks the certificate (certify.h) about
 * each answer, and the weights of the first question that passes are the result.
 * So what looks for the weights does not have to be trusted; it has to be fast, and to
 * come to an end.
 *
 * There are three stages, each begun where the one before leads no further:
 *
 *  - Steps in doubles. A gradient is cheap and a Hessian expensive, so a Hessian
 *    serves for many steps, corrected with the gradients (BFGS); the solver asks
 *    for a new one when it saves more than it costs. With several classes there
 *    is a metric in its place (metric.h). The first steps are over a sample.
 *  - The same steps in extended precision, if doubles cannot certify the result,
 *    because the solver stopped short or because the weights are too large.
 *  - Accelerated gradient descent in extended precision: a slow method that reaches
 *    its goal after a number of steps that is known in advance, whatever the rows
 *    contain (docs/guarantee.md, "The solver always certifies").
 *
 * Every step satisfies Wolfe's conditions in the form that survives rounding
 * (Hager and Zhang 2005).
 */
#ifndef DPERM_SOLVER_H
#define DPERM_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/solve/certify.h"
#include "core/solve/sums.h"

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

/* Answers a question over all rows; true if its weights are accepted. */
typedef bool (*DpermAnswer) (void *arg, const DpermAsk *question);

/* How many doubles of room the solver needs. */
extern size_t dperm_solver_room(int dim, int blocks);

/*
 * Is single precision enough for the Hessians that are asked for? Their
 * rounding must be small against lambda.
 */
extern bool dperm_solver_rough(double lambda, DpermLoss loss);

/*
 * Ask questions until an answer is accepted, or descent has taken all of its steps.
 * Begin at weights, or near the minimiser over the sample, which overwrites them.
 */
extern void dperm_solver_run(const DpermProblem *problem, DpermAnswer answer, void *arg,
							 double *weights, double *room);

/*
 * The gradient that descent can reach, and the number of steps that it needs for
 * bound, given these public quantities; tilt is a bound on the norm of the tilt.
 * Trusted to leave no outcome but a certified one.
 */
extern double dperm_solver_reach(int dim, double lambda, DpermLoss loss, int64_t rows,
								 double more_rows, double weight_bound, double tilt);
extern int64_t
dperm_solver_steps(double lambda, double curvature, double weight_bound, double bound);

#endif							/* DPERM_SOLVER_H */
