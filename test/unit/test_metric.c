/*
 * test_metric.c: the metric of a solver against the matrix that it stands for,
 * and what corrections make of it.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/linsys.h"
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

/* Write the answer of a pass: A, then the diagonal of S. */
static void
write_answer(DpermMetric *metric, int d, const double *a, const double *by_class)
{
	memcpy(metric->hess, a, sizeof(double) * (size_t) (d * d));
	if (metric->blocks > 1)
		memcpy(metric->hess + d * d, by_class, sizeof(double) * (size_t) metric->blocks);
}

/* (share A + lambda) x. */
static void
multiply_by(int d, const double *a, double share, double lambda, const double *x, double *out)
{
	for (int j = 0; j < d; j++)
	{
		out[j] = lambda * x[j];
		for (int i = 0; i < d; i++)
			out[j] += share * a[j * d + i] * x[i];
	}
}

/* The numbers of a class less their means over classes, and these. */
static void
take_class(int d, int classes, const double *x, int class, double *of_class, double *mean)
{
	for (int j = 0; j < d; j++)
	{
		mean[j] = 0;
		for (int k = 0; k < classes; k++)
			mean[j] += x[j * classes + k] / classes;
		of_class[j] = x[j * classes + class] - mean[j];
	}
}

/*
 * The constant part has the curvature lambda. Each class has its own for the rest,
 * up to something that is the same for all classes, and thus of the constant part.
 * Classes that are equally likely have the Hessian: then there is nothing like that.
 */
TEST(stands_for_classes_times_coordinates)
{
	TestRandom	state = 31;

	for (int round = 0; round < 400; round++)
	{
		int			classes = round % 5 ? 3 + test_below(&state, CLASSES_MAX - 2) : 1;
		int			d = 1 + test_below(&state, DIM_MAX / CLASSES_MAX);
		double		lambda = pow(10, -4 * test_uniform(&state));
		double		a[DIM_MAX * DIM_MAX];
		double		by_class[CLASSES_MAX];
		double		trace = 0;
		double		x[DIM_MAX],
					found[DIM_MAX];
		double		wanted[DIM_MAX],
					constant[DIM_MAX],
					mean[DIM_MAX],
					same[DIM_MAX];
		double	   *room = malloc(sizeof(double) * dperm_metric_room(d * classes, classes));
		DpermMetric metric = dperm_metric_make(d * classes, classes, lambda, room);

		random_square(&state, d, 1 + test_below(&state, 2 * d), a);
		for (int k = 0; k < classes; k++)
			trace += by_class[k] = round % 7 == 0 ? 0 : round % 2 ? 0.1 : test_uniform(&state);
		write_answer(&metric, d, a, by_class);
		dperm_metric_factor(&metric);
		CHECK(metric.plain == 0);
		for (int i = 0; i < d * classes; i++)
			found[i] = x[i] = 2 * test_uniform(&state) - 1;
		dperm_metric_solve(&metric, found);
		for (int k = 0; k < classes; k++)
		{
			double		share = classes == 1 ? 1 : trace > 0 ? by_class[k] / trace * classes / (classes - 1) : 0;
			double		got[DIM_MAX],
						square[DIM_MAX * DIM_MAX];

			take_class(d, classes, x, k, wanted, constant);
			take_class(d, classes, found, k, got, mean);
			if (classes == 1)
			{
				multiply_by(d, a, share, lambda, found, got);
				for (int j = 0; j < d; j++)
					CHECK_NEAR(got[j], x[j], 1e-9);
				break;
			}
			for (int j = 0; j < d; j++)
				CHECK_NEAR(mean[j], constant[j] / lambda, 1e-9 / lambda);
			for (int i = 0; i < d * d; i++)
				square[i] = share * a[i] + (i % (d + 1) == 0 ? lambda : 0);
			CHECK(dperm_linsys_factor(square, d));
			dperm_linsys_solve(square, d, wanted);
			for (int j = 0; j < d; j++)
			{
				if (k == 0)
					same[j] = wanted[j] - got[j];
				CHECK_NEAR(wanted[j] - got[j], round % 2 ? 0 : same[j], 1e-8 / lambda);
			}
		}
		free(room);
	}
}

/* What rounding may have made of it. */
TEST(notices_what_is_not_definite)
{
	double		by_class[3] = {2, 2, 2};
	double	   *room = malloc(sizeof(double) * dperm_metric_room(6, 3));
	DpermMetric metric = dperm_metric_make(6, 3, 0.1, room);
	double		x[6] = {1, 2, 3, 4, 5, 6};

	write_answer(&metric, 2, (double[]) {1, 3, 3, 1}, by_class);
	dperm_metric_factor(&metric);
	CHECK_NEAR(metric.plain, 3 + 0.6, 1e-12);
	dperm_metric_solve(&metric, x);
	for (int i = 0; i < 6; i++)
		CHECK_NEAR(x[i], (i + 1) / 3.6, 1e-12);
	write_answer(&metric, 2, (double[]) {NAN, 0, 0, 1}, by_class);
	dperm_metric_factor(&metric);
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
					a[DIM_MAX * DIM_MAX];
		double		by_class[3] = {0.2, 0.7, 0.3};
		double		vectors[8][2 * DIM_MAX] = {{0}};
		DpermPoint	from = {.weights = vectors[0], .gradient = vectors[1]};
		DpermPoint	to = {.weights = vectors[2], .gradient = vectors[3]};
		double	   *room = malloc(sizeof(double) * dperm_metric_room(dim, classes));
		DpermMetric metric = dperm_metric_make(dim, classes, 0.1, room);

		random_square(&state, dim, dim, h);
		random_square(&state, d, d, a);
		write_answer(&metric, d, a, by_class);
		dperm_metric_factor(&metric);
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
			dperm_metric_correct(&metric, &from, &to);
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
		dperm_metric_correct(&metric, &from, &to);
		CHECK(metric.count == DPERM_CORRECTIONS - 1);
		free(room);
	}
}
