/*
 * test_knots_rule.c: the number of knots, against noise that is drawn and
 * numbers by hand.
 */
#include "core/mechanism/calibrate.h"

#include "core/base/core.h"
#include "unit/entropy.h"
#include "unit/test.h"

#define BLOCKS_MAX 8

static DpermBlock blocks[BLOCKS_MAX];

/* Open numbers, and a category of so many values if that is not 0. */
static DpermEncoder
encoder_of(int numbers, int values)
{
	DpermEncoder enc = {.block_count = numbers, .blocks = blocks, .intercept = true};

	for (int i = 0; i < numbers; i++)
		blocks[i] = (DpermBlock) {.kind = DPERM_BLOCK_NUMBER, .count = 1, .high = 1, .open = true};
	if (values > 0)
		blocks[enc.block_count++] = (DpermBlock) {.kind = DPERM_BLOCK_CATEGORY, .count = values};
	return enc;
}

/* A setup with noise in the shape of the encoder, or in the ball. */
static DpermSetup
setup_of(const DpermEncoder *enc, double epsilon, double delta, DpermNeighbours neighbours, bool ball)
{
	DpermSetup	setup = {.neighbours = neighbours, .epsilon = epsilon, .delta = delta, .dim = dperm_encoder_dim(enc)};
	DpermShape	shapes[64];

	if (!ball)
		setup.noise = dperm_noise_plan(dperm_setup_law(&setup), shapes, dperm_shape_list(enc, false, shapes));
	return setup;
}

/* The scale of noise for two means at distance 1: by the exact delta of a Gaussian, bisected here. */
static double
scale_of(double epsilon, double delta)
{
	double		low = 1e-3;
	double		high = 1e6;

	if (delta == 0)
		return 1 / epsilon;
	while (high > low * (1 + 1e-12))
	{
		double		sigma = sqrt(low * high);
		double		exact = 0.5 * erfc(-(1 / (2 * sigma) - epsilon * sigma) / sqrt(2)) -
			exp(epsilon) * 0.5 * erfc((1 / (2 * sigma) + epsilon * sigma) / sqrt(2));

		if (exact > delta)
			low = sigma;
		else
			high = sigma;
	}
	return high;
}

/* sqrt(E|b|^2) is that of noise that is drawn, for its law, shape and relation. */
TEST(noise_is_that_of_draws)
{
	DpermEntropy e;
	TestEntropy source;

	test_entropy_init(&e, &source, 77);
	for (int round = 0; round < 24; round++)
	{
		DpermEncoder enc = encoder_of(1 + round % 3, round % 4 < 2 ? 0 : 5);
		double		epsilon = round % 5 ? 0.7 : 3;
		double		delta = round % 2 ? 1e-6 : 0;
		DpermNeighbours neighbours = round % 3 ? DPERM_NEIGHBOURS_REPLACE : DPERM_NEIGHBOURS_REMOVE;
		DpermSetup	setup = setup_of(&enc, epsilon, delta, neighbours, round % 7 == 0);
		double		scale = (neighbours == DPERM_NEIGHBOURS_REPLACE ? 2 : 1) * scale_of(epsilon, delta);
		double		sum = 0;

		for (int i = 0; i < 20000; i++)
		{
			double		b[64];

			dperm_noise_draw(&e, dperm_setup_law(&setup), setup.noise, setup.dim, scale, b);
			for (int j = 0; j < setup.dim; j++)
				sum += b[j] * b[j];
		}
		CHECK_NEAR(dperm_calibrate_knots_noise(&setup) / sqrt(sum / 20000), 1, 0.02);
	}
}

/* The same noise for all numbers of knots up to some number. */
static void
noise_up_to(double noise, int most, double *all)
{
	for (int k = 0; k <= DPERM_KNOTS_MOST; k++)
		all[k] = k <= most ? noise : INFINITY;
}

/* By hand: a number and an intercept are two intervals of radius 1/sqrt(2), so that E|b|^2 = 3 4 (1/6 + 1/6) (2/epsilon)^2. */
TEST(knots_by_hand)
{
	DpermEncoder enc = encoder_of(1, 0);
	DpermSetup	setup = setup_of(&enc, 1, 0, DPERM_NEIGHBOURS_REPLACE, false);
	double		noise[DPERM_KNOTS_MOST + 1];
	double		few[DPERM_KNOTS_MOST + 1];
	double		none[DPERM_KNOTS_MOST + 1];
	/* 4 ((k - 1/2) / 0.85)^3 rows are the first with k knots */
	const int64_t rows[][2] = {{1, 1}, {279, 1}, {280, 4}, {593, 4}, {594, 5}, {2747, 7}, {2748, 8}, {24254, 15}, {24255, 16}, {DPERM_ROWS_MAX, 16}};

	noise_up_to(dperm_calibrate_knots_noise(&setup), 16, noise);
	noise_up_to(4, 7, few);
	noise_up_to(0, 16, none);
	CHECK_NEAR(noise[16], 4, 1e-12);
	for (int i = 0; i < 10; i++)
	{
		CHECK(dperm_calibrate_knots(noise, rows[i][0]) == rows[i][1]);
		CHECK(dperm_calibrate_knots(few, rows[i][0]) == (rows[i][1] < 7 ? rows[i][1] : 7));
	}
	setup.epsilon = INFINITY;
	CHECK(dperm_calibrate_knots_noise(&setup) == 0 && dperm_calibrate_knots(none, 1) == 16);
	noise_up_to(0, 3, none);
	CHECK(dperm_calibrate_knots(none, DPERM_ROWS_MAX) == 1);
}

/* More rows never have fewer knots, nor less noise fewer; what is chosen is allowed by its own noise, and nothing larger is. */
TEST(largest_that_is_allowed)
{
	TestRandom	state = 8;

	for (int round = 0; round < 200000; round++)
	{
		int64_t		rows = (int64_t) exp(27 * test_uniform(&state));
		double		noise[DPERM_KNOTS_MOST + 1];
		double		less[DPERM_KNOTS_MOST + 1];
		int			knots;

		noise_up_to(exp(30 * test_uniform(&state) - 10), 16, noise);
		for (int k = 0; k <= DPERM_KNOTS_MOST; k++)
		{
			noise[k] *= test_below(&state, 20) ? 1 + k * test_uniform(&state) : INFINITY;
			less[k] = noise[k] * test_uniform(&state);
		}
		knots = dperm_calibrate_knots(noise, rows);
		CHECK(knots == 1 || (knots >= 4 && knots <= 16));
		for (int k = 4; k <= 16; k++)
		{
			double		wanted = 0.85 * pow(rows / noise[k], 1 / 3.0);

			CHECK(k != knots || wanted >= k - 0.500001);
			CHECK(k <= knots || wanted <= k - 0.499999);
		}
		CHECK(dperm_calibrate_knots(noise, rows + 1 + test_below(&state, 1000)) >= knots);
		CHECK(dperm_calibrate_knots(less, rows) >= knots);
	}
}
