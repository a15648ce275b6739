/*
 * solver.c: a start on a sample; BFGS steps with a line search on the directional
 * derivative, in doubles and in extended precision; descent.
 *
 * Fast, not trusted: dperm_certify() decides what is a result. The exceptions are
 * dperm_solver_reach() and dperm_solver_steps(), constants of a training.
 */
#include "core/solve/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/linsys.h"
#include "core/base/core.h"
#include "core/solve/metric.h"

/* Limits: steps in doubles and in extended precision, and trials of a line search. */
#define MAX_STEPS 3000
#define MAX_TRIALS 60

/*
 * Wolfe's constants: a step may leave this share of the slope, on either side
 * of zero. After some steps the search becomes almost exact: across a
 * valley as narrow as the bend of a loss, inexact steps zigzag, and a thousand
 * of them achieve no more than twenty exact ones.
 */
#define SLOPE_LEFT 0.9
#define SLOPE_OVERSHOT 0.8
#define EXACT_AFTER 12
#define EXACT_SLOPE 0.05

/*
 * The cost of a Hessian of rows in memory, in gradients: constant, and per
 * coordinate; the share of rows that are not on a flat piece of the loss, if it has
 * such pieces, where they add nothing; and a cost that counts as cheap.
 */
#define HESS_COST 1.5
#define HESS_COST_EACH (1.0 / 29)
#define BENT_SHARE 0.3
#define CHEAP_HESS 4

/*
 * A Hessian over all rows that costs at most so many gradients, as in passes
 * over a table with few columns, is part of the first passes: from the start on,
 * each step squares the error, which saves a pass or two.
 */
#define FREE_HESS 0.4

/*
 * A new Hessian is not worth its cost if the goal is at most this many steps
 * away.
 */
#define NEAR_STEPS 2

/* A step that leaves more of the gradient than this is slow. */
#define SLOW_RATE 0.25

/*
 * With several classes the metric is not the Hessian, so corrections are worth
 * more than a new one, except once, after so many steps: at the end of a bad start.
 */
#define RENEWED_AFTER 10

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
#define CHANCE 0.02

/*
 * From this ratio of lambda to curvature on, single precision is enough for a
 * Hessian: its error (sums.h) is at most a third of lambda.
 */
#define ROUGH_LAMBDA 1e-4

/* What solver.metric holds, factored. */
typedef enum Held
{
	HELD_NOTHING,
	HELD_OTHER,					/* the Hessian at another point, or over other rows */
	HELD_FRESH					/* that of the current point */
} Held;

typedef struct Solver
{
	DpermProblem problem;
	DpermAnswer answer;
	void	   *arg;
	bool		done;			/* has an answer been accepted? */
	bool		extended;		/* are steps in extended precision? */
	int			steps;			/* of this stage */
	DpermPoint	at;
	DpermPoint	trial;
	double	   *direction;
	DpermMetric metric;
	Held		held;
	bool		want_hess;		/* with the next full step, which is usually accepted */
} Solver;

/* How many doubles of room the solver needs. */
size_t
dperm_solver_room(int dim, int blocks)
{
	return dperm_metric_room(dim, blocks) + 9 * (size_t) dim;
}

/* Is single precision enough for Hessians? */
bool
dperm_solver_rough(double lambda, DpermLoss loss)
{
	return lambda >= ROUGH_LAMBDA * dperm_loss_bounds(loss).curvature;
}

/* Begin at weights. */
static Solver
make_solver(const DpermProblem *problem, DpermAnswer answer, void *arg, const double *weights,
			double *room)
{
	int			dim = problem->objective.dim;
	size_t		d = (size_t) dim;
	Solver		solver = {.problem = *problem, .answer = answer, .arg = arg};

	memset(room, 0, sizeof(double) * 9 * d);
	solver.at.weights = room;
	solver.at.gradient = room + 2 * d;
	solver.trial.weights = room + 4 * d;
	solver.trial.gradient = room + 6 * d;
	solver.direction = room + 8 * d;
	solver.metric = dperm_metric_make(dim, dperm_loss_blocks(problem->objective.loss),
									  problem->objective.lambda, room + 9 * d);
	memcpy(solver.at.weights, weights, sizeof(double) * d);
	return solver;
}

/* The cost of a Hessian. */
static double
hess_cost(const Solver *solver)
{
	DpermLossKind kind = solver->problem.objective.loss.kind;
	bool		flat = kind == DPERM_LOSS_HUBER || kind == DPERM_LOSS_SMOOTH_HINGE;
	double		blocks = solver->metric.blocks;

	if (solver->problem.hess_cost > 0)
		return solver->problem.hess_cost;

	/* a gradient takes as many products as there are weights */
	return (flat ? BENT_SHARE : 1) *
		(HESS_COST + HESS_COST_EACH * solver->metric.dim / (blocks * blocks));
}

/* Are there several blocks of weights? */
static bool
has_blocks(const Solver *solver)
{
	return solver->metric.blocks > 1;
}

/* ----------------------------------------------------------- questions */

/* Add the regulariser and the tilt to an answer. */
static void
complete(const Solver *solver, DpermPoint *point)
{
	const double *tilt = solver->problem.objective.tilt;
	double		lambda = solver->problem.objective.lambda;
	int			dim = solver->metric.dim;

	if (!solver->extended)
	{
		point->value += lambda / 2 * dperm_dot(dim, point->weights, point->weights);
		for (int i = 0; i < dim; i++)
			point->gradient[i] += lambda * point->weights[i];
		if (tilt)
		{
			point->value += dperm_dot(dim, tilt, point->weights);
			for (int i = 0; i < dim; i++)
				point->gradient[i] += tilt[i];
		}
	}
	else
	{
		point->value = 0;		/* which nobody has computed */
		for (int i = 0; i < dim; i++)
			dperm_quad_put(point->gradient, dim, i, dperm_quad_get(point->gradient, dim, i) +
						   lambda * dperm_quad_get(point->weights, dim, i) +
						   (tilt ? tilt[i] : 0));
	}
	point->norm = sqrt(dperm_dot(dim, point->gradient, point->gradient));
}

/*
 * Ask about a point; with hess, for the Hessian there, which the metric receives.
 * False if the answer is accepted: then nothing is left to do.
 */
static bool
ask(Solver *solver, DpermPoint *point, bool hess)
{
	int			dim = solver->metric.dim;
	DpermAsk	question = {.weights = point->weights, .value = &point->value,
		.gradient = point->gradient, .hess = hess ? solver->metric.hess : NULL};

	if (solver->extended && hess)
		/* what comes with it in doubles is not used */
		question.gradient = solver->direction;
	else if (solver->extended)
	{
		question.weights_low = point->weights + dim;
		question.gradient_low = point->gradient + dim;
	}
	dperm_host_poll();
	solver->done = solver->answer(solver->arg, &question);
	if (!solver->done && !(solver->extended && hess))
		complete(solver, point);
	return !solver->done;
}

/* Ask for the Hessian at the current point, and measure steps with it. */
static bool
renew_metric(Solver *solver)
{
	if (!ask(solver, &solver->at, true))
		return false;
	dperm_metric_factor(&solver->metric);
	solver->held = HELD_FRESH;
	return true;
}

/* ------------------------------------------------------- a line search */

/* The norm of the gradient that steps in doubles aim at. */
static double
goal_of(const Solver *solver)
{
	return solver->problem.objective.bound / 2;
}

/*
 * Is the gradient at a point as small as this goal, or as rounding in doubles
 * allows? In extended precision, only the certificate says so.
 */
static bool
reached(const Solver *solver, const DpermPoint *point)
{
	const double *rounding = solver->problem.objective.rounding;
	int			dim = solver->metric.dim;

	if (solver->extended)
		return false;
	return point->norm <= goal_of(solver) ||
		point->norm <= rounding[0] +
		rounding[1] * sqrt(dperm_dot(dim, point->weights, point->weights));
}

/* Judging from this step, does a Hessian at the next point pay off? */
static bool
hess_pays(const Solver *solver, double before)
{
	double		rate = solver->at.norm / before;

	if (has_blocks(solver))
		return solver->steps == RENEWED_AFTER && !(rate < SLOW_RATE);
	if (!(rate < SLOW_RATE))
		return true;

	/* a new one will make the next step better than this one was */
	return solver->held != HELD_FRESH && log(goal_of(solver) / solver->at.norm) / log(rate) >
		NEAR_STEPS + hess_cost(solver);
}

/* Accept the trial as the new point, perhaps with its Hessian. */
static void
take_trial(Solver *solver, bool hess)
{
	DpermPoint	was = solver->at;

	if (hess)
	{
		dperm_metric_factor(&solver->metric);
		solver->held = HELD_FRESH;
	}
	else if (solver->held != HELD_NOTHING)
	{
		dperm_metric_correct(&solver->metric, &solver->at, &solver->trial);
		solver->held = HELD_OTHER;
	}
	solver->at = solver->trial;
	solver->trial = was;
	solver->want_hess = hess_pays(solver, was.norm);
}

/*
 * A step between low (slope still steep) and high (too far). It is where the
 * slope would vanish if it were linear; every other time it is the geometric
 * mean, because the right step can be many orders of magnitude shorter: far
 * from the bend, the only curvature of the Huber losses is lambda.
 */
static double
inside(double low, double low_slope, double high, double high_slope, bool bisect)
{
	if (!bisect && high_slope > 0)
	{
		double		share = low_slope / (low_slope - high_slope);

		if (share > 0.01 && share < 0.99)
			return low + share * (high - low);
	}
	if (low < 1e-4 * high)
		return 1e-2 * high;
	return high > 4 * low ? sqrt(low) * sqrt(high) : (low + high) / 2;
}

/* Let the trial be a step away from the point. */
static void
move_trial(Solver *solver, double step)
{
	int			dim = solver->metric.dim;

	for (int i = 0; i < dim; i++)
	{
		double		move = step * solver->direction[i];

		if (!solver->extended)
			solver->trial.weights[i] = solver->at.weights[i] + move;
		else
			dperm_quad_put(solver->trial.weights, dim, i,
						   dperm_quad_get(solver->at.weights, dim, i) + move);
	}
}

/*
 * Move along the direction, on which the point has this slope. False if no step is an
 * improvement, or the last question was asked.
 */
static bool
search(Solver *solver, double at_slope)
{
	const DpermPoint *at = &solver->at;
	const DpermPoint *trial = &solver->trial;
	double		slack = 1e3 * DBL_EPSILON * (1 + fabs(at->value));
	double		low = 0;
	double		low_slope = at_slope;
	double		high = INFINITY;
	double		high_slope = 0;
	double		step = 1;

	for (int trials = 0; trials < MAX_TRIALS && step != low && step != high; trials++)
	{
		bool		hess = solver->want_hess && trials == 0 && !solver->extended;
		bool		exact = solver->steps > EXACT_AFTER && !has_blocks(solver);
		double		left = exact ? EXACT_SLOPE : SLOPE_LEFT;
		double		overshot = exact ? EXACT_SLOPE : SLOPE_OVERSHOT;
		double		slope;

		move_trial(solver, step);
		if (!ask(solver, &solver->trial, hess))
			return false;
		slope = dperm_dot(solver->metric.dim, trial->gradient, solver->direction);
		if (reached(solver, trial) || (slope >= left * at_slope && slope <= -overshot * at_slope &&
									   trial->value <= at->value + slack))
		{
			take_trial(solver, hess);
			return true;
		}
		if (hess)
			solver->held = HELD_NOTHING;	/* that Hessian belongs to a rejected trial */
		if (solver->extended)
			solver->steps++;	/* these passes are so expensive that trials count as steps */
		if (slope < left * at_slope)
		{
			low = step;
			low_slope = slope;
		}
		else
		{
			high = step;
			high_slope = slope;
		}
		step = isinf(high) ? 4 * step : inside(low, low_slope, high, high_slope, trials % 2 == 1);
	}
	return false;
}

/* -------------------------------------------------------------- stages */

/*
 * Step from the current point: until it is good enough, until no step helps, even
 * with a fresh metric, or for so many steps. The first steps are measured with a metric
 * from elsewhere, or NULL.
 */
static void
walk(Solver *solver, const DpermMetric *metric)
{
	int			dim = solver->metric.dim;

	solver->steps = 0;
	solver->held = metric ? HELD_OTHER : HELD_NOTHING;
	if (metric)
		solver->metric = *metric;
	/* worth asking for with the very first step */
	solver->want_hess = metric == NULL && hess_cost(solver) <= CHEAP_HESS;

	/* in extended precision no Hessian comes with a gradient */
	if (metric || solver->extended ? !ask(solver, &solver->at, false) : !renew_metric(solver))
		return;
	while (!reached(solver, &solver->at) && solver->steps++ < MAX_STEPS)
	{
		bool		stale = solver->held == HELD_NOTHING ||
			(solver->extended && solver->held == HELD_OTHER && solver->want_hess);

		if (!stale)
		{
			double		slope;

			for (int i = 0; i < dim; i++)
				solver->direction[i] = -solver->at.gradient[i];
			dperm_metric_solve(&solver->metric, solver->direction);
			slope = dperm_dot(dim, solver->at.gradient, solver->direction);
			if (slope < 0 && search(solver, slope))
				continue;
			if (solver->done || solver->held == HELD_FRESH)
				return;
			solver->want_hess = false;	/* it would be lost with a trial that is rejected */
		}
		if (!renew_metric(solver))
			return;
	}
}

/* ------------------------------------------------------------- descent */

/*
 * Accelerated gradient descent (Nesterov 2004; docs/guarantee.md, Lemma 12). The
 * method assumes slightly more smoothness and less convexity than there is, which
 * makes up for the rounding of gradients and points. These are smoothness, and the
 * square root of convexity over smoothness, as it assumes them.
 */
static double
smoothness(double lambda, double curvature)
{
	return 17.0 / 16 * (curvature + lambda);
}

static double
root_rate(double lambda, double curvature)
{
	return sqrt(15.0 / 16 * lambda / smoothness(lambda, curvature));
}

/* Rounding of gradients and points may keep it from getting below this gradient. */
double
dperm_solver_reach(int dim, double lambda, DpermLoss loss, int64_t rows, double more_rows,
				   double weight_bound, double tilt)
{
	double		curvature = dperm_loss_bounds(loss).curvature;
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		error =
		dperm_moments_extended_rounding(dim, loss, rows, more_rows, lambda, 2 * weight_bound,
										tilt);
	double		points = 0x1p-97 * weight_bound;
	double		excess = 32 * error * error / lambda + 60 * smooth / q * points * points;

	return sqrt(2 * smooth * (1 + 1 / q) * 8 / (3 * q) * excess) + error;
}

/* The number of steps after which the gradient is at most half of the bound. */
int64_t
dperm_solver_steps(double lambda, double curvature, double weight_bound, double bound)
{
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		first = 4 * smooth * weight_bound * weight_bound;
	double		last = bound * bound / (16 * smooth * (1 + 1 / q));

	return 1 + (int64_t) ceil(4 / (3 * q) * fmax(log(first / last), 1));
}

/*
 * Descend from the current point, unless that is too far away. x, v and y are those
 * of Lemma 12, y is the trial, and v the point:
 *
 *   x' = y - g/smooth,   v' = (1-q) v + q y - g/(q smooth),   y' = (x' + q v')/(1+q)
 */
static void
descend(Solver *solver)
{
	const DpermProblem *problem = &solver->problem;
	double		lambda = problem->objective.lambda;
	double		curvature = dperm_loss_bounds(problem->objective.loss).curvature;
	DpermExtended q = root_rate(lambda, curvature);
	DpermExtended smooth = smoothness(lambda, curvature);
	int			dim = solver->metric.dim;
	size_t		size = sizeof(double) * 2 * (size_t) dim;
	double	   *v = solver->at.weights;
	double	   *y = solver->trial.weights;

	if (!(sqrt(dperm_dot(dim, v, v)) <= problem->weight_bound))
		memset(v, 0, size);
	memcpy(y, v, size);
	for (int64_t step = 0; ask(solver, &solver->trial, false) && step < problem->descent_steps;
		 step++)
		for (int i = 0; i < dim; i++)
		{
			DpermExtended g = dperm_quad_get(solver->trial.gradient, dim, i) / smooth;
			DpermExtended from = dperm_quad_get(y, dim, i);
			DpermExtended ahead = (1 - q) * dperm_quad_get(v, dim, i) + q * from - g / q;

			dperm_quad_put(v, dim, i, ahead);
			dperm_quad_put(y, dim, i, (from - g + q * ahead) / (1 + q));
		}
}

/* ----------------------------------------------------------- the start */

/* Answer from the rows of a sample. */
static bool
answer_from_sample(void *rows, const DpermAsk *question)
{
	dperm_matrix_answer(rows, question);
	return false;
}

/*
 * Minimise over every step-th row of the sample, from weights, which receive the
 * result. Returns a metric in this room; if hess, that of the Hessian there.
 */
static DpermMetric
solve_sample(const DpermProblem *whole, int64_t step, const DpermMetric *metric, bool hess,
			 double *weights, double *room)
{
	DpermMatrix rows = *whole->sample;
	DpermProblem problem = *whole;
	double		count = (double) rows.count / (double) step;
	Solver		solver;

	rows.step = step;
	problem.hess_cost = 0;
	problem.objective.bound = fmax(whole->objective.bound, 2 * CHANCE / sqrt(count));
	solver = make_solver(&problem, answer_from_sample, &rows, weights, room);
	walk(&solver, metric);
	memcpy(weights, solver.at.weights, sizeof(double) * (size_t) solver.metric.dim);
	if (hess && solver.held != HELD_FRESH)
		(void) renew_metric(&solver);
	return solver.metric;
}

/*
 * Begin near the minimiser over the sample unless that has so few rows that the
 * problem itself is as easy; and go on until an answer is accepted.
 */
void
dperm_solver_run(const DpermProblem *problem, DpermAnswer answer, void *arg, double *weights,
				 double *room)
{
	int			dim = problem->objective.dim;
	int64_t		few = FEW_ROWS * dim > FEW_AT_LEAST ? FEW_ROWS * dim : FEW_AT_LEAST;
	int64_t		rows = problem->sample ? problem->sample->count : 0;
	int64_t		first = 1;
	bool		near = rows >= few;
	bool		hess = problem->hess_cost == 0 || problem->hess_cost > FREE_HESS ||
		dperm_loss_blocks(problem->objective.loss) > 1;
	DpermMetric metric;
	Solver		solver;

	while (rows / (MORE_TIMES * first) >= few)
		first *= MORE_TIMES;
	if (near)
		for (int64_t step = first; step > 0; step /= MORE_TIMES)
			metric = solve_sample(problem, step, step < first ? &metric : NULL, hess || step > 1,
								  weights, room);
	solver = make_solver(problem, answer, arg, weights, room);
	walk(&solver, near && hess ? &metric : NULL);
	solver.extended = true;
	if (!solver.done)
		walk(&solver, NULL);
	if (!solver.done)
		descend(&solver);
}
