/*
 * knots_rule.c: how many knots numbers have unless the caller specifies them.
 */
#include "core/mechanism/knots_rule.h"

#include <math.h>

#include "core/base/limits.h"
#include "core/encode/bend.h"
#include "core/privacy/gaussian.h"

/* From simulations: see docs/experiments.md. */
#define FACTOR 0.95

/* The noise of straight lines. */
double
dperm_knots_rule_noise(const DpermSetup *s)
{
	double		scale = s->delta > 0 ? dperm_gaussian_sigma(s->epsilon, s->delta) : 1 / s->epsilon;

	return dperm_claim_rows_apart(s->neighbours) * scale *
		   sqrt(dperm_noise_spread(dperm_setup_law(s), s->noise, s->dim));
}

/* The knots of the open numbers of an encoder. */
int
dperm_knots_rule(const DpermEncoder *straight, double noise, int64_t rows)
{
	/* without noise the quotient is infinite */
	double		wanted = rint(FACTOR * cbrt((double) rows / noise));
	int			knots = wanted < DPERM_KNOTS_MOST ? (int) wanted : DPERM_KNOTS_MOST;

	while (knots >= DPERM_KNOTS_LEAST && dperm_bend_dim(straight, knots) > DPERM_DIM_MAX)
		knots--;
	return knots >= DPERM_KNOTS_LEAST && dperm_bend_is_open(straight) ? knots : 1;
}
