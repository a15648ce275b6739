/*
 * test_release.c: what is released is on the grid, around the weights, with the
 * specified noise.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/privacy/draw.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define DRAWS 100000

static double values[DRAWS];

TEST(lands_on_the_grid)
{
	static const double grids[] = {0x1p-40, 0x1p-20, 1, 0x1p10};
	TestEntropy source;
	DpermEntropy e;
	TestRandom	state = 1;

	test_entropy_init(&e, &source, 1);
	for (int i = 0; i < 20000; i++)
	{
		double		grid = grids[i % 4];
		double		weights[3];
		double		before[3];

		for (int j = 0; j < 3; j++)
			before[j] = weights[j] = (2 * test_uniform(&state) - 1) * grid * pow(10, test_below(&state, 13));
		dperm_release(&e, 3, grid, 5, weights);
		for (int j = 0; j < 3; j++)
		{
			CHECK(weights[j] / grid == rint(weights[j] / grid));
			CHECK_NEAR(weights[j], before[j], grid * 5 * 40);
		}
	}
}

/* The noise of each coordinate: mean, size, law, and no correlation. */
TEST(adds_the_noise_asked_for)
{
	static const int64_t scales[] = {1, 10, 1000, INT64_C(1) << 40};

	for (int s = 0; s < 4; s++)
	{
		TestEntropy source;
		DpermEntropy e;
		TestRandom	state = 7;
		double		scale = (double) scales[s];
		double		q = exp(-1 / scale);
		double		variance = 2 * q / (1 - q) / (1 - q);
		double		sum = 0;
		double		product = 0;

		test_entropy_init(&e, &source, 10 + (uint64_t) s);
		for (int i = 0; i < DRAWS; i++)
		{
			double		weights[2] = {-3.25 * 0x1p-30, 12 * 0x1p-30};
			double		z;

			dperm_release(&e, 2, 0x1p-30, scales[s], weights);
			z = weights[0] * 0x1p30 + 3;
			sum += z;
			product += z * (weights[1] * 0x1p30 - 12);

			/* as in test_sample.c: spread over the step it stands for */
			values[i] = exp(-fabs(z) / scale) / (1 + q) *
				(q + (1 - q) * test_uniform(&state));
			if (z >= 0)
				values[i] = 1 - values[i];
		}
		CHECK(fabs(sum) / sqrt(DRAWS * variance) < 4);
		CHECK(fabs(product) / sqrt(DRAWS) / variance < 4);
		CHECK(uniform_p(values, DRAWS) > 1e-4);
	}
}

/* With zero noise it is plain rounding, ties to even. */
TEST(rounds_to_the_nearest_point)
{
	static const double in[] = {0, 0.4, 0.5, 0.6, 1.5, 2.5, -0.5, -0.51, -1.5, 1e15};
	static const double out[] = {0, 0, 0, 1, 2, 2, 0, -1, -2, 1e15};
	DpermEntropy e;

	test_entropy_from(&e, test_entropy_zeros, NULL);
	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
	{
		double		weight = in[i] * 0x1p-40;

		dperm_release(&e, 1, 0x1p-40, 7, &weight);
		CHECK(weight == out[i] * 0x1p-40);
	}
}

/* Beyond the range of the integers: clamped, and always finite. */
TEST(clamps)
{
	static const double in[] = {1e300, -1e300, INFINITY, -INFINITY, 0x1p61, NAN};
	static const double out[] = {0x1p60, -0x1p60, 0x1p60, -0x1p60, 0x1p60, 0};
	DpermEntropy e;
	TestEntropy source;

	test_entropy_from(&e, test_entropy_zeros, NULL);
	for (int i = 0; i < 6; i++)
	{
		double		weight = in[i];

		dperm_release(&e, 1, 1, 7, &weight);
		CHECK(isfinite(weight) && fabs(weight) <= 0x1p60);
		if (!isnan(in[i]))
			CHECK(weight == out[i]);
	}
	test_entropy_init(&e, &source, 3);
	for (int i = 0; i < 2000; i++)
	{
		double		weight = i % 2 ? 1e300 : -1e300;

		dperm_release(&e, 1, 0x1p-40, INT64_C(1) << 50, &weight);
		CHECK(isfinite(weight) && fabs(weight) < 0x1p23);
	}
}
