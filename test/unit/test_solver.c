/*
 * test_solver.c: what the solver asks: with a start on a sample, with hostile
 * metrics, and how many evaluations in all.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/solve/solver.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define DIM_MAX 60
#define ROWS_MAX 700

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

/* One problem and all that it takes to solve it. */
typedef struct Task
{
	Rows		rows;
	double	   *chunk;
	DpermMatrix matrix;
	DpermProblem problem;
	int			asked;
	int			hessians;
	bool		first_hess;		/* did the first question ask for one? */
	TestRandom *liar;			/* if not NULL: a first Hessian is bad, of this kind */
	int			bad;
	double		tilt[DIM_MAX];
	double		weights[DIM_MAX];
	double	   *room;
} Task;

static Task the_task;
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
}

/* A bad one. */
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

/* Answer a question, perhaps badly. */
static void
answer(void *arg, const DpermAsk *ask)
{
	Task	   *task = arg;

	if (task->asked++ == 0)
		task->first_hess = ask->hess != NULL;
	task->hessians += ask->hess != NULL;
	dperm_matrix_answer(&task->matrix, ask);
	if (task->liar && task->asked == 1 && ask->hess)
		make_metric(task->liar, task->bad, task->rows.dim, ask->hess);
}

/* Solve to the end. */
static bool
run(Task *task)
{
	task->asked = task->hessians = 0;
	return oracle_solve((Oracle) {answer, task}, &task->problem, task->weights, task->room);
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
		Task	   *task = &the_task;
		DpermMatrix some;
		bool		free_hess;

		make_task(&state, task, 2 + test_below(&state, 10), ROWS_MAX);
		CHECK(run(task) && solved(task));
		without += task->asked;
		memset(task->weights, 0, sizeof(task->weights));
		some = task->matrix;
		some.count /= 2;
		task->problem.sample = &some;
		free_hess = task->problem.hess_cost > 0 && task->problem.hess_cost <= 0.4;
		CHECK(run(task) && solved(task));
		CHECK(task->first_hess == free_hess);
		with += task->asked;
	}
	CHECK(10 * with < 7 * without);
}

/* The first Hessian is anything but that. */
TEST(survives_any_metric)
{
	TestRandom	state = 103;

	for (int round = 0; round < 600; round++)
	{
		Task	   *task = &the_task;
		int			dim = 1 + test_below(&state, 10);

		make_task(&state, task, dim, 1 + test_below(&state, 100));
		random_row(&state, dim, task->weights);
		for (int j = 0; j < dim; j++)
			task->weights[j] *= round % 3 ? 1 : 1e3;
		task->liar = &state;
		task->bad = round % BAD_METRICS;
		CHECK(run(task) && solved(task));
		task->liar = NULL;
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
			Task	   *task = &the_task;
			DpermLoss	loss;

			make_task(&state, task, 1 + test_below(&state, 40), 400);
			loss = task->rows.loss;
			task->problem.hess_cost = costs[c];
			CHECK(run(task));
			CHECK(solved(task));
			if (loss.kind == DPERM_LOSS_LOGISTIC)
				hessians[c] += task->hessians;

			/*
			 * flat pieces are crossed bend by bend: the narrower they are, the
			 * more steps
			 */
			CHECK(task->asked <= (loss.kind == DPERM_LOSS_LOGISTIC ? 20 : loss.h >= 0.5 ? 150 : 1500));
		}
	}
	CHECK(hessians[2] < hessians[0]);
}

int
main(void)
{
	int			result;

	moments_room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	the_task.rows.data = malloc(sizeof(double) * ROWS_MAX * DIM_MAX);
	the_task.room = malloc(sizeof(double) * dperm_solver_room(DIM_MAX, 1));
	result = test_main();
	free(the_task.rows.data);
	free(the_task.room);
	free(moments_room);
	return result;
}
