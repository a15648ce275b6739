/*
 * minimise.c: a start, the solver, a certificate, descent.
 */
#include "core/solve/minimise.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"

/*
 * The start: the minimiser over a few rows of the sample, then over more and
 * more of them, each the start of the next, finally over all of it. A few rows
 * are FEW_ROWS per coordinate, but at least FEW_AT_LEAST; each step multiplies
 * their number by MORE_TIMES. A minimiser over n rows need not be more accurate
 * than the sampling error, 1/sqrt(n).
 */
#define FEW_ROWS 2
#define FEW_AT_LEAST 256
#define MORE_TIMES 16
#define CHANCE 0.05

/*
 * From this ratio of lambda to curvature on, single precision is enough for a
 * Hessian: its error (sums.h) is at most a third of lambda.
 */
#define ROUGH_LAMBDA 1e-4

/*
 * A Hessian over all rows that costs at most so many gradients, as in passes
 * over a table with few columns, is part of the first passes: from the start on,
 * each step squares the error, which saves a pass or two.
 */
#define FREE_HESS 0.4

/* How many doubles of room it needs. */
size_t
dperm_minimise_room(int dim, int blocks)
{
	return dperm_solver_room(dim, blocks) + dperm_descent_room(dim);
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
	problem.hess_cost = 0;
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

/*
 * Find a start for the solver, and leave a Hessian to begin with in its metric
 * if one is wanted; false if there is no start. With few rows, the problem itself
 * is as easy as its start.
 */
static bool
approach(const DpermMinimise *min, const DpermProblem *problem, double *weights, double *work,
		 bool hess)
{
	const DpermMatrix *sample = min->task.sample;
	int64_t		few = FEW_ROWS * problem->dim > FEW_AT_LEAST ? FEW_ROWS * problem->dim :
		FEW_AT_LEAST;
	int64_t		step = 1;

	if (!sample || sample->count == 0 || min->task.rows < DPERM_MINIMISE_PART * few)
		return false;
	while (sample->count / (MORE_TIMES * step) >= few)
		step *= MORE_TIMES;
	for (bool metric = false;; metric = true)
	{
		solve_sample(min, problem, step, weights, work, metric, hess || step > 1);
		if (step == 1)
			return true;
		step /= MORE_TIMES;
	}
}

/* Find a start, and prepare to ask for passes over all rows. */
void
dperm_minimise_start(DpermMinimise *min, const DpermMinimiseTask *task, double *weights,
					 double *room)
{
	double	   *work = room + dperm_descent_room(task->dim);
	bool		hess = task->hess_cost == 0 || task->hess_cost > FREE_HESS ||
		dperm_loss_blocks(task->loss) > 1;
	bool		near;

	memset(min, 0, sizeof(*min));
	min->task = *task;
	min->weights = weights;
	min->room = room;
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
	dperm_solver_start(&min->solver, &min->problem, weights, work);
	if (near)
		dperm_solver_start_near(&min->solver, hess);
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

	min->certified = norm * (1 + 1e-9) + hidden(min) <= task->bound;	/* false for NaN */
	if (min->certified)
	{
		min->ended = true;
		return false;
	}
	min->descending = true;
	dperm_descent_start(&min->descent, &problem, min->weights, &min->solver.metric,
						min->room);
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
	if (dperm_solver_next(&min->solver, ask))
		return true;
	return certify(min, dperm_solver_at(&min->solver)->norm, ask);
}
