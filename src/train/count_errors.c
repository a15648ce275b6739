/*
 * count_errors.c: count the rows that a model gets wrong; or add up its errors,
 * if labels are numbers.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "core/base/vector.h"
#include "core/privacy/counts.h"
#include "core/privacy/claim.h"
#include "core/solve/sums.h"
#include "train/count_errors.h"

/* A model, for rows in memory. */
typedef struct Judge
{
	const DpermLayout *layout;
	int			classes;		/* outputs of a row */
	Size		stride;			/* from the weights of a class to those of the next */
	const double *weights;
	double	   *room;			/* to decode a row */
} Judge;

/* The output of a row for a class, from 1 on. */
static double
output_of(const Judge *judge, int class, const double *row)
{
	const DpermLayout *layout = judge->layout;
	const double *weights = judge->weights + (class - 1) * judge->stride;
	DpermCodes	codes = dperm_codes_of(layout, row, 1, (size_t) layout->words, judge->room);
	double		output = dperm_inner((size_t) layout->dense, weights, codes.numbers) +
		dperm_layout_constant(layout) * weights[layout->dense];

	if (dperm_layout_codes(layout) > 0)
		dperm_codes_outputs(&codes, 1, weights, &output);
	return output;
}

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
is_other_class(const Judge *judge, const double *row)
{
	double		label = row[dperm_layout_label(judge->layout)];
	double		most = -INFINITY;
	int			best = 1;

	for (int k = 1; k <= judge->classes; k++)
	{
		double		output = output_of(judge, k, row);

		if (output > most)
		{
			most = output;
			best = k;
		}
	}
	return dperm_label_kind_has(DPERM_LABEL_SEVERAL, label) && label != best;
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

/* What a row adds to the errors. */
static int64
count_row_wrong(const Judge *judge, const double *row)
{
	const DpermLayout *layout = judge->layout;
	bool		wrong;

	if (layout->label == DPERM_LABEL_NUMBER)
		return error_of(layout, output_of(judge, 1, row), row);
	wrong = layout->label == DPERM_LABEL_SEVERAL ?
		is_other_class(judge, row) :
		row[dperm_layout_label(layout)] * output_of(judge, 1, row) < 0;
	return wrong ? parts_of(layout, row) : 0;
}

/* The weights of a model, in the order of rows in memory. */
static Judge
judge_of(const DpermLayout *layout, const DpermModel *model)
{
	Judge		judge = {.layout = layout,
						 .classes = dperm_loss_blocks(model->loss),
						 .stride = (Size) layout->dim + DPERM_CODES_BEYOND,
						 .room = palloc(sizeof(double) * DPERM_CODES_ROOM(layout->dim, 1))};
	double	   *weights = palloc0(sizeof(double) * judge.classes * judge.stride);

	for (int k = 0; k < judge.classes; k++)
		for (int i = 0; i < layout->dim; i++)
			weights[k * judge.stride + i] =
				model->weights[(Size) k * layout->dim + (layout->place ? layout->place[i] : i)];
	judge.weights = weights;
	return judge;
}

/* The rows that a model gets wrong, or the sum of its errors. */
int64
dperm_count_errors(DpermLoad *load, const DpermModel *model)
{
	DpermRows  *rows = &load->rows;
	Judge		judge = judge_of(&rows->feed.layout, model);
	int64		wrong = 0;

	for (int64 i = 0; i < rows->chunk_count; i++)
	{
		const double *row = dperm_rows_chunk(rows, i);

		for (int64 j = 0; j < rows->chunks[i].rows; j++, row += rows->words)
		{
			if (j % 4096 == 0)
				CHECK_FOR_INTERRUPTS();
			wrong += count_row_wrong(&judge, row);
		}
	}
	pfree(unconstify(double *, judge.weights));
	pfree(judge.room);
	return wrong;
}
