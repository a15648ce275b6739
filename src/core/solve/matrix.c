/*
 * matrix.c: answer the solver's questions from rows in memory.
 */
#include "core/solve/matrix.h"

#include "core/base/core.h"
#include "core/base/host.h"

/* Turn sums into means. */
void
dperm_matrix_sums_means(const double *value, const double *gradient, const double *gradient_low,
						double n, int dim, const DpermAsk *ask)
{
	*ask->value = (value[0] + value[1]) / n;
	for (int i = 0; i < dim; i++)
	{
		if (ask->weights_low)
			dperm_quad_split(dperm_quad_of(gradient[i], gradient_low[i]) / n, &ask->gradient[i],
							 &ask->gradient_low[i]);
		else
			ask->gradient[i] = (gradient[i] + gradient_low[i]) / n;
	}
}

/* Turn the sums of a finished pass into means. */
void
dperm_matrix_means(DpermMoments *m, double units, const DpermAsk *ask)
{
	dperm_moments_flush(m);
	dperm_matrix_sums_means(m->value, m->gradient, m->gradient_low, units, m->dim, ask);
	for (int j = 0; ask->hess && j < m->layout.dim; j++)
		for (int i = j; i < m->layout.dim; i++)
		{
			size_t		at = (size_t) j * m->layout.dim + i;

			ask->hess[at] = m->hess[at] / units;
		}
	for (size_t i = 0; ask->hess && i < dperm_loss_pairs_size(m->loss.classes); i++)
		ask->hess[(size_t) m->layout.dim * m->layout.dim + i] = m->pairs[i] / units;
}

/* Add one in step of count contiguous rows. */
void
dperm_matrix_add(DpermMoments *m, const double *rows, int64_t count, int64_t step)
{
	int64_t		stride = step * m->layout.words;
	int64_t		left = (count + step - 1) / step;

	while (left > 0)
	{
		int			some = left < m->block_rows ? (int) left : m->block_rows;

		dperm_host_poll();
		dperm_moments_add_every(m, rows, some, step);
		rows += some * stride;
		left -= some;
	}
}

/* Start a pass that answers a question. */
void
dperm_matrix_start(const DpermMatrix *x, const DpermAsk *ask, DpermMoments *m)
{
	DpermLayout vectors = dperm_layout_dense(x->dim / dperm_loss_blocks(x->loss));

	dperm_moments_init_rows(m, x->loss, x->layout ? x->layout : &vectors, ask->hess != NULL,
							ask->weights, x->room);
	if (x->rough)
		dperm_moments_be_rough(m);
	if (ask->weights_low)
		dperm_moments_be_careful(m, ask->weights_low);
	if (ask->direction)
		dperm_moments_be_product(m, ask->direction);
}

/* The divisor for sums over some of the rows. */
static double
units_of(const DpermMatrix *x, int64_t rows)
{
	if (x->units == 0)
		return (double) rows;
	return rows == x->of ? x->units : x->units * ((double) rows / (double) x->of);
}

/* The mean over rows in memory. */
void
dperm_matrix_answer(const DpermMatrix *x, const DpermAsk *ask)
{
	DpermMoments m;

	dperm_matrix_start(x, ask, &m);
	for (int64_t first = 0; first < x->count; first += x->chunk_rows)
	{
		int64_t		left = x->count - first;

		dperm_matrix_add(&m, x->chunks[first / x->chunk_rows],
						 left < x->chunk_rows ? left : x->chunk_rows, x->step ? x->step : 1);
	}
	dperm_matrix_means(&m, units_of(x, m.rows), ask);
}

/* Overwrite the room. */
void
dperm_matrix_wipe(DpermMatrix *matrix)
{
	dperm_wipe(matrix->room,
			   dperm_moments_room(matrix->dim, dperm_loss_blocks(matrix->loss), true));
}
