/*
 * solver.c: a start on a sample; BFGS steps with a line search on the directional
 * derivative, in doubles and in extended precision; descent.
 *
 * Fast, not trusted: dperm_certify() decides what is a result.
 */
#include "core/solve/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/linsys.h"
#include "core/base/core.h"
#include "core/solve/descent.h"

/*
 * Limits: steps before the lambda path is tried, steps on each leg of it and with
 * several classes, and trials of a line search.
 */
#define FIRST_STEPS 100
#define LEG_STEPS 500
#define CLASSES_STEPS 3000
#define MAX_TRIALS 60

/*
 * The lambda path, and the accuracy of each point on it: |gradient| / lambda.
 */
#define PATH_START 0.1
#define PATH_FACTOR 0.03
#define PATH_GOAL 0.1

/*
 * Wolfe's constants: a step may leave this share of the slope, on either side
 * of zero. After some steps of a leg the search becomes almost exact: across a
 * valley as narrow as the bend of a loss, inexact steps zigzag, and a thousand
 * of them achieve no more than twenty exact ones.
 */
#define SLOPE_LEFT 0.9
#define SLOPE_OVERSHOT 0.8
#define EXACT_AFTER 12
#define EXACT_SLOPE 0.05

/*
 * The cost of a Hessian of rows in memory, in gradients: constant, and per
 * coordinate; and a cost that counts as cheap.
 */
#define HESS_COST 1.5
#define HESS_COST_EACH (1.0 / 29)
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
#define CHANCE 0.05

/*
 * From this ratio of lambda to curvature on, single precision is enough for a
 * Hessian: its error (squares.h) is at most a third of lambda.
 */
#define ROUGH_LAMBDA 1e-4

/* The stages, in their order. */
enum
{
	STAGE_DIRECT,				/* doubles, the given lambda */
	STAGE_PATH,					/* doubles, a larger one, on the way to it */
	STAGE_EXTENDED,				/* extended precision */
	STAGE_DESCENT
};

/* The last question. */
enum
{
	STATE_START,				/* none at this point in this stage */
	STATE_POINT,				/* the point itself */
	STATE_HESSIAN,				/* the point itself, with a Hessian */
	STATE_TRIAL,				/* a trial of the line search */
	STATE_TRIAL_HESSIAN,		/* a trial, with a Hessian */
	STATE_DESCENT				/* a point of accelerated descent */
};

/* What solver.metric holds, factored. */
enum
{
	HELD_NOTHING,
	HELD_OTHER,					/* the Hessian at another point, or over other rows */
	HELD_FRESH					/* that of the current point */
};

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

/* The cost of a Hessian. */
static double
hess_cost(const DpermSolver *solver)
{
	double		blocks = solver->metric.blocks;

	if (solver->problem.hess_cost > 0)
		return solver->problem.hess_cost;

	/* a gradient takes as many products as there are weights */
	return HESS_COST + HESS_COST_EACH * solver->metric.dim / (blocks * blocks);
}

/* Are there several blocks of weights? */
static bool
has_blocks(const DpermSolver *solver)
{
	return solver->metric.blocks > 1;
}

/* The norm of the gradient that this leg aims at. */
static double
goal_of(const DpermSolver *solver)
{
	double		goal = solver->problem.objective.bound / 2;

	return solver->lambda > solver->problem.objective.lambda ?
		fmax(PATH_GOAL * solver->lambda, goal) : goal;
}

/*
 * Is the gradient at a point as small as this leg needs, or as rounding in
 * doubles allows? In extended precision, only the certificate says so.
 */
static bool
reached(const DpermSolver *solver, const DpermPoint *point)
{
	const double *rounding = solver->problem.objective.rounding;
	int			dim = solver->metric.dim;

	if (solver->stage == STAGE_EXTENDED)
		return false;
	return point->norm <= goal_of(solver) ||
		point->norm <= rounding[0] +
		rounding[1] * sqrt(dperm_dot(dim, point->weights, point->weights));
}

/* Begin a stage, or a leg of the path, at the current point. */
static void
begin_leg(DpermSolver *solver, int stage, double lambda)
{
	solver->stage = stage;
	solver->state = STATE_START;
	solver->steps = 0;
	solver->lambda = lambda;
	solver->held = HELD_NOTHING;
	/* worth asking for with the very first step */
	solver->want_hess = hess_cost(solver) <= CHEAP_HESS;
}

/*
 * Begin the path: follow the minimiser along a decreasing lambda. With a strong
 * regulariser Newton's method works best, and each minimiser is a good start
 * for the next one.
 */
static void
begin_path(DpermSolver *solver)
{
	begin_leg(solver, STAGE_PATH, fmax(solver->problem.objective.lambda, PATH_START));
}

/* Begin at weights, without a sample. */
static void
begin(DpermSolver *solver, const DpermProblem *problem, const double *weights, double *room)
{
	int			dim = problem->objective.dim;
	int			blocks = dperm_loss_blocks(problem->objective.loss);
	size_t		d = (size_t) dim;

	memset(solver, 0, sizeof(*solver));
	memset(room, 0, sizeof(double) * 9 * d);
	solver->problem = *problem;
	solver->at.weights = room;
	solver->at.gradient = room + 2 * d;
	solver->trial.weights = room + 4 * d;
	solver->trial.gradient = room + 6 * d;
	solver->direction = room + 8 * d;
	solver->metric = dperm_metric_make(dim, blocks, room + 9 * d);
	memcpy(solver->at.weights, weights, sizeof(double) * d);
	if (dperm_loss_entry((int) problem->objective.loss.kind)->flat)
		begin_path(solver);
	else
		begin_leg(solver, STAGE_DIRECT, problem->objective.lambda);
}

/*
 * Begin after all near the minimiser, without a path, and perhaps with the
 * Hessian that is in the metric.
 */
static void
begin_near(DpermSolver *solver, bool hess)
{
	begin_leg(solver, STAGE_DIRECT, solver->problem.objective.lambda);
	if (hess)
	{
		dperm_metric_factor(&solver->metric, solver->lambda);
		solver->held = HELD_OTHER;
		solver->want_hess = false;
	}
}

/* Ask about a point; the answer is stored in it. */
static bool
ask_point(DpermSolver *solver, DpermPoint *point, int state, DpermAsk *ask)
{
	bool		hess = state == STATE_HESSIAN || state == STATE_TRIAL_HESSIAN;
	int			dim = solver->metric.dim;

	solver->state = state;
	*ask = (DpermAsk) {.weights = point->weights, .value = &point->value,
		.gradient = point->gradient,
		.hess = hess ? solver->metric.hess : NULL};
	if (solver->stage < STAGE_EXTENDED)
		return true;
	if (hess)
		/* what comes with it in doubles is not used */
		ask->gradient = solver->direction;
	else
	{
		ask->weights_low = point->weights + dim;
		ask->gradient_low = point->gradient + dim;
	}
	return true;
}

/* Add the regulariser and the tilt to an answer. */
static void
complete(const DpermSolver *solver, DpermPoint *point)
{
	const double *tilt = solver->problem.objective.tilt;
	int			dim = solver->metric.dim;

	if (solver->stage < STAGE_EXTENDED)
	{
		point->value += solver->lambda / 2 * dperm_dot(dim, point->weights, point->weights);
		for (int i = 0; i < dim; i++)
			point->gradient[i] += solver->lambda * point->weights[i];
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
						   solver->lambda * dperm_quad_get(point->weights, dim, i) +
						   (tilt ? tilt[i] : 0));
	}
	point->norm = sqrt(dperm_dot(dim, point->gradient, point->gradient));
}

/*
 * Begin accelerated descent, at the current point unless that is too far away:
 * y and v of Lemma 12 are the trial and the point.
 */
static bool
begin_descent(DpermSolver *solver, DpermAsk *ask)
{
	size_t		d = (size_t) solver->metric.dim;
	double		norm = sqrt(dperm_dot((int) d, solver->at.weights, solver->at.weights));

	if (!(norm <= solver->problem.weight_bound))
		memset(solver->at.weights, 0, sizeof(double) * 2 * d);
	memcpy(solver->trial.weights, solver->at.weights, sizeof(double) * 2 * d);
	solver->stage = STAGE_DESCENT;
	solver->steps = 0;
	return ask_point(solver, &solver->trial, STATE_DESCENT, ask);
}

/* The gradient at y has arrived: a step. */
static bool
descend(DpermSolver *solver, DpermAsk *ask)
{
	if (solver->steps++ >= solver->problem.descent_steps)
		return false;
	complete(solver, &solver->trial);
	dperm_descent_step(solver->metric.dim, solver->lambda,
					   dperm_loss_bounds(solver->problem.objective.loss).curvature,
					   solver->trial.gradient, solver->trial.weights, solver->at.weights);
	return ask_point(solver, &solver->trial, STATE_DESCENT, ask);
}

/* This leg has reached its goal, or leads no further: begin the next one. */
static bool
end_leg(DpermSolver *solver, DpermAsk *ask)
{
	double		lambda = solver->problem.objective.lambda;

	if (solver->stage == STAGE_EXTENDED)
		return begin_descent(solver, ask);
	if (solver->stage == STAGE_DIRECT && !reached(solver, &solver->at))
		begin_path(solver);		/* a bad start for a loss with flat pieces */
	else if (solver->lambda > lambda)
		begin_leg(solver, STAGE_PATH, fmax(lambda, PATH_FACTOR * solver->lambda));
	else
		begin_leg(solver, STAGE_EXTENDED, lambda);
	return dperm_solver_next(solver, ask);
}

/*
 * No step along the direction is an improvement. If the metric is stale, renew
 * it.
 */
static bool
stuck(DpermSolver *solver, DpermAsk *ask)
{
	if (solver->held == HELD_FRESH)
		return end_leg(solver, ask);
	solver->want_hess = false;	/* it would be lost with a trial that is rejected */
	return ask_point(solver, &solver->at, STATE_HESSIAN, ask);
}

/* Ask about the current step of the line search. */
static bool
ask_trial(DpermSolver *solver, DpermAsk *ask)
{
	int			dim = solver->metric.dim;
	bool		with_hess = solver->want_hess && solver->trials == 0 &&
		solver->stage < STAGE_EXTENDED;

	for (int i = 0; i < dim; i++)
	{
		double		move = solver->step * solver->direction[i];

		if (solver->stage < STAGE_EXTENDED)
			solver->trial.weights[i] = solver->at.weights[i] + move;
		else
			dperm_quad_put(solver->trial.weights, dim, i,
						   dperm_quad_get(solver->at.weights, dim, i) + move);
	}
	return ask_point(solver, &solver->trial, with_hess ? STATE_TRIAL_HESSIAN : STATE_TRIAL, ask);
}

/* Everything about the point is known: stop, or continue from it. */
static bool
proceed(DpermSolver *solver, DpermAsk *ask)
{
	int			dim = solver->metric.dim;
	int			most = has_blocks(solver) ? CLASSES_STEPS :
		solver->stage == STAGE_DIRECT ? FIRST_STEPS : LEG_STEPS;

	if (reached(solver, &solver->at) || solver->steps++ >= most)
		return end_leg(solver, ask);
	if (solver->held == HELD_NOTHING ||
		(solver->stage == STAGE_EXTENDED && solver->held == HELD_OTHER && solver->want_hess))
		return ask_point(solver, &solver->at, STATE_HESSIAN, ask);
	for (int i = 0; i < dim; i++)
		solver->direction[i] = -solver->at.gradient[i];
	dperm_metric_solve(&solver->metric, solver->direction);
	solver->slope = dperm_dot(dim, solver->at.gradient, solver->direction);
	if (!(solver->slope < 0))
		return stuck(solver, ask);
	solver->low = 0;
	solver->low_slope = solver->slope;
	solver->high = INFINITY;
	solver->high_slope = 0;
	solver->step = 1;
	solver->trials = 0;
	return ask_trial(solver, ask);
}

/* What was asked about the point itself has arrived. */
static bool
use_point(DpermSolver *solver, DpermAsk *ask)
{
	bool		with_hess = solver->state == STATE_HESSIAN;

	if (!with_hess || solver->stage < STAGE_EXTENDED)
		complete(solver, &solver->at);
	if (with_hess)
	{
		dperm_metric_factor(&solver->metric, solver->lambda);
		solver->held = HELD_FRESH;
	}
	return proceed(solver, ask);
}

/* Judging from this step, does a Hessian at the next point pay off? */
static bool
hess_pays(const DpermSolver *solver, double before)
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

/* Accept the trial as the new point. */
static bool
take_trial(DpermSolver *solver, DpermAsk *ask)
{
	DpermPoint	was = solver->at;

	if (solver->state == STATE_TRIAL_HESSIAN)
	{
		dperm_metric_factor(&solver->metric, solver->lambda);
		solver->held = HELD_FRESH;
	}
	else if (solver->held != HELD_NOTHING)
	{
		dperm_metric_correct(&solver->metric, &solver->at, &solver->trial, solver->lambda);
		solver->held = HELD_OTHER;
	}
	solver->at = solver->trial;
	solver->trial = was;
	solver->want_hess = hess_pays(solver, was.norm);
	return proceed(solver, ask);
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

/* The answer for a trial has arrived. */
static bool
judge_trial(DpermSolver *solver, DpermAsk *ask)
{
	const DpermPoint *at = &solver->at;
	const DpermPoint *trial = &solver->trial;
	double		slack = 1e3 * DBL_EPSILON * (1 + fabs(at->value));
	bool		exact = solver->steps > EXACT_AFTER && !has_blocks(solver);
	double		left = exact ? EXACT_SLOPE : SLOPE_LEFT;
	double		overshot = exact ? EXACT_SLOPE : SLOPE_OVERSHOT;
	double		slope;

	complete(solver, &solver->trial);
	slope = dperm_dot(solver->metric.dim, trial->gradient, solver->direction);
	if (reached(solver, trial) ||
		(slope >= left * solver->slope && slope <= -overshot * solver->slope &&
		 trial->value <= at->value + slack))
		return take_trial(solver, ask);
	if (solver->state == STATE_TRIAL_HESSIAN)
		solver->held = HELD_NOTHING;	/* that Hessian belongs to a rejected trial */
	if (solver->stage == STAGE_EXTENDED)
		solver->steps++;		/* these passes are so expensive that trials count as steps */
	if (slope < left * solver->slope)
	{
		solver->low = solver->step;
		solver->low_slope = slope;
	}
	else
	{
		solver->high = solver->step;
		solver->high_slope = slope;
	}
	if (isinf(solver->high))
		solver->step *= 4;
	else
		solver->step = inside(solver->low, solver->low_slope, solver->high, solver->high_slope,
							  solver->trials % 2 == 1);
	if (++solver->trials == MAX_TRIALS || solver->step == solver->low ||
		solver->step == solver->high)
		return stuck(solver, ask);
	return ask_trial(solver, ask);
}

/* Process the answer to the last question, and ask the next one. */
bool
dperm_solver_next(DpermSolver *solver, DpermAsk *ask)
{
	dperm_host_poll();
	switch (solver->state)
	{
		case STATE_START:
			/* in extended precision no Hessian comes with a gradient */
			return ask_point(solver, &solver->at, solver->held == HELD_NOTHING &&
							 solver->stage < STAGE_EXTENDED ? STATE_HESSIAN : STATE_POINT, ask);
		case STATE_POINT:
		case STATE_HESSIAN:
			return use_point(solver, ask);
		case STATE_TRIAL:
		case STATE_TRIAL_HESSIAN:
			return judge_trial(solver, ask);
		case STATE_DESCENT:
			return descend(solver, ask);
	}
	return false;
}

/*
 * Minimise over every step-th row of the sample, from weights, which receive the
 * result. If hess, the metric of a solver in this room will hold the Hessian there.
 */
static void
solve_sample(const DpermProblem *whole, int64_t step, bool near, bool hess, double *weights,
			 double *room)
{
	DpermMatrix rows = *whole->sample;
	DpermProblem problem = *whole;
	double		count = (double) rows.count / (double) step;
	DpermSolver solver;
	DpermAsk	ask;

	rows.step = step;
	rows.rough = dperm_solver_rough(whole->objective.lambda, whole->objective.loss);
	problem.hess_cost = 0;
	problem.objective.bound = fmax(whole->objective.bound, 2 * CHANCE / sqrt(count));
	begin(&solver, &problem, weights, room);
	if (near)
		begin_near(&solver, true);
	while (dperm_solver_next(&solver, &ask) && solver.stage < STAGE_EXTENDED)
		dperm_matrix_answer(&rows, &ask);
	memcpy(weights, solver.at.weights, sizeof(double) * (size_t) solver.metric.dim);
	if (hess)
	{
		(void) ask_point(&solver, &solver.at, STATE_HESSIAN, &ask);
		dperm_matrix_answer(&rows, &ask);
	}
}

/*
 * Begin, near the minimiser over the sample unless that has so few rows that the
 * problem itself is as easy.
 */
void
dperm_solver_start(DpermSolver *solver, const DpermProblem *problem, double *weights,
				   double *room)
{
	int			dim = problem->objective.dim;
	int64_t		few = FEW_ROWS * dim > FEW_AT_LEAST ? FEW_ROWS * dim : FEW_AT_LEAST;
	int64_t		rows = problem->sample ? problem->sample->count : 0;
	int64_t		first = 1;
	bool		hess = problem->hess_cost == 0 || problem->hess_cost > FREE_HESS ||
		dperm_loss_blocks(problem->objective.loss) > 1;

	while (rows / (MORE_TIMES * first) >= few)
		first *= MORE_TIMES;
	if (rows >= few)
		for (int64_t step = first; step > 0; step /= MORE_TIMES)
			solve_sample(problem, step, step < first, hess || step > 1, weights, room);
	begin(solver, problem, weights, room);
	if (rows >= few)
		begin_near(solver, hess);
}
