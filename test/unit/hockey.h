/*
 * hockey.h: what an adversary can learn from Gaussian noise, by brute force: hockey-stick divergences as integrals of what is
 * never negative, so that nothing cancels.
 */
#ifndef DPERM_TEST_HOCKEY_H
#define DPERM_TEST_HOCKEY_H

#include <math.h>

/* Beyond this many e-folds nothing is left that matters here. */
#define HOCKEY_FOLDS 60

#define HOCKEY_STEPS 4000
#define HOCKEY_RADII 160
#define HOCKEY_ANGLES 160

/* Simpson's weights: 1, 4, 2, 4, ..., 4, 1. */
static inline double
hockey_weight(int i, int steps)
{
	return i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
}

/*
 * Two normal laws of variance 1, mu apart: the integral of (p - e^epsilon q)_+. The loss at the point t of the first is
 * mu t + mu^2/2, and it is epsilon at t = from.
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

/* One direction of the next: the integral over radii of r exp(-r^2/2) (1 - exp(rest - r slope))_+. */
static inline double
hockey_ray(double rest, double slope)
{
	double		from = fmax(rest / slope, 0);
	double		length = fmin(11, HOCKEY_FOLDS / fmax(from, 1));
	double		step = length / HOCKEY_RADII;
	double		sum = 0;

	for (int i = 0; i <= HOCKEY_RADII; i++)
	{
		double		r = from + i * step;

		sum += hockey_weight(i, HOCKEY_RADII) * r * exp(-r * r / 2) * -expm1(rest - slope * r);
	}
	return sum * step / 3;
}

/*
 * Objective perturbation, a row replaced by another at the angle 2 theta: the mean of (1 - exp(rest - M/sigma))_+ for
 * M = max(2 cos(theta)|Z1|, 2 sin(theta)|Z2|) and rest = epsilon - 2/sigma^2, in polar coordinates of (Z1, Z2). There is a kink
 * where both are as large, so the directions before and after it are taken apart.
 */
static inline double
hockey_replace(double sigma, double epsilon, double theta)
{
	double		rest = epsilon - 2 / (sigma * sigma);
	double		kink = M_PI / 2 - theta;
	double		sum = 0;

	for (int part = 0; part < 2; part++)
	{
		double		low = part ? kink : 0;
		double		high = part ? M_PI / 2 : kink;
		double		step = (high - low) / HOCKEY_ANGLES;

		for (int i = 0; step > 0 && i <= HOCKEY_ANGLES; i++)
		{
			double		angle = low + i * step;
			double		slope = (part ? 2 * sin(theta) * sin(angle) : 2 * cos(theta) * cos(angle)) / sigma;

			/* where no noise goes that way */
			if (slope > 1e-9)
				sum += hockey_weight(i, HOCKEY_ANGLES) * step / 3 * hockey_ray(rest, slope);
		}
	}
	return sum * 4 / (2 * M_PI);
}

/* The largest over angles, of which the ones above a quarter of pi are those below it. */
static inline double
hockey_replace_most(double sigma, double epsilon, int angles)
{
	double		most = 0;

	for (int i = 0; i <= angles; i++)
		most = fmax(most, hockey_replace(sigma, epsilon, M_PI / 4 * i / angles));
	return most;
}

#endif							/* DPERM_TEST_HOCKEY_H */
