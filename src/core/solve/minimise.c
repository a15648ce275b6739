/*
 * minimise.c: a start, corrections, the solver, a certificate, descent.
 */
#include "core/solve/minimise.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"

/*
 * The start: the minimiser over a few rows, then over more and more of them,
 * each the start of the next, finally over one stripe of all rows or a whole
 * sample. A few rows are FEW_ROWS per coordinate, but at least FEW_AT_LEAST;
 * each step multiplies their number by MORE_TIMES. A minimiser over n rows need
 * not be more accurate than the sampling error, 1/sqrt(n).
 */
#define FEW_ROWS 2
#define FEW_AT_LEAST 256
#define MORE_TIMES 16
#define CHANCE 0.05

/*
 * From this ratio of lambda to curvature on, single precision is enough for a
 * Hessian: its error (squares.h) is at most a third of lambda.
 */
#define ROUGH_LAMBDA 1e-4

/*
 * A Hessian over all rows that costs at most so many gradients, as in passes
 * over a table with few columns, is part of the first passes: from the start on,
 * each step squares the error, which saves a pass or two.
 */
#define FREE_HESS 0.4

/*
 * If all rows are in memory, but compact, the minimiser over those is
 * corrected: the exact gradient there shows the error of their gradient. As a
 * tilt, that error moves their minimiser to the exact one, up to the difference
 * of the two Hessians times the distance. After a correction that leaves more
 * than CORRECTION_LEFT of the gradient, or after CORRECTIONS of them, the
 * solver turns to the rows themselves.
 */
#define CORRECTION_LEFT 0.25
#define CORRECTIONS 8

/*
 * The minimiser over compact rows need not be more accurate than their random
 * rounding by 2^-16 allows; later ones have to reach the goal.
 */
#define COMPACT_CHANCE 0x1p-18

/*
 * Below this gradient, single precision is not enough for the next step; and
 * the error of values in single precision.
 */
#define SINGLE_NORM 1e-5
#define SINGLE_ERROR 1e-6

/* The limit on passes over compact rows; usually fewer than ten are needed. */
#define COMPACT_ASKS 300

/*
 * Vectors: the tilt of the compact problem, the exact gradient, the best point
 * so far and its gradient.
 */
#define VECTORS 4

/* How many doubles of room it needs. */
size_t
dperm_minimise_room(int dim, int blocks)
{
	return dperm_solver_room(dim, blocks) + dperm_descent_room(dim) + VECTORS * (size_t) dim;
}

/* Is single precision enough for Hessians? */
bool
dperm_minimise_rough(const DpermMinimiseTask *task)
{
	return task->lambda >= ROUGH_LAMBDA * dperm_loss_bounds(task->loss).curvature;
}

/*
 * Minimise over every step-th row of the sample. If a metric is to be left, that
 * of a solver will hold the Hessian at the result: over twice as many rows if
 * that is cheap, because it improves every later step.
 */
static void
solve_sample(const DpermMinimise *min, const DpermProblem *whole, int64_t step, double *weights,
			 double *work, bool metric, bool leave)
{
	DpermMatrix rows = *min->task.sample;
	DpermProblem problem = *whole;
	DpermSolver solver;
	DpermAsk	ask;

	rows.step = step;
	rows.rough = dperm_minimise_rough(&min->task);
	rows.single = true;
	problem.hess_cost = 0;
	problem.value_error = rows.compact ? SINGLE_ERROR : 0;
	problem.goal = fmax(whole->goal, CHANCE / sqrt((double) rows.count / step));
	dperm_solver_start(&solver, &problem, weights, work);
	if (metric)
		dperm_solver_start_near(&solver, true);
	while (dperm_solver_next(&solver, &ask))
		dperm_matrix_answer(&rows, &ask);
	if (!leave)
		return;

	/* the start need not be certified */
	if (step > 1 && dperm_solver_hess_cost(problem.dim, solver.metric.blocks) <= DPERM_CHEAP_HESS)
		rows.step = step / 2;
	ask = dperm_solver_ask_metric(&solver, weights);
	dperm_matrix_answer(&rows, &ask);
}

/* Does the sample contain all rows? */
static bool
has_all(const DpermMatrix *sample, int64_t rows)
{
	return sample->count == (sample->of > 0 ? sample->of : rows);
}

/* The next, smaller step: gradually down to one stripe, then to all rows. */
static int64_t
next_step(int64_t step, int64_t stripes)
{
	if (step <= stripes)
		return 1;
	step /= MORE_TIMES;
	return step >= MORE_TIMES / 4 * stripes ? step : stripes;
}

/*
 * Find a start for the solver, and leave a Hessian to begin with in its metric
 * if one is wanted; false if there is no start.
 */
static bool
approach(const DpermMinimise *min, const DpermProblem *problem, double *weights, double *work,
		 bool hess)
{
	const DpermMatrix *sample = min->task.sample;
	int64_t		stripes = sample && sample->stripes ? sample->stripes : 1;
	int64_t		few = FEW_ROWS * problem->dim > FEW_AT_LEAST ? FEW_ROWS * problem->dim :
		FEW_AT_LEAST;
	int64_t		step = stripes;
	bool		all;
	bool		metric = false;

	if (!sample || sample->count == 0)
		return false;
	all = has_all(sample, min->task.rows);
	while (sample->count / (2 * step) >= few && 2 * step <= sample->chunk_rows)
		step *= 2;
	if (sample->count / step < few)
	{
		/* with so few rows, the problem itself is as easy as its start */
		if (all)
			return false;
		step = 1;
	}
	for (;;)
	{
		bool		last = step == 1 || (all && step == stripes);

		solve_sample(min, problem, step, weights, work, metric, hess || !last);
		metric = true;
		if (last)
			return true;
		step = next_step(step, stripes);
	}
}

/*
 * Minimise over the compact rows, in single precision as long as that is
 * enough. It need not succeed: the exact gradient decides.
 */
static void
solve_compact(DpermMinimise *min)
{
	DpermSolver *solver = &min->solver;
	DpermMatrix rows = *min->task.sample;
	DpermAsk	ask;

	rows.single = !min->correcting;
	for (int asked = 0; asked < COMPACT_ASKS; asked++)
	{
		if (!dperm_solver_next(solver, &ask))
		{
			if (!rows.single)
				return;

			/* corrections need the exact gradient over compact rows */
			rows.single = false;
			dperm_solver_again(solver);
			continue;
		}
		rows.single = rows.single && dperm_solver_at(solver)->norm > SINGLE_NORM;
		dperm_matrix_answer(&rows, &ask);
	}

	/*
	 * what is known there may belong to another leg, so it cannot be used for
	 * corrections
	 */
	memcpy(min->weights, dperm_solver_at(solver)->weights,
		   sizeof(double) * (size_t) min->problem.dim);
	min->corrections = CORRECTIONS;
}

/* The problem over compact rows. */
static DpermProblem
compact_problem(const DpermMinimise *min, double goal)
{
	DpermProblem problem = min->problem;

	problem.tilt = min->tilt;
	problem.hess_cost = 0;
	problem.value_error = SINGLE_ERROR;
	problem.goal = goal;
	return problem;
}

/* Start with the minimiser over all compact rows. */
static void
start_correcting(DpermMinimise *min, bool metric, double *work)
{
	const double *tilt = min->problem.tilt;
	int			dim = min->problem.dim;
	double		chance = COMPACT_CHANCE * sqrt((double) dim / min->task.rows);
	DpermProblem problem = compact_problem(min, fmax(min->problem.goal, chance));

	for (int i = 0; i < dim; i++)
		min->tilt[i] = tilt ? tilt[i] : 0;
	dperm_solver_start(&min->solver, &problem, min->weights, work);
	if (metric)
		dperm_solver_start_near(&min->solver, true);
	solve_compact(min);
	min->best.norm = INFINITY;
	min->correcting = true;
}

/* Find a start, and prepare to ask for passes over all rows. */
void
dperm_minimise_start(DpermMinimise *min, const DpermMinimiseTask *task, double *weights,
					 double *room)
{
	size_t		d = (size_t) task->dim;
	double	   *work = room + VECTORS * d + dperm_descent_room(task->dim);
	bool		compact = task->sample && task->sample->compact &&
		has_all(task->sample, task->rows);
	bool		hess = compact || task->hess_cost == 0 || task->hess_cost > FREE_HESS ||
		dperm_loss_blocks(task->loss) > 1;
	bool		near;

	memset(min, 0, sizeof(*min));
	min->task = *task;
	min->weights = weights;
	min->room = room;
	min->tilt = room;
	min->exact = (DpermPoint) {.weights = weights, .gradient = room + d};
	min->best = (DpermPoint) {.weights = room + 2 * d, .gradient = room + 3 * d};
	min->problem = (DpermProblem) {
		.dim = task->dim,
		.blocks = dperm_loss_blocks(task->loss),
		.lambda = task->lambda,
		.tilt = task->tilt,
		.goal = task->goal,
		.rounding = {task->rounding[0], task->rounding[1]},
		.flat = dperm_loss_entry((int) task->loss.kind)->flat,
		.hess_cost = task->hess_cost
	};
	near = approach(min, &min->problem, weights, work, hess);
	if (compact)
	{
		start_correcting(min, near, work);
		return;
	}
	dperm_solver_start(&min->solver, &min->problem, weights, work);
	if (near)
		dperm_solver_start_near(&min->solver, hess);
}

/* Remember the exact answer if it is the first, or the best so far. */
static void
keep_best(DpermMinimise *min)
{
	const DpermPoint *exact = &min->exact;
	DpermPoint *best = &min->best;
	size_t		size = sizeof(double) * (size_t) min->problem.dim;

	if (isfinite(best->norm) && !(exact->norm < best->norm))
		return;
	memcpy(best->weights, exact->weights, size);
	memcpy(best->gradient, exact->gradient, size);
	best->value = exact->value;
	best->norm = exact->norm;
}

/*
 * How much of the gradient at the weights rounding in doubles may have hidden.
 */
static double
hidden(const DpermMinimise *min)
{
	const double *rounding = min->task.rounding;

	return rounding[0] +
		   rounding[1] * sqrt(dperm_dot(min->task.dim, min->weights, min->weights)) * (1 + 1e-9);
}

/*
 * Process the exact gradient at the minimiser over compact rows, and correct
 * the minimiser; false if it is accurate enough.
 */
static bool
correct(DpermMinimise *min)
{
	DpermSolver *solver = &min->solver;
	double		goal = fmax(min->problem.goal, hidden(min));
	double		before = min->best.norm;
	DpermProblem problem;
	DpermPoint	from;

	dperm_solver_complete(&min->problem, &min->exact);
	if (min->exact.norm <= goal)
		return false;
	keep_best(min);
	if (min->corrections++ == CORRECTIONS || !isfinite(min->exact.norm) ||
		!(min->exact.norm <= CORRECTION_LEFT * before))
	{
		/* compact rows are of little use here, and so may their Hessian be */
		min->correcting = false;
		dperm_solver_go_on(solver, &min->problem, &min->best, false);
		return true;
	}
	from = min->exact;
	from.value = dperm_solver_at(solver)->value;
	for (int i = 0; i < min->problem.dim; i++)
	{
		double		wrong = from.gradient[i] - dperm_solver_at(solver)->gradient[i];

		min->tilt[i] += wrong;
		from.value += wrong * from.weights[i];
	}
	problem = compact_problem(min, goal / 2);
	dperm_solver_go_on(solver, &problem, &from, true);
	solve_compact(min);
	return true;
}

/*
 * The solver has ended in doubles, at weights with this computed gradient.
 * Accept them if the exact gradient is within its bound nevertheless; else
 * continue in extended precision.
 */
static bool
certify(DpermMinimise *min, double norm, DpermAsk *ask)
{
	const DpermMinimiseTask *task = &min->task;
	DpermDescentProblem problem = {
		.dim = task->dim,
		.lambda = task->lambda,
		.tilt = task->tilt,
		.loss = task->loss,
		.rows = task->most_rows,
		.bound = task->bound,
		.weight_bound = task->weight_bound,
		.steps = task->descent_steps
	};

	min->correcting = false;
	min->certified = norm * (1 + 1e-9) + hidden(min) <= task->bound;	/* false for NaN */
	if (min->certified)
	{
		min->ended = true;
		return false;
	}
	min->descending = true;
	dperm_descent_start(&min->descent, &problem, min->weights, &min->solver.metric,
						min->room + VECTORS * (size_t) task->dim);
	return dperm_descent_next(&min->descent, ask);
}

/* The next question about all rows; false at the end. */
bool
dperm_minimise_next(DpermMinimise *min, DpermAsk *ask)
{
	if (min->ended)
		return false;
	if (min->descending)
	{
		if (dperm_descent_next(&min->descent, ask))
			return true;
		min->ended = true;
		min->certified = min->descent.certified;
		return false;
	}
	if (min->correcting && min->asked && !correct(min))
		return certify(min, min->exact.norm, ask);
	if (min->correcting)
	{
		min->asked = true;
		*ask = (DpermAsk) {
			.weights = min->weights,
			.value = &min->exact.value,
			.gradient = min->exact.gradient
		};
		return true;
	}
	if (dperm_solver_next(&min->solver, ask))
		return true;
	return certify(min, dperm_solver_at(&min->solver)->norm, ask);
}
