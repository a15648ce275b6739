/*
 * test_fit_prior.c: fits whose regulariser is centred at the weights of a
 * prior: what they minimise, and a search for priors, rows and parameters that
 * break a bound.
 */
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/base/core.h"
#include "core/base/linsys.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/model/model.h"
#include "unit/entropy.h"
#include "unit/oracle.h"
#include "unit/problem.h"
#include "unit/quad.h"

#define DIM_MAX 6
#define COUNT_MAX 40
#define CASES 40000

static double data[DIM_MAX * COUNT_MAX];
static double moments_room[200000];
static double fit_room[100000];

/* A fit and what it ended with, before the release. */
typedef struct Trial
{
	Rows		rows;
	double		prior[DIM_MAX];
	DpermFit	fit;
	bool		certified;
	double		weights[DIM_MAX];
	double		noise[DIM_MAX];	/* as drawn; 0 without noise */
} Trial;

/* Run a fit up to its release. */
static void
run_trial(Trial *trial, uint64_t seed)
{
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(&trial->rows, &chunk, moments_room);
	DpermSetup *setup = &trial->fit.setup;
	DpermEntropy entropy;
	TestEntropy source;
	DpermFitting fitting;

	matrix.of = matrix.count;
	matrix.units = (double) setup->rows;
	setup->prior_norm = dperm_model_norm(trial->prior, setup->dim);
	trial->fit.prior = trial->prior;
	trial->fit.entropy = &entropy;
	CHECK(dperm_calibrate(setup, &trial->fit.calibration) == NULL);
	memset(trial->noise, 0, sizeof(trial->noise));
	test_entropy_init(&entropy, &source, seed);
	if (!isinf(setup->epsilon))
		dperm_noise_draw(&entropy, dperm_setup_law(setup), NULL, setup->dim,
						 trial->fit.calibration.noise_scale, trial->noise);
	test_entropy_init(&entropy, &source, seed);
	matrix.rough = dperm_solver_rough(trial->fit.calibration.lambda, trial->fit.setup.loss);
	dperm_fit_start(&fitting, &trial->fit, trial->weights, fit_room);
	dperm_fit_minimise(&fitting, oracle_matrix_answer, &matrix);
	trial->certified = fitting.certified;
}

/*
 * The norm of the exact gradient of the mean loss, of lambda/2 |f - prior|^2
 * and of the noise, at the weights.
 */
static double
centred_gradient(const Trial *trial)
{
	int			dim = trial->rows.dim;
	double		lambda = trial->fit.calibration.lambda;
	bool		tilted = trial->fit.setup.method == DPERM_METHOD_OBJECTIVE;
	Quad		gradient[DIM_MAX] = {0};
	double		sum = 0;

	for (int64_t i = 0; i < trial->rows.count; i++)
	{
		const double *row = trial->rows.data + i * dim;
		Quad		margin = 0;
		Quad		slope;

		for (int j = 0; j < dim; j++)
			margin += (Quad) row[j] * trial->weights[j];
		slope = quad_slope(trial->rows.loss, margin) / trial->fit.setup.rows;
		for (int j = 0; j < dim; j++)
			gradient[j] += slope * row[j];
	}
	for (int j = 0; j < dim; j++)
	{
		gradient[j] += (Quad) lambda * ((Quad) trial->weights[j] - trial->prior[j]);
		if (tilted)
			gradient[j] += (Quad) trial->noise[j] / trial->fit.setup.rows;
		sum = hypot(sum, quad_size(gradient[j]));
	}
	return sum;
}

static double
norm_of(const double *vector, int dim)
{
	double		sum = 0;

	for (int j = 0; j < dim; j++)
		sum = hypot(sum, vector[j]);
	return sum;
}

/* All bounds of a trial; false if one is broken. */
static bool
holds(const Trial *trial)
{
	const DpermSetup *setup = &trial->fit.setup;
	const DpermCalibration *cal = &trial->fit.calibration;
	int			dim = setup->dim;
	bool		objective = setup->method == DPERM_METHOD_OBJECTIVE;
	double		prior = norm_of(trial->prior, dim);
	double		size = norm_of(trial->weights, dim);
	double		noise = objective ? norm_of(trial->noise, dim) / setup->rows : 0;
	double		c = dperm_loss_bounds(setup->loss).curvature;
	double		gradient = centred_gradient(trial);
	/* of the tilt: the quotient, the product and the sum; of the weights */
	double		rounding = DBL_EPSILON * (noise + cal->lambda * prior) +
		DBL_EPSILON / 2 * (c + cal->lambda) * size;

	if (!trial->certified || !(gradient <= (cal->gradient_bound + rounding) * (1 + 1e-9)))
		return false;
	if (!(size <= cal->weight_bound / 1.01 * (1 + 1e-9) + gradient / cal->lambda))
		return false;
	if (isinf(setup->epsilon))
		return true;
	/* what the release hides, and where it can put it */
	return cal->residual >= (cal->gradient_bound + DBL_EPSILON * (noise + cal->lambda * prior)) / cal->lambda +
		DBL_EPSILON / 2 * size &&
		size + (objective ? 0 : norm_of(trial->noise, dim)) <= cal->grid * 0x1p50;
}

/* A number from a list. */
static double
pick(TestRandom *state, const double *list, int count)
{
	return list[(int) (test_uniform(state) * count)];
}

/* Turn a prior into another one of this norm: where trials may break. */
static void
choose_prior(TestRandom *state, Trial *trial, double norm)
{
	int			dim = trial->rows.dim;
	int			way = (int) (test_uniform(state) * 5);
	double		length;

	for (int j = 0; j < dim; j++)
		trial->prior[j] = test_uniform(state) - 0.5;
	if (way == 1)				/* along a row, against its label */
		for (int j = 0; j < dim; j++)
			trial->prior[j] = -trial->rows.data[j];
	else if (way == 2)			/* with its label */
		for (int j = 0; j < dim; j++)
			trial->prior[j] = trial->rows.data[j];
	else if (way == 3)			/* one coordinate */
		for (int j = 1; j < dim; j++)
			trial->prior[j] = 0;
	else if (way == 4)			/* against the minimiser of the last trial */
		for (int j = 0; j < dim; j++)
			trial->prior[j] = -trial->weights[j];
	length = norm_of(trial->prior, dim);
	for (int j = 0; j < dim; j++)
		trial->prior[j] = length > 1e-300 ? trial->prior[j] / length * norm : 0;
}

/*
 * Rows of any shape, extreme priors, n, lambda and epsilon: no certificate, no
 * bound on weights, residual or grid is broken.
 */
TEST(survives_a_search)
{
	static const double norms[] = {0, 0x1p-1074, 1e-310, 1e-160, 1e-20, 1e-3, 1, 10, 300, 1e4, 9.999e5};
	static const double lambdas[] = {1e-10, 1e-7, 1e-4, 1e-3, 0.03, 1, 50, 1e4, 1e9};
	static const double epsilons[] = {1e-3, 0.1, 1, 30, INFINITY};
	static const double empty[] = {1, 1, 100, 1e5, 1e8};	/* rows without a label for each of the others */
	TestRandom	state = 71;
	static Trial trial;

	for (int i = 0; i < CASES; i++)
	{
		DpermLossKind kind = (DpermLossKind) (i % 3);
		DpermLoss	loss = {kind, kind == DPERM_LOSS_LOGISTIC ? 0 : i % 2 ? 0.5 : 0.01};
		int			dim = 1 + (int) (test_uniform(&state) * DIM_MAX);
		int			count = 1 + (int) (pow(test_uniform(&state), 3) * (COUNT_MAX - 1));

		trial.rows = (Rows) {.loss = loss, .dim = dim, .count = count, .data = data};
		make_rows(&state, (Shape) (test_uniform(&state) * SHAPES), &trial.rows);
		memset(&trial.fit, 0, sizeof(trial.fit));
		trial.fit.setup = (DpermSetup) {
			.loss = loss,
			.method = (DpermMethod) (test_uniform(&state) * DPERM_METHOD_COUNT),
			.neighbours = (DpermNeighbours) (test_uniform(&state) * 2),
			.epsilon = pick(&state, epsilons, 5),
			.lambda = pick(&state, lambdas, 9),
			.rows = count * (int64_t) pick(&state, empty, 5),
			.dim = dim
		};
		if (!isinf(trial.fit.setup.epsilon) && test_uniform(&state) < 0.3)
			trial.fit.setup.delta = 1e-6;
		choose_prior(&state, &trial, pick(&state, norms, 11));
		run_trial(&trial, 1000 + (uint64_t) i);
		CHECK(holds(&trial));
	}
}

/*
 * The same minimiser as by nested bisection, which knows the prior only as a
 * linear term; the products are exact.
 */
TEST(finds_the_minimiser)
{
	static const double priors[][2] = {{0, 0}, {2, -1}, {-16, 4}, {0x1p-30, 0}, {100, 100}};
	TestRandom	state = 72;
	static Trial trial;

	for (int i = 0; i < 60; i++)
	{
		DpermLossKind kind = (DpermLossKind) (i % 3);
		double		lambda = i % 2 ? 0x1p-7 : 0.5;
		const double *prior = priors[i / 6 % 5];
		double		tilt[2] = {-lambda * prior[0], -lambda * prior[1]};
		long double expected[2];

		trial.rows = (Rows) {.loss = {kind, kind == DPERM_LOSS_LOGISTIC ? 0 : 0.5}, .dim = 1 + i / 30,
			.count = 12, .data = data};
		make_rows(&state, SHAPE_NOISY, &trial.rows);
		memset(&trial.fit, 0, sizeof(trial.fit));
		trial.fit.setup = (DpermSetup) {.loss = trial.rows.loss, .method = (DpermMethod) (i % 2),
			.epsilon = INFINITY, .lambda = lambda, .rows = 12, .dim = trial.rows.dim};
		memcpy(trial.prior, prior, sizeof(double) * 2);
		run_trial(&trial, 1);
		expected[0] = bisect_coordinate(&trial.rows, lambda, tilt, expected, 0);
		for (int j = 0; j < trial.rows.dim; j++)
			CHECK_NEAR(trial.weights[j], (double) expected[j], 1e-9 * (1 + fabs(prior[j])));
	}
}

/* Without rows that say anything, and with a large lambda, it is the prior. */
TEST(keeps_the_prior)
{
	TestRandom	state = 73;
	static Trial trial;

	for (int i = 0; i < 40; i++)
	{
		double		lambda = i % 2 ? 1e-3 : 1e6;

		trial.rows = (Rows) {.loss = {DPERM_LOSS_LOGISTIC, 0}, .dim = 3, .count = 20, .data = data};
		make_rows(&state, i % 2 ? SHAPE_ZERO : SHAPE_NOISY, &trial.rows);
		memset(&trial.fit, 0, sizeof(trial.fit));
		trial.fit.setup = (DpermSetup) {.loss = trial.rows.loss, .method = (DpermMethod) (i / 2 % 2),
			.epsilon = INFINITY, .lambda = lambda, .rows = 20, .dim = 3};
		choose_prior(&state, &trial, 7);
		run_trial(&trial, 1);
		for (int j = 0; j < 3; j++)
			CHECK_NEAR(trial.weights[j], trial.prior[j], 2e-6);
	}
}

/* Without a prior, and with one that is 0, the same weights. */
TEST(is_the_same_at_zero)
{
	TestRandom	state = 74;
	static Trial trial;

	for (int i = 0; i < 12; i++)
	{
		double		with[3];
		double		without[3];
		double	   *chunk;
		DpermMatrix matrix;

		trial.rows = (Rows) {.loss = {(DpermLossKind) (i % 3), i % 3 ? 0.5 : 0}, .dim = 3, .count = 20, .data = data};
		make_rows(&state, SHAPE_NOISY, &trial.rows);
		memset(&trial.fit, 0, sizeof(trial.fit));
		memset(trial.prior, 0, sizeof(trial.prior));
		trial.fit.setup = (DpermSetup) {.loss = trial.rows.loss, .epsilon = INFINITY, .lambda = 0.01, .rows = 20, .dim = 3};
		run_trial(&trial, 1);
		memcpy(with, trial.weights, sizeof(with));
		trial.fit.prior = NULL;
		matrix = rows_matrix(&trial.rows, &chunk, moments_room);
		CHECK(oracle_fit(oracle_of(&matrix), &trial.fit, without, fit_room) == DPERM_OK);
		for (int j = 0; j < 3; j++)
			CHECK_NEAR(with[j], without[j], 1e-8);
	}
}

/* The criterion expects weights within half the distance. */
TEST(expects_nearby_weights)
{
	for (int i = 0; i < 40; i++)
	{
		DpermSetup	setup = {.loss = {DPERM_LOSS_LOGISTIC, 0}, .method = (DpermMethod) (i % 2),
			.epsilon = i % 4 < 2 ? 0.1 : 1, .delta = i % 8 < 4 ? 0 : 1e-6, .rows = 100 << (i / 8), .dim = 30};
		double		plain = dperm_calibrate_default_lambda(&setup);
		double		risk = dperm_mechanism_entry((int) setup.method)->risk(&setup, 1);
		double		centred;

		setup.prior_norm = 5;
		centred = dperm_calibrate_default_lambda(&setup);
		CHECK(centred > plain && centred < 4 * plain);
		CHECK_NEAR(risk - dperm_mechanism_entry((int) setup.method)->risk(&setup, 1), (400 - 100) / 2, 1e-9 * risk);
	}
}

/* A norm that is out of range is refused; the bounds grow with it. */
TEST(bounds_the_norm)
{
	DpermSetup	setup = {.loss = {DPERM_LOSS_LOGISTIC, 0}, .epsilon = 1, .lambda = 0.01, .rows = 100, .dim = 3};
	static const double refused[] = {-1, 1.000001e6, INFINITY, NAN};
	DpermCalibration before = {0};
	DpermCalibration cal;

	for (int i = 0; i < 4; i++)
	{
		setup.prior_norm = refused[i];
		CHECK_TEXT(dperm_calibrate(&setup, &cal), "the weights of the prior must have a norm of at most 1e6");
	}
	for (double norm = 1e-3; norm <= 1e6; norm *= 10)
	{
		setup.prior_norm = norm;
		CHECK(dperm_calibrate(&setup, &cal) == NULL);
		CHECK(cal.weight_bound >= norm && cal.weight_bound > before.weight_bound);
		CHECK(cal.residual > before.residual && cal.rounding[0] > before.rounding[0]);
		/* the claim and the noise are the same */
		if (before.noise_scale > 0)
			CHECK_NEAR(cal.noise_scale, before.noise_scale, 1e-3 * before.noise_scale);
		before = cal;
	}
}
