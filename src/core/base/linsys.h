/*
 * linsys.h: an interruptible Cholesky factorisation. Fast.
 */
#ifndef DPERM_LINSYS_H
#define DPERM_LINSYS_H

#include <stdbool.h>

/*
 * Replace the lower triangle of the dim x dim matrix a (by columns) by its
 * Cholesky factor. Returns false if a is not numerically positive definite, and
 * leaves it undefined then. Polls between panels, so that a large matrix does
 * not delay query cancellation.
 */
extern bool dperm_linsys_factor(double *a, int dim);

/* Solve L L' x = b in place. */
extern void dperm_linsys_solve(const double *a, int dim, double *x);

/* The inner product, summed sequentially: the same on every IEEE machine. */
static inline double
dperm_dot(int dim, const double *x, const double *y)
{
	double		sum = 0;

	for (int i = 0; i < dim; i++)
		sum += x[i] * y[i];
	return sum;
}

#endif							/* DPERM_LINSYS_H */
