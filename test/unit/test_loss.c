/*
 * test_loss.c: the losses against their definitions in long double, and at the
 * extremes.
 */
#include "unit/test.h"

#include <float.h>

#include "core/loss/loss.h"
#include "loss_at.h"
#include "unit/problem.h"

static const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.01},
{DPERM_LOSS_HUBER, 0.5}, {DPERM_LOSS_HUBER, 1}, {DPERM_LOSS_SMOOTH_HINGE, 0.01},
{DPERM_LOSS_SMOOTH_HINGE, 0.3}, {DPERM_LOSS_SMOOTH_HINGE, 1}};

#define LOSSES (int) (sizeof(losses) / sizeof(losses[0]))

/* A margin: near a bend, near zero, or anywhere. */
static double
any_margin(TestRandom *state, DpermLoss loss)
{
	double		centred = 2 * test_uniform(state) - 1;

	switch (test_below(state, 5))
	{
		case 0:
			return 1 + loss.h * centred;
		case 1:
			return 1 + (test_below(state, 2) ? loss.h : -loss.h) +
				centred * pow(10, -test_below(state, 17));
		case 2:
			return centred * 40;
		case 3:
			return centred * pow(10, -test_below(state, 300));
		default:
			return centred * pow(10, test_below(state, 300));
	}
}

TEST(follows_the_definitions)
{
	TestRandom	state = 1;

	for (int i = 0; i < 300000; i++)
	{
		DpermLoss	loss = losses[i % LOSSES];
		double		z = any_margin(&state, loss);
		LossAt at = loss_at(loss, z, 1);
		WideLoss	wide = wide_loss(loss, z);
		double		c = dperm_loss_bounds(loss).curvature;

		CHECK(fabsl(at.value - wide.value) <= 8 * DBL_EPSILON * (1 + wide.value));

		/* the rounding that the certificate allows for a slope */
		CHECK(fabsl(at.slope - wide.slope) <= (4 * c + 8) * DBL_EPSILON / 2);
		CHECK(at.slope >= -1 && at.slope <= 0);
		CHECK(at.value >= -DBL_EPSILON && at.curve >= 0 && at.curve <= c * (1 + DBL_EPSILON));

		/* the curvature jumps at the ends of the Huber loss */
		if (loss.kind != DPERM_LOSS_HUBER || fabs(fabs(1 - z) - loss.h) > 1e-15)
			CHECK(fabsl(at.curve - wide.curve) <= 16 * DBL_EPSILON * c / fmin(1, loss.h > 0 ? loss.h : 1));
	}
}

TEST(has_consistent_derivatives)
{
	TestRandom	state = 2;

	for (int i = 0; i < 20000; i++)
	{
		DpermLoss	loss = losses[i % LOSSES];
		double		c = dperm_loss_bounds(loss).curvature;
		double		z = 4 * test_uniform(&state) - 1;
		double		step = 1e-5 / c;
		LossAt at = loss_at(loss, z, 1);
		LossAt left = loss_at(loss, z - step, 1);
		LossAt right = loss_at(loss, z + step, 1);

		CHECK_NEAR((right.value - left.value) / (2 * step), at.slope, 1e-5 + 1e-9 * c);
		if (loss.kind != DPERM_LOSS_HUBER || fabs(fabs(1 - z) - loss.h) > step)
			CHECK_NEAR((right.slope - left.slope) / (2 * step), at.curve, 1e-4 * c);
		CHECK(right.slope >= left.slope);	/* convex */
	}
}

/* No slope changes faster than c, over steps of every size. */
TEST(slope_is_lipschitz)
{
	TestRandom	state = 3;

	for (int i = 0; i < 100000; i++)
	{
		DpermLoss	loss = losses[i % LOSSES];
		double		z = any_margin(&state, loss);
		double		step = pow(10, -10 * test_uniform(&state));
		double		risen = loss_at(loss, z + step, 1).slope - loss_at(loss, z, 1).slope;

		CHECK(risen <= dperm_loss_bounds(loss).curvature * ((z + step) - z) * (1 + 1e-9) + 1e-13);
	}
}

TEST(attains_its_curvature_bound)
{
	CHECK(dperm_loss_bounds(losses[0]).curvature == 0.25);
	CHECK(loss_at(losses[0], 0, 1).curve == 0.25);
	for (double z = -1e-7; z < 1e-7; z += 3e-12)
		CHECK(loss_at(losses[0], z, 1).curve <= 0.25 * (1 + DBL_EPSILON));
	for (double h = 0.01; h <= 1; h += 0.0099)
	{
		DpermLoss	huber = {DPERM_LOSS_HUBER, h};
		DpermLoss	smooth = {DPERM_LOSS_SMOOTH_HINGE, h};

		CHECK_NEAR(dperm_loss_bounds(huber).curvature, 1 / (2 * h), 1e-14);
		CHECK_NEAR(dperm_loss_bounds(smooth).curvature, 3 / (4 * h), 1e-13);
		CHECK(loss_at(huber, 1, 1).curve == dperm_loss_bounds(huber).curvature);
		CHECK(loss_at(smooth, 1, 1).curve == dperm_loss_bounds(smooth).curvature);
		CHECK_NEAR(loss_at(huber, 0, 1).value, 1, 1e-15);
		CHECK_NEAR(loss_at(smooth, 0, 1).value, 1, 1e-15);
	}
}

TEST(knows_hand_computed_values)
{
	CHECK_NEAR(loss_at(losses[0], 0, 1).value, 0.69314718055994531, 1e-16);
	CHECK(loss_at(losses[0], 0, 1).slope == -0.5);
	CHECK_NEAR(loss_at(losses[0], 2, 1).slope, -0.11920292202211755, 1e-16);
	CHECK(loss_at(losses[2], 1, 1).value == 0.125);	/* h/4 */
	CHECK(loss_at(losses[2], 1, 1).slope == -0.5);
	CHECK(loss_at(losses[2], 0.5, 1).value == 0.5);
	CHECK(loss_at(losses[2], 1.5, 1).value == 0);
	CHECK(loss_at(losses[6], 1, 1).value == 3.0 / 16);
	CHECK(loss_at(losses[6], 1, 1).slope == -0.5);
	CHECK(loss_at(losses[6], 1, 1).curve == 0.75);
}

/* Up to the largest doubles. */
TEST(survives_the_ends)
{
	static const double far[] = {100, 1e4, 1e10, 1e308, INFINITY};

	for (int l = 0; l < LOSSES; l++)
		for (int i = 0; i < 5; i++)
		{
			LossAt right = loss_at(losses[l], far[i], 1);
			LossAt left = loss_at(losses[l], -far[i], 1);

			CHECK(right.value >= 0 && right.value < 1e-40);
			CHECK(right.slope <= 0 && right.slope > -1e-40);
			CHECK(right.curve >= 0 && right.curve < 1e-40);
			CHECK(left.value == far[i] + (losses[l].kind == DPERM_LOSS_LOGISTIC ? 0 : 1));
			CHECK(left.slope == -1);
			CHECK(left.curve >= 0 && left.curve < 1e-40);
		}
}

/*
 * A block of margins gives the same as its margins one by one: slopes and
 * curvatures up to the last place, the sum of the losses up to its rounding.
 */
TEST(agrees_in_blocks)
{
	TestRandom	state = 4;

	for (int round = 0; round < 6000; round++)
	{
		DpermLoss	loss = losses[round % LOSSES];
		double		c = dperm_loss_bounds(loss).curvature;
		int			count = round % 9 ? 1 + test_below(&state, 20) : 1 + test_below(&state, DPERM_LOSS_BLOCK);
		double	   *margins = malloc(sizeof(double) * count);
		double	   *alone = malloc(sizeof(double) * count);
		double	   *curves = malloc(sizeof(double) * count);
		double		value;
		long double sum = 0;

		for (int i = 0; i < count; i++)
		{
			margins[i] = any_margin(&state, loss);
			alone[i] = margins[i];
			sum += loss_at(loss, margins[i], 1).value;
		}
		value = dperm_loss_block(loss, count, margins, NULL, curves, NULL);
		CHECK(isfinite(value) && fabsl(value - sum) <= 4 * (count + 4) * DBL_EPSILON * (1 + sum));
		for (int i = 0; i < count; i++)
		{
			LossAt at = loss_at(loss, alone[i], 1);

			CHECK_NEAR(margins[i], at.slope, 4 * DBL_EPSILON * fabs(at.slope) + 0x1p-1000);
			CHECK(margins[i] >= -1 && margins[i] <= 0);
			CHECK_NEAR(curves[i], at.curve, 8 * DBL_EPSILON * at.curve + 0x1p-1000);
			CHECK(curves[i] >= 0 && curves[i] <= c * (1 + DBL_EPSILON));
		}

		/* the same without curvatures */
		CHECK(dperm_loss_block(loss, count, alone, NULL, NULL, NULL) == value);
		CHECK(memcmp(alone, margins, sizeof(double) * count) == 0);
		free(margins);
		free(alone);
		free(curves);
	}
}

/* The largest block, at the margins that make its sums largest and smallest. */
TEST(survives_full_blocks)
{
	static const double ends[] = {0, -0.0, 1e-300, 700, -700, 1e300, -1e300};
	double		margins[DPERM_LOSS_BLOCK];
	double		curves[DPERM_LOSS_BLOCK];

	for (int l = 0; l < LOSSES; l++)
		for (int k = 0; k < 7; k++)
		{
			LossAt at = loss_at(losses[l], ends[k], 1);
			double		value;

			for (int i = 0; i < DPERM_LOSS_BLOCK; i++)
				margins[i] = ends[k];
			value = dperm_loss_block(losses[l], DPERM_LOSS_BLOCK, margins, NULL, curves, NULL);
			CHECK_NEAR(value, DPERM_LOSS_BLOCK * at.value, 1e-13 * (1 + DPERM_LOSS_BLOCK * at.value));
			for (int i = 0; i < DPERM_LOSS_BLOCK; i++)
				CHECK_NEAR(margins[i], at.slope, 4 * DBL_EPSILON);
		}
	CHECK(dperm_loss_block(losses[0], 0, margins, NULL, curves, NULL) == 0);
}

TEST(knows_names)
{
	static const char *const names[] = {"logistic", "huber", "smooth_hinge"};

	for (int i = 0; i < 3; i++)
		CHECK_TEXT(dperm_loss_name(i), names[i]);
}
