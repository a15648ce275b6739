/*
 * conjugate.c: a Newton step by conjugate gradients.
 */
#include "core/solve/conjugate.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"

/* Vectors that it keeps. */
#define VECTORS 4

/* How many doubles of room it needs. */
size_t
dperm_conjugate_room(int dim)
{
	return VECTORS * (size_t) dim;
}

/* Ask for the product with the direction. */
static void
ask_product(DpermConjugate *c, DpermAsk *ask)
{
	*ask = (DpermAsk) {
		.weights = c->weights,
		.value = &c->value,
		.gradient = c->product,
		.direction = c->direction
	};
}

/* The residual, preconditioned, in place of the product; returns its fit. */
static double
precondition(DpermConjugate *c)
{
	int			dim = c->metric.dim;

	memcpy(c->product, c->residual, sizeof(double) * (size_t) dim);
	dperm_metric_solve(&c->metric, c->product);
	return dperm_dot(dim, c->residual, c->product);
}

/* Begin. */
void
dperm_conjugate_start(DpermConjugate *c, const DpermMetric *metric, double lambda,
					  const double *weights, const double *gradient, double goal, int most,
					  double *room, DpermAsk *ask)
{
	size_t		d = (size_t) metric->dim;

	*c = (DpermConjugate) {
		.metric = *metric,
		.lambda = lambda,
		.weights = weights,
		.goal = goal,
		.left = most,
		.step = room,
		.residual = room + d,
		.direction = room + 2 * d,
		.product = room + 3 * d
	};
	for (size_t i = 0; i < d; i++)
	{
		c->step[i] = 0;
		c->residual[i] = -gradient[i];
	}
	c->fit = precondition(c);
	memcpy(c->direction, c->product, sizeof(double) * d);
	ask_product(c, ask);
}

/* Process a product, and ask for the next one. */
bool
dperm_conjugate_next(DpermConjugate *c, DpermAsk *ask)
{
	int			dim = c->metric.dim;
	bool		first = true;
	double		curvature;
	double		length;
	double		fit;

	for (int i = 0; i < dim; i++)
	{
		c->product[i] += c->lambda * c->direction[i];
		first = first && c->step[i] == 0;
	}

	/* all eigenvalues are at least lambda: anything else is rounding */
	curvature = dperm_dot(dim, c->direction, c->product);
	if (!(curvature > 0 && isfinite(curvature) && c->fit > 0))
	{
		if (first)
			memcpy(c->step, c->direction, sizeof(double) * (size_t) dim);
		return false;
	}
	length = c->fit / curvature;
	for (int i = 0; i < dim; i++)
	{
		c->step[i] += length * c->direction[i];
		c->residual[i] -= length * c->product[i];
	}
	if (!(sqrt(dperm_dot(dim, c->residual, c->residual)) > c->goal) || --c->left <= 0)
		return false;
	fit = precondition(c);
	for (int i = 0; i < dim; i++)
		c->direction[i] = c->product[i] + fit / c->fit * c->direction[i];
	c->fit = fit;
	ask_product(c, ask);
	return true;
}
