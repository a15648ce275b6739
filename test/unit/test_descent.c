/*
 * test_descent.c: the method that always reaches the minimiser, on problems
 * where the solver may fail, and how many steps it takes.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/solve/descent.h"
#include "core/solve/minimise.h"
#include "core/base/linsys.h"
#include "unit/problem.h"

#define DIM_MAX 8
#define COUNT_MAX 60

static double data[DIM_MAX * COUNT_MAX];
static double moments_room[10000];
static double weights[DIM_MAX];
static double tilt[DIM_MAX];

/* The result of a run. */
typedef struct Run
{
	bool		certified;
	int64_t		gradients;		/* asked for */
	int64_t		hessians;
	int64_t		bound;			/* on the number of steps */
	long double gradient;		/* at the end, exactly */
} Run;

/*
 * Minimise over rows, starting from weights; a corrupted Hessian shows the
 * accelerated method alone.
 */
static Run
descend(const Rows *rows, double lambda, bool tilted, double bound, bool spoil)
{
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(rows, &chunk, moments_room);
	double		pull = tilted ? sqrt(dperm_dot(rows->dim, tilt, tilt)) / lambda : 0;
	double		c = dperm_loss_bounds(rows->loss).curvature;
	DpermDescentProblem problem = {
		.dim = rows->dim,
		.lambda = lambda,
		.tilt = tilted ? tilt : NULL,
		.loss = rows->loss,
		.rows = rows->count,
		.bound = bound,
		.weight_bound = 1.01 * fmin(pull + 1 / lambda, pull + sqrt(pull * pull + 2 / lambda))
	};
	double	   *hess = malloc(sizeof(double) * rows->dim * rows->dim);
	double	   *room = malloc(sizeof(double) * dperm_descent_room(rows->dim));
	DpermMetric metric = dperm_metric_make(rows->dim, 1, hess);
	long double exact[DIM_MAX];
	DpermDescent descent;
	DpermAsk	ask;
	Run			run = {0};

	CHECK(4 * dperm_descent_reach(rows->dim, lambda, rows->loss, rows->count, problem.weight_bound, pull * lambda) <= bound);
	run.bound = problem.steps = dperm_descent_steps(lambda, c, problem.weight_bound, bound);
	dperm_descent_start(&descent, &problem, weights, &metric, room);
	while (dperm_descent_next(&descent, &ask))
	{
		dperm_matrix_answer(&matrix, &ask);
		run.gradients += ask.weights_low != NULL;
		run.hessians += ask.hess != NULL;
		if (ask.hess && spoil)
			ask.hess[0] = -1;
	}
	run.certified = descent.certified;
	run.gradient = wide_gradient(rows, lambda, problem.tilt, weights, exact);
	free(hess);
	free(room);
	return run;
}

/*
 * Rows of any shape, all losses, far starts: certified within the promised
 * steps, without a Hessian.
 */
TEST(arrives_within_its_steps)
{
	TestRandom	state = 91;

	for (int round = 0; round < 150; round++)
	{
		double		lambda = pow(10, -6 + 6 * test_uniform(&state));
		bool		tilted = round % 2;
		Rows		rows = {
			.loss = {.kind = (DpermLossKind) test_below(&state, 3)},
			.dim = 1 + test_below(&state, DIM_MAX),
			.count = 1 + test_below(&state, 20),
			.data = data
		};
		Run			run;

		if (rows.loss.kind != DPERM_LOSS_LOGISTIC)
			rows.loss.h = round % 3 ? 0.5 : 0.02;
		make_rows(&state, (Shape) test_below(&state, SHAPES), &rows);
		for (int j = 0; j < rows.dim; j++)
		{
			weights[j] = (test_uniform(&state) - 0.5) * pow(10, 4 * test_uniform(&state));
			tilt[j] = (test_uniform(&state) - 0.5) * (round % 4 == 1 ? 1 : 0.01);
		}
		run = descend(&rows, lambda, tilted, 1e-11, true);
		CHECK(run.certified);
		CHECK(run.gradients <= run.bound + 2);
		CHECK(run.gradient <= 1e-11L + 1e-13L * (1 + lambda * 1e4) * 100);
	}
}

/*
 * With a Hessian, a few steps are enough where the solver would have come
 * close.
 */
TEST(refines_in_few_steps)
{
	TestRandom	state = 92;
	Rows		rows = {.dim = 3, .count = 40, .data = data};
	Run			run;

	make_rows(&state, SHAPE_NOISY, &rows);
	memset(weights, 0, sizeof(weights));
	run = descend(&rows, 0.01, false, 1e-15, false);
	CHECK(run.certified);
	CHECK(run.hessians == 1);
	CHECK(run.gradients <= 20);
	run = descend(&rows, 0.01, false, 1e-10, false);
	CHECK(run.certified && run.hessians == 0 && run.gradients == 1);
}

/*
 * Weights of a million, margins near one: doubles can no longer represent the
 * gradient, and the certificate is for weights that are not doubles.
 */
TEST(certifies_weights_that_doubles_cannot)
{
	Rows		rows = {.loss = {DPERM_LOSS_HUBER, 0.1}, .dim = 2, .count = 2, .data = data};
	Run			run;

	data[0] = 1e-5;
	data[1] = 0.8;
	data[2] = 1e-5;
	data[3] = -0.8;
	memset(weights, 0, sizeof(weights));
	run = descend(&rows, 1e-10, false, 2e-11, false);
	CHECK(run.certified);
	CHECK(weights[0] > 5e4);
}

/* The passes in extended precision that a minimiser asks for. */
static int
careful_passes(const Rows *rows, double constant, double per_weight)
{
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(rows, &chunk, moments_room);
	DpermMinimiseTask task = {
		.loss = rows->loss,
		.dim = rows->dim,
		.rows = rows->count,
		.most_rows = rows->count,
		.lambda = 0.01,
		.goal = 1e-12,
		.bound = 1e-10,
		.rounding = {constant, per_weight},
		.weight_bound = 20,
		.descent_steps = dperm_descent_steps(0.01, dperm_loss_bounds(rows->loss).curvature, 20, 1e-10)
	};
	double	   *room = malloc(sizeof(double) * dperm_minimise_room(rows->dim, 1));
	DpermMinimise min;
	DpermAsk	ask;
	int			careful = 0;

	memset(weights, 0, sizeof(weights));
	dperm_minimise_start(&min, &task, weights, room);
	while (dperm_minimise_next(&min, &ask))
	{
		dperm_matrix_answer(&matrix, &ask);
		careful += ask.weights_low != NULL;
	}
	CHECK(min.certified);
	free(room);
	return careful;
}

/*
 * What rounding in doubles may hide of a gradient counts against its bound,
 * however small the computed gradient is.
 */
TEST(follows_what_doubles_cannot_certify)
{
	TestRandom	state = 93;
	Rows		rows = {.dim = 3, .count = 40, .data = data};
	double		norm;

	make_rows(&state, SHAPE_NOISY, &rows);
	CHECK(careful_passes(&rows, 0, 0) == 0);
	norm = sqrt(dperm_dot(rows.dim, weights, weights));
	CHECK(norm > 0.01);
	CHECK(careful_passes(&rows, 0.5e-10, 0) == 0);
	CHECK(careful_passes(&rows, 1.1e-10, 0) > 0);
	CHECK(careful_passes(&rows, 0, 0.5e-10 / norm) == 0);
	CHECK(careful_passes(&rows, 0, 1.1e-10 / norm) > 0);
}

/*
 * Steps grow with the root of the condition number and with the logarithm of
 * the goal.
 */
TEST(promises_steps_that_scale)
{
	int64_t		base = dperm_descent_steps(1e-4, 1, 100, 1e-10);

	CHECK(base > 100 && base < 100000);
	CHECK_NEAR((double) dperm_descent_steps(1e-6, 1, 100, 1e-10) / base, 10, 3);
	CHECK_NEAR((double) dperm_descent_steps(1e-4, 1, 100, 1e-20) / base, 1.7, 0.4);
	CHECK(dperm_descent_steps(1e-10, 75, 2e5, 1e-10) < INT64_C(300000000));
}
