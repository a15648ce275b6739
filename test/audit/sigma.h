/*
 * sigma.h: how much Gaussian noise (epsilon, delta) requires, from the
 * definitions in the guarantee document, by plain quadrature: what the
 * library's bounds are compared with.
 */
#ifndef DPERM_TEST_SIGMA_H
#define DPERM_TEST_SIGMA_H

#include <math.h>
#include <stdbool.h>

#define SIGMA_STEPS 600

/* Delta at epsilon of two normal laws of deviation 1, mu apart. */
static inline double
sigma_plain_delta(double mu, double epsilon)
{
	long double root = sqrtl(2);

	return (double) (0.5L * erfcl((epsilon / mu - mu / 2) / root) - expl(epsilon) * 0.5L * erfcl((epsilon / mu + mu / 2) / root));
}

/*
 * The least over p >= 0 of e^-p times the mean of max(0, max(0, Y) - epsilon + e^p - 1 - p), Y normal with variance mu^2 and mean
 * mu^2/2: persons, and a row that is replaced. If the terms of the average may be as large as a positive floor, only those p
 * count whose tangent begins above it.
 */
static inline double
sigma_person_delta(double mu, double epsilon, double floor)
{
	const double pi = 3.14159265358979323846;
	double		least = 1;

	for (double p = 0; p < 8; p = 1.1 * p + 1e-4)
	{
		double		from = epsilon - (exp(p) - 1 - p);
		double		start = fmax((fmax(from, 0) - mu * mu / 2) / mu, -9);
		double		step = (start > 0 ? fmin(9, 50 / start) : 9 - start) / SIGMA_STEPS;
		double		sum = fmax(-from, 0);

		if (floor > 0 && p > 0 && from < floor)
			break;

		for (int i = 0; i < SIGMA_STEPS; i++)
		{
			double		z = start + (i + 0.5) * step;

			sum += exp(-z * z / 2) / sqrt(2 * pi) * (mu * z + mu * mu / 2 - fmax(from, 0)) * step;
		}
		least = fmin(least, exp(-p) * sum);
	}
	return least;
}

/* The least sigma for two means at distance 1, or for an average of such. */
static inline double
sigma_for(double epsilon, double delta, bool average, double floor)
{
	double		low = 1e-3;
	double		high = 1e6;

	while (high > low * (1 + 1e-6))
	{
		double		sigma = sqrt(low * high);

		if ((average ? sigma_person_delta(1 / sigma, epsilon, floor) : sigma_plain_delta(1 / sigma, epsilon)) > delta)
			low = sigma;
		else
			high = sigma;
	}
	return high;
}

#endif							/* DPERM_TEST_SIGMA_H */
