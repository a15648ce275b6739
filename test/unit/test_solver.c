/*
 * test_solver.c: the solver driven by its caller: several at once, a start on a
 * sample, hostile metrics, and how many evaluations are requested.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/solve/solver.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define SOLVERS 6
#define DIM_MAX 60
#define ROWS_MAX 700

/* One problem and all that it takes to solve it. */
typedef struct Task
{
	Rows		rows;
	double	   *chunk;
	DpermMatrix matrix;
	DpermProblem problem;
	DpermSolver solver;
	DpermAsk	ask;
	bool		active;
	int			asked;
	int			hessians;
	double		tilt[DIM_MAX];
	double		weights[DIM_MAX];
	double	   *room;
} Task;

static Task tasks[SOLVERS];
static double *moments_room;

/* The goal that calibrations set for weights of this norm. */
static double
goal_for(const Rows *rows, double lambda, double norm)
{
	return 1e-13 + dperm_moments_rounding(rows->dim, rows->loss, norm) +
		8 * DBL_EPSILON * (1 + lambda * norm);
}

/* A problem of any kind. */
static void
make_task(TestRandom *state, Task *task, int dim, int64_t count)
{
	static const double widths[] = {0.03, 0.1, 0.5, 1};
	DpermLoss	loss = {.kind = (DpermLossKind) test_below(state, 3)};
	double		lambda = pow(10, -6 * test_uniform(state));

	if (loss.kind != DPERM_LOSS_LOGISTIC)
		loss.h = widths[test_below(state, 4)];
	task->rows.loss = loss;
	task->rows.dim = dim;
	task->rows.count = count;
	make_rows(state, (Shape) test_below(state, 3), &task->rows);
	task->matrix = rows_matrix(&task->rows, &task->chunk, moments_room);
	task->problem = (DpermProblem) {
		.objective = {.loss = loss, .dim = dim, .most_rows = count, .lambda = lambda,
		.bound = goal_for(&task->rows, lambda, 10 + sqrt(2 / lambda))},
		.hess_cost = test_below(state, 2) ? 0 : pow(10, 2 * test_uniform(state) - 1)
	};
	if (test_below(state, 2))
	{
		random_row(state, dim, task->tilt);
		for (int j = 0; j < dim; j++)
			task->tilt[j] *= 10 * lambda;
		task->problem.objective.tilt = task->tilt;
	}
	memset(task->weights, 0, sizeof(task->weights));
	task->asked = task->hessians = 0;
}

/* Begin to solve. */
static void
start(Task *task)
{
	task->asked = task->hessians = 0;
	dperm_solver_start(&task->solver, &task->problem, task->weights, task->room);
}

/* Answer the request of a solver. */
static void
answer(Task *task)
{
	task->asked++;
	task->hessians += task->ask.hess != NULL;
	dperm_matrix_answer(&task->matrix, &task->ask);
}

/* Is the answer the last one? Then its weights are the result. */
static bool
certified(Task *task)
{
	if (!dperm_certify(&task->problem.objective, &task->ask))
		return false;
	memcpy(task->weights, task->ask.weights, sizeof(double) * (size_t) task->rows.dim);
	return true;
}

/* Solve to the end. */
static bool
run(Task *task)
{
	while (dperm_solver_next(&task->solver, &task->ask))
	{
		answer(task);
		if (certified(task))
			return true;
	}
	return false;
}

/* Is the goal reached in exact arithmetic? */
static bool
solved(const Task *task)
{
	static long double exact[DIM_MAX];

	return wide_gradient(&task->rows, task->problem.objective.lambda, task->problem.objective.tilt,
						 task->weights, exact) <= 2 * task->problem.objective.bound;
}

/*
 * Several solvers under way at the same time find, bit for bit, what each finds
 * alone.
 */
TEST(shares_passes)
{
	TestRandom	state = 101;

	for (int round = 0; round < 150; round++)
	{
		double		alone[SOLVERS][DIM_MAX];
		int			asked[SOLVERS];
		int			left = 0;

		for (int i = 0; i < SOLVERS; i++)
		{
			Task	   *task = &tasks[i];

			make_task(&state, task, 1 + test_below(&state, 12), 1 + test_below(&state, 80));
			start(task);
			CHECK(run(task));
			memcpy(alone[i], task->weights, sizeof(alone[i]));
			CHECK(solved(task));
			asked[i] = task->asked;

			memset(task->weights, 0, sizeof(task->weights));
			start(task);
			task->active = dperm_solver_next(&task->solver, &task->ask);
			left += task->active;
		}
		while (left > 0)
		{
			/* all of them in turn, or a random one */
			int			first = test_below(&state, SOLVERS);
			int			count = test_below(&state, 2) ? SOLVERS : 1;

			for (int i = first; i < first + count; i++)
				if (tasks[i % SOLVERS].active)
					answer(&tasks[i % SOLVERS]);
			for (int i = first; i < first + count; i++)
			{
				Task	   *task = &tasks[i % SOLVERS];

				if (!task->active)
					continue;
				task->active = !certified(task) && dperm_solver_next(&task->solver, &task->ask);
				left -= !task->active;
			}
		}
		for (int i = 0; i < SOLVERS; i++)
		{
			CHECK(tasks[i].asked == asked[i]);
			CHECK(memcmp(alone[i], tasks[i].weights, sizeof(alone[i])) == 0);
		}
	}
}

/*
 * With a sample, the first requests are without a Hessian, unless that is almost
 * free; and there are fewer of them.
 */
TEST(begins_on_a_sample)
{
	TestRandom	state = 102;
	int			with = 0;
	int			without = 0;

	for (int round = 0; round < 100; round++)
	{
		Task	   *task = &tasks[0];
		DpermMatrix some;
		bool		free_hess;

		make_task(&state, task, 2 + test_below(&state, 10), ROWS_MAX);
		start(task);
		CHECK(run(task) && solved(task));
		without += task->asked;
		memset(task->weights, 0, sizeof(task->weights));
		some = task->matrix;
		some.count /= 2;
		task->problem.sample = &some;
		free_hess = task->problem.hess_cost > 0 && task->problem.hess_cost <= 0.4;
		start(task);
		CHECK(dperm_solver_next(&task->solver, &task->ask));
		CHECK((task->ask.hess != NULL) == free_hess);
		answer(task);
		if (!certified(task))
			CHECK(run(task));
		CHECK(solved(task));
		with += task->asked;
	}
	CHECK(3 * with < 2 * without);
}

/* What a Hessian may be, without a NaN. */
enum
{
	BAD_ZEROS,
	BAD_NEGATIVE,
	BAD_INDEFINITE,
	BAD_TINY,
	BAD_HUGE,
	BAD_ONE_WAY,				/* all of one direction, nothing of the others */
	BAD_METRICS
};

static void
make_metric(TestRandom *state, int kind, int dim, double *hess)
{
	for (int j = 0; j < dim; j++)
		for (int i = 0; i < dim; i++)
		{
			double		x = 2 * test_uniform(state) - 1;

			hess[j * dim + i] = kind == BAD_ZEROS ? 0 : kind == BAD_NEGATIVE ? -(i == j) :
				kind == BAD_INDEFINITE ? x : kind == BAD_TINY ? x * 1e-300 :
				kind == BAD_HUGE ? (i == j) * 1e12 + x * 1e300 * (test_below(state, 3) == 0) :
				(i == 0 && j == 0) * 1e6;
		}
}

/* The first Hessian is anything but that. */
TEST(survives_any_metric)
{
	TestRandom	state = 103;

	for (int round = 0; round < 600; round++)
	{
		Task	   *task = &tasks[0];
		int			dim = 1 + test_below(&state, 10);
		bool		lied = false;
		bool		done = false;

		make_task(&state, task, dim, 1 + test_below(&state, 100));
		random_row(&state, dim, task->weights);
		for (int j = 0; j < dim; j++)
			task->weights[j] *= round % 3 ? 1 : 1e3;
		start(task);
		while (!done && dperm_solver_next(&task->solver, &task->ask))
		{
			answer(task);
			done = certified(task);
			if (task->ask.hess && !lied)
				make_metric(&state, round % BAD_METRICS, dim, task->ask.hess);
			lied = true;
		}
		CHECK(done && solved(task));
		CHECK(task->asked < 1000);
	}
}

/*
 * The requests in total: few passes, and few Hessians where they are expensive.
 */
TEST(asks_for_little)
{
	static const double costs[] = {0.01, 0, 1e9};
	int			hessians[3] = {0};

	for (int c = 0; c < 3; c++)
	{
		TestRandom	state = 104;	/* the same problems for each */

		for (int round = 0; round < 120; round++)
		{
			Task	   *task = &tasks[0];
			DpermLoss	loss;

			make_task(&state, task, 1 + test_below(&state, 40), 400);
			loss = task->rows.loss;
			task->problem.hess_cost = costs[c];
			start(task);
			CHECK(run(task));
			CHECK(solved(task));
			if (loss.kind == DPERM_LOSS_LOGISTIC)
				hessians[c] += task->hessians;

			/*
			 * flat pieces are crossed bend by bend: the narrower they are, the
			 * more steps
			 */
			CHECK(task->asked <= (loss.kind == DPERM_LOSS_LOGISTIC ? 20 : loss.h >= 0.5 ? 100 : 1500));
		}
	}
	CHECK(hessians[2] < hessians[0]);
}

int
main(void)
{
	int			result;

	moments_room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	for (int i = 0; i < SOLVERS; i++)
	{
		tasks[i].rows.data = malloc(sizeof(double) * ROWS_MAX * DIM_MAX);
		tasks[i].room = malloc(sizeof(double) * dperm_solver_room(DIM_MAX, 1));
	}
	result = test_main();
	for (int i = 0; i < SOLVERS; i++)
	{
		free(tasks[i].rows.data);
		free(tasks[i].room);
	}
	free(moments_room);
	return result;
}
