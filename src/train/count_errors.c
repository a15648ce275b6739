/*
 * count_errors.c: count the rows that a model gets wrong; or add up its errors,
 * if labels are numbers.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/privacy/counts.h"
#include "core/privacy/claim.h"
#include "core/solve/sums.h"
#include "train/count_errors.h"

/*
 * What a row counts for that the model gets wrong: its weight in parts, rounded
 * down. The number of parts is a power of two, so the product is exact.
 */
static int64
parts_of(const DpermLayout *layout, const double *row)
{
	return layout->weighted ? (int64) (dperm_layout_weight(layout, row) * DPERM_PERSON_PARTS) : 1;
}

/* Is the class with the largest output, the first of several, not the label? */
static bool
is_other_class(const DpermLayout *layout, int classes, const double *outputs, const double *row)
{
	double		label = row[dperm_layout_label(layout)];
	int			best = 0;

	for (int k = 1; k < classes; k++)
		if (outputs[k] > outputs[best])
			best = k;
	return dperm_label_kind_has(DPERM_LABEL_SEVERAL, label) && label != best + 1;
}

/* The absolute error of a row whose label is a number, in parts. */
static int64
error_of(const DpermLayout *layout, double output, const double *row)
{
	double		label = row[dperm_layout_label(layout)];
	double		weight = dperm_layout_weight(layout, row);
	int64		sums[DPERM_SUMS] = {0};

	if (!dperm_label_kind_has(DPERM_LABEL_NUMBER, label))
		return 0;
	dperm_counts_add_errors(output, label, 1, sums);
	return (int64) (weight * sums[DPERM_SUM_ABSOLUTE]);
}

/* What a row adds to the errors of a model, whose sums are these. */
static int64
count_row_wrong(DpermMoments *m, const double *row)
{
	const DpermLayout *layout = &m->layout;
	const double *outputs = dperm_moments_outputs(m, row);
	bool		wrong;

	if (layout->label == DPERM_LABEL_NUMBER)
		return error_of(layout, outputs[0], row);
	wrong = layout->label == DPERM_LABEL_SEVERAL ?
		is_other_class(layout, m->classes, outputs, row) :
		row[dperm_layout_label(layout)] * outputs[0] < 0;
	return wrong ? parts_of(layout, row) : 0;
}

/* Start sums at the weights of a model, in the order of rows in memory; returns their room. */
static double *
start_sums(DpermMoments *m, const DpermLayout *layout, const DpermModel *model)
{
	int			classes = dperm_loss_blocks(model->loss);
	int			dim = layout->dim * classes;
	double	   *weights = palloc(sizeof(double) * dim);
	double	   *room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
											  dperm_moments_room(dim, classes, false));

	for (int k = 0; k < classes; k++)
		for (int i = 0; i < layout->dim; i++)
			weights[i * classes + k] =
				model->weights[(Size) k * layout->dim + (layout->place ? layout->place[i] : i)];
	dperm_moments_start(m, DPERM_PASS_GRADIENT, model->loss, layout, weights, NULL, room);
	pfree(weights);
	return room;
}

/* The rows that a model gets wrong, or the sum of its errors. */
int64
dperm_count_errors(DpermLoad *load, const DpermModel *model)
{
	DpermRows  *rows = &load->rows;
	DpermMoments sums;
	double	   *room = start_sums(&sums, &rows->feed.layout, model);
	int64		wrong = 0;

	for (int64 i = 0; i < rows->chunk_count; i++)
	{
		const double *row = dperm_rows_chunk(rows, i);

		for (int64 j = 0; j < rows->chunks[i].rows; j++, row += rows->words)
		{
			if (j % 4096 == 0)
				CHECK_FOR_INTERRUPTS();
			wrong += count_row_wrong(&sums, row);
		}
	}
	pfree(room);
	return wrong;
}
