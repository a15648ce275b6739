/*
 * sample_encoder.h: valid encoders and rows for them, including hostile ones.
 */
#ifndef DPERM_SAMPLE_ENCODER_H
#define DPERM_SAMPLE_ENCODER_H

#include <float.h>
#include <stdlib.h>

#include "host.h"
#include "unit/test.h"

#include "core/encode/encoder.h"

#define SAMPLE_DIM_MAX 40
#define SAMPLE_BLOCKS 6
#define SAMPLE_COUNT 6			/* coordinates of one block */
#define SAMPLE_TEXT 12

/* What a sampled encoder points to. */
typedef struct SampleEncoder
{
	DpermEncoder encoder;
	DpermBlock	blocks[SAMPLE_BLOCKS];
	DpermText	categories[SAMPLE_BLOCKS][SAMPLE_COUNT];
	double		bounds[SAMPLE_BLOCKS][2 * SAMPLE_COUNT];
	double		knots[SAMPLE_BLOCKS][SAMPLE_COUNT];
	char		names[SAMPLE_BLOCKS][SAMPLE_TEXT];
	char		texts[SAMPLE_BLOCKS][SAMPLE_COUNT][SAMPLE_TEXT];
} SampleEncoder;

/* What a sampled row points to. */
typedef struct SampleRow
{
	DpermValue	values[SAMPLE_BLOCKS];
	double		vectors[SAMPLE_BLOCKS][SAMPLE_COUNT];
} SampleRow;

/* A copy that ends where its memory ends, for the sanitizer. */
static inline DpermText
sample_copy(const void *bytes, size_t len)
{
	char	   *copy = test_host_keep(len);

	if (len > 0)
		memcpy(copy, bytes, len);
	return (DpermText) {copy, (int) len};
}

/* What a reader may allocate for an input of this length, whatever is in it. */
#define SAMPLE_ALLOCATED(len) (64 * (size_t) (len) + 100000)

/* A literal as a text. */
static inline DpermText
sample_literal(const char *text)
{
	return (DpermText) {text, (int) strlen(text)};
}

/* A finite double of any bits. */
static inline double
sample_finite(TestRandom *state)
{
	double		x;

	do
	{
		uint64_t	bits = test_random(state);

		memcpy(&x, &bits, sizeof(x));
	} while (!isfinite(x));
	return x;
}

/* A positive double, over many powers of ten. */
static inline double
sample_positive(TestRandom *state)
{
	return (0.1 + test_uniform(state)) * pow(10.0, test_below(state, 40) - 20);
}

/*
 * A text that is different for each number: bytes that need escapes, then the
 * number.
 */
static inline DpermText
sample_text(TestRandom *state, int number, char *room)
{
	static const char bytes[] = "\"\\/{}[]:,\n\t\r\b\f\x01\x1f\x7f \x80\xc3\xa4\xff" "aZ09_.'$u";
	int			len = test_below(state, SAMPLE_TEXT - 2);

	for (int i = 0; i < len; i++)
		room[i] = bytes[test_below(state, sizeof(bytes) - 1)];
	room[len++] = (char) ('A' + number);
	return (DpermText) {room, len};
}

/* Bounds of a number: small, huge, tiny, or next to each other. */
static inline void
sample_bounds(TestRandom *state, DpermBlock *block)
{
	do
	{
		switch (test_below(state, 4))
		{
			case 0:
				block->low = test_below(state, 200) - 100;
				block->high = block->low + 1 + test_below(state, 200);
				break;
			case 1:
				block->low = sample_finite(state);
				block->high = sample_finite(state);
				break;
			case 2:
				block->low = test_below(state, 2) ? -DPERM_BOUND_MAX : -0.0;
				block->high = test_below(state, 2) ? DPERM_BOUND_MAX : 1e-323;
				break;
			default:
				block->low = sample_positive(state);
				block->high = nextafter(block->low, INFINITY);
		}
	} while (!dperm_block_are_bounds(block->low, block->high));
}

/*
 * The ranges of a box: one for all coordinates, or different ones, of which the
 * first two may be the same.
 */
static inline void
sample_ranges(TestRandom *state, DpermBlock *block, double *room)
{
	DpermBlock	one;

	sample_bounds(state, block);
	if (block->count == 1 || test_below(state, 2))
		return;
	do
		for (int k = 0; k < block->count; k++)
		{
			sample_bounds(state, &one);
			room[2 * k] = k == 1 && test_below(state, 2) ? room[0] : one.low;
			room[2 * k + 1] = room[2 * k] == room[0] && k > 0 ? room[1] : one.high;
		}
	while (room[2 * block->count - 2] == room[0] && room[2 * block->count - 1] == room[1]);
	block->low = block->high = 0;
	block->bounds = room;
}

/* What is wrong with a block by itself, or NULL. */
static inline const char *
sample_fault(const DpermBlock *block)
{
	DpermEncoder enc = {.block_count = 1, .blocks = block};

	return dperm_encoder_fault(&enc);
}

/* The knots of a number: none, even ones, or a list of such as are in order. */
static inline void
sample_knots(TestRandom *state, DpermBlock *block, double *room)
{
	int			count = test_below(state, SAMPLE_COUNT) + 1;

	if (test_below(state, 3) == 0 || count == 1)
		return;
	block->count = count;
	if (test_below(state, 2))
		return;
	room[0] = block->low;
	room[count - 1] = block->high;
	for (int k = 1; k < count - 1; k++)
		room[k] = test_below(state, 4) == 0 ? nextafter(room[k - 1], INFINITY) :
			room[k - 1] + test_uniform(state) * (block->high / 2 - room[k - 1] / 2);
	block->knots = room;
	if (sample_fault(block) != NULL)
		block->knots = NULL;
}

/* The scale of a number, if its bounds and knots allow one. */
static inline void
sample_scale(TestRandom *state, DpermBlock *block)
{
	block->log = test_below(state, 2);
	if (sample_fault(block) != NULL)
		block->log = false;
}

/* The knots of the elements of a box: a list only if they have the same bounds. */
static inline void
sample_element_knots(TestRandom *state, DpermBlock *block, double *room)
{
	int			elements = block->count;
	DpermBlock	number;

	if (elements > SAMPLE_COUNT / 2)
		return;
	do
	{
		number = dperm_block_element(block, 0);
		sample_knots(state, &number, room);
	} while (number.count * elements > SAMPLE_COUNT || (number.knots && block->bounds));
	block->each = number.count > 1 ? number.count : 0;
	block->count = elements * number.count;
	block->knots = number.knots;
}

/* A block of any kind. */
static inline void
sample_block(TestRandom *state, SampleEncoder *room, int i)
{
	DpermBlock *block = &room->blocks[i];

	memset(block, 0, sizeof(*block));
	block->kind = (DpermBlockKind) test_below(state, 6);
	block->column = sample_text(state, i, room->names[i]);
	block->count = 1;
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			sample_bounds(state, block);
			sample_knots(state, block, room->knots[i]);
			sample_scale(state, block);
			break;
		case DPERM_BLOCK_FLAG:
			break;
		case DPERM_BLOCK_CATEGORY:
			block->count = 1 + test_below(state, SAMPLE_COUNT);
			for (int k = 0; k < block->count; k++)
				room->categories[i][k] = sample_text(state, k, room->texts[i][k]);
			if (test_below(state, 4) == 0)
				room->categories[i][0].len = 0;
			block->categories = room->categories[i];
			break;
		case DPERM_BLOCK_VECTOR:
			block->count = 1 + test_below(state, SAMPLE_COUNT);
			block->norm = test_below(state, 4) ? sample_positive(state) :
				test_below(state, 2) ? DPERM_NORM_MIN : DPERM_NORM_MAX;
			break;
		case DPERM_BLOCK_BOX:
			block->count = 1 + test_below(state, SAMPLE_COUNT);
			sample_ranges(state, block, room->bounds[i]);
			sample_element_knots(state, block, room->knots[i]);
			break;
	}
}

/*
 * A valid encoder; a quarter of them are a vector without a column, a third
 * have a kernel.
 */
static inline const DpermEncoder *
sample_encoder(TestRandom *state, SampleEncoder *room)
{
	DpermEncoder *enc = &room->encoder;

	memset(enc, 0, sizeof(*enc));
	enc->blocks = room->blocks;
	if (test_below(state, 4) == 0)
	{
		memset(&room->blocks[0], 0, sizeof(DpermBlock));
		room->blocks[0].kind = DPERM_BLOCK_VECTOR;
		room->blocks[0].count = 1 + test_below(state, SAMPLE_COUNT);
		room->blocks[0].norm = sample_positive(state);
		enc->block_count = 1;
	}
	else
	{
		enc->block_count = 1 + test_below(state, SAMPLE_BLOCKS);
		for (int i = 0; i < enc->block_count; i++)
			sample_block(state, room, i);
	}
	enc->intercept = test_below(state, 2);
	if (test_below(state, 3) == 0)
	{
		enc->kernel.kind = (DpermKernelKind) (1 + test_below(state, 4));
		enc->kernel.gamma = pow(10.0, 12 * test_uniform(state) - 6);
		enc->kernel.features = 2 * (1 + test_below(state, SAMPLE_DIM_MAX / 2 - 1));
		enc->kernel.seed = (int64_t) test_random(state);
		for (int i = 0; i < enc->block_count; i++)
			if (dperm_block_knots(&enc->blocks[i]) > 1)
			{
				room->blocks[i].count = dperm_block_elements(&enc->blocks[i]);
				room->blocks[i].each = 0;
				room->blocks[i].knots = NULL;
			}
	}
	return enc;
}

static inline bool
same_text(const DpermText *a, const DpermText *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->bytes, b->bytes, (size_t) a->len) == 0);
}

/* Are all fields equal, texts and all? */
static inline bool
same_encoder(const DpermEncoder *a, const DpermEncoder *b)
{
	bool		same = a->block_count == b->block_count && a->intercept == b->intercept &&
		a->kernel.kind == b->kernel.kind && a->kernel.gamma == b->kernel.gamma &&
		a->kernel.features == b->kernel.features && a->kernel.seed == b->kernel.seed;

	for (int i = 0; same && i < a->block_count; i++)
	{
		const DpermBlock *x = &a->blocks[i];
		const DpermBlock *y = &b->blocks[i];

		same = x->kind == y->kind && same_text(&x->column, &y->column) && x->low == y->low &&
			x->high == y->high && x->log == y->log && x->count == y->count && x->each == y->each && x->norm == y->norm;
		for (int k = 0; same && x->kind == DPERM_BLOCK_CATEGORY && k < x->count; k++)
			same = same_text(&x->categories[k], &y->categories[k]);
		for (int k = 0; same && x->kind == DPERM_BLOCK_BOX && k < dperm_block_elements(x); k++)
			same = dperm_block_element(x, k).low == dperm_block_element(y, k).low &&
				dperm_block_element(x, k).high == dperm_block_element(y, k).high;
		same = same && (x->bounds == NULL) == (y->bounds == NULL) &&
			(x->knots == NULL) == (y->knots == NULL);
		for (int k = 0; same && x->knots && k < dperm_block_knots(x); k++)
			same = x->knots[k] == y->knots[k];
	}
	return same;
}

/*
 * A number that a column may hold: within its bounds, at them, or anything at
 * all.
 */
static inline double
sample_number(TestRandom *state, const DpermBlock *block)
{
	static const double odd[] = {0.0, -0.0, 5e-324, DBL_MAX, -DBL_MAX, NAN, INFINITY, -INFINITY};
	double		knot;

	if (dperm_block_is_number(block) && block->count > 1 && test_below(state, 3) == 0)
	{
		knot = dperm_encoder_knot(block, test_below(state, block->count));
		return test_below(state, 2) ? knot : nextafter(knot, test_below(state, 2) ? INFINITY :
													   -INFINITY);
	}

	switch (test_below(state, 4))
	{
		case 0:
			return block->low + test_uniform(state) * (block->high - block->low);
		case 1:
			return test_below(state, 2) ? block->low : block->high;
		case 2:
			return odd[test_below(state, 8)];
		default:
			return sample_finite(state);
	}
}

/* A vector: near its bound or bounds, of arbitrary bits, or with NaN. */
static inline void
sample_vector(TestRandom *state, const DpermBlock *block, double *out)
{
	int			how = test_below(state, 4);

	if (block->kind == DPERM_BLOCK_BOX)
	{
		for (int k = 0; k < dperm_block_elements(block); k++)
		{
			DpermBlock	number = dperm_block_element(block, k);

			/* often at the bounds, where the norm of the block is largest */
			out[k] = how == 0 ? (test_below(state, 2) ? number.low : number.high) :
				sample_number(state, &number);
		}
		return;
	}
	for (int k = 0; k < block->count; k++)
		out[k] = how == 0 ? sample_finite(state) :
			how == 1 ? sample_number(state, block) :
			(test_uniform(state) - 0.5) * block->norm;
	if (how == 2)
		for (int k = 0; k < block->count; k++)
			out[k] = block->norm * (1 + (test_below(state, 5) - 2) * DBL_EPSILON) /
				sqrt(block->count);
}

/* A row for an encoder. */
static inline const DpermValue *
sample_row(TestRandom *state, const DpermEncoder *enc, SampleRow *row)
{
	memset(row, 0, sizeof(*row));
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		DpermValue *value = &row->values[i];

		value->present = test_below(state, 6) > 0;
		value->category = test_below(state, block->count + 3) - 2;
		value->number = block->kind == DPERM_BLOCK_FLAG ? 2 * test_below(state, 2) - 1 :
			sample_number(state, block);
		sample_vector(state, block, row->vectors[i]);
		value->vector = value->present ? row->vectors[i] : NULL;
	}
	return row->values;
}

#endif							/* DPERM_SAMPLE_ENCODER_H */
