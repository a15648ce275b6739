/*
 * careful.c: margins and gradients in twice the precision.
 */
#include "core/solve/careful.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/wide.h"
#include "core/encode/knots.h"

/* Element i of an array that is given as high and low parts. */
static inline DpermWide
wide_at(const double *high, const double *low, size_t i)
{
	return (DpermWide) {high[i], low[i]};
}

/* Add to such an element. */
static inline void
add_at(double *high, double *low, size_t i, DpermWide x)
{
	DpermWide	sum = dperm_wide_add(wide_at(high, low, i), x);

	high[i] = sum.high;
	low[i] = sum.low;
}

/* Add both entries of a curve to an output. */
static inline DpermWide
add_curve(DpermWide output, const double *weights, const double *weights_low, size_t place,
		  double entry, double unit)
{
	output =
		dperm_wide_add(output, dperm_wide_scale(wide_at(weights, weights_low, place), entry));
	return dperm_wide_add(output, dperm_wide_scale(wide_at(weights, weights_low, place + 1),
												   dperm_knots_rest(unit, entry)));
}

/* The sum of the gradients of some rows. */
void
dperm_careful_sum(const DpermLayout *layout, DpermLoss loss, const double *rows, int count,
				  size_t stride, const double *weights, const double *weights_low, double *gradient,
				  double *gradient_low)
{
	size_t		dense = (size_t) layout->dense;
	double		unit = layout->unit;

	memset(gradient, 0, sizeof(double) * (size_t) layout->dim);
	memset(gradient_low, 0, sizeof(double) * (size_t) layout->dim);
	for (int i = 0; i < count; i++, rows += stride)
	{
		const uint16_t *codes = dperm_row_codes(layout, rows);
		const uint16_t *places = codes + layout->codes;
		const double *entries = rows + dense;
		double		label = layout->labelled ? rows[dperm_layout_label(layout)] : 1;
		DpermWide	output = {0, 0};
		DpermWide	slope;

		for (size_t j = 0; j < dense; j++)
			output =
				dperm_wide_add(output, dperm_wide_scale(wide_at(weights, weights_low, j), rows[j]));
		if (dperm_layout_has_constant(layout))
			output = dperm_wide_add(
				output, dperm_wide_scale(wide_at(weights, weights_low, dense), unit));
		for (int k = 0; k < layout->codes; k++)
			if (codes[k] < layout->dim)
				output = dperm_wide_add(
					output, dperm_wide_scale(wide_at(weights, weights_low, codes[k]), unit));
		for (int k = 0; k < layout->curves; k++)
			if (places[k] < layout->dim)
				output = add_curve(output, weights, weights_low, places[k], entries[k], unit);
		slope = dperm_loss_slope(loss, output, label);
		if (layout->weighted)
			slope = dperm_wide_scale(slope, rows[layout->words - 1]);
		for (size_t j = 0; j < dense; j++)
			add_at(gradient, gradient_low, j, dperm_wide_scale(slope, rows[j]));
		for (int k = 0; k < layout->curves; k++)
			if (places[k] < layout->dim)
			{
				add_at(gradient, gradient_low, places[k], dperm_wide_scale(slope, entries[k]));
				add_at(gradient, gradient_low, places[k] + 1,
					   dperm_wide_scale(slope, dperm_knots_rest(unit, entries[k])));
			}
		slope = dperm_wide_scale(slope, unit);
		if (dperm_layout_has_constant(layout))
			add_at(gradient, gradient_low, dense, slope);
		for (int k = 0; k < layout->codes; k++)
			if (codes[k] < layout->dim)
				add_at(gradient, gradient_low, codes[k], slope);
	}
}

/* The coordinates of a row that are not 0, one after the other. */
typedef struct Walk
{
	const DpermLayout *layout;
	const double *row;
	int			at;
} Walk;

/* The next coordinate and its value; false at the end. A missing code has value 0. */
static inline bool
next_coordinate(Walk *walk, size_t *coordinate, double *value)
{
	const DpermLayout *layout = walk->layout;
	const uint16_t *codes = dperm_row_codes(layout, walk->row);
	int			at = walk->at++;

	*coordinate = (size_t) at;
	*value = layout->unit;
	if (at < layout->dense)
	{
		*value = walk->row[at];
		return true;
	}
	if (at < layout->first_code)
		return true;
	at -= layout->first_code;
	if (at < layout->codes)
	{
		*coordinate = codes[at];
		return true;
	}
	at -= layout->codes;
	if (at >= 2 * layout->curves)
		return false;
	*coordinate = (size_t) codes[layout->codes + at / 2] + (size_t) (at % 2);
	*value = walk->row[layout->dense + at / 2];
	if (at % 2)
		*value = dperm_knots_rest(layout->unit, *value);
	return true;
}

/* The sum of the gradients of some rows, with several classes. */
void
dperm_careful_sum_several(const DpermLayout *layout, DpermLoss loss, const double *rows, int count,
						  size_t stride, const double *weights, const double *weights_low,
						  double *gradient, double *gradient_low, double *room)
{
	const DpermLossSeveral *several = dperm_loss_entry((int) loss.kind)->several;
	size_t		classes = (size_t) loss.classes;
	DpermWide  *outputs = (DpermWide *) room;
	size_t		j;
	double		x;

	memset(gradient, 0, sizeof(double) * (size_t) layout->dim * classes);
	memset(gradient_low, 0, sizeof(double) * (size_t) layout->dim * classes);
	for (int i = 0; i < count; i++, rows += stride)
	{
		double		weight = layout->weighted ? rows[layout->words - 1] : 1;

		memset(outputs, 0, sizeof(DpermWide) * classes);
		for (Walk walk = {layout, rows, 0}; next_coordinate(&walk, &j, &x);)
			for (size_t k = 0; k < classes && j < (size_t) layout->dim; k++)
				outputs[k] = dperm_wide_add(
					outputs[k],
					dperm_wide_scale(wide_at(weights, weights_low, j * classes + k), x));
		several->slopes(loss.classes, outputs, rows[dperm_layout_label(layout)]);
		for (size_t k = 0; k < classes && layout->weighted; k++)
			outputs[k] = dperm_wide_scale(outputs[k], weight);
		for (Walk walk = {layout, rows, 0}; next_coordinate(&walk, &j, &x);)
			for (size_t k = 0; k < classes && j < (size_t) layout->dim; k++)
				add_at(gradient, gradient_low, j * classes + k, dperm_wide_scale(outputs[k], x));
	}
}

/* Add one sum of gradients to another. */
void
dperm_careful_merge(int dim, const double *more, const double *more_low, double *gradient,
					double *gradient_low)
{
	for (size_t j = 0; j < (size_t) dim; j++)
		add_at(gradient, gradient_low, j, wide_at(more, more_low, j));
}

/* A bound on the rounding error of a gradient. */
double
dperm_careful_rounding(int dim, DpermLoss loss, int64_t rows, double lambda, double norm,
					   double tilt)
{
	const DpermLossBounds bounds = dperm_loss_bounds(loss);
	int			terms = dim / dperm_loss_blocks(loss);

	return 0x1p-93 + 0x1p-100 * ((bounds.curvature * (terms + 4) / 16 + lambda) * norm + tilt +
								 bounds.norm * 500 + bounds.norm * (double) rows * 0x1p-19 +
								 loss.classes / 16.0);
}
