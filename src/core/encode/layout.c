/*
 * layout.c: the layout of an encoded row in memory.
 */
#include "core/encode/layout.h"

#include <string.h>

/* Several codes share a word. */
#define CODES_PER_WORD (sizeof(double) / sizeof(uint16_t))

/* The layout of plain vectors. */
DpermLayout
dperm_layout_dense(int dim)
{
	return (DpermLayout) {.dim = dim, .dense = dim, .words = dim};
}

/*
 * The layout for the rows of an encoder: numbers first, then the categories,
 * both in order.
 */
DpermLayout
dperm_layout_make(const DpermEncoder *enc, int *places)
{
	DpermLayout layout = dperm_layout_dense(dperm_encoder_dim(enc));
	int			at = 0;
	int			trained = 0;

	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
		return layout;
	layout.unit = dperm_encoder_target(enc);
	for (int i = 0; i < enc->block_count; i++)
		if (enc->blocks[i].kind == DPERM_BLOCK_CATEGORY)
		{
			layout.codes++;
			layout.dense -= enc->blocks[i].count;
		}
	if (layout.codes == 0)
		return layout;
	layout.words = layout.dense + (int) ((layout.codes + CODES_PER_WORD) / CODES_PER_WORD);
	layout.place = places;
	for (int coded = 0; coded <= 1; coded++)
	{
		trained = 0;
		for (int i = 0; i < enc->block_count; i++)
			for (int j = 0; j < enc->blocks[i].count; j++, trained++)
				if ((enc->blocks[i].kind == DPERM_BLOCK_CATEGORY) == (coded == 1))
					places[at++] = trained;
		if (coded == 0 && enc->intercept)
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
	uint16_t   *codes = (uint16_t *) (row + layout->dense);
	int			coordinate = layout->dense;

	if (sign == 0)
		memset(row, 0, sizeof(double) * layout->words);
	else if (layout->codes > 0)
		row[layout->words - (layout->weighted ? 2 : 1)] = 0;	/* the padding after the codes */
	if (layout->codes > 0)
		*codes++ = sign == 0 ? DPERM_ROW_ZERO : sign > 0 ? DPERM_ROW_POSITIVE :
			DPERM_ROW_NEGATIVE;
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		const DpermValue *value = &values[i];

		if (block->kind == DPERM_BLOCK_CATEGORY)
		{
			bool		listed = sign != 0 && value->present && value->category >= 0 &&
				value->category < block->count;

			*codes++ = (uint16_t) (listed ? coordinate + value->category : layout->dim);
			coordinate += block->count;
		}
		else
		{
			if (sign != 0)
				dperm_encoder_encode_block(block, value, target, row);
			row += block->count;
		}
	}
	if (enc->intercept && sign != 0)
		*row = target;
}

/* Restore trained weights to the order of the model. */
void
dperm_layout_restore(const DpermLayout *layout, const double *weights, double *out)
{
	for (int i = 0; i < layout->dim; i++)
		out[layout->place ? layout->place[i] : i] = weights[i];
}
