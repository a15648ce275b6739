/*
 * careful.c: slopes, margins and gradients in twice the precision.
 */
#include "core/solve/careful.h"

#include <string.h>

/* Margins beyond which the logistic loss has slope 0 or -1, but for e^-700. */
#define LOGISTIC_FLAT 700

/* Terms of Taylor's series, and how often its argument is halved. */
#define EXP_TERMS 11
#define EXP_HALVINGS 8

/*
 * The exponential of a number from -LOGISTIC_FLAT to 0: a power of two times the exponential of the rest r, that of
 * r/2^8 by Taylor's series. It is less one until the end, so that squaring keeps its relative error small.
 */
static DpermWide
wide_exp(DpermWide x)
{
	const double log2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111};
	double		power = rint(x.high / log2[0]);
	DpermWide	less_one = {1, 0};

	for (int i = 0; i < 3; i++)
		x = dperm_wide_subtract(x, dperm_wide_product(power, log2[i]));
	x = (DpermWide) {ldexp(x.high, -EXP_HALVINGS), ldexp(x.low, -EXP_HALVINGS)};
	for (int k = EXP_TERMS; k > 1; k--)
		less_one = dperm_wide_add(dperm_wide_of(1), dperm_wide_multiply(dperm_wide_divide(x, dperm_wide_of(k)),
																		less_one));
	less_one = dperm_wide_multiply(x, less_one);
	for (int i = 0; i < EXP_HALVINGS; i++)
		less_one = dperm_wide_add(dperm_wide_scale(less_one, 2), dperm_wide_multiply(less_one, less_one));
	x = dperm_wide_add(less_one, dperm_wide_of(1));
	return (DpermWide) {ldexp(x.high, (int) power), ldexp(x.low, (int) power)};
}

/* -1/(1 + e^z) */
static DpermWide
logistic_slope(DpermWide z)
{
	const DpermWide one = {1, 0};
	DpermWide	e;

	if (!(z.high < LOGISTIC_FLAT))
		return dperm_wide_of(0);
	if (z.high < -LOGISTIC_FLAT)
		return dperm_wide_of(-1);
	e = wide_exp(z.high > 0 ? dperm_wide_minus(z) : z);
	return dperm_wide_minus(dperm_wide_divide(z.high > 0 ? e : one, dperm_wide_add(one, e)));
}

/* The slope of a loss. */
DpermWide
dperm_careful_slope(DpermLoss loss, DpermWide z)
{
	DpermWide	away = dperm_wide_subtract(dperm_wide_of(1), z);	/* 1 - z, from -h to h on the bend */
	DpermWide	q;

	if (loss.kind == DPERM_LOSS_LOGISTIC)
		return logistic_slope(z);
	if (!(dperm_wide_add(away, dperm_wide_of(loss.h)).high > 0))
		return dperm_wide_of(0);
	if (!(dperm_wide_subtract(away, dperm_wide_of(loss.h)).high < 0))
		return dperm_wide_of(-1);
	q = dperm_wide_divide(away, dperm_wide_of(loss.h));
	if (loss.kind == DPERM_LOSS_HUBER)
		return dperm_wide_scale(dperm_wide_add(q, dperm_wide_of(1)), -0.5);

	/* (q^3 - 3 q)/4 - 1/2 */
	z = dperm_wide_multiply(q, dperm_wide_subtract(dperm_wide_multiply(q, q), dperm_wide_of(3)));
	return dperm_wide_subtract(dperm_wide_scale(z, 0.25), dperm_wide_of(0.5));
}

/* A number of an array of high and one of low parts. */
static inline DpermWide
wide_at(const double *high, const double *low, size_t i)
{
	return (DpermWide) {high[i], low[i]};
}

/* Add to such a number. */
static inline void
add_at(double *high, double *low, size_t i, DpermWide x)
{
	DpermWide	sum = dperm_wide_add(wide_at(high, low, i), x);

	high[i] = sum.high;
	low[i] = sum.low;
}

/* The sum of the gradients of some rows. */
void
dperm_careful_sum(const DpermLayout *layout, DpermLoss loss, const double *rows, int count, size_t stride,
				  const double *weights, const double *weights_low, double *gradient, double *gradient_low)
{
	size_t		dense = (size_t) layout->dense;

	memset(gradient, 0, sizeof(double) * (size_t) layout->dim);
	memset(gradient_low, 0, sizeof(double) * (size_t) layout->dim);
	for (int i = 0; i < count; i++, rows += stride)
	{
		const uint16_t *codes = dperm_row_codes(layout, rows);
		double		unit = layout->codes > 0 ? dperm_row_unit(layout, codes) : 0;
		DpermWide	margin = {0, 0};
		DpermWide	slope;

		for (size_t j = 0; j < dense; j++)
			margin = dperm_wide_add(margin, dperm_wide_scale(wide_at(weights, weights_low, j), rows[j]));
		for (int k = 1; k <= layout->codes; k++)
			if (codes[k] < layout->dim)
				margin = dperm_wide_add(margin, dperm_wide_scale(wide_at(weights, weights_low, codes[k]), unit));
		slope = dperm_careful_slope(loss, margin);
		for (size_t j = 0; j < dense; j++)
			add_at(gradient, gradient_low, j, dperm_wide_scale(slope, rows[j]));
		slope = dperm_wide_scale(slope, unit);
		for (int k = 1; k <= layout->codes; k++)
			if (codes[k] < layout->dim)
				add_at(gradient, gradient_low, codes[k], slope);
	}
}

/* Add one sum of gradients to another. */
void
dperm_careful_merge(int dim, const double *more, const double *more_low, double *gradient, double *gradient_low)
{
	for (size_t j = 0; j < (size_t) dim; j++)
		add_at(gradient, gradient_low, j, wide_at(more, more_low, j));
}

/* A bound on the rounding error of a gradient. */
double
dperm_careful_rounding(int dim, double curvature, int64_t rows, double lambda, double norm, double tilt)
{
	return 0x1p-91 + 0x1p-100 * ((curvature * (dim + 2) + lambda) * norm + tilt + 300 + (double) rows / 512);
}
