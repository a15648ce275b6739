/*
 * moments.c: one pass over encoded rows, block by block.
 */
#include "core/solve/moments.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/blas.h"
#include "core/solve/codes.h"
#include "core/solve/products.h"
#include "core/solve/squares.h"
#include "core/base/vector.h"

/*
 * Rows of a block: about 64 kB, so that they are read from memory once; more
 * for a Hessian, because that makes the update more efficient.
 */
static int
block_rows_for(int dim, bool hessian)
{
	int			rows = (hessian ? 32768 : 8192) / dim;

	/* products take eight rows at a time */
	rows = rows / 8 * 8;
	if (rows < 32)
		return 32;
	return rows > DPERM_BLOCK_ROWS_MAX ? DPERM_BLOCK_ROWS_MAX : rows;
}

/* The same of rows that have outputs for several classes. */
static int
rows_of_block(int dim, int blocks, bool hessian)
{
	return block_rows_for(dim + (blocks > 1 ? blocks : 0), hessian);
}

/* How many doubles of room a pass needs, whatever the layout of rows. */
size_t
dperm_moments_room(int dim, int blocks, bool hessian)
{
	size_t		d = (size_t) (dim / blocks);
	size_t		k = (size_t) blocks;
	size_t		rows = (size_t) rows_of_block((int) d, blocks, hessian);
	size_t		room = k * (5 * d + 2 * DPERM_CODES_BEYOND) +
		rows * DPERM_LAYOUT_WORDS_MAX(d) + (k + 1) * rows + DPERM_CODES_ROOM(d, rows) +
		dperm_extended_room(dim, blocks);

	if (blocks > 1)
		room += k * (d + DPERM_CODES_BEYOND + rows);
	if (hessian)
		room += d * d + rows + dperm_loss_pairs_size(blocks > 1 ? blocks : 0) +
			dperm_squares_room((int) d, (int) rows);
	return room;
}

/* Start a pass over rows of any layout. */
void
dperm_moments_init_rows(DpermMoments *m, DpermLoss loss, const DpermLayout *layout, bool hessian,
						const double *weights, double *room)
{
	int			blocks = dperm_loss_blocks(loss);
	size_t		wide = (size_t) layout->dim;	/* of rows */
	size_t		d = wide * (size_t) blocks;
	size_t		beyond = (size_t) blocks * DPERM_CODES_BEYOND;
	size_t		rows = (size_t) rows_of_block(layout->dim, blocks, hessian);

	memset(m, 0, sizeof(*m));
	m->dim = (int) d;
	m->blocks = blocks;
	m->layout = *layout;
	m->hessian = hessian;
	m->loss = loss;
	m->block_rows = (int) rows;

	m->gradient = room;
	m->gradient_low = m->gradient + d;
	m->weights_low = m->gradient_low + d;
	m->weights = m->weights_low + d;
	m->part = m->weights + d + beyond;
	m->block = m->part + d + beyond;
	m->margin = m->block + rows * DPERM_LAYOUT_WORDS_MAX(wide);
	m->label = m->margin + rows * (size_t) blocks;
	m->decoded = m->label + rows;
	m->extended_room = m->decoded + DPERM_CODES_ROOM(wide, rows);
	room = m->extended_room + dperm_extended_room(m->dim, blocks);
	if (blocks > 1)
	{
		m->moved = room;
		room += (rows + wide) * (size_t) blocks + beyond;
	}
	if (hessian)
	{
		m->curve = room;
		m->pairs = m->curve + rows;
		m->hess = m->pairs + dperm_loss_pairs_size(loss.classes);
		m->squares = dperm_squares_make(layout->dim, (int) rows, m->hess + wide * wide);
		memset(m->pairs, 0, sizeof(double) * (dperm_loss_pairs_size(loss.classes) + wide * wide));
	}
	memset(m->gradient, 0, sizeof(double) * 2 * d);
	memcpy(m->weights, weights, sizeof(double) * d);
	memset(m->weights + d, 0, sizeof(double) * beyond);
}

/* A gradient in extended precision. */
void
dperm_moments_be_careful(DpermMoments *m, const double *weights_low)
{
	m->careful = true;
	memcpy(m->weights_low, weights_low, sizeof(double) * (size_t) m->dim);
	dperm_extended_start(&m->extended, m->loss, &m->layout, m->weights, weights_low,
						 m->extended_room);
}

/* A product with the Hessian; its room is that after the outputs of the direction. */
void
dperm_moments_be_product(DpermMoments *m, const double *direction)
{
	m->direction = m->moved + (size_t) m->block_rows * (size_t) m->blocks;
	memcpy(m->direction, direction, sizeof(double) * (size_t) m->dim);
	memset(m->direction + m->dim, 0, sizeof(double) * (size_t) m->blocks * DPERM_CODES_BEYOND);
}

/* A Hessian in single precision. */
void
dperm_moments_be_rough(DpermMoments *m)
{
	m->squares.rough = m->hessian && m->layout.first_code > DPERM_BLAS_SMALL;
}

/* high + low += x, keeping the rounding error in low (Knuth's two-sum). */
static inline void
add_compensated(double *high, double *low, double x)
{
	double		sum = *high + x;
	double		virtual_x = sum - *high;

	*low += (*high - (sum - virtual_x)) + (x - virtual_x);
	*high = sum;
}

/* Collect the weights of some rows, stride words apart; NULL if rows have no weights. */
static const double *
gather_weights(const DpermMoments *m, const double *rows, int count, size_t stride,
			   double *weights)
{
	if (!m->layout.weighted)
		return NULL;
	for (int i = 0; i < count; i++)
		weights[i] = dperm_layout_weight(&m->layout, rows + i * stride);
	return weights;
}

/* From the outputs of a block to its slopes and curvatures. */
static void
add_losses(DpermMoments *m, int count, const double *weights)
{
	add_compensated(&m->value[0], &m->value[1],
					dperm_loss_block(m->loss, count, m->margin,
									 m->layout.labelled ? m->label : NULL,
									 m->blocks > 1 ? NULL : m->curve, weights));
}

/* Add the sum of a block to the total. */
static void
add_part(DpermMoments *m)
{
	for (int j = 0; j < m->dim; j++)
		add_compensated(&m->gradient[j], &m->gradient_low[j], m->part[j]);
}

/* From rows to the sums, except for the Hessian; with several classes, to its pairs and traces. */
static void
add_rows(DpermMoments *m, const DpermCodes *codes, int count, const double *weights)
{
	const DpermLossSeveral *several = dperm_loss_entry((int) m->loss.kind)->several;
	size_t		blocks = (size_t) m->blocks;
	double	   *slopes = m->direction ? m->moved : m->margin;

	dperm_solve_outputs(codes, m->blocks, codes->numbers, count, codes->number_stride, m->weights,
						m->margin);
	add_losses(m, count, weights);
	if (several && m->hessian)
		several->curvatures(m->blocks, count, m->margin, m->label, weights, m->curve, m->pairs);
	if (m->direction)
	{
		dperm_solve_outputs(codes, m->blocks, codes->numbers, count, codes->number_stride,
							m->direction, m->moved);
		several->products(m->blocks, count, m->margin, m->label, weights, m->moved);
	}
	for (int first = 0; first < count; first += DPERM_PIECE_ROWS)
	{
		int			some = count - first < DPERM_PIECE_ROWS ? count - first : DPERM_PIECE_ROWS;
		DpermCodes	piece = dperm_codes_after(codes, first);

		dperm_solve_sum(&piece, m->blocks, piece.numbers, some, piece.number_stride,
						slopes + first * blocks, m->part);
		add_part(m);
	}
}

/*
 * Add up to block_rows rows, stride words apart: outputs, slopes, then the
 * three sums.
 */
static void
add_block(DpermMoments *m, const double *rows, int count, size_t stride)
{
	DpermCodes	codes = dperm_codes_of(&m->layout, rows, count, stride, m->decoded);
	double		each[DPERM_BLOCK_ROWS_MAX];
	const double *weights;

	if (m->careful)
	{
		dperm_extended_add(&m->extended, &codes, rows, count, stride);
		return;
	}
	for (int i = 0; m->layout.labelled && i < count; i++)
		m->label[i] = rows[i * stride + dperm_layout_label(&m->layout)];
	weights = gather_weights(m, rows, count, stride, each);
	add_rows(m, &codes, count, weights);
	if (m->hessian && m->layout.first_code > 0)
		dperm_squares_add(&m->squares, &m->layout, codes.numbers, count, codes.number_stride,
						  m->curve, m->hess);
	if (m->hessian && dperm_layout_codes(&m->layout) > 0)
		dperm_codes_curvatures(&codes, count, m->curve, m->hess);
}

/* The least number of rows; with several classes, rows need not be long. */
#define LEAST_ROWS 8
#define LEAST_ROWS_SEVERAL 32

/*
 * How many rows to add at a time if they need not be gathered: this many
 * eighths of a block, which stay in the nearest cache from the first product to
 * the second; but whole blocks are better for a Hessian and for codes.
 */
int
dperm_moments_piece(const DpermMoments *m, int eighths)
{
	int			rows = m->block_rows * eighths / 64 * 8;
	int			least = m->blocks > 1 ? LEAST_ROWS_SEVERAL : LEAST_ROWS;

	if (m->hessian || dperm_layout_codes(&m->layout) > 0 || m->careful)
		return m->block_rows;
	return rows > least ? rows : least;
}

/* Add the rows of the current block to the sums. */
void
dperm_moments_flush(DpermMoments *m)
{
	if (m->block_used > 0)
		add_block(m, m->block, m->block_used, m->layout.words);
	m->block_used = 0;
	if (m->hessian && dperm_layout_codes(&m->layout) > 0)
		dperm_codes_fold(&m->layout, m->hess);
	if (m->hessian)
		dperm_squares_fold(&m->squares, &m->layout, m->hess);
	if (m->careful)
		dperm_extended_flush(&m->extended, m->gradient, m->gradient_low);
}

/* The place for some more rows. */
double *
dperm_moments_next_rows(DpermMoments *m, int count)
{
	double	   *place;

	if (m->block_used + count > m->block_rows)
	{
		add_block(m, m->block, m->block_used, m->layout.words);
		m->block_used = 0;
	}
	place = m->block + (size_t) m->block_used * m->layout.words;
	m->rows += count;
	m->block_used += count;
	return place;
}

/* The place for one more row. */
double *
dperm_moments_next(DpermMoments *m)
{
	return dperm_moments_next_rows(m, 1);
}

/* Add every step-th of some rows. */
void
dperm_moments_add_every(DpermMoments *m, const double *rows, int64_t count, int64_t step)
{
	size_t		stride = (size_t) m->layout.words * (size_t) step;
	int			most = dperm_moments_piece(m, 3);

	m->rows += count;
	while (count > 0)
	{
		int			some = count < most ? (int) count : most;

		add_block(m, rows, some, stride);
		rows += some * stride;
		count -= some;
	}
}

/* Add the sums of another pass at the same weights. */
void
dperm_moments_merge(DpermMoments *m, int64_t rows, const double *value,
					const double *gradient, const double *gradient_low,
					const double *hess_packed)
{
	m->rows += rows;
	if (m->careful)
	{
		dperm_extended_merge(m->dim, gradient, gradient_low, m->gradient, m->gradient_low);
		return;
	}
	add_compensated(&m->value[0], &m->value[1], value[0]);
	m->value[1] += value[1];
	for (int j = 0; j < m->dim; j++)
	{
		add_compensated(&m->gradient[j], &m->gradient_low[j], gradient[j]);
		m->gradient_low[j] += gradient_low[j];
	}
	for (int j = 0; m->hessian && j < m->layout.dim; j++)
		for (int i = j; i < m->layout.dim; i++)
			m->hess[(size_t) j * m->layout.dim + i] += *hess_packed++;
	for (size_t i = 0; m->hessian && i < dperm_loss_pairs_size(m->loss.classes); i++)
		m->pairs[i] += *hess_packed++;
}

/* The lower triangle of the Hessian, column after column; then pairs of classes. */
void
dperm_moments_pack(const DpermMoments *m, double *packed)
{
	int			dim = m->layout.dim;

	for (int j = 0; j < dim; j++)
	{
		size_t		count = (size_t) (dim - j);

		memcpy(packed, m->hess + (size_t) j * dim + j, sizeof(double) * count);
		packed += count;
	}
	memcpy(packed, m->pairs, sizeof(double) * dperm_loss_pairs_size(m->loss.classes));
}

/*
 * The number of roundings of a product on its way into the margin, in addition
 * to a quarter of the coordinates; with several classes, to all of them.
 */
#define MARGIN_ROUNDINGS 16

/* A bound on the rounding error of the mean gradient. */
double
dperm_moments_rounding(int dim, DpermLoss loss, double norm)
{
	const DpermLossBounds bounds = dperm_loss_bounds(loss);
	/* of a sum, or of one of four */
	int			terms = loss.classes > 0 ? dim / loss.classes : dim / 4;
	double		margin = (terms + MARGIN_ROUNDINGS) * norm;
	double		slope = bounds.curvature * (margin + 2) + bounds.slope_rounding;

	return DPERM_ROUNDING_UNIT * (slope + DPERM_PIECE_ROWS * bounds.norm + 4 * bounds.norm);
}
