/*
 * test_certify.c: which weights are accepted, against the norm of their gradient
 * in extended precision.
 */
#include "unit/test.h"

#include <math.h>

#include "core/base/core.h"
#include "core/solve/certify.h"
#include "core/solve/sums.h"

#define DIM_MAX 6

/* An objective and an answer, of any numbers. */
typedef struct Case
{
	DpermObjective objective;
	double		tilt[DIM_MAX];
	double		weights[2 * DIM_MAX];
	double		gradient[2 * DIM_MAX];
	double		value;
	DpermAsk	ask;
	long double norm;			/* of the gradient of G */
	double		hidden;
	double		terms;			/* how large the terms of the gradient are */
} Case;

static void
make_case(TestRandom *state, bool extended, Case *c)
{
	int			dim = 1 + test_below(state, DIM_MAX);
	double		size = pow(10, 8 * test_uniform(state) - 4);
	double		weights = 0;
	double		tilt = 0;

	memset(c, 0, sizeof(*c));
	c->objective = (DpermObjective) {.loss = {.kind = DPERM_LOSS_LOGISTIC}, .dim = dim, .most_rows = 1000,
		.lambda = pow(10, -6 * test_uniform(state)), .tilt = test_below(state, 2) ? c->tilt : NULL,
		.rounding = {1e-12 * test_uniform(state), 1e-14 * test_uniform(state)}};
	for (int i = 0; i < dim; i++)
	{
		long double entry;

		c->tilt[i] = size * (2 * test_uniform(state) - 1);
		c->weights[i] = (2 * test_uniform(state) - 1) / c->objective.lambda;
		c->gradient[i] = -c->objective.lambda * c->weights[i] - (c->objective.tilt ? c->tilt[i] : 0) +
			1e-9 * test_uniform(state);
		if (extended)
		{
			c->weights[dim + i] = 1e-17 * c->weights[i];
			c->gradient[dim + i] = 1e-17 * c->gradient[i];
		}
		entry = (long double) (dperm_quad_get(c->gradient, dim, i) +
							   c->objective.lambda * dperm_quad_get(c->weights, dim, i) +
							   (c->objective.tilt ? c->tilt[i] : 0));
		c->norm += entry * entry;
		weights += c->weights[i] * c->weights[i];
		tilt += c->objective.tilt ? c->tilt[i] * c->tilt[i] : 0;
	}
	c->norm = sqrtl(c->norm);
	c->terms = dim * (1 + 2 * size);
	c->ask = (DpermAsk) {.weights = c->weights, .value = &c->value, .gradient = c->gradient};
	if (extended)
	{
		c->ask.weights_low = c->weights + dim;
		c->ask.gradient_low = c->gradient + dim;
		c->hidden = dperm_moments_extended_rounding(dim, c->objective.loss, 1000, 0,
													c->objective.lambda, sqrt(weights), sqrt(tilt));
	}
	else
		c->hidden = c->objective.rounding[0] + c->objective.rounding[1] * sqrt(weights);
}

/* The norm and what rounding may hide are within the bound, and hardly less is refused. */
TEST(accepts_what_is_within_the_bound)
{
	TestRandom	state = 95;

	for (int round = 0; round < 2000; round++)
	{
		bool		extended = round % 2;
		Case		c;
		double		slack;

		make_case(&state, extended, &c);

		/* in doubles, the gradient itself was rounded, which its allowance covers */
		slack = (double) c.norm * 1e-8 + c.hidden * 1e-8 + (extended ? 0 : 1e-15 * c.terms);
		c.objective.bound = (double) c.norm + c.hidden - slack;
		CHECK(!dperm_certify(&c.objective, &c.ask));
		c.objective.bound = (double) c.norm + c.hidden + slack;
		CHECK(dperm_certify(&c.objective, &c.ask));
	}
}

/* Numbers that are not finite are not. */
TEST(refuses_what_is_not_finite)
{
	TestRandom	state = 96;

	for (int round = 0; round < 40; round++)
	{
		static const double odd[] = {NAN, INFINITY, -INFINITY};
		Case		c;
		double	   *one;

		make_case(&state, round % 2, &c);
		c.objective.bound = 1;
		CHECK(dperm_certify(&c.objective, &c.ask));
		one = &(round / 2 % 2 ? c.gradient : c.weights)[test_below(&state, c.objective.dim)];
		*one = odd[round % 3];
		CHECK(!dperm_certify(&c.objective, &c.ask));
	}
}
