/*
 * encoder_form.c: the names in an encoder, and its binary form.
 *
 * The binary form is canonical: encoding a decoded form gives the same bytes.
 * All numbers are big-endian.
 *
 * 	header		number of blocks, 32 bits; intercept, 8 bits, 0 or 1; kernel, 8 bits
 * 	kernel		if there is one: gamma; features, 32 bits; seed, 64 bits
 * 	each block	kind, 8 bits; column, a text; then, by its kind,
 * 				low and high, scale, 8 bits, 1 if it is logarithmic, and knots |
 * 				nothing |
 * 				number of categories, 32 bits, and as many texts |
 * 				dimension, 32 bits, and norm |
 * 				dimension and number of ranges, 32 bits each, and low and
 * 				high of as many: one range if it is that of all elements, else
 * 				one for each; and knots, of each element
 * 	knots		their number (1: a straight line) and that of listed ones, 32
 * 				bits each, and their positions: none if they are at even
 * 				distances, else all
 * 	a text		length, 32 bits, and the bytes
 */
#include "core/encode/encoder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/encode/knots.h"

#define HEADER_SIZE 6
#define KERNEL_SIZE 20
#define BLOCK_MIN 5				/* kind and the length of its column */
#define TEXT_MIN 4
#define RANGE_SIZE 16

/* The order of texts, for qsort: by their bytes. */
static int
compare_texts(const void *a, const void *b)
{
	const DpermText *x = *(const DpermText *const *) a;
	const DpermText *y = *(const DpermText *const *) b;
	int			order = x->len != y->len ? (x->len < y->len ? -1 : 1) : 0;

	return order != 0 || x->len == 0 ? order : memcmp(x->bytes, y->bytes, (size_t) x->len);
}

/*
 * Are two of count <= DPERM_DIM_MAX texts the same? They are in an array whose
 * elements are stride bytes long.
 */
static bool
has_doubles(const DpermText *first, size_t stride, int count)
{
	const DpermText *sorted[DPERM_DIM_MAX];

	for (int i = 0; i < count; i++)
		sorted[i] = (const DpermText *) ((const char *) first + stride * (size_t) i);
	qsort(sorted, (size_t) count, sizeof(sorted[0]), compare_texts);
	for (int i = 1; i < count; i++)
		if (dperm_block_same_text(sorted[i - 1], sorted[i]))
			return true;
	return false;
}

static bool
has_zero_byte(const DpermText *text)
{
	return text->len > 0 && memchr(text->bytes, 0, (size_t) text->len) != NULL;
}

/* What is wrong with the names of columns and categories, or NULL. */
const char *
dperm_encoder_form_names_fault(const DpermEncoder *enc)
{
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];

		if (block->column.len == 0 &&
			!(enc->block_count == 1 && block->kind == DPERM_BLOCK_VECTOR))
			return "a feature has no column";
		if (has_zero_byte(&block->column))
			return "the name of a column contains a zero byte";
		if (block->kind != DPERM_BLOCK_CATEGORY)
			continue;
		for (int k = 0; k < block->count; k++)
			if (has_zero_byte(&block->categories[k]))
				return "a category contains a zero byte";
		if (has_doubles(block->categories, sizeof(DpermText), block->count))
			return "a category occurs twice";
	}
	if (has_doubles(&enc->blocks[0].column, sizeof(DpermBlock), enc->block_count))
		return "a column occurs twice";
	return NULL;
}

/* Bytes of a text. */
static size_t
text_size(const DpermText *text)
{
	return TEXT_MIN + (size_t) text->len;
}

/* How many ranges of a box the form has: one if all are the same. */
static int
range_count(const DpermBlock *block)
{
	return dperm_encoder_box_is_cube(block) ? 1 : dperm_block_elements(block);
}

/* Bytes of the knots of a block. */
static size_t
knots_size(const DpermBlock *block)
{
	return 8 + (block->knots ? sizeof(double) * (size_t) dperm_block_knots(block) : 0);
}

/* Bytes of a block's domain: what it has besides its kind and column. */
static size_t
domain_size(const DpermBlock *block)
{
	size_t		size = 4;

	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return RANGE_SIZE + 1 + knots_size(block);
		case DPERM_BLOCK_FLAG:
			return 0;
		case DPERM_BLOCK_CATEGORY:
			for (int i = 0; i < block->count; i++)
				size += text_size(&block->categories[i]);
			return size;
		case DPERM_BLOCK_VECTOR:
			return 12;
		case DPERM_BLOCK_BOX:
			return 8 + RANGE_SIZE * (size_t) range_count(block) + knots_size(block);
	}
	return 0;
}

/* Bytes of the binary form. */
size_t
dperm_encoder_form_size(const DpermEncoder *enc)
{
	size_t		size = HEADER_SIZE;

	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
		size += KERNEL_SIZE;
	for (int i = 0; i < enc->block_count; i++)
		size += 1 + text_size(&enc->blocks[i].column) + domain_size(&enc->blocks[i]);
	return size;
}

static unsigned char *
write_text(unsigned char *at, const DpermText *text)
{
	at = dperm_bytes_put_int(at, (uint64_t) text->len, 4);
	return dperm_bytes_put(at, text->bytes, (size_t) text->len);
}

static unsigned char *
write_knots(unsigned char *at, const DpermBlock *block)
{
	int			count = dperm_block_knots(block);

	at = dperm_bytes_put_int(at, (uint64_t) count, 4);
	at = dperm_bytes_put_int(at, (uint64_t) (block->knots ? count : 0), 4);
	for (int i = 0; block->knots && i < count; i++)
		at = dperm_bytes_put_double(at, block->knots[i]);
	return at;
}

static unsigned char *
put_block(unsigned char *at, const DpermBlock *block)
{
	int			ranges;

	at = dperm_bytes_put_int(at, (uint64_t) block->kind, 1);
	at = write_text(at, &block->column);
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			at = dperm_bytes_put_double(at, block->low);
			at = dperm_bytes_put_double(at, block->high);
			at = dperm_bytes_put_int(at, block->log ? 1 : 0, 1);
			at = write_knots(at, block);
			break;
		case DPERM_BLOCK_FLAG:
			break;
		case DPERM_BLOCK_CATEGORY:
			at = dperm_bytes_put_int(at, (uint64_t) block->count, 4);
			for (int i = 0; i < block->count; i++)
				at = write_text(at, &block->categories[i]);
			break;
		case DPERM_BLOCK_VECTOR:
			at = dperm_bytes_put_int(at, (uint64_t) block->count, 4);
			at = dperm_bytes_put_double(at, block->norm);
			break;
		case DPERM_BLOCK_BOX:
			at = dperm_bytes_put_int(at, (uint64_t) dperm_block_elements(block), 4);
			ranges = range_count(block);
			at = dperm_bytes_put_int(at, (uint64_t) ranges, 4);
			for (int i = 0; i < ranges; i++)
			{
				at = dperm_bytes_put_double(at, dperm_block_low(block, i));
				at = dperm_bytes_put_double(at, dperm_block_high(block, i));
			}
			at = write_knots(at, block);
			break;
	}
	return at;
}

/* Write the binary form. */
void
dperm_encoder_form_write(const DpermEncoder *enc, unsigned char *out)
{
	const DpermKernel *kernel = &enc->kernel;

	out = dperm_bytes_put_int(out, (uint64_t) enc->block_count, 4);
	out = dperm_bytes_put_int(out, enc->intercept ? 1 : 0, 1);
	out = dperm_bytes_put_int(out, (uint64_t) kernel->kind, 1);
	if (kernel->kind != DPERM_KERNEL_LINEAR)
	{
		out = dperm_bytes_put_double(out, kernel->gamma);
		out = dperm_bytes_put_int(out, (uint64_t) kernel->features, 4);
		out = dperm_bytes_put_int(out, (uint64_t) kernel->seed, 8);
	}
	for (int i = 0; i < enc->block_count; i++)
		out = put_block(out, &enc->blocks[i]);
}

/*
 * Read a count from 1 to DPERM_DIM_MAX, of items of at least this many bytes;
 * otherwise 0, and the reader is bad.
 */
static int
get_count(DpermBytes *r, size_t least)
{
	uint64_t	count = dperm_bytes_get_int(r, 4);

	if (count < 1 || count > DPERM_DIM_MAX || count * least > r->left)
		r->bad = true;
	return r->bad ? 0 : (int) count;
}

/* A text, in place. */
static DpermText
get_text(DpermBytes *r)
{
	uint64_t	len = dperm_bytes_get_int(r, 4);
	DpermText	text = {NULL, 0};

	if (len > INT_MAX)
		r->bad = true;
	text.bytes = (const char *) dperm_bytes_get(r, (size_t) len);
	if (text.bytes)
		text.len = (int) len;
	return text;
}

/*
 * The categories of a block; their texts stay in place. False if out of memory.
 */
static bool
get_categories(DpermBytes *r, DpermArena *arena, DpermBlock *block)
{
	DpermText  *categories;

	block->count = get_count(r, TEXT_MIN);
	categories = dperm_arena_take(arena, sizeof(DpermText) * (size_t) block->count);
	if (categories == NULL)
		return false;
	for (int i = 0; i < block->count; i++)
		categories[i] = get_text(r);
	block->categories = categories;
	return true;
}

/*
 * The ranges of a box: one for all elements, or one for each if they differ.
 */
static bool
get_ranges(DpermBytes *r, DpermArena *arena, DpermBlock *block)
{
	int			ranges;
	double	   *bounds;

	block->count = get_count(r, 0);
	ranges = get_count(r, RANGE_SIZE);
	bounds = dperm_arena_take(arena, sizeof(double) * 2 * (size_t) ranges);
	if (bounds == NULL)
		return false;
	for (int i = 0; i < 2 * ranges; i++)
		bounds[i] = dperm_bytes_get_double(r);
	if (r->bad)
		return true;
	if (ranges == 1)
	{
		block->low = bounds[0];
		block->high = bounds[1];
		return true;
	}
	block->bounds = bounds;
	if (ranges != block->count || dperm_encoder_box_is_cube(block))
		r->bad = true;
	return true;
}

/* The knots of a number or of each element, of which a list has to be needed. */
static bool
get_knots(DpermBytes *r, DpermArena *arena, DpermBlock *block)
{
	int			count = get_count(r, 0);
	uint64_t	listed = dperm_bytes_get_int(r, 4);
	double	   *knots;

	if (block->kind == DPERM_BLOCK_BOX)
	{
		block->each = count > 1 ? count : 0;
		block->count *= count;
	}
	else
		block->count = count;
	if (listed == 0)
		return true;
	if (listed < 2 || listed != (uint64_t) count || listed * sizeof(double) > r->left)
	{
		r->bad = true;
		return true;
	}
	knots = dperm_arena_take(arena, sizeof(double) * (size_t) listed);
	if (knots == NULL)
		return false;
	for (int i = 0; i < count; i++)
		knots[i] = dperm_bytes_get_double(r);
	block->knots = knots;
	if (dperm_knots_are_even(block))
		r->bad = true;
	return true;
}

/* Is the scale logarithmic? */
static bool
get_scale(DpermBytes *r)
{
	uint64_t	scale = dperm_bytes_get_int(r, 1);

	r->bad |= scale > 1;
	return scale == 1;
}

/* One block; false if out of memory. */
static bool
get_block(DpermBytes *r, DpermArena *arena, DpermBlock *block)
{
	memset(block, 0, sizeof(*block));
	block->kind = (DpermBlockKind) dperm_bytes_get_int(r, 1);
	block->column = get_text(r);
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			block->low = dperm_bytes_get_double(r);
			block->high = dperm_bytes_get_double(r);
			block->log = get_scale(r);
			return get_knots(r, arena, block);
		case DPERM_BLOCK_FLAG:
			block->count = 1;
			return true;
		case DPERM_BLOCK_CATEGORY:
			return get_categories(r, arena, block);
		case DPERM_BLOCK_VECTOR:
			block->count = get_count(r, 0);
			block->norm = dperm_bytes_get_double(r);
			return true;
		case DPERM_BLOCK_BOX:
			return get_ranges(r, arena, block) && get_knots(r, arena, block);
	}
	return true;				/* unknown: dperm_encoder_fault reports it */
}

/* Kernel and its parameters. */
static void
get_kernel(DpermBytes *r, DpermKernel *kernel)
{
	uint64_t	features;

	kernel->kind = (DpermKernelKind) dperm_bytes_get_int(r, 1);
	if (kernel->kind == DPERM_KERNEL_LINEAR)
		return;
	kernel->gamma = dperm_bytes_get_double(r);
	features = dperm_bytes_get_int(r, 4);
	kernel->features = features > DPERM_DIM_MAX ? 0 : (int) features;
	kernel->seed = dperm_bytes_get_signed(r);
}

/*
 * Read a binary form, trusting none of it. The arena gets a copy of it, which
 * the texts point into.
 */
const char *
dperm_encoder_form_read(const unsigned char *in, size_t len, DpermArena *arena,
						  DpermEncoder *out)
{
	static const char *const no_memory = "there is not enough memory for the features";
	static const char *const bad_form = "the features are not in canonical form";
	unsigned char *copy = dperm_arena_take(arena, len);
	DpermBytes r = {copy, len, false};
	DpermEncoder enc;
	DpermBlock *blocks;
	const char *fault;
	uint64_t	intercept;

	if (copy == NULL)
		return no_memory;
	dperm_bytes_put(copy, in, len);

	memset(&enc, 0, sizeof(enc));
	enc.block_count = get_count(&r, BLOCK_MIN);
	intercept = dperm_bytes_get_int(&r, 1);
	enc.intercept = intercept == 1;
	get_kernel(&r, &enc.kernel);
	if (r.bad || intercept > 1)
		return bad_form;
	blocks = dperm_arena_take(arena, sizeof(DpermBlock) * (size_t) enc.block_count);
	if (blocks == NULL)
		return no_memory;
	for (int i = 0; i < enc.block_count && !r.bad; i++)
		if (!get_block(&r, arena, &blocks[i]))
			return no_memory;
	if (r.bad || r.left > 0)
		return bad_form;
	enc.blocks = blocks;

	fault = dperm_encoder_fault(&enc);
	if (fault == NULL)
		fault = dperm_encoder_form_names_fault(&enc);
	if (fault == NULL)
		*out = enc;
	return fault;
}
