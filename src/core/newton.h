/*
 * newton.h: minimise a regularised empirical risk through an oracle.
 *
 *   G(f) = mean loss(f) + (lambda/2) |f|^2 + tilt . f
 *
 * The solver knows neither rows nor SQL nor privacy: it asks the oracle for the
 * mean loss and its derivatives at a point, which may cost a scan of a table. It
 * converges from any start: the Newton direction is a descent direction because
 * the Hessian is at least lambda, and the step satisfies Wolfe's conditions in
 * the form that survives rounding (Hager and Zhang 2005).
 */
#ifndef DPERM_NEWTON_H
#define DPERM_NEWTON_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/*
 * The mean over rows of the loss at weights, its gradient (dim) and, if hess is not
 * NULL, its Hessian (dim x dim, lower triangle, by columns).
 */
typedef struct DpermOracle
{
	DpermStatus (*eval) (void *arg, const double *weights, double *value,
						 double *gradient, double *hess);
	void	   *arg;
} DpermOracle;

typedef struct DpermProblem
{
	int			dim;
	double		lambda;			/* > 0 */
	const double *tilt;			/* dim; NULL for none */
	double		goal;			/* stop at |gradient of G| <= goal */
	DpermOracle oracle;
	DpermPoll	poll;
} DpermProblem;

/* How many doubles of room the solver needs. */
extern size_t dperm_newton_room(int dim);

/*
 * Improve weights until the goal is reached: DPERM_OK. DPERM_NOT_CERTIFIED when the
 * solver cannot get there (weights is then the best point seen); any other status is
 * the oracle's.
 */
extern DpermStatus dperm_newton(const DpermProblem *problem, double *weights, double *room);

/*
 * Improve weights roughly, by way of the minimisers for larger lambda: a start for a loss that has
 * flat pieces, on which Newton's method sees no curvature but lambda. DPERM_OK, or the oracle's
 * status.
 */
extern DpermStatus dperm_newton_path(const DpermProblem *problem, double *weights,
									 double *room);

#endif							/* DPERM_NEWTON_H */
