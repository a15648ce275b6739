/*
 * test_linsys.c: Cholesky factors around the panel boundaries.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/base/linsys.h"
#include "host.h"

#define DIM_MAX 700

static double *a;
static double *factor;
static double *right;
static double *x;

/*
 * A symmetric positive definite matrix whose eigenvalues are at least the given
 * one.
 */
static void
make_matrix(TestRandom *state, int dim, double least)
{
	for (int j = 0; j < dim; j++)
	{
		for (int i = 0; i < j; i++)
			a[(size_t) j * dim + i] = a[(size_t) i * dim + j];
		for (int i = j; i < dim; i++)
			a[(size_t) j * dim + i] = 2 * test_uniform(state) - 1;
	}

	/* diagonally dominant */
	for (int j = 0; j < dim; j++)
	{
		double		sum = 0;

		for (int i = 0; i < dim; i++)
			sum += i == j ? 0 : fabs(a[(size_t) j * dim + i]);
		a[(size_t) j * dim + j] = sum + least;
	}
}

/* Copy the lower triangle; the upper one is poison that must not be read. */
static void
copy_lower(int dim)
{
	for (int j = 0; j < dim; j++)
		for (int i = 0; i < dim; i++)
			factor[(size_t) j * dim + i] = i >= j ? a[(size_t) j * dim + i] : NAN;
}

/* Largest entry of |A x - b|, relative to that of |A| |x|. */
static double
residual(int dim)
{
	double		worst = 0;
	double		size = 0;

	for (int i = 0; i < dim; i++)
	{
		double		sum = -right[i];
		double		row = 0;

		for (int j = 0; j < dim; j++)
		{
			sum += a[(size_t) j * dim + i] * x[j];
			row += fabs(a[(size_t) j * dim + i] * x[j]);
		}
		worst = fmax(worst, fabs(sum));
		size = fmax(size, row);
	}
	return worst / size;
}

TEST(solves_at_every_size)
{
	static const int sizes[] = {1, 2, 3, 5, 8, 31, 64, 126, 127, 128, 129, 130, 255, 256, 257, 258,
	383, 384, 385, 512, 513, 640, 700};
	TestRandom	state = 1;

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
	{
		int			dim = sizes[k];
		int			panels = (dim + 127) / 128;
		int			calls = 0;

		make_matrix(&state, dim, 1e-3);
		for (int i = 0; i < dim; i++)
			right[i] = x[i] = 2 * test_uniform(&state) - 1;
		copy_lower(dim);
		test_host_poll = test_host_count_poll;
		test_host_poll_arg = &calls;
		CHECK(dperm_linsys_factor(factor, dim));
		test_host_poll = NULL;
		dperm_linsys_solve(factor, dim, x);
		CHECK(residual(dim) <= 4 * dim * DBL_EPSILON);
		for (int j = 1; j < dim; j++)
			CHECK(isnan(factor[(size_t) j * dim]));
		CHECK(calls == panels * (panels - 1) / 2);
	}
}

/* The factor itself against the textbook algorithm. */
TEST(factors_small_matrices)
{
	double		m[9] = {4, 12, -16, NAN, 37, -43, NAN, NAN, 98};
	static const double l[9] = {2, 6, -8, 0, 1, 5, 0, 0, 3};
	double		one = 9;

	CHECK(dperm_linsys_factor(m, 3));
	for (int j = 0; j < 3; j++)
		for (int i = j; i < 3; i++)
			CHECK_NEAR(m[j * 3 + i], l[j * 3 + i], 1e-14);
	CHECK(dperm_linsys_factor(&one, 1) && one == 3);
}

/*
 * An ill-conditioned matrix is no reason to fail, as long as lambda is large
 * enough.
 */
TEST(takes_nearly_singular_matrices)
{
	for (int dim = 2; dim <= 300; dim += 74)
	{
		double		tiny = 1e-10;

		for (int j = 0; j < dim; j++)
			for (int i = 0; i < dim; i++)
				a[(size_t) j * dim + i] = 1.0 / dim + (i == j ? tiny : 0);
		for (int i = 0; i < dim; i++)
			right[i] = x[i] = i % 2 ? 1 : -1;
		copy_lower(dim);
		CHECK(dperm_linsys_factor(factor, dim));
		dperm_linsys_solve(factor, dim, x);
		CHECK(residual(dim) <= 4 * dim * DBL_EPSILON);
	}
}

TEST(refuses_indefinite_matrices)
{
	static const int sizes[] = {1, 2, 10, 128, 129, 257, 400};
	TestRandom	state = 2;

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
	{
		int			dim = sizes[k];

		/* a bad pivot in the first panel, in the middle, at the very end */
		for (int at = 0; at < 3; at++)
		{
			int			where = at == 0 ? 0 : at == 1 ? dim / 2 : dim - 1;

			make_matrix(&state, dim, 1);
			a[(size_t) where * dim + where] = -1;
			copy_lower(dim);
			CHECK(!dperm_linsys_factor(factor, dim));
		}
		memset(factor, 0, sizeof(double) * dim * dim);
		CHECK(!dperm_linsys_factor(factor, dim));
	}
}

int
main(void)
{
	int			result;

	a = malloc(sizeof(double) * DIM_MAX * DIM_MAX);
	factor = malloc(sizeof(double) * DIM_MAX * DIM_MAX);
	right = malloc(sizeof(double) * DIM_MAX);
	x = malloc(sizeof(double) * DIM_MAX);
	result = test_main();
	free(a);
	free(factor);
	free(right);
	free(x);
	return result;
}
