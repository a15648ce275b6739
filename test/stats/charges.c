/*
 * charges.c: looks for charges that are too low: a training whose model has a
 * larger Renyi divergence, by dp_compose, than its call was charged with; a
 * dimension, a shift and an order at which noise in the ball has one above its
 * bound; and divergences that convert to more than the program says. (For
 * tables that tell more than their trainings are charged, see
 * audit/divergence.c.)
 */
#include <float.h>

#include "audit/simplex.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/charge.h"
#include "core/model/model_release.h"
#include "core/privacy/composition.h"
#include "unit/ball_integral.h"
#include "unit/test.h"

/* ------------------------------------------------- models and their calls */

/* What a climb keeps: the kind of call; its numbers are from 0 to 1. */
typedef struct Call
{
	DpermSetup	setup;
	bool		automatic;
	bool		given;			/* lambda, or else the default */
} Call;

/* A power of ten, from 10^low to 10^high. */
static double
power(double share, double low, double high)
{
	return pow(10, fmin(low + (high - low) * fabs(share), high));
}

/* The setup of a call: epsilon, delta, rows, weights, slack, lambda, h. */
static DpermSetup
setup_at(const Call *call, const double *point)
{
	DpermSetup	s = call->setup;

	s.epsilon = power(point[0], -6, 2.69897);
	s.delta = s.delta > 0 ? fmin(power(point[1], -15, 0), 0.999) : 0;
	s.rows = (int64_t) power(point[2], 0, 9.9);
	s.dim = (int) power(point[3], 0, 3.69);
	s.slack = s.method == DPERM_METHOD_OUTPUT ? 0 : power(point[4], -3, -0.046);
	s.loss.h = s.loss.kind == DPERM_LOSS_LOGISTIC ? 0 : power(point[6], s.loss.kind == DPERM_LOSS_LOG_COSH ? -1.69 : -2, 0);
	s.lambda = call->given ? power(point[5], -10, 9) : dperm_calibrate_default_lambda(&s);
	return s;
}

/* The divergence of the model as a share of the charge. */
static double
charge_share(const void *arg, const double *point)
{
	const Call *call = arg;
	DpermSetup	s = setup_at(call, point);
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = s.dim, .norm = 1};
	DpermSpend	spend = {.neighbours = s.neighbours, .unit = s.unit, .epsilon = s.epsilon, .delta = s.delta, .dim = s.dim,
		.loss = s.loss, .slack = s.slack > 0 ? s.slack : DPERM_CHARGE_SLACK};
	double		order = 1 + power(point[7], -2, 4);
	DpermCalibration cal;
	DpermModel	model;
	DpermRelease release;
	double		charged;

	if (dperm_calibrate(&s, &cal) != NULL)
		return 0;
	memset(&model, 0, sizeof(model));
	model.loss = s.loss;
	model.method = s.method;
	model.claim = cal.claim;
	model.lambda_effective = cal.lambda;
	model.rows = s.rows;
	model.noise_scale = cal.noise_scale;
	model.encoder = (DpermEncoder) {.block_count = 1, .blocks = &block};
	release = dperm_model_release(&model);
	spend.output = call->automatic || s.method == DPERM_METHOD_OUTPUT;
	spend.objective = call->automatic || s.method == DPERM_METHOD_OBJECTIVE;
	charged = dperm_amount_double(dperm_charge_of(&spend, order).divergence);

	/* the largest amount is above every limit */
	return charged < 1e6 ? dperm_composition_curve(&release, order) / charged : 0;
}

TEST(no_model_is_above_its_charge)
{
	TestRandom	state = 11;
	double		highest = 0;

	for (int i = 0; i < 240; i++)
	{
		Call		call = {.automatic = i % 7 == 0, .given = i % 3 > 0};
		double		point[8];
		double		share;

		call.setup.loss.kind = (DpermLossKind) (i / 16 % DPERM_LOSS_SOFTMAX);
		call.setup.neighbours = (DpermNeighbours) (i / 2 % 2);
		call.setup.unit = (DpermUnit) (i / 4 % 2);
		call.setup.method = (DpermMethod) (i / 8 % 2);
		call.setup.delta = i % 5 > 0 ? 1e-6 : 0;
		for (int j = 0; j < 8; j++)
			point[j] = test_below(&state, 6) == 0 ? 0 : test_uniform(&state);
		share = simplex_climb(charge_share, &call, point, 8, 0.2, 60);
		CHECK(share <= 1);
		if (call.setup.delta > 0)
			highest = fmax(highest, share);
	}
	printf("models with a delta: %.6f of their charge\n", highest);
	CHECK(highest > 0.9999);
}

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
	return ball_integral(shift, dim, order) / dperm_composition_ball(shift, dim, order);
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
	double		fewer = dperm_composition_ball(shift, dim, order);
	double		more;

	(void) arg;
	if (isinf(fewer) || dim > 5000)
		return 0;
	more = dperm_composition_ball(shift, dim + 1 + (int) fabs(point[3]), order);
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
