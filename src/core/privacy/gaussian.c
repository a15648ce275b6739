/*
 * gaussian.c: how much Gaussian noise (epsilon, delta) requires.
 * Trusted.
 */
#include "core/privacy/gaussian.h"

#include <math.h>
#include <stdbool.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_TWO_PI 2.50662827463100050242

/* More than the relative error of the terms of a formula. */
#define ROUNDING 1e-11

/* The relative precision of the search for sigma; the result is then rounded up. */
#define PRECISION 1e-5

/* Below every sigma that can be needed; and the first step of the search. */
#define SIGMA_MIN 1e-3
#define FIRST_STEP 1.05

/* Steps towards the best tangent, each of which gives a bound; and their limit. */
#define TANGENTS 16
#define TANGENT_MAX 600

/* The probability that a standard normal is below x. */
static double
normal_below(double x)
{
	return 0.5 * erfc(-x * SQRT_HALF);
}

/* Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), rounded up. */
double
dperm_gaussian_delta(double mu, double epsilon)
{
	double		first = normal_below(mu / 2 - epsilon / mu);
	double		second = exp(epsilon) * normal_below(-mu / 2 - epsilon / mu);

	return fmin(fmax(first - second, 0) + first * ROUNDING, 1);
}

/*
 * The mean of (max(floor, Y) - from)_+ for a normal Y with variance mu^2 and
 * mean mu^2/2, rounded up; *above becomes the probability that this is
 * positive.
 */
static double
mean_excess(double mu, double floor, double from, double *above)
{
	double		z = (fmax(from, floor) - mu * mu / 2) / mu;
	double		density = exp(-z * z / 2) / SQRT_TWO_PI;
	double		beyond = normal_below(-z);
	double		excess = fmax(density - z * beyond, 0) + (density + fabs(z) * beyond) * ROUNDING;

	*above = from < floor ? 1 : beyond;
	return mu * excess + fmax(floor - from, 0);
}

/*
 * The function (1 - exp(epsilon - loss))_+ is not convex in the loss, so
 * averages cannot be split; but it is below the positive part of each of its
 * tangents: the one with slope e^-p is positive from epsilon - (e^p - 1 - p)
 * on. Every p gives a bound; the best has e^p - 1 = the mean excess over that
 * point, given that there is one. Tangents that begin below a positive floor
 * are left out: with x = e^p - 1, e^p - 1 - p is at most x^2/2, and at most x.
 */
double
dperm_gaussian_average_delta(double mu, double epsilon, double floor)
{
	double		room = fmax(epsilon - floor, 0);
	double		most = floor > 0 ? log1p(fmax(sqrt(2 * room), room)) : TANGENT_MAX;
	double		p = 0;
	double		least = 1;

	for (int i = 0; i < TANGENTS; i++)
	{
		double		above;
		double		excess = mean_excess(mu, floor, epsilon - (expm1(p) - p), &above);

		least = fmin(least, exp(-p) * excess * (1 + ROUNDING));
		if (!(above > 0))
			break;
		p = fmin(log1p(excess / above), most);
	}
	return least;
}

/* As a function of sigma: of two means, or of an average. */
static double
bound(bool average, double sigma, double epsilon, double floor)
{
	return average ? dperm_gaussian_average_delta(1 / sigma, epsilon, floor) :
		dperm_gaussian_delta(1 / sigma, epsilon);
}

/* The least sigma, up to PRECISION, at which the bound, which falls, is below delta. */
static double
find_sigma(bool average, double epsilon, double delta, double floor)
{
	double		low = SIGMA_MIN;
	double		high = SIGMA_MIN * FIRST_STEP;

	for (double step = FIRST_STEP; bound(average, high, epsilon, floor) > delta; step *= step)
	{
		low = high;
		high *= step;
		if (isinf(high))
			return high;
	}
	while (high > low * (1 + PRECISION))
	{
		double		middle = sqrt(low * high);

		if (bound(average, middle, epsilon, floor) > delta)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
dperm_gaussian_sigma(double epsilon, double delta)
{
	return find_sigma(false, epsilon, delta, 0);
}

/*
 * A single removed row has one direction; every other case is an average
 * (section "Gaussian noise").
 */
double
dperm_gaussian_objective_sigma(DpermNeighbours neighbours, DpermUnit unit, double epsilon,
							   double delta, double floor)
{
	if (unit == DPERM_UNIT_ROW && neighbours == DPERM_NEIGHBOURS_REMOVE)
		return dperm_gaussian_sigma(epsilon, delta);
	return dperm_claim_rows_apart(neighbours) * find_sigma(true, epsilon, delta, floor);
}
