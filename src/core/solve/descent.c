/*
 * descent.c: accelerated gradient descent in extended precision.
 */
#include "core/solve/descent.h"

#include <math.h>

#include "core/solve/sums.h"

/*
 * The method assumes slightly more smoothness and less convexity than there is,
 * which makes up for the rounding of gradients and points.
 */
#define MORE_SMOOTH (17.0 / 16)
#define LESS_CONVEX (15.0 / 16)

/*
 * Smoothness, and the square root of convexity over smoothness, as the method
 * assumes them.
 */
static double
smoothness(double lambda, double curvature)
{
	return MORE_SMOOTH * (curvature + lambda);
}

static double
root_rate(double lambda, double curvature)
{
	return sqrt(LESS_CONVEX * lambda / smoothness(lambda, curvature));
}

/*
 * Rounding of gradients and points may keep the method from getting below this
 * gradient (docs/guarantee.md, Lemma 12).
 */
double
dperm_descent_reach(int dim, double lambda, DpermLoss loss, int64_t rows, double weight_bound,
					double tilt)
{
	double		curvature = dperm_loss_bounds(loss).curvature;
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		error =
		dperm_moments_extended_rounding(dim, loss, rows, lambda, 2 * weight_bound, tilt);
	double		points = 0x1p-97 * weight_bound;
	double		excess = 32 * error * error / lambda + 60 * smooth / q * points * points;

	return sqrt(2 * smooth * (1 + 1 / q) * 8 / (3 * q) * excess) + error;
}

/* The number of steps after which the gradient is at most half of the bound. */
int64_t
dperm_descent_steps(double lambda, double curvature, double weight_bound, double bound)
{
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		first = 4 * smooth * weight_bound * weight_bound;
	double		last = bound * bound / (16 * smooth * (1 + 1 / q));

	return 1 + (int64_t) ceil(4 / (3 * q) * fmax(log(first / last), 1));
}

/*
 * A step. x, v and y are those of docs/guarantee.md, Lemma 12:
 *
 *   x' = y - g/smooth,   v' = (1-q) v + q y - g/(q smooth),   y' = (x' + q v')/(1+q)
 */
void
dperm_descent_step(int dim, double lambda, double curvature, const double *gradient, double *y,
				   double *v)
{
	DpermExtended q = root_rate(lambda, curvature);
	DpermExtended smooth = smoothness(lambda, curvature);

	for (int i = 0; i < dim; i++)
	{
		DpermExtended g = dperm_quad_get(gradient, dim, i) / smooth;
		DpermExtended from = dperm_quad_get(y, dim, i);
		DpermExtended ahead = (1 - q) * dperm_quad_get(v, dim, i) + q * from - g / q;

		dperm_quad_put(v, dim, i, ahead);
		dperm_quad_put(y, dim, i, (from - g + q * ahead) / (1 + q));
	}
}
