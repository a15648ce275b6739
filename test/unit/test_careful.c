/*
 * test_careful.c: numbers of twice the precision, and gradients computed with
 * them, against 113 bits.
 */
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/solve/careful.h"
#include "core/solve/moments.h"
#include "unit/coded.h"
#include "unit/problem.h"
#include "unit/quad.h"
#include "unit/vectors.h"

/*
 * A low part for a number: up to half a unit of its last place, with 40 bits,
 * so that 113 hold both.
 */
static double
any_low(TestRandom *state, double high)
{
	int			exponent;

	(void) frexp(high, &exponent);
	return ldexp((double) test_below(state, 1 << 30) - (1 << 29), exponent - 53 - 30 - test_below(state, 5));
}

/* A wide number of any reasonable size. */
static DpermWide
any_wide(TestRandom *state)
{
	double		high = (test_uniform(state) - 0.5) * pow(2, 60 * test_uniform(state) - 30);

	return dperm_wide_sum(high, any_low(state, high));
}

/* Is a result within its relative error, and normalised? */
static bool
close_to(DpermWide got, Quad exact, double error)
{
	return quad_size(quad_of(got) - exact) <= error * quad_size(exact) && got.high + got.low == got.high;
}

TEST(rounds_each_operation_within_its_bound)
{
	TestRandom	state = 81;

	for (int round = 0; HAVE_QUAD && round < 50000; round++)
	{
		DpermWide	x = any_wide(&state);
		DpermWide	y = any_wide(&state);

		/* sums that cancel except for the last bits */
		if (round % 3 == 0)
			y = dperm_wide_sum(-x.high * (1 + (round % 5 - 2) * DBL_EPSILON), any_low(&state, x.high));
		CHECK(quad_of(dperm_wide_product(x.high, y.high)) == (Quad) x.high * y.high);
		CHECK(quad_of(dperm_wide_sum(x.high, y.high)) == (Quad) x.high + y.high);
		CHECK(close_to(dperm_wide_add(x, y), quad_of(x) + quad_of(y), 0x1p-104));
		CHECK(close_to(dperm_wide_subtract(x, y), quad_of(x) - quad_of(y), 0x1p-104));
		CHECK(close_to(dperm_wide_scale(x, y.high), quad_of(x) * y.high, 0x1p-102));
		CHECK(close_to(dperm_wide_multiply(x, y), quad_of(x) * quad_of(y), 0x1p-102));
		CHECK(close_to(dperm_wide_divide(x, y), quad_of(x) / quad_of(y), 0x1p-102));
	}
}

static DpermWide
wide_slope(DpermLoss loss, DpermWide z)
{
	return dperm_loss_entry((int) loss.kind)->slope(loss.h, z);
}

/* The bends of the loss and their ends, tiny and huge margins. */
TEST(takes_slopes_within_their_bound)
{
	TestRandom	state = 82;

	for (int round = 0; HAVE_QUAD && round < 12000; round++)
	{
		DpermLoss	loss = {.kind = (DpermLossKind) (round % 4)};
		DpermWide	z;

		if (loss.kind != DPERM_LOSS_LOGISTIC)
			loss.h = test_below(&state, 2) ? 0.02 : 0.02 + 0.98 * test_uniform(&state);
		switch (test_below(&state, 4))
		{
			case 0:
				z = any_wide(&state);
				break;
			case 1:
				z = dperm_wide_sum(1 + loss.h * (2 * test_uniform(&state) - 1), 1e-17 * test_uniform(&state));
				break;
			case 2:
				z = dperm_wide_sum(1 + (round % 2 ? loss.h : -loss.h), 1e-17 * (test_uniform(&state) - 0.5));
				break;
			default:
				z = dperm_wide_sum(1420 * (test_uniform(&state) - 0.5), 1e-17 * test_uniform(&state));
		}
		CHECK(quad_size(quad_of(wide_slope(loss, z)) - quad_slope(loss, quad_of(z))) <= 0x1p-94);
	}
	for (int kind = 0; kind < 3; kind++)
	{
		DpermLoss	loss = {.kind = (DpermLossKind) kind, .h = kind ? 0.5 : 0};

		CHECK(wide_slope(loss, dperm_wide_of(1e300)).high == 0);
		CHECK(wide_slope(loss, dperm_wide_of(-1e300)).high == -1);
	}
	CHECK(wide_slope((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}, dperm_wide_of(1e300)).high == 1);
	CHECK(wide_slope((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}, dperm_wide_of(-1e300)).high == -1);
}

#define COUNT 300

static CodedRows coded;
static double vectors[COUNT * SAMPLE_DIM_MAX];
static double weights[SAMPLE_DIM_MAX];
static double weights_low[SAMPLE_DIM_MAX];

/* Start a careful pass over some rows, and end it. */
static void
careful_pass(DpermMoments *m, DpermLoss loss, const DpermLayout *layout, const double *rows, int64_t count, double *room)
{
	dperm_moments_init_rows(m, loss, layout, false, weights, room);
	dperm_moments_be_careful(m, weights_low);
	vectors_add(m, rows, count);
	dperm_moments_flush(m);
}

/* The exact sums of gradients. */
static Quad
exact_gradient(DpermLoss loss, int dim, int j)
{
	Quad		sum = 0;

	for (int i = 0; i < COUNT; i++)
	{
		const double *row = vectors + i * dim;
		Quad		margin = 0;

		for (int k = 0; k < dim; k++)
			margin += (Quad) row[k] * ((Quad) weights[k] + (Quad) weights_low[k]);
		sum += quad_slope(loss, margin) * (Quad) row[j];
	}
	return sum;
}

/*
 * Vectors and codes, weights up to a million whose low parts matter, two passes
 * that are merged.
 */
TEST(sums_gradients_within_its_bound)
{
	TestRandom	state = 83;

	for (int round = 0; HAVE_QUAD && round < 100; round++)
	{
		DpermLayout layout = any_layout(&state, &coded, round);
		DpermLoss	loss = {.kind = (DpermLossKind) (round % 3), .h = round % 3 ? 0.01 : 0};
		int			dim = layout.dim;
		double	   *rows = malloc(sizeof(double) * COUNT * layout.words);
		double	   *rooms[2] = {malloc(sizeof(double) * dperm_moments_room(dim, 1, false)),
		malloc(sizeof(double) * dperm_moments_room(dim, 1, false))};
		double		size = pow(10, 6 * test_uniform(&state));
		double		norm = 0;
		double		error = 0;
		DpermMoments m[2];

		for (int i = 0; i < COUNT; i++)
		{
			any_row(&state, &coded, &layout, rows + i * layout.words);
			decode_row(&layout, rows + i * layout.words, vectors + i * dim);
		}
		for (int j = 0; j < dim; j++)
		{
			weights[j] = (test_uniform(&state) - 0.5) * size;
			weights_low[j] = weights[j] * 0x1p-54 * test_uniform(&state);
			norm += weights[j] * weights[j];
		}
		careful_pass(&m[0], loss, &layout, rows, COUNT / 3, rooms[0]);
		careful_pass(&m[1], loss, &layout, rows + COUNT / 3 * layout.words, COUNT - COUNT / 3, rooms[1]);
		dperm_moments_merge(&m[0], m[1].rows, m[1].value, m[1].gradient, m[1].gradient_low, NULL);
		CHECK(m[0].rows == COUNT);
		for (int j = 0; j < dim; j++)
		{
			DpermWide	got = {m[0].gradient[j], m[0].gradient_low[j]};

			error += pow(quad_size(quad_of(got) - exact_gradient(loss, dim, j)) / COUNT, 2);
		}
		CHECK(sqrt(error) <= dperm_careful_rounding(dim, loss, COUNT, 0, sqrt(norm), 0));
		free(rows);
		free(rooms[0]);
		free(rooms[1]);
	}
}
