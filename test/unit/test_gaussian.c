/*
 * test_gaussian.c: how much Gaussian noise (epsilon, delta) requires, against
 * integrals by brute force. Never too little, and hardly ever more than needed.
 */
#include "unit/test.h"

#include "core/base/core.h"
#include "core/privacy/composition.h"
#include "unit/hockey.h"

static const double epsilons[] = {1e-6, 1e-4, 0.01, 0.1, 0.5, 1, 3, 10, 50, 200, 500};
static const double deltas[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-4, 0.01, 0.2, 0.9};

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/*
 * Integral, closed form and library agree where the loss is unrestricted, and
 * the library's value is above.
 */
TEST(delta_is_the_divergence)
{
	for (int i = 0; i < COUNT(epsilons); i++)
		for (double mu = 1e-7; mu < 60; mu *= 1.17)
		{
			double		found = dperm_privacy_delta(mu, epsilons[i]);
			double		brute = hockey_normals(mu, epsilons[i]);
			double		first = erfc((epsilons[i] / mu - mu / 2) * M_SQRT1_2) / 2;

			if (first < 1e-40)
				continue;
			CHECK(found >= (double) hockey_closed(mu, epsilons[i]));
			CHECK(found >= brute * (1 - 1e-7));
			CHECK(found <= brute * (1 + 1e-7) + first * 1e-10);
			CHECK(found <= 1);
		}
}

TEST(delta_has_known_values)
{
	/*
	 * epsilon 0: the total variation 2 Phi(mu/2) - 1; Phi(0.5) - e Phi(-1.5) =
	 * 0.69146246 - 0.18160080
	 */
	CHECK_NEAR(dperm_privacy_delta(1, 1e-300), erf(0.5 * M_SQRT1_2), 1e-10);
	CHECK_NEAR(dperm_privacy_delta(1, 1), 0.12693673750664, 1e-11);
	CHECK_NEAR(dperm_privacy_delta(2, 1), 0.50986166006158, 1e-10);
}

/* Enough noise, and a ten-thousandth less is not. */
TEST(sigma_is_the_least)
{
	for (int i = 0; i < COUNT(epsilons); i++)
		for (int j = 0; j < COUNT(deltas); j++)
		{
			double		sigma = dperm_privacy_sigma(epsilons[i], deltas[j]);

			CHECK(hockey_closed(1 / (long double) sigma, epsilons[i]) <= deltas[j]);
			CHECK(hockey_normals(1 / sigma, epsilons[i]) <= deltas[j] * (1 + 1e-7));
			CHECK(hockey_closed(1 / (sigma * (1 - 1e-4L)), epsilons[i]) > deltas[j]);
		}

	/* the classical bound sqrt(2 log(1.25/delta))/epsilon requires more */
	CHECK(dperm_privacy_sigma(0.5, 1e-6) < sqrt(2 * log(1.25e6)) / 0.5);
	CHECK(dperm_privacy_sigma(0.5, 1e-6) > 0.7 * sqrt(2 * log(1.25e6)) / 0.5);
}

/*
 * More epsilon or more delta never requires more noise, except for the error of
 * bounds.
 */
TEST(falls)
{
	TestRandom	state = 3;

	for (int round = 0; round < 200; round++)
	{
		double		epsilon = pow(10, -6 + 8.69 * test_uniform(&state));
		double		delta = pow(10, -15 * test_uniform(&state)) * 0.9;
		double		more = 1 + test_uniform(&state);

		CHECK(dperm_privacy_sigma(epsilon * more, delta) <= dperm_privacy_sigma(epsilon, delta) * (1 + 2e-5));
		CHECK(dperm_privacy_sigma(epsilon, fmin(delta * more, 0.99)) <= dperm_privacy_sigma(epsilon, delta) * (1 + 2e-5));
		CHECK(dperm_privacy_delta(more, epsilon) >= dperm_privacy_delta(1, epsilon) * (1 - 1e-9));
	}
}

/* The whole range of arguments gives finite numbers, in little time. */
TEST(holds_at_the_limits)
{
	static const double ends[] = {DPERM_EPSILON_MIN / 100, DPERM_EPSILON_MAX};
	static const double small[] = {DPERM_DELTA_MIN - 0x1p-64, 1 - 0x1p-53};

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
		{
			double		one = dperm_privacy_sigma(ends[i], small[j]);
			double		two = dperm_privacy_objective_sigma(DPERM_NEIGHBOURS_REMOVE, DPERM_UNIT_PERSON, ends[i], small[j], 0);

			CHECK(isfinite(one) && one > 0 && isfinite(two) && two > 0);
			CHECK(dperm_privacy_delta(1 / one, ends[i]) <= small[j]);
			CHECK(dperm_privacy_average_delta(1 / two, ends[i], 0) <= small[j]);
		}
}
