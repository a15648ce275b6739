/*
 * descent.c: refinement, then accelerated gradient descent, in twice the
 * precision.
 */
#include "core/solve/descent.h"

#include <math.h>
#include <string.h>

#include "core/solve/careful.h"
#include "core/base/linsys.h"
#include "core/base/wide.h"

/*
 * Refinement: a step is good with no more of the gradient left than this, and
 * taken if it removes this share of what it could. So many gradients are asked
 * for at most, and no step is smaller than this.
 */
#define REFINE_LEFT 0.5
#define REFINE_SHARE 0.125
#define REFINE_ASKS 300
#define REFINE_SHORTEST 1e-8

/*
 * The method is run with a little more smoothness and a little less convexity
 * than there is, which pays for what rounding does to gradients and points.
 */
#define MORE_SMOOTH (17.0 / 16)
#define LESS_CONVEX (15.0 / 16)

enum
{
	PHASE_REFINE,				/* a gradient was asked for, to refine the weights */
	PHASE_HESSIAN,				/* a Hessian */
	PHASE_DESCEND,				/* a gradient of the accelerated method */
	PHASE_BEGIN,				/* nothing yet */
	PHASE_END
};

/* Wide vectors that it keeps. */
#define VECTORS 5

/* How many doubles of room it needs. */
size_t
dperm_descent_room(int dim)
{
	return 2 * VECTORS * (size_t) dim;
}

/*
 * Smoothness, and the root of convexity over smoothness, as the method takes
 * them.
 */
static double
smoothness(double lambda, double curvature)
{
	return MORE_SMOOTH * (curvature + lambda);
}

static double
root_rate(double lambda, double curvature)
{
	return sqrt(LESS_CONVEX * lambda / smoothness(lambda, curvature));
}

/*
 * The gradient below which rounding may keep the method (docs/guarantee.md,
 * Lemma 12): that of gradients, and that of points.
 */
double
dperm_descent_reach(int dim, double lambda, double curvature, int64_t rows, double weight_bound,
					double tilt)
{
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		error = dperm_careful_rounding(dim, curvature, rows, lambda,
											   2 * weight_bound, tilt);
	double		points = 0x1p-97 * weight_bound;
	double		excess = 32 * error * error / lambda + 60 * smooth / q * points * points;

	return sqrt(2 * smooth * (1 + 1 / q) * 8 / (3 * q) * excess) + error;
}

/* The steps after which the gradient is half of the bound, or less. */
int64_t
dperm_descent_steps(double lambda, double curvature, double weight_bound, double bound)
{
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		first = 4 * smooth * weight_bound * weight_bound;
	double		last = bound * bound / (16 * smooth * (1 + 1 / q));

	return 1 + (int64_t) ceil(4 / (3 * q) * fmax(log(first / last), 1));
}

/* Begin at weights. */
void
dperm_descent_start(DpermDescent *descent, const DpermDescentProblem *problem, double *weights,
					double *hess, double *room)
{
	size_t		d = (size_t) problem->dim;

	memset(descent, 0, sizeof(*descent));
	descent->problem = *problem;
	descent->weights = weights;
	descent->hess = hess;
	descent->at = room;
	descent->gradient = room + 2 * d;
	descent->best = room + 4 * d;
	descent->best_gradient = room + 6 * d;
	descent->ahead = room + 8 * d;
	descent->norm = INFINITY;
	memcpy(descent->at, weights, sizeof(double) * d);
	memset(descent->at + d, 0, sizeof(double) * d);
	memcpy(descent->best, descent->at, sizeof(double) * 2 * d);
	descent->phase = PHASE_BEGIN;
}

/* Coordinates of a wide vector. */
static inline DpermWide
get_wide(const double *vector, int dim, int i)
{
	return (DpermWide) {vector[i], vector[dim + i]};
}

static inline void
put_wide(double *vector, int dim, int i, DpermWide x)
{
	vector[i] = x.high;
	vector[dim + i] = x.low;
}

/* Ask for the gradient at the point. */
static bool
ask_gradient(DpermDescent *descent, int phase, DpermAsk *ask)
{
	int			dim = descent->problem.dim;

	*ask = (DpermAsk) {.weights = descent->at, .weights_low = descent->at + dim,
		.value = &descent->value,
		.gradient = descent->gradient, .gradient_low = descent->gradient + dim};
	descent->phase = phase;
	return true;
}

/*
 * Add regulariser and tilt to the answer; what the norm of the exact gradient
 * is at most.
 */
static double
complete(DpermDescent *descent)
{
	const DpermDescentProblem *problem = &descent->problem;
	int			dim = problem->dim;
	double		tilt = 0;
	double		norm = 0;
	double		point = 0;

	for (int i = 0; i < dim; i++)
	{
		DpermWide	w = get_wide(descent->at, dim, i);
		DpermWide	g = dperm_wide_add(get_wide(descent->gradient, dim, i),
									 dperm_wide_scale(w, problem->lambda));

		if (problem->tilt)
		{
			g = dperm_wide_add(g, dperm_wide_of(problem->tilt[i]));
			tilt += problem->tilt[i] * problem->tilt[i];
		}
		put_wide(descent->gradient, dim, i, g);
		norm += g.high * g.high;
		point += w.high * w.high;
	}

	/* the factor is for the rounding of the norm itself */
	return sqrt(norm) * (1 + 1e-9) + dperm_careful_rounding(dim, problem->curvature, problem->rows,
															problem->lambda, sqrt(point),
															sqrt(tilt));
}

/* The end: hand out the point. */
static bool
finish(DpermDescent *descent, bool certified)
{
	descent->certified = certified;
	descent->phase = PHASE_END;
	memcpy(descent->weights, descent->at, sizeof(double) * (size_t) descent->problem.dim);
	return false;
}

/*
 * Begin the accelerated method, from the best point unless that is too far out.
 */
static bool
begin_descent(DpermDescent *descent, DpermAsk *ask)
{
	size_t		d = (size_t) descent->problem.dim;
	double		norm = sqrt(dperm_dot((int) d, descent->best, descent->best));

	if (!(norm <= descent->problem.weight_bound))
		memset(descent->best, 0, sizeof(double) * 2 * d);
	memcpy(descent->at, descent->best, sizeof(double) * 2 * d);
	memcpy(descent->ahead, descent->best, sizeof(double) * 2 * d);
	descent->taken = 0;
	return ask_gradient(descent, PHASE_DESCEND, ask);
}

/* Try a share of the direction from the best point. */
static bool
try_step(DpermDescent *descent, double step, DpermAsk *ask)
{
	int			dim = descent->problem.dim;

	descent->step = step;
	for (int i = 0; i < dim; i++)
		put_wide(descent->at, dim, i,
				 dperm_wide_add(get_wide(descent->best, dim, i),
								dperm_wide_product(step, descent->ahead[i])));
	return ask_gradient(descent, PHASE_REFINE, ask);
}

/* Go on from the best point with the factor of a Hessian. */
static bool
refine(DpermDescent *descent, DpermAsk *ask)
{
	int			dim = descent->problem.dim;

	for (int i = 0; i < dim; i++)
		descent->ahead[i] = -descent->best_gradient[i];
	dperm_linsys_solve(descent->hess, dim, descent->ahead);
	return try_step(descent, 1, ask);
}

/*
 * Ask for a Hessian at the best point; the gradient that comes with it is of no
 * interest.
 */
static bool
ask_hessian(DpermDescent *descent, DpermAsk *ask)
{
	*ask = (DpermAsk) {.weights = descent->best, .value = &descent->value,
		.gradient = descent->ahead,
		.hess = descent->hess};
	descent->phase = PHASE_HESSIAN;
	return true;
}

/* The gradient where refinement has come to is there. */
static bool
judge_refined(DpermDescent *descent, DpermAsk *ask)
{
	size_t		size = sizeof(double) * 2 * (size_t) descent->problem.dim;
	double		norm = complete(descent);
	bool		first = isinf(descent->norm);
	bool		good = norm <= REFINE_LEFT * descent->norm;

	if (norm <= descent->problem.bound)
		return finish(descent, true);
	if (descent->taken++ == REFINE_ASKS)
		return begin_descent(descent, ask);
	if (first || norm <= (1 - REFINE_SHARE * descent->step) * descent->norm)
	{
		memcpy(descent->best, descent->at, size);
		memcpy(descent->best_gradient, descent->gradient, size);
		descent->norm = norm;
		descent->fresh = false;
		return good && !first ? refine(descent, ask) : ask_hessian(descent, ask);
	}
	if (descent->step > REFINE_SHORTEST)
		return try_step(descent, descent->step / 4, ask);
	return descent->fresh ? begin_descent(descent, ask) : ask_hessian(descent, ask);
}

/* The Hessian is there. */
static bool
use_hessian(DpermDescent *descent, DpermAsk *ask)
{
	int			dim = descent->problem.dim;

	for (int i = 0; i < dim; i++)
		descent->hess[(size_t) i * dim + i] += descent->problem.lambda;
	if (!dperm_linsys_factor(descent->hess, dim, &descent->problem.poll))
		return begin_descent(descent, ask);
	descent->fresh = true;
	return refine(descent, ask);
}

/*
 * A step of the accelerated method: the gradient at y is there. x, v and y as
 * in docs/guarantee.md, Lemma 12:
 *
 *   x' = y - g/smooth,   v' = (1-q) v + q y - g/(q smooth),   y' = (x' + q v')/(1+q)
 */
static bool
descend(DpermDescent *descent, DpermAsk *ask)
{
	const DpermDescentProblem *problem = &descent->problem;
	int			dim = problem->dim;
	double		q = root_rate(problem->lambda, problem->curvature);
	DpermWide	smooth = dperm_wide_of(smoothness(problem->lambda, problem->curvature));
	DpermWide	less = dperm_wide_sum(1, -q);
	DpermWide	more = dperm_wide_sum(1, q);

	if (complete(descent) <= problem->bound)
		return finish(descent, true);
	if (descent->taken++ >= problem->steps)
		return finish(descent, false);
	for (int i = 0; i < dim; i++)
	{
		DpermWide	g = dperm_wide_divide(get_wide(descent->gradient, dim, i), smooth);
		DpermWide	y = get_wide(descent->at, dim, i);
		DpermWide	x = dperm_wide_subtract(y, g);
		DpermWide	v = dperm_wide_multiply(get_wide(descent->ahead, dim, i), less);

		v = dperm_wide_add(v, dperm_wide_scale(y, q));
		v = dperm_wide_subtract(v, dperm_wide_divide(g, dperm_wide_of(q)));
		put_wide(descent->ahead, dim, i, v);
		put_wide(descent->at, dim, i,
				 dperm_wide_divide(dperm_wide_add(x, dperm_wide_scale(v, q)), more));
	}
	return ask_gradient(descent, PHASE_DESCEND, ask);
}

/*
 * Take in the answer to what was asked last, and ask for more; false at the
 * end.
 */
bool
dperm_descent_next(DpermDescent *descent, DpermAsk *ask)
{
	dperm_poll(&descent->problem.poll);
	switch (descent->phase)
	{
		case PHASE_BEGIN:
			return ask_gradient(descent, PHASE_REFINE, ask);
		case PHASE_REFINE:
			return judge_refined(descent, ask);
		case PHASE_HESSIAN:
			return use_hessian(descent, ask);
		case PHASE_DESCEND:
			return descend(descent, ask);
	}
	return false;
}
