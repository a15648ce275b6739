/*
 * moments.c: one pass over encoded rows, block by block.
 */
#include "moments.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"

/* Rows of a block: about 256 kB of them, so that block and copy stay in cache. */
static int
block_rows_for(int dim)
{
	int			rows = 32768 / dim;

	if (rows < 32)
		return 32;
	return rows > DPERM_BLOCK_ROWS_MAX ? DPERM_BLOCK_ROWS_MAX : rows;
}

/* How many doubles of room a pass needs. */
size_t
dperm_moments_room(int dim, bool hessian)
{
	size_t		d = (size_t) dim;
	size_t		rows = (size_t) block_rows_for(dim);
	size_t		room = 4 * d + rows * d + rows;

	if (hessian)
		room += d * d + rows * d;
	return room;
}

/* Start a pass with zero sums. */
void
dperm_moments_init(DpermMoments *m, DpermLoss loss, int dim, bool hessian,
				   const double *weights, double *room)
{
	size_t		d = (size_t) dim;
	size_t		rows = (size_t) block_rows_for(dim);

	memset(m, 0, sizeof(*m));
	m->dim = dim;
	m->hessian = hessian;
	m->loss = loss;
	m->block_rows = (int) rows;

	m->gradient = room;
	m->gradient_low = m->gradient + d;
	m->weights = m->gradient_low + d;
	m->part = m->weights + d;
	m->block = m->part + d;
	m->margin = m->block + rows * d;
	if (hessian)
	{
		m->hess = m->margin + rows;
		m->scaled = m->hess + d * d;
		memset(m->hess, 0, sizeof(double) * d * d);
	}
	memset(m->gradient, 0, sizeof(double) * 2 * d);
	memcpy(m->weights, weights, sizeof(double) * d);
}

/* high + low += x without losing what does not fit into high (Knuth's two-sum). */
static inline void
add_compensated(double *high, double *low, double x)
{
	double		sum = *high + x;
	double		virtual_x = sum - *high;

	*low += (*high - (sum - virtual_x)) + (x - virtual_x);
	*high = sum;
}

/* Add up to block_rows rows: margins, slopes, then the three sums. */
static void
add_block(DpermMoments *m, const double *rows, int count)
{
	const int	one = 1;
	const double unit = 1,
				zero = 0;
	double		value = 0;
	int			curved = 0;

	dgemv_("T", &m->dim, &count, &unit, rows, &m->dim, m->weights, &one, &zero,
		   m->margin, &one);
	for (int i = 0; i < count; i++)
	{
		DpermLossAt at = dperm_loss_at(m->loss, m->margin[i]);

		value += at.value;
		m->margin[i] = at.slope;
		if (m->hessian && at.curve > 0)
		{
			/* rows on a flat piece of the loss have no second derivative */
			const double *row = rows + (size_t) i * m->dim;
			double	   *to = m->scaled + (size_t) curved * m->dim;
			double		root = sqrt(at.curve);

			for (int j = 0; j < m->dim; j++)
				to[j] = root * row[j];
			curved++;
		}
	}
	add_compensated(&m->value[0], &m->value[1], value);

	dgemv_("N", &m->dim, &count, &unit, rows, &m->dim, m->margin, &one, &zero,
		   m->part, &one);
	for (int j = 0; j < m->dim; j++)
		add_compensated(&m->gradient[j], &m->gradient_low[j], m->part[j]);

	if (curved > 0)
		dsyrk_("L", "N", &m->dim, &curved, &unit, m->scaled, &m->dim, &unit, m->hess,
			   &m->dim);
}

/* Bring the rows of the block under way into the sums. */
void
dperm_moments_flush(DpermMoments *m)
{
	if (m->block_used > 0)
		add_block(m, m->block, m->block_used);
	m->block_used = 0;
}

/* The place for one more row. */
double *
dperm_moments_next(DpermMoments *m)
{
	if (m->block_used == m->block_rows)
		dperm_moments_flush(m);
	m->rows++;
	return m->block + (size_t) m->block_used++ * m->dim;
}

/* Add rows that lie in memory already. */
void
dperm_moments_add(DpermMoments *m, const double *rows, int64_t count)
{
	m->rows += count;
	while (count > 0)
	{
		int			some = count < m->block_rows ? (int) count : m->block_rows;

		add_block(m, rows, some);
		rows += (size_t) some * m->dim;
		count -= some;
	}
}

/* Add sums that another pass made at the same weights. */
void
dperm_moments_merge(DpermMoments *m, int64_t rows, const double *value,
					const double *gradient, const double *gradient_low,
					const double *hess_packed)
{
	m->rows += rows;
	add_compensated(&m->value[0], &m->value[1], value[0]);
	m->value[1] += value[1];
	for (int j = 0; j < m->dim; j++)
	{
		add_compensated(&m->gradient[j], &m->gradient_low[j], gradient[j]);
		m->gradient_low[j] += gradient_low[j];
	}
	if (m->hessian)
		for (int j = 0; j < m->dim; j++)
			for (int i = j; i < m->dim; i++)
				m->hess[(size_t) j * m->dim + i] += *hess_packed++;
}

/* The lower triangle of the Hessian, column after column. */
void
dperm_moments_pack(const DpermMoments *m, double *packed)
{
	for (int j = 0; j < m->dim; j++)
	{
		size_t		count = (size_t) (m->dim - j);

		memcpy(packed, m->hess + (size_t) j * m->dim + j, sizeof(double) * count);
		packed += count;
	}
}

/* A bound on the rounding error of the mean gradient. */
double
dperm_moments_rounding(int dim, double curvature, double length)
{
	double		margin = dim * length;	/* of a dot product */
	double		slope = curvature * (margin + 2) + 4;

	return DBL_EPSILON * (slope + DPERM_BLOCK_ROWS_MAX + 4);
}
