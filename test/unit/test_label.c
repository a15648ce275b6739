/*
 * test_label.c: labels in encoded rows of every form: sums over x and labels
 * against those over y x, and rows without a label, which add nothing. (That
 * bent rows keep their labels is in test_bend.c.)
 */
#define TEST_OWN_MAIN
#include "unit/coded.h"

#include "core/encode/layout.h"
#include "core/encode/encoder.h"
#include "core/solve/sums.h"
#include "loss_at.h"

#define ROWS 300

static const DpermPassOrder orders[] = {DPERM_PASS_GRADIENT, DPERM_PASS_HESSIAN, DPERM_PASS_ROUGH, DPERM_PASS_EXTENDED};

/* The sums of a pass: loss and its low part, gradient and its low parts, packed Hessian. */
typedef struct Sums
{
	size_t		count;
	double		numbers[2 + 2 * SAMPLE_DIM_MAX + SAMPLE_DIM_MAX * (SAMPLE_DIM_MAX + 1) / 2];
} Sums;

static SampleEncoder sampled;
static SampleRow row;
static double weights[SAMPLE_DIM_MAX];
static Sums sums[2];

/* Add up rows. */
static void
sum_rows(const DpermLayout *layout, DpermLoss loss, DpermPassOrder order, const double *rows, int count, Sums *out)
{
	bool		hessian = order == DPERM_PASS_HESSIAN || order == DPERM_PASS_ROUGH;
	size_t		dim = (size_t) layout->dim;
	double	   *room = malloc(sizeof(double) * dperm_moments_room(layout->dim, 1, hessian));
	double		low[SAMPLE_DIM_MAX];
	DpermMoments m;

	for (size_t j = 0; j < dim; j++)
		low[j] = weights[j] * 0x1p-55;
	dperm_moments_start(&m, order, loss, layout, weights, low, room);
	dperm_moments_add(&m, rows, count, 1);
	dperm_moments_flush(&m);
	out->count = 2 + 2 * dim + (hessian ? dperm_moments_packed(layout->dim, loss) : 0);
	memcpy(out->numbers, m.value, sizeof(double) * 2);
	memcpy(out->numbers + 2, m.gradient, sizeof(double) * dim);
	memcpy(out->numbers + 2 + dim, m.gradient_low, sizeof(double) * dim);
	if (hessian)
		dperm_moments_pack(&m, out->numbers + 2 + 2 * dim);
	free(room);
}

static DpermLoss
any_loss(TestRandom *state)
{
	DpermLoss	loss = {.kind = (DpermLossKind) test_below(state, 3)};

	if (loss.kind != DPERM_LOSS_LOGISTIC)
		loss.h = 0.1 + 0.9 * test_uniform(state);
	return loss;
}

/* A feed of any kind, with open numbers sometimes. */
static const DpermLayout *
any_feed(TestRandom *state, DpermFeed *feed)
{
	const DpermEncoder *enc = sample_encoder(state, &sampled);
	bool		kernel = enc->kernel.kind != DPERM_KERNEL_LINEAR;

	for (int i = 0; !kernel && i < enc->block_count; i++)
		sampled.blocks[i].open = dperm_block_is_number(&enc->blocks[i]) && enc->blocks[i].count == 1 &&
			test_below(state, 3) == 0;
	dperm_feed_init(feed, enc, false, NULL);
	if (test_below(state, 2))
	{
		feed->layout.weighted = true;
		feed->layout.words++;
	}
	random_row(state, feed->layout.dim, weights);
	for (int j = 0; j < feed->layout.dim; j++)
		weights[j] *= 5;
	return &feed->layout;
}

/* Encode a row of any values with a label and, if rows have one, a weight. */
static void
encode_row(TestRandom *state, DpermFeed *feed, double label, double weight, double *out)
{
	const DpermLayout *layout = &feed->layout;

	sample_row(state, feed->encoder, &row);
	if (feed->frequencies)
	{
		dperm_feed_wait(feed, row.values, label, 1);
		memcpy(out, dperm_feed_map(feed), sizeof(double) * layout->words);
	}
	else
		dperm_layout_encode(&feed->layout, feed->encoder, row.values, label, 1, out);
	if (layout->weighted)
		out[layout->words - 1] = weight;
}

/*
 * Rows without a label alone: loss(0) for each, by its weight, and sums of
 * nothing but zeros. Among others: no sum depends on what they hold.
 */
TEST(no_label_adds_nothing)
{
	TestRandom	state = 601;
	int			kinds[3] = {0};

	for (int round = 0; round < 3000; round++)
	{
		DpermFeed	feed;
		const DpermLayout *layout = any_feed(&state, &feed);
		DpermLoss	loss = any_loss(&state);
		DpermPassOrder order = orders[round % 4];
		int			count = 1 + test_below(&state, round % 10 ? 40 : ROWS);
		double	   *rows = malloc(sizeof(double) * layout->words * count);
		double		all = 0;

		kinds[feed.frequencies ? 0 : layout->codes + layout->curves > 0 ? 1 : 2]++;
		for (int i = 0; i < count; i++)
		{
			double		weight = test_uniform(&state);

			encode_row(&state, &feed, 0, weight, rows + (size_t) i * layout->words);
			all += layout->weighted ? weight : 1;
		}
		sum_rows(layout, loss, order, rows, count, &sums[0]);
		if (order != DPERM_PASS_EXTENDED)
			CHECK_NEAR(sums[0].numbers[0] + sums[0].numbers[1], all * loss_at(loss, 0, 1).value, 1e-12 * count);
		for (size_t j = 2; j < sums[0].count; j++)
			CHECK(sums[0].numbers[j] == 0);

		/* some of them get labels, and the others get other values */
		for (int i = 0; i < count; i++)
			if (test_below(&state, 2))
				rows[(size_t) i * layout->words + dperm_layout_label(layout)] = test_below(&state, 2) ? 1 : -1;
		sum_rows(layout, loss, order, rows, count, &sums[0]);
		for (int i = 0; i < count; i++)
		{
			double	   *at = rows + (size_t) i * layout->words;

			if (at[dperm_layout_label(layout)] == 0)
				encode_row(&state, &feed, 0, layout->weighted ? at[layout->words - 1] : 1, at);
		}
		sum_rows(layout, loss, order, rows, count, &sums[1]);
		for (size_t j = 0; j < sums[0].count; j++)
			CHECK(sums[0].numbers[j] == sums[1].numbers[j]);
		free(rows);
	}
	CHECK(kinds[0] > 100 && kinds[1] > 100 && kinds[2] > 100);
}

/* Opposite labels at opposite weights: the same losses, opposite gradients, bit for bit. */
TEST(turns_with_the_weights)
{
	TestRandom	state = 602;

	for (int round = 0; round < 2000; round++)
	{
		DpermFeed	feed;
		const DpermLayout *layout = any_feed(&state, &feed);
		DpermLoss	loss = any_loss(&state);
		DpermPassOrder order = orders[round % 4];
		int			count = 1 + test_below(&state, round % 10 ? 40 : ROWS);
		double	   *rows = malloc(sizeof(double) * layout->words * count);

		for (int i = 0; i < count; i++)
			encode_row(&state, &feed, test_below(&state, 3) - 1, test_uniform(&state), rows + (size_t) i * layout->words);
		sum_rows(layout, loss, order, rows, count, &sums[0]);
		for (int i = 0; i < count; i++)
			rows[(size_t) i * layout->words + dperm_layout_label(layout)] *= -1;
		for (int j = 0; j < layout->dim; j++)
			weights[j] = -weights[j];
		sum_rows(layout, loss, order, rows, count, &sums[1]);
		for (size_t j = 0; j < sums[0].count; j++)
			CHECK(sums[1].numbers[j] == (j >= 2 && j < 2 + 2 * (size_t) layout->dim ? -1 : 1) * sums[0].numbers[j]);
		free(rows);
	}
}

/* A vector and its label, against the vector y x with the intercept in it: bit for bit. */
TEST(agrees_with_signed_vectors)
{
	TestRandom	state = 603;

	for (int round = 0; round < 2000; round++)
	{
		bool		intercept = test_below(&state, 2);
		DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = 1 + test_below(&state, SAMPLE_DIM_MAX - 1), .norm = 1};
		DpermEncoder enc = {.block_count = 1, .blocks = &block, .intercept = intercept};
		DpermLayout layout = dperm_layout_make(&enc, false);
		DpermLayout plain = dperm_layout_dense(layout.dim);
		DpermLoss	loss = any_loss(&state);
		DpermPassOrder order = orders[round % 4];
		int			count = 1 + test_below(&state, ROWS);
		double	   *rows = malloc(sizeof(double) * layout.words * count);
		double	   *vectors = malloc(sizeof(double) * plain.words * count);
		double		raw[SAMPLE_DIM_MAX];

		CHECK(layout.words == block.count + 1);
		random_row(&state, layout.dim, weights);
		for (int i = 0; i < count; i++)
		{
			random_row(&state, block.count, raw);
			dperm_layout_encode(&layout, &enc, &(DpermValue) {.present = true, .vector = raw},
								test_below(&state, 2) ? 1 : -1, 1, rows + (size_t) i * layout.words);
			decode_row(&layout, rows + (size_t) i * layout.words, vectors + (size_t) i * plain.words);
		}
		sum_rows(&layout, loss, order, rows, count, &sums[0]);
		sum_rows(&plain, loss, order, vectors, count, &sums[1]);
		for (size_t j = 0; j < sums[0].count; j++)
			CHECK(sums[0].numbers[j] == sums[1].numbers[j]);
		free(rows);
		free(vectors);
	}
}

int
main(void)
{
	return test_main();
}
