/*
 * test_metric.c: the metric of a solver against the matrix that it stands for,
 * and steps by conjugate gradients against the solutions of their systems.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/linsys.h"
#include "core/loss/loss.h"
#include "core/solve/conjugate.h"
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
		double		trace = 0,
					expected = lambda * d * classes;
		double	   *room = malloc(sizeof(double) * dperm_metric_room(d * classes, classes));
		DpermMetric metric = dperm_metric_make(d * classes, classes, room);

		random_square(&state, d, 1 + test_below(&state, 2 * d), a);
		if (classes > 1)
			random_square(&state, classes, round % 7 ? 1 + test_below(&state, classes) : 0, s);
		write_answer(&metric, d, a, s);
		CHECK(dperm_metric_factor(&metric, lambda, &trace));
		for (int i = 0; i < d; i++)
			expected += classes > 1 && round % 7 == 0 ? 0 : a[i * d + i];
		CHECK_NEAR(trace, expected, 1e-12 * (1 + expected));
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
	double		trace;

	write_answer(&metric, 2, (double[]) {1, 3, 3, 1}, s);
	CHECK(!dperm_metric_factor(&metric, 0.1, &trace));
	CHECK_NEAR(trace, 2 + 0.6, 1e-12);
	write_answer(&metric, 2, (double[]) {NAN, 0, 0, 1}, s);
	CHECK(!dperm_metric_factor(&metric, 0.1, &trace));
	free(room);
}

/* Answer the question of a step from a matrix. */
static void
answer_product(int dim, const double *h, const DpermAsk *ask)
{
	CHECK(ask->direction != NULL && ask->hess == NULL && ask->weights_low == NULL);
	for (int j = 0; j < dim; j++)
		ask->gradient[j] = dperm_dot(dim, h + j * dim, ask->direction);
}

/* A step solves its system as well as it is asked to, and descends however soon it ends. */
TEST(finds_newtons_step)
{
	TestRandom	state = 33;

	for (int round = 0; round < 300; round++)
	{
		int			classes = 3;
		int			d = 1 + test_below(&state, 12);
		int			dim = d * classes;
		int			most = round % 4 ? 1000 : 1 + test_below(&state, 6);
		double		lambda = pow(10, -3 * test_uniform(&state));
		double		goal = pow(10, -8 * test_uniform(&state));
		double		h[DIM_MAX * DIM_MAX],
					a[DIM_MAX * DIM_MAX],
					s[9];
		double		weights[DIM_MAX] = {0},
					gradient[DIM_MAX];
		double		trace,
					slope = 0,
					left = 0;
		int			products = 0;
		double	   *room = malloc(sizeof(double) * (dperm_metric_room(dim, classes) + dperm_conjugate_room(dim)));
		DpermMetric metric = dperm_metric_make(dim, classes, room);
		DpermConjugate c;
		DpermAsk	ask;

		random_square(&state, dim, dim, h);
		random_square(&state, d, d, a);
		random_square(&state, classes, 2, s);
		write_answer(&metric, d, a, s);
		CHECK(dperm_metric_factor(&metric, lambda, &trace));
		for (int i = 0; i < dim; i++)
			gradient[i] = 2 * test_uniform(&state) - 1;
		dperm_conjugate_start(&c, &metric, lambda, weights, gradient, goal, most, room + dperm_metric_room(dim, classes), &ask);
		do
		{
			CHECK(ask.weights == weights);
			answer_product(dim, h, &ask);
			products++;
		} while (dperm_conjugate_next(&c, &ask));
		CHECK(products <= most && products <= 6 * dim + 10);
		for (int j = 0; j < dim; j++)
		{
			left += pow(gradient[j] + lambda * c.step[j] + dperm_dot(dim, h + j * dim, c.step), 2);
			slope += gradient[j] * c.step[j];
		}
		CHECK(slope < 0);
		CHECK(products == most || sqrt(left) <= goal * (1 + 1e-6) + 1e-11);
		free(room);
	}
}

/* A product that cannot be: the step is a plain one, or what was found before. */
TEST(ends_where_products_make_no_sense)
{
	for (int bad = 0; bad < 3; bad++)
		for (int after = 0; after < 3; after++)
		{
			double		weights[3] = {0};
			double		gradient[3] = {1, -2, 3};
			double	   *room = malloc(sizeof(double) * (dperm_metric_room(3, 3) + dperm_conjugate_room(3)));
			DpermMetric metric = dperm_metric_make(3, 3, room);
			DpermConjugate c;
			DpermAsk	ask;
			double		trace,
						slope = 0;
			int			products = 0;
			bool		more = true;

			memset(room, 0, sizeof(double) * dperm_metric_room(3, 3));
			CHECK(dperm_metric_factor(&metric, 0.5, &trace));
			dperm_conjugate_start(&c, &metric, 0.5, weights, gradient, 1e-9, 9, room + dperm_metric_room(3, 3), &ask);
			while (more)
			{
				for (int i = 0; i < 3; i++)
					ask.gradient[i] = (products < after ? 1 + i : (double[]) {-1e3, NAN, INFINITY}[bad]) * ask.direction[i];
				products++;
				more = dperm_conjugate_next(&c, &ask);
			}
			for (int i = 0; i < 3; i++)
				slope += gradient[i] * c.step[i];
			CHECK(products <= after + 1);
			CHECK(slope < 0 && isfinite(slope));
			free(room);
		}
}
