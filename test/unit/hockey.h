/*
 * hockey.h: what an adversary can learn from Gaussian noise, by brute force:
 * hockey-stick divergences as integrals of nonnegative functions, so that
 * nothing cancels.
 */
#ifndef DPERM_TEST_HOCKEY_H
#define DPERM_TEST_HOCKEY_H

#include <math.h>

/* Beyond this many e-folds nothing matters here. */
#define HOCKEY_FOLDS 60

#define HOCKEY_STEPS 4000

/* Simpson's weights: 1, 4, 2, 4, ..., 4, 1. */
static inline double
hockey_weight(int i, int steps)
{
	return i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
}

/*
 * Two normal laws of variance 1, mu apart: the integral of (p - e^epsilon q)_+.
 * The loss at the point t of the first is mu t + mu^2/2, and it is epsilon at t
 * = from.
 */
static inline double
hockey_normals(double mu, double epsilon)
{
	double		from = epsilon / mu - mu / 2;
	double		start = fmax(from, -11);
	double		length = start > 0 ? fmin(11, HOCKEY_FOLDS / start) : 11 - start;
	double		step = length / HOCKEY_STEPS;
	double		sum = 0;

	for (int i = 0; i <= HOCKEY_STEPS; i++)
	{
		double		t = start + i * step;

		sum += hockey_weight(i, HOCKEY_STEPS) * exp(-t * t / 2) * -expm1(-mu * (t - from));
	}
	return sum * step / 3 / sqrt(2 * M_PI);
}

/* The same by the closed form, in long double. */
static inline long double
hockey_closed(long double mu, long double epsilon)
{
	long double root = sqrtl(0.5L);

	return (erfcl((epsilon / mu - mu / 2) * root) - expl(epsilon) * erfcl((epsilon / mu + mu / 2) * root)) / 2;
}

#endif							/* DPERM_TEST_HOCKEY_H */
