/*
 * certify.h: are weights close enough to the minimiser of the objective?
 *
 *   G(f) = mean loss(f) + (lambda/2) |f|^2 + tilt . f
 *
 * G is lambda-convex, so a gradient of norm g at f means that the minimiser is
 * within g / lambda of f. This file decides whether weights are accepted, by
 * nothing but their gradient over all rows: it is trusted, and so is the sum of
 * that gradient (sums.h). What looks for the weights (solver.h,
 * metric.h, descent.h) is not: whatever it does, only the number of passes
 * depends on it (docs/guarantee.md, "Rounding" and "The solver always
 * certifies").
 */
#ifndef DPERM_CERTIFY_H
#define DPERM_CERTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/loss/loss.h"
#include "core/solve/ask.h"

/* What is minimised, and how well. */
typedef struct DpermObjective
{
	DpermLoss	loss;
	int			dim;			/* weights */
	int64_t		most_rows;		/* terms of a sum at most: more than units, if these are persons */
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
