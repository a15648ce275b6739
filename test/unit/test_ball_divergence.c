/*
 * The Renyi divergence of noise in the ball: never below the integral itself,
 * and close to it where it matters.
 */
#include "core/privacy/composition.h"

#include "unit/ball_integral.h"
#include "unit/test.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* Integrals in 15 digits (mpmath): dimension, shift, order, divergence. */
TEST(known_integrals)
{
	static const struct
	{
		int			dim;
		double		shift;
		double		order;
		double		divergence;
	}			cases[] = {
		{2, 0.1, 9.66, 0.0229454}, {3, 0.1, 9.66, 0.0156663}, {3, 1, 9.66, 0.712881}, {3, 3, 1.5, 1.61123},
		{7, 0.1, 23.07, 0.01586484065}, {7, 0.1, 9.058, 0.006432634207}, {7, 1, 9.058, 0.4642621735},
		{20, 0.1, 9.058, 0.002262611313}, {20, 1, 9.058, 0.2105799647}, {100, 0.1, 23, 0.001149714652},
		{100, 1, 9.058, 0.04512833642}, {100, 3, 9.058, 0.3953946934}, {1000, 1, 9.058, 0.004528833888}
	};

	for (int i = 0; i < COUNT(cases); i++)
	{
		double		got = dperm_composition_ball(cases[i].shift, cases[i].dim, cases[i].order);

		CHECK_NEAR(ball_integral(cases[i].shift, cases[i].dim, cases[i].order), cases[i].divergence, 1e-4 * cases[i].divergence);
		CHECK(got >= cases[i].divergence * (1 - 1e-5));
	}
}

/*
 * From seven weights on, at the orders and epsilons of small calls, it is some
 * percent above the integral, about order shift^2/(2 dim).
 */
TEST(close_to_the_integral)
{
	static const double orders[] = {5, 9.058, 23.067};

	for (int dim = 7; dim <= 700; dim *= 10)
		for (int i = 0; i < COUNT(orders); i++)
			for (double shift = 0.003; shift < 0.5; shift *= 5)
			{
				double		got = dperm_composition_ball(shift, dim, orders[i]);
				double		exact = ball_integral(shift, dim, orders[i]);

				CHECK(got >= exact * (1 - 1e-6));
				CHECK(got <= exact * (dim > 10 ? 1.01 : 1.12));
				if (orders[i] * shift < 1)
					CHECK_NEAR(got, orders[i] * shift * shift / (2 * dim), 0.15 * got);
			}
}

/* It grows with the shift. Beyond its reach it says nothing. */
TEST(grows_with_the_shift)
{
	for (int dim = 2; dim <= 5000; dim = dim * 3 / 2)
		for (double order = 1.01; order < 1e5; order *= 3)
		{
			double		before = 0;

			for (double shift = 1e-6; shift < 500; shift *= 1.7)
			{
				double		got = dperm_composition_ball(shift, dim, order);

				CHECK(got >= before * (1 - 1e-9));
				CHECK(isinf(got) == (2 * (order - 1) * shift >= 600));
				before = got;
			}
		}
	CHECK(isinf(dperm_composition_ball(0.1, 1, 2)));
	CHECK(dperm_composition_ball(0, 10, 2) == 0);

	/* as forged models may ask for: what is too small to square is taken as more */
	for (double shift = 1e-20; shift > 0; shift /= 1000)
	{
		double		got = dperm_composition_ball(shift, 3, 1.01);

		CHECK(got >= 0 && got <= 1e-30);
		CHECK(shift > 1e-100 || got == dperm_composition_ball(1e-100, 3, 1.01));
	}
}
