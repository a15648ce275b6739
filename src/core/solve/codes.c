/*
 * codes.c: what the codes of rows add to the sums of a pass.
 */
#include "core/solve/codes.h"

#include <string.h>

#include "core/base/core.h"
#include "core/encode/encoder.h"

/*
 * Decode rows: the positions of curves, the codes of categories, and the positions of
 * straight lines, which go after the numbers.
 */
DpermCodes
dperm_codes_of(const DpermLayout *layout, const double *rows, int count, size_t stride,
			   double *room)
{
	size_t		numbers = (size_t) layout->numbers;
	size_t		dense = (size_t) layout->dense;
	size_t		curves = (size_t) layout->curves;
	double	   *entries = room;
	double	   *lines = entries + (size_t) count * curves;
	int32_t    *places = (int32_t *) (lines + (dense > numbers ? (size_t) count * dense : 0));
	uint16_t   *coordinates = (uint16_t *) (places + (size_t) count * curves);

	dperm_layout_decode(layout, rows, count, stride, lines, coordinates, places, entries);
	return (DpermCodes) {
		.layout = layout,
		.numbers = dense > numbers ? lines : rows,
		.number_stride = dense > numbers ? dense : stride,
		.codes = coordinates,
		.places = places,
		.entries = entries,
		.entry_stride = curves
	};
}

/*
 * Add rows to their outputs, in four partial sums like dperm_rows_inner(): a
 * curve takes two of them, so no sum has more than a quarter of the
 * coordinates, rounded up twice.
 */
void
dperm_codes_outputs(const DpermCodes *rows, int count, const double *weights, double *outputs)
{
	const uint16_t *codes = rows->codes;
	const int32_t *places = rows->places;
	const double *entries = rows->entries;
	int			last = rows->layout->codes;
	int			curves = rows->layout->curves;
	double		unit = rows->layout->unit;

	for (int i = 0; i < count;
		 i++, codes += last, places += curves, entries += rows->entry_stride)
	{
		double		a = 0,
					b = 0,
					c = 0,
					d = 0;
		int			k = 0;

		for (; k + 4 <= last; k += 4)
		{
			a += weights[codes[k]];
			b += weights[codes[k + 1]];
			c += weights[codes[k + 2]];
			d += weights[codes[k + 3]];
		}
		for (; k < last; k++)
			a += weights[codes[k]];
		outputs[i] += unit * ((a + b) + (c + d));
		if (curves == 0)
			continue;
		a = b = c = d = 0;
		for (k = 0; k + 1 < curves; k += 2)
		{
			a += weights[places[k]] * entries[k];
			b += weights[places[k] + 1] * dperm_knots_rest(unit, entries[k]);
			c += weights[places[k + 1]] * entries[k + 1];
			d += weights[places[k + 1] + 1] * dperm_knots_rest(unit, entries[k + 1]);
		}
		if (k < curves)
		{
			a += weights[places[k]] * entries[k];
			b += weights[places[k] + 1] * dperm_knots_rest(unit, entries[k]);
		}
		outputs[i] += (a + b) + (c + d);
	}
}

/* The sum of some rows times slopes. */
void
dperm_codes_slopes(const DpermCodes *rows, int count, const double *slopes, double *sum)
{
	const DpermLayout *layout = rows->layout;
	const uint16_t *codes = rows->codes;
	const int32_t *places = rows->places;
	const double *entries = rows->entries;
	double		unit = layout->unit;

	memset(sum + layout->first_code, 0,
		   sizeof(double) * (layout->dim + DPERM_CODES_BEYOND - layout->first_code));
	for (int i = 0; i < count;
		 i++, codes += layout->codes, places += layout->curves, entries += rows->entry_stride)
	{
		double		of_row = slopes[i];
		double		slope = unit * of_row;

		for (int k = 0; k < layout->codes; k++)
			sum[codes[k]] += slope;
		for (int k = 0; k < layout->curves; k++)
		{
			sum[places[k]] += of_row * entries[k];
			sum[places[k] + 1] += of_row * dperm_knots_rest(unit, entries[k]);
		}
	}
}

/* A curve of a row: its place, and its two entries. */
typedef struct Point
{
	size_t		place;
	double		first;
	double		second;
} Point;

/* The codes and curves of a row that are not missing. */
typedef struct Present
{
	int			codes;
	int			curves;
	uint16_t	code[DPERM_DIM_MAX];
	Point		curve[DPERM_DIM_MAX / 2];
} Present;

static void
list_present(const DpermCodes *rows, int row, Present *out)
{
	const DpermLayout *layout = rows->layout;
	const uint16_t *codes = rows->codes + row * (size_t) layout->codes;
	const int32_t *places = rows->places + row * (size_t) layout->curves;
	const double *entries = rows->entries + row * rows->entry_stride;

	out->codes = 0;
	out->curves = 0;
	for (int k = 0; k < layout->codes; k++)
		if (codes[k] != layout->dim)
			out->code[out->codes++] = codes[k];
	for (int k = 0; k < layout->curves; k++)
		if (places[k] != layout->dim)
			out->curve[out->curves++] = (Point) {(size_t) places[k], entries[k],
												 dperm_knots_rest(layout->unit, entries[k])};
}

/* Add the numbers of a row, and the intercept, to a column of the upper triangle. */
static inline void
add_numbers(const DpermLayout *layout, const double *restrict row, double scaled,
			double *restrict column)
{
	for (int j = 0; j < layout->dense; j++)
		column[j] += scaled * row[j];
	if (dperm_layout_has_constant(layout))
		column[layout->dense] += scaled * layout->unit;
}

/* The columns of one curve, up to the diagonal: those of both its entries at a time. */
static void
add_curve_columns(const Present *row, int k, double curvature, double unit, double *restrict left,
				  double *restrict right)
{
	const Point *own = &row->curve[k];
	double		a = curvature * own->first;
	double		b = curvature * own->second;
	double		a_unit = a * unit;
	double		b_unit = b * unit;

	for (int l = 0; l < row->codes; l++)
	{
		left[row->code[l]] += a_unit;
		right[row->code[l]] += b_unit;
	}
	for (int l = 0; l < k; l++)
	{
		Point		other = row->curve[l];

		left[other.place] += a * other.first;
		left[other.place + 1] += a * other.second;
		right[other.place] += b * other.first;
		right[other.place + 1] += b * other.second;
	}
	left[own->place] += a * own->first;
	right[own->place] += b * own->first;
	right[own->place + 1] += b * own->second;
}

/* Add second derivatives to the upper triangle. */
void
dperm_codes_curvatures(const DpermCodes *rows, int count, const double *curvatures,
					   double *hess)
{
	const DpermLayout *layout = rows->layout;
	const double *numbers = rows->numbers;
	size_t		d = (size_t) layout->dim;
	Present		row;

	for (int i = 0; i < count; i++, numbers += rows->number_stride)
	{
		if (curvatures[i] == 0)
			continue;
		list_present(rows, i, &row);
		for (int k = 0; k < row.codes; k++)
		{
			double	   *column = hess + row.code[k] * d;
			double		scaled = curvatures[i] * layout->unit;

			add_numbers(layout, numbers, scaled, column);
			for (int l = 0; l <= k; l++)
				column[row.code[l]] += scaled * layout->unit;
		}
		for (int k = 0; k < row.curves; k++)
		{
			double	   *column = hess + row.curve[k].place * d;

			add_numbers(layout, numbers, curvatures[i] * row.curve[k].first, column);
			add_numbers(layout, numbers, curvatures[i] * row.curve[k].second, column + d);
			add_curve_columns(&row, k, curvatures[i], layout->unit, column, column + d);
		}
	}
}

/* Move it to the lower triangle. */
void
dperm_codes_fold(const DpermLayout *layout, double *hess)
{
	size_t		d = (size_t) layout->dim;

	for (size_t i = (size_t) layout->first_code; i < d; i++)
		for (size_t j = 0; j < i; j++)
		{
			hess[j * d + i] += hess[i * d + j];
			hess[i * d + j] = 0;
		}
}
