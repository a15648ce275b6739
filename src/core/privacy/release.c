/*
 * release.c: rounding to the grid and adding exact discrete noise.
 */
#include "core/privacy/release.h"

#include <math.h>

#include "core/privacy/draw.h"

/*
 * Grid points are clamped here before noise is added. The calibration makes the
 * grid so coarse that the clamp is only reached in the tail event of the noise;
 * a clamp is a contraction, so it never increases the sensitivity.
 */
#define POINT_MAX 0x1p60

/* Replace weights by their released form (docs/guarantee.md, "Release"). */
void
dperm_release(DpermEntropy *e, int dim, double grid, int64_t scale, double *weights)
{
	for (int i = 0; i < dim; i++)
	{
		double		point = rint(weights[i] / grid);	/* exact: grid is a power of two */
		int64_t		sum;

		point = fmax(-POINT_MAX, fmin(POINT_MAX, point));
		sum = (int64_t) point + dperm_draw_discrete_laplace(e, scale);
		weights[i] = grid * (double) sum;
	}
}

/* The variance of P(z) ~ q^|z| is 2 q/(1 - q)^2, here with q = exp(-1/scale). */
double
dperm_release_deviation(double grid, int64_t scale)
{
	return grid / (sqrt(2) * sinh(0.5 / (double) scale));
}
