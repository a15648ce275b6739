/*
 * sigma.h: how much Gaussian noise (epsilon, delta) asks for, from the definitions in the guarantee document, by plain
 * quadrature: what the library's bounds are compared with.
 */
#ifndef DPERM_TEST_SIGMA_H
#define DPERM_TEST_SIGMA_H

#include <math.h>
#include <stdbool.h>

#define SIGMA_ANGLES 24
#define SIGMA_STEPS 600

/* Delta at epsilon of two normal laws of deviation 1, mu apart. */
static inline double
sigma_plain_delta(double mu, double epsilon)
{
	long double root = sqrtl(2);

	return (double) (0.5L * erfcl((epsilon / mu - mu / 2) / root) - expl(epsilon) * 0.5L * erfcl((epsilon / mu + mu / 2) / root));
}

/* The mean of max(0, 1 - exp(epsilon - 2/sigma^2 - M/sigma)), M the larger of |a Z| and |b Z'|, by the density of M. */
static inline double
sigma_angle_delta(double sigma, double epsilon, double a, double b)
{
	const double pi = 3.14159265358979323846;
	double		rest = epsilon - 2 / (sigma * sigma);
	double		from = fmax(0, sigma * rest);
	double		step = (from + 12 * a) / SIGMA_STEPS;
	double		sum = 0;

	step = fmin(step, 60 / (1 / sigma + from / (a * a)) / SIGMA_STEPS);
	for (int i = 0; i < SIGMA_STEPS; i++)
	{
		double		m = from + (i + 0.5) * step;
		double		density = sqrt(2 / pi) * (exp(-m * m / (2 * a * a)) / a * (b > 0 ? erf(m / (b * sqrt(2))) : 1) +
											 (b > 0 ? exp(-m * m / (2 * b * b)) / b * erf(m / (a * sqrt(2))) : 0));

		sum += density * -expm1(rest - m / sigma) * step;
	}
	return sum;
}

/* The largest over angles. */
static inline double
sigma_replace_delta(double sigma, double epsilon)
{
	double		most = 0;

	for (int i = 0; i <= SIGMA_ANGLES; i++)
	{
		double		angle = atan(1) * i / SIGMA_ANGLES;

		most = fmax(most, sigma_angle_delta(sigma, epsilon, 2 * cos(angle), 2 * sin(angle)));
	}
	return most;
}

/*
 * The least over p >= 0 of e^-p times the mean of max(0, max(0, Y) - epsilon + e^p - 1 - p), Y normal with variance mu^2 and mean
 * mu^2/2: persons.
 */
static inline double
sigma_person_delta(double mu, double epsilon)
{
	const double pi = 3.14159265358979323846;
	double		least = 1;

	for (double p = 0; p < 8; p = 1.1 * p + 1e-4)
	{
		double		from = epsilon - (exp(p) - 1 - p);
		double		start = fmax((fmax(from, 0) - mu * mu / 2) / mu, -9);
		double		step = (start > 0 ? fmin(9, 50 / start) : 9 - start) / SIGMA_STEPS;
		double		sum = fmax(-from, 0);

		for (int i = 0; i < SIGMA_STEPS; i++)
		{
			double		z = start + (i + 0.5) * step;

			sum += exp(-z * z / 2) / sqrt(2 * pi) * (mu * z + mu * mu / 2 - fmax(from, 0)) * step;
		}
		least = fmin(least, exp(-p) * sum);
	}
	return least;
}

/* What is to be hidden. */
typedef enum SigmaKind
{
	SIGMA_PLAIN,				/* two means at distance 1 */
	SIGMA_REPLACED,				/* rows that are replaced */
	SIGMA_PERSON				/* persons, at distance 1 */
} SigmaKind;

/* Its delta. */
static inline double
sigma_delta(SigmaKind kind, double sigma, double epsilon)
{
	return kind == SIGMA_REPLACED ? sigma_replace_delta(sigma, epsilon) : kind == SIGMA_PERSON ? sigma_person_delta(1 / sigma, epsilon) :
		sigma_plain_delta(1 / sigma, epsilon);
}

/* The least sigma. */
static inline double
sigma_for(double epsilon, double delta, SigmaKind kind)
{
	double		low = 1e-3;
	double		high = 1e6;

	while (high > low * (1 + 1e-6))
	{
		double		sigma = sqrt(low * high);

		if (sigma_delta(kind, sigma, epsilon) > delta)
			low = sigma;
		else
			high = sigma;
	}
	return high;
}

#endif							/* DPERM_TEST_SIGMA_H */
