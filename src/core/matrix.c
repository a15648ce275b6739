/*
 * matrix.c: rows in memory as an oracle for the solver.
 */
#include "matrix.h"

/* The rows that are kept. */
DpermMatrix
dperm_matrix_of(const DpermKeep *keep, const DpermLayout *layout, DpermLoss loss)
{
	return (DpermMatrix) {.loss = loss, .dim = layout->dim, .layout = layout,
		.count = keep->used, .chunk_rows = keep->chunk_rows, .chunks = keep->chunks,
		.stripes = DPERM_STRIPES};
}

/* The sums of a finished pass as means. */
void
dperm_moments_means(DpermMoments *m, double *value, double *gradient, double *hess)
{
	double		n = (double) m->rows;

	dperm_moments_flush(m);
	*value = (m->value[0] + m->value[1]) / n;
	for (int i = 0; i < m->dim; i++)
		gradient[i] = (m->gradient[i] + m->gradient_low[i]) / n;
	if (hess)
		for (int j = 0; j < m->dim; j++)
			for (int i = j; i < m->dim; i++)
			{
				size_t		at = (size_t) j * m->dim + i;

				hess[at] = m->hess[at] / n;
			}
}

/* Add every step-th of count rows in one piece. */
static void
add_piece(const DpermMatrix *x, DpermMoments *m, const double *rows, int64_t count, int64_t step)
{
	int64_t		left = (count + step - 1) / step;

	while (left > 0)
	{
		int64_t		some = left < m->block_rows ? left : m->block_rows;

		dperm_poll(&x->poll);
		dperm_moments_add_every(m, rows, some, step);
		rows += some * step * m->layout.words;
		left -= some;
	}
}

/* The mean over rows in memory. */
DpermStatus
dperm_matrix_eval(void *matrix, const double *weights, double *value, double *gradient,
				  double *hess)
{
	const DpermMatrix *x = matrix;
	DpermLayout vectors = dperm_layout_dense(x->dim);
	const DpermLayout *layout = x->layout ? x->layout : &vectors;
	int64_t		stripes = x->stripes ? x->stripes : 1;
	int64_t		step = x->step ? x->step : 1;
	bool		one_stripe = step >= stripes;
	DpermMoments m;

	dperm_moments_init_rows(&m, x->loss, layout, hess != NULL, weights, x->room);
	if (x->rough)
		dperm_moments_be_rough(&m);
	for (int64_t first = 0; first < x->count; first += x->chunk_rows)
	{
		const double *rows = x->chunks[first / x->chunk_rows];
		int64_t		count = x->count - first < x->chunk_rows ? x->count - first : x->chunk_rows;

		for (int64_t i = 0; i < (one_stripe ? 1 : stripes); i++)
			add_piece(x, &m, rows + i * (x->chunk_rows / stripes) * layout->words,
					  (count - i + stripes - 1) / stripes, one_stripe ? step / stripes : 1);
	}
	dperm_moments_means(&m, value, gradient, hess);
	return DPERM_OK;
}

/* Overwrite the room. */
void
dperm_matrix_wipe(DpermMatrix *matrix)
{
	dperm_wipe(matrix->room, dperm_moments_room(matrix->dim, true));
}
