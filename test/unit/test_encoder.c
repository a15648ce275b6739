/*
 * test_encoder.c: vectors: whatever is encoded, the result is in the unit ball,
 * exactly.
 */
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "unit/exact.h"

#define DIM_MAX (DPERM_DIM_MAX + 1)

static double raw[DIM_MAX];
static double out[DIM_MAX];

/* An encoder of one vector. */
typedef struct Vector
{
	int			dimension;
	double		norm;
	bool		intercept;
} Vector;

/* Coordinates of the result. */
static int
vector_dim(const Vector *v)
{
	return v->dimension + v->intercept;
}

/* Encode one vector; NULL is a missing one. */
static void
encode_vector(const Vector *v, const double *vector, double sign)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = v->dimension, .norm = v->norm};
	DpermEncoder enc = {.block_count = 1, .blocks = &block, .intercept = v->intercept};
	DpermValue	value = {.present = vector != NULL, .vector = vector};

	CHECK(dperm_encoder_fault(&enc) == NULL);
	CHECK(dperm_encoder_dim(&enc) == vector_dim(v));
	dperm_encoder_encode(&enc, NULL, &value, sign, out, NULL);
}

/* The kinds of vectors that have broken clipping in some implementation. */
typedef enum Kind
{
	SMALL_INTEGERS,
	NEAR_ONE,					/* norm within a few units in the last place of the bound */
	EQUAL,						/* all coordinates alike, norm 1 */
	HUGE_ONES,					/* around 1e308 */
	DENORMAL,
	MIXED,						/* magnitudes all over the range */
	ANY_BITS,					/* any finite doubles */
	LONE,						/* one coordinate, the rest zero or negligible */
	SQUARES_AT_EDGE,			/* sums of squares where another formula takes over */
	KINDS
} Kind;

/* A finite double of any bits. */
static double
any_finite(TestRandom *state)
{
	double		x;

	do
	{
		uint64_t	bits = test_random(state);

		memcpy(&x, &bits, sizeof(x));
	} while (!isfinite(x));
	return x;
}

/* A vector of a kind, for the given bound. */
static void
make_raw(TestRandom *state, Kind kind, int dim, double norm)
{
	long double sum = 0;
	double		edge = (test_below(state, 2) ? 1e-100 : 1e150) / sqrt(dim);

	for (int i = 0; i < dim; i++)
	{
		double		centred = 2 * test_uniform(state) - 1;

		switch (kind)
		{
			case SMALL_INTEGERS:
				raw[i] = test_below(state, 7) - 3;
				break;
			case NEAR_ONE:
				raw[i] = centred;
				break;
			case EQUAL:
				raw[i] = norm / sqrt(dim);
				break;
			case HUGE_ONES:
				raw[i] = centred * DBL_MAX;
				break;
			case DENORMAL:
				raw[i] = centred * 1e-310;
				break;
			case MIXED:
				raw[i] = centred * pow(10, test_below(state, 600) - 300);
				break;
			case ANY_BITS:
				raw[i] = any_finite(state);
				break;
			case LONE:
				raw[i] = i == dim / 2 ? any_finite(state) : centred * DBL_MIN;
				break;
			default:
				raw[i] = edge * (1 + 1e-15 * test_below(state, 100));
		}
		sum += (long double) raw[i] * raw[i];
	}
	if (kind == NEAR_ONE)
	{
		long double factor = norm * (1 + (test_below(state, 41) - 20) * (long double) DBL_EPSILON / 8) /
			sqrtl(sum);

		for (int i = 0; i < dim; i++)
			raw[i] = (double) (raw[i] * factor);
	}
}

/*
 * Norm of the block in long double, scaled by the largest coordinate so that it
 * cannot overflow.
 */
static long double
norm_of(const double *x, int dim)
{
	long double largest = 0;
	long double sum = 0;

	for (int i = 0; i < dim; i++)
		largest = fmaxl(largest, fabsl(x[i]));
	if (largest == 0)
		return 0;
	for (int i = 0; i < dim; i++)
		sum += (x[i] / largest) * (x[i] / largest);
	return largest * sqrtl(sum);
}

/* Encode raw and compare with what the definition says. */
static void
check_vector(const Vector *enc, double sign)
{
	int			dim = enc->dimension;
	long double norm = norm_of(raw, dim);
	long double target = enc->intercept ? sqrtl(0.5L) : 1;
	long double divisor = fmaxl(norm, enc->norm);
	double		tolerance = 1e-13 + 4 * dim * DBL_EPSILON;

	/* past the end nothing is written */
	memset(out, 0x5a, sizeof(out));
	encode_vector(enc, raw, sign);
	CHECK(exact_in_ball(out, vector_dim(enc)));
	if (vector_dim(enc) < DIM_MAX)
	{
		unsigned char guard;

		memcpy(&guard, &out[vector_dim(enc)], 1);
		CHECK(guard == 0x5a);
	}
	for (int i = 0; i < dim; i++)
	{
		long double expected = sign * target * (raw[i] / divisor);

		/*
		 * inside the bound the value is plain division, except for the last
		 * digits
		 */
		if (norm < enc->norm * (1 - tolerance))
			CHECK(fabsl(out[i] - expected) <= 1e-13L * fabsl(expected) + 1e-300L);
		else
			CHECK(fabsl(out[i] - expected) <= tolerance * fabsl(expected) + 1e-300L);
	}
	if (enc->intercept)
		CHECK_NEAR(out[dim], sign * sqrt(0.5), 1e-15);
}

TEST(stays_in_the_ball)
{
	static const double norms[] = {1, 2, 0.1, 3.7, 1e-100, 1e100, 1e-20, 12345};
	TestRandom	state = 3;

	for (int round = 0; round < 60000; round++)
	{
		Vector		enc = {
			.dimension = 1 + test_below(&state, round % 10 ? 12 : 200),
			.norm = norms[test_below(&state, 8)],
			.intercept = test_below(&state, 2)
		};

		make_raw(&state, (Kind) test_below(&state, KINDS), enc.dimension, enc.norm);
		check_vector(&enc, test_below(&state, 2) ? 1 : -1);
	}
}

TEST(stays_in_the_ball_when_long)
{
	static const int dims[] = {255, 256, 1000, 4999, 5000};
	TestRandom	state = 4;

	for (int i = 0; i < 5; i++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int round = 0; round < 6; round++)
			{
				Vector		enc = {
					.dimension = dims[i], .norm = round < 3 ? 1 : 0.3,
					.intercept = round % 2 && dims[i] < 5000
				};

				make_raw(&state, (Kind) kind, dims[i], enc.norm);
				check_vector(&enc, 1);
			}
}

/*
 * Sums that round down the most: the computed norm is as far below as it can
 * be.
 */
TEST(stays_in_the_ball_against_rounding)
{
	for (int dim = 2; dim <= DPERM_DIM_MAX; dim = dim * 3 / 2 + 1)
	{
		Vector		enc = {.dimension = dim, .norm = 1};

		/*
		 * each further square is less than half a unit in the last place of the
		 * sum
		 */
		raw[0] = 1;
		for (int i = 1; i < dim; i++)
			raw[i] = sqrt(DBL_EPSILON / 2) * 0.9999999;
		encode_vector(&enc, raw, 1);
		CHECK(exact_in_ball(out, dim));
		raw[0] = 1 - DBL_EPSILON / 2;
		for (int i = 1; i < dim; i++)
			raw[i] = sqrt(DBL_EPSILON / 4) * 0.9999999;
		encode_vector(&enc, raw, 1);
		CHECK(exact_in_ball(out, dim));
		enc.intercept = dim < DPERM_DIM_MAX;
		encode_vector(&enc, raw, -1);
		CHECK(exact_in_ball(out, vector_dim(&enc)));
	}
}

TEST(takes_length_one_as_it_is)
{
	Vector		enc = {.dimension = 1, .norm = 1};

	for (int sign = -1; sign <= 1; sign += 2)
	{
		raw[0] = 1;
		encode_vector(&enc, raw, sign);
		CHECK_NEAR(out[0], sign, 17 * DBL_EPSILON);
		raw[0] = 0.5;
		encode_vector(&enc, raw, sign);
		CHECK(out[0] == sign * 0.5);
		raw[0] = -0.25;
		encode_vector(&enc, raw, sign);
		CHECK(out[0] == sign * -0.25);
	}
}

/* A block that cannot be used is zero; the intercept stays. */
TEST(zeroes_what_is_not_a_number)
{
	static const double poison[] = {NAN, INFINITY, -INFINITY};
	TestRandom	state = 5;

	for (int dim = 1; dim <= 300; dim = dim * 2 + 1)
		for (int intercept = 0; intercept < 2; intercept++)
			for (int bad = -1; bad < 3; bad++)
				for (int kind = 0; kind < KINDS; kind++)
				{
					Vector		enc = {.dimension = dim, .norm = 1, .intercept = intercept};
					int			at = test_below(&state, dim);

					make_raw(&state, (Kind) kind, dim, 1);
					if (bad >= 0)
						raw[at] = poison[bad];
					if (bad == 2 && dim > 1)
						raw[(at + 1) % dim] = INFINITY; /* both signs: the sum is NaN */
					memset(out, 0x5a, sizeof(out));
					encode_vector(&enc, bad < 0 ? NULL : raw, -1);
					for (int i = 0; i < dim; i++)
						CHECK(out[i] == 0);
					if (intercept)
						CHECK_NEAR(out[dim], -sqrt(0.5), 1e-15);
				}
}

TEST(zero_stays_zero)
{
	Vector		enc = {.dimension = 3, .norm = 1e-100, .intercept = true};

	raw[0] = raw[1] = 0.0;
	raw[2] = -0.0;
	encode_vector(&enc, raw, 1);
	CHECK(out[0] == 0 && out[1] == 0 && out[2] == 0);
	CHECK(out[3] * out[3] <= 0.5 && out[3] > 0.707);
}

/* The check itself: one unit too much is detected, 1 is not too much. */
TEST(the_exact_sum_is_exact)
{
	double		x[4] = {0.6, 0.8, 0, 0};	/* the doubles nearest to them add up to more than 1 */

	CHECK(exact_in_ball((double[]) {1, 0}, 2));
	CHECK(!exact_in_ball((double[]) {1, 4.9406564584124654e-324}, 2));
	CHECK(!exact_in_ball((double[]) {nextafter(1, 2)}, 1));
	CHECK(exact_in_ball((double[]) {0.5, 0.5, 0.5, -0.5}, 4));
	CHECK(!exact_in_ball((double[]) {0.5, 0.5, 0.5, -0.5, 1e-320}, 5));
	CHECK(!exact_in_ball(x, 2));
	x[1] = nextafter(0.8, 0);
	CHECK(exact_in_ball(x, 2));
}
