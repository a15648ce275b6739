/*
 * ask.h: a question of a solver about rows, which it does not read itself.
 */
#ifndef DPERM_ASK_H
#define DPERM_ASK_H

#include <stdbool.h>
#include <stddef.h>

/* What a pass over rows computes. The numbers are on the wire (pass.h). */
typedef enum DpermPassOrder
{
	DPERM_PASS_GRADIENT = 1,	/* rows, loss and gradient */
	DPERM_PASS_HESSIAN = 2,		/* also second derivatives */
	DPERM_PASS_ROUGH = 3,		/* these in single precision, except for their sums */
	DPERM_PASS_EXTENDED = 4,	/* rows and gradient, in extended precision */
	/*
	 * rows, and the number of those with a label in each cell; or sums of errors,
	 * if labels are numbers
	 */
	DPERM_PASS_COUNT = 5
} DpermPassOrder;

#define DPERM_PASS_LAST DPERM_PASS_COUNT

/*
 * A question: the mean over rows of the loss at weights, its gradient (dim)
 * and, if hess is not NULL, its Hessian (dim x dim, lower triangle, by
 * columns); with several classes, what takes its place (metric.h). If
 * weights_low is not NULL, the gradient alone, in extended precision, at
 * weights that have it (sums.h).
 */
typedef struct DpermAsk
{
	const double *weights;
	const double *weights_low;	/* NULL: doubles are enough */
	double	   *value;
	double	   *gradient;
	double	   *gradient_low;	/* beside weights_low */
	double	   *hess;			/* NULL: not needed */
} DpermAsk;

/* The pass that answers a question; is a Hessian in single precision enough? */
static inline DpermPassOrder
dperm_ask_order(const DpermAsk *ask, bool rough)
{
	return ask->weights_low ? DPERM_PASS_EXTENDED :
		   ask->hess == NULL ? DPERM_PASS_GRADIENT :
		   rough			? DPERM_PASS_ROUGH : DPERM_PASS_HESSIAN;
}

#endif							/* DPERM_ASK_H */
