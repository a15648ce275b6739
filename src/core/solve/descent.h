/*
 * descent.h: accelerated gradient descent (Nesterov 2004) in extended precision:
 * a slow method that always finds the minimiser.
 *
 * It reaches its goal after a number of steps that is known in advance, whatever
 * the rows contain: docs/guarantee.md, "The solver always certifies". That number
 * and the bound that it can reach are constants of a training, and trusted to
 * leave no outcome but a certified one; what a step makes of the weights is
 * checked like any other (certify.h).
 */
#ifndef DPERM_DESCENT_H
#define DPERM_DESCENT_H

#include <stdint.h>

#include "core/loss/loss.h"

/*
 * The gradient that it can reach, and the number of steps that it needs for
 * bound, given these public quantities; tilt is a bound on the norm of the tilt.
 */
extern double dperm_descent_reach(int dim, double lambda, DpermLoss loss, int64_t rows,
								  double weight_bound, double tilt);
extern int64_t
dperm_descent_steps(double lambda, double curvature, double weight_bound, double bound);

/*
 * A step, from the gradient of the objective at y to the next y. All three are
 * vectors of pairs (quad.h); v, which the method keeps, is y before the first step.
 */
extern void dperm_descent_step(int dim, double lambda, double curvature, const double *gradient,
							   double *y, double *v);

#endif							/* DPERM_DESCENT_H */
