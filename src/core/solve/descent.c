/*
 * descent.c: refinement, then accelerated gradient descent, in extended
 * precision.
 */
#include "core/solve/descent.h"

#include <math.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/linsys.h"
#include "core/base/quad.h"
#include "core/solve/sums.h"

/*
 * Refinement: a step is good if it leaves at most REFINE_LEFT of the gradient,
 * and taken if it removes REFINE_SHARE of what it could. At most REFINE_ASKS
 * gradients are asked for, and no step is shorter than REFINE_SHORTEST.
 */
#define REFINE_LEFT 0.5
#define REFINE_SHARE 0.125
#define REFINE_ASKS 300
#define REFINE_SHORTEST 1e-8

/* Several classes: what is left of the gradient by a step, and its most products. */
#define NEWTON_LEFT 0.1
#define NEWTON_PRODUCTS 1000

/*
 * The method assumes slightly more smoothness and less convexity than there is,
 * which makes up for the rounding of gradients and points.
 */
#define MORE_SMOOTH (17.0 / 16)
#define LESS_CONVEX (15.0 / 16)

enum
{
	PHASE_REFINE,				/* a gradient was asked for, to refine the weights */
	PHASE_HESSIAN,				/* a Hessian */
	PHASE_PRODUCT,				/* a product, for a step */
	PHASE_DESCEND,				/* a gradient of the accelerated method */
	PHASE_BEGIN,				/* nothing yet */
	PHASE_END
};

/* The number of vectors that it keeps, each of high and of low parts. */
#define VECTORS 5

/* How many doubles of room it needs. */
size_t
dperm_descent_room(int dim)
{
	return 2 * VECTORS * (size_t) dim + dperm_conjugate_room(dim);
}

/*
 * Smoothness, and the square root of convexity over smoothness, as the method
 * assumes them.
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
 * Rounding of gradients and points may keep the method from getting below this
 * gradient (docs/guarantee.md, Lemma 12).
 */
double
dperm_descent_reach(int dim, double lambda, DpermLoss loss, int64_t rows, double weight_bound,
					double tilt)
{
	double		curvature = dperm_loss_bounds(loss).curvature;
	double		smooth = smoothness(lambda, curvature);
	double		q = root_rate(lambda, curvature);
	double		error = dperm_moments_extended_rounding(dim, loss, rows, lambda, 2 * weight_bound, tilt);
	double		points = 0x1p-97 * weight_bound;
	double		excess = 32 * error * error / lambda + 60 * smooth / q * points * points;

	return sqrt(2 * smooth * (1 + 1 / q) * 8 / (3 * q) * excess) + error;
}

/* The number of steps after which the gradient is at most half of the bound. */
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
					const DpermMetric *metric, double *room)
{
	size_t		d = (size_t) problem->dim;

	memset(descent, 0, sizeof(*descent));
	descent->problem = *problem;
	descent->weights = weights;
	descent->metric = *metric;
	descent->at = room;
	descent->gradient = room + 2 * d;
	descent->best = room + 4 * d;
	descent->best_gradient = room + 6 * d;
	descent->ahead = room + 8 * d;
	descent->conjugate_room = room + 10 * d;
	descent->norm = INFINITY;
	memcpy(descent->at, weights, sizeof(double) * d);
	memset(descent->at + d, 0, sizeof(double) * d);
	memcpy(descent->best, descent->at, sizeof(double) * 2 * d);
	descent->phase = PHASE_BEGIN;
}

/* Coordinates of a vector. */
static inline DpermExtended
get(const double *vector, int dim, int i)
{
	return dperm_quad_of(vector[i], vector[dim + i]);
}

static inline void
put(double *vector, int dim, int i, DpermExtended x)
{
	dperm_quad_split(x, &vector[i], &vector[dim + i]);
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
 * Add regulariser and tilt to the answer; returns an upper bound on the norm of
 * the exact gradient.
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
		double		b = problem->tilt ? problem->tilt[i] : 0;
		DpermExtended w = get(descent->at, dim, i);

		put(descent->gradient, dim, i, get(descent->gradient, dim, i) + problem->lambda * w + b);
		tilt += b * b;
		norm += descent->gradient[i] * descent->gradient[i];
		point += descent->at[i] * descent->at[i];
	}

	/* the factor allows for the rounding of the norm itself */
	return sqrt(norm) * (1 + 1e-9) + dperm_moments_extended_rounding(dim, problem->loss, problem->rows,
															 problem->lambda, sqrt(point),
															 sqrt(tilt));
}

/* Finish, with the current point as the result. */
static bool
finish(DpermDescent *descent, bool certified)
{
	descent->certified = certified;
	descent->phase = PHASE_END;
	memcpy(descent->weights, descent->at, sizeof(double) * (size_t) descent->problem.dim);
	return false;
}

/*
 * Begin the accelerated method, at the best point unless that is too far away.
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

/* Try a step along the direction from the best point. */
static bool
try_step(DpermDescent *descent, double step, DpermAsk *ask)
{
	int			dim = descent->problem.dim;

	descent->step = step;
	for (int i = 0; i < dim; i++)
		put(descent->at, dim, i,
			get(descent->best, dim, i) + (DpermExtended) step * descent->ahead[i]);
	return ask_gradient(descent, PHASE_REFINE, ask);
}

/* Continue from the best point with the factor of a Hessian. */
static bool
refine(DpermDescent *descent, DpermAsk *ask)
{
	int			dim = descent->problem.dim;

	if (descent->metric.blocks > 1)
	{
		dperm_conjugate_start(&descent->conjugate, &descent->metric, descent->problem.lambda,
							  descent->best, descent->best_gradient, NEWTON_LEFT * descent->norm,
							  NEWTON_PRODUCTS, descent->conjugate_room, ask);
		descent->phase = PHASE_PRODUCT;
		return true;
	}
	for (int i = 0; i < dim; i++)
		descent->ahead[i] = -descent->best_gradient[i];
	dperm_metric_solve(&descent->metric, descent->ahead);
	return try_step(descent, 1, ask);
}

/* A product has arrived. */
static bool
refine_by_product(DpermDescent *descent, DpermAsk *ask)
{
	if (dperm_conjugate_next(&descent->conjugate, ask))
		return true;
	memcpy(descent->ahead, descent->conjugate.step,
		   sizeof(double) * (size_t) descent->problem.dim);
	return try_step(descent, 1, ask);
}

/*
 * Ask for a Hessian at the best point; the gradient that comes with it is not
 * used.
 */
static bool
ask_hessian(DpermDescent *descent, DpermAsk *ask)
{
	*ask = (DpermAsk) {.weights = descent->best, .value = &descent->value,
		.gradient = descent->ahead,
		.hess = descent->metric.hess};
	descent->phase = PHASE_HESSIAN;
	return true;
}

/* The gradient at the refined point has arrived. */
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

/* The Hessian has arrived. */
static bool
use_hessian(DpermDescent *descent, DpermAsk *ask)
{
	double		trace;

	if (!dperm_metric_factor(&descent->metric, descent->problem.lambda, &trace))
		return begin_descent(descent, ask);
	descent->fresh = true;
	return refine(descent, ask);
}

/*
 * A step of the accelerated method, now that the gradient at y is known. x, v
 * and y are those of docs/guarantee.md, Lemma 12:
 *
 *   x' = y - g/smooth,   v' = (1-q) v + q y - g/(q smooth),   y' = (x' + q v')/(1+q)
 */
static bool
descend(DpermDescent *descent, DpermAsk *ask)
{
	const DpermDescentProblem *problem = &descent->problem;
	int			dim = problem->dim;
	double		curvature = dperm_loss_bounds(problem->loss).curvature;
	DpermExtended q = root_rate(problem->lambda, curvature);
	DpermExtended smooth = smoothness(problem->lambda, curvature);

	if (complete(descent) <= problem->bound)
		return finish(descent, true);
	if (descent->taken++ >= problem->steps)
		return finish(descent, false);
	for (int i = 0; i < dim; i++)
	{
		DpermExtended g = get(descent->gradient, dim, i) / smooth;
		DpermExtended y = get(descent->at, dim, i);
		DpermExtended v = (1 - q) * get(descent->ahead, dim, i) + q * y - g / q;

		put(descent->ahead, dim, i, v);
		put(descent->at, dim, i, (y - g + q * v) / (1 + q));
	}
	return ask_gradient(descent, PHASE_DESCEND, ask);
}

/*
 * Process the answer to the last question, and ask the next one; false at the
 * end.
 */
bool
dperm_descent_next(DpermDescent *descent, DpermAsk *ask)
{
	dperm_host_poll();
	switch (descent->phase)
	{
		case PHASE_BEGIN:
			return ask_gradient(descent, PHASE_REFINE, ask);
		case PHASE_REFINE:
			return judge_refined(descent, ask);
		case PHASE_HESSIAN:
			return use_hessian(descent, ask);
		case PHASE_PRODUCT:
			return refine_by_product(descent, ask);
		case PHASE_DESCEND:
			return descend(descent, ask);
	}
	return false;
}
