/*
 * sums.c: sums over encoded rows, batch by batch.
 */
#include "core/solve/sums.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/base/blas.h"
#include "core/base/host.h"
#include "core/base/vector.h"

#define PARTS DPERM_EXTENDED_PARTS
#define LAST (PARTS - 1)
#define LEVELS DPERM_EXTENDED_LEVELS

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

/* The same for each of some vectors, one after the other. */
static void
take_each(Room *room, double **vectors, int number, size_t count)
{
	for (int k = 0; k < number; k++)
		vectors[k] = take(room, count);
}

/*
 * The numbers of a batch: so many stay in the nearest cache from the outputs to the
 * gradient. But there are at least so many rows; with several classes, more.
 */
#define BATCH_NUMBERS 3072
#define LEAST_ROWS 8
#define LEAST_ROWS_SEVERAL 32

/* The rows of a batch of a layout: multiples of eight, as products take so many at a time. */
static int
batch_rows(const DpermLayout *layout, int classes)
{
	int			least = classes > 1 ? LEAST_ROWS_SEVERAL : LEAST_ROWS;
	int			numbers = layout->first_code + layout->curves + layout->codes / 4 + 1;
	int			rows = BATCH_NUMBERS / (numbers + (classes > 1 ? classes : 0)) / 8 * 8;

	return rows < least ? least : rows > DPERM_BATCH_ROWS ? DPERM_BATCH_ROWS : rows;
}

/* Take what sums of m->dim weights need, whatever the layout of rows. */
static void
lay_out(DpermMoments *m, Room *room)
{
	DpermExtendedSums *e = &m->extended;
	size_t		k = (size_t) m->classes;
	size_t		wide = (size_t) m->dim / k; /* of rows */
	size_t		d = (size_t) m->dim;
	size_t		selected = d + k * DPERM_BEYOND;
	size_t		outputs = DPERM_BATCH_ROWS * k;
	size_t		words = 2 * BATCH_NUMBERS + LEAST_ROWS_SEVERAL * DPERM_LAYOUT_WORDS_MAX(wide);
	size_t		few = DPERM_EXTENDED_ROWS;

	m->gradient = take(room, d);
	m->gradient_low = take(room, d);
	m->weights = take(room, selected);
	m->piece = take(room, selected);
	m->gathered = take(room, words);
	m->numbers = take(room, words);
	m->codes = (uint16_t *) take(room, words);
	m->places = (int32_t *) take(room, words);
	m->entries = take(room, 2 * words);
	m->outputs = take(room, outputs);

	e->sum = (DpermExtended *) take(room, d * sizeof(DpermExtended) / sizeof(double));
	take_each(room, e->weights, PARTS, selected);
	take_each(room, e->numbers, PARTS, few * 2 * wide);
	take_each(room, e->slopes, PARTS, few * k);
	take_each(room, e->outputs, LEVELS, few * k);
	take_each(room, e->levels, LEVELS, selected);
	e->more = take(room, few * k);
	if (!m->hessian)
		return;
	m->hess = take(room, (wide + DPERM_BEYOND) * (wide + DPERM_BEYOND));
	m->pairs = take(room, dperm_loss_pairs_size(k > 1 ? (int) k : 0));
	m->scaled = take(room, DPERM_ROUGH_ROWS * wide / 2);
	m->rough_hess = (float *) take(room, (wide * wide + 1) / 2);
}

_Static_assert(DPERM_SQUARES_ROWS * sizeof(double) <= DPERM_ROUGH_ROWS * sizeof(float),
			   "there is room for scaled rows in either precision");

/* How many doubles of room a pass needs. */
size_t
dperm_moments_room(int dim, int classes, bool hessian)
{
	DpermMoments m = {.dim = dim, .classes = classes, .hessian = hessian};
	Room		room = {NULL, 0};

	lay_out(&m, &room);
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
	double		unit;			/* also the intercept, if there is one */
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
		.layout = layout, .count = count, .unit = layout->unit,
		.numbers = lines ? m->numbers : rows, .stride = lines ? (size_t) layout->dense : stride,
		.codes = m->codes, .places = m->places, .entries = m->entries
	};
}

/* The labels of rows; and what they weigh. NULL if they have none. */
static const double *
labels_of(const DpermLayout *layout, const double *rows, int count, size_t stride, double *out)
{
	if (!layout->labelled)
		return NULL;
	for (int i = 0; i < count; i++)
		out[i] = rows[i * stride + dperm_layout_label(layout)];
	return out;
}

static const double *
weights_of(const DpermLayout *layout, const double *rows, int count, size_t stride, double *out)
{
	if (!layout->weighted)
		return NULL;
	for (int i = 0; i < count; i++)
		out[i] = dperm_layout_weight(layout, rows + i * stride);
	return out;
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

/* Are there enough numbers for BLAS, with several classes? */
static bool
many_numbers(const Batch *b)
{
	return b->layout->dense > DPERM_BLAS_SMALL && b->stride <= INT_MAX;
}

/* --------------------------------------------------------------- outputs */

/* The output of a row's codes and curves. */
static double
coded_output(const DpermLayout *layout, double unit, const uint16_t *restrict codes,
			 const int32_t *restrict places, const double *restrict entries,
			 const double *restrict weights)
{
	double		a = 0,
				b = 0,
				c = 0,
				d = 0;
	DpermPair	p = {0},
				q = {0},
				r = {0},
				s = {0};
	int			k = 0;

	for (; k + 4 <= layout->codes; k += 4)
	{
		a += weights[codes[k]];
		b += weights[codes[k + 1]];
		c += weights[codes[k + 2]];
		d += weights[codes[k + 3]];
	}
	for (; k < layout->codes; k++)
		a += weights[codes[k]];
	for (k = 0; k + 4 <= layout->curves; k += 4, entries += 8)
	{
		p += dperm_pair_at(weights + places[k]) * dperm_pair_at(entries);
		q += dperm_pair_at(weights + places[k + 1]) * dperm_pair_at(entries + 2);
		r += dperm_pair_at(weights + places[k + 2]) * dperm_pair_at(entries + 4);
		s += dperm_pair_at(weights + places[k + 3]) * dperm_pair_at(entries + 6);
	}
	for (; k < layout->curves; k++, entries += 2)
		p += dperm_pair_at(weights + places[k]) * dperm_pair_at(entries);
	return unit * ((a + b) + (c + d)) + dperm_sum_pairs(p, q, r, s);
}

/* The outputs of rows, for one class. */
static void
one_output_each(const Batch *b, const double *weights, double *outputs)
{
	const DpermLayout *layout = b->layout;
	size_t		codes = (size_t) layout->codes;
	size_t		curves = (size_t) layout->curves;

	dperm_rows_inner((size_t) b->count, b->numbers, b->stride, (size_t) layout->dense,
					 dperm_layout_has_constant(layout) ? b->unit : 0, weights, outputs);
	for (size_t i = 0; codes + curves > 0 && i < (size_t) b->count; i++)
		outputs[i] += coded_output(layout, b->unit, b->codes + i * codes,
								   b->places + i * curves, b->entries + 2 * i * curves, weights);
}

/* The outputs of the numbers of rows, for several classes. */
static void
number_outputs(const Batch *b, int classes, const double *weights, double *outputs)
{
	const double one = 1,
				none = 0;
	const double *row = b->numbers;
	int			count = b->count;
	int			dense = b->layout->dense;
	int			apart = (int) b->stride;

	if (many_numbers(b))
	{
		dperm_blas()->dgemm("N", "N", &classes, &count, &dense, &one, weights, &classes, row,
							&apart, &none, outputs, &classes);
		return;
	}
	memset(outputs, 0, sizeof(double) * (size_t) count * (size_t) classes);
	for (int i = 0; i < count; i++, row += apart, outputs += classes)
		for (int j = 0; j < dense; j++)
			add_times(classes, row[j], weights + (size_t) j * classes, outputs);
}

/* The outputs of rows. */
static void
take_outputs(const Batch *b, int classes, const double *weights, double *outputs)
{
	const DpermLayout *layout = b->layout;
	size_t		wide = (size_t) classes;
	const uint16_t *codes = b->codes;
	const int32_t *places = b->places;
	const double *entries = b->entries;

	if (classes == 1)
	{
		one_output_each(b, weights, outputs);
		return;
	}
	number_outputs(b, classes, weights, outputs);
	for (int i = 0; i < b->count; i++, codes += layout->codes, outputs += wide)
	{
		if (dperm_layout_has_constant(layout))
			add_times(classes, b->unit, weights + layout->dense * wide, outputs);
		for (int k = 0; k < layout->codes; k++)
			add_times(classes, b->unit, weights + codes[k] * wide, outputs);
		for (int k = 0; k < layout->curves; k++, places++, entries += 2)
		{
			add_times(classes, entries[0], weights + *places * wide, outputs);
			add_times(classes, entries[1], weights + (*places + 1) * wide, outputs);
		}
	}
}

/* ------------------------------------------------------------- gradients */

/* Add the numbers of rows times slopes to a sum, for several classes. */
static void
add_numbers(const Batch *b, int classes, const double *slopes, double *sum)
{
	const double one = 1;
	const double *row = b->numbers;
	int			count = b->count;
	int			dense = b->layout->dense;
	int			apart = (int) b->stride;

	if (many_numbers(b))
	{
		dperm_blas()->dgemm("N", "T", &classes, &dense, &count, &one, slopes, &classes, row,
							&apart, &one, sum, &classes);
		return;
	}
	for (int i = 0; i < count; i++, row += apart, slopes += classes)
		for (int j = 0; j < dense; j++)
			add_times(classes, row[j], slopes, sum + (size_t) j * classes);
}

/* Add the codes and curves of rows times slopes to a sum. */
static inline __attribute__((always_inline)) void
add_coded(const Batch *b, int classes, const double *restrict slopes, double *restrict sum)
{
	const DpermLayout *layout = b->layout;
	size_t		wide = (size_t) classes;
	const uint16_t *codes = b->codes;
	const int32_t *places = b->places;
	const double *entries = b->entries;
	double		scaled[DPERM_CLASSES_MAX];

	for (int i = 0; i < b->count; i++, codes += layout->codes, slopes += wide)
	{
		for (int k = 0; k < classes; k++)
			scaled[k] = b->unit * slopes[k];
		if (classes > 1 && dperm_layout_has_constant(layout))
			add_times(classes, 1, scaled, sum + layout->dense * wide);
		for (int k = 0; k < layout->codes; k++)
			add_times(classes, 1, scaled, sum + codes[k] * wide);
		for (int k = 0; k < layout->curves; k++, places++, entries += 2)
		{
			add_times(classes, entries[0], slopes, sum + *places * wide);
			add_times(classes, entries[1], slopes, sum + (*places + 1) * wide);
		}
	}
}

/* Add rows times slopes to a sum. */
static void
add_gradient(const Batch *b, int classes, const double *slopes, double *sum)
{
	const DpermLayout *layout = b->layout;

	if (classes > 1)
	{
		add_numbers(b, classes, slopes, sum);
		add_coded(b, classes, slopes, sum);
		return;
	}
	dperm_add_rows((size_t) b->count, b->numbers, b->stride, (size_t) layout->dense,
				   dperm_layout_has_constant(layout) ? b->unit : 0, slopes, sum);
	if (layout->codes + layout->curves > 0)
		add_coded(b, 1, slopes, sum);
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

/* Add the piece to the gradient, and begin another one. */
static void
end_piece(DpermMoments *m)
{
	for (int j = 0; j < m->dim; j++)
		add_compensated(&m->gradient[j], &m->gradient_low[j], m->piece[j]);
	memset(m->piece, 0, sizeof(double) * (size_t) (m->dim + m->classes * DPERM_BEYOND));
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

	for (int i = 0; wide > 0 && i < b->count; i++)
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
				m->scaled[at + dense] = root * b->unit;
		}
		else
		{
			for (size_t j = 0; j < dense; j++)
				m->rough_scaled[at + j] = (float) root * (float) row[j];
			if (wide > dense)
				m->rough_scaled[at + dense] = (float) root * (float) b->unit;
		}
		if (++m->scaled_rows == most)
			end_squares(m);
	}
}

/* A row of a batch. */
typedef struct Row
{
	const double *numbers;
	const uint16_t *codes;
	const int32_t *places;
	const double *entries;
} Row;

/* Add the beginning of a row, up to so many codes and curves, to a column of the Hessian. */
static inline void
add_column(const Batch *b, const Row *row, int codes, int curves, double scaled,
		   double *restrict column)
{
	const DpermLayout *layout = b->layout;
	double		unit = scaled * b->unit;

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
	size_t		codes = (size_t) layout->codes;
	size_t		curves = (size_t) layout->curves;

	for (size_t i = 0; codes + curves > 0 && i < (size_t) b->count; i++)
	{
		Row			row = {b->numbers + i * b->stride, b->codes + i * codes,
		b->places + i * curves, b->entries + 2 * i * curves};

		if (curvatures[i] == 0)
			continue;
		for (int k = 0; k < layout->codes; k++)
			if (row.codes[k] != layout->dim)
				add_column(b, &row, k + 1, 0, curvatures[i] * b->unit,
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
 * For how many rows gradients add up without rounding in all levels but the last
 * (docs/guarantee.md, Lemma 11).
 */
#define EXACT_ROWS 1024

/*
 * Split the numbers that are in the last part, of which none is above scale:
 * into multiples of scale 2^-20, scale 2^-40 and scale 2^-60, each the nearest
 * one of what is left, and the rest.
 */
static void
split(double *const *parts, size_t count, double scale)
{
	double	   *rest = parts[LAST];

	for (int k = 0; k < LAST; k++)
	{
		double		big;

		/* a sum with it is rounded to such a multiple */
		scale = ldexp(scale, -DPERM_EXTENDED_BITS);
		big = 0x1.8p52 * scale;
		for (size_t i = 0; i < count; i++)
		{
			parts[k][i] = (rest[i] + big) - big;
			rest[i] -= parts[k][i];
		}
	}
}

/* Start sums in extended precision: split the weights. */
static void
start_extended(DpermMoments *m, const double *weights_low)
{
	DpermExtendedSums *e = &m->extended;
	size_t		d = (size_t) m->dim;
	size_t		selected = d + (size_t) m->classes * DPERM_BEYOND;
	double		most = 0;
	int			exponent;

	for (size_t j = 0; j < d; j++)
		most = fmax(most, fabs(m->weights[j]));
	frexp(most, &exponent);
	memset(e->sum, 0, sizeof(DpermExtended) * d);
	for (int k = 0; k < LEVELS; k++)
		memset(e->levels[k], 0, sizeof(double) * selected);
	memcpy(e->weights[LAST], m->weights, sizeof(double) * selected);
	split(e->weights, selected, ldexp(1, exponent));
	for (size_t j = 0; j < d; j++)
		e->weights[LAST][j] += weights_low[j];
}

/* The parts of a batch. */
static void
split_batch(DpermExtendedSums *e, const Batch *b, Batch *parts)
{
	size_t		dense = (size_t) b->layout->dense;
	size_t		count = (size_t) b->count;
	size_t		entries = 2 * count * (size_t) b->layout->curves;
	double		unit[PARTS];
	double	   *units[PARTS];

	for (size_t i = 0; i < count; i++)
		memcpy(e->numbers[LAST] + i * dense, b->numbers + i * b->stride, sizeof(double) * dense);
	memcpy(e->numbers[LAST] + count * dense, b->entries, sizeof(double) * entries);
	split(e->numbers, count * dense + entries, 1);
	for (int k = 0; k < PARTS; k++)
		units[k] = &unit[k];
	unit[LAST] = b->unit;
	split(units, 1, 1);
	for (int k = 0; k < PARTS; k++)
	{
		parts[k] = *b;
		parts[k].unit = unit[k];
		parts[k].numbers = e->numbers[k];
		parts[k].stride = dense;
		parts[k].entries = e->numbers[k] + count * dense;
	}
}

/*
 * Where products of part a and part b are added up: with others that are multiples
 * of the same number, or with those that are so small that doubles are enough.
 */
static int
level_of(int a, int b)
{
	return a < LAST && b < LAST && a + b < LEVELS - 1 ? a + b : LEVELS - 1;
}

/* An element of a sum by levels, the smallest first. */
static DpermExtended
add_levels(double *const *levels, size_t i)
{
	DpermExtended sum = levels[LEVELS - 1][i];

	for (int k = LEVELS - 2; k >= 0; k--)
		sum += levels[k][i];
	return sum;
}

static void
add_to(double *restrict sum, const double *restrict more, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum[i] += more[i];
}

/* Add the levels to the sum. */
static void
end_levels(DpermMoments *m)
{
	DpermExtendedSums *e = &m->extended;
	size_t		selected = (size_t) (m->dim + m->classes * DPERM_BEYOND);

	for (size_t j = 0; j < (size_t) m->dim; j++)
		e->sum[j] += add_levels(e->levels, j);
	for (int k = 0; k < LEVELS; k++)
		memset(e->levels[k], 0, sizeof(double) * selected);
	e->rows = 0;
}

/* From the outputs of rows to their slopes, times their weights, in parts. */
static void
take_extended_slopes(DpermMoments *m, int count, const double *labels, const double *weights)
{
	DpermExtendedSums *e = &m->extended;
	size_t		classes = (size_t) m->classes;
	DpermExtended of_row[DPERM_CLASSES_MAX];

	for (int i = 0; i < count; i++)
	{
		for (size_t k = 0; k < classes; k++)
			of_row[k] = add_levels(e->outputs, i * classes + k);
		dperm_loss_slopes(m->loss, of_row, labels ? labels[i] : 1);
		for (size_t k = 0; k < classes; k++)
			dperm_quad_split(of_row[k] * (weights ? weights[i] : 1),
							 &e->slopes[LAST][i * classes + k], &e->more[i * classes + k]);
	}
	split(e->slopes, (size_t) count * classes, 1);
	add_to(e->slopes[LAST], e->more, (size_t) count * classes);
}

/* Add the gradient over a batch in extended precision. */
static void
add_extended(DpermMoments *m, const Batch *b, const double *labels, const double *weights)
{
	DpermExtendedSums *e = &m->extended;
	size_t		outputs = (size_t) b->count * (size_t) m->classes;
	Batch		parts[PARTS];

	if (e->rows + b->count > EXACT_ROWS)
		end_levels(m);
	e->rows += b->count;
	split_batch(e, b, parts);
	for (int k = 0; k < LEVELS; k++)
		memset(e->outputs[k], 0, sizeof(double) * outputs);
	for (int i = 0; i < PARTS; i++)
		for (int j = 0; j < PARTS; j++)
		{
			take_outputs(&parts[i], m->classes, e->weights[j], e->more);
			add_to(e->outputs[level_of(i, j)], e->more, outputs);
		}
	take_extended_slopes(m, b->count, labels, weights);
	for (int i = 0; i < PARTS; i++)
		for (int j = 0; j < PARTS; j++)
			add_gradient(&parts[i], m->classes, e->slopes[j], e->levels[level_of(i, j)]);
}

/* Add to an element of a gradient that is a pair. */
static void
add_pair(DpermMoments *m, int j, DpermExtended x)
{
	dperm_quad_split(dperm_quad_of(m->gradient[j], m->gradient_low[j]) + x, &m->gradient[j],
					 &m->gradient_low[j]);
}

/* Hand over the sum. */
static void
flush_extended(DpermMoments *m)
{
	end_levels(m);
	for (int j = 0; j < m->dim; j++)
	{
		add_pair(m, j, m->extended.sum[j]);
		m->extended.sum[j] = 0;
	}
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
	size_t		beyond = (size_t) classes * DPERM_BEYOND;
	size_t		stride = (size_t) layout->dim + DPERM_BEYOND;
	size_t		off = (uintptr_t) room / sizeof(double) % LINE;
	Room		of_pass = {room + (LINE - off) % LINE, 0};

	*m = (DpermMoments) {
		.order = order,
		.loss = loss,
		.layout = *layout,
		.dim = (int) d,
		.classes = classes,
		.hessian = order == DPERM_PASS_HESSIAN || order == DPERM_PASS_ROUGH,
		.batch_rows = order == DPERM_PASS_EXTENDED ? DPERM_EXTENDED_ROWS :
		batch_rows(layout, classes)
	};
	lay_out(m, &of_pass);
	memset(m->gradient, 0, sizeof(double) * d);
	memset(m->gradient_low, 0, sizeof(double) * d);
	memset(m->piece, 0, sizeof(double) * (d + beyond));
	memcpy(m->weights, weights, sizeof(double) * d);
	memset(m->weights + d, 0, sizeof(double) * beyond);
	if (order == DPERM_PASS_EXTENDED)
		start_extended(m, weights_low);
	if (m->hessian)
	{
		memset(m->hess, 0, sizeof(double) * stride * stride);
		memset(m->pairs, 0, sizeof(double) * dperm_loss_pairs_size(loss.classes));
	}
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
	const double *labels = labels_of(&m->layout, rows, count, stride, room[0]);
	const double *weights = weights_of(&m->layout, rows, count, stride, room[1]);
	double	   *curvatures = room[2];
	double	   *slopes = m->outputs;

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
		dperm_loss_curvatures(m->classes, count, slopes, labels, weights, curvatures, m->pairs);
	if (m->piece_rows + count > DPERM_PIECE_ROWS)
		end_piece(m);
	m->piece_rows += count;
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

/* Add the rows that are gathered. */
static void
add_gathered(DpermMoments *m)
{
	if (m->waiting > 0)
		add_batch(m, m->gathered, m->waiting, (size_t) m->layout.words);
	m->waiting = 0;
}

/* The place for one more row. */
double *
dperm_moments_next(DpermMoments *m)
{
	if (m->waiting == m->batch_rows)
		add_gathered(m);
	m->rows++;
	return m->gathered + m->layout.words * (size_t) m->waiting++;
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
	add_gathered(m);
	if (m->order == DPERM_PASS_EXTENDED)
		flush_extended(m);
	else
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
		if (m->order == DPERM_PASS_EXTENDED)
			add_pair(m, j, dperm_quad_of(gradient[j], gradient_low[j]));
		else
		{
			add_compensated(&m->gradient[j], &m->gradient_low[j], gradient[j]);
			m->gradient_low[j] += gradient_low[j];
		}
	if (!m->hessian)
		return;
	for (size_t j = 0; j < (size_t) m->layout.dim; j++)
		for (size_t i = j; i < (size_t) m->layout.dim; i++)
			m->hess[i * stride + j] += *hess_packed++;
	for (size_t i = 0; i < dperm_loss_pairs_size(m->loss.classes); i++)
		m->pairs[i] += *hess_packed++;
}

/* The lower triangle of the Hessian, column after column; then pairs of classes. */
void
dperm_moments_pack(const DpermMoments *m, double *packed)
{
	for (int j = 0; j < m->layout.dim; j++)
		for (int i = j; i < m->layout.dim; i++)
			*packed++ = dperm_moments_second(m, i, j);
	memcpy(packed, m->pairs, sizeof(double) * dperm_loss_pairs_size(m->loss.classes));
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
dperm_moments_extended_rounding(int dim, DpermLoss loss, int64_t rows, double lambda, double norm,
						double tilt)
{
	const DpermLossBounds bounds = dperm_loss_bounds(loss);
	int			terms = dim / dperm_loss_blocks(loss);

	return 0x1p-93 + 0x1p-100 * ((bounds.curvature * (terms + 4) / 16 + lambda) * norm + tilt +
								 bounds.norm * 500 + bounds.norm * (double) rows * 0x1p-19 +
								 loss.classes / 16.0);
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
	for (size_t i = 0; i < dperm_loss_pairs_size(m->loss.classes); i++)
		ask->hess[(size_t) d * (size_t) d + i] = m->pairs[i] / units;
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

		dperm_moments_add(&m, x->chunks[first / x->chunk_rows],
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
