/*
 * test_knots_rule.c: the number of knots, against noise that is drawn and
 * numbers by hand.
 */
#include "core/mechanism/knots_rule.h"

#include "core/base/limits.h"
#include "core/encode/bend.h"
#include "unit/entropy.h"
#include "unit/test.h"

#define BLOCKS_MAX 2000

static DpermBlock blocks[BLOCKS_MAX];
static char memory[1 << 20];

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
	DpermArena	arena = {.at = memory, .left = sizeof(memory)};

	if (!ball)
		setup.noise = dperm_noise_plan(dperm_setup_law(&setup), shapes, dperm_shape_list(enc, false, shapes), &arena);
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
		CHECK_NEAR(dperm_knots_rule_noise(&setup) / sqrt(sum / 20000), 1, 0.02);
	}
}

/* By hand: a number and an intercept are two intervals of radius 1/sqrt(2), so that E|b|^2 = 3 4 (1/6 + 1/6) (2/epsilon)^2. */
TEST(knots_by_hand)
{
	DpermEncoder enc = encoder_of(1, 0);
	DpermSetup	setup = setup_of(&enc, 1, 0, DPERM_NEIGHBOURS_REPLACE, false);
	double		noise = dperm_knots_rule_noise(&setup);
	const int64_t rows[][2] = {{1, 1}, {100, 1}, {200, 1}, {201, 4}, {425, 4}, {426, 5}, {1000, 6}, {3000, 9}, {17373, 15}, {17374, 16}, {1000000, 16}, {DPERM_ROWS_MAX, 16}};

	CHECK_NEAR(noise, 4, 1e-12);
	for (int i = 0; i < 12; i++)
		CHECK(dperm_knots_rule(&enc, noise, rows[i][0]) == rows[i][1]);
	setup.epsilon = INFINITY;
	CHECK(dperm_knots_rule_noise(&setup) == 0 && dperm_knots_rule(&enc, 0, 1) == 16);
	blocks[0].open = false;
	CHECK(dperm_knots_rule(&enc, noise, 1000000) == 1);
}

/* More rows never have fewer knots, nor less noise fewer; there are 1 or 4 to 16, and never too many coordinates. */
TEST(never_too_many)
{
	TestRandom	state = 8;
	int			lowered = 0;

	for (int round = 0; round < 200000; round++)
	{
		DpermEncoder enc = encoder_of(1 + test_below(&state, round % 2 ? BLOCKS_MAX - 1 : 20), round % 3 ? 1 + test_below(&state, 3000) : 0);
		double		noise = exp(30 * test_uniform(&state) - 10);
		int64_t		rows = (int64_t) exp(27 * test_uniform(&state));
		int			knots = dperm_knots_rule(&enc, noise, rows);
		double		wanted = 0.95 * pow(rows / noise, 1 / 3.0);

		CHECK(knots == 1 || (knots >= 4 && knots <= 16));
		CHECK(knots <= fmax(wanted + 0.500001, 1));
		CHECK(dperm_knots_rule(&enc, noise, rows + 1 + test_below(&state, 1000)) >= knots);
		CHECK(dperm_knots_rule(&enc, noise * test_uniform(&state), rows) >= knots);
		if (dperm_encoder_dim(&enc) > DPERM_DIM_MAX)
			continue;
		CHECK(dperm_bend_dim(&enc, knots) <= DPERM_DIM_MAX);
		if (knots < fmin(floor(wanted + 0.499999), 16) && wanted >= 4)
		{
			lowered++;
			CHECK(dperm_bend_dim(&enc, knots == 1 ? 4 : knots + 1) > DPERM_DIM_MAX);
		}
	}
	CHECK(lowered > 10000);
}
