/*
 * solver.c: Newton and BFGS steps with a line search on the directional
 * derivative.
 */
#include "core/solve/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/linsys.h"

/*
 * Limits: steps before the lambda path is tried, steps on each leg of it, and
 * trials of a line search.
 */
#define FIRST_STEPS 100
#define LEG_STEPS 500
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
 * coordinate.
 */
#define HESS_COST 1.5
#define HESS_COST_EACH (1.0 / 29)

/*
 * A new Hessian is not worth its cost if the goal is at most this many steps
 * away.
 */
#define NEAR_STEPS 2

/* A step that leaves more of the gradient than this is slow. */
#define SLOW_RATE 0.25

/*
 * Several classes. The metric is not the Hessian, so corrections are worth more
 * than a new one, except once: at the end of a bad start. After SOME_STEPS,
 * steps are Newton's; each of them leaves NEWTON_LEFT of the gradient, or takes
 * as many products as this. (On the way to a goal of 5e-11, from a start on a
 * sixteenth of the rows, 16 to 30 gradients are usual.)
 */
#define SOME_STEPS 30
#define NEWTON_LEFT 0.1
#define NEWTON_PRODUCTS 300

/* The last question. */
enum
{
	PHASE_START,				/* nothing yet */
	PHASE_POINT,				/* the point itself */
	PHASE_TRIAL,				/* a trial of the line search */
	PHASE_PRODUCT,				/* a product, for Newton's step */
	PHASE_END
};

/* Which problem is being solved. */
enum
{
	LEG_DIRECT,					/* the given one */
	LEG_PATH,					/* one with a larger lambda, on the way to it */
	LEG_LAST					/* the given one, from the end of the path */
};

/* What solver.metric holds. */
enum
{
	METRIC_NONE,
	METRIC_HESSIAN,				/* of the mean loss */
	METRIC_FACTOR				/* the Cholesky factor of a Hessian of G */
};

/* How many doubles of room the solver needs. */
size_t
dperm_solver_room(int dim, int blocks)
{
	return dperm_metric_room(dim, blocks) + 5 * (size_t) dim +
		dperm_corrections_room(dim);
}

/* The cost of a Hessian of rows in memory. */
double
dperm_solver_hess_cost(int dim, int blocks)
{
	/* a gradient takes as many products as there are weights */
	return HESS_COST + HESS_COST_EACH * dim / ((double) blocks * blocks);
}

/* Are there several blocks of weights? */
static bool
has_blocks(const DpermSolver *solver)
{
	return solver->metric.blocks > 1;
}

/*
 * Is the gradient at a point as small as it has to be, or as rounding allows?
 */
static bool
reached(const DpermSolver *solver, const DpermPoint *at)
{
	const DpermProblem *problem = &solver->problem;

	return at->norm <= problem->goal ||
		at->norm <= problem->rounding[0] + problem->rounding[1] *
		sqrt(dperm_dot(problem->dim, at->weights, at->weights));
}

/* Begin to solve the problem of a leg from the current point. */
static void
begin_leg(DpermSolver *solver, int leg, double lambda)
{
	solver->leg = leg;
	solver->steps = 0;
	solver->newton = leg != LEG_DIRECT && has_blocks(solver);
	solver->phase = PHASE_START;
	solver->held = METRIC_NONE;
	/* worth asking for with the very first step */
	solver->want_hess = solver->problem.hess_cost <= DPERM_CHEAP_HESS;
	solver->problem.lambda = lambda;
	solver->problem.goal = leg == LEG_PATH ? fmax(PATH_GOAL * lambda, solver->goal) :
		solver->goal;
}

/*
 * Begin the path: follow the minimiser along a decreasing lambda. With a strong
 * regulariser Newton's method works best, and each minimiser is a good start
 * for the next one.
 */
static void
begin_path(DpermSolver *solver)
{
	begin_leg(solver, LEG_PATH, fmax(solver->lambda, PATH_START));
}

/* Set the problem. */
static void
set_problem(DpermSolver *solver, const DpermProblem *problem)
{
	solver->problem = *problem;
	solver->lambda = problem->lambda;
	solver->goal = problem->goal;
	if (problem->hess_cost == 0)
		solver->problem.hess_cost =
			dperm_solver_hess_cost(problem->dim, problem->blocks > 1 ? problem->blocks : 1);
}

/* Initialise the solver. */
void
dperm_solver_start(DpermSolver *solver, const DpermProblem *problem, double *weights,
				   double *room)
{
	size_t		d = (size_t) problem->dim;

	memset(solver, 0, sizeof(*solver));
	set_problem(solver, problem);
	solver->weights = weights;
	solver->metric =
		dperm_metric_make(problem->dim, problem->blocks > 1 ? problem->blocks : 1, room);
	room += dperm_metric_room(problem->dim, solver->metric.blocks);
	solver->direction = room;
	solver->at.weights = room + d;
	solver->at.gradient = room + 2 * d;
	solver->trial.weights = room + 3 * d;
	solver->trial.gradient = room + 4 * d;
	solver->corrections = dperm_corrections_make(problem->dim, room + 5 * d);
	memcpy(solver->at.weights, weights, sizeof(double) * d);
	solver->at.norm = INFINITY;
	if (problem->flat)
		begin_path(solver);
	else
		begin_leg(solver, LEG_DIRECT, solver->lambda);
}

/* Begin near the minimiser, perhaps with the Hessian that is in the metric. */
void
dperm_solver_start_near(DpermSolver *solver, bool metric)
{
	begin_leg(solver, LEG_DIRECT, solver->lambda);
	if (metric)
	{
		solver->held = METRIC_HESSIAN;
		solver->want_hess = false;
	}
}

/* Add the regulariser and the tilt to an answer. */
void
dperm_solver_complete(const DpermProblem *problem, DpermPoint *at)
{
	int			dim = problem->dim;

	at->value += problem->lambda / 2 * dperm_dot(dim, at->weights, at->weights);
	for (int i = 0; i < dim; i++)
		at->gradient[i] += problem->lambda * at->weights[i];
	if (problem->tilt)
	{
		at->value += dperm_dot(dim, problem->tilt, at->weights);
		for (int i = 0; i < dim; i++)
			at->gradient[i] += problem->tilt[i];
	}
	at->norm = sqrt(dperm_dot(dim, at->gradient, at->gradient));
}

/* Turn the Hessian of the mean loss into the factor of that of G. */
static void
factor(DpermSolver *solver, double *trace)
{
	solver->corrections.count = 0;
	solver->held = dperm_metric_factor(&solver->metric, solver->problem.lambda, trace) ?
		METRIC_FACTOR : METRIC_NONE;
}

/* The direction of descent at the point, by the metric and its corrections. */
static void
find_direction(DpermSolver *solver)
{
	int			dim = solver->problem.dim;
	double	   *direction = solver->direction;
	double		trace = 0;

	for (int i = 0; i < dim; i++)
		direction[i] = -solver->at.gradient[i];
	if (solver->held == METRIC_HESSIAN)
		factor(solver, &trace);

	/*
	 * In exact arithmetic all eigenvalues are at least lambda. If rounding has
	 * made the Hessian indefinite nevertheless, a plain gradient step still
	 * descends.
	 */
	if (solver->held == METRIC_NONE)
		for (int i = 0; i < dim; i++)
			direction[i] /= trace;
	else
		dperm_corrections_solve(&solver->corrections, &solver->metric, direction);
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

/* Ask about a point; the answer is stored in it. */
static bool
ask_point(DpermSolver *solver, DpermPoint *point, bool with_hess, int phase, DpermAsk *ask)
{
	*ask = (DpermAsk) {.weights = point->weights, .value = &point->value,
		.gradient = point->gradient,
		.hess = with_hess ? solver->metric.hess : NULL};
	if (with_hess)
		solver->held = METRIC_HESSIAN;
	solver->phase = phase;
	return true;
}

/* Ask about the current step of the line search. */
static bool
ask_trial(DpermSolver *solver, DpermAsk *ask)
{
	/*
	 * a full step is usually accepted, so ask for the next Hessian with it if
	 * one is wanted
	 */
	bool		with_hess = solver->trials == 0 && solver->want_hess;

	for (int i = 0; i < solver->problem.dim; i++)
		solver->trial.weights[i] = solver->at.weights[i] + solver->step * solver->direction[i];
	return ask_point(solver, &solver->trial, with_hess, PHASE_TRIAL, ask);
}

/* The leg is finished, and perhaps the whole problem. */
static bool
end_leg(DpermSolver *solver, DpermStatus status, DpermAsk *ask)
{
	if (solver->leg == LEG_DIRECT && status == DPERM_NOT_CERTIFIED)
	{
		/*
		 * a bad start for a loss with flat pieces, which have to be crossed
		 * bend by bend
		 */
		begin_path(solver);
		return dperm_solver_next(solver, ask);
	}
	if (solver->leg == LEG_PATH)
	{
		double		lambda = solver->problem.lambda;

		if (lambda > solver->lambda)
			begin_leg(solver, LEG_PATH, fmax(solver->lambda, PATH_FACTOR * lambda));
		else
			begin_leg(solver, LEG_LAST, lambda);
		return dperm_solver_next(solver, ask);
	}
	solver->status = status;
	solver->phase = PHASE_END;
	memcpy(solver->weights, solver->at.weights, sizeof(double) * (size_t) solver->problem.dim);
	return false;
}

/*
 * No step along the direction is an improvement. If the metric is stale, renew
 * it.
 */
static bool
stuck(DpermSolver *solver, DpermAsk *ask)
{
	if (solver->fresh && (solver->newton || !has_blocks(solver)))
		return end_leg(solver, DPERM_NOT_CERTIFIED, ask);
	solver->newton = has_blocks(solver);
	solver->fresh = true;
	solver->want_hess = true;
	return ask_point(solver, &solver->at, true, PHASE_POINT, ask);
}

/* Begin the line search along the direction. */
static bool
begin_search(DpermSolver *solver, DpermAsk *ask)
{
	solver->slope = dperm_dot(solver->problem.dim, solver->at.gradient, solver->direction);
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

/* Begin Newton's step, whose products take the place of corrections. */
static bool
begin_newton(DpermSolver *solver, DpermAsk *ask)
{
	double		norm = solver->at.norm;
	double		left = fmax(NEWTON_LEFT * fmin(1, sqrt(norm)) * norm, solver->problem.goal / 4);

	solver->corrections.count = 0;
	dperm_conjugate_start(&solver->conjugate, &solver->metric, solver->problem.lambda,
						  solver->at.weights, solver->at.gradient, left, NEWTON_PRODUCTS,
						  solver->corrections.moves, ask);
	solver->phase = PHASE_PRODUCT;
	return true;
}

/* A product has arrived. */
static bool
use_product(DpermSolver *solver, DpermAsk *ask)
{
	if (dperm_conjugate_next(&solver->conjugate, ask))
		return true;
	memcpy(solver->direction, solver->conjugate.step,
		   sizeof(double) * (size_t) solver->problem.dim);
	return begin_search(solver, ask);
}

/* Everything about the point is known: stop, or continue from it. */
static bool
proceed(DpermSolver *solver, DpermAsk *ask)
{
	int			max_steps = solver->leg == LEG_DIRECT ? FIRST_STEPS : LEG_STEPS;

	if (reached(solver, &solver->at))
		return end_leg(solver, DPERM_OK, ask);
	if (solver->steps++ == max_steps)
		return end_leg(solver, DPERM_NOT_CERTIFIED, ask);
	if (solver->held == METRIC_NONE)
	{
		solver->fresh = true;
		return ask_point(solver, &solver->at, true, PHASE_POINT, ask);
	}
	solver->newton = solver->newton || (has_blocks(solver) && solver->steps > SOME_STEPS);
	find_direction(solver);
	return solver->newton && solver->held == METRIC_FACTOR ? begin_newton(solver, ask) :
		begin_search(solver, ask);
}

/* Judging from this step, does a Hessian at the next point pay off? */
static bool
hess_pays(const DpermSolver *solver, double before)
{
	double		rate = solver->at.norm / before;

	if (has_blocks(solver))
		return solver->newton || (solver->steps == DPERM_CORRECTIONS && !(rate < SLOW_RATE));
	if (!(rate < SLOW_RATE))
		return true;

	/* a new one will make the next step better than this one was */
	return !solver->fresh && log(solver->problem.goal / solver->at.norm) / log(rate) >
		NEAR_STEPS + solver->problem.hess_cost;
}

/* Accept the trial as the new point. */
static bool
take_trial(DpermSolver *solver, DpermAsk *ask)
{
	DpermPoint	was = solver->at;
	bool		with_hess = solver->trials == 0 && solver->want_hess;

	if (solver->held == METRIC_FACTOR && !solver->newton)
		dperm_corrections_add(&solver->corrections, &solver->at, &solver->trial,
							  solver->problem.lambda);
	else if (solver->held == METRIC_HESSIAN && !with_hess)
		solver->held = METRIC_NONE;	/* that Hessian belongs to a rejected trial */
	solver->at = solver->trial;
	solver->trial = was;
	solver->fresh = with_hess;
	solver->want_hess = hess_pays(solver, was.norm);
	return proceed(solver, ask);
}

/* The answer for a trial has arrived. */
static bool
judge_trial(DpermSolver *solver, DpermAsk *ask)
{
	const DpermPoint *at = &solver->at;
	const DpermPoint *trial = &solver->trial;
	double		slack = 1e3 * DBL_EPSILON * (1 + fabs(at->value));
	double		slope = dperm_dot(solver->problem.dim, trial->gradient, solver->direction);
	bool		exact = solver->steps > EXACT_AFTER && !has_blocks(solver);
	double		left = exact ? EXACT_SLOPE : SLOPE_LEFT;
	double		overshot = exact ? EXACT_SLOPE : SLOPE_OVERSHOT;

	if (reached(solver, trial) ||
		(slope >= left * solver->slope && slope <= -overshot * solver->slope &&
		 trial->value <= at->value + slack))
		return take_trial(solver, ask);
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

/*
 * Process the answer to the last question, and ask the next one; false at the
 * end.
 */
bool
dperm_solver_next(DpermSolver *solver, DpermAsk *ask)
{
	dperm_host_poll();
	switch (solver->phase)
	{
		case PHASE_START:
			solver->fresh = solver->held == METRIC_NONE;
			return ask_point(solver, &solver->at, solver->fresh, PHASE_POINT, ask);
		case PHASE_POINT:
			dperm_solver_complete(&solver->problem, &solver->at);
			return proceed(solver, ask);
		case PHASE_TRIAL:
			dperm_solver_complete(&solver->problem, &solver->trial);
			return judge_trial(solver, ask);
		case PHASE_PRODUCT:
			return use_product(solver, ask);
	}
	return false;
}
