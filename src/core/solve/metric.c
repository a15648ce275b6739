/*
 * metric.c: an approximate Hessian of the objective, and its inverse.
 */
#include "core/solve/metric.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"
#include "core/loss/loss.h"

/* Rotations over all pairs of classes; they converge quadratically. */
#define SWEEPS 12
#define SMALL 1e-13

/* How many doubles of room it needs. */
size_t
dperm_metric_room(int dim, int blocks)
{
	size_t		k = (size_t) blocks;
	size_t		d = (size_t) dim / k;
	size_t		room = k * d * d + 2 * DPERM_CORRECTIONS * (size_t) dim;

	if (blocks == 1)
		return room;
	/* eigenvectors, and S while they are found */
	return room + dperm_loss_pairs_size(blocks) + k + (d > k ? d : k) + 2 * k * k;
}

DpermMetric
dperm_metric_make(int dim, int blocks, double *room)
{
	size_t		k = (size_t) blocks;
	size_t		d = (size_t) dim / k;
	DpermMetric metric = {.dim = dim, .blocks = blocks};

	metric.moves = room;
	metric.changes = metric.moves + DPERM_CORRECTIONS * (size_t) dim;
	metric.hess = metric.changes + DPERM_CORRECTIONS * (size_t) dim;
	if (blocks == 1)
		return metric;
	metric.factors = metric.hess + d * d + dperm_loss_pairs_size(blocks);
	metric.values = metric.factors + (k - 1) * d * d;
	metric.column = metric.values + k;
	metric.vectors = metric.column + (d > k ? d : k);
	return metric;
}

/* Rotate two rows of a matrix. */
static inline void
rotate_rows(size_t count, double c, double s, double *restrict x, double *restrict y)
{
	for (size_t i = 0; i < count; i++)
	{
		double		kept = x[i];

		x[i] = c * kept - s * y[i];
		y[i] = s * kept + c * y[i];
	}
}

/* A rotation that makes one element of a symmetric matrix vanish; vectors take part. */
static void
rotate_pair(size_t k, double *a, double *vectors, size_t p, size_t q)
{
	double		turn = (a[q * k + q] - a[p * k + p]) / (2 * a[p * k + q]);
	double		t = (turn < 0 ? -1 : 1) / (fabs(turn) + sqrt(turn * turn + 1));
	double		c = 1 / sqrt(t * t + 1);
	double		s = t * c;

	rotate_rows(k, c, s, a + p * k, a + q * k);
	for (size_t i = 0; i < k; i++)
	{
		double		kept = a[i * k + p];

		a[i * k + p] = c * kept - s * a[i * k + q];
		a[i * k + q] = s * kept + c * a[i * k + q];
	}
	rotate_rows(k, c, s, vectors + p * k, vectors + q * k);
}

/* Eigenvalues and eigenvectors of S by Jacobi's method. */
static void
find_eigenvectors(DpermMetric *metric, const double *packed)
{
	size_t		k = (size_t) metric->blocks;
	double	   *vectors = metric->vectors;
	double	   *a = vectors + k * k;
	double		trace = 0;
	double		off = INFINITY;

	memset(vectors, 0, sizeof(double) * k * k);
	for (size_t j = 0; j < k; j++)
		for (size_t i = j; i < k; i++)
			a[j * k + i] = a[i * k + j] = *packed++;
	for (size_t j = 0; j < k; j++)
	{
		vectors[j * k + j] = 1;
		trace += fabs(a[j * k + j]);
	}
	for (int sweep = 0; sweep < SWEEPS && off > SMALL * trace; sweep++)
	{
		off = 0;
		for (size_t p = 0; p < k; p++)
			for (size_t q = p + 1; q < k; q++)
			{
				off = fmax(off, fabs(a[p * k + q]));
				if (fabs(a[p * k + q]) > SMALL * SMALL * trace)
					rotate_pair(k, a, vectors, p, q);
			}
	}
	for (size_t j = 0; j < k; j++)
		metric->values[j] = fmax(a[j * k + j], 0);
}

/* The factor of a class, or of an eigenvector. */
static inline double *
factor_of(const DpermMetric *metric, size_t k)
{
	size_t		d = (size_t) (metric->dim / metric->blocks);

	return k == 0 ? metric->hess : metric->factors + (k - 1) * d * d;
}

/* Add the regulariser to the lower triangle of d x d, and factor it. */
static bool
factor_one(double *hess, int dim, double lambda, double *trace)
{
	for (int i = 0; i < dim; i++)
	{
		double	   *diagonal = hess + (size_t) i * dim + i;

		*diagonal += lambda;
		*trace += *diagonal;
	}
	return dperm_linsys_factor(hess, dim);
}

/* From the answer to a factor. */
void
dperm_metric_factor(DpermMetric *metric, double lambda)
{
	size_t		blocks = (size_t) metric->blocks;
	int			d = metric->dim / metric->blocks;
	double		sum = 0;
	double		trace = 0;
	bool		definite = true;

	if (blocks > 1)
	{
		find_eigenvectors(metric, metric->hess + (size_t) d * d);
		for (size_t k = 0; k < blocks; k++)
			sum += metric->values[k];
	}

	/* the first one last: it takes the place of A */
	for (size_t k = blocks; k-- > 0;)
	{
		double		share = blocks == 1 ? 1 : sum > 0 ? metric->values[k] / sum : 0;
		double	   *to = factor_of(metric, k);

		for (int j = 0; j < d; j++)
			for (int i = j; i < d; i++)
				to[(size_t) j * d + i] = share * metric->hess[(size_t) j * d + i];
		definite = factor_one(to, d, lambda, &trace) && definite;
	}
	metric->plain = definite ? 0 : trace;
	metric->count = 0;
}

/* Turn the numbers of each coordinate, one for each class, by the eigenvectors, or back. */
static void
turn_classes(const DpermMetric *metric, bool back, double *x)
{
	size_t		k = (size_t) metric->blocks;
	size_t		d = (size_t) metric->dim / k;
	double	   *turned = metric->column;

	for (size_t j = 0; j < d; j++, x += k)
	{
		memset(turned, 0, sizeof(double) * k);
		for (size_t v = 0; v < k; v++)
		{
			const double *vector = metric->vectors + v * k;

			if (back)
				for (size_t i = 0; i < k; i++)
					turned[i] += x[v] * vector[i];
			else
				turned[v] = dperm_dot((int) k, vector, x);
		}
		memcpy(x, turned, sizeof(double) * k);
	}
}

/* Multiply a vector by the inverse of what a pass has answered. */
static void
solve_uncorrected(const DpermMetric *metric, double *x)
{
	size_t		blocks = (size_t) metric->blocks;
	int			d = metric->dim / metric->blocks;

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
	turn_classes(metric, false, x);
	for (size_t k = 0; k < blocks; k++)
	{
		for (size_t j = 0; j < (size_t) d; j++)
			metric->column[j] = x[j * blocks + k];
		dperm_linsys_solve(factor_of(metric, k), d, metric->column);
		for (size_t j = 0; j < (size_t) d; j++)
			x[j * blocks + k] = metric->column[j];
	}
	turn_classes(metric, true, x);
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
dperm_metric_correct(DpermMetric *metric, const DpermPoint *from, const DpermPoint *to,
					 double lambda)
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
	if (product >= lambda / 2 * dperm_dot(dim, move, move) && product > 0)
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
