/*
 * encoder_form.c: the names in an encoder, and the description of its forms.
 */
#include "core/encode/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/codec.h"
#include "core/base/core.h"

/* The order of texts, for qsort: by length, then by their bytes. */
static int
compare_texts(const void *a, const void *b)
{
	const DpermText *x = a;
	const DpermText *y = b;

	return x->len != y->len || x->len == 0 ? x->len - y->len :
		memcmp(x->bytes, y->bytes, (size_t) x->len);
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
		DpermText	sorted[DPERM_DIM_MAX];

		if (block->column.len == 0 &&
			!(enc->block_count == 1 && block->kind == DPERM_BLOCK_VECTOR))
			return "a feature has no column";
		if (has_zero_byte(&block->column))
			return "the name of a column contains a zero byte";
		for (int j = 0; j < i; j++)
			if (dperm_block_same_text(&enc->blocks[j].column, &block->column))
				return "a column occurs twice";
		if (block->kind != DPERM_BLOCK_CATEGORY)
			continue;
		memcpy(sorted, block->categories, sizeof(DpermText) * (size_t) block->count);
		qsort(sorted, (size_t) block->count, sizeof(DpermText), compare_texts);
		for (int k = 0; k < block->count; k++)
		{
			if (has_zero_byte(&sorted[k]))
				return "a category contains a zero byte";
			if (k > 0 && dperm_block_same_text(&sorted[k - 1], &sorted[k]))
				return "a category occurs twice";
		}
	}
	return NULL;
}

/*
 * The knots of a number or of each element of a vector, how many of which are
 * returned: none, their number if they are at even distances, else a list.
 */
static int
visit_knots(DpermCodec *c, DpermBlock *block, int count)
{
	if (!dperm_codec_some(c, "knots", count > 1))
		return 1;
	if (dperm_codec_nesting(c, "knots", block->knots ? 1 : 0) == 0)
		return dperm_codec_count(c, "knots", count);
	count = dperm_codec_length(c, "knots", count);
	block->knots = dperm_codec_numbers(c, "knots", block->knots, 0, count);
	return count;
}

static const char *
scale_name(int log)
{
	return log ? "log" : "linear";
}

/* The values of a category. */
static void
visit_categories(DpermCodec *c, DpermBlock *block)
{
	DpermText  *read = NULL;

	block->count = dperm_codec_list(c, "values", block->count);
	if (dperm_codec_reads(c))
		block->categories = read = dperm_host_alloc(sizeof(DpermText) * (size_t) block->count);
	for (int i = 0; i < block->count; i++)
	{
		DpermText	text = block->categories[i];

		dperm_codec_text(c, NULL, &text);
		if (read)
			read[i] = text;
	}
	dperm_codec_end(c);
}

/* A vector whose elements are numbers: their bounds, once if all have the same, and knots. */
static void
visit_box(DpermCodec *c, DpermBlock *block, int elements, int knots)
{
	if (dperm_codec_nesting(c, "range", block->bounds ? 2 : 1) == 2)
		block->bounds = dperm_codec_numbers(c, "range", block->bounds, elements, 2);
	else
		dperm_codec_pair(c, "range", &block->low, &block->high);
	knots = visit_knots(c, block, knots);
	if (!dperm_codec_reads(c))
		return;
	block->kind = DPERM_BLOCK_BOX;
	block->count = elements * knots;
	block->each = knots > 1 || block->knots ? knots : 0;
}

/* A column. What it has besides its name depends on its type. */
static void
visit_block(DpermCodec *c, DpermBlock *block)
{
	bool		box = block->kind == DPERM_BLOCK_BOX;
	int			knots = dperm_block_knots(block);
	int			elements = dperm_block_elements(block);

	if (dperm_codec_has(c, "column", block->column.len > 0))
		dperm_codec_text(c, "column", &block->column);
	block->kind = (DpermBlockKind) dperm_codec_name(c, "type",
													box ? DPERM_BLOCK_VECTOR : (int) block->kind,
													dperm_encoder_kind_name, DPERM_BLOCK_BOX);
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			dperm_codec_number(c, "low", &block->low);
			dperm_codec_number(c, "high", &block->high);
			block->count = visit_knots(c, block, knots);
			if (block->kind == DPERM_BLOCK_NUMBER && dperm_codec_some(c, "scale", block->log))
				block->log = dperm_codec_name(c, "scale", 1, scale_name, 2) == 1;
			break;
		case DPERM_BLOCK_FLAG:
			block->count = 1;
			break;
		case DPERM_BLOCK_CATEGORY:
			visit_categories(c, block);
			break;
		default:
			elements = dperm_codec_count(c, "dimension", elements);
			if (dperm_codec_some(c, "range", box))
			{
				visit_box(c, block, elements, knots);
				break;
			}
			block->count = elements;
			dperm_codec_number(c, "norm", &block->norm);
	}
}

/* The columns of an encoder, as a list. */
void
dperm_encoder_form_features(DpermCodec *c, const char *key, DpermEncoder *enc)
{
	DpermBlock *read = NULL;

	enc->block_count = dperm_codec_list(c, key, enc->block_count);
	if (dperm_codec_reads(c))
		enc->blocks = read = dperm_host_alloc(sizeof(DpermBlock) * (size_t) enc->block_count);
	for (int i = 0; i < enc->block_count; i++)
	{
		DpermBlock	block = enc->blocks[i];

		dperm_codec_object(c, NULL);
		visit_block(c, &block);
		dperm_codec_end(c);
		if (read)
			read[i] = block;
	}
	dperm_codec_end(c);
}

/* The fields of an encoder. One that was read is valid as a whole. */
void
dperm_encoder_form_visit(DpermCodec *c, DpermEncoder *enc)
{
	DpermKernel *kernel = &enc->kernel;
	const char *fault = NULL;

	dperm_encoder_form_features(c, "features", enc);
	enc->intercept = dperm_codec_flag(c, "intercept", enc->intercept);
	if (dperm_codec_some(c, "kernel", kernel->kind != DPERM_KERNEL_LINEAR))
	{
		dperm_codec_object(c, "kernel");
		kernel->kind = (DpermKernelKind) dperm_codec_name(c, "name", (int) kernel->kind,
														  dperm_encoder_kernel_name,
														  DPERM_KERNEL_MATERN + 1);
		dperm_codec_number(c, "gamma", &kernel->gamma);
		kernel->features = dperm_codec_count(c, "features", kernel->features);
		dperm_codec_integer(c, "seed", &kernel->seed);
		dperm_codec_end(c);
	}
	if (dperm_codec_reads(c) && c->why == NULL)
		fault = dperm_encoder_fault(enc);
	if (dperm_codec_reads(c) && c->why == NULL && fault == NULL)
		fault = dperm_encoder_form_names_fault(enc);
	if (fault)
		dperm_codec_fail(c, fault);
}

/* An encoder as bytes. */
DpermText
dperm_encoder_form_write(const DpermEncoder *enc)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_BYTES};
	DpermEncoder copy = *enc;

	dperm_encoder_form_visit(&c, &copy);
	return dperm_codec_written(&c);
}

/*
 * Read exactly these bytes, trusting none of them; NULL, else what is wrong. Only
 * the bytes that an encoder is written as are read as this encoder.
 */
const char *
dperm_encoder_form_read(DpermText bytes, DpermEncoder *out)
{
	DpermCodec	c = dperm_codec_read(bytes.bytes, (size_t) bytes.len);
	DpermEncoder enc = {0};
	DpermText	again;

	dperm_encoder_form_visit(&c, &enc);
	if (dperm_codec_end_of_bytes(&c))
		return c.why;
	again = dperm_encoder_form_write(&enc);
	if (!dperm_block_same_text(&again, &bytes))
		return "the features are not in canonical form";
	*out = enc;
	return NULL;
}
