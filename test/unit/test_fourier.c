/*
 * test_fourier.c: random features: norm, rate of convergence to each kernel,
 * reproducibility.
 */
#include "unit/sample_encoder.h"

#include "core/encode/layout.h"
#include "core/encode/encoder.h"
#include "host.h"
#include "unit/exact.h"

#define DIM 6
#define D_MAX 4000
#define PAIRS 10
#define SEEDS 200

static double *frequencies;
static double features[PAIRS][2][D_MAX];

/* The kernel of a difference, from its closed form. */
static double
closed_form(const DpermKernel *kernel, const double *difference, int dim)
{
	double		squares = 0;
	double		absolutes = 0;
	double		product = 1;
	double		r;

	for (int i = 0; i < dim; i++)
	{
		double		scaled = kernel->gamma * difference[i];

		squares += difference[i] * difference[i];
		absolutes += fabs(difference[i]);
		product /= 1 + scaled * scaled;
	}
	switch (kernel->kind)
	{
		case DPERM_KERNEL_GAUSSIAN:
			return exp(-kernel->gamma * squares);
		case DPERM_KERNEL_LAPLACIAN:
			return exp(-kernel->gamma * absolutes);
		case DPERM_KERNEL_CAUCHY:
			return product;
		default:
			r = sqrt(3 * squares) * kernel->gamma;
			return (1 + r) * exp(-r);
	}
}

/* Points in the unit ball, some pairs near and some far. */
static void
make_pairs(double points[PAIRS][2][DIM])
{
	TestRandom	state = 1;

	for (int p = 0; p < PAIRS; p++)
		for (int i = 0; i < DIM; i++)
		{
			double		step = (test_uniform(&state) - 0.5) / sqrt(DIM) * (p + 1) / PAIRS;

			points[p][0][i] = (test_uniform(&state) - 0.5) / sqrt(DIM);
			points[p][1][i] = points[p][0][i] + 2 * step;
		}
}

/*
 * The squared error over all pairs, each in units of what independent
 * frequencies give. With D/2 of them the product is an average of cos w.(x -
 * y), of variance (1 + k(2(x - y)))/2 - k(x - y)^2.
 */
static double
relative_error(const DpermKernel *kernel, double points[PAIRS][2][DIM], double *bias)
{
	double		error = 0;

	for (int p = 0; p < PAIRS; p++)
	{
		double		once[DIM];
		double		twice[DIM];
		double		exact;
		double		variance;
		double		product = 0;

		for (int i = 0; i < DIM; i++)
		{
			once[i] = points[p][0][i] - points[p][1][i];
			twice[i] = 2 * once[i];
		}
		for (int side = 0; side < 2; side++)
			dperm_fourier_map_rows(kernel, frequencies, DIM, 1, points[p][side], 1, 0, features[p][side]);
		for (int i = 0; i < kernel->features; i++)
			product += features[p][0][i] * features[p][1][i];
		exact = closed_form(kernel, once, DIM);
		variance = ((1 + closed_form(kernel, twice, DIM)) / 2 - exact * exact) /
			(kernel->features / 2);
		CHECK(variance > 0);
		error += (product - exact) * (product - exact) / variance;
		*bias += (product - exact) / sqrt(variance);
	}
	*bias /= PAIRS;
	return error / PAIRS;
}

TEST(converges_at_the_theoretical_rate)
{
	static const int sizes[3] = {100, 1000, 4000};
	double		points[PAIRS][2][DIM];

	make_pairs(points);
	for (int kind = DPERM_KERNEL_GAUSSIAN; kind <= DPERM_KERNEL_MATERN; kind++)
		for (int size = 0; size < 3; size++)
		{
			double		error = 0;
			double		bias = 0;

			for (int seed = 0; seed < SEEDS; seed++)
			{
				DpermKernel kernel = {(DpermKernelKind) kind, 1.5, sizes[size], seed};
				double		shift = 0;

				frequencies = dperm_fourier_make(&kernel, DIM);
				error += relative_error(&kernel, points, &shift) / SEEDS;
				bias += shift / SEEDS;
				test_host_release();
			}
			/*
			 * a mean of squares of standard normals, and of the normals, over
			 * SEEDS draws
			 */
			CHECK(error < 1.4);
			CHECK(kind == DPERM_KERNEL_GAUSSIAN || error > 0.6);
			CHECK(fabs(bias) < 4 / sqrt(SEEDS));
		}
}

/* Two normals. */
static void
make_normals(TestRandom *state, double *x, double *y)
{
	double		radius = sqrt(-2 * log(1 - test_uniform(state)));
	double		angle = 2 * acos(-1) * test_uniform(state);

	*x = radius * cos(angle);
	*y = radius * sin(angle);
}

TEST(orthogonal_features_have_lower_error)
{
	static const int sizes[2] = {2 * DIM, 600};
	double		points[PAIRS][2][DIM];
	TestRandom	state = 2;

	make_pairs(points);
	for (int size = 0; size < 2; size++)
	{
		double		orthogonal = 0;
		double		independent = 0;
		double		unused = 0;

		for (int seed = 0; seed < 5 * SEEDS; seed++)
		{
			DpermKernel kernel = {DPERM_KERNEL_GAUSSIAN, 1.5, sizes[size], seed};

			frequencies = dperm_fourier_make(&kernel, DIM);
			orthogonal += relative_error(&kernel, points, &unused) / (5 * SEEDS);
			for (size_t i = 0; i < (size_t) kernel.features / 2 * DIM; i += 2)
			{
				make_normals(&state, &frequencies[i], &frequencies[i + 1]);
				frequencies[i] *= sqrt(3);	/* 2 gamma */
				frequencies[i + 1] *= sqrt(3);
			}
			independent += relative_error(&kernel, points, &unused) / (5 * SEEDS);
		}
		CHECK(fabs(independent - 1) < 0.2);
		CHECK(orthogonal < 0.8 * independent);
	}
}

TEST(has_norm_one)
{
	TestRandom	state = 3;
	double		x[DIM];
	double		z[D_MAX];

	for (int round = 0; round < 2000; round++)
	{
		DpermKernel kernel = {(DpermKernelKind) (1 + round % 4),
			round % 8 < 4 ? 1 : round % 16 < 8 ? DPERM_GAMMA_MAX : DPERM_GAMMA_MIN,
			2 * (1 + test_below(&state, round % 100 ? 40 : D_MAX / 2)), round};
		double		target = (round % 3 ? 1 : 0.5) * (round % 2 ? 1 : -1);
		long double sum = 0;

		for (int i = 0; i < DIM; i++)
			x[i] = round % 5 ? 2 * test_uniform(&state) - 1 : 0;
		frequencies = dperm_fourier_make(&kernel, DIM);
		dperm_fourier_map_rows(&kernel, frequencies, DIM, 1, x, target, 0, z);
		for (int i = 0; i < kernel.features; i++)
			sum += (long double) z[i] * z[i];
		CHECK_NEAR((double) (sqrtl(sum) / fabs(target)), 1, 1e-14);
		CHECK(fabs(target) < 1 ? sum <= 0.25L : exact_in_ball(z, kernel.features));
		if (round % 5 == 0)
			CHECK(z[0] * target > 0);	/* cos 0 = 1, with the sign of target */
	}
}

/*
 * Rows of one block are at right angles, their norms are free; blocks end where
 * they should.
 */
TEST(gaussian_rows_are_orthogonal)
{
	for (int dim = 1; dim <= DIM; dim++)
	{
		DpermKernel kernel = {DPERM_KERNEL_GAUSSIAN, 0.5, 2 * (3 * dim + dim / 2), 11};
		int			rows = kernel.features / 2;
		double		mean = 0;

		frequencies = dperm_fourier_make(&kernel, dim);
		for (int i = 0; i < rows; i++)
			for (int j = 0; j <= i; j++)
			{
				double		product = 0;

				for (int k = 0; k < dim; k++)
					product += frequencies[i * dim + k] * frequencies[j * dim + k];
				if (i == j)
					mean += product / rows;
				else if (i / dim == j / dim)
					CHECK_NEAR(product, 0, 1e-13);
			}
		/* squared norms are chi-squared: mean dim, variance 2 dim */
		CHECK_NEAR(mean, dim, 5 * sqrt(2.0 * dim / rows));
	}
}

/*
 * The first frequencies of seed 1 for three coordinates: the same on every
 * machine, to the bit.
 */
static const double golden[4][6] = {
	{0x1.9b9fc57404e77p-1, 0x1.7bfc4083ef72dp+1, 0x1.b58190eb58ce5p-1,
	-0x1.1dbc057705159p-4, -0x1.7ceae1407fa01p-2, 0x1.5ba37c8625c5bp+0},
	{0x1.9ff917bdceb72p-3, -0x1.9652b2dd7e337p+2, -0x1.45a45120ae943p-3,
	0x1.889bbfd7b07dap+3, -0x1.1827b85d103a7p-1, -0x1.5d2afa65417b6p-1},
	{0x1.b45aabcd0aa32p-2, -0x1.69961cf25a08dp-6, 0x1.378d72cc399f4p-1,
	0x1.91f93ca41b4a6p-4, 0x1.e15660573e9e8p-1, 0x1.5be64ca15711p-1},
	{0x1.b2145ce6faf39p-2, 0x1.90b6fd0afb472p+0, 0x1.cd5f9dcb04bf2p-2,
	0x1.8612c1cb55e7cp-4, -0x1.c563b34f41fa2p-1, 0x1.47ca5ed2bf285p-1}
};

TEST(makes_the_same_frequencies_everywhere)
{
	for (int kind = DPERM_KERNEL_GAUSSIAN; kind <= DPERM_KERNEL_MATERN; kind++)
	{
		DpermKernel kernel = {(DpermKernelKind) kind, 0.75, 16, 1};
		double	   *first = dperm_fourier_make(&kernel, 3);
		double	   *second = dperm_fourier_make(&kernel, 3);
		int			different = 0;

		CHECK(memcmp(first, golden[kind - 1], sizeof(golden[0])) == 0);
		CHECK(memcmp(first, second, sizeof(double) * 24) == 0);
		kernel.seed = 2;
		second = dperm_fourier_make(&kernel, 3);
		for (int i = 0; i < 24; i++)
			different += first[i] != second[i];
		CHECK(different == 24);
		kernel.seed = INT64_MIN;
		second = dperm_fourier_make(&kernel, 3);
		for (int i = 0; i < 24; i++)
			CHECK(isfinite(second[i]) && second[i] != first[i]);
	}
}

/*
 * More features with the same seed begin with the same frequencies, block by
 * block.
 */
TEST(extends_what_fewer_features_begin)
{
	for (int kind = DPERM_KERNEL_GAUSSIAN; kind <= DPERM_KERNEL_MATERN; kind++)
	{
		DpermKernel few = {(DpermKernelKind) kind, 1, 4 * DIM, 5};
		DpermKernel many = {(DpermKernelKind) kind, 1, 10 * DIM, 5};

		CHECK(memcmp(dperm_fourier_make(&few, DIM), dperm_fourier_make(&many, DIM), sizeof(double) * 2 * DIM * DIM) == 0);
	}
}

TEST(polls_while_it_makes_them)
{
	for (int kind = DPERM_KERNEL_GAUSSIAN; kind <= DPERM_KERNEL_MATERN; kind++)
	{
		DpermKernel kernel = {(DpermKernelKind) kind, 1, 200, 1};
		int			count = 0;

		test_host_poll = test_host_count_poll;
		test_host_poll_arg = &count;
		frequencies = dperm_fourier_make(&kernel, DIM);
		test_host_poll = NULL;
		CHECK(count >= 100);
	}
}

/*
 * A row is mapped to the same doubles wherever it is in a product, and whatever
 * the other rows are. Privacy depends on it (docs/guarantee.md, A3), and BLAS
 * has to provide it.
 */
TEST(maps_a_row_alike_in_every_slot)
{
	TestRandom	state = 8;
	double	   *x = malloc(sizeof(double) * DPERM_FEED_ROWS * 200);
	double	   *out = malloc(sizeof(double) * DPERM_FEED_ROWS * 201);
	double		row[200];
	double		first[201];

	for (int round = 0; round < 150; round++)
	{
		int			dim = round % 3 ? 1 + test_below(&state, 200) : 1 + test_below(&state, 12);
		int			extra = round % 2;
		DpermKernel kernel = {(DpermKernelKind) (1 + round % 4), 1, 2 * (1 + test_below(&state, 100)), round};

		frequencies = dperm_fourier_make(&kernel, dim);
		for (int i = 0; i < dim; i++)
			row[i] = (2 * test_uniform(&state) - 1) / sqrt(dim);
		for (int slot = 0; slot < DPERM_FEED_ROWS; slot++)
		{
			double	   *mapped = out + (size_t) slot * (kernel.features + extra);

			for (int i = 0; i < DPERM_FEED_ROWS * dim; i++)
				x[i] = round % 5 ? (2 * test_uniform(&state) - 1) / sqrt(dim) : 0;
			memcpy(x + (size_t) slot * dim, row, sizeof(double) * dim);
			dperm_fourier_map_rows(&kernel, frequencies, dim, DPERM_FEED_ROWS, x, 1, extra, out);
			if (slot == 0)
				memcpy(first, mapped, sizeof(double) * kernel.features);
			CHECK(memcmp(first, mapped, sizeof(double) * kernel.features) == 0);
		}
	}
	free(x);
	free(out);
}
