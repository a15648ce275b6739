/*
 * certify.c: are weights close enough to the minimiser of the objective?
 * Trusted: nothing else decides which weights are.
 */
#include "core/solve/certify.h"

#include <math.h>

#include "core/base/core.h"
#include "core/solve/sums.h"

/* Allows for the rounding of a norm itself. */
#define NORM_ROUNDING (1 + 1e-9)

/* Entry i of the gradient of G, from that of the mean loss. */
static double
gradient_at(const DpermObjective *objective, const DpermAsk *answered, int i)
{
	double		tilt = objective->tilt ? objective->tilt[i] : 0;
	DpermExtended weight;

	if (answered->weights_low == NULL)
		return answered->gradient[i] + objective->lambda * answered->weights[i] + tilt;
	weight = dperm_quad_of(answered->weights[i], answered->weights_low[i]);
	return (double) (dperm_quad_of(answered->gradient[i], answered->gradient_low[i]) +
					 objective->lambda * weight + tilt);
}

/* Is the exact gradient within the bound? */
bool
dperm_certify(const DpermObjective *objective, const DpermAsk *answered)
{
	double		gradient = 0;
	double		weights = 0;
	double		tilt = 0;
	double		hidden;			/* how much of the gradient rounding may have hidden */

	for (int i = 0; i < objective->dim; i++)
	{
		double		entry = gradient_at(objective, answered, i);

		gradient += entry * entry;
		weights += answered->weights[i] * answered->weights[i];
		if (objective->tilt)
			tilt += objective->tilt[i] * objective->tilt[i];
	}
	if (answered->weights_low)
		hidden = dperm_moments_extended_rounding(objective->dim, objective->loss,
												 objective->most_rows, objective->more_rows,
												 objective->lambda, sqrt(weights), sqrt(tilt));
	else
		hidden = objective->rounding[0] +
			objective->rounding[1] * sqrt(weights) * NORM_ROUNDING;
	return sqrt(gradient) * NORM_ROUNDING + hidden <= objective->bound;	/* false for NaN */
}
