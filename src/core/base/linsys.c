/*
 * linsys.c: a right-looking Cholesky factorisation over BLAS.
 */
#include "core/base/linsys.h"

#include <stddef.h>

#include "core/base/blas.h"

/* Columns of a panel; a panel's update of one block column is the unit between polls. */
#define PANEL 128

/* Factor a = L L', in place in the lower triangle. */
bool
dperm_linsys_factor(double *a, int dim, const DpermPoll *poll)
{
	const double one = 1,
				minus = -1;

	for (int k = 0; k < dim; k += PANEL)
	{
		int			width = dim - k < PANEL ? dim - k : PANEL;
		int			below = dim - k - width;
		double	   *diagonal = a + (size_t) k * dim + k;
		double	   *panel = diagonal + width;
		int			info = 0;

		dpotrf_("L", &width, diagonal, &dim, &info);
		if (info != 0)
			return false;
		if (below == 0)
			break;
		dtrsm_("R", "L", "T", "N", &below, &width, &one, diagonal, &dim, panel, &dim);
		for (int j = 0; j < below; j += PANEL)
		{
			int			cols = below - j < PANEL ? below - j : PANEL;
			int			rest = below - j - cols;
			double	   *to = a + (size_t) (k + width + j) * dim + (k + width + j);

			dperm_poll(poll);
			dsyrk_("L", "N", &cols, &width, &minus, panel + j, &dim, &one, to, &dim);
			if (rest > 0)
				dgemm_("N", "T", &rest, &cols, &width, &minus, panel + j + cols, &dim,
					   panel + j, &dim, &one, to + cols, &dim);
		}
	}
	return true;
}

/* Solve L L' x = b in place. */
void
dperm_linsys_solve(const double *a, int dim, double *x)
{
	const int	one = 1;

	dtrsv_("L", "N", "N", &dim, a, &dim, x, &one);
	dtrsv_("L", "T", "N", &dim, a, &dim, x, &one);
}
