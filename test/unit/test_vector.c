/*
 * test_vector.c: the inner loops over numbers against plain ones, at every
 * dimension and alignment.
 */
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/base/vector.h"

#define LENGTH_MAX 70

/*
 * Numbers of very different sizes, in memory that begins as doubles do and ends
 * with them.
 */
static double *
make_numbers(TestRandom *state, size_t count)
{
	double	   *numbers = malloc(sizeof(double) * (count + 1));

	for (size_t i = 0; i < count; i++)
		numbers[i + 1] = (2 * test_uniform(state) - 1) * pow(10, test_below(state, 20) - 10);
	return numbers;
}

TEST(sums_squares_and_products)
{
	TestRandom	state = 81;

	for (size_t count = 0; count <= LENGTH_MAX; count++)
		for (int round = 0; round < 20; round++)
		{
			double	   *x = make_numbers(&state, count);
			double	   *y = make_numbers(&state, count);
			long double squares = 0;
			long double products = 0;
			long double size = 0;

			for (size_t i = 1; i <= count; i++)
			{
				squares += (long double) x[i] * x[i];
				products += (long double) x[i] * y[i];
				size += fabsl((long double) x[i] * y[i]);
			}
			CHECK(fabsl(dperm_sum_of_squares(count, x + 1) - squares) <=
				  (count + 1) * (DBL_EPSILON / 2) * squares);
			CHECK(fabsl(dperm_inner(count, x + 1, y + 1) - products) <=
				  (count + 1) * (DBL_EPSILON / 2) * size);
			free(x);
			free(y);
		}
	CHECK(dperm_sum_of_squares(0, NULL) == 0 && dperm_inner(0, NULL, NULL) == 0);
}

/*
 * One term among zeros, at every position: none is left out or counted twice.
 */
TEST(leaves_out_nothing)
{
	for (size_t count = 1; count <= LENGTH_MAX; count++)
		for (size_t at = 0; at < count; at++)
		{
			double		x[LENGTH_MAX] = {0};
			double		y[LENGTH_MAX];

			for (size_t i = 0; i < count; i++)
				y[i] = (double) i + 2;
			x[at] = 3;
			CHECK(dperm_sum_of_squares(count, x) == 9);
			CHECK(dperm_inner(count, x, y) == 3 * ((double) at + 2));
			CHECK(dperm_inner(count, y, x) == 3 * ((double) at + 2));
		}
}

TEST(scales_each_number_alone)
{
	TestRandom	state = 82;

	for (size_t count = 0; count <= LENGTH_MAX; count++)
		for (int round = 0; round < 20; round++)
		{
			double	   *x = make_numbers(&state, count);
			double	   *out = make_numbers(&state, count);
			double		factor = (2 * test_uniform(&state) - 1) * pow(10, test_below(&state, 600) - 300);

			out[0] = 7;
			dperm_scale(count, factor, x + 1, out + 1);
			CHECK(out[0] == 7);
			for (size_t i = 1; i <= count; i++)
				CHECK(out[i] == x[i] * factor);
			free(x);
			free(out);
		}
}

/* NaN stays NaN, wherever it is: the encoder looks for it in the sum. */
TEST(hides_no_infinity)
{
	for (size_t count = 1; count <= LENGTH_MAX; count++)
		for (size_t at = 0; at < count; at++)
		{
			double		x[LENGTH_MAX] = {0};

			x[at] = NAN;
			CHECK(isnan(dperm_sum_of_squares(count, x)));
			x[at] = -INFINITY;
			CHECK(isinf(dperm_sum_of_squares(count, x)));
			x[at] = 1e200;
			CHECK(isinf(dperm_sum_of_squares(count, x)));
		}
}

/*
 * Cosines and sines within two units, and points that are within 8 of the
 * circle.
 */
TEST(turns_around_the_circle)
{
	TestRandom	state = 84;

	for (int round = 0; round < 400000; round++)
	{
		double		angles[2];
		DpermPair	cosine,
					sine;

		for (int k = 0; k < 2; k++)
		{
			/* of every size, and near the quarters */
			angles[k] = round % 3 ? (2 * test_uniform(&state) - 1) * pow(10, 12 * test_uniform(&state) - 6) :
				(test_below(&state, 4000) - 2000) * 1.5707963267948966 + (test_uniform(&state) - 0.5) * 1e-6;
			angles[k] = fmax(-DPERM_ANGLE_MAX, fmin(DPERM_ANGLE_MAX, angles[k]));
		}
		if (round < 4)
		{
			angles[0] = round % 2 ? DPERM_ANGLE_MAX : 0;
			angles[1] = -angles[0];
		}
		dperm_cos_sin(dperm_pair_at(angles), &cosine, &sine);
		for (int k = 0; k < 2; k++)
		{
			long double c = cosine[k],
						s = sine[k];

			CHECK_NEAR(cosine[k], cos(angles[k]), 2.5 * DBL_EPSILON / 2);
			CHECK_NEAR(sine[k], sin(angles[k]), 2.5 * DBL_EPSILON / 2);
			CHECK(c * c + s * s <= 1 + 4 * DBL_EPSILON);
			CHECK(c * c + s * s >= 1 - 4 * DBL_EPSILON);
		}
	}
}

/*
 * Rows with gaps between them, of every number and dimension, and a constant in
 * all of them: no product is left out, nothing beyond is read.
 */
TEST(multiplies_rows)
{
	TestRandom	state = 85;

	for (size_t dim = 0; dim <= 20; dim++)
		for (size_t count = 0; count <= 20; count++)
		{
			size_t		stride = dim + (size_t) test_below(&state, 3);
			size_t		end = count == 0 ? 0 : (count - 1) * stride + dim;
			double	   *rows = make_numbers(&state, end);
			double	   *y = make_numbers(&state, dim + 1);
			double	   *factors = make_numbers(&state, count);
			double	   *inner = make_numbers(&state, count);
			double	   *sum = make_numbers(&state, dim + 1);
			double		constant = test_below(&state, 3) ? test_uniform(&state) - 0.5 : 0;

			dperm_rows_inner(count, rows + 1, stride, dim, constant, y + 1, inner + 1);
			for (size_t i = 0; i < count; i++)
			{
				long double exact = (long double) constant * y[1 + dim],
							size = fabsl(exact);

				for (size_t j = 0; j < dim; j++)
				{
					exact += (long double) rows[1 + i * stride + j] * y[1 + j];
					size += fabsl((long double) rows[1 + i * stride + j] * y[1 + j]);
				}
				CHECK(fabsl(inner[1 + i] - exact) <= (dim + 2) * (DBL_EPSILON / 2) * size);
			}
			memset(sum, 0, sizeof(double) * (dim + 2));
			dperm_add_rows(count, rows + 1, stride, dim, constant, factors + 1, sum + 1);
			for (size_t j = 0; j <= dim; j++)
			{
				long double exact = 0,
							size = 0;

				for (size_t i = 0; i < count; i++)
				{
					double		x = j < dim ? rows[1 + i * stride + j] : constant;

					exact += (long double) x * factors[1 + i];
					size += fabsl((long double) x * factors[1 + i]);
				}
				CHECK(fabsl(sum[1 + j] - exact) <= (count + 1) * (DBL_EPSILON / 2) * size);
			}
			free(rows);
			free(y);
			free(factors);
			free(inner);
			free(sum);
		}
}

/*
 * Exponentials within two units in the last place, from 1 to the smallest
 * normal number.
 */
TEST(raises_to_powers)
{
	TestRandom	state = 86;

	for (int round = 0; round < 400000; round++)
	{
		double		x[2];
		DpermPair	result;

		for (int k = 0; k < 2; k++)
		{
			/* of every size, and near where the power of two changes */
			x[k] = round % 3 == 0 ? -708 * test_uniform(&state) :
				round % 3 == 1 ? -pow(10, 18 * test_uniform(&state) - 16) :
				-0.34657359027997264 * (1 + 2 * test_below(&state, 1000)) + (test_uniform(&state) - 0.5) * 1e-9;
			x[k] = fmax(-708, fmin(0, x[k]));
		}
		if (round < 4)
		{
			x[0] = round % 2 ? -708 : 0;
			x[1] = round < 2 ? -0.0 : -DBL_MIN;
		}
		result = dperm_exp(dperm_pair_at(x));
		for (int k = 0; k < 2; k++)
		{
			long double exact = expl(x[k]);

			CHECK(fabsl(result[k] - exact) <= 2 * DBL_EPSILON / 2 * exact);
			CHECK(result[k] <= 1);
		}
	}
}
