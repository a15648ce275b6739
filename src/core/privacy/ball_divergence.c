/*
 * ball_divergence.c: the Renyi divergence of noise in the ball.
 *
 * The loss is at most -shift t + min(shift^2/(2 r), 2 shift), where r, the norm
 * of the noise, has the law Gamma(dim), and t, the first coordinate of its
 * direction, is independent of r. So the moment of the loss is at most a moment
 * of t times a moment of r.
 */
#include "core/privacy/ball_divergence.h"

#include <math.h>

#define TWO_PI 6.28318530717958647693

/* Beyond this the exponent of a moment is not worth the risk of overflow. */
#define EXPONENT_MAX 600

/* Less is taken as this: the divergence grows with the shift, and squares do not underflow. */
#define SHIFT_MIN 1e-100

/* Cells of the norm get smaller by this factor. */
#define CELL 0.8

/* The series ends at terms below this share of its sum. */
#define NEGLIGIBLE 1e-18

/*
 * More than the relative error of the sums here, all of whose terms are
 * positive.
 */
#define NUDGE (1 + 1e-10)

/*
 * The mean of exp(x t) less 1, where t is a coordinate of a uniform point of
 * the sphere: the hypergeometric series 0F1(dim/2; x^2/4).
 */
static double
direction_excess(double x, int dim)
{
	double		term = 1;
	double		sum = 0;
	double		ratio;

	for (int k = 0;; k++)
	{
		ratio = x * x / 4 / ((k + 1.0) * (dim / 2.0 + k));
		term *= ratio;
		sum += term;

		/* from here on terms fall by half at least: the rest is below this one */
		if (ratio < 0.5 && term <= NEGLIGIBLE * sum)
			return (sum + term) * NUDGE;
	}
}

/*
 * A bound on the probability that Gamma(dim) is below z dim, z <= 1/2: the
 * terms of its series fall faster than geometrically, and Stirling's formula
 * is below the factorial.
 */
static double
norm_below(double z, int dim)
{
	return exp(dim * (log(z) + 1 - z)) / sqrt(TWO_PI * dim) / (1 - z);
}

/*
 * The mean of exp(above s) less 1, s = min(shift^2/(2 r), 2 shift). From dim/2
 * on the function is below its chord in 1/r, whose mean is 1/(dim - 1). Below,
 * it is split into cells, each of which has the value at its lower end.
 */
static double
norm_excess(double shift, int dim, double above)
{
	double		half = dim / 2.0;
	double		most = 2 * above * shift;
	double		power = above * shift * shift / 2;
	double		first = fmin(power / half, most);
	double		value = expm1(first);
	double		sum = power / (dim - 1) * (first > 0 ? value / first : 1);
	double		z = 0.5;

	sum += value * norm_below(z, dim);
	for (double at = first; at < most;)
	{
		double		next;
		double		below = norm_below(z, dim);

		z *= CELL;
		at = fmin(power / (z * dim), most);
		next = expm1(at);
		sum += (next - value) * below;
		value = next;
	}
	return sum * NUDGE;
}

double
dperm_ball_divergence(double shift, int dim, double order)
{
	double		above = order - 1;

	if (dim < 2 || !(2 * above * shift < EXPONENT_MAX))
		return INFINITY;
	if (shift > 0)
		shift = fmax(shift, SHIFT_MIN);
	return (log1p(direction_excess(above * shift, dim)) + log1p(norm_excess(shift, dim, above))) /
		above * NUDGE;
}
