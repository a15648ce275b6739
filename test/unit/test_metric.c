/*
 * test_metric.c: the metric of a solver against the matrix that it stands for,
 * and what corrections make of it.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/linsys.h"
#include "core/loss/loss.h"
#include "core/solve/metric.h"

#define DIM_MAX 40
#define CLASSES_MAX 8

/* A random positive semidefinite matrix of a rank, by columns. */
static void
random_square(TestRandom *state, int dim, int rank, double *a)
{
	double		x[DIM_MAX];

	memset(a, 0, sizeof(double) * (size_t) (dim * dim));
	for (int r = 0; r < rank; r++)
	{
		for (int i = 0; i < dim; i++)
			x[i] = 2 * test_uniform(state) - 1;
		for (int j = 0; j < dim; j++)
			for (int i = 0; i < dim; i++)
				a[j * dim + i] += x[i] * x[j] / rank;
	}
}

/* Write the answer of a pass: A, then S packed. */
static void
write_answer(DpermMetric *metric, int d, const double *a, const double *s)
{
	int			classes = metric->blocks;
	double	   *to = metric->hess + d * d;

	memcpy(metric->hess, a, sizeof(double) * (size_t) (d * d));
	for (int j = 0; j < classes && classes > 1; j++)
		for (int i = j; i < classes; i++)
			*to++ = s[j * classes + i];
}

/* (S (x) A/tr(S) + lambda) x, in the order f[j K + k]. */
static void
multiply_by(int d, int classes, const double *a, const double *s, double lambda, const double *x, double *out)
{
	double		trace = 0;

	for (int k = 0; k < classes; k++)
		trace += s[k * classes + k];
	for (int j = 0; j < d; j++)
		for (int k = 0; k < classes; k++)
		{
			double		sum = lambda * x[j * classes + k];

			for (int i = 0; i < d && trace > 0; i++)
				for (int l = 0; l < classes; l++)
					sum += a[j * d + i] * s[k * classes + l] / trace * x[i * classes + l];
			out[j * classes + k] = sum;
		}
}

TEST(stands_for_classes_times_coordinates)
{
	TestRandom	state = 31;

	for (int round = 0; round < 400; round++)
	{
		int			classes = round % 5 ? 2 + test_below(&state, CLASSES_MAX - 1) : 1;
		int			d = 1 + test_below(&state, round % 3 ? 5 : DIM_MAX / CLASSES_MAX);
		double		lambda = pow(10, -4 * test_uniform(&state));
		double		a[DIM_MAX * DIM_MAX],
					s[CLASSES_MAX * CLASSES_MAX] = {1};
		double		x[DIM_MAX],
					found[DIM_MAX],
					back[DIM_MAX];
		double	   *room = malloc(sizeof(double) * dperm_metric_room(d * classes, classes));
		DpermMetric metric = dperm_metric_make(d * classes, classes, room);

		random_square(&state, d, 1 + test_below(&state, 2 * d), a);
		if (classes > 1)
			random_square(&state, classes, round % 7 ? 1 + test_below(&state, classes) : 0, s);
		write_answer(&metric, d, a, s);
		dperm_metric_factor(&metric, lambda);
		CHECK(metric.plain == 0);
		for (int i = 0; i < d * classes; i++)
			found[i] = x[i] = 2 * test_uniform(&state) - 1;
		dperm_metric_solve(&metric, found);
		multiply_by(d, classes, a, s, lambda, found, back);
		for (int i = 0; i < d * classes; i++)
			CHECK_NEAR(back[i], x[i], 1e-9);
		free(room);
	}
}

/* What rounding may have made of it. */
TEST(notices_what_is_not_definite)
{
	double		s[9] = {2, -1, -1, -1, 2, -1, -1, -1, 2};
	double	   *room = malloc(sizeof(double) * dperm_metric_room(6, 3));
	DpermMetric metric = dperm_metric_make(6, 3, room);
	double		x[6] = {1, 2, 3, 4, 5, 6};

	write_answer(&metric, 2, (double[]) {1, 3, 3, 1}, s);
	dperm_metric_factor(&metric, 0.1);
	CHECK_NEAR(metric.plain, 2 + 0.6, 1e-12);
	dperm_metric_solve(&metric, x);
	for (int i = 0; i < 6; i++)
		CHECK_NEAR(x[i], (i + 1) / 2.6, 1e-12);
	write_answer(&metric, 2, (double[]) {NAN, 0, 0, 1}, s);
	dperm_metric_factor(&metric, 0.1);
	CHECK(metric.plain != 0);
	free(room);
}

/*
 * A point: the move that the last correction saw explains its change of the
 * gradient, however many came before; what is not convex is rounding.
 */
TEST(remembers_its_last_move)
{
	TestRandom	state = 34;

	for (int classes = 1; classes <= 3; classes += 2)
	{
		int			d = 4;
		int			dim = d * classes;
		double		h[DIM_MAX * DIM_MAX],
					a[DIM_MAX * DIM_MAX],
					s[9];
		double		vectors[8][2 * DIM_MAX] = {{0}};
		DpermPoint	from = {.weights = vectors[0], .gradient = vectors[1]};
		DpermPoint	to = {.weights = vectors[2], .gradient = vectors[3]};
		double	   *room = malloc(sizeof(double) * dperm_metric_room(dim, classes));
		DpermMetric metric = dperm_metric_make(dim, classes, room);

		random_square(&state, dim, dim, h);
		random_square(&state, d, d, a);
		random_square(&state, 3, 2, s);
		write_answer(&metric, d, a, s);
		dperm_metric_factor(&metric, 0.1);
		for (int round = 0; round < 3 * DPERM_CORRECTIONS; round++)
		{
			DpermPoint	was = from;
			double		change[DIM_MAX];

			for (int i = 0; i < dim; i++)
			{
				/* low parts count: a move that high ones do not show */
				to.weights[i] = round % 2 ? from.weights[i] : 2 * test_uniform(&state) - 1;
				to.weights[dim + i] = 1e-20 * (2 * test_uniform(&state) - 1);
			}
			for (int i = 0; i < dim; i++)
			{
				change[i] = 0;
				for (int j = 0; j < dim; j++)
					change[i] += (h[j * dim + i] + 0.1 * (i == j)) *
						(to.weights[j] - from.weights[j] + (to.weights[dim + j] - from.weights[dim + j]));
				to.gradient[i] = round % 2 ? from.gradient[i] : from.gradient[i] + change[i];
				to.gradient[dim + i] = round % 2 ? from.gradient[dim + i] + change[i] : from.gradient[dim + i];
				change[i] = to.gradient[i] - from.gradient[i] + (to.gradient[dim + i] - from.gradient[dim + i]);
			}
			dperm_metric_correct(&metric, &from, &to, 0.1);
			CHECK(metric.count == (round < DPERM_CORRECTIONS ? round + 1 : DPERM_CORRECTIONS));
			dperm_metric_solve(&metric, change);
			for (int i = 0; i < dim; i++)
				CHECK_NEAR(change[i] * (round % 2 ? 1e20 : 1),
						   (to.weights[i] - from.weights[i] + (to.weights[dim + i] - from.weights[dim + i])) * (round % 2 ? 1e20 : 1), 1e-8);
			from = to;
			to = was;
		}
		for (int i = 0; i < dim; i++)
		{
			to.weights[i] = from.weights[i] + 1;
			to.gradient[i] = from.gradient[i] - 1;
		}
		dperm_metric_correct(&metric, &from, &to, 0.1);
		CHECK(metric.count == DPERM_CORRECTIONS - 1);
		free(room);
	}
}
