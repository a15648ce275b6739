/*
 * ask.h: a question of a solver about rows, which it does not read itself.
 */
#ifndef DPERM_ASK_H
#define DPERM_ASK_H

/*
 * A question: the mean over rows of the loss at weights, its gradient (dim)
 * and, if hess is not NULL, its Hessian (dim x dim, lower triangle, by
 * columns); with several classes, what takes its place (metric.h). If
 * weights_low is not NULL, the gradient alone, in extended precision, at
 * weights that have it (extended.h). If direction is not NULL, which
 * is only for several classes, the product of the Hessian with it, in place of
 * the gradient, alone.
 */
typedef struct DpermAsk
{
	const double *weights;
	const double *weights_low;	/* NULL: doubles are enough */
	double	   *value;
	double	   *gradient;
	double	   *gradient_low;	/* beside weights_low */
	double	   *hess;			/* NULL: not needed */
	const double *direction;	/* NULL: none */
} DpermAsk;

#endif							/* DPERM_ASK_H */
