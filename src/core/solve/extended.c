/*
 * extended.c: outputs, slopes and gradients in extended precision.
 */
#include "core/solve/extended.h"

#include <math.h>
#include <string.h>

#include "core/solve/products.h"

#define PARTS DPERM_EXTENDED_PARTS
#define LAST (PARTS - 1)
#define LEVELS DPERM_EXTENDED_LEVELS

/*
 * Rows that are split at a time, so that their parts stay in the processor's cache;
 * and for how many such pieces gradients add up without rounding in all levels but
 * the last (docs/guarantee.md, Lemma 11).
 */
#define ROWS 32
#define PIECES 64

/* How many doubles of room a pass needs. */
size_t
dperm_extended_room(int dim, int blocks)
{
	size_t		d = (size_t) dim;
	size_t		k = (size_t) blocks;
	size_t		sums = d > ROWS * k ? d : ROWS * k;

	return 2 * d + PARTS * (d + k * DPERM_CODES_BEYOND) + PARTS * ROWS * (d / k) +
		PARTS * ROWS * k + LEVELS * (ROWS * k + d) + sums + k * DPERM_CODES_BEYOND;
}

/* Take count doubles of the room for each of some vectors. */
static double *
place(double **vectors, int number, size_t count, double *room)
{
	for (int k = 0; k < number; k++, room += count)
		vectors[k] = room;
	return room;
}

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

/* Split the weights; those of missing values, beyond them, are 0 in each part. */
static void
split_weights(DpermExtendedPass *pass, const double *weights, const double *weights_low)
{
	size_t		d = (size_t) pass->dim;
	size_t		beyond = (size_t) pass->blocks * DPERM_CODES_BEYOND;
	double	   *rest = pass->weights[LAST];
	double		most = 0;
	int			exponent;

	for (size_t j = 0; j < d; j++)
		most = fmax(most, fabs(weights[j]));
	frexp(most, &exponent);
	for (int k = 0; k < PARTS; k++)
		memset(pass->weights[k] + d, 0, sizeof(double) * beyond);
	memcpy(rest, weights, sizeof(double) * d);
	split(pass->weights, d, ldexp(1, exponent));
	for (size_t j = 0; j < d; j++)
		rest[j] += weights_low[j];
}

/* Start a pass. */
void
dperm_extended_start(DpermExtendedPass *pass, DpermLoss loss, const DpermLayout *layout,
					 const double *weights, const double *weights_low, double *room)
{
	size_t		k = (size_t) dperm_loss_blocks(loss);
	size_t		d = (size_t) layout->dim * k;

	*pass = (DpermExtendedPass) {
		.layout = *layout,
		.loss = loss,
		.dim = (int) d,
		.blocks = (int) k,
		.sum = (DpermExtended *) room
	};
	room += 2 * d;
	room = place(pass->weights, PARTS, d + k * DPERM_CODES_BEYOND, room);
	room = place(pass->rows, PARTS, ROWS * (size_t) layout->dim, room);
	room = place(pass->slopes, PARTS, ROWS * k, room);
	room = place(pass->outputs, LEVELS, ROWS * k, room);
	room = place(pass->levels, LEVELS, d, room);
	pass->scratch = room;
	memset(pass->sum, 0, sizeof(DpermExtended) * d);
	memset(pass->levels[0], 0, sizeof(double) * LEVELS * d);
	split_weights(pass, weights, weights_low);
}

/* A part of some rows: their codes, with the unit and the entries of that part. */
typedef struct Part
{
	DpermLayout layout;
	DpermCodes	codes;			/* refers to the layout */
} Part;

/* Split some rows into parts; how many numbers a row has in each. */
static size_t
split_rows(DpermExtendedPass *pass, const DpermCodes *codes, int count, Part *parts)
{
	const DpermLayout *layout = &pass->layout;
	size_t		dense = (size_t) layout->dense;
	size_t		curves = (size_t) layout->curves;
	size_t		wide = dense + curves;
	double		unit[PARTS];
	double	   *units[PARTS];

	for (int i = 0; i < count; i++)
	{
		double	   *to = pass->rows[LAST] + i * wide;

		memcpy(to, codes->numbers + i * codes->number_stride, sizeof(double) * dense);
		memcpy(to + dense, codes->entries + i * codes->entry_stride, sizeof(double) * curves);
	}
	split(pass->rows, (size_t) count * wide, 1);
	place(units, PARTS, 1, unit);
	unit[LAST] = layout->unit;
	split(units, 1, 1);
	for (int k = 0; k < PARTS; k++)
	{
		parts[k].layout = *layout;
		parts[k].layout.unit = unit[k];
		parts[k].codes = *codes;
		parts[k].codes.layout = &parts[k].layout;
		parts[k].codes.entries = pass->rows[k] + dense;
		parts[k].codes.entry_stride = wide;
	}
	return wide;
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

static void
add_to(double *restrict sum, const double *restrict more, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum[i] += more[i];
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

/* Add what is waiting to the sum. */
static void
fold(DpermExtendedPass *pass)
{
	for (size_t j = 0; j < (size_t) pass->dim; j++)
		pass->sum[j] += add_levels(pass->levels, j);
	memset(pass->levels[0], 0, sizeof(double) * LEVELS * (size_t) pass->dim);
	pass->waiting = 0;
}

/* From the outputs of rows to their slopes, times their weights, in parts. */
static void
take_slopes(DpermExtendedPass *pass, const double *rows, int count, size_t stride)
{
	const DpermLayout *layout = &pass->layout;
	size_t		blocks = (size_t) pass->blocks;
	double	   *high = pass->slopes[LAST];
	double	   *low = pass->scratch;
	DpermExtended of_row[DPERM_CLASSES_MAX];

	for (int i = 0; i < count; i++, rows += stride)
	{
		double		label = layout->labelled ? rows[dperm_layout_label(layout)] : 1;
		double		weight = dperm_layout_weight(layout, rows);

		for (size_t k = 0; k < blocks; k++)
			of_row[k] = add_levels(pass->outputs, i * blocks + k);
		dperm_loss_slopes(pass->loss, of_row, label);
		for (size_t k = 0; k < blocks; k++)
			dperm_quad_split(of_row[k] * weight, &high[i * blocks + k], &low[i * blocks + k]);
	}
	split(pass->slopes, (size_t) count * blocks, 1);
	add_to(pass->slopes[LAST], low, (size_t) count * blocks);
}

/* Add at most ROWS rows. */
static void
add_some(DpermExtendedPass *pass, const DpermCodes *codes, const double *rows, int count,
		 size_t stride)
{
	size_t		outputs = (size_t) count * (size_t) pass->blocks;
	size_t		wide;
	Part		parts[PARTS];

	if (pass->waiting == PIECES)
		fold(pass);
	pass->waiting++;
	wide = split_rows(pass, codes, count, parts);
	memset(pass->outputs[0], 0, sizeof(double) * LEVELS * ROWS * (size_t) pass->blocks);
	for (int a = 0; a < PARTS; a++)
		for (int b = 0; b < PARTS; b++)
		{
			dperm_solve_outputs(&parts[a].codes, pass->blocks, pass->rows[a], count, wide,
								pass->weights[b], pass->scratch);
			add_to(pass->outputs[level_of(a, b)], pass->scratch, outputs);
		}
	take_slopes(pass, rows, count, stride);
	for (int a = 0; a < PARTS; a++)
		for (int b = 0; b < PARTS; b++)
		{
			dperm_solve_sum(&parts[a].codes, pass->blocks, pass->rows[a], count, wide,
							pass->slopes[b], pass->scratch);
			add_to(pass->levels[level_of(a, b)], pass->scratch, (size_t) pass->dim);
		}
}

/* Add rows. */
void
dperm_extended_add(DpermExtendedPass *pass, const DpermCodes *codes, const double *rows, int count,
				   size_t stride)
{
	DpermCodes	from = *codes;

	while (count > 0)
	{
		int			some = count < ROWS ? count : ROWS;

		add_some(pass, &from, rows, some, stride);
		rows += some * stride;
		from = dperm_codes_after(&from, some);
		count -= some;
	}
}

/* Add to an element of an array that is given as high and low parts. */
static void
add_at(double *high, double *low, size_t i, DpermExtended x)
{
	dperm_quad_split(dperm_quad_of(high[i], low[i]) + x, &high[i], &low[i]);
}

/* Hand over the sum. */
void
dperm_extended_flush(DpermExtendedPass *pass, double *gradient, double *gradient_low)
{
	fold(pass);
	for (size_t j = 0; j < (size_t) pass->dim; j++)
	{
		add_at(gradient, gradient_low, j, pass->sum[j]);
		pass->sum[j] = 0;
	}
}

/* Add one sum of gradients to another. */
void
dperm_extended_merge(int dim, const double *more, const double *more_low, double *gradient,
					 double *gradient_low)
{
	for (size_t j = 0; j < (size_t) dim; j++)
		add_at(gradient, gradient_low, j, dperm_quad_of(more[j], more_low[j]));
}

/* A bound on the rounding error of a gradient. */
double
dperm_extended_rounding(int dim, DpermLoss loss, int64_t rows, double lambda, double norm,
						double tilt)
{
	const DpermLossBounds bounds = dperm_loss_bounds(loss);
	int			terms = dim / dperm_loss_blocks(loss);

	return 0x1p-93 + 0x1p-100 * ((bounds.curvature * (terms + 4) / 16 + lambda) * norm + tilt +
								 bounds.norm * 500 + bounds.norm * (double) rows * 0x1p-19 +
								 loss.classes / 16.0);
}
