/*
 * coded.h: coded rows, and the vectors that they stand for.
 */
#ifndef DPERM_TEST_CODED_H
#define DPERM_TEST_CODED_H

#include "unit/sample_encoder.h"

#include "core/encode/layout.h"
#include "unit/problem.h"

/* The vector of a row times its label, in the order of the layout. */
static inline void
decode_row(const DpermLayout *layout, const double *row, double *out)
{
	uint16_t	codes[SAMPLE_DIM_MAX * SAMPLE_COUNT];
	int32_t		places[SAMPLE_DIM_MAX * SAMPLE_COUNT];
	double		entries[2 * SAMPLE_DIM_MAX * SAMPLE_COUNT];
	double		unit = layout->unit;

	memset(out, 0, sizeof(double) * layout->dim);
	memcpy(out, row, sizeof(double) * layout->numbers);
	dperm_layout_decode(layout, row, 1, 0, out, codes, places, entries);
	if (dperm_layout_has_constant(layout))
		out[layout->dense] = unit;
	for (int k = 0; k < layout->codes; k++)
		if (codes[k] < layout->dim)
			out[codes[k]] = unit;
	for (int k = 0; k < layout->curves; k++)
		if (places[k] < layout->dim)
		{
			out[places[k]] = entries[2 * k];
			out[places[k] + 1] = entries[2 * k + 1];
		}
	for (int i = 0; layout->labelled && i < layout->dim; i++)
		out[i] *= row[dperm_layout_label(layout)];
}

/* An encoder without a kernel that has a column of categories, or a curve. */
static inline const DpermEncoder *
sample_coded_encoder(TestRandom *state, SampleEncoder *room)
{
	const DpermEncoder *enc;

	for (;;)
	{
		enc = sample_encoder(state, room);
		if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
			continue;
		for (int i = 0; i < enc->block_count; i++)
			if (enc->blocks[i].kind == DPERM_BLOCK_CATEGORY ||
				dperm_block_knots(&enc->blocks[i]) > 1)
				return enc;
	}
}

/* What a layout with codes, and rows of it, are made of. */
typedef struct CodedRows
{
	SampleEncoder sampled;
	SampleRow	row;
	const DpermEncoder *encoder;
} CodedRows;

/* A layout with codes, or every third time one of a vector. */
static inline DpermLayout
any_layout(TestRandom *state, CodedRows *coded, int round)
{
	coded->encoder = sample_coded_encoder(state, &coded->sampled);
	return round % 3 ? dperm_layout_make(coded->encoder, false) :
		dperm_layout_dense(1 + test_below(state, 40));
}

/* A row of it; with codes one of any kind, with a label or none. */
static inline void
any_row(TestRandom *state, CodedRows *coded, const DpermLayout *layout, double *words)
{
	if (layout->codes + layout->curves == 0)
	{
		random_row(state, layout->dim, words);
		return;
	}
	sample_row(state, coded->encoder, &coded->row);
	dperm_layout_encode(layout, coded->encoder, coded->row.values, test_below(state, 3) - 1, 1, words);
}

#endif							/* DPERM_TEST_CODED_H */
