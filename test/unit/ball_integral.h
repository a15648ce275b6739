/*
 * ball_integral.h: the Renyi divergence of noise of density proportional to
 * exp(-|b|) between two centres, by its integral over the norm r of the noise
 * and the angle between noise and shift.
 */
#ifndef DPERM_TEST_BALL_INTEGRAL_H
#define DPERM_TEST_BALL_INTEGRAL_H

#include <math.h>

#define BALL_NORMS 400
#define BALL_ANGLES 200

/*
 * The mean over angles of e^(above loss) less 1, at a norm: by the trapezoidal
 * rule, since the integrand is periodic.
 */
static inline double
ball_angles(double r, double shift, int dim, double above)
{
	double		sum = 0;
	double		weights = 0;

	for (int i = 0; i <= BALL_ANGLES; i++)
	{
		double		angle = M_PI * i / BALL_ANGLES;
		double		weight = pow(sin(angle), dim - 2) * (i % BALL_ANGLES ? 1 : 0.5);
		double		t = cos(angle);
		double		far = sqrt(r * r - 2 * r * shift * t + shift * shift);

		/* the loss, |b - shift| - |b|, without cancellation */
		sum += weight * expm1(above * shift * (shift - 2 * r * t) / (far + r));
		weights += weight;
	}
	return sum / weights;
}

static inline double
ball_integral(double shift, int dim, double order)
{
	double		above = order - 1;
	double		top = dim + 14 * sqrt(dim) + 60;
	double		sum = 0;

	/* r = top x^2, by midpoints: finer near 0 */
	for (int i = 0; i < BALL_NORMS; i++)
	{
		double		x = (i + 0.5) / BALL_NORMS;
		double		r = top * x * x;
		double		density = exp((dim - 1) * log(r) - r - lgamma(dim)) * 2 * top * x / BALL_NORMS;

		if (density > 0)
			sum += density * ball_angles(r, shift, dim, above);
	}
	return log1p(sum) / above;
}

#endif							/* DPERM_TEST_BALL_INTEGRAL_H */
