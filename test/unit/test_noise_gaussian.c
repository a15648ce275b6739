/*
 * test_noise_gaussian.c: Gaussian noise in shapes: rows divided by the standard
 * deviations stay in the unit ball, the noise is the least with this property,
 * and it is drawn as planned.
 */
#include "unit/sample_encoder.h"

#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/mechanism/noise.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define DRAWS 4000

static SampleEncoder sampled;
static SampleRow row;
static DpermShape shapes[SAMPLE_DIM_MAX + 1];
static double *frequencies;
static double room[SAMPLE_DIM_MAX];
static double x[SAMPLE_DIM_MAX];

/* The plan for an encoder. */
static const DpermNoise *
plan(const DpermEncoder *enc, int *count)
{
	*count = dperm_shape_list(enc, false, shapes);
	return dperm_noise_plan(DPERM_LAW_GAUSSIAN, shapes, *count);
}

/* The largest squared norm in a shape. */
static long double
longest(const DpermShape *s)
{
	long double square = (long double) s->radius * s->radius;

	return s->kind == DPERM_SHAPE_BOX ? square * s->count : s->kind == DPERM_SHAPE_DISCS ? square * s->count / 2 : square;
}

/* The variance of the coordinates of a shape, at scale 1. */
static long double
variance_of(const DpermNoise *noise, int shape)
{
	return longest(&noise->shapes[shape]) / noise->groups[shape].share;
}

TEST(plans_are_the_best)
{
	TestRandom	state = 1;
	int			balls = 0;
	int			mixed = 0;

	for (int round = 0; round < 3000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			dim = dperm_encoder_dim(enc);
		int			count;
		const DpermNoise *noise = plan(enc, &count);
		long double roots = 0;
		long double shares = 0;
		long double spread = 0;

		for (int i = 0; i < count; i++)
			roots += sqrtl(longest(&shapes[i]) * shapes[i].count);
		if (noise == NULL)
		{
			/*
			 * the ball is equally good, and its mean square is that of dim
			 * normal numbers
			 */
			balls++;
			CHECK(roots * roots >= 0.999998L * dim);
			CHECK(dperm_noise_spread(DPERM_LAW_GAUSSIAN, NULL, dim) == dim);
			continue;
		}
		mixed++;
		CHECK(dperm_noise_fault(noise, dim) == NULL);
		CHECK(noise->group_count == count && noise->shape_count == count);
		for (int i = 0; i < count; i++)
		{
			CHECK(noise->groups[i].first == i && noise->groups[i].count == 1 && noise->groups[i].dim == noise->shapes[i].count);
			shares += noise->groups[i].share;
			spread += variance_of(noise, i) * noise->shapes[i].count;
		}
		CHECK(fabsl(shares - 1) < 1e-12L);	/* well within the nudge of the scale */
		CHECK(fabsl(spread / (roots * roots) - 1) < 1e-12L);
		CHECK(fabsl(noise->spread / spread - 1) < 1e-12L);
		CHECK(noise->spread < dim);

		/* moving some of one share to another does not help */
		for (int i = 1; i < count; i++)
			for (int sign = -1; sign <= 1; sign += 2)
			{
				long double moved = sign * 1e-2L * fminl(noise->groups[0].share, noise->groups[i].share);
				long double other = spread - variance_of(noise, 0) * noise->shapes[0].count -
					variance_of(noise, i) * noise->shapes[i].count;

				other += longest(&noise->shapes[0]) * noise->shapes[0].count / (noise->groups[0].share + moved);
				other += longest(&noise->shapes[i]) * noise->shapes[i].count / (noise->groups[i].share - moved);
				CHECK(other > spread);
			}
	}
	CHECK(balls > 100 && mixed > 1000);
}

/* Encoded rows, and those of the largest norm that shapes allow. */
TEST(rows_stay_in_the_ball)
{
	TestRandom	state = 2;
	long double most = 0;

	for (int round = 0; round < 5000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			count;
		const DpermNoise *noise = plan(enc, &count);
		long double corner = 0;

		if (noise == NULL)
			continue;
		frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
		for (int i = 0; i < 4; i++)
		{
			long double sum = 0;

			dperm_encoder_encode(enc, frequencies, sample_row(&state, enc, &row), test_below(&state, 2) ? 1 : -1, x, room);
			for (int j = 0; j < count; j++)
				for (int k = noise->shapes[j].first; k < noise->shapes[j].first + noise->shapes[j].count; k++)
					sum += (long double) x[k] * x[k] / variance_of(noise, j);
			CHECK(sum <= 1 + 1e-12L);
			most = fmaxl(most, sum);
		}
		for (int j = 0; j < count; j++)
			corner += longest(&noise->shapes[j]) / variance_of(noise, j);
		CHECK(corner <= 1 + 1e-12L);
	}
	CHECK(most > 0.999L);
}

/*
 * Each shape has its variance, in each coordinate, and coordinates are
 * unrelated.
 */
TEST(draws_as_planned)
{
	static double sums[SAMPLE_DIM_MAX];
	TestRandom	state = 3;
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 5);
	for (int round = 0; round < 12; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		int			dim = dperm_encoder_dim(enc);
		int			count;
		const DpermNoise *noise = plan(enc, &count);
		double		product = 0;
		double		scale = 0.3 + round;

		memset(sums, 0, sizeof(sums));
		for (int k = 0; k < DRAWS; k++)
		{
			dperm_noise_draw(&e, DPERM_LAW_GAUSSIAN, noise, dim, scale, x);
			for (int i = 0; i < dim; i++)
				sums[i] += x[i] * x[i];
			product += x[0] * x[dim - 1];
		}
		for (int j = 0; noise && j < count; j++)
			for (int i = noise->shapes[j].first; i < noise->shapes[j].first + noise->shapes[j].count; i++)
			{
				double		statistic = sums[i] / (double) variance_of(noise, j) / scale / scale;
				double		p = chi_square_p(statistic, DRAWS);

				CHECK(p > 1e-6 && p < 1 - 1e-6);
			}
		for (int i = 0; noise == NULL && i < dim; i++)
		{
			double		p = chi_square_p(sums[i] / scale / scale, DRAWS);

			CHECK(p > 1e-6 && p < 1 - 1e-6);
		}
		if (dim > 1)
			CHECK(fabs(product) < 5 * sqrt(sums[0] * sums[dim - 1] / DRAWS));
	}
	CHECK(e.status == DPERM_OK);
}

/*
 * The norm is above its bound with probability below 2^-65, and above a third
 * of it with more.
 */
TEST(bounds_the_tail)
{
	for (int dim = 1; dim <= DPERM_DIM_MAX; dim += 1 + dim / 7)
	{
		double		tail = dperm_noise_tail(DPERM_LAW_GAUSSIAN, NULL, dim, 1, 1);

		CHECK(gamma_upper(dim / 2.0, tail * tail / 2) < 0x1p-65);
		CHECK(gamma_upper(dim / 2.0, tail * tail / 18) > 0x1p-65);
		CHECK_NEAR(dperm_noise_tail(DPERM_LAW_GAUSSIAN, NULL, dim, 1, 7), 7 * tail, 1e-12 * tail);
	}
}
