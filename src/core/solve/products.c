/*
 * products.c: outputs of rows, and sums over them.
 */
#include "core/solve/products.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/blas.h"
#include "core/base/vector.h"
#include "core/encode/encoder.h"

/* to += factor from, for each class. */
static inline void
add_times(int classes, double factor, const double *restrict from, double *restrict to)
{
	int			k = 0;

	for (; k + 2 <= classes; k += 2)
		dperm_put_pair(dperm_multiply_add(dperm_both(factor), dperm_pair_at(from + k),
										  dperm_pair_at(to + k)), to + k);
	if (k < classes)
		to[k] = dperm_fused(factor, from[k], to[k]);
}

/* Are there enough numbers for BLAS? */
static bool
many_numbers(const DpermLayout *layout, size_t stride)
{
	return layout->dense > DPERM_BLAS_SMALL && stride <= INT_MAX;
}

/* Outputs of the numbers of rows. */
static void
number_outputs(const DpermLayout *layout, int classes, const double *rows, int count,
			   size_t stride, const double *weights, double *outputs)
{
	const double one = 1,
				none = 0;
	int			apart = (int) stride;

	if (many_numbers(layout, stride))
	{
		dperm_blas()->dgemm("N", "N", &classes, &count, &layout->dense, &one, weights, &classes,
							rows, &apart, &none, outputs, &classes);
		return;
	}
	memset(outputs, 0, sizeof(double) * (size_t) count * (size_t) classes);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < layout->dense; j++)
			add_times(classes, rows[i * stride + j], weights + (size_t) j * classes,
					  outputs + (size_t) i * classes);
}

/* The same with one block of weights. */
static void
outputs_of_one(const DpermCodes *codes, const double *rows, int count, size_t stride,
			   const double *weights, double *outputs)
{
	const DpermLayout *layout = codes->layout;

	dperm_rows_inner((size_t) count, rows, stride, (size_t) layout->dense,
					 dperm_layout_constant(layout), weights, outputs);
	if (dperm_layout_codes(layout) > 0)
		dperm_codes_outputs(codes, count, weights, outputs);
}

/* The outputs of rows. */
void
dperm_solve_outputs(const DpermCodes *codes, int classes, const double *rows, int count,
					size_t stride, const double *weights, double *outputs)
{
	const DpermLayout *layout = codes->layout;
	const uint16_t *code = codes->codes;
	const int32_t *places = codes->places;
	const double *entries = codes->entries;
	size_t		wide = (size_t) classes;
	double		unit = layout->unit;

	if (classes == 1)
	{
		outputs_of_one(codes, rows, count, stride, weights, outputs);
		return;
	}
	number_outputs(layout, classes, rows, count, stride, weights, outputs);
	for (int i = 0; i < count;
		 i++, code += layout->codes, places += layout->curves, entries += codes->entry_stride)
	{
		double	   *to = outputs + i * wide;

		if (dperm_layout_has_constant(layout))
			add_times(classes, unit, weights + layout->dense * wide, to);
		for (int k = 0; k < layout->codes; k++)
			add_times(classes, unit, weights + code[k] * wide, to);
		for (int k = 0; k < layout->curves; k++)
		{
			const double *first = weights + (size_t) places[k] * wide;

			add_times(classes, entries[k], first, to);
			add_times(classes, dperm_knots_rest(unit, entries[k]), first + wide, to);
		}
	}
}

/* The sum of the numbers of rows times slopes. */
static void
number_sum(const DpermLayout *layout, int classes, const double *rows, int count, size_t stride,
		   const double *slopes, double *sum)
{
	const double one = 1,
				none = 0;
	int			apart = (int) stride;

	if (many_numbers(layout, stride))
	{
		dperm_blas()->dgemm("N", "T", &classes, &layout->dense, &count, &one, slopes, &classes,
							rows, &apart, &none, sum, &classes);
		return;
	}
	memset(sum, 0, sizeof(double) * (size_t) layout->dense * (size_t) classes);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < layout->dense; j++)
			add_times(classes, rows[i * stride + j], slopes + (size_t) i * classes,
					  sum + (size_t) j * classes);
}

/* The same with one block of weights. */
static void
sum_of_one(const DpermCodes *codes, const double *rows, int count, size_t stride,
		   const double *slopes, double *sum)
{
	const DpermLayout *layout = codes->layout;

	dperm_rows_sum((size_t) count, rows, stride, (size_t) layout->dense,
				   dperm_layout_constant(layout), slopes, sum);
	if (dperm_layout_codes(layout) > 0)
		dperm_codes_slopes(codes, count, slopes, sum);
}

/* The sum of rows times slopes. */
void
dperm_solve_sum(const DpermCodes *codes, int classes, const double *rows, int count, size_t stride,
				const double *slopes, double *sum)
{
	const DpermLayout *layout = codes->layout;
	const uint16_t *code = codes->codes;
	const int32_t *places = codes->places;
	const double *entries = codes->entries;
	size_t		wide = (size_t) classes;
	double		unit = layout->unit;

	if (classes == 1)
	{
		sum_of_one(codes, rows, count, stride, slopes, sum);
		return;
	}
	number_sum(layout, classes, rows, count, stride, slopes, sum);
	memset(sum + layout->dense * wide, 0,
		   sizeof(double) * wide * (size_t) (layout->dim + DPERM_CODES_BEYOND - layout->dense));
	for (int i = 0; i < count;
		 i++, code += layout->codes, places += layout->curves, entries += codes->entry_stride)
	{
		const double *from = slopes + i * wide;

		if (dperm_layout_has_constant(layout))
			add_times(classes, unit, from, sum + layout->dense * wide);
		for (int k = 0; k < layout->codes; k++)
			add_times(classes, unit, from, sum + code[k] * wide);
		for (int k = 0; k < layout->curves; k++)
		{
			double	   *first = sum + (size_t) places[k] * wide;

			add_times(classes, entries[k], from, first);
			add_times(classes, dperm_knots_rest(unit, entries[k]), from, first + wide);
		}
	}
}
