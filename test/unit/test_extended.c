/*
 * test_extended.c: extended precision, and gradients computed with it, against
 * integers of 384 bits.
 */
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/solve/sums.h"
#include "unit/coded.h"
#include "unit/fixed.h"
#include "unit/problem.h"
#include "unit/vectors.h"

/* A number of any reasonable size, with all its bits. */
static DpermExtended
any_extended(TestRandom *state)
{
	DpermExtended x = (test_uniform(state) - 0.5) * pow(2, 60 * test_uniform(state) - 30);

	for (int bits = 40; bits < 113; bits += 30)
		x += x * (test_uniform(state) - 0.5) * ldexp(1, -bits);
	return x;
}

/* The oracle, by what does not depend on it. */
TEST(has_integers_that_add_up)
{
	TestRandom	state = 80;
	Fixed		log_two = fixed_of(0);

	for (int round = 0; round < 2000; round++)
	{
		double		a = (test_uniform(&state) - 0.5) * pow(2, 60 * test_uniform(&state) - 30);
		double		b = (test_uniform(&state) - 0.5) * pow(2, 60 * test_uniform(&state) - 30);
		Fixed		product = fixed_times(fixed_of(a), fixed_of(b));

		CHECK_NEAR(fixed_apart(fixed_of(a), fixed_of(b)), fabs(a - b), 1e-15 * fabs(a - b));
		CHECK_NEAR(fixed_apart(product, fixed_of(0)), fabs(a * b), 1e-15 * fabs(a * b));
		CHECK(fixed_apart(product, fixed_of(a * b)) <= fabs(a * b) * 0x1p-53);
		CHECK(fixed_apart(fixed_over(product, fixed_of(b)), fixed_of(a)) <= 0x1p-150);
		CHECK(product.minus == (a * b < 0));
	}

	/* log 2 is the sum of 2^-k/k */
	for (int k = 1; k < 190; k++)
		log_two = fixed_add(log_two, fixed_over(fixed_of(ldexp(1, -k)), fixed_of(k)));
	CHECK(fixed_apart(fixed_exp(fixed_minus(log_two)), fixed_of(0.5)) < 0x1p-150);
	CHECK_NEAR(fixed_apart(fixed_exp(fixed_of(-20)), fixed_of(0)), exp(-20), 1e-24);
	CHECK_NEAR(fixed_apart(fixed_exp(fixed_of(-1)), fixed_of(0)), exp(-1), 1e-16);
}

/*
 * The rows of one person weigh little, and are as many as there can be: each is rounded
 * as a row that weighs 1 is.
 */
TEST(adds_many_rows_of_a_person)
{
	enum {DIM = 64, ROWS = 300000, EACH = 1000};
	DpermLoss	loss = {.kind = DPERM_LOSS_HUBER, .h = 0.5};
	DpermLayout layout = dperm_layout_dense(DIM);
	double		zeros[DIM] = {0};
	double	   *rows = malloc(sizeof(double) * EACH * (DIM + 2));
	double	   *room = malloc(sizeof(double) * dperm_moments_room(DIM, 1, false));
	double		off = 0;
	double		bound = dperm_moments_extended_rounding(DIM, loss, ROWS, ROWS - 1, 0, 0, 0);
	TestRandom	state = 82;
	DpermMoments m;

	layout.labelled = layout.weighted = true;
	layout.words = DIM + 2;
	for (int i = 0; i < EACH; i++)
		for (int j = 0; j < DIM + 2; j++)
			rows[i * (DIM + 2) + j] = j == DIM ? 1 : j > DIM ? 1.0 / ROWS :
				i > 0 ? rows[j] : 0.12 * test_uniform(&state);
	dperm_moments_start(&m, DPERM_PASS_EXTENDED, loss, &layout, zeros, zeros, room);
	for (int i = 0; i < ROWS; i += EACH)
		dperm_moments_add(&m, rows, EACH, 1);
	dperm_moments_flush(&m);
	for (int j = 0; j < DIM; j++)
	{
		/* the slope at 0 is -1 */
		DpermExtended exact = -(DpermExtended) rows[j] * (1.0 / ROWS) * ROWS;
		double		entry = (double) (dperm_quad_of(m.gradient[j], m.gradient_low[j]) - exact);

		off += entry * entry;
	}
	CHECK(sqrt(off) <= bound);
	CHECK(sqrt(off) >= bound / 100);
	free(rows);
	free(room);
}

TEST(splits_into_pairs)
{
	TestRandom	state = 81;

	for (int round = 0; round < 20000; round++)
	{
		DpermExtended x = any_extended(&state);
		double		high,
					low,
					high_again,
					low_again;

		dperm_quad_split(x, &high, &low);
		CHECK(high == (double) x && high + low == high);
		CHECK(fixed_apart(fixed_of_extended(x), fixed_of_pair(high, low)) <= 0x1p-106 * fabs(high));
		dperm_quad_split(dperm_quad_of(high, low), &high_again, &low_again);
		CHECK(high == high_again && low == low_again);
	}
}

/* Relative to the result, however small that is: by a power of two it is not. */
TEST(has_an_exponential)
{
	TestRandom	state = 82;
	Fixed		log_two = fixed_of(0);
	double		most = 0;

	for (int k = 1; k < 190; k++)
		log_two = fixed_add(log_two, fixed_over(fixed_of(ldexp(1, -k)), fixed_of(k)));
	for (int round = 0; round < 4000; round++)
	{
		double		scale = pow(10, 7 * test_uniform(&state) - 4);
		DpermExtended x = -(DpermExtended) fmin(scale, 699) * test_uniform(&state) - 0x1p-60 * test_uniform(&state);
		int			power = (int) rint(-(double) x / log(2));
		Fixed		near = fixed_exp(fixed_add(fixed_of_extended(x), fixed_times(fixed_of(power), log_two)));
		Fixed		got = fixed_of_extended(dperm_loss_exp(x) * ldexp(1, power / 2) * ldexp(1, power - power / 2));

		most = fmax(most, fixed_apart(got, near) / fixed_apart(near, fixed_of(0)));
	}
	CHECK(most < 0x1p-108);
	CHECK(most > 0x1p-116);
	CHECK(dperm_loss_exp(0) == 1);
}

static DpermExtended
slope_of(DpermLoss loss, DpermExtended z)
{
	dperm_loss_slopes(loss, &z, loss.kind == DPERM_LOSS_LOG_COSH ? 0 : 1);
	return z;
}

/* The bends of the loss and their ends, tiny and huge margins. */
TEST(takes_slopes_within_their_bound)
{
	TestRandom	state = 83;

	for (int round = 0; round < 4000; round++)
	{
		DpermLoss	loss = {.kind = (DpermLossKind) (round % 4)};
		DpermExtended z;
		Fixed		exact;

		if (loss.kind != DPERM_LOSS_LOGISTIC)
			loss.h = test_below(&state, 2) ? 0.02 : 0.02 + 0.98 * test_uniform(&state);
		switch (test_below(&state, 4))
		{
			case 0:
				z = any_extended(&state);
				break;
			case 1:
				z = 1 + loss.h * (2 * test_uniform(&state) - 1) + (DpermExtended) 1e-17 * test_uniform(&state);
				break;
			case 2:
				z = 1 + (round % 2 ? loss.h : -loss.h) + (DpermExtended) 1e-17 * (test_uniform(&state) - 0.5);
				break;
			default:
				z = 1420 * (test_uniform(&state) - 0.5) + (DpermExtended) 1e-17 * test_uniform(&state);
		}
		exact = fixed_of_extended(z);
		if (loss.kind != DPERM_LOSS_HUBER && loss.kind != DPERM_LOSS_SMOOTH_HINGE &&
			fabs((double) z) > 300 * (loss.h > 0 ? loss.h : 1))
			exact = fixed_of(loss.kind == DPERM_LOSS_LOGISTIC ? -(z < 0) : z < 0 ? -1 : 1);
		else
			fixed_slopes(loss, &exact, loss.kind == DPERM_LOSS_LOG_COSH ? 0 : 1);
		CHECK(fixed_apart(fixed_of_extended(slope_of(loss, z)), exact) < 0x1p-106);
	}
	for (int kind = 0; kind < 3; kind++)
	{
		DpermLoss	loss = {.kind = (DpermLossKind) kind, .h = kind ? 0.5 : 0};

		CHECK(slope_of(loss, 1e300) == 0);
		CHECK(slope_of(loss, -1e300) == -1);
	}
	CHECK(slope_of((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}, 1e300) == 1);
	CHECK(slope_of((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}, -1e300) == -1);
}

#define COUNT 300

static CodedRows coded;
static double vectors[COUNT * SAMPLE_DIM_MAX];
static double weights[SAMPLE_DIM_MAX];
static double weights_low[SAMPLE_DIM_MAX];

/* Start a pass in extended precision over some rows, and end it. */
static void
extended_pass(DpermMoments *m, DpermLoss loss, const DpermLayout *layout, const double *rows, int64_t count, double *room)
{
	dperm_moments_start(m, DPERM_PASS_EXTENDED, loss, layout, weights, weights_low, room);
	vectors_add(m, rows, count);
	dperm_moments_flush(m);
}

/*
 * Vectors and codes, weights up to a million whose low parts matter, two passes
 * that are merged. What is off is far less than the bound.
 */
TEST(sums_gradients_within_its_bound)
{
	TestRandom	state = 84;

	for (int round = 0; round < 60; round++)
	{
		DpermLayout layout = any_layout(&state, &coded, round);
		DpermLoss	loss = {.kind = (DpermLossKind) (round % 3), .h = round % 3 ? 0.01 : 0};
		int			dim = layout.dim;
		double	   *rows = malloc(sizeof(double) * COUNT * layout.words);
		double	   *rooms[2] = {malloc(sizeof(double) * dperm_moments_room(dim, 1, false)),
		malloc(sizeof(double) * dperm_moments_room(dim, 1, false))};
		double		size = pow(10, 6 * test_uniform(&state));
		double		norm = 0;
		static Fixed exact[SAMPLE_DIM_MAX];
		DpermMoments m[2];

		memset(exact, 0, sizeof(exact));
		for (int j = 0; j < dim; j++)
		{
			weights[j] = (test_uniform(&state) - 0.5) * size;
			weights_low[j] = weights[j] * 0x1p-54 * test_uniform(&state);
			norm += weights[j] * weights[j];
		}
		for (int i = 0; i < COUNT; i++)
		{
			any_row(&state, &coded, &layout, rows + i * layout.words);
			decode_row(&layout, rows + i * layout.words, vectors + i * dim);
			fixed_add_gradient(loss, dim, vectors + i * dim, 1, 1, weights, weights_low, exact);
		}
		extended_pass(&m[0], loss, &layout, rows, COUNT / 3, rooms[0]);
		extended_pass(&m[1], loss, &layout, rows + COUNT / 3 * layout.words, COUNT - COUNT / 3, rooms[1]);
		dperm_moments_merge(&m[0], m[1].rows, m[1].value, m[1].gradient, m[1].gradient_low, NULL);
		CHECK(m[0].rows == COUNT);
		CHECK(fixed_off(dim, m[0].gradient, m[0].gradient_low, exact) <=
			  COUNT / 16.0 * dperm_moments_extended_rounding(dim, loss, COUNT, 0, 0, sqrt(norm), 0));
		free(rows);
		free(rooms[0]);
		free(rooms[1]);
	}
}
