/*
 * test_knots.c: a number over knots: its entries are never negative and add up
 * to the target exactly, whatever the number, the bounds and the knots.
 */
#include "unit/sample_encoder.h"

#include "core/encode/encoder.h"
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

/* The first of the knots that a number is between, and its entry; -1 and 0 if it is none. */
static int
place_of(const DpermBlock *block, double x, double target, double *entry)
{
	DpermValue	value = {.present = true, .number = x};
	double		position = dperm_encoder_position(block, &value, 0);

	*entry = 0;
	return position < 0 ? -1 : dperm_knots_point(position, block->count - 1, target, entry);
}

/* The entries of a number: two neighbours of the sign of the target that add up to it exactly. */
static void
check_entries(const DpermBlock *block, double x, double target)
{
	DpermValue	value = {.present = true, .number = x};
	double		out[SAMPLE_COUNT];
	double		first;
	int			place = place_of(block, x, target, &first);
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
		CHECK(sample_fault(&block) == NULL);
		lists += block.knots != NULL;
		for (int i = 0; i < 4; i++)
			check_entries(&block, sample_number(&state, &block), target);
		check_entries(&block, block.high, target);
		check_entries(&block, nextafter(block.high, -INFINITY), target);
	}
	CHECK(lists > 30000);
}

/*
 * A row of vectors over knots and other columns: the entries of each element
 * add up to the share exactly, elements that are NaN are zeros, and the row is
 * in the ball and in its shapes.
 */
static void
check_elements(const DpermEncoder *enc, const SampleRow *row, double sign)
{
	double		out[SAMPLE_DIM_MAX];
	DpermShape	shapes[SAMPLE_DIM_MAX];
	int			shape_count = dperm_shape_list(enc, false, shapes);
	double		target = sign * dperm_encoder_target(enc);
	const double *at = out;

	CHECK(shape_count <= dperm_encoder_dim(enc));
	dperm_encoder_encode(enc, NULL, row->values, sign, out, NULL);
	CHECK(exact_in_ball(out, dperm_encoder_dim(enc)));
	for (int i = 0; i < shape_count; i++)
		CHECK(dperm_shape_contains(&shapes[i], out));
	for (int i = 0; i < enc->block_count; at += enc->blocks[i++].count)
		for (int k = 0; enc->blocks[i].each > 0 && k < dperm_block_elements(&enc->blocks[i]); k++)
		{
			const DpermValue *value = &row->values[i];
			bool		missing = !value->present || isnan(value->vector[k]);
			double		sum = 0;
			int			entries = 0;

			for (int j = 0; j < enc->blocks[i].each; j++)
			{
				double		entry = at[k * enc->blocks[i].each + j];

				CHECK(entry * target >= 0);
				sum += entry;	/* two at most: exact, or target would not come out */
				entries += entry != 0;
			}
			CHECK(sum == (missing ? 0 : target) && entries <= 2);
		}
}

TEST(adds_up_for_every_element)
{
	TestRandom	state = 94;
	static SampleEncoder sampled;
	SampleRow	row;
	int			vectors = 0;

	for (int round = 0; round < 1000000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			knotted = 0;

		for (int i = 0; i < enc->block_count; i++)
			knotted += enc->blocks[i].each > 0;
		if (knotted == 0)
			continue;
		vectors += knotted;
		CHECK(dperm_encoder_fault(enc) == NULL);
		sample_row(&state, enc, &row);
		check_elements(enc, &row, test_below(&state, 2) ? 1 : -1);
	}
	CHECK(vectors > 40000);
}

/* A vector over knots is encoded as columns of the same numbers are. */
TEST(encodes_a_vector_as_columns)
{
	double		list[] = {-3, -2.5, 0, 77};
	double		bounds[] = {-3, 77, -5, 5, 0, 1};
	TestRandom	state = 95;

	for (int round = 0; round < 20000; round++)
	{
		DpermBlock	vector[2] = {
			{.kind = DPERM_BLOCK_BOX, .count = 12, .each = 4, .low = -3, .high = 77},
			{.kind = DPERM_BLOCK_FLAG, .count = 1}
		};
		DpermBlock	columns[4];
		double		elements[3];
		DpermValue	one[2] = {{.present = true, .vector = elements}, {.present = true, .number = 1}};
		DpermValue	many[4];
		DpermEncoder encoders[2] = {{.block_count = 2, .blocks = vector, .intercept = round % 2},
									{.block_count = 4, .blocks = columns, .intercept = round % 2}};
		DpermShape	shapes[2][6];
		int			shape_count = 0;
		double		out[2][14];

		if (round % 3 == 1)
			vector[0].knots = list;
		if (round % 3 == 2)
			vector[0].bounds = bounds;
		columns[3] = vector[1];
		many[3] = one[1];
		for (int i = 0; i < 3; i++)
		{
			columns[i] = dperm_block_element(&vector[0], i);
			elements[i] = sample_number(&state, &columns[i]);
			many[i] = (DpermValue) {.present = true, .number = elements[i]};
		}
		for (int i = 0; i < 2; i++)
		{
			CHECK(dperm_encoder_fault(&encoders[i]) == NULL);
			dperm_encoder_encode(&encoders[i], NULL, i == 0 ? one : many, 1, out[i], NULL);
			shape_count = dperm_shape_list(&encoders[i], round % 5 == 0, shapes[i]);
			CHECK(shape_count == 4 + round % 2);
		}
		for (int i = 0; i < 13 + round % 2; i++)
			CHECK(out[0][i] == out[1][i]);
		for (int i = 0; i < shape_count; i++)
			CHECK(shapes[0][i].kind == shapes[1][i].kind && shapes[0][i].first == shapes[1][i].first &&
				  shapes[0][i].count == shapes[1][i].count && shapes[0][i].radius == shapes[1][i].radius);
	}
}

/* Every position that is near where rounding changes. */
TEST(adds_up_for_every_position)
{
	TestRandom	state = 92;

	for (int round = 0; round < 300000; round++)
	{
		double		target = any_target(&state);
		int			steps = 1 + test_below(&state, round % 2 ? 5 : 4999);
		double		near[] = {0, 1, test_uniform(&state), ldexp(1, -test_below(&state, 1074)),
			(test_below(&state, steps + 1) + 0.5 * test_below(&state, 2)) / steps};
		double		position = near[test_below(&state, 5)];
		double		first;
		int			place;

		for (int j = test_below(&state, 4); j > 0; j--)
			position = nextafter(position, test_below(&state, 2) ? INFINITY : -INFINITY);
		position = fmin(1, fmax(0, position));
		place = dperm_knots_point(position, steps, target, &first);
		CHECK(place >= 0 && place <= steps - 1);
		CHECK(place <= position * steps && position * steps <= place + 1);
		CHECK(first * target >= 0 && (target - first) * target >= 0);
		CHECK(first + (target - first) == target);
		CHECK(fabs(first) >= fabs(target) / 2 || fabs(target - first) >= fabs(target) / 2);
		CHECK_NEAR((target - first) / target, position * steps - place, 4 * DBL_EPSILON);
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
			value.number = dperm_encoder_knot(&block, test_below(&state, block.count));
		clamped = fmax(block.low, fmin(block.high, value.number));
		place = place_of(&block, value.number, target, &first);
		CHECK_NEAR(first / target * dperm_encoder_knot(&block, place) +
				   (1 - first / target) * dperm_encoder_knot(&block, place + 1), clamped, 1e-12);
		CHECK(dperm_encoder_knot(&block, place) <= clamped + 1e-12);
		CHECK(dperm_encoder_knot(&block, place + 1) >= clamped - 1e-12);
	}
}

/* Positions of even knots: the bounds are exact. */
TEST(spaces_knots_evenly)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_NUMBER, .count = 11, .low = 0, .high = 100};
	DpermBlock	huge = {.kind = DPERM_BLOCK_NUMBER, .count = 5, .low = -1e300, .high = 1e300};

	for (int i = 0; i < 11; i++)
		CHECK(dperm_encoder_knot(&block, i) == 10 * i);
	CHECK(dperm_encoder_knot(&huge, 0) == -1e300 && dperm_encoder_knot(&huge, 4) == 1e300);
	CHECK(dperm_encoder_knot(&huge, 1) == -1e300 / 2 && dperm_encoder_knot(&huge, 2) == 0);
}

/*
 * Knots of a logarithmic scale: the bounds are exact, those of a range around 0 are
 * symmetric, and each is a factor from the next, less 1.
 */
TEST(spaces_knots_by_logarithm)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_NUMBER, .count = 7, .log = true, .high = 999999};
	DpermBlock	both = {.kind = DPERM_BLOCK_NUMBER, .count = 7, .log = true,
		.low = -999, .high = 999};

	for (int i = 0; i < 7; i++)
	{
		CHECK_NEAR(dperm_encoder_knot(&block, i) / (pow(10, i) - 1 + (i == 0)), i > 0, 1e-12);
		CHECK_NEAR(dperm_encoder_knot(&both, i), -dperm_encoder_knot(&both, 6 - i), 1e-12);
	}
	CHECK(dperm_encoder_knot(&block, 0) == 0 && dperm_encoder_knot(&block, 6) == 999999);
	CHECK_NEAR(dperm_encoder_knot(&both, 5), 99, 1e-12);
	CHECK(dperm_encoder_even(&both, 1, 2) == 0);
	CHECK_NEAR(dperm_encoder_even(&block, 1, 2), 999, 1e-11);
}

/* A number has the entries, and the line, of its logarithm between those of the bounds. */
TEST(interpolates_logarithms)
{
	TestRandom	state = 94;
	DpermBlock	block = {.kind = DPERM_BLOCK_NUMBER, .log = true};
	DpermBlock	plain = {.kind = DPERM_BLOCK_NUMBER};

	for (int round = 0; round < 100000; round++)
	{
		DpermValue	value = {.present = true};
		DpermValue	scaled = {.present = true};
		double		first;
		double		second;

		do
		{
			sample_bounds(&state, &block);
			block.count = 2 + test_below(&state, SAMPLE_COUNT - 1);
		} while (sample_fault(&block) != NULL);
		value.number = sample_number(&state, &block);
		plain.count = block.count;
		plain.low = copysign(log1p(fabs(block.low)), block.low);
		plain.high = copysign(log1p(fabs(block.high)), block.high);
		scaled.number = copysign(log1p(fabs(value.number)), value.number);
		CHECK(place_of(&block, value.number, 0.5, &first) ==
			  place_of(&plain, scaled.number, 0.5, &second) && first == second);
		block.count = plain.count = 1;
		dperm_encoder_encode_block(&block, &value, 0.5, &first);
		dperm_encoder_encode_block(&plain, &scaled, 0.5, &second);
		CHECK(first == second);
	}
}

/* A scale is for numbers without a list of knots, whose bounds differ on it. */
TEST(refuses_scales)
{
	static const double knots[] = {0, 1, 3};
	DpermBlock	block = {.kind = DPERM_BLOCK_NUMBER, .count = 3, .log = true, .high = 3};

	CHECK(sample_fault(&block) == NULL);
	block.knots = knots;
	CHECK_TEXT(sample_fault(&block), "listed knots have no scale");
	block.knots = NULL;
	block.kind = DPERM_BLOCK_TIME;
	CHECK_TEXT(sample_fault(&block), "only a number has a scale");
	block.kind = DPERM_BLOCK_NUMBER;
	block.low = 1e15;
	block.high = nextafter(block.low, INFINITY);
	CHECK_TEXT(sample_fault(&block), "the bounds of a number are the same on its scale");
}
