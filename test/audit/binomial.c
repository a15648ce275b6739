/*
 * binomial.c: the bounds that the black-box audit relies on, against known and
 * exact values.
 */
#include "unit/test.h"

#include "audit/binomial.h"

/* Binomial probabilities by the recurrence, in long doubles. */
static void
masses(int n, long double p, long double *mass)
{
	mass[0] = powl(1 - p, n);
	for (int k = 0; k < n; k++)
		mass[k + 1] = mass[k] * (n - k) / (k + 1) * p / (1 - p);
}

/* Two-sided intervals of 95 %, as printed in tables. */
TEST(agrees_with_tables)
{
	static const struct
	{
		int			k;
		int			n;
		double		lower;
		double		upper;
	}			known[] = {
		{0, 10, 0, 0.3085}, {1, 10, 0.0025, 0.4450}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1},
		{3, 20, 0.0321, 0.3789}, {10, 100, 0.0490, 0.1762}, {50, 100, 0.3983, 0.6017}
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		CHECK_NEAR(binomial_lower(known[i].k, known[i].n, 0.025), known[i].lower, 6e-5);
		CHECK_NEAR(binomial_upper(known[i].k, known[i].n, 0.025), known[i].upper, 6e-5);
	}
}

/* At the lower bound, k or more of n have probability level. */
TEST(solves_its_equation)
{
	static const double levels[] = {0.3, 0.01, 1e-4, 1e-8};
	static long double mass[2001];

	for (int n = 1; n <= 2000; n = 3 * n + 1)
		for (int k = 1; k <= n; k += 1 + n / 7)
			for (int l = 0; l < 4; l++)
			{
				double		lower = binomial_lower(k, n, levels[l]);
				long double tail = 0;

				masses(n, lower, mass);
				for (int i = k; i <= n; i++)
					tail += mass[i];
				CHECK_NEAR((double) (tail / levels[l]), 1, 1e-8);
			}
}

/* Large numbers of runs: the normal approximation is good there. */
TEST(agrees_with_the_normal_law)
{
	static const double deviates[] = {3.090232, 4.753424, 5.612001};
	static const double levels[] = {1e-3, 1e-6, 1e-8};

	for (int l = 0; l < 3; l++)
		for (int n = 100000; n <= 10000000; n *= 10)
		{
			double		spread = sqrt(0.3 * 0.7 / n);

			CHECK_NEAR((0.3 - binomial_lower(n / 10 * 3, n, levels[l])) / spread, deviates[l],
					   10 / sqrt(n * 0.3));
			CHECK_NEAR((binomial_upper(n / 10 * 3, n, levels[l]) - 0.3) / spread, deviates[l],
					   10 / sqrt(n * 0.3));
		}
}

/*
 * The bound on epsilon is exceeded no more often than stated, over all outcomes
 * of two small samples.
 */
TEST(epsilon_is_covered)
{
	enum
	{
		RUNS = 60
	};
	static const double level = 0.1;
	long double ours[RUNS + 1];
	long double theirs[RUNS + 1];
	long double most = 0;

	for (int i = 1; i < 20; i++)
		for (int k = 1; k <= i; k++)
		{
			double		p = i / 20.0;
			double		q = k / 20.0;
			long double wrong = 0;

			masses(RUNS, p, ours);
			masses(RUNS, q, theirs);
			for (int a = 0; a <= RUNS; a++)
				for (int b = 0; b <= RUNS; b++)
					if (binomial_epsilon(a, b, RUNS, level) > log(p / q))
						wrong += ours[a] * theirs[b];
			CHECK(wrong <= level);
			most = fmaxl(most, wrong);
		}
	CHECK(most > 0.01L);

	/*
	 * the level is divided among the two bounds: always against never has a
	 * closed form
	 */
	CHECK_NEAR(binomial_epsilon(RUNS, 0, RUNS, level),
			   log(pow(level / 2, 1.0 / RUNS) / (1 - pow(level / 2, 1.0 / RUNS))), 1e-9);
}

/* So is the bound on delta. */
TEST(delta_is_covered)
{
	enum
	{
		RUNS = 60
	};
	static const double level = 0.1;
	static const double epsilon = 0.7;
	static double bounds[RUNS + 1][RUNS + 1];
	long double ours[RUNS + 1];
	long double theirs[RUNS + 1];
	long double most = 0;

	for (int a = 0; a <= RUNS; a++)
		for (int b = 0; b <= RUNS; b++)
			bounds[a][b] = binomial_delta(a, b, RUNS, epsilon, level);
	for (int i = 1; i < 20; i++)
		for (int k = 1; k <= i; k++)
		{
			double		p = i / 20.0;
			double		q = k / 20.0;
			long double wrong = 0;

			masses(RUNS, p, ours);
			masses(RUNS, q, theirs);
			for (int a = 0; a <= RUNS; a++)
				for (int b = 0; b <= RUNS; b++)
					if (bounds[a][b] > p - exp(epsilon) * q)
						wrong += ours[a] * theirs[b];
			CHECK(wrong <= level);
			most = fmaxl(most, wrong);
		}
	CHECK(most > 0.005L);
	CHECK_NEAR(bounds[RUNS][0], pow(level / 2, 1.0 / RUNS) - exp(epsilon) * (1 - pow(level / 2, 1.0 / RUNS)), 1e-9);
}
