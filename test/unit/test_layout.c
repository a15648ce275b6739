/*
 * test_layout.c: rows as they are laid out in memory, and kernels by block,
 * against the encoder's plain vector of each row.
 */
#include "unit/coded.h"

#include "core/encode/layout.h"
#include "core/encode/encoder.h"
#include "unit/exact.h"

#define KNOTS_MAX 16
#define OPEN_DIM_MAX (SAMPLE_BLOCKS * KNOTS_MAX + SAMPLE_DIM_MAX)

static SampleEncoder sampled;
static SampleRow row;
static double *frequencies;
static double linear[SAMPLE_DIM_MAX];
static double plain[SAMPLE_DIM_MAX];

/* Labels: -1, 0 for none, +1. */
static int
any_sign(TestRandom *state)
{
	return test_below(state, 3) - 1;
}

/* The plain vector of a row. */
static void
encode_plainly(const DpermEncoder *enc, const DpermValue *values, int sign)
{
	if (sign == 0)
		memset(plain, 0, sizeof(plain));
	else
		dperm_encoder_encode(enc, frequencies, values, sign, plain, linear);
}

/*
 * The parts of a layout fit together, and its order is a permutation of the
 * model's.
 */
static void
check_layout(const DpermLayout *layout, const DpermEncoder *enc)
{
	bool		seen[SAMPLE_DIM_MAX] = {false};
	int			categories = 0;
	int			knots = 0;
	int			curves = 0;
	int			columns = 0;

	for (int i = 0; i < enc->block_count; i++)
		if (enc->kernel.kind == DPERM_KERNEL_LINEAR &&
			enc->blocks[i].kind == DPERM_BLOCK_CATEGORY)
		{
			categories += enc->blocks[i].count;
			columns++;
		}
		else if (enc->kernel.kind == DPERM_KERNEL_LINEAR && dperm_block_knots(&enc->blocks[i]) > 1)
		{
			knots += enc->blocks[i].count;
			curves += dperm_block_elements(&enc->blocks[i]);
		}
	CHECK(layout->dim == dperm_encoder_dim(enc));
	CHECK(layout->first_code == layout->dim - categories - knots);
	CHECK(layout->dense == layout->first_code - enc->intercept && layout->labelled);
	CHECK(layout->numbers == layout->dense);
	CHECK(dperm_layout_has_constant(layout) == enc->intercept);
	CHECK(layout->codes == columns && layout->curves == curves);
	/* the number of knots takes no memory, and the label takes that of the intercept */
	CHECK(layout->words == layout->numbers + curves + (columns + 3) / 4 + 1);
	columns += curves;
	for (int i = 0; i < layout->dim; i++)
	{
		int			place = layout->place ? layout->place[i] : i;
		int			in_model = place;
		const DpermBlock *block;

		CHECK(place >= 0 && place < layout->dim && !seen[place]);
		seen[place] = true;
		block = dperm_encoder_block(enc, &in_model);
		CHECK((enc->intercept && place == layout->dim - 1) == (i == layout->dense && enc->intercept));
		CHECK((i >= layout->first_code) ==
			  (block != NULL && (block->kind == DPERM_BLOCK_CATEGORY ||
										  dperm_block_knots(block) > 1)));
		CHECK((columns > 0 && i >= layout->dim - knots) ==
			  (block != NULL && dperm_block_knots(block) > 1));
	}
}

/*
 * Rows without a kernel: bit for bit the encoder's result, in the order of the
 * model.
 */
TEST(lays_out_what_the_encoder_makes)
{
	TestRandom	state = 61;
	int			coded = 0;

	for (int round = 0; round < 60000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		double		vector[SAMPLE_DIM_MAX];
		double		restored[SAMPLE_DIM_MAX];
		DpermFeed	feed;
		double	   *words;
		int			sign = any_sign(&state);

		if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
			continue;
		dperm_feed_init(&feed, enc, false, NULL);
		CHECK(feed.frequencies == NULL);
		check_layout(&feed.layout, enc);
		coded += feed.layout.codes;

		/* memory with other content that ends where the row ends */
		words = malloc(sizeof(double) * feed.layout.words);
		memset(words, 0x5a, sizeof(double) * feed.layout.words);
		sample_row(&state, enc, &row);
		dperm_layout_encode(&feed.layout, enc, row.values, sign, 1, words);
		encode_plainly(enc, row.values, sign);
		decode_row(&feed.layout, words, vector);
		dperm_layout_restore(&feed.layout, 1, vector, restored);
		for (int i = 0; i < feed.layout.dim; i++)
			CHECK(restored[i] == plain[i]);
		CHECK(exact_in_ball(vector, feed.layout.dim));
		CHECK(words[dperm_layout_label(&feed.layout)] == sign);
		if (feed.layout.codes > 0)
		{
			const uint16_t *codes = (const uint16_t *) (words + dperm_layout_label(&feed.layout)) - (feed.layout.codes + 3) / 4 * 4;

			for (int k = feed.layout.codes; k % 4 != 0; k++)
				CHECK(codes[k] == 0);
		}
		free(words);
	}
	CHECK(coded > 15000);
}

/*
 * A row is the same whichever of its values a reader left over from the
 * previous row.
 */
TEST(forgets_the_row_before)
{
	TestRandom	state = 62;

	for (int round = 0; round < 20000; round++)
	{
		const DpermEncoder *enc = sample_coded_encoder(&state, &sampled);
		double		fresh[SAMPLE_DIM_MAX + 1];
		double		again[SAMPLE_DIM_MAX + 1];
		DpermLayout layout = dperm_layout_make(enc, false);
		int			sign = any_sign(&state);

		memset(fresh, 0, sizeof(fresh));
		sample_row(&state, enc, &row);
		dperm_layout_encode(&layout, enc, row.values, any_sign(&state), 1, again);
		sample_row(&state, enc, &row);
		dperm_layout_encode(&layout, enc, row.values, sign, 1, fresh);
		dperm_layout_encode(&layout, enc, row.values, sign, 1, again);
		CHECK(memcmp(fresh, again, sizeof(double) * layout.words) == 0);
	}
}

/* The straight numbers of an encoder. */
static int
straight_numbers(const DpermEncoder *enc)
{
	int			found = 0;

	for (int i = 0; i < enc->block_count; i++)
		found += dperm_block_is_number(&enc->blocks[i]) && enc->blocks[i].count == 1;
	return found;
}

/* Are the coordinates in the same order if nothing was open? */
static bool
is_order_of_closed(const DpermLayout *layout, const DpermEncoder *enc)
{
	DpermBlock	blocks[SAMPLE_BLOCKS];
	DpermEncoder closed = *enc;
	DpermLayout other;

	memcpy(blocks, enc->blocks, sizeof(DpermBlock) * enc->block_count);
	for (int i = 0; i < enc->block_count; i++)
		blocks[i].open = false;
	closed.blocks = blocks;
	other = dperm_layout_make(&closed, false);
	return other.dense == layout->dense && other.first_code == layout->first_code &&
		(other.place == NULL) == (layout->place == NULL) &&
		(other.place == NULL || memcmp(other.place, layout->place, sizeof(int) * layout->dim) == 0);
}

/* Let some of the straight numbers of an encoder be open; how many. */
static int
open_numbers(TestRandom *state, SampleEncoder *sample)
{
	int			open = 0;

	for (int i = 0; i < sample->encoder.block_count; i++)
	{
		DpermBlock *block = &sample->blocks[i];

		block->open = dperm_block_is_number(block) && block->count == 1 && test_below(state, 4) > 0;
		open += block->open;
	}
	return open;
}

/*
 * A row with open numbers is, with any number of knots, bit for bit the row that an
 * encoder with these knots makes, in the order of the model; and its coordinates are in
 * the shapes of rows that are stored.
 */
TEST(leaves_knots_open)
{
	TestRandom	state = 31;
	int			found = 0;

	for (int round = 0; round < 100000; round++)
	{
		const DpermEncoder *lines = sample_encoder(&state, &sampled);
		int			open = open_numbers(&state, &sampled);
		int			knots = 1 + test_below(&state, KNOTS_MAX);
		int			sign = any_sign(&state);
		DpermEncoder enc;
		DpermLayout from,
					to;
		double		words[SAMPLE_DIM_MAX];
		double		vector[OPEN_DIM_MAX];
		double		restored[OPEN_DIM_MAX];
		double		expected[OPEN_DIM_MAX] = {0};
		DpermShape	shapes[OPEN_DIM_MAX];
		DpermShape	in_order[OPEN_DIM_MAX];
		int			shape_count;

		if (lines->kernel.kind != DPERM_KERNEL_LINEAR || open == 0)
			continue;
		found++;
		enc = dperm_encoder_with_knots(lines, knots);
		from = dperm_layout_make(lines, false);
		to = dperm_layout_make(&enc, false);
		CHECK(dperm_encoder_is_open(lines) && dperm_encoder_fault(&enc) == NULL);
		CHECK(from.words == to.words && to.words <= DPERM_LAYOUT_WORDS_MAX(to.dim));
		CHECK(from.dense - from.numbers == straight_numbers(lines));
		CHECK(to.dense - to.numbers == straight_numbers(&enc));
		CHECK(is_order_of_closed(&from, lines) && is_order_of_closed(&to, &enc));
		sample_row(&state, lines, &row);
		for (int i = 0; i < lines->block_count; i++)
			if (lines->blocks[i].open)
				row.values[i].number = sample_number(&state, &enc.blocks[i]);
		dperm_layout_encode(&from, lines, row.values, sign, 1, words);
		decode_row(&to, words, vector);
		dperm_layout_restore(&to, 1, vector, restored);
		if (sign != 0)
			dperm_encoder_encode(&enc, NULL, row.values, sign, expected, NULL);
		for (int i = 0; i < to.dim; i++)
			CHECK(restored[i] == expected[i]);
		CHECK(exact_in_ball(vector, to.dim));
		shape_count = dperm_shape_list(&enc, true, shapes);
		CHECK(dperm_shape_list(&enc, false, in_order) == shape_count);
		for (int i = 0; i < shape_count; i++)
		{
			int			in_model = to.place ? to.place[shapes[i].first] : shapes[i].first;

			int			at = 0;

			CHECK(dperm_shape_contains(&shapes[i], vector));
			while (at < shape_count && in_order[at].first != in_model)
				at++;
			CHECK(at < shape_count && in_order[at].kind == shapes[i].kind &&
				  in_order[at].count == shapes[i].count && in_order[at].radius == shapes[i].radius);
		}
	}
	CHECK(found > 10000);
}

/* What a row weighs: its word, or what its owner does, or 1. */
TEST(weighs_rows)
{
	const double of_owners[] = {0.5, 0.25};
	DpermLayout layout = dperm_layout_dense(1);
	double		words[2] = {0.7, 1};

	CHECK(dperm_layout_weight(&layout, words) == 1);
	layout.weighted = true;
	layout.words++;
	words[1] = 0.125;
	CHECK(dperm_layout_weight(&layout, words) == 0.125);
	layout.owners = of_owners;
	words[1] = 1;
	CHECK(dperm_layout_weight(&layout, words) == 0.25);
	words[1] = -1;
	CHECK(dperm_layout_weight(&layout, words) == 0);
}

/*
 * How much two ways of computing a feature may differ: the rounding of its
 * angle.
 */
static double
feature_slack(const DpermEncoder *enc, const double *inputs, int feature)
{
	int			dim = dperm_encoder_linear_dim(enc);
	int			half = enc->kernel.features / 2;
	double		sum = 0;

	for (int i = 0; i < dim; i++)
		sum += fabs(frequencies[(feature % half) * dim + i] * inputs[i]);
	return 4 * DBL_EPSILON * (1 + dim * sum);
}

/*
 * Kernels: rows that are collected and mapped together, against one at a time.
 */
TEST(maps_kernels_by_block)
{
	TestRandom	state = 63;
	static SampleRow rows[DPERM_FEED_ROWS];
	static int	signs[DPERM_FEED_ROWS];
	static double got[SAMPLE_DIM_MAX];

	for (int round = 0; round < 600; round++)
	{
		const DpermEncoder *enc;
		int			count = 1 + test_below(&state, DPERM_FEED_ROWS);
		int			dim;
		DpermFeed	feed;

		do
			enc = sample_encoder(&state, &sampled);
		while (enc->kernel.kind == DPERM_KERNEL_LINEAR);
		dim = dperm_encoder_dim(enc);
		frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
		dperm_feed_init(&feed, enc, false, NULL);
		CHECK(feed.frequencies != NULL);
		check_layout(&feed.layout, enc);

		/* twice, so that rows are collected where others were */
		for (int turn = 0; turn < 2; turn++)
		{
			const double *mapped;

			for (int i = 0; i < count; i++)
			{
				signs[i] = any_sign(&state);
				sample_row(&state, enc, &rows[i]);
				CHECK(dperm_feed_wait(&feed, rows[i].values, signs[i], 1) ==
					  (i == DPERM_FEED_ROWS - 1));
			}
			CHECK(feed.waiting == count);
			mapped = dperm_feed_map(&feed);
			CHECK(feed.waiting == 0);
			for (int i = 0; i < count; i++)
			{
				CHECK(mapped[i * feed.layout.words + feed.layout.words - 1] == signs[i]);
				decode_row(&feed.layout, mapped + i * feed.layout.words, got);
				encode_plainly(enc, rows[i].values, signs[i]);
				CHECK(exact_in_ball(got, dim));
				for (int j = 0; j < enc->kernel.features; j++)
					CHECK_NEAR(got[j], plain[j],
							   signs[i] == 0 ? 0 : feature_slack(enc, linear, j));
				if (enc->intercept)
					CHECK(got[dim - 1] == plain[dim - 1]);
			}
		}
	}
}

/*
 * A row has the same features whatever the other rows of its group, and
 * wherever it is among them: the guarantee requires that.
 */
TEST(rounds_a_row_alike_everywhere)
{
	TestRandom	state = 64;
	static SampleRow row,
				other;

	for (int round = 0; round < 60; round++)
	{
		const DpermEncoder *enc;
		static double first[SAMPLE_DIM_MAX + 1];
		DpermFeed	feed;

		do
			enc = sample_encoder(&state, &sampled);
		while (enc->kernel.kind == DPERM_KERNEL_LINEAR);
		frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
		dperm_feed_init(&feed, enc, false, NULL);
		sample_row(&state, enc, &row);
		for (int at = 0; at < DPERM_FEED_ROWS; at++)
		{
			int			behind = test_below(&state, DPERM_FEED_ROWS - at);
			const double *mapped;

			for (int i = 0; i <= at + behind; i++)
			{
				sample_row(&state, enc, &other);
				dperm_feed_wait(&feed, i == at ? row.values : other.values, 1, 1);
			}
			mapped = dperm_feed_map(&feed) + at * feed.layout.words;
			if (at == 0)
				memcpy(first, mapped, sizeof(double) * feed.layout.words);
			CHECK(memcmp(first, mapped, sizeof(double) * feed.layout.words) == 0);
		}
	}
}

/* Many coordinates and codes beyond one byte, up to the last one. */
TEST(codes_every_coordinate)
{
	static DpermText names[5000];
	DpermBlock	blocks[3] = {{.kind = DPERM_BLOCK_CATEGORY, .count = 300, .categories = names},
	{.kind = DPERM_BLOCK_NUMBER, .count = 1, .low = 0, .high = 1},
	{.kind = DPERM_BLOCK_CATEGORY, .count = 4698, .categories = names}};
	DpermEncoder enc = {.block_count = 3, .blocks = blocks, .intercept = true};
	static double vector[5000];
	static double restored[5000];
	DpermLayout layout = dperm_layout_make(&enc, false);

	CHECK(layout.dim == 5000 && layout.dense == 1 && layout.codes == 2 && layout.words == 3);
	for (int first = 0; first < 300; first++)
		for (int last = first; last < 4698; last += 311)
		{
			DpermValue	values[3] = {{.present = true, .category = first},
			{.present = true, .number = 0.75}, {.present = true, .category = last}};
			double		words[3];
			double		unit = layout.unit;

			dperm_layout_encode(&layout, &enc, values, -1, 1, words);
			decode_row(&layout, words, vector);
			dperm_layout_restore(&layout, 1, vector, restored);
			CHECK(restored[first] == -unit && restored[301 + last] == -unit);
			CHECK(restored[300] == -unit / 2 && restored[4999] == -unit);
			restored[first] = restored[301 + last] = restored[300] = restored[4999] = 0;
			for (int i = 0; i < 5000; i++)
				CHECK(restored[i] == 0);
		}
}
