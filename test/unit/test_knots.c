/*
 * test_knots.c: a number over knots: its entries are never negative and add up
 * to the target exactly, whatever the number, the bounds and the knots.
 */
#include "unit/sample_encoder.h"

#include "core/encode/knots.h"
#include "core/encode/shape.h"
#include "unit/exact.h"

/* The targets of encoders: of one share of the ball up to as many as there may be. */
static double
any_target(TestRandom *state)
{
	static DpermBlock blocks[SAMPLE_BLOCKS];
	DpermEncoder enc = {.block_count = 1 + test_below(state, SAMPLE_BLOCKS), .blocks = blocks,
		.intercept = test_below(state, 2)};
	double		target = test_below(state, 4) ? dperm_encoder_target(&enc) :
		sqrt(1.0 / (1 + test_below(state, 5001))) * (1 - 4 * DBL_EPSILON);

	return test_below(state, 2) ? target : -target;
}

/* The entries of a number: two neighbours of the sign of the target that add up to it exactly. */
static void
check_entries(const DpermBlock *block, double x, double target)
{
	DpermValue	value = {.present = true, .number = x};
	double		out[SAMPLE_COUNT];
	double		first;
	int			place = dperm_knots_place(block, &value, target, &first);
	double		second = target - first;
	double		virtual = first + second - first;
	DpermShape	shape = {.kind = DPERM_SHAPE_CROSS, .count = block->count, .radius = fabs(target)};

	dperm_encoder_encode_block(block, &value, target, out);
	if (isnan(x))
	{
		CHECK(place == -1 && first == 0);
		for (int i = 0; i < block->count; i++)
			CHECK(out[i] == 0);
		return;
	}
	CHECK(place >= 0 && place + 1 < block->count);
	CHECK(first * target >= 0 && second * target >= 0);
	CHECK(fabs(first) <= fabs(target) && fabs(second) <= fabs(target));

	/* Knuth's two-sum: no rounding is left */
	CHECK(first + second == target);
	CHECK((first - (first + second - virtual)) + (second - virtual) == 0);
	for (int i = 0; i < block->count; i++)
		CHECK(out[i] == (i == place ? first : i == place + 1 ? second : 0));
	CHECK(dperm_shape_contains(&shape, out));
	CHECK(exact_in_ball(out, block->count));
}

/* Bounds, knots and numbers of any bits: denormal, huge, next to each other, at the knots and beside them. */
TEST(adds_up_exactly)
{
	TestRandom	state = 91;
	double		knots[SAMPLE_COUNT];
	int			lists = 0;

	for (int round = 0; round < 300000; round++)
	{
		DpermBlock	block = {.kind = DPERM_BLOCK_NUMBER, .count = 1};
		double		target = any_target(&state);

		sample_bounds(&state, &block);
		while (block.count < 2)
			sample_knots(&state, &block, knots);
		CHECK(dperm_knots_fault(&block) == NULL);
		lists += block.knots != NULL;
		for (int i = 0; i < 4; i++)
			check_entries(&block, sample_number(&state, &block), target);
		check_entries(&block, block.high, target);
		check_entries(&block, nextafter(block.high, -INFINITY), target);
	}
	CHECK(lists > 30000);
}

/* Every share of the way between two knots that is near where rounding changes. */
TEST(adds_up_for_every_share)
{
	TestRandom	state = 92;

	for (int round = 0; round < 200000; round++)
	{
		double		target = any_target(&state);
		double		near[] = {0, 0.25, 0.5, 0.75, 1, test_uniform(&state), ldexp(1, -test_below(&state, 1074))};
		double		line = target * (2 * near[test_below(&state, 7)] - 1);
		int			count = 2 + test_below(&state, round % 2 ? 5 : 5000);
		double		first;
		int			place;

		for (int i = test_below(&state, 4); i > 0; i--)
			line = nextafter(line, test_below(&state, 2) ? INFINITY : -INFINITY);
		line = fmin(fabs(target), fmax(-fabs(target), line));
		place = dperm_knots_bend(count, line, target, &first);
		CHECK(place >= 0 && place <= count - 2);
		CHECK(first * target >= 0 && (target - first) * target >= 0);
		CHECK(first + (target - first) == target);
		CHECK(fabs(first) >= fabs(target) / 2 || fabs(target - first) >= fabs(target) / 2);
	}
}

/* The entries say where the number is: interpolation, to rounding. */
TEST(interpolates)
{
	TestRandom	state = 93;

	for (int round = 0; round < 100000; round++)
	{
		double		list[] = {-3, -2.5, 0, 10, 10.5, 77};
		DpermBlock	block = {.kind = DPERM_BLOCK_TIME, .count = 2 + test_below(&state, 5), .low = -3};
		DpermValue	value = {.present = true};
		double		target = any_target(&state);
		double		first;
		double		clamped;
		int			place;

		block.high = list[block.count - 1];
		if (round % 2)
			block.knots = list;
		value.number = -10 + 100 * test_uniform(&state);
		if (round % 5 == 0)
			value.number = dperm_knots_position(&block, test_below(&state, block.count));
		clamped = fmax(block.low, fmin(block.high, value.number));
		place = dperm_knots_place(&block, &value, target, &first);
		CHECK_NEAR(first / target * dperm_knots_position(&block, place) +
				   (1 - first / target) * dperm_knots_position(&block, place + 1), clamped, 1e-12);
		CHECK(dperm_knots_position(&block, place) <= clamped + 1e-12);
		CHECK(dperm_knots_position(&block, place + 1) >= clamped - 1e-12);
	}
}

/* Positions of even knots: the bounds are exact, also where their difference is too large for a double. */
TEST(spaces_knots_evenly)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_NUMBER, .count = 11, .low = 0, .high = 100};
	DpermBlock	huge = {.kind = DPERM_BLOCK_NUMBER, .count = 5, .low = -DBL_MAX, .high = DBL_MAX};

	for (int i = 0; i < 11; i++)
		CHECK(dperm_knots_position(&block, i) == 10 * i);
	CHECK(dperm_knots_position(&huge, 0) == -DBL_MAX && dperm_knots_position(&huge, 4) == DBL_MAX);
	CHECK(dperm_knots_position(&huge, 1) == -DBL_MAX / 2 && dperm_knots_position(&huge, 2) == 0);
}
