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
	size_t		room = k * d * d;

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
	DpermMetric metric = {.dim = dim, .blocks = blocks, .hess = room};

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
bool
dperm_metric_factor(DpermMetric *metric, double lambda, double *trace)
{
	size_t		blocks = (size_t) metric->blocks;
	int			d = metric->dim / metric->blocks;
	const double *pairs = metric->hess + (size_t) d * d;
	double		sum = 0;
	bool		definite = true;

	*trace = 0;
	if (blocks == 1)
		return factor_one(metric->hess, d, lambda, trace);
	find_eigenvectors(metric, pairs);
	for (size_t k = 0; k < blocks; k++)
		sum += metric->values[k];

	/* the first one last: it takes the place of A */
	for (size_t k = blocks; k-- > 0;)
	{
		double		share = sum > 0 ? metric->values[k] / sum : 0;
		double	   *to = factor_of(metric, k);

		for (int j = 0; j < d; j++)
			for (int i = j; i < d; i++)
				to[(size_t) j * d + i] = share * metric->hess[(size_t) j * d + i];
		definite = factor_one(to, d, lambda, trace) && definite;
	}
	return definite;
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

/* Multiply a vector by the inverse. */
void
dperm_metric_solve(const DpermMetric *metric, double *x)
{
	size_t		blocks = (size_t) metric->blocks;
	int			d = metric->dim / metric->blocks;

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
