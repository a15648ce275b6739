/*
 * metric.c: an approximate Hessian of the objective, and its inverse. Fast.
 */
#include "core/solve/metric.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"

/* How many doubles of room it needs. */
size_t
dperm_metric_room(int dim, int blocks)
{
	size_t		k = (size_t) blocks;
	size_t		d = (size_t) dim / k;

	return k * d * d + 2 * DPERM_CORRECTIONS * (size_t) dim + k + 2 * d;
}

DpermMetric
dperm_metric_make(int dim, int blocks, double lambda, double *room)
{
	size_t		k = (size_t) blocks;
	size_t		d = (size_t) dim / k;
	DpermMetric metric = {.dim = dim, .blocks = blocks, .lambda = lambda};

	metric.moves = room;
	metric.changes = metric.moves + DPERM_CORRECTIONS * (size_t) dim;
	metric.hess = metric.changes + DPERM_CORRECTIONS * (size_t) dim;
	metric.factors = metric.hess + d * d + k;
	metric.column = metric.factors + (k - 1) * d * d;
	metric.constant = metric.column + d;
	return metric;
}

/* The factor of a class. */
static inline double *
factor_of(const DpermMetric *metric, int k)
{
	size_t		d = (size_t) (metric->dim / metric->blocks);

	return k == 0 ? metric->hess : metric->factors + (size_t) (k - 1) * d * d;
}

/* From the answer to a factor. */
void
dperm_metric_factor(DpermMetric *metric)
{
	int			blocks = metric->blocks;
	int			d = metric->dim / blocks;
	const double *by_class = metric->hess + (size_t) d * d;
	double		sum = 0;
	double		trace = 0;
	bool		definite = true;

	if (blocks > 1)
		for (int k = 0; k < blocks; k++)
			sum += by_class[k] * (blocks - 1) / blocks;

	/* the first one last: it takes the place of A */
	for (int k = blocks - 1; k >= 0; k--)
	{
		double		share = blocks == 1 ? 1 : sum > 0 ? by_class[k] / sum : 0;
		double	   *to = factor_of(metric, k);

		for (int j = 0; j < d; j++)
		{
			for (int i = j; i < d; i++)
				to[(size_t) j * d + i] = share * metric->hess[(size_t) j * d + i];
			to[(size_t) j * d + j] += metric->lambda;
			trace += to[(size_t) j * d + j];
		}
		definite = dperm_linsys_factor(to, d) && definite;
	}
	metric->plain = definite ? 0 : trace;
	metric->count = 0;
}

/* Take the mean away from the numbers of a coordinate, one for each class. */
static double
take_constant(int blocks, double *x)
{
	double		sum = 0;

	for (int k = 0; k < blocks; k++)
		sum += x[k];
	for (int k = 0; k < blocks; k++)
		x[k] -= sum / blocks;
	return sum / blocks;
}

/* Multiply a vector by the inverse of what a pass has answered. */
static void
solve_uncorrected(const DpermMetric *metric, double *x)
{
	int			blocks = metric->blocks;
	int			d = metric->dim / blocks;

	if (metric->plain != 0)
	{
		for (int i = 0; i < metric->dim; i++)
			x[i] /= metric->plain;
		return;
	}
	if (blocks == 1)
	{
		dperm_linsys_solve(metric->hess, d, x);
		return;
	}
	for (int j = 0; j < d; j++)
		metric->constant[j] = take_constant(blocks, x + j * blocks) / metric->lambda;
	for (int k = 0; k < blocks; k++)
	{
		for (int j = 0; j < d; j++)
			metric->column[j] = x[j * blocks + k];
		dperm_linsys_solve(factor_of(metric, k), d, metric->column);
		for (int j = 0; j < d; j++)
			x[j * blocks + k] = metric->column[j];
	}
	for (int j = 0; j < d; j++)
	{
		(void) take_constant(blocks, x + j * blocks);
		for (int k = 0; k < blocks; k++)
			x[j * blocks + k] += metric->constant[j];
	}
}

/* Forget the oldest correction. */
static void
forget_oldest(DpermMetric *metric)
{
	size_t		size = sizeof(double) * (size_t) metric->dim;

	metric->count--;
	memmove(metric->moves, metric->moves + metric->dim, size * (size_t) metric->count);
	memmove(metric->changes, metric->changes + metric->dim, size * (size_t) metric->count);
	memmove(metric->products, metric->products + 1, sizeof(double) * (size_t) metric->count);
}

/* The difference of two vectors of pairs, rounded to doubles. */
static void
subtract(int dim, const double *to, const double *from, double *out)
{
	for (int i = 0; i < dim; i++)
		out[i] = (to[i] - from[i]) + (to[dim + i] - from[dim + i]);
}

/* Correct it by a move. */
void
dperm_metric_correct(DpermMetric *metric, const DpermPoint *from, const DpermPoint *to)
{
	int			dim = metric->dim;
	double	   *move;
	double	   *change;
	double		product;

	if (metric->count == DPERM_CORRECTIONS)
		forget_oldest(metric);
	move = metric->moves + (size_t) metric->count * dim;
	change = metric->changes + (size_t) metric->count * dim;
	subtract(dim, to->weights, from->weights, move);
	subtract(dim, to->gradient, from->gradient, change);

	/* anything else is rounding */
	product = dperm_dot(dim, move, change);
	if (product >= metric->lambda / 2 * dperm_dot(dim, move, move) && product > 0)
		metric->products[metric->count++] = product;
}

/* Multiply a vector by the inverse. */
void
dperm_metric_solve(const DpermMetric *metric, double *x)
{
	int			dim = metric->dim;
	double		share[DPERM_CORRECTIONS];

	for (int k = metric->count - 1; k >= 0; k--)
	{
		const double *change = metric->changes + (size_t) k * dim;

		share[k] = dperm_dot(dim, metric->moves + (size_t) k * dim, x) / metric->products[k];
		for (int i = 0; i < dim; i++)
			x[i] -= share[k] * change[i];
	}
	solve_uncorrected(metric, x);
	for (int k = 0; k < metric->count; k++)
	{
		const double *move = metric->moves + (size_t) k * dim;
		double		left =
			share[k] - dperm_dot(dim, metric->changes + (size_t) k * dim, x) / metric->products[k];

		for (int i = 0; i < dim; i++)
			x[i] += left * move[i];
	}
}
