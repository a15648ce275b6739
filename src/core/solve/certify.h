/*
 * certify.h: questions about rows, and the certificate: are the weights of one
 * close enough to the minimiser of the objective?
 * Trusted.
 *
 *   G(f) = mean loss(f) + (lambda/2) |f|^2 + tilt . f
 *
 * G is lambda-convex, so a gradient of norm g at f means that the minimiser is
 * within g / lambda of f. This file decides whether weights are accepted, by
 * nothing but their gradient over all rows: it is trusted, and so is the sum of
 * that gradient (sums.h). What looks for the weights (solver.h, metric.h) is
 * not: whatever it does, only the number of passes depends on it
 * (docs/guarantee.md, "Rounding" and "The solver always certifies").
 */
#ifndef DPERM_CERTIFY_H
#define DPERM_CERTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/loss/loss.h"

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

/* What is minimised, and how well. */
typedef struct DpermObjective
{
	DpermLoss	loss;
	int			dim;			/* weights */
	int64_t		most_rows;		/* terms of a sum at most: more than units, if these are persons */
	double		more_rows;		/* than one for each unit, at most */
	double		lambda;			/* > 0 */
	const double *tilt;			/* dim; NULL for none */
	double		bound;			/* on the norm of the exact gradient */
	/*
	 * rounding error of a gradient in doubles: constant term, and term per unit
	 * of the norm of the weights
	 */
	double		rounding[2];
} DpermObjective;

/*
 * A question that was answered over all rows: is the exact gradient of G at the
 * weights it asks about within the bound? If they are in extended precision, it
 * is that at these weights, before they are rounded to doubles.
 */
extern bool dperm_certify(const DpermObjective *objective, const DpermAsk *answered);

#endif							/* DPERM_CERTIFY_H */
