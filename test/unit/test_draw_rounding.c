/*
 * test_draw_rounding.c: the noise in doubles against the same draw in long double: how
 * far the two are apart is part of the guarantee.
 */
#include "unit/test.h"

#include "unit/entropy.h"

#define DIM_MAX 200

/* The ideal draws from the same bits. */
static long double
wide_half_uniform(DpermEntropy *e)
{
	int			exponent = -2;

	while (!dperm_draw_bit(e))
		exponent--;
	return ldexpl(1 + ldexpl(dperm_draw_word(e), -64), exponent);
}

static long double
wide_exponential(DpermEntropy *e)
{
	long double v = wide_half_uniform(e);

	return dperm_draw_bit(e) ? -logl(v) : -log1pl(-v);
}

static long double
wide_normal(DpermEntropy *e)
{
	long double radius = sqrtl(2 * wide_exponential(e));
	long double size = radius * sinl(4 * atanl(1) * wide_half_uniform(e));

	return dperm_draw_bit(e) ? size : -size;
}

/* The noise vector from chi-squared(dim + 1) and normals. */
static void
wide_gamma_sphere(DpermEntropy *e, int dim, long double scale, long double *b)
{
	long double v = 0;

	for (int i = 0; i < (dim + 1) / 2; i++)
		v += 2 * wide_exponential(e);
	if (dim % 2 == 0)
	{
		long double x = wide_normal(e);

		v += x * x;
	}
	for (int i = 0; i < dim; i++)
		b[i] = scale * sqrtl(v) * wide_normal(e);
}

/* The largest relative error of a coordinate and |ideal|, from two copies of a stream. */
static void
compare(DpermEntropy *e, DpermEntropy *wide, int dim, double scale, long double *error,
		long double *length)
{
	static double b[DIM_MAX];
	static long double ideal[DIM_MAX];
	long double lengths = 0;

	dperm_draw_gamma_sphere(e, dim, scale, b);
	wide_gamma_sphere(wide, dim, scale, ideal);
	*error = 0;
	for (int i = 0; i < dim; i++)
	{
		*error = fmaxl(*error, fabsl((b[i] - ideal[i]) / ideal[i]));
		lengths += ideal[i] * ideal[i];
	}
	*length = sqrtl(lengths);
}

/* What the guarantee states: every coordinate is close to the ideal one, relatively. */
TEST(noise_is_close_to_the_ideal_draw)
{
	static const int dims[] = {1, 2, 3, 4, 5, 8, 25, 100, 200};

	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++)
	{
		int			dim = dims[i];
		TestEntropy source,
					wide_source;
		DpermEntropy e,
					wide;

		test_entropy_init(&e, &source, 77 + (uint64_t) i);
		test_entropy_init(&wide, &wide_source, 77 + (uint64_t) i);
		for (int k = 0; k < 20000 / (dim + 3); k++)
		{
			long double error,
						length;

			compare(&e, &wide, dim, 0.7, &error, &length);
			CHECK(error <= dperm_draw_gamma_sphere_rounding(dim));
			CHECK(length <= dperm_draw_gamma_sphere_tail(dim, 0.7));
		}
		CHECK(e.left == wide.left && e.bits_left == wide.bits_left);
	}
}

/* An exponential close to 0 keeps its digits. */
TEST(exponentials_are_relatively_exact)
{
	TestEntropy source,
				wide_source;
	DpermEntropy e,
				wide;

	test_entropy_init(&e, &source, 5);
	test_entropy_init(&wide, &wide_source, 5);
	for (int k = 0; k < 20000; k++)
	{
		long double ideal = wide_exponential(&wide);
		double		x = dperm_draw_exponential(&e);

		CHECK(fabsl(x - ideal) <= 8 * 0x1p-53L * ideal);
	}
}

int
main(void)
{
	RUN(noise_is_close_to_the_ideal_draw);
	RUN(exponentials_are_relatively_exact);
	return test_report();
}
