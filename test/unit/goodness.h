/*
 * goodness.h: goodness-of-fit tests: chi-square, Kolmogorov-Smirnov, the laws
 * they need.
 *
 * The streams of the tests are fixed, so a p-value is a constant of the source:
 * a test that passes once passes always.
 */
#ifndef DPERM_TEST_GOODNESS_H
#define DPERM_TEST_GOODNESS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* P(Gamma(a, 1) > x): series below a + 1, continued fraction above. */
static inline double
gamma_upper(double a, double x)
{
	double		front;
	double		tiny = 1e-300;
	double		b,
				c,
				d,
				h;

	if (x <= 0)
		return 1;
	front = exp(-x + a * log(x) - lgamma(a));
	if (x < a + 1)
	{
		double		term = 1 / a;
		double		sum = term;

		for (double k = a + 1; term > sum * 1e-17; k++)
			sum += term *= x / k;
		return 1 - sum * front;
	}
	b = x + 1 - a;
	c = 1 / tiny;
	d = 1 / b;
	h = d;
	for (int i = 1; i < 10000; i++)
	{
		double		an = -i * (i - a);
		double		delta;

		b += 2;
		d = an * d + b;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = b + an / c;
		c = fabs(c) < tiny ? tiny : c;
		delta = d * c;
		h *= delta;
		if (fabs(delta - 1) < 1e-16)
			break;
	}
	return front * h;
}

/* P-value of a chi-square statistic. */
static inline double
chi_square_p(double statistic, double degrees)
{
	return gamma_upper(degrees / 2, statistic / 2);
}

/*
 * P-value of counts against probabilities. Cells with fewer than five expected
 * draws are merged; an impossible outcome must not have occurred.
 */
static inline double
counts_fit_p(const int64_t *counts, const double *probabilities, int cells, int64_t total)
{
	double		statistic = 0;
	double		rare = 0;
	double		rare_count = 0;
	int			used = 0;

	for (int i = 0; i < cells; i++)
	{
		double		expected = probabilities[i] * (double) total;

		if (expected < 1e-9 && counts[i] > 0)
			return 0;
		if (expected < 5)
		{
			rare += expected;
			rare_count += (double) counts[i];
			continue;
		}
		statistic += ((double) counts[i] - expected) * ((double) counts[i] - expected) / expected;
		used++;
	}
	if (rare >= 5)
	{
		statistic += (rare_count - rare) * (rare_count - rare) / rare;
		used++;
	}
	else if (rare_count > rare + 20)
		return 0;
	return used < 2 ? 1 : chi_square_p(statistic, used - 1);
}

/* Order of doubles for qsort. */
static inline int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * Kolmogorov-Smirnov: p-value that the count values (sorted here) are uniform
 * on [0, 1].
 */
static inline double
uniform_p(double *values, int count)
{
	double		distance = 0;
	double		root = sqrt(count);
	double		x;
	double		p = 0;

	qsort(values, (size_t) count, sizeof(double), compare_doubles);
	for (int i = 0; i < count; i++)
	{
		if (!(values[i] >= 0 && values[i] <= 1))
			return 0;
		distance = fmax(distance, fmax(values[i] - (double) i / count,
									   (double) (i + 1) / count - values[i]));
	}
	x = (root + 0.12 + 0.11 / root) * distance;
	for (int k = 1; k <= 100; k++)
		p += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
	return x < 0.2 ? 1 : fmin(1, fmax(0, p));
}

/*
 * P(U <= u) for a coordinate U of a uniform direction in dim >= 2 dimensions.
 */
static inline double
direction_cdf(int dim, double u)
{
	double		angle = acos(fmax(-1, fmin(1, u)));
	double		part = dim % 2 ? 1 - cos(angle) : angle;	/* integral of sin^m, m = 0, 1 */
	double		whole = dim % 2 ? 2 : acos(-1);

	for (int m = dim % 2 ? 3 : 2; m <= dim - 2; m += 2)
	{
		part = (-pow(sin(angle), m - 1) * cos(angle) + (m - 1) * part) / m;
		whole = (m - 1) * whole / m;
	}
	return 1 - part / whole;
}

#endif							/* DPERM_TEST_GOODNESS_H */
