/*
 * test_solver_goal.c: the solver reaches its goal from anywhere, and the goal
 * is real: checked in long double and against bisection.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <float.h>
#include <setjmp.h>
#include <stdlib.h>

#include "core/solve/solver.h"
#include "host.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define DIM_MAX 1000

static double *data;
static double *room;
static double *moments_room;
static double weights[DIM_MAX];
static double tilt[DIM_MAX];
static long double exact[DIM_MAX];

/* One of the three losses, h over its whole range. */
static DpermLoss
any_loss(TestRandom *state)
{
	static const double widths[] = {0.01, 0.03, 0.1, 0.5, 1};
	DpermLoss	loss = {.kind = (DpermLossKind) test_below(state, 3)};

	if (loss.kind != DPERM_LOSS_LOGISTIC)
		loss.h = widths[test_below(state, 5)];
	return loss;
}

/*
 * What the calibration requires at weights of the largest norm that the
 * solution can have.
 */
static double
goal_for(const Rows *rows, double lambda, double pull)
{
	double		longest = 1.01 * fmin((pull + 1) / lambda, pull / lambda +
									  sqrt(pull * pull / lambda / lambda + 2 / lambda));

	return 1e-13 + dperm_moments_rounding(rows->dim, rows->loss, longest) +
		8 * DBL_EPSILON * (1 + lambda * longest + pull);
}

/* Norm of a vector. */
static double
norm_of(const double *x, int dim)
{
	double		sum = 0;

	for (int i = 0; i < dim; i++)
		sum += x[i] * x[i];
	return sqrt(sum);
}

/* Counts, and leaves by longjmp at a given call. */
typedef struct Leave
{
	int			calls;
	int			at;				/* 0: never */
	jmp_buf		where;
} Leave;

static void
leave_poll(void *arg)
{
	Leave	   *leave = arg;

	if (++leave->calls == leave->at)
		longjmp(leave->where, 1);
}

/* Solve from weights; true if the goal is reached in exact arithmetic too. */
static bool
solve(const Rows *rows, double lambda, bool tilted, double *goal)
{
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(rows, &chunk, moments_room);
	double		pull = tilted ? norm_of(tilt, rows->dim) : 0;
	DpermProblem problem = {.objective = {
		.loss = rows->loss,
		.dim = rows->dim,
		.most_rows = rows->count,
		.lambda = lambda,
		.tilt = tilted ? tilt : NULL
	}};
	long double norm;

	*goal = problem.objective.bound = goal_for(rows, lambda, pull);
	if (!oracle_solve(oracle_of(&matrix), &problem, weights, room))
		return false;
	norm = wide_gradient(rows, lambda, problem.objective.tilt, weights, exact);
	return norm <= 2 * *goal;
}

/* A starting point: zero, near, far, very far, or on the wrong side. */
static void
make_start(TestRandom *state, const Rows *rows, int kind)
{
	static const double norms[] = {0, 1, 1e3, 1e6, 0};

	random_row(state, rows->dim, weights);
	for (int j = 0; j < rows->dim; j++)
		weights[j] *= norms[kind];
	if (kind == 4)				/* against the first row, and far */
		for (int j = 0; j < rows->dim; j++)
			weights[j] = -1e4 * rows->data[j];
}

/* A tilt so large that the weights are of the given norm. */
static void
make_tilt(TestRandom *state, const Rows *rows, double lambda, double norm)
{
	random_row(state, rows->dim, tilt);
	for (int j = 0; j < rows->dim; j++)
		tilt[j] *= lambda * norm;
}

TEST(converges_from_any_start)
{
	TestRandom	state = 21;

	for (int round = 0; round < 4000; round++)
	{
		double		lambda = pow(10, -10 + 11 * test_uniform(&state));
		bool		tilted = test_below(&state, 2);
		Shape		shape = (Shape) test_below(&state, SHAPES);
		int			start = test_below(&state, 5);
		double		goal;
		Rows		rows = {
			.loss = any_loss(&state),
			.dim = 1 + test_below(&state, 8),
			.count = 1 + (round % 7 ? test_below(&state, 60) : 0),
			.data = data
		};

		make_rows(&state, shape, &rows);
		make_start(&state, &rows, start);
		if (tilted)
			make_tilt(&state, &rows, lambda, pow(10, 5 * test_uniform(&state)));
		if (!solve(&rows, lambda, tilted, &goal))
		{
			CHECK(false);
			fprintf(stderr, "loss %d h %g dim %d rows %d lambda %g shape %d start %d tilted %d "
					"gradient %Lg goal %g\n", rows.loss.kind, rows.loss.h, rows.dim,
					(int) rows.count, lambda, shape, start, tilted,
					wide_gradient(&rows, lambda, tilted ? tilt : NULL, weights, exact), goal);
		}
	}
}

TEST(converges_in_many_dimensions)
{
	static const int dims[] = {50, 127, 129, 1000};
	TestRandom	state = 22;

	for (int i = 0; i < 4; i++)
		for (int round = 0; round < (dims[i] < 1000 ? 6 : 3); round++)
		{
			double		lambda = pow(10, -6 * test_uniform(&state));
			double		goal;
			Rows		rows = {
				.loss = {(DpermLossKind) (round % 3), round % 3 ? 0.5 : 0},
				.dim = dims[i], .count = 400, .data = data
			};

			make_rows(&state, (Shape) (round % 2), &rows);
			make_start(&state, &rows, 1);
			make_tilt(&state, &rows, lambda, 10);
			CHECK(solve(&rows, lambda, round % 2, &goal));
		}
}

/* Against bisection, to the distance that gradient over lambda allows. */
TEST(agrees_with_bisection)
{
	TestRandom	state = 23;

	for (int round = 0; round < 60; round++)
	{
		double		lambda = pow(10, -4 + 5 * test_uniform(&state));
		bool		tilted = round % 3 == 0;
		long double best[2];
		double		goal;
		Rows		rows = {.loss = any_loss(&state), .dim = round < 50 ? 1 : 2, .count = 1 + round % 5,
		.data = data};

		make_rows(&state, (Shape) (round % SHAPES), &rows);
		make_start(&state, &rows, round % 5);
		make_tilt(&state, &rows, lambda, 3000);
		CHECK(solve(&rows, lambda, tilted, &goal));
		best[0] = bisect_coordinate(&rows, lambda, tilted ? tilt : NULL, best, 0);
		for (int j = 0; j < rows.dim; j++)
			CHECK_NEAR(weights[j], (double) best[j],
					   2.1 * goal / lambda + 4 * DBL_EPSILON * fabs((double) best[j]));
	}
}

/* Nothing but the regulariser: one step. */
TEST(solves_the_empty_problem)
{
	Rows		rows = {.dim = 3, .count = 2, .data = data};
	double		goal;

	memset(data, 0, sizeof(double) * 6);
	for (int i = 0; i < 3; i++)
	{
		weights[i] = 1e6 * (i + 1);
		tilt[i] = i - 1;
	}
	CHECK(solve(&rows, 0.001, true, &goal));
	for (int i = 0; i < 3; i++)
		CHECK_NEAR(weights[i], -(i - 1) / 0.001, 2 * goal / 0.001);
}

/* An oracle that counts its calls, or lies. */
typedef struct Liar
{
	DpermMatrix *matrix;
	int			calls;
	double		twist;			/* times another number each time, added to the gradient */
} Liar;

static void
liar_answer(void *arg, const DpermAsk *ask)
{
	Liar	   *liar = arg;

	dperm_matrix_answer(liar->matrix, ask);
	liar->calls++;
	ask->gradient[0] += liar->twist * cos(liar->calls * (double) liar->calls);
}

/* A problem over 40 rows in 3 dimensions. */
static Rows
plain_rows(void)
{
	TestRandom	state = 24;
	Rows		rows = {.dim = 3, .count = 40, .data = data};

	make_rows(&state, SHAPE_NOISY, &rows);
	return rows;
}

/*
 * A gradient that cannot become small is not certified, and the search ends in
 * bounded time.
 */
TEST(certifies_nothing_it_did_not_see)
{
	Rows		rows = plain_rows();
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(&rows, &chunk, moments_room);

	for (double twist = 1e-5; twist < 1e9; twist *= 100)
	{
		Liar		liar = {.matrix = &matrix, .twist = twist};
		DpermProblem problem = {.objective = {.dim = 3, .lambda = 0.01, .bound = 1e-12}, .descent_steps = 100};

		memset(weights, 0, sizeof(weights));
		CHECK(!oracle_solve((Oracle) {liar_answer, &liar}, &problem, weights, room));
		CHECK(liar.calls < 100000);
	}
}

TEST(may_be_left_at_any_poll)
{
	Rows		rows = plain_rows();
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(&rows, &chunk, moments_room);
	Leave	   *leave = calloc(1, sizeof(Leave));
	DpermProblem problem = {.objective = {.dim = 3, .lambda = 0.01, .bound = 1e-12}, .descent_steps = 100};
	double		expected[3];
	int			calls;

	test_host_poll = leave_poll;
	test_host_poll_arg = leave;
	memset(weights, 0, sizeof(weights));
	CHECK(oracle_solve(oracle_of(&matrix), &problem, weights, room));
	memcpy(expected, weights, sizeof(expected));
	calls = leave->calls;
	CHECK(calls > 2);
	for (int at = 1; at <= calls; at++)
	{
		leave->calls = 0;
		leave->at = at;
		memset(weights, 0, sizeof(weights));
		if (setjmp(leave->where) == 0)
		{
			oracle_solve(oracle_of(&matrix), &problem, weights, room);
			CHECK(false);
		}
		leave->calls = 0;
		leave->at = 0;
		CHECK(oracle_solve(oracle_of(&matrix), &problem, weights, room));
		CHECK(memcmp(expected, weights, sizeof(expected)) == 0);
	}
	test_host_poll = NULL;
	free(leave);
}

/* A pass costs a scan of a table, so few of them are allowed. */
TEST(needs_few_evaluations)
{
	Rows		rows = plain_rows();
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(&rows, &chunk, moments_room);
	Liar		liar = {.matrix = &matrix};
	DpermProblem problem = {.objective = {.dim = 3, .lambda = 0.001, .bound = 1e-12}};

	memset(weights, 0, sizeof(weights));
	CHECK(oracle_solve((Oracle) {liar_answer, &liar}, &problem, weights, room));
	CHECK(liar.calls <= 12);
	liar.calls = 0;
	CHECK(oracle_solve((Oracle) {liar_answer, &liar}, &problem, weights, room));
	CHECK(liar.calls == 1);
}

int
main(void)
{
	int			result;

	data = malloc(sizeof(double) * 400 * DIM_MAX);
	room = malloc(sizeof(double) * dperm_solver_room(DIM_MAX, 1));
	moments_room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	result = test_main();
	free(data);
	free(room);
	free(moments_room);
	return result;
}
