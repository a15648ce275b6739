/*
 * test_encoder_rows.c: rows of any columns: what each value becomes, and that
 * the whole row is in the unit ball, exactly.
 */
#include "unit/sample_encoder.h"

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/encode/encoder.h"
#include "unit/exact.h"

static SampleEncoder sampled;
static SampleRow row;
static double *frequencies;
static double room[SAMPLE_DIM_MAX];
static double out[SAMPLE_DIM_MAX + 1];

/* Encode a row, with a guard behind the result. */
static void
encode(const DpermEncoder *enc, const DpermValue *values, double sign)
{
	memset(out, 0x5a, sizeof(out));
	dperm_encoder_encode(enc, frequencies, values, sign, out, room);
}

TEST(stays_in_the_ball)
{
	TestRandom	state = 1;

	for (int round = 0; round < 60000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			dim = dperm_encoder_dim(enc);
		double		guard = 0;

		CHECK(dperm_encoder_fault(enc) == NULL);
		frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
		memset(&guard, 0x5a, sizeof(guard));
		encode(enc, sample_row(&state, enc, &row), test_below(&state, 2) ? 1 : -1);
		CHECK(exact_in_ball(out, dim));
		CHECK(memcmp(&out[dim], &guard, sizeof(guard)) == 0);
		test_host_release();
	}
}

/*
 * With every block at its largest norm the ball is full, except for the last
 * digits.
 */
TEST(fills_the_ball)
{
	DpermBlock	blocks[SAMPLE_BLOCKS * 6];
	DpermValue	values[SAMPLE_BLOCKS * 6];

	for (int count = 1; count <= SAMPLE_BLOCKS * 6; count++)
		for (int intercept = 0; intercept < 2; intercept++)
		{
			DpermEncoder enc = {.block_count = count, .blocks = blocks, .intercept = intercept};
			double		sum = 0;

			for (int i = 0; i < count; i++)
			{
				blocks[i] = (DpermBlock) {.kind = (DpermBlockKind) (i % 4), .count = 1,
					.low = -1, .high = 1};
				values[i] = (DpermValue) {.present = true, .number = i % 2 ? 1 : -1};
			}
			encode(&enc, values, 1);
			CHECK(exact_in_ball(out, count + intercept));
			for (int i = 0; i < count + intercept; i++)
				sum += out[i] * out[i];
			CHECK_NEAR(sum, 1, 1e-14);
		}
}

/* One block of a kind, alone in the ball. */
static double
encode_number(DpermBlockKind kind, double low, double high, double number)
{
	DpermBlock	block = {.kind = kind, .count = 1, .low = low, .high = high};
	DpermEncoder enc = {.block_count = 1, .blocks = &block};
	DpermValue	value = {.present = true, .number = number};

	CHECK(dperm_encoder_fault(&enc) == NULL);
	encode(&enc, &value, 1);
	return out[0];
}

TEST(maps_numbers_and_times)
{
	for (int kind = DPERM_BLOCK_NUMBER; kind <= DPERM_BLOCK_TIME; kind++)
	{
		DpermBlockKind k = (DpermBlockKind) kind;

		CHECK(encode_number(k, 0, 120, 0) == -1);
		CHECK(encode_number(k, 0, 120, 120) == 1);
		CHECK(encode_number(k, 0, 120, 60) == 0);
		CHECK(encode_number(k, 0, 120, 90) == 0.5);
		CHECK(encode_number(k, 0, 120, -5) == -1);
		CHECK(encode_number(k, 0, 120, 121) == 1);
		CHECK(encode_number(k, 0, 120, INFINITY) == 1);
		CHECK(encode_number(k, 0, 120, -INFINITY) == -1);
		CHECK(encode_number(k, 0, 120, NAN) == 0);
		CHECK(encode_number(k, -1e300, 1e300, DBL_MAX) == 1);
		CHECK(encode_number(k, -1e300, 1e300, 0) == 0);
		CHECK(encode_number(k, -1e300, 1e300, 5e299) == 0.5);
		CHECK(encode_number(k, -1e300, 1e300, -INFINITY) == -1);
		CHECK(encode_number(k, 0, DBL_MIN, 0) == -1);
		CHECK(encode_number(k, 0, DBL_MIN, DBL_MIN / 2) == 0);
		CHECK(encode_number(k, 0, 1e-323, 0) == -1);
		CHECK(encode_number(k, 0, 1e-323, 1e-323) == 1);
		CHECK(encode_number(k, 1, nextafter(1, 2), 1) == -1);
		CHECK(encode_number(k, 1, nextafter(1, 2), 2) == 1);
	}
}

/* A larger value never gives a smaller coordinate, whatever the bounds. */
TEST(keeps_the_order_of_numbers)
{
	TestRandom	state = 2;

	for (int round = 0; round < 50000; round++)
	{
		DpermBlock	block;
		double		x,
					y;

		sample_bounds(&state, &block);
		do
			x = sample_number(&state, &block);
		while (isnan(x));
		do
			y = sample_number(&state, &block);
		while (isnan(y));
		CHECK(encode_number(DPERM_BLOCK_NUMBER, block.low, block.high, fmin(x, y)) <=
			  encode_number(DPERM_BLOCK_NUMBER, block.low, block.high, fmax(x, y)));
	}
}

/* Encode a box of one to three coordinates that is alone in the ball. */
static void
encode_box(const DpermBlock *block, double x, double y, double z)
{
	DpermEncoder enc = {.block_count = 1, .blocks = block};
	DpermValue	value = {.present = true, .vector = (double[]) {x, y, z}};

	CHECK(dperm_encoder_fault(&enc) == NULL);
	encode(&enc, &value, 1);
}

TEST(maps_boxes)
{
	static const double bounds[] = {0, 120, -1e300, 1e300, 1, 2};
	DpermBlock	block = {.kind = DPERM_BLOCK_BOX, .count = 3, .bounds = bounds};
	double		each = dperm_encoder_most(&block, 1);

	CHECK_NEAR(each, 1 / sqrt(3), 1e-15);
	encode_box(&block, 90, 5e299, 1.5);
	CHECK(out[0] == each / 2 && out[1] == each / 2 && out[2] == 0);
	encode_box(&block, -5, -INFINITY, INFINITY);
	CHECK(out[0] == -each && out[1] == -each && out[2] == each);
	encode_box(&block, NAN, DBL_MAX, NAN);
	CHECK(out[0] == 0 && out[1] == each && out[2] == 0);
	block = (DpermBlock) {.kind = DPERM_BLOCK_BOX, .count = 2, .low = -1, .high = 3};
	each = dperm_encoder_most(&block, 1);
	encode_box(&block, 0, 7, 0);
	CHECK(out[0] == -each / 2 && out[1] == each);
	CHECK(dperm_encoder_most(&block, -0.5) == -each / 2);
}

/*
 * The square of the bound times the number of coordinates is at most the square
 * of the target, exactly, and not much less.
 */
TEST(bounds_the_coordinates_of_boxes)
{
	static double all[DPERM_DIM_MAX];

	for (int count = 1; count <= DPERM_DIM_MAX; count++)
	{
		DpermBlock	block = {.kind = DPERM_BLOCK_BOX, .count = count, .high = 1};
		double		each = dperm_encoder_most(&block, 1);

		for (int i = 0; i < count; i++)
			all[i] = each;
		CHECK(exact_in_ball(all, count));
		CHECK(count * each * each > 1 - 1e-13);
		CHECK(count > 1 || each == 1);
	}
	for (int shares = 2; shares <= 50; shares++)
		for (int count = 1; count <= 300; count++)
		{
			DpermBlock	blocks[49] = {{.kind = DPERM_BLOCK_BOX, .count = count, .high = 1}};
			DpermEncoder enc = {.block_count = shares - 1, .blocks = blocks, .intercept = true};
			double		target = dperm_encoder_target(&enc);
			double		each = dperm_encoder_most(&blocks[0], target);

			/* the other shares are full */
			for (int i = 0; i < count; i++)
				all[i] = each;
			for (int i = count; i < count + shares - 1; i++)
				all[i] = target;
			CHECK(exact_in_ball(all, count + shares - 1));
		}
}

/*
 * Whatever a box holds, no coordinate exceeds its bound, and values at their
 * bounds attain it.
 */
TEST(keeps_to_the_bounds_of_boxes)
{
	TestRandom	state = 6;
	int			reached = 0;
	int			boxes = 0;

	for (int round = 0; round < 60000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			at = 0;
		double		target = dperm_encoder_target(enc);

		if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
			continue;
		encode(enc, sample_row(&state, enc, &row), test_below(&state, 2) ? 1 : -1);
		for (int i = 0; i < enc->block_count; at += enc->blocks[i++].count)
			for (int k = 0; enc->blocks[i].kind == DPERM_BLOCK_BOX && enc->blocks[i].each == 0 &&
				 k < enc->blocks[i].count; k++)
			{
				double		each = dperm_encoder_most(&enc->blocks[i], target);

				CHECK(fabs(out[at + k]) <= each);
				reached += fabs(out[at + k]) == each;
				boxes++;
			}
	}
	CHECK(boxes > 10000 && reached > boxes / 4);
}

/* A box of one coordinate is a number. */
TEST(takes_short_boxes_as_numbers)
{
	TestRandom	state = 7;

	for (int round = 0; round < 20000; round++)
	{
		DpermBlock	blocks[2] = {{.count = 1}, {.kind = DPERM_BLOCK_FLAG, .count = 1}};
		DpermEncoder enc = {.block_count = 2, .blocks = blocks, .intercept = true};
		DpermValue	values[2] = {{.present = true}, {0}};
		double		number;

		sample_bounds(&state, &blocks[0]);
		values[0].number = sample_number(&state, &blocks[0]);
		values[0].vector = &values[0].number;
		encode(&enc, values, 1);
		number = out[0];
		blocks[0].kind = DPERM_BLOCK_BOX;
		encode(&enc, values, 1);
		CHECK(out[0] == number);
	}
}

TEST(maps_booleans_and_categories)
{
	DpermText	texts[3] = {sample_literal("a"), sample_literal("b"), sample_literal("c")};
	DpermBlock	block = {.kind = DPERM_BLOCK_CATEGORY, .count = 3, .categories = texts};
	DpermEncoder enc = {.block_count = 1, .blocks = &block};

	CHECK(encode_number(DPERM_BLOCK_FLAG, 0, 0, 1) == 1);
	CHECK(encode_number(DPERM_BLOCK_FLAG, 0, 0, -1) == -1);
	for (int category = -2; category < 6; category++)
		for (int present = 0; present < 2; present++)
		{
			DpermValue	value = {.present = present, .category = category};

			encode(&enc, &value, -1);
			for (int i = 0; i < 3; i++)
				CHECK(out[i] == (present && i == category ? -1 : 0));
		}
}

/*
 * A missing value is a zero block; the others and the intercept stay as they
 * are.
 */
TEST(leaves_missing_values_out)
{
	TestRandom	state = 3;

	for (int round = 0; round < 5000; round++)
	{
		double		with[SAMPLE_DIM_MAX];
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			missing = test_below(&state, enc->block_count);
		int			shares = 1;
		int			at = 0;

		sampled.encoder.kernel = (DpermKernel) {.kind = DPERM_KERNEL_LINEAR};
		sample_row(&state, enc, &row);
		encode(enc, row.values, 1);
		memcpy(with, out, sizeof(with));
		row.values[missing].present = false;
		row.values[missing].vector = NULL;
		encode(enc, row.values, 1);
		for (int i = 0; i < enc->block_count; at += enc->blocks[i++].count)
		{
			for (int k = 0; k < enc->blocks[i].count; k++)
				CHECK(out[at + k] == (i == missing ? 0 : with[at + k]));
			/* a vector of curves shares the ball as so many columns do */
			shares += enc->blocks[i].each > 0 ? dperm_block_elements(&enc->blocks[i]) : 1;
		}
		if (enc->intercept)
			CHECK(out[at] == with[at] && fabs(out[at] - 1 / sqrt(shares)) < 1e-15);
	}
}

/* The opposite sign negates every coordinate. */
TEST(turns_with_the_sign)
{
	TestRandom	state = 4;

	for (int round = 0; round < 5000; round++)
	{
		double		plus[SAMPLE_DIM_MAX];
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			dim = dperm_encoder_dim(enc);

		frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
		sample_row(&state, enc, &row);
		encode(enc, row.values, 1);
		memcpy(plus, out, sizeof(plus));
		encode(enc, row.values, -1);
		for (int i = 0; i < dim; i++)
			CHECK(out[i] == -plus[i]);
	}
}

/* With a kernel the row is that of the blocks without an intercept, mapped. */
TEST(maps_the_blocks_with_a_kernel)
{
	TestRandom	state = 5;

	for (int round = 0; round < 2000; round++)
	{
		double		linear[SAMPLE_DIM_MAX];
		double		mapped[SAMPLE_DIM_MAX];
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		DpermEncoder plain = {.block_count = enc->block_count, .blocks = enc->blocks};
		int			dim = dperm_encoder_linear_dim(enc);
		double		share = enc->intercept ? sqrt(0.5) : 1;

		if (enc->kernel.kind == DPERM_KERNEL_LINEAR)
			continue;
		frequencies = dperm_fourier_make(&enc->kernel, dim);
		sample_row(&state, enc, &row);
		encode(&plain, row.values, 1);
		memcpy(linear, out, sizeof(linear));
		dperm_fourier_map_rows(&enc->kernel, frequencies, dim, 1, linear, 1, 0, mapped);
		encode(enc, row.values, 1);
		for (int i = 0; i < enc->kernel.features; i++)
			CHECK_NEAR(out[i], share * mapped[i], 1e-15);
		if (enc->intercept)
			CHECK_NEAR(out[enc->kernel.features], sqrt(0.5), 1e-15);
	}
}

/* The column and category that a coordinate belongs to. */
TEST(names_coordinates)
{
	DpermBlock	blocks[3] = {{.count = 1}, {.kind = DPERM_BLOCK_CATEGORY, .count = 3},
	{.kind = DPERM_BLOCK_VECTOR, .count = 2}};
	DpermEncoder enc = {.block_count = 3, .blocks = blocks, .intercept = true};
	static const int of[6] = {0, 1, 1, 1, 2, 2};
	static const int within[6] = {0, 0, 1, 2, 0, 1};
	int			at;

	for (int i = 0; i < 6; i++)
	{
		at = i;
		CHECK(dperm_encoder_block(&enc, &at) == &blocks[of[i]] && at == within[i]);
	}
	at = 6;
	CHECK(dperm_encoder_block(&enc, &at) == NULL && at == 6);
	enc.kernel = (DpermKernel) {DPERM_KERNEL_CAUCHY, 1, 10, 0};
	at = 3;
	CHECK(dperm_encoder_block(&enc, &at) == NULL && at == 3);
}

/* Why an encoder of one block is refused, "" if it is not. */
static const char *
why_not(DpermBlock block, DpermKernel kernel, bool intercept)
{
	DpermEncoder enc = {.block_count = 1, .blocks = &block, .intercept = intercept,
		.kernel = kernel};
	const char *fault = dperm_encoder_fault(&enc);

	return fault ? fault : "";
}

#define BLOCK(...) ((DpermBlock) {__VA_ARGS__})
#define KERNEL(...) ((DpermKernel) {__VA_ARGS__})

TEST(refuses_what_is_out_of_range)
{
	const DpermKernel none = {.kind = DPERM_KERNEL_LINEAR};
	const DpermBlock flag = {.kind = DPERM_BLOCK_FLAG, .count = 1};
	const char *bounds = "the bounds of a number are out of order";
	const char *order = "the knots of a number are out of order";
	const char *ends = "the knots of a number do not begin and end at its bounds";
	const char *features = "the number of kernel features is out of range";
	DpermEncoder empty = {.block_count = 0};

	CHECK_TEXT(why_not(flag, none, true), "");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_FLAG, .count = 2), none, true),
			   "a boolean has one coordinate");
	CHECK_TEXT(why_not(BLOCK(.count = 1, .low = 0, .high = 1), none, true), "");
	CHECK_TEXT(why_not(BLOCK(.count = 1, .low = 1, .high = 1), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.count = 1, .low = 0, .high = INFINITY), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.count = 1, .low = NAN, .high = 1), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.count = 1, .low = 0, .high = 1.1e300), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_TIME, .count = 2, .high = 1), none, true), "");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_TIME, .count = 2, .high = 0), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.count = 0, .high = 1), none, true), "dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.count = 5001, .high = 1), none, true), "dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.count = 5000, .high = 1), none, true), "the dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0, 0.3, 1}), none, true), "");
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0, 0, 1}), none, true), order);
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0, 1, 1}), none, true), order);
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0, 1.5, 1}), none, true), order);
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0, NAN, 1}), none, true), order);
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0.1, 0.3, 1}), none, true), ends);
	CHECK_TEXT(why_not(BLOCK(.count = 3, .high = 1, .knots = (double[]) {0, 0.3, 0.9}), none, true), ends);
	CHECK_TEXT(why_not(BLOCK(.count = 1, .high = 1, .knots = (double[]) {0}), none, true), ends);
	CHECK_TEXT(why_not(BLOCK(.count = 2, .high = 1), ((DpermKernel) {DPERM_KERNEL_GAUSSIAN, 1, 10, 1}), true), "a kernel takes numbers as they are, without knots");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_CATEGORY, .count = 0), none, true),
			   "dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.kind = (DpermBlockKind) 6, .count = 1), none, true),
			   "a feature has an unknown type");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_VECTOR, .count = 1, .norm = 1e101), none, true),
			   "norm is out of range");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_VECTOR, .count = 5000, .norm = 1), none, true),
			   "the dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_VECTOR, .count = 5000, .norm = 1), none, false), "");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 5000, .high = 1), none, false), "");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 5001, .high = 1), none, false),
			   "dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 0, .high = 1), none, false),
			   "dimension is out of range");
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 2), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 2, .bounds = (double[]) {0, 1, 2, 1}), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 2, .bounds = (double[]) {0, 1, NAN, 1}), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 2, .bounds = (double[]) {0, INFINITY, 0, 1}), none, true), bounds);
	CHECK_TEXT(why_not(BLOCK(.kind = DPERM_BLOCK_BOX, .count = 2, .bounds = (double[]) {0, 1, 2, 3}), none, true), "");
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_MATERN, 1, 4998, 7), true), "");
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_MATERN, 1, 5000, 7), true),
			   "the dimension is out of range");
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_MATERN, 1, 5002, 7), false), features);
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_MATERN, 1, 3, 7), false), features);
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_MATERN, 1, 0, 7), false), features);
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_MATERN, NAN, 2, 7), false),
			   "gamma is out of range");
	CHECK_TEXT(why_not(flag, KERNEL((DpermKernelKind) 5, 1, 2, 7), false), "the kernel is unknown");
	CHECK_TEXT(why_not(flag, KERNEL(DPERM_KERNEL_LINEAR, 0, 0, 7), false),
			   "kernel parameters require a kernel");
	CHECK_TEXT(dperm_encoder_fault(&empty), "the number of features is out of range");
}
