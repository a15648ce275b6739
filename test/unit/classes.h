/*
 * classes.h: rows of several classes, and slow, plain arithmetic to check sums
 * over them with.
 */
#ifndef DPERM_TEST_CLASSES_H
#define DPERM_TEST_CLASSES_H

#include <stdlib.h>
#include <string.h>

#include "core/encode/layout.h"
#include "core/loss/loss.h"
#include "unit/coded.h"
#include "unit/quad.h"

#define CLASSES_DIM 60			/* of rows, at most */
#define CLASSES_MOST 12

static inline DpermLoss
classes_loss(int classes)
{
	return (DpermLoss) {DPERM_LOSS_SOFTMAX, 0, classes};
}

/* Vectors with a label. */
static inline DpermLayout
classes_vectors(int dim)
{
	DpermLayout layout = dperm_layout_dense(dim);

	layout.labelled = true;
	layout.words = dim + 1;
	return layout;
}

/* What a sum over rows is: each element by its definition, at weights f[j K + k]. */
typedef struct ClassesSums
{
	Quad		value;
	Quad		gradient[CLASSES_DIM * CLASSES_MOST];
	Quad		traces[CLASSES_DIM * CLASSES_DIM];
	Quad		by_class[CLASSES_MOST];
} ClassesSums;

/* The vector of a row without its label, in the order of the layout. */
static inline void
classes_vector(const DpermLayout *layout, const double *row, double *out)
{
	DpermLayout plain = *layout;

	plain.labelled = false;
	decode_row(&plain, row, out);
}

/* Add a row. */
static inline void
classes_add(ClassesSums *sums, const DpermLayout *layout, int classes, const double *row, const Quad *weights)
{
	int			dim = layout->dim;
	int			own = (int) row[dperm_layout_label(layout)] - 1;
	Quad		weight = layout->weighted ? row[layout->words - 1] : 1;
	double		x[CLASSES_DIM];
	Quad		p[CLASSES_MOST] = {0};
	Quad		most;
	Quad		sum = 0;
	Quad		trace = 0;

	if (own < 0)
		return;
	classes_vector(layout, row, x);
	for (int j = 0; j < dim; j++)
		for (int k = 0; k < classes; k++)
			p[k] += weights[j * classes + k] * x[j];
	most = p[0];
	for (int k = 1; k < classes; k++)
		most = p[k] > most ? p[k] : most;
	sums->value += weight * (most - p[own]);
	for (int k = 0; k < classes; k++)
		sum += p[k] = quad_exp(p[k] - most);
	sums->value += weight * logl((long double) sum);
	for (int k = 0; k < classes; k++)
	{
		p[k] /= sum;
		trace += p[k] * (1 - p[k]);
	}
	for (int j = 0; j < dim; j++)
	{
		for (int k = 0; k < classes; k++)
			sums->gradient[j * classes + k] += weight * (p[k] - (k == own)) * x[j];
		for (int i = 0; i < dim; i++)
			sums->traces[j * dim + i] += weight * trace * x[i] * x[j];
	}
	for (int k = 0; k < classes; k++)
		sums->by_class[k] += weight * p[k] * (1 - p[k]);
}

#endif							/* DPERM_TEST_CLASSES_H */
