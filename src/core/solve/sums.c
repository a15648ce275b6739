/*
 * sums.c: sums over encoded rows, batch by batch. Trusted.
 */
#include "core/solve/sums.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/base/blas.h"
#include "core/base/host.h"
#include "core/base/vector.h"

/* What slopes in extended precision are multiples of; and the rows of a piece of them. */
#define FIXED_SLOPE 0x1p-110
#define FIXED_ROWS 32768

/* ------------------------------------------------------------------ room */

/*
 * Memory that is handed out, in multiples of a line of the cache; base is NULL if it
 * is only measured.
 */
#define LINE 8

typedef struct Room
{
	double	   *base;
	size_t		used;
} Room;

static double *
take(Room *room, size_t count)
{
	double	   *vector = room->base ? room->base + room->used : NULL;

	room->used += (count + LINE - 1) / LINE * LINE;
	return vector;
}

/*
 * The numbers of a batch: so many stay in the nearest cache from the outputs to the
 * gradient, curves with what they are decoded to. But there are at least so many rows;
 * with several classes, more.
 */
#define BATCH_NUMBERS 3072
#define LEAST_ROWS 8
#define LEAST_ROWS_SEVERAL 32

/* The rows of a batch of a layout: multiples of eight, as products take so many at a time. */
static int
batch_rows(const DpermLayout *layout, int classes)
{
	int			least = classes > 1 ? LEAST_ROWS_SEVERAL : LEAST_ROWS;
	int			numbers = layout->first_code + 4 * layout->curves + layout->codes / 2 + 1;
	int			rows = BATCH_NUMBERS / (numbers + (classes > 1 ? classes : 0)) / 8 * 8;

	return rows < least ? least : rows > DPERM_BATCH_ROWS ? DPERM_BATCH_ROWS : rows;
}

/*
 * Take what sums of m->dim weights need, whatever the layout of rows. What comes first
 * begins with zeros: returns how many.
 */
static size_t
lay_out(DpermMoments *m, Room *room)
{
	size_t		k = (size_t) m->classes;
	size_t		wide = (size_t) m->dim / k; /* of rows */
	size_t		d = (size_t) m->dim;
	size_t		selected = d + k * DPERM_BEYOND;
	size_t		outputs = DPERM_BATCH_ROWS * k;
	size_t		words = 2 * BATCH_NUMBERS + LEAST_ROWS_SEVERAL * DPERM_LAYOUT_WORDS_MAX(wide);
	size_t		zeros;

	m->gradient = take(room, d);
	m->gradient_low = take(room, d);
	m->weights = take(room, selected);
	m->piece = take(room, selected);
	m->fixed_weights = (DpermFixed *) take(room, 2 * selected);
	m->fixed_piece = (DpermFixed *) take(room, 2 * selected);
	if (m->hessian)
	{
		m->hess = take(room, (wide + DPERM_BEYOND) * (wide + DPERM_BEYOND));
		m->by_class = take(room, k);
	}
	zeros = room->used;
	m->numbers = take(room, words);
	m->codes = (uint16_t *) take(room, words);
	m->places = (int32_t *) take(room, words);
	m->entries = take(room, 2 * words);
	m->outputs = take(room, outputs);
	m->fixed_outputs = (DpermFixed *) take(room, 2 * outputs);
	if (m->hessian)
	{
		m->scaled = take(room, DPERM_ROUGH_ROWS * wide / 2);
		m->rough_hess = (float *) take(room, (wide * wide + 1) / 2);
	}
	return zeros;
}

_Static_assert(DPERM_SQUARES_ROWS * sizeof(double) <= DPERM_ROUGH_ROWS * sizeof(float),
			   "there is room for scaled rows in either precision");

/* How many doubles of room a pass needs. */
size_t
dperm_moments_room(int dim, int classes, bool hessian)
{
	DpermMoments m = {.dim = dim, .classes = classes, .hessian = hessian};
	Room		room = {NULL, 0};

	(void) lay_out(&m, &room);
	return room.used + LINE;
}

/* --------------------------------------------------------------- batches */

/*
 * Rows, decoded. A category is one coordinate, which is the unit; a curve is two
 * neighbouring ones. The code of a missing value is the dimension, where weights
 * are 0 and what is added up is ignored.
 */
typedef struct Batch
{
	const DpermLayout *layout;
	int			count;
	const double *numbers;		/* of the first row */
	size_t		stride;			/* from row to row */
	const uint16_t *codes;		/* row after row */
	const int32_t *places;		/* of curves, row after row */
	const double *entries;		/* two for each */
} Batch;

/* Decode rows, stride words apart. */
static Batch
decode(DpermMoments *m, const double *rows, int count, size_t stride)
{
	const DpermLayout *layout = &m->layout;
	bool		lines = layout->dense > layout->numbers;

	dperm_layout_decode(layout, rows, count, stride, m->numbers, m->codes, m->places, m->entries);
	return (Batch) {
		.layout = layout, .count = count,
		.numbers = lines ? m->numbers : rows, .stride = lines ? (size_t) layout->dense : stride,
		.codes = m->codes, .places = m->places, .entries = m->entries
	};
}

/* A row of a batch. */
typedef struct Row
{
	const double *numbers;
	const uint16_t *codes;
	const int32_t *places;
	const double *entries;
} Row;

static inline Row
row_of(const Batch *b, size_t i)
{
	size_t		at = i * dperm_layout_curves_apart(b->layout);

	return (Row) {
		b->numbers + i * b->stride, b->codes + i * dperm_layout_codes_apart(b->layout),
		b->places + at, b->entries + 2 * at
	};
}

/* to += factor from, for each class. */
static inline void
add_times(size_t classes, double factor, const double *restrict from, double *restrict to)
{
	size_t		k = 0;

	for (; k + 2 <= classes; k += 2)
		dperm_put_pair(dperm_multiply_add(dperm_both(factor), dperm_pair_at(from + k),
										  dperm_pair_at(to + k)), to + k);
	if (k < classes)
		to[k] = dperm_fused(factor, from[k], to[k]);
}

/*
 * The same in extended precision, for a factor from -1 to 1, whose size is a multiple of
 * 2^-62 and a rest. A product is off by at most eight (docs/guarantee.md, Lemma 11).
 * What missing values add up to, which nobody reads, may wrap around.
 */
static inline void
add_fixed_times(size_t classes, double factor, const DpermFixed *restrict from,
				DpermFixed *restrict to)
{
	double		size = fabs(factor) * 0x1p62;
	uint64_t	most = (uint64_t) (int64_t) size;
	uint64_t	rest = (uint64_t) (int64_t) ((size - (double) most) * 0x1p62);

	for (size_t k = 0; k < classes; k++)
	{
		DpermFixed	x = from[k] < 0 ? -from[k] : from[k];
		DpermFixed	high = (uint64_t) (x >> 64);
		DpermFixed	low = (uint64_t) x;
		DpermFixed	product = high * most * 4 + (low * most >> 62) + (high * rest >> 60);

		if ((from[k] < 0) != (factor < 0))
			product = -product;
		to[k] = (DpermFixed) ((unsigned __int128) to[k] + (unsigned __int128) product);
	}
}

/*
 * What coordinate j of row i, which is x, adds: to the outputs of the row, from the
 * weights of the coordinate; or back, to the sums of the coordinate, from the slopes of
 * the row. These are DpermFixed in extended precision, else doubles.
 */
static inline __attribute__((always_inline)) void
add_entry(size_t classes, bool extended, bool back, double x, size_t i, size_t j,
		  const void *restrict from, void *restrict to)
{
	size_t		first = (back ? i : j) * classes;
	size_t		target = (back ? j : i) * classes;

	if (extended)
		add_fixed_times(classes, x, (const DpermFixed *) from + first, (DpermFixed *) to + target);
	else
		add_times(classes, x, (const double *) from + first, (double *) to + target);
}

/*
 * The same for all coordinates of rows; in doubles with one class, only back and only
 * those of codes and curves.
 */
static inline __attribute__((always_inline)) void
add_rows(const Batch *b, int classes, bool extended, bool back, const void *restrict from,
		 void *restrict to)
{
	const DpermLayout *layout = b->layout;
	const double one = 1;
	int			count = b->count;
	int			dense = layout->dense;
	int			apart = (int) b->stride;
	bool		all = extended || classes > 1;
	bool		blas = !extended && dense > DPERM_BLAS_SMALL && b->stride <= INT_MAX;
	size_t		numbers = !all || blas ? 0 : (size_t) dense;
	size_t		codes = (size_t) layout->codes;
	size_t		curves = (size_t) layout->curves;
	bool		constant = all && dperm_layout_has_constant(layout);
	double		unit = layout->unit;

	if (all && blas)
		dperm_blas()->dgemm("N", back ? "T" : "N", &classes, back ? &dense : &count,
							back ? &count : &dense, &one, from, &classes, b->numbers, &apart,
							&one, to, &classes);
	for (size_t i = 0; i < (size_t) count; i++)
	{
		Row			row = row_of(b, i);
		size_t		wide = (size_t) classes;

		for (size_t j = 0; j < numbers; j++)
			add_entry(wide, extended, back, row.numbers[j], i, j, from, to);
		if (constant)
			add_entry(wide, extended, back, unit, i, (size_t) dense, from, to);
		for (size_t k = 0; k < codes; k++)
			add_entry(wide, extended, back, unit, i, row.codes[k], from, to);
		for (size_t k = 0; k < curves; k++)
		{
			size_t		j = (size_t) row.places[k];

			if (!all)			/* both at once */
				dperm_put_pair(dperm_pair_at(row.entries + 2 * k) * ((const double *) from)[i] +
							   dperm_pair_at((double *) to + j), (double *) to + j);
			else
			{
				add_entry(wide, extended, back, row.entries[2 * k], i, j, from, to);
				add_entry(wide, extended, back, row.entries[2 * k + 1], i, j + 1, from, to);
			}
		}
	}
}

/* Add the codes of rows to their outputs, for one class. */
static void
add_code_outputs(const Batch *b, const double *restrict weights, double *restrict outputs)
{
	size_t		codes = (size_t) b->layout->codes;
	const uint16_t *code = b->codes;

	for (int i = 0; i < b->count; i++, code += dperm_layout_codes_apart(b->layout))
	{
		double		sums[4] = {0};
		size_t		k = 0;

		for (; k + 4 <= codes; k += 4)
			for (size_t l = 0; l < 4; l++)
				sums[l] += weights[code[k + l]];
		for (; k < codes; k++)
			sums[0] += weights[code[k]];
		outputs[i] += b->layout->unit * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
	}
}

/* The same of curves. */
static void
add_curve_outputs(const Batch *b, const double *restrict weights, double *restrict outputs)
{
	size_t		curves = (size_t) b->layout->curves;
	size_t		apart = dperm_layout_curves_apart(b->layout);
	const int32_t *place = b->places;
	const double *entry = b->entries;

	for (int i = 0; i < b->count; i++, place += apart, entry += 2 * apart)
	{
		DpermPair	even = {0},
					odd = {0};
		size_t		k = 0;

		for (; k + 2 <= curves; k += 2)
		{
			even += dperm_pair_at(weights + place[k]) * dperm_pair_at(entry + 2 * k);
			odd += dperm_pair_at(weights + place[k + 1]) * dperm_pair_at(entry + 2 * k + 2);
		}
		if (k < curves)
			even += dperm_pair_at(weights + place[k]) * dperm_pair_at(entry + 2 * k);
		even += odd;
		outputs[i] += even[0] + even[1];
	}
}

/* The outputs of rows. */
static void
take_outputs(const Batch *b, int classes, const double *weights, double *outputs)
{
	const DpermLayout *layout = b->layout;

	if (classes == 1)
	{
		dperm_rows_inner((size_t) b->count, b->numbers, b->stride, (size_t) layout->dense,
						 dperm_layout_has_constant(layout) ? layout->unit : 0, weights, outputs);
		if (layout->codes > 0)
			add_code_outputs(b, weights, outputs);
		if (layout->curves > 0)
			add_curve_outputs(b, weights, outputs);
		return;
	}
	memset(outputs, 0, sizeof(double) * (size_t) b->count * (size_t) classes);
	add_rows(b, classes, false, false, weights, outputs);
}

/* ------------------------------------------------------------- gradients */

/* Add rows times slopes to a sum. */
static void
add_gradient(const Batch *b, int classes, const double *slopes, double *sum)
{
	const DpermLayout *layout = b->layout;

	if (classes > 1)
	{
		add_rows(b, classes, false, true, slopes, sum);
		return;
	}
	dperm_add_rows((size_t) b->count, b->numbers, b->stride, (size_t) layout->dense,
				   dperm_layout_has_constant(layout) ? layout->unit : 0, slopes, sum);
	if (layout->codes + layout->curves > 0)
		add_rows(b, 1, false, true, slopes, sum);
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

/* Add to an element of a gradient that is a pair. */
static void
add_pair(DpermMoments *m, int j, DpermExtended x)
{
	dperm_quad_split(dperm_quad_of(m->gradient[j], m->gradient_low[j]) + x, &m->gradient[j],
					 &m->gradient_low[j]);
}

/* Add the piece to the gradient, and begin another one. */
static void
end_piece(DpermMoments *m)
{
	bool		extended = m->order == DPERM_PASS_EXTENDED;
	size_t		selected = (size_t) (m->dim + m->classes * DPERM_BEYOND);

	for (int j = 0; j < m->dim; j++)
		if (extended)
			add_pair(m, j, m->fixed_piece[j] * (DpermExtended) FIXED_SLOPE);
		else
			add_compensated(&m->gradient[j], &m->gradient_low[j], m->piece[j]);
	if (extended)
		memset(m->fixed_piece, 0, sizeof(DpermFixed) * selected);
	else
		memset(m->piece, 0, sizeof(double) * selected);
	m->piece_rows = 0;
}

/* -------------------------------------------------------------- Hessians */

/* Add the scaled rows to the Hessian. */
static void
end_squares(DpermMoments *m)
{
	const double one = 1;
	const float rough_one = 1,
				none = 0;
	int			wide = m->layout.first_code;
	int			stride = m->layout.dim + DPERM_BEYOND;
	int			count = m->scaled_rows;

	m->scaled_rows = 0;
	if (count == 0)
		return;
	if (wide <= DPERM_BLAS_SMALL)
		dperm_add_squares((size_t) count, (size_t) wide, m->scaled, m->hess, (size_t) stride);
	else if (m->scaled)
		dperm_blas()->dsyrk("U", "N", &wide, &count, &one, m->scaled, &wide, &one, m->hess,
							&stride);
	else
	{
		dperm_blas()->ssyrk("U", "N", &wide, &count, &rough_one, m->rough_scaled, &wide, &none,
							m->rough_hess, &wide);
		for (size_t i = 0; i < (size_t) wide; i++)
			for (size_t j = 0; j <= i; j++)
				m->hess[i * (size_t) stride + j] += m->rough_hess[i * (size_t) wide + j];
	}
}

/* Add what numbers and the intercept add by themselves. */
static void
add_squares(DpermMoments *m, const Batch *b, const double *curvatures)
{
	const DpermLayout *layout = b->layout;
	size_t		dense = (size_t) layout->dense;
	size_t		wide = (size_t) layout->first_code;
	int			most = m->scaled ? DPERM_SQUARES_ROWS : DPERM_ROUGH_ROWS;

	if (wide == 0)
		return;
	for (int i = 0; i < b->count; i++)
	{
		const double *row = b->numbers + i * b->stride;
		double		root = sqrt(curvatures[i]);
		size_t		at = (size_t) m->scaled_rows * wide;

		/* rows on a flat piece of the loss, or without a label, have no second derivative */
		if (root == 0)
			continue;
		if (m->scaled)
		{
			dperm_scale(dense, root, row, m->scaled + at);
			if (wide > dense)
				m->scaled[at + dense] = root * layout->unit;
		}
		else
		{
			for (size_t j = 0; j < dense; j++)
				m->rough_scaled[at + j] = (float) root * (float) row[j];
			if (wide > dense)
				m->rough_scaled[at + dense] = (float) root * (float) layout->unit;
		}
		if (++m->scaled_rows == most)
			end_squares(m);
	}
}

/* Add the beginning of a row, up to so many codes and curves, to a column of the Hessian. */
static inline void
add_column(const Batch *b, const Row *row, int codes, int curves, double scaled,
		   double *restrict column)
{
	const DpermLayout *layout = b->layout;
	double		unit = scaled * layout->unit;

	for (int j = 0; j < layout->dense; j++)
		column[j] += scaled * row->numbers[j];
	if (dperm_layout_has_constant(layout))
		column[layout->dense] += unit;
	for (int k = 0; k < codes; k++)
		column[row->codes[k]] += unit;
	for (int k = 0; k < curves; k++)
	{
		double	   *to = column + row->places[k];

		dperm_put_pair(dperm_pair_at(to) + dperm_pair_at(row->entries + 2 * k) * scaled, to);
	}
}

/* Add second derivatives in which a code or a curve takes part. */
static void
add_coded_squares(const Batch *b, const double *curvatures, double *hess)
{
	const DpermLayout *layout = b->layout;
	size_t		stride = (size_t) layout->dim + DPERM_BEYOND;

	if (layout->codes + layout->curves == 0)
		return;
	for (size_t i = 0; i < (size_t) b->count; i++)
	{
		Row			row = row_of(b, i);

		if (curvatures[i] == 0)
			continue;
		for (int k = 0; k < layout->codes; k++)
			if (row.codes[k] != layout->dim)
				add_column(b, &row, k + 1, 0, curvatures[i] * layout->unit,
						   hess + row.codes[k] * stride);
		for (int k = 0; k < layout->curves; k++)
		{
			double	   *column = hess + (size_t) row.places[k] * stride;
			double		first = curvatures[i] * row.entries[2 * k];
			double		second = curvatures[i] * row.entries[2 * k + 1];

			if (row.places[k] == layout->dim)
				continue;
			add_column(b, &row, layout->codes, k, first, column);
			column[row.places[k]] += first * row.entries[2 * k];
			add_column(b, &row, layout->codes, k + 1, second, column + stride);
		}
	}
}

/* ---------------------------------------------------- extended precision */

/*
 * Weights as integers: their sizes add up to at most 2^122. Those that are not finite
 * are never certified, whatever their sums.
 */
static void
take_fixed_weights(DpermMoments *m, const double *weights, const double *weights_low)
{
	double		sum = 1;
	bool		finite;
	int			exponent;

	for (int j = 0; j < m->dim; j++)
		sum += fabs(weights[j]) + fabs(weights_low[j]);
	finite = isfinite(sum);
	frexp(finite ? sum : 1, &exponent);
	m->fixed_unit = ldexp(1, exponent - 122);
	for (int j = 0; j < m->dim; j++)
		m->fixed_weights[j] = !finite ? 0 :
			(DpermFixed) (dperm_quad_of(weights[j], weights_low[j]) / m->fixed_unit);
}

/* Add the gradient over a batch: outputs, slopes times the weights of rows, sums. */
static void
add_extended(DpermMoments *m, const Batch *b, const double *labels, const double *weights)
{
	size_t		classes = (size_t) m->classes;
	DpermFixed *outputs = m->fixed_outputs;
	DpermExtended of_row[DPERM_CLASSES_MAX];

	memset(outputs, 0, sizeof(DpermFixed) * (size_t) b->count * classes);
	add_rows(b, m->classes, true, false, m->fixed_weights, outputs);
	for (int i = 0; i < b->count; i++, outputs += classes)
	{
		for (size_t k = 0; k < classes; k++)
			of_row[k] = outputs[k] * (DpermExtended) m->fixed_unit;
		dperm_loss_slopes(m->loss, of_row, labels ? labels[i] : 1);
		for (size_t k = 0; k < classes; k++)
			outputs[k] = (DpermFixed) (of_row[k] * (weights ? weights[i] : 1) / FIXED_SLOPE);
	}
	add_rows(b, m->classes, true, true, m->fixed_outputs, m->fixed_piece);
}

/* ---------------------------------------------------------------- passes */

/* Start a pass over rows of any layout. */
void
dperm_moments_start(DpermMoments *m, DpermPassOrder order, DpermLoss loss,
					const DpermLayout *layout, const double *weights, const double *weights_low,
					double *room)
{
	int			classes = dperm_loss_blocks(loss);
	size_t		d = (size_t) (layout->dim * classes);
	size_t		off = (uintptr_t) room / sizeof(double) % LINE;
	Room		of_pass = {room + (LINE - off) % LINE, 0};

	*m = (DpermMoments) {
		.order = order,
		.loss = loss,
		.layout = *layout,
		.dim = (int) d,
		.classes = classes,
		.hessian = order == DPERM_PASS_HESSIAN || order == DPERM_PASS_ROUGH,
		.batch_rows = batch_rows(layout, classes)
	};
	memset(of_pass.base, 0, sizeof(double) * lay_out(m, &of_pass));
	memcpy(m->weights, weights, sizeof(double) * d);
	if (order == DPERM_PASS_EXTENDED)
		take_fixed_weights(m, weights, weights_low);
	if (order == DPERM_PASS_ROUGH && layout->first_code > DPERM_BLAS_SMALL)
	{
		m->rough_scaled = (float *) m->scaled;
		m->scaled = NULL;
	}
}

/*
 * Add up to batch_rows rows, stride words apart: outputs, slopes and curvatures,
 * then the sums.
 */
static void
add_batch(DpermMoments *m, const double *rows, int count, size_t stride)
{
	Batch		b = decode(m, rows, count, stride);
	double		room[3][DPERM_BATCH_ROWS];
	const double *labels = m->layout.labelled ? room[0] : NULL;
	const double *weights = m->layout.weighted ? room[1] : NULL;
	double	   *curvatures = room[2];
	double	   *slopes = m->outputs;

	if (labels)
		for (int i = 0; i < count; i++)
			room[0][i] = rows[i * stride + dperm_layout_label(&m->layout)];
	if (weights)
		for (int i = 0; i < count; i++)
			room[1][i] = dperm_layout_weight(&m->layout, rows + i * stride);
	if (m->piece_rows + count > (m->order == DPERM_PASS_EXTENDED ? FIXED_ROWS : DPERM_PIECE_ROWS))
		end_piece(m);
	m->piece_rows += count;
	if (m->order == DPERM_PASS_EXTENDED)
	{
		add_extended(m, &b, labels, weights);
		return;
	}
	take_outputs(&b, m->classes, m->weights, m->outputs);
	add_compensated(&m->value[0], &m->value[1],
					dperm_loss_block(m->loss, count, m->outputs, labels,
									 m->classes > 1 || !m->hessian ? NULL : curvatures, weights));
	if (m->classes > 1 && m->hessian)
		dperm_loss_curvatures(m->classes, count, slopes, labels, weights, curvatures,
							  m->by_class);
	add_gradient(&b, m->classes, slopes, m->piece);
	if (m->hessian)
	{
		add_squares(m, &b, curvatures);
		add_coded_squares(&b, curvatures, m->hess);
	}
}

/* The outputs of a row. */
const double *
dperm_moments_outputs(DpermMoments *m, const double *row)
{
	Batch		b = decode(m, row, 1, (size_t) m->layout.words);

	take_outputs(&b, m->classes, m->weights, m->outputs);
	return m->outputs;
}

/* Add one in step of some rows. */
void
dperm_moments_add(DpermMoments *m, const double *rows, int64_t count, int64_t step)
{
	size_t		stride = (size_t) m->layout.words * (size_t) step;
	int64_t		left = (count + step - 1) / step;

	m->rows += left;
	while (left > 0)
	{
		int			some = left < m->batch_rows ? (int) left : m->batch_rows;

		dperm_host_poll();
		add_batch(m, rows, some, stride);
		rows += some * stride;
		left -= some;
	}
}

/* Finish the sums over the rows so far. */
void
dperm_moments_flush(DpermMoments *m)
{
	end_piece(m);
	if (m->hessian)
		end_squares(m);
}

/* Add the sums of another pass at the same weights. */
void
dperm_moments_merge(DpermMoments *m, int64_t rows, const double *value,
					const double *gradient, const double *gradient_low,
					const double *hess_packed)
{
	size_t		stride = (size_t) m->layout.dim + DPERM_BEYOND;

	m->rows += rows;
	add_compensated(&m->value[0], &m->value[1], value[0]);
	m->value[1] += value[1];
	for (int j = 0; j < m->dim; j++)
		add_pair(m, j, dperm_quad_of(gradient[j], gradient_low[j]));
	if (!m->hessian)
		return;
	for (size_t j = 0; j < (size_t) m->layout.dim; j++)
		for (size_t i = j; i < (size_t) m->layout.dim; i++)
			m->hess[i * stride + j] += *hess_packed++;
	for (int k = 0; k < m->loss.classes; k++)
		m->by_class[k] += *hess_packed++;
}

/* The lower triangle of the Hessian, column after column; then by class. */
void
dperm_moments_pack(const DpermMoments *m, double *packed)
{
	for (int j = 0; j < m->layout.dim; j++)
		for (int i = j; i < m->layout.dim; i++)
			*packed++ = dperm_moments_second(m, i, j);
	memcpy(packed, m->by_class, sizeof(double) * (size_t) m->loss.classes);
}

/*
 * The number of roundings of a product on its way into an output, in addition
 * to a quarter of the coordinates; with several classes, to all of them.
 */
#define OUTPUT_ROUNDINGS 16

/* A bound on the rounding error of the mean gradient. */
double
dperm_moments_rounding(int dim, DpermLoss loss, double norm)
{
	const DpermLossBounds bounds = dperm_loss_bounds(loss);
	/* of a sum, or of one of four */
	int			terms = loss.classes > 0 ? dim / loss.classes : dim / 4;
	double		output = (terms + OUTPUT_ROUNDINGS) * norm;
	double		slope = bounds.curvature * (output + 2) + bounds.slope_rounding;

	return DPERM_ROUNDING_UNIT * (slope + DPERM_PIECE_ROWS * bounds.norm + 4 * bounds.norm);
}

/* The same in extended precision. */
double
dperm_moments_extended_rounding(int dim, DpermLoss loss, int64_t rows, double more_rows,
								double lambda, double norm, double tilt)
{
	const DpermLossBounds bounds = dperm_loss_bounds(loss);
	int			terms = dim / dperm_loss_blocks(loss);

	return 0x1p-93 + 0x1p-100 * ((bounds.curvature * (terms + 4) / 16 + lambda) * norm + tilt +
								 bounds.norm * 500 + bounds.norm * (double) rows * 0x1p-19 +
								 loss.classes / 16.0) +
		more_rows * 9 * sqrt(dim) * FIXED_SLOPE;
}

/* -------------------------------------------------------- rows in memory */

/* Start a pass that answers a question. */
void
dperm_matrix_start(const DpermMatrix *x, const DpermAsk *ask, DpermMoments *m)
{
	DpermLayout vectors = dperm_layout_dense(x->dim / dperm_loss_blocks(x->loss));

	dperm_moments_start(m, dperm_ask_order(ask, x->rough), x->loss,
						x->layout ? x->layout : &vectors, ask->weights, ask->weights_low, x->room);
}

/* Turn the sums of a pass into means. */
void
dperm_matrix_means(DpermMoments *m, double units, const DpermAsk *ask)
{
	int			d = m->layout.dim;

	dperm_moments_flush(m);
	*ask->value = (m->value[0] + m->value[1]) / units;
	for (int i = 0; i < m->dim; i++)
		if (ask->weights_low)
			dperm_quad_split(dperm_quad_of(m->gradient[i], m->gradient_low[i]) / units,
							 &ask->gradient[i], &ask->gradient_low[i]);
		else
			ask->gradient[i] = (m->gradient[i] + m->gradient_low[i]) / units;
	if (ask->hess == NULL)
		return;
	for (int j = 0; j < d; j++)
		for (int i = j; i < d; i++)
			ask->hess[(size_t) j * (size_t) d + (size_t) i] = dperm_moments_second(m, i, j) / units;
	for (int k = 0; k < m->loss.classes; k++)
		ask->hess[(size_t) d * (size_t) d + (size_t) k] = m->by_class[k] / units;
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

		dperm_moments_add(&m, x->chunks[first / x->chunk_rows],
						  left < x->chunk_rows ? left : x->chunk_rows, x->step ? x->step : 1);
	}
	dperm_matrix_means(&m, x->units == 0 ? (double) m.rows :
					   x->units * ((double) m.rows / (double) x->of), ask);
}

/* Overwrite the room. */
void
dperm_matrix_wipe(DpermMatrix *matrix)
{
	dperm_wipe(matrix->room,
			   dperm_moments_room(matrix->dim, dperm_loss_blocks(matrix->loss), true));
}
