/*
 * layout.c: the layout of an encoded row in memory.
 */
#include "core/encode/layout.h"

#include <math.h>
#include <string.h>

#include "core/encode/knots.h"

/* Several codes share a word. */
#define CODES_PER_WORD (sizeof(double) / sizeof(uint16_t))

/* The layout of plain vectors. */
DpermLayout
dperm_layout_dense(int dim)
{
	return (DpermLayout) {.dim = dim, .dense = dim, .words = dim};
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
	int			at = 0;

	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
		return layout;
	layout.unit = dperm_encoder_target(enc);
	layout.first_curve = layout.dim;
	for (int i = 0; i < enc->block_count; i++)
	{
		Part		part = part_of(&enc->blocks[i]);

		layout.codes += part == PART_CODE;
		layout.curves += part == PART_CURVE ? dperm_block_parts(&enc->blocks[i]) : 0;
		layout.open += enc->blocks[i].open;
		layout.dense -= part != PART_DENSE ? enc->blocks[i].count : 0;
		layout.first_curve -= part == PART_CURVE ? enc->blocks[i].count : 0;
	}
	layout.words = layout.dense + layout.curves +
		(int) ((dperm_layout_slots(&layout) + CODES_PER_WORD - 1) / CODES_PER_WORD);
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
					const DpermValue *values, int sign, double *row)
{
	double		target = sign * layout->unit;
	double	   *entry = row + layout->dense;
	uint16_t   *code = (uint16_t *) (entry + layout->curves);
	uint16_t   *place = code + 1 + layout->codes;
	uint16_t   *room = place + layout->curves;
	int			at[PARTS] = {0, layout->dense, layout->first_curve};

	if (sign == 0)
		memset(row, 0, sizeof(double) * layout->words);
	else if (dperm_layout_slots(layout) > 0)
		row[layout->words - (layout->weighted ? 2 : 1)] = 0;	/* the padding after the codes */
	if (dperm_layout_slots(layout) > 0)
		*code++ = sign == 0 ? DPERM_ROW_ZERO : sign > 0 ? DPERM_ROW_POSITIVE :
			DPERM_ROW_NEGATIVE;
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		const DpermValue *value = &values[i];
		Part		part = part_of(block);
		int			within = -1;

		if (part == PART_CODE)
		{
			if (sign != 0 && value->present && value->category < block->count)
				within = value->category;
			*code++ = (uint16_t) (within >= 0 ? at[part] + within : layout->dim);
		}
		else if (part == PART_CURVE)
		{
			for (int k = 0; k < dperm_block_parts(block); k++)
			{
				int			first = at[part] + k * dperm_block_part_count(block);

				if (sign != 0)
					within = dperm_knots_place_part(block, value, k, target, entry);
				*place++ = (uint16_t) (within >= 0 ? first + within : layout->dim);
				entry++;
			}
		}
		else if (sign != 0)
			dperm_encoder_encode_block(block, value, target, row + at[part]);
		if (block->open)
			*room++ = sign != 0 && value->present && !isnan(value->number);
		at[part] += block->count;
	}
	if (enc->intercept && sign != 0)
		row[layout->dense - 1] = target;
}

/* Restore trained weights to the order of the model. */
void
dperm_layout_restore(const DpermLayout *layout, const double *weights, double *out)
{
	for (int i = 0; i < layout->dim; i++)
		out[layout->place ? layout->place[i] : i] = weights[i];
}
