/*
 * linsys.c: a right-looking Cholesky factorisation over BLAS, and a plain one
 * for small matrices. Fast.
 */
#include "core/base/linsys.h"

#include <math.h>
#include <stddef.h>

#include "core/base/blas.h"
#include "core/base/host.h"

/*
 * Columns of a panel. The code polls after each panel's update of a block
 * column.
 */
#define PANEL 128

/*
 * Factor a small matrix column by column; false if it is not positive definite.
 */
static bool
factor_small(double *a, int dim)
{
	for (int j = 0; j < dim; j++)
	{
		double	   *column = a + (size_t) j * dim;

		for (int k = 0; k < j; k++)
		{
			const double *before = a + (size_t) k * dim;
			double		factor = before[j];

			for (int i = j; i < dim; i++)
				column[i] -= factor * before[i];
		}
		if (!(column[j] > 0))
			return false;
		column[j] = sqrt(column[j]);
		for (int i = j + 1; i < dim; i++)
			column[i] /= column[j];
	}
	return true;
}

/* Factor a = L L', in place in the lower triangle. */
bool
dperm_linsys_factor(double *a, int dim)
{
	const double one = 1,
				minus = -1;
	const DpermBlas *blas;

	if (dim <= DPERM_BLAS_SMALL)
		return factor_small(a, dim);
	blas = dperm_blas();
	for (int k = 0; k < dim; k += PANEL)
	{
		int			width = dim - k < PANEL ? dim - k : PANEL;
		int			below = dim - k - width;
		double	   *diagonal = a + (size_t) k * dim + k;
		double	   *panel = diagonal + width;
		int			info = 0;

		blas->dpotrf("L", &width, diagonal, &dim, &info);
		if (info != 0)
			return false;
		if (below == 0)
			break;
		blas->dtrsm("R", "L", "T", "N", &below, &width, &one, diagonal, &dim, panel, &dim);
		for (int j = 0; j < below; j += PANEL)
		{
			int			cols = below - j < PANEL ? below - j : PANEL;
			int			rest = below - j - cols;
			double	   *to = a + (size_t) (k + width + j) * dim + (k + width + j);

			dperm_host_poll();
			blas->dsyrk("L", "N", &cols, &width, &minus, panel + j, &dim, &one, to, &dim);
			if (rest > 0)
				blas->dgemm("N", "T", &rest, &cols, &width, &minus, panel + j + cols, &dim,
							panel + j, &dim, &one, to + cols, &dim);
		}
	}
	return true;
}

/* Solve L L' x = b in place. */
void
dperm_linsys_solve(const double *a, int dim, double *x)
{
	for (int j = 0; j < dim; j++)
	{
		const double *column = a + (size_t) j * dim;

		x[j] /= column[j];
		for (int i = j + 1; i < dim; i++)
			x[i] -= x[j] * column[i];
	}
	for (int j = dim - 1; j >= 0; j--)
	{
		const double *column = a + (size_t) j * dim;
		double		sum = x[j];

		for (int i = j + 1; i < dim; i++)
			sum -= column[i] * x[i];
		x[j] = sum / column[j];
	}
}
