/*
 * test_draw_rounding.c: the noise in doubles against the same draw in long
 * double: the distance between the two is part of the guarantee.
 */
#include "unit/test.h"

#include "core/mechanism/noise.h"
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

/* Uniform between -1 and 1. */
static long double
wide_between(DpermEntropy *e)
{
	long double size = 2 * wide_half_uniform(e);

	return dperm_draw_bit(e) ? size : -size;
}

/* Uniform in a ball: coordinates of a sphere with two more dimensions. */
static void
wide_in_ball(DpermEntropy *e, int dim, long double radius, long double *b, int stride)
{
	long double sum = 2 * wide_exponential(e);

	for (int i = 0; i < dim; i++)
	{
		b[i * stride] = wide_normal(e);
		sum += b[i * stride] * b[i * stride];
	}
	for (int i = 0; i < dim; i++)
		b[i * stride] *= radius / sqrtl(sum);
}

/*
 * Uniform where absolute values add up to at most radius: shares of
 * exponentials.
 */
static void
wide_in_cross(DpermEntropy *e, int dim, long double radius, long double *b)
{
	long double sum = wide_exponential(e);

	for (int i = 0; i < dim; i++)
		sum += b[i] = wide_exponential(e);
	for (int i = 0; i < dim; i++)
		b[i] *= (dperm_draw_bit(e) ? radius : -radius) / sum;
}

/* The noise of groups. */
static void
wide_noise(DpermEntropy *e, const DpermNoise *noise, long double scale, long double *b)
{
	for (int i = 0; i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];
		long double radius = 0;

		for (int j = 0; j <= group->dim; j++)
			radius += wide_exponential(e);
		radius *= scale / group->share;
		for (int j = group->first; j < group->first + group->count; j++)
		{
			const DpermShape *s = &noise->shapes[j];
			int			half = s->count / 2;

			if (s->kind == DPERM_SHAPE_BALL)
				wide_in_ball(e, s->count, radius * s->radius, b + s->first, 1);
			else if (s->kind == DPERM_SHAPE_CROSS)
				wide_in_cross(e, s->count, radius * s->radius, b + s->first);
			else if (s->kind == DPERM_SHAPE_BOX)
				for (int k = 0; k < s->count; k++)
					b[s->first + k] = radius * s->radius * wide_between(e);
			else
				for (int k = 0; k < half; k++)
					wide_in_ball(e, 2, radius * s->radius, b + s->first + k, half);
		}
	}
}

/*
 * The largest relative error of a coordinate and |ideal|, from two copies of a
 * stream.
 */
static void
compare(DpermEntropy *e, DpermEntropy *wide, const DpermNoise *noise, int dim, double scale,
		long double *error, long double *length)
{
	static double b[DIM_MAX];
	static long double ideal[DIM_MAX];
	long double lengths = 0;

	dperm_noise_draw(e, DPERM_LAW_NORM, noise, dim, scale, b);
	if (noise)
		wide_noise(wide, noise, scale, ideal);
	else
		wide_gamma_sphere(wide, dim, scale, ideal);
	*error = 0;
	for (int i = 0; i < dim; i++)
	{
		*error = fmaxl(*error, fabsl((b[i] - ideal[i]) / ideal[i]));
		lengths += ideal[i] * ideal[i];
	}
	*length = sqrtl(lengths);
}

/*
 * What the guarantee states: every coordinate is close to the ideal one,
 * relatively.
 */
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

			compare(&e, &wide, NULL, dim, 0.7, &error, &length);
			CHECK(error <= dperm_noise_rounding(dim));
			CHECK(length <= dperm_draw_gamma_sphere_tail(dim, 0.7));
		}
		CHECK(e.left == wide.left && e.bits_left == wide.bits_left);
	}
}

/* The same in shapes: one of each kind and all together, in many sizes. */
TEST(noise_in_shapes_is_close_to_the_ideal_draw)
{
	static const int sizes[] = {1, 2, 3, 8, 25, 50};

	for (int i = 0; i < 6; i++)
		for (int kind = 0; kind <= DPERM_SHAPE_KINDS; kind++)
		{
			DpermShape	shapes[DPERM_SHAPE_KINDS];
			DpermNoiseGroup groups[] = {{.first = 0, .count = 1, .share = 1 / 3.0}, {.first = 1, .count = 3, .share = 2 / 3.0}};
			DpermNoise	noise = {.shapes = shapes, .groups = groups, .group_count = 1};
			int			dim = 0;
			TestEntropy source,
						wide_source;
			DpermEntropy e,
						wide;

			for (int k = 0; k < DPERM_SHAPE_KINDS; k++)
				if (k == kind || kind == DPERM_SHAPE_KINDS)
				{
					int			count = kind == k ? 4 * sizes[i] : k == DPERM_SHAPE_DISCS ? (sizes[i] + 1) / 2 * 2 : sizes[i];

					shapes[noise.shape_count++] = (DpermShape) {.kind = (DpermShapeKind) k, .first = dim, .count = count,
						.radius = 1 / sqrt(3)};
					dim += count;
				}
			noise.group_count = kind == DPERM_SHAPE_KINDS ? 2 : 1;
			dperm_noise_measure(DPERM_LAW_NORM, &noise);
			test_entropy_init(&e, &source, 177 + (uint64_t) i);
			test_entropy_init(&wide, &wide_source, 177 + (uint64_t) i);
			for (int k = 0; k < 10000 / (dim + 3); k++)
			{
				long double error,
							length;

				compare(&e, &wide, &noise, dim, 0.7, &error, &length);
				CHECK(error <= dperm_noise_rounding(dim));
				CHECK(length <= dperm_noise_tail(DPERM_LAW_NORM, &noise, dim, 1, 0.7));
			}
			CHECK(e.left == wide.left && e.bits_left == wide.bits_left);
		}
}

/*
 * The radius of each group is as exact when it is a sum of many exponentials.
 */
TEST(noise_of_a_large_group_is_close_to_the_ideal_draw)
{
	static long double ideal[5000];
	static double b[5000];

	for (int kind = 0; kind < DPERM_SHAPE_KINDS; kind++)
	{
		DpermShape	shape = {.kind = (DpermShapeKind) kind, .count = 5000, .radius = 0.3};
		DpermNoiseGroup group = {.count = 1, .share = 0.7};
		DpermNoise	noise = {.shape_count = 1, .shapes = &shape, .group_count = 1, .groups = &group};
		TestEntropy source,
					wide_source;
		DpermEntropy e,
					wide;

		dperm_noise_measure(DPERM_LAW_NORM, &noise);
		test_entropy_init(&e, &source, 277);
		test_entropy_init(&wide, &wide_source, 277);
		dperm_noise_draw(&e, DPERM_LAW_NORM, &noise, 5000, 0.7, b);
		wide_noise(&wide, &noise, 0.7, ideal);
		for (int i = 0; i < 5000; i++)
			CHECK(fabsl((b[i] - ideal[i]) / ideal[i]) <= dperm_noise_rounding(5000) / 10);
	}
}

/* Gaussian noise: a normal times a factor, whatever the shape. */
TEST(gaussian_noise_is_close_to_the_ideal_draw)
{
	static DpermShape shapes[] = {{DPERM_SHAPE_CROSS, 2, 40, 0.5}, {DPERM_SHAPE_BOX, 0, 2, 0.4}, {DPERM_SHAPE_DISCS, 42, 8, 0.3}};
	static const double largest[] = {0.5 * 0.5, 2 * 0.4 * 0.4, 4 * 0.3 * 0.3};
	static DpermNoiseGroup groups[] = {{.first = 0, .count = 1, .share = 0.7}, {.first = 1, .count = 1, .share = 0.1},
	{.first = 2, .count = 1, .share = 0.2}};
	DpermNoise	noise = {.shape_count = 3, .shapes = shapes, .group_count = 3, .groups = groups};
	TestEntropy source,
				wide_source;
	DpermEntropy e,
				wide;

	dperm_noise_measure(DPERM_LAW_GAUSSIAN, &noise);
	test_entropy_init(&e, &source, 377);
	test_entropy_init(&wide, &wide_source, 377);
	for (int round = 0; round < 200; round++)
		for (int ball = 0; ball < 2; ball++)
		{
			double		b[50];
			double		length = 0;

			dperm_noise_draw(&e, DPERM_LAW_GAUSSIAN, ball ? NULL : &noise, 50, 0.7, b);
			for (int i = 0; i < 3; i++)
				for (int j = 0; j < shapes[i].count; j++)
				{
					int			at = ball ? (i == 0 ? 0 : i == 1 ? 40 : 42) + j : shapes[i].first + j;
					long double ideal = wide_normal(&wide) * 0.7L * (ball ? 1 : sqrtl(largest[i] / (long double) groups[i].share));

					CHECK(fabsl((b[at] - ideal) / ideal) <= dperm_noise_rounding(1));
					length += b[at] * b[at];
				}
			CHECK(sqrt(length) <= dperm_noise_tail(DPERM_LAW_GAUSSIAN, ball ? NULL : &noise, 50, 1, 0.7));
		}
	CHECK(e.left == wide.left && e.bits_left == wide.bits_left);
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
