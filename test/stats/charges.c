/*
 * charges.c: looks for charges that are too low: a dimension, a shift and an
 * order at which noise in the ball has a Renyi divergence above its bound, and
 * divergences that convert to more than the program says. (For tables that tell
 * more than their trainings are charged, see audit/divergence.c.)
 */
#include <float.h>

#include "audit/simplex.h"
#include "core/privacy/ball_divergence.h"
#include "core/privacy/composition.h"
#include "unit/ball_integral.h"
#include "unit/test.h"

/* ------------------------------------------------------ noise in the ball */

/*
 * The integral as a share of the bound; the numbers are a dimension, a shift
 * and an order.
 */
static double
ball_share(const void *arg, const double *point)
{
	int			dim = 2 + (int) fabs(point[0]);
	double		shift = exp(-fabs(point[1]));
	double		order = 1 + exp(point[2]);

	(void) arg;

	/* where the quadrature is exact enough */
	if (dim > 60 || shift < 1e-3 || order > 200 || order < 1.01 || (order - 1) * shift > 30)
		return 0;
	return ball_integral(shift, dim, order) / dperm_ball_divergence(shift, dim, order);
}

TEST(no_shift_is_above_the_bound)
{
	TestRandom	state = 5;
	double		highest = 0;

	for (int i = 0; i < 12; i++)
	{
		double		point[] = {30 * test_uniform(&state), 5 * test_uniform(&state), 5 * test_uniform(&state) - 2};

		highest = fmax(highest, simplex_climb(ball_share, NULL, point, 3, 1, 40));
	}
	printf("noise in the ball: %.4f of the bound\n", highest);
	CHECK(highest <= 1 && highest > 0.97);
}

/*
 * The bound for more coordinates as a share of that for fewer: a call is
 * charged for straight lines, and may release curves.
 */
static double
more_coordinates(const void *arg, const double *point)
{
	int			dim = 2 + (int) fabs(point[0]);
	double		shift = exp(-fabs(point[1]));
	double		order = 1 + exp(fmin(point[2], 9));
	double		fewer = dperm_ball_divergence(shift, dim, order);
	double		more;

	(void) arg;
	if (isinf(fewer) || dim > 5000)
		return 0;
	more = dperm_ball_divergence(shift, dim + 1 + (int) fabs(point[3]), order);
	return more / fewer;
}

TEST(more_coordinates_never_cost_more)
{
	TestRandom	state = 6;
	double		highest = 0;

	for (int i = 0; i < 300; i++)
	{
		double		point[] = {5000 * pow(test_uniform(&state), 4), 14 * test_uniform(&state), 12 * test_uniform(&state) - 5, 3 * test_uniform(&state)};

		highest = fmax(highest, simplex_climb(more_coordinates, NULL, point, 4, 1, 60));
	}
	printf("more coordinates: %.6f of the bound for fewer\n", highest);
	CHECK(highest < 1 && highest > 0.999);
}

/* --------------------------------------------------------- conversion */

#if LDBL_MANT_DIG > DBL_MANT_DIG
TEST(conversion_is_rounded_up)
{
	TestRandom	state = 7;
	int			below = 0;

	for (int i = 0; i < 300000; i++)
	{
		double		order = 1 + pow(10, -2 + 8 * test_uniform(&state));
		double		delta = pow(10, -15 * test_uniform(&state));
		double		divergence = pow(10, -12 + 14 * test_uniform(&state));
		long double above = (long double) order - 1;
		long double exact = divergence - log1pl(1 / above) - (logl(delta) + logl(order)) / above;

		below += dperm_composition_convert(divergence, order, delta) < exact;
	}
	CHECK(below == 0);
}
#endif
