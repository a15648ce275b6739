/*
 * newton.c: damped Newton with a line search on the directional derivative.
 */
#include "newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linsys.h"

/* Steps before the path of lambda is tried, and on each leg of it; trials of a line search. */
#define FIRST_STEPS 100
#define LEG_STEPS 500
#define MAX_TRIALS 60

/* The path of lambda, and how well each point on it is solved: |gradient| / lambda. */
#define PATH_START 0.1
#define PATH_FACTOR 0.03
#define PATH_GOAL 0.1

/* Wolfe's constants: a step may leave this share of the slope, on either side of zero. */
#define SLOPE_LEFT 0.9
#define SLOPE_OVERSHOT 0.8

/* A point and what is known of G there. */
typedef struct Point
{
	double	   *weights;
	double	   *gradient;
	double		value;
	double		norm;			/* of the gradient */
} Point;

/* Ask the oracle at at->weights and add the regulariser and the tilt. */
static DpermStatus
look(const DpermProblem *problem, Point *at, double *hess)
{
	int			dim = problem->dim;
	DpermStatus status;

	dperm_poll(&problem->poll);
	status = problem->oracle.eval(problem->oracle.arg, at->weights, &at->value,
								  at->gradient, hess);
	if (status != DPERM_OK)
		return status;
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
	if (hess)
		for (int i = 0; i < dim; i++)
			hess[(size_t) i * dim + i] += problem->lambda;
	return DPERM_OK;
}

/* The Newton direction; hess is replaced by its factor. */
static void
newton_direction(const DpermProblem *problem, const Point *at, double *hess,
				 double *direction)
{
	int			dim = problem->dim;
	double		trace = 0;

	for (int i = 0; i < dim; i++)
	{
		direction[i] = -at->gradient[i];
		trace += hess[(size_t) i * dim + i];
	}

	/*
	 * The Hessian is at least lambda in exact arithmetic. Should rounding have made it
	 * indefinite all the same, a plain gradient step still descends.
	 */
	if (dperm_cholesky(hess, dim, &problem->poll))
		dperm_cholesky_solve(hess, dim, direction);
	else
		for (int i = 0; i < dim; i++)
			direction[i] /= trace;
}

static void
swap_points(Point *a, Point *b)
{
	Point		was = *a;

	*a = *b;
	*b = was;
}

/*
 * A step between low (slope still steep) and high (too far). Where the slope would vanish
 * if it were linear; every other time the geometric mean, because the right step can be
 * many orders of magnitude shorter: far from the bend, the Huber losses have no curvature
 * but lambda.
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

/*
 * Walk along direction from *at. On DPERM_OK *at is the new point, and hess belongs to
 * it if *hess_valid. *moved is false when no step could be found that improves.
 */
static DpermStatus
line_search(const DpermProblem *problem, Point *at, Point *trial, const double *direction,
			double *hess, bool *hess_valid, bool *moved)
{
	int			dim = problem->dim;
	double		slope = dperm_dot(dim, at->gradient, direction);
	double		slack = 1e3 * DBL_EPSILON * (1 + fabs(at->value));
	double		low = 0,
				low_slope = slope;
	double		high = INFINITY,
				high_slope = 0;
	double		step = 1;

	*hess_valid = false;
	*moved = false;
	if (!(slope < 0))
		return DPERM_OK;
	for (int i = 0; i < MAX_TRIALS; i++)
	{
		/* the full step is usually taken, so ask for the next Hessian with it */
		bool		with_hess = i == 0;
		double		new_slope;
		DpermStatus status;

		for (int j = 0; j < dim; j++)
			trial->weights[j] = at->weights[j] + step * direction[j];
		status = look(problem, trial, with_hess ? hess : NULL);
		if (status != DPERM_OK)
			return status;
		new_slope = dperm_dot(dim, trial->gradient, direction);
		if (trial->norm <= problem->goal ||
			(new_slope >= SLOPE_LEFT * slope && new_slope <= -SLOPE_OVERSHOT * slope &&
			 trial->value <= at->value + slack))
		{
			swap_points(at, trial);
			*hess_valid = with_hess;
			*moved = true;
			return DPERM_OK;
		}

		if (new_slope < SLOPE_LEFT * slope)
		{
			low = step;
			low_slope = new_slope;
		}
		else
		{
			high = step;
			high_slope = new_slope;
		}
		if (isinf(high))
			step *= 4;
		else
			step = inside(low, low_slope, high, high_slope, i % 2 == 1);
		if (step == low || step == high)
			break;
	}
	return DPERM_OK;
}

/* How many doubles of room the solver needs. */
size_t
dperm_newton_room(int dim)
{
	return (size_t) dim * dim + 5 * (size_t) dim;
}

/* Take steps until the gradient is as small as the goal, or max_steps. */
static DpermStatus
descend(const DpermProblem *problem, int max_steps, double *weights, double *room)
{
	int			dim = problem->dim;
	size_t		d = (size_t) dim;
	double	   *hess = room;
	double	   *direction = room + d * d;
	Point		at = {.weights = direction + d, .gradient = direction + 2 * d};
	Point		trial = {.weights = direction + 3 * d, .gradient = direction + 4 * d};
	DpermStatus result = DPERM_NOT_CERTIFIED;
	bool		hess_valid = true;
	DpermStatus status;

	memcpy(at.weights, weights, sizeof(double) * d);
	status = look(problem, &at, hess);
	if (status != DPERM_OK)
		return status;
	for (int i = 0;; i++)
	{
		bool		moved;

		if (at.norm <= problem->goal)
		{
			result = DPERM_OK;
			break;
		}
		if (i == max_steps)
			break;
		if (!hess_valid)
		{
			status = look(problem, &at, hess);
			if (status != DPERM_OK)
				return status;
		}
		newton_direction(problem, &at, hess, direction);
		status = line_search(problem, &at, &trial, direction, hess, &hess_valid, &moved);
		if (status != DPERM_OK)
			return status;
		if (!moved)
			break;
	}
	memcpy(weights, at.weights, sizeof(double) * d);
	return result;
}

/*
 * Follow the minimiser along a falling lambda. With a strong regulariser Newton's method is at
 * home, and each minimiser is a good start for the next one.
 */
DpermStatus
dperm_newton_path(const DpermProblem *problem, double *weights, double *room)
{
	DpermProblem leg = *problem;

	leg.lambda = fmax(problem->lambda, PATH_START);
	for (;;)
	{
		DpermStatus status;

		leg.goal = fmax(PATH_GOAL * leg.lambda, problem->goal);
		status = descend(&leg, LEG_STEPS, weights, room);
		if (status != DPERM_OK && status != DPERM_NOT_CERTIFIED)
			return status;
		if (leg.lambda == problem->lambda)
			return DPERM_OK;
		leg.lambda = fmax(problem->lambda, PATH_FACTOR * leg.lambda);
	}
}

/* Improve weights until the gradient is as small as the goal. */
DpermStatus
dperm_newton(const DpermProblem *problem, double *weights, double *room)
{
	DpermStatus status = descend(problem, FIRST_STEPS, weights, room);

	/* a bad start for a loss with flat pieces, which is crossed bend by bend */
	if (status == DPERM_NOT_CERTIFIED)
	{
		status = dperm_newton_path(problem, weights, room);
		if (status == DPERM_OK)
			status = descend(problem, LEG_STEPS, weights, room);
	}
	return status;
}
