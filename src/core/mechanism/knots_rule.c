/*
 * knots_rule.c: how many knots numbers have unless the caller specifies them.
 */
#include "core/mechanism/knots_rule.h"

#include <math.h>

#include "core/privacy/gaussian.h"

/* From simulations: see docs/experiments.md. */
#define FACTOR 0.85

/* The noise of a setup. */
double
dperm_knots_rule_noise(const DpermSetup *s)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		scale = s->delta > 0 ?
		loss.norm * dperm_gaussian_sigma(s->epsilon, s->delta / loss.directions) :
		loss.reach / s->epsilon;

	return dperm_claim_rows_apart(s->neighbours) * scale *
		   sqrt(dperm_noise_spread(dperm_setup_law(s), s->noise, dperm_setup_row_dim(s)));
}

/* As many knots as their own noise allows. */
int
dperm_knots_rule(const DpermKnotsNoise *noise, int64_t rows)
{
	for (int knots = DPERM_KNOTS_MOST; knots >= DPERM_KNOTS_LEAST; knots--)
		/* without noise the quotient is infinite */
		if (rint(FACTOR * cbrt((double) rows / noise->of[knots])) >= knots)
			return knots;
	return 1;
}
