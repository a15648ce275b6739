/*
 * test_descent.c: the method that always reaches the minimiser, on problems
 * where the solver may fail, and how many steps it takes.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/base/linsys.h"
#include "core/base/core.h"
#include "core/solve/solver.h"
#include "unit/problem.h"

#define DIM_MAX 8
#define COUNT_MAX 60

static double data[DIM_MAX * COUNT_MAX];
static double moments_room[200000];
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

/* What is to be minimised, by a solver whose doubles can certify nothing. */
static DpermProblem
problem_of(const Rows *rows, double lambda, bool tilted, double bound)
{
	double		pull = tilted ? sqrt(dperm_dot(rows->dim, tilt, tilt)) / lambda : 0;
	double		c = dperm_loss_bounds(rows->loss).curvature;
	DpermProblem problem = {
		.objective = {
			.loss = rows->loss,
			.dim = rows->dim,
			.most_rows = rows->count,
			.lambda = lambda,
			.tilt = tilted ? tilt : NULL,
			.bound = bound,
			.rounding = {bound, 0}
		},
		.weight_bound = 1.01 * fmin(pull + 1 / lambda, pull + sqrt(pull * pull + 2 / lambda))
	};

	CHECK(4 * dperm_solver_reach(rows->dim, lambda, rows->loss, rows->count, 0, problem.weight_bound, pull * lambda) <= bound);
	problem.descent_steps = dperm_solver_steps(lambda, c, problem.weight_bound, bound);
	return problem;
}

/* What answers a solver, and counts. */
typedef struct Rater
{
	const DpermProblem *problem;
	DpermMatrix matrix;
	bool		spoil;
	Run			run;
} Rater;

static bool
answer(void *arg, const DpermAsk *ask)
{
	Rater	   *rater = arg;
	Run		   *run = &rater->run;

	dperm_matrix_answer(&rater->matrix, ask);
	if (!ask->weights_low && rater->spoil)
		ask->gradient[0] = NAN;
	run->gradients += ask->weights_low != NULL;
	run->hessians += ask->hess != NULL;
	run->certified = dperm_certify(&rater->problem->objective, ask);
	if (run->certified)
		memcpy(weights, ask->weights, sizeof(double) * (size_t) rater->problem->objective.dim);
	if (ask->hess && rater->spoil)
		ask->hess[0] = NAN;
	return run->certified;
}

/* The solver, from weights; Hessians may be corrupted, so that no step helps but those of descent. */
static Run
solve(const Rows *rows, const DpermProblem *problem, bool spoil)
{
	const DpermObjective *objective = &problem->objective;
	double	   *chunk;
	double	   *room = malloc(sizeof(double) * dperm_solver_room(rows->dim, 1));
	long double exact[DIM_MAX];
	Rater		rater = {.problem = problem, .matrix = rows_matrix(rows, &chunk, moments_room), .spoil = spoil,
	.run = {.bound = problem->descent_steps}};

	dperm_solver_run(problem, answer, &rater, weights, room);
	rater.run.gradient = wide_gradient(rows, objective->lambda, objective->tilt, weights, exact);
	free(room);
	return rater.run;
}

/*
 * Rows of any shape, all losses, far starts, and no step helps but those of descent:
 * certified within the promised steps.
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
		DpermProblem problem;
		Run			run;

		if (rows.loss.kind != DPERM_LOSS_LOGISTIC)
			rows.loss.h = round % 3 ? 0.5 : 0.02;
		make_rows(&state, (Shape) test_below(&state, SHAPES), &rows);
		for (int j = 0; j < rows.dim; j++)
		{
			weights[j] = (test_uniform(&state) - 0.5) * pow(10, 4 * test_uniform(&state));
			tilt[j] = (test_uniform(&state) - 0.5) * (round % 4 == 1 ? 1 : 0.01);
		}
		problem = problem_of(&rows, lambda, tilted, 1e-11);
		run = solve(&rows, &problem, true);
		CHECK(run.certified);
		CHECK(run.gradients <= run.bound + 2);
		CHECK(run.gradient <= 1e-11L + 1e-13L * (1 + lambda * 1e4) * 100);
	}
}

/* With a Hessian, a few steps in extended precision are enough where doubles come close. */
TEST(refines_in_few_steps)
{
	TestRandom	state = 92;
	Rows		rows = {.dim = 3, .count = 40, .data = data};
	DpermProblem problem;
	Run			run;

	make_rows(&state, SHAPE_NOISY, &rows);
	memset(weights, 0, sizeof(weights));
	problem = problem_of(&rows, 0.01, false, 1e-15);
	run = solve(&rows, &problem, false);
	CHECK(run.certified);
	CHECK(run.gradients >= 1 && run.gradients <= 20);
	problem = problem_of(&rows, 0.01, false, 1e-10);
	run = solve(&rows, &problem, false);
	CHECK(run.certified && run.gradients == 1);
}

/* Where no other step makes sense, those of descent are taken, and they are enough. */
TEST(descends_where_nothing_else_helps)
{
	TestRandom	state = 94;

	for (int round = 0; round < 20; round++)
	{
		Rows		rows = {.loss = {(DpermLossKind) (round % 3), round % 3 ? 0.5 : 0}, .dim = 3, .count = 40, .data = data};
		DpermProblem problem;
		Run			run;

		make_rows(&state, SHAPE_NOISY, &rows);
		for (int j = 0; j < rows.dim; j++)
			weights[j] = round % 2 ? 1e9 : 1;
		problem = problem_of(&rows, 0.01, false, 1e-11);
		run = solve(&rows, &problem, true);
		CHECK(run.certified);
		CHECK(run.gradients > 5 && run.gradients <= run.bound + 2);
		problem.descent_steps = 5;
		weights[0] += 1;
		run = solve(&rows, &problem, true);
		CHECK(!run.certified && run.gradients <= 8);
	}
}

/*
 * Weights of a million, margins near one: doubles can no longer represent the
 * gradient, and the certificate is for weights that are not doubles.
 */
TEST(certifies_weights_that_doubles_cannot)
{
	Rows		rows = {.loss = {DPERM_LOSS_HUBER, 0.1}, .dim = 2, .count = 2, .data = data};
	DpermProblem problem;

	data[0] = 1e-5;
	data[1] = 0.8;
	data[2] = 1e-5;
	data[3] = -0.8;
	memset(weights, 0, sizeof(weights));
	problem = problem_of(&rows, 1e-10, false, 2e-11);
	CHECK(solve(&rows, &problem, false).certified);
	CHECK(weights[0] > 5e4);
}

/* The passes in extended precision that a solver asks for. */
static int
careful_passes(const Rows *rows, double constant, double per_weight)
{
	DpermProblem problem = problem_of(rows, 0.01, false, 1e-10);
	Run			run;

	problem.objective.rounding[0] = constant;
	problem.objective.rounding[1] = per_weight;
	memset(weights, 0, sizeof(weights));
	run = solve(rows, &problem, false);
	CHECK(run.certified);
	return (int) run.gradients;
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
	int64_t		base = dperm_solver_steps(1e-4, 1, 100, 1e-10);

	CHECK(base > 100 && base < 100000);
	CHECK_NEAR((double) dperm_solver_steps(1e-6, 1, 100, 1e-10) / base, 10, 3);
	CHECK_NEAR((double) dperm_solver_steps(1e-4, 1, 100, 1e-20) / base, 1.7, 0.4);
	CHECK(dperm_solver_steps(1e-10, 75, 2e5, 1e-10) < INT64_C(300000000));
}
