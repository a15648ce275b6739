/*
 * layout.c: the layout of an encoded row in memory.
 */
#include "core/encode/layout.h"

#include <math.h>

#include "core/encode/knots.h"

/* Several codes share a word. */
#define CODES_PER_WORD (sizeof(double) / sizeof(uint16_t))

/* The layout of plain vectors. */
DpermLayout
dperm_layout_dense(int dim)
{
	return (DpermLayout) {
		.dim = dim, .dense = dim, .first_code = dim, .first_curve = dim, .words = dim
	};
}

/* The parts of a layout, in their order. */
typedef enum Part
{
	PART_DENSE,
	PART_CODE,
	PART_CURVE,
	PARTS
} Part;

static Part
part_of(const DpermBlock *block)
{
	return block->kind == DPERM_BLOCK_CATEGORY ? PART_CODE :
		dperm_block_is_curve(block) ? PART_CURVE : PART_DENSE;
}

/* The layout for the rows of an encoder: part by part, each in order. */
DpermLayout
dperm_layout_make(const DpermEncoder *enc, int *places)
{
	DpermLayout layout = dperm_layout_dense(dperm_encoder_dim(enc));
	bool		linear = enc->kernel.kind == DPERM_KERNEL_LINEAR;
	int			at = 0;

	layout.labelled = true;
	layout.unit = linear ? dperm_encoder_target(enc) : dperm_encoder_kernel_target(enc);
	for (int i = 0; linear && i < enc->block_count; i++)
	{
		Part		part = part_of(&enc->blocks[i]);

		layout.codes += part == PART_CODE;
		layout.curves += part == PART_CURVE ? dperm_block_parts(&enc->blocks[i]) : 0;
		layout.open += enc->blocks[i].open;
		layout.first_code -= part != PART_DENSE ? enc->blocks[i].count : 0;
		layout.first_curve -= part == PART_CURVE ? enc->blocks[i].count : 0;
	}
	layout.dense = layout.first_code - (enc->intercept ? 1 : 0);
	layout.words = layout.dense + layout.curves +
		(int) ((dperm_layout_slots(&layout) + CODES_PER_WORD - 1) / CODES_PER_WORD) + 1;
	if (dperm_layout_codes(&layout) == 0)
		return layout;
	layout.place = places;
	for (int part = 0; part < PARTS; part++)
	{
		int			trained = 0;

		for (int i = 0; i < enc->block_count; i++)
			for (int j = 0; j < enc->blocks[i].count; j++, trained++)
				if (part_of(&enc->blocks[i]) == (Part) part)
					places[at++] = trained;
		if (part == PART_DENSE && enc->intercept)
			places[at++] = layout.dim - 1;
	}
	return layout;
}

/* Give rows weights. */
void
dperm_layout_weigh(DpermLayout *layout)
{
	layout->weighted = true;
	layout->words++;
}

/* Encode a row: each block at its place in the layout. */
void
dperm_layout_encode(const DpermLayout *layout, const DpermEncoder *enc,
					const DpermValue *values, double label, double *row)
{
	double	   *entry = row + layout->dense;
	uint16_t   *code = (uint16_t *) (entry + layout->curves);
	uint16_t   *place = code + layout->codes;
	uint16_t   *room = place + layout->curves;
	int			at[PARTS] = {0, layout->first_code, layout->first_curve};

	row[dperm_layout_label(layout)] = label;
	if (dperm_layout_slots(layout) > 0)
		row[dperm_layout_label(layout) - 1] = 0;	/* the padding after the codes */
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		const DpermValue *value = &values[i];
		Part		part = part_of(block);
		int			within = -1;

		if (part == PART_CODE)
		{
			if (value->present && value->category < block->count)
				within = value->category;
			*code++ = (uint16_t) (within >= 0 ? at[part] + within : layout->dim);
		}
		else if (part == PART_CURVE)
		{
			for (int k = 0; k < dperm_block_parts(block); k++)
			{
				int			first = at[part] + k * dperm_block_part_count(block);

				within = dperm_knots_place_part(block, value, k, layout->unit, entry++);
				*place++ = (uint16_t) (within >= 0 ? first + within : layout->dim);
			}
		}
		else
			dperm_encoder_encode_block(block, value, layout->unit, row + at[part]);
		if (block->open)
			*room++ = value->present && !isnan(value->number);
		at[part] += block->count;
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
