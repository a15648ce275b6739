/*
 * problem.h: small training problems, and slow, plain arithmetic to check
 * solutions with.
 */
#ifndef DPERM_TEST_PROBLEM_H
#define DPERM_TEST_PROBLEM_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/mechanism/fit.h"
#include "unit/test.h"

/*
 * A loss and its first two derivatives, by the definitions of the guarantee
 * document.
 */
typedef struct WideLoss
{
	long double value;
	long double slope;
	long double curve;
} WideLoss;

static inline WideLoss
wide_loss(DpermLoss loss, long double z)
{
	long double h = loss.h;
	long double t = 1 - z;
	WideLoss	at = {0, 0, 0};

	if (loss.kind == DPERM_LOSS_LOGISTIC)
	{
		long double e = expl(-fabsl(z));

		at.value = log1pl(e) + (z < 0 ? -z : 0);
		at.slope = -(z < 0 ? 1 : e) / (1 + e);
		at.curve = e / (1 + e) / (1 + e);
	}
	else if (t > h)
	{
		at.value = t;
		at.slope = -1;
	}
	else if (t >= -h && loss.kind == DPERM_LOSS_HUBER)
	{
		at.value = (h + t) * (h + t) / (4 * h);
		at.slope = -(h + t) / (2 * h);
		at.curve = 1 / (2 * h);
	}
	else if (t >= -h)
	{
		at.value = -t * t * t * t / (16 * h * h * h) + 3 * t * t / (8 * h) + t / 2 + 3 * h / 16;
		at.slope = t * t * t / (4 * h * h * h) - 3 * t / (4 * h) - 0.5L;
		at.curve = -3 * t * t / (4 * h * h * h) + 3 / (4 * h);
	}
	return at;
}

/* Classes that a problem may have. */
#define WIDE_CLASSES 8

/* The slopes of a row with a label of its own, from its outputs. */
static inline void
wide_slopes(DpermLoss loss, double label, long double *outputs)
{
	long double most = outputs[0];
	long double sum = 0;

	if (loss.classes == 0)
	{
		outputs[0] = fabs(label) <= 1 ? tanhl((outputs[0] - label) / loss.h) : 0;
		return;
	}
	for (int k = 1; k < loss.classes; k++)
		most = fmaxl(most, outputs[k]);
	for (int k = 0; k < loss.classes; k++)
		sum += outputs[k] = expl(outputs[k] - most);
	for (int k = 0; k < loss.classes; k++)
		outputs[k] = label < 1 || label > loss.classes ? 0 : outputs[k] / sum - (k + 1 == label);
}

/* Rows of a problem, label in the sign if there are no others. */
typedef struct Rows
{
	DpermLoss	loss;
	int			dim;
	int64_t		count;
	double	   *data;
	const double *labels;		/* NULL: two classes */
	const double *weights;		/* the weight of each; NULL: 1 */
	int64_t		units;			/* what the mean is over; 0: the rows */
} Rows;

/*
 * The exact gradient of the mean loss plus regulariser plus tilt; returns its
 * norm. With several classes it is coordinate by coordinate.
 */
static inline long double
wide_gradient(const Rows *rows, double lambda, const double *tilt, const double *weights,
			  long double *gradient)
{
	int			blocks = dperm_loss_blocks(rows->loss);
	int			dim = rows->dim * blocks;
	long double norm = 0;

	for (int j = 0; j < dim; j++)
		gradient[j] = 0;
	for (int64_t i = 0; i < rows->count; i++)
	{
		const double *row = rows->data + i * rows->dim;
		long double outputs[WIDE_CLASSES] = {0};

		for (int j = 0; j < dim; j++)
			outputs[j % blocks] += (long double) row[j / blocks] * weights[j];
		if (rows->labels)
			wide_slopes(rows->loss, rows->labels[i], outputs);
		else
			outputs[0] = wide_loss(rows->loss, outputs[0]).slope;
		for (int j = 0; j < dim; j++)
			gradient[j] += outputs[j % blocks] * row[j / blocks] * (rows->weights ? rows->weights[i] : 1);
	}
	for (int j = 0; j < dim; j++)
	{
		gradient[j] = gradient[j] / (rows->units ? rows->units : rows->count) + (long double) lambda * weights[j] +
			(tilt ? tilt[j] : 0);
		norm += gradient[j] * gradient[j];
	}
	return sqrtl(norm);
}

/* A point of the unit ball, near its surface more often than not. */
static inline void
random_row(TestRandom *state, int dim, double *row)
{
	double		sum = 0;
	double		radius = pow(test_uniform(state), 0.2) * 0.999999999;

	for (int j = 0; j < dim; j++)
	{
		row[j] = test_uniform(state) + test_uniform(state) + test_uniform(state) - 1.5;
		sum += row[j] * row[j];
	}
	for (int j = 0; j < dim; j++)
		row[j] *= sum > 0 ? radius / sqrt(sum) : 0;
}

/* Kinds of data that are hard for solvers. */
typedef enum Shape
{
	SHAPE_NOISY,				/* labels half random */
	SHAPE_SEPARABLE,			/* one direction explains all labels */
	SHAPE_DUPLICATES,			/* equal columns */
	SHAPE_ZERO,					/* only zeros */
	SHAPE_TINY,					/* rows of very different norms */
	SHAPE_ONE_POINT,			/* the same row over and over */
	SHAPES
} Shape;

/* Fill rows of a shape. */
static inline void
make_rows(TestRandom *state, Shape shape, Rows *rows)
{
	int			dim = rows->dim;

	for (int64_t i = 0; i < rows->count; i++)
	{
		double	   *row = rows->data + i * dim;
		double		side;

		random_row(state, dim, row);
		side = row[0] >= 0 ? 1 : -1;
		for (int j = 0; j < dim; j++)
			switch (shape)
			{
				case SHAPE_SEPARABLE:
					row[j] *= side;
					break;
				case SHAPE_DUPLICATES:
					row[j] = row[j / 2 * 2] * sqrt(0.5);
					break;
				case SHAPE_ZERO:
					row[j] = 0;
					break;
				case SHAPE_TINY:
					row[j] *= i % 3 ? 1e-9 : 1;
					break;
				case SHAPE_ONE_POINT:
					row[j] = rows->data[j];
					break;
				default:
					break;
			}
		if (shape == SHAPE_DUPLICATES || shape == SHAPE_TINY)
			side = i % 2 ? 1 : -1;
		if (shape == SHAPE_DUPLICATES || shape == SHAPE_TINY)
			for (int j = 0; j < dim; j++)
				row[j] *= side;
	}
}

/* Query a matrix in doubles. */
static inline void
matrix_eval(DpermMatrix *matrix, const double *weights, double *value, double *gradient, double *hess)
{
	DpermAsk	ask = {.weights = weights, .value = value, .gradient = gradient, .hess = hess};

	dperm_matrix_answer(matrix, &ask);
}

/*
 * Rows in one chunk, ready to be queried. The caller provides chunk and room.
 */
static inline DpermMatrix
rows_matrix(const Rows *rows, double **chunk, double *room)
{
	*chunk = rows->data;
	return (DpermMatrix) {.loss = rows->loss, .dim = rows->dim, .count = rows->count,
		.chunk_rows = rows->count, .chunks = chunk, .room = room};
}

/*
 * Where G's derivative by coordinate j vanishes, the others at their best:
 * bisection.
 */
static inline long double
bisect_coordinate(const Rows *rows, double lambda, const double *tilt, long double *f, int j)
{
	long double radius = (1 + (tilt ? fabs(tilt[0]) + (rows->dim > 1 ? fabs(tilt[1]) : 0) : 0)) /
		lambda;
	long double low = -radius;
	long double high = radius;

	for (int step = 0; step < 130; step++)
	{
		long double sum = 0;

		f[j] = (low + high) / 2;
		if (j + 1 < rows->dim)
			f[j + 1] = bisect_coordinate(rows, lambda, tilt, f, j + 1);
		for (int64_t i = 0; i < rows->count; i++)
		{
			const double *row = rows->data + i * rows->dim;
			long double margin = 0;

			for (int k = 0; k < rows->dim; k++)
				margin += row[k] * f[k];
			sum += wide_loss(rows->loss, margin).slope * row[j];
		}
		sum = sum / rows->count + lambda * f[j] + (tilt ? tilt[j] : 0);
		if (sum > 0)
			high = f[j];
		else
			low = f[j];
	}
	return f[j];
}

#endif							/* DPERM_TEST_PROBLEM_H */
