/*
 * test_bend.c: rows that were read as straight lines, and bent once the number
 * of knots is known, against rows that were encoded over these knots at once.
 */
#include "unit/coded.h"

#include "core/encode/bend.h"

#define KNOTS_MAX 16
#define DIM_MAX (SAMPLE_BLOCKS * KNOTS_MAX + 1)

static SampleEncoder sampled;
static SampleRow row;

/* What a sampled encoder becomes: some of its straight numbers are open, and have knots later. */
typedef struct Bent
{
	DpermEncoder lines;
	DpermEncoder curves;
	DpermBlock	blocks[SAMPLE_BLOCKS];
	int			knots;
	int			open;
	int			line_places[DIM_MAX];
	int			curve_places[DIM_MAX];
	DpermBend	bend;
} Bent;

static void
sample_bent(TestRandom *state, Bent *bent)
{
	do
		bent->lines = *sample_encoder(state, &sampled);
	while (bent->lines.kernel.kind != DPERM_KERNEL_LINEAR);
	bent->open = 0;
	for (int i = 0; i < bent->lines.block_count; i++)
	{
		DpermBlock *block = &sampled.blocks[i];

		block->open = dperm_block_is_number(block) && block->count == 1 && test_below(state, 4) > 0;
		bent->open += block->open;
	}
	bent->knots = 2 + test_below(state, KNOTS_MAX - 1);
	bent->curves = bent->lines;
	bent->curves.blocks = bent->blocks;
	dperm_bend_blocks(&bent->lines, bent->knots, bent->blocks);
	bent->bend = (DpermBend) {
		.lines = &bent->lines, .curves = &bent->curves,
		.from = dperm_layout_make(&bent->lines, bent->line_places),
		.to = dperm_layout_make(&bent->curves, bent->curve_places)
	};
	if (test_below(state, 2))
	{
		dperm_layout_weigh(&bent->bend.from);
		dperm_layout_weigh(&bent->bend.to);
	}
	CHECK(dperm_bend_is_open(&bent->lines) == (bent->open > 0));
	CHECK(!dperm_bend_is_open(&bent->curves));
	CHECK(dperm_encoder_fault(&bent->curves) == NULL);
	CHECK(dperm_bend_dim(&bent->lines, 1) == dperm_encoder_dim(&bent->lines));
	CHECK(dperm_bend_dim(&bent->lines, bent->knots) == dperm_encoder_dim(&bent->curves));
}

/* Values of a row, often at the knots. */
static void
sample_values(TestRandom *state, const Bent *bent)
{
	sample_row(state, &bent->lines, &row);
	for (int i = 0; i < bent->lines.block_count; i++)
		if (bent->lines.blocks[i].open)
			row.values[i].number = sample_number(state, &bent->blocks[i]);
}

/* A row in memory that ends where the row ends, with other content before it is written. */
static double *
encode(const DpermLayout *layout, const DpermEncoder *enc, int sign, double weight)
{
	double	   *words = malloc(sizeof(double) * layout->words);

	memset(words, 0x5a, sizeof(double) * layout->words);
	dperm_layout_encode(layout, enc, row.values, sign, words);
	if (layout->weighted)
		words[layout->words - 1] = weight;
	return words;
}

/* Bit for bit, values out of bounds, NULL and NaN included. */
TEST(bends_into_the_rows_of_curves)
{
	TestRandom	state = 31;
	int			open = 0;
	Bent		bent;

	for (int round = 0; round < 100000; round++)
	{
		const DpermLayout *from = &bent.bend.from;
		const DpermLayout *to = &bent.bend.to;
		int			sign = test_below(&state, 3) - 1;
		double		weight = test_below(&state, 100) - 1;
		double	   *line,
				   *curve,
				   *result;

		sample_bent(&state, &bent);
		if (bent.open == 0)
			continue;
		open++;
		CHECK(from->words == to->words);
		sample_values(&state, &bent);
		line = encode(from, &bent.lines, sign, weight);
		curve = encode(to, &bent.curves, sign, weight);
		result = malloc(sizeof(double) * to->words);
		memset(result, 0xa5, sizeof(double) * to->words);
		dperm_bend_row(&bent.bend, line, result);
		CHECK(memcmp(result, curve, sizeof(double) * to->words) == 0);
		free(line);
		free(curve);
		free(result);
	}
	CHECK(open > 20000);
}

/* Numbers that stay straight are where they always were; only the end of the row has more room. */
TEST(stays_straight)
{
	TestRandom	state = 33;
	Bent		bent;

	for (int round = 0; round < 30000; round++)
	{
		const DpermLayout *from = &bent.bend.from;
		int			places[DIM_MAX];
		DpermLayout plain;
		int			sign = test_below(&state, 3) - 1;
		double	   *open,
				   *closed;

		sample_bent(&state, &bent);
		sample_row(&state, &bent.lines, &row);
		dperm_bend_blocks(&bent.lines, 1, bent.blocks);
		CHECK(dperm_encoder_dim(&bent.curves) == dperm_encoder_dim(&bent.lines));
		plain = dperm_layout_make(&bent.curves, places);
		open = encode(from, &bent.lines, sign, 1);
		closed = encode(&plain, &bent.curves, sign, 1);
		CHECK(plain.dim == from->dim && plain.dense == from->dense && plain.codes == from->codes && plain.curves == from->curves);
		CHECK((plain.place == NULL) == (from->place == NULL));
		CHECK(memcmp(open, closed, sizeof(double) * (plain.dense + plain.curves)) == 0);
		CHECK(memcmp(dperm_row_codes(from, open), dperm_row_codes(&plain, closed), sizeof(uint16_t) * dperm_layout_codes(&plain)) == 0);
		CHECK(from->words - from->weighted - plain.words <= 1 + bent.open / 4);
		free(open);
		free(closed);
	}
}

/* However many numbers may become curves, a row has the room that passes give it. */
TEST(has_room)
{
	DpermBlock	blocks[400];
	int			places[401];

	for (int count = 1; count <= 400; count++)
	{
		DpermEncoder enc = {.blocks = blocks, .block_count = count, .intercept = count % 2 == 0};
		DpermLayout layout;

		blocks[count - 1] = (DpermBlock) {.kind = DPERM_BLOCK_NUMBER, .count = 1, .low = 0, .high = 1, .open = true};
		layout = dperm_layout_make(&enc, places);
		dperm_layout_weigh(&layout);
		CHECK(layout.open == count && layout.words <= DPERM_LAYOUT_WORDS_MAX(layout.dim));
	}
}
