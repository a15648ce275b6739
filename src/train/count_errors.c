/*
 * count_errors.c: count the rows in memory, or in a spool, that a model gets
 * wrong; or add up its errors, if labels are numbers.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/base/vector.h"
#include "core/privacy/errors.h"
#include "core/privacy/person.h"
#include "core/solve/codes.h"
#include "train/count_errors.h"

/* The output of a row. */
static double
output_of(const DpermLayout *layout, const double *weights, const double *row)
{
	double		output = dperm_inner((size_t) layout->dense, weights, row) +
		dperm_layout_constant(layout) * weights[layout->dense];

	if (dperm_layout_codes(layout) > 0)
	{
		DpermCodes	codes = dperm_codes_of(layout, row, (size_t) layout->words);

		dperm_codes_outputs(&codes, 1, weights, &output);
	}
	return output;
}

/*
 * What a row of two classes counts for, if the model gets it wrong: its weight
 * in parts, rounded down. The number of parts is a power of two, so the product
 * is exact.
 */
static int64
mistake_of(const DpermLayout *layout, double output, const double *row)
{
	if (!(row[dperm_layout_label(layout)] * output < 0))
		return 0;
	return layout->weighted ? (int64) (row[layout->words - 1] * DPERM_PERSON_PARTS) : 1;
}

/* The absolute error of a row whose label is a number, in parts. */
static int64
error_of(const DpermLayout *layout, double output, const double *row)
{
	double		label = row[dperm_layout_label(layout)];
	double		weight = layout->weighted ? row[layout->words - 1] : 1;
	int64		sums[DPERM_SUMS] = {0};

	if (!dperm_label_kind_has(DPERM_LABEL_NUMBER, label))
		return 0;
	dperm_errors_add(output, label, 1, sums);
	return (int64) (weight * sums[DPERM_SUM_ABSOLUTE]);
}

/* Count the errors in some contiguous rows. */
static int64
count_rows_wrong(const DpermLayout *layout, const double *weights, const double *rows, int64 count)
{
	int64		wrong = 0;

	for (int64 i = 0; i < count; i++, rows += layout->words)
	{
		double		output = output_of(layout, weights, rows);

		wrong += layout->label == DPERM_LABEL_NUMBER ? error_of(layout, output, rows) :
													   mistake_of(layout, output, rows);
	}
	return wrong;
}

/* The rows that a model gets wrong, or the sum of its errors. */
int64
dperm_count_errors(const DpermRows *rows, const DpermModel *model)
{
	const DpermCache *cache = &rows->cache;
	const DpermLayout *layout = &cache->feed.layout;
	double	   *weights = palloc0(sizeof(double) * (layout->dim + DPERM_CODES_BEYOND));
	int64		wrong = 0;

	for (int i = 0; i < layout->dim; i++)
		weights[i] = model->weights[layout->place ? layout->place[i] : i];
	if (rows->complete)
		for (int64 i = 0; i < cache->keep.used; i++)
		{
			if (i % 4096 == 0)
				CHECK_FOR_INTERRUPTS();
			wrong += count_rows_wrong(layout, weights, dperm_keep_row(&cache->keep, i), 1);
		}
	else
	{
		double	   *some;
		int			count;

		dperm_spool_rewind(cache->spool);
		while ((some = dperm_spool_read(cache->spool, &count)) != NULL)
			wrong += count_rows_wrong(layout, weights, some, count);
	}
	pfree(weights);
	return wrong;
}
