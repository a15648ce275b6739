/*
 * wide.h: double-double arithmetic: numbers as sums of two doubles.
 *
 * For the few passes in which doubles are not enough (docs/guarantee.md,
 * "Careful passes"). The algorithms are those of Dekker and Knuth, with the
 * bounds of Joldes, Muller and Popescu (2017): a sum has a relative error below
 * 2^-104, any other operation one below 2^-102, as long as nothing overflows or
 * underflows.
 */
#ifndef DPERM_WIDE_H
#define DPERM_WIDE_H

#include <float.h>

/* No wider registers: these algorithms do not survive double rounding. */
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

/* high + low, where high is the double nearest to the sum. */
typedef struct DpermWide
{
	double		high;
	double		low;
} DpermWide;

/* a + b exactly, if |a| >= |b| or a is 0. */
static inline DpermWide
dperm_wide_fast_sum(double a, double b)
{
	double		sum = a + b;

	return (DpermWide) {sum, b - (sum - a)};
}

/* a + b exactly. */
static inline DpermWide
dperm_wide_sum(double a, double b)
{
	double		sum = a + b;
	double		virtual_b = sum - a;

	return (DpermWide) {sum, (a - (sum - virtual_b)) + (b - virtual_b)};
}

/* a b exactly. */
static inline DpermWide
dperm_wide_product(double a, double b)
{
	double		product = a * b;

#ifdef __FP_FAST_FMA
	return (DpermWide) {product, __builtin_fma(a, b, -product)};
#else
	/* halves of 26 bits, whose products are exact */
	double		split_a = a * 0x1.0000002p27;
	double		split_b = b * 0x1.0000002p27;
	double		a1 = split_a - (split_a - a);
	double		b1 = split_b - (split_b - b);
	double		a2 = a - a1;
	double		b2 = b - b1;

	return (DpermWide) {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
#endif
}

static inline DpermWide
dperm_wide_of(double x)
{
	return (DpermWide) {x, 0};
}

static inline DpermWide
dperm_wide_minus(DpermWide x)
{
	return (DpermWide) {-x.high, -x.low};
}

static inline DpermWide
dperm_wide_add(DpermWide x, DpermWide y)
{
	DpermWide	high = dperm_wide_sum(x.high, y.high);
	DpermWide	low = dperm_wide_sum(x.low, y.low);

	high = dperm_wide_fast_sum(high.high, high.low + low.high);
	return dperm_wide_fast_sum(high.high, high.low + low.low);
}

static inline DpermWide
dperm_wide_subtract(DpermWide x, DpermWide y)
{
	return dperm_wide_add(x, dperm_wide_minus(y));
}

/* x times a double. */
static inline DpermWide
dperm_wide_scale(DpermWide x, double y)
{
	DpermWide	product = dperm_wide_product(x.high, y);

	return dperm_wide_fast_sum(product.high, product.low + x.low * y);
}

static inline DpermWide
dperm_wide_multiply(DpermWide x, DpermWide y)
{
	DpermWide	product = dperm_wide_product(x.high, y.high);

	return dperm_wide_fast_sum(product.high, product.low + (x.high * y.low + x.low * y.high));
}

static inline DpermWide
dperm_wide_divide(DpermWide x, DpermWide y)
{
	double		first = x.high / y.high;
	DpermWide	rest = dperm_wide_subtract(x, dperm_wide_scale(y, first));
	double		second = rest.high / y.high;

	rest = dperm_wide_subtract(rest, dperm_wide_scale(y, second));
	return dperm_wide_add(dperm_wide_fast_sum(first, second), dperm_wide_of(rest.high / y.high));
}

/* e^x for x from -700 to 0, with a relative error below 2^-96. */
extern DpermWide dperm_wide_exp(DpermWide x);

#endif							/* DPERM_WIDE_H */
