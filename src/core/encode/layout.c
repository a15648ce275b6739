/*
 * layout.c: the layout of an encoded row in memory, and how rows are encoded into it.
 * Trusted.
 */
#include "core/encode/layout.h"

#include <math.h>
#include <string.h>

#include "core/base/host.h"
#include "core/encode/encoder.h"

/* Several codes share a word. */
#define CODES_PER_WORD (sizeof(double) / sizeof(uint16_t))

/* The code of no category: more than any coordinate. */
#define NO_CODE 0x6000

/* The layout of plain vectors. */
DpermLayout
dperm_layout_dense(int dim)
{
	static const DpermPosition none[1]; /* no positions, in memory that can be copied */

	return (DpermLayout) {
		.dim = dim, .numbers = dim, .dense = dim, .first_code = dim, .words = dim,
		.positions = none
	};
}

/* Number the coordinates: part by part, each in the order of the model. */
static void
place_coordinates(const DpermEncoder *enc, bool open, DpermLayout *layout, int *places,
				  int *starts)
{
	int			at = 0;

	for (int part = 0; part < DPERM_PARTS; part++)
	{
		int			trained = 0;

		for (int i = 0; i < enc->block_count; trained += enc->blocks[i++].count)
		{
			const DpermBlock *block = &enc->blocks[i];

			if (dperm_block_part(block) != (DpermPart) part)
				continue;
			layout->codes += part == DPERM_PART_CODE;
			layout->curves += part == DPERM_PART_CURVE ? dperm_block_elements(block) : 0;
			starts[i] = at;
			for (int j = 0; j < block->count; j++)
				places[at++] = trained + j;
		}
		if (part == (open ? DPERM_PART_PLAIN : DPERM_PART_LINE))
			layout->numbers = at;
		if (part != DPERM_PART_LINE)
			continue;
		layout->dense = at;
		if (enc->intercept)
			places[at++] = layout->dim - 1;
		layout->first_code = at;
	}
}

/*
 * Give positions their words, which is where their blocks start. The words are in the order
 * of the model, whatever the knots are, and the table of them begins with curves.
 */
static void
place_positions(const DpermEncoder *enc, bool open, const DpermLayout *layout,
				DpermPosition *positions, int *starts)
{
	int			word = layout->numbers;
	DpermPosition *next[] = {positions, positions + layout->curves};

	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		int			knots = dperm_block_knots(block);
		bool		line = knots == 1;
		int			first = starts[i];

		if (line && !(open && dperm_block_is_number(block)))
			continue;
		starts[i] = word;
		for (int j = 0; j < block->count; j += knots)
			*next[line]++ = (DpermPosition) {knots - 1, first + j, word++};
	}
}

/* The layout for the rows of an encoder. */
DpermLayout
dperm_layout_make(const DpermEncoder *enc, bool weighted)
{
	DpermLayout layout = dperm_layout_dense(dperm_encoder_dim(enc));
	bool		open = dperm_encoder_is_open(enc);

	layout.labelled = true;
	layout.weighted = weighted;
	layout.unit = dperm_encoder_target(enc);
	if (enc->kernel.kind == DPERM_KERNEL_LINEAR)
	{
		size_t		dim = (size_t) layout.dim;
		DpermPosition *positions = dperm_host_alloc(sizeof(DpermPosition) * dim);
		int		   *places = dperm_host_alloc(sizeof(int) * dim);
		int		   *starts = dperm_host_alloc(sizeof(int) * (size_t) enc->block_count);

		place_coordinates(enc, open, &layout, places, starts);
		place_positions(enc, open, &layout, positions, starts);
		layout.positions = positions;
		layout.place = places;
		layout.starts = starts;
	}
	else
		layout.numbers = layout.dense = layout.dim - (enc->intercept ? 1 : 0);
	layout.words = layout.numbers + dperm_layout_positions(&layout) +
		(int) ((layout.codes + CODES_PER_WORD - 1) / CODES_PER_WORD) + (weighted ? 2 : 1);
	return layout;
}

/* Write what follows the coordinates of a row. */
static void
put_label(const DpermLayout *layout, double *row, double label, double weight)
{
	row[dperm_layout_label(layout)] = label;
	if (layout->weighted)
		row[layout->words - 1] = weight;	/* or its owner */
}

/* Encode a row: each block at its place in the layout. */
void
dperm_layout_encode(const DpermLayout *layout, const DpermEncoder *enc,
					const DpermValue *values, double label, double weight, double *row)
{
	uint16_t   *code = (uint16_t *) (row + layout->numbers + dperm_layout_positions(layout));

	put_label(layout, row, label, weight);
	if (layout->codes > 0)
		row[dperm_layout_label(layout) - 1] = 0;	/* the padding after the codes */
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		const DpermValue *value = &values[i];
		int			start = layout->starts[i];

		if (block->kind == DPERM_BLOCK_CATEGORY)
			*code++ = (uint16_t) (value->present && value->category >= 0 &&
								  value->category < block->count ?
								  start - layout->first_code + value->category : NO_CODE);
		else if (start < layout->numbers)
			dperm_encoder_encode_block(block, value, layout->unit, row + start);
		else
			for (int k = dperm_block_elements(block); k-- > 0;)
				row[start + k] = dperm_encoder_position(block, value, k);
	}
}

typedef int32_t IntPair __attribute__((vector_size(8)));
typedef int16_t Codes __attribute__((vector_size(8)));

/* The coordinates of one word of categories of each row, dim for none. */
static void
decode_categories(const DpermLayout *layout, const double *restrict words, size_t count,
				  size_t stride, uint16_t *restrict coordinates)
{
	int16_t		first = (int16_t) layout->first_code;
	int16_t		none = (int16_t) layout->dim;
	size_t		apart = dperm_layout_codes_apart(layout);

	for (size_t i = 0; i < count; i++, words += stride, coordinates += apart)
	{
		Codes		four;
		Codes		known;

		memcpy(&four, words, sizeof(four));
		four += first;
		known = four < none;
		four = (four & known) | (none & ~known);
		memcpy(coordinates, &four, sizeof(four));
	}
}

/*
 * Two curves of each row, or the last one twice, as dperm_knots_point() has them. Without
 * a number the place is below 0, and the coordinate dim.
 */
static void
decode_curves(const DpermLayout *layout, int k, const double *restrict rows, size_t count,
			  size_t stride, int32_t *restrict coordinates, double *restrict entries)
{
	double		unit = layout->unit;
	const DpermPosition *a = layout->positions + k;
	const DpermPosition *b = k + 1 < layout->curves ? a + 1 : a;
	const double *restrict first = rows + a->word;
	const double *restrict second = rows + b->word;
	DpermPair	most = {a->steps, b->steps};
	DpermPair	last = most - 0.5;
	IntPair		none = {layout->dim, layout->dim};
	IntPair		start = {a->first, b->first};
	size_t		apart = dperm_layout_curves_apart(layout);
	/* the processor does not fetch long rows by itself, if they are read column by column */
	bool		fetches = k % 8 == 0 && layout->curves > 16;

	for (size_t i = 0; i < count; i++, first += stride, second += stride)
	{
		DpermPair	way = (DpermPair) {*first, *second} * most;
		IntPair		place = __builtin_convertvector(dperm_lesser(way, last), IntPair);
		DpermPair	entry = unit - unit * (way - __builtin_convertvector(place, DpermPair));
		DpermPair	next = unit - entry;
		IntPair		missing = place < 0;

		if (fetches)
			__builtin_prefetch(first + count * stride);
		place = ((place + start) & ~missing) | (none & missing);
		memcpy(coordinates, &place, sizeof(place));
		dperm_put_pair((DpermPair) {entry[0], next[0]}, entries);
		dperm_put_pair((DpermPair) {entry[1], next[1]}, entries + 2);
		coordinates += apart;
		entries += 2 * apart;
	}
}

/* Decode rows, column by column: what is the same for a column is loaded once. */
void
dperm_layout_decode(const DpermLayout *layout, const double *rows, int count, size_t stride,
					double *dense, uint16_t *codes, int32_t *places, double *entries)
{
	const DpermPosition *lines = layout->positions + layout->curves;
	const DpermPosition *end = layout->positions + dperm_layout_positions(layout);
	const double *words = rows + layout->numbers + dperm_layout_positions(layout);

	for (int k = 0; k < layout->curves; k += 2)
		decode_curves(layout, k, rows, (size_t) count, stride, places + k, entries + 2 * k);
	for (size_t k = 0; k < (size_t) layout->codes; k += CODES_PER_WORD)
		decode_categories(layout, words++, (size_t) count, stride, codes + k);
	if (lines == end)
		return;
	for (int i = 0; i < count; i++, rows += stride, dense += layout->dense)
	{
		memcpy(dense, rows, sizeof(double) * (size_t) layout->numbers);
		for (const DpermPosition *line = lines; line < end; line++)
			dense[line->first] = dperm_knots_line(rows[line->word], layout->unit);
	}
}

/* Restore trained weights to the order of the model. */
void
dperm_layout_restore(const DpermLayout *layout, int blocks, const double *weights, double *out)
{
	for (int k = 0; k < blocks; k++, out += layout->dim)
		for (int i = 0; i < layout->dim; i++)
			out[layout->place ? layout->place[i] : i] = weights[i * blocks + k];
}

/* Initialise a feed. */
void
dperm_feed_init(DpermFeed *feed, const DpermEncoder *encoder, bool weighted,
				const DpermFeed *like)
{
	int			linear = dperm_encoder_linear_dim(encoder);
	const DpermKernel *kernel = &encoder->kernel;
	const DpermKernel *other = like ? &like->encoder->kernel : NULL;
	size_t		waiting;

	memset(feed, 0, sizeof(*feed));
	feed->encoder = encoder;
	feed->layout = dperm_layout_make(encoder, weighted);
	feed->linear = linear;
	if (kernel->kind == DPERM_KERNEL_LINEAR)
		return;
	feed->frequencies = other && like->linear == linear && other->kind == kernel->kind &&
		other->gamma == kernel->gamma && other->features == kernel->features &&
		other->seed == kernel->seed ? like->frequencies : dperm_fourier_make(kernel, linear);
	/* a row has a label, and perhaps a weight */
	waiting = (size_t) (linear + dperm_encoder_dim(encoder) + 2);
	feed->blocks = dperm_host_alloc(sizeof(double) * DPERM_FEED_ROWS * waiting);
	feed->mapped = feed->blocks + DPERM_FEED_ROWS * (size_t) linear;
}

/* Add a row to those that wait. */
bool
dperm_feed_wait(DpermFeed *feed, const DpermValue *values, double label, double weight)
{
	size_t		place = (size_t) feed->waiting++;

	dperm_encoder_encode_inputs(feed->encoder, values, feed->blocks + place * feed->linear);
	put_label(&feed->layout, feed->mapped + place * feed->layout.words, label, weight);
	return feed->waiting == DPERM_FEED_ROWS;
}

/* Encode the rows that wait. */
double *
dperm_feed_map(DpermFeed *feed)
{
	const DpermLayout *layout = &feed->layout;
	size_t		left = (size_t) (DPERM_FEED_ROWS - feed->waiting);

	memset(feed->blocks + (size_t) feed->waiting * feed->linear, 0,
		   sizeof(double) * left * feed->linear);
	dperm_fourier_map_rows(&feed->encoder->kernel, feed->frequencies, feed->linear,
						   DPERM_FEED_ROWS, feed->blocks, layout->unit,
						   layout->words - layout->dense, feed->mapped);
	feed->waiting = 0;
	return feed->mapped;
}
