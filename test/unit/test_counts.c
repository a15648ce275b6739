/*
 * test_counts.c: noisy counts against their exact law, and what is computed
 * from them.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/metrics/metrics.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */
#define DRAWS 100000
#define CELLS_MAX 801

/* The ratio of neighbouring probabilities of the noise. */
static double
ratio_of(double epsilon)
{
	return exp(-(double) dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) / 0x1p20 / 2);
}

/* The law of |z| <= reach; the rest is in the two outer cells. */
static void
laplace_law(double q, int reach, double *law)
{
	for (int k = -reach; k <= reach; k++)
		law[k + reach] = (1 - q) / (1 + q) * pow(q, abs(k));
	law[0] = law[2 * reach] = pow(q, reach) / (1 + q);
}

TEST(noise_has_its_law)
{
	static const double epsilons[] = {0.05, 0.1, 1.0 / 3, 0.7, 1, 2, 2.5, 3.14159, 7, 20};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 1);
	for (size_t i = 0; i < sizeof(epsilons) / sizeof(epsilons[0]); i++)
	{
		int			reach = 2 + (int) (10 / epsilons[i]);
		int64_t		seen[CELLS_MAX] = {0};
		double		law[CELLS_MAX];
		double		p;

		for (int k = 0; k < DRAWS; k += 4)
		{
			int64_t		counts[4] = {0, 100, -5, INT64_C(1) << 33};
			static const int64_t truth[4] = {0, 100, -5, INT64_C(1) << 33};

			dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(epsilons[i], DPERM_NEIGHBOURS_REPLACE)), 1, counts, 4);
			for (int j = 0; j < 4; j++)
			{
				int64_t		z = counts[j] - truth[j];

				seen[(z > reach ? reach : z < -reach ? -reach : z) + reach]++;
			}
		}
		laplace_law(ratio_of(epsilons[i]), reach, law);
		p = counts_fit_p(seen, law, 2 * reach + 1, DRAWS);
		CHECK(p > P_MIN);
		if (!(p > P_MIN))
			fprintf(stderr, "epsilon %g: p = %g\n", epsilons[i], p);
	}
	CHECK(e.status == DPERM_OK);
}

/*
 * Half or twice the scale would be detected, so the test above means something.
 */
TEST(other_scales_are_told_apart)
{
	TestEntropy source;
	DpermEntropy e;
	int64_t		seen[41] = {0};
	double		law[41];

	test_entropy_init(&e, &source, 2);
	for (int k = 0; k < DRAWS; k++)
	{
		int64_t		z = 0;

		dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE)), 1, &z, 1);
		seen[(z > 20 ? 20 : z < -20 ? -20 : z) + 20]++;
	}
	laplace_law(ratio_of(0.97), 20, law);
	CHECK(counts_fit_p(seen, law, 41, DRAWS) < 1e-6);
	laplace_law(ratio_of(1.03), 20, law);
	CHECK(counts_fit_p(seen, law, 41, DRAWS) < 1e-6);
	laplace_law(ratio_of(2), 20, law);
	CHECK(counts_fit_p(seen, law, 41, DRAWS) < 1e-6);
}

/* Each cell has its own noise. */
TEST(cells_are_independent)
{
	TestEntropy source;
	DpermEntropy e;
	int64_t		seen[25] = {0};
	double		single[5];
	double		law[25];

	test_entropy_init(&e, &source, 3);
	for (int k = 0; k < DRAWS; k++)
	{
		int64_t		z[2] = {0, 0};

		dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(2, DPERM_NEIGHBOURS_REPLACE)), 1, z, 2);
		for (int j = 0; j < 2; j++)
			z[j] = z[j] > 2 ? 2 : z[j] < -2 ? -2 : z[j];
		seen[5 * (z[0] + 2) + z[1] + 2]++;
	}
	laplace_law(ratio_of(2), 2, single);
	for (int i = 0; i < 25; i++)
		law[i] = single[i / 5] * single[i % 5];
	CHECK(counts_fit_p(seen, law, 25, DRAWS) > P_MIN);
}

/*
 * A row that is replaced moves from one cell to another: the likelihood of any
 * noisy counts changes by at most a factor of exp(epsilon), and by exactly that
 * for some.
 */
TEST(neighbours_are_within_epsilon)
{
	static const double epsilons[] = {1e-6, 0.1, 1, 1.0 / 3, 5};

	for (size_t i = 0; i < sizeof(epsilons) / sizeof(epsilons[0]); i++)
	{
		double		step = -log(ratio_of(epsilons[i]));
		double		worst = 0;

		for (int a = -3; a <= 3; a++)
			for (int b = -3; b <= 3; b++)
				worst = fmax(worst, step * (abs(a - 1) - abs(a) + abs(b + 1) - abs(b)));
		CHECK(worst <= epsilons[i] * (1 + 1e-9));
		CHECK(worst > epsilons[i] - 0x1p-20 - 1e-9);
	}
}

/*
 * A row that is removed leaves a single cell, so half of the noise is enough.
 */
TEST(removed_rows_are_within_epsilon)
{
	static const double epsilons[] = {1e-6, 0.1, 1, 1.0 / 3, 5};

	for (size_t i = 0; i < sizeof(epsilons) / sizeof(epsilons[0]); i++)
	{
		double		step = (double) dperm_selection_budget(epsilons[i], DPERM_NEIGHBOURS_REMOVE) / 0x1p20 / 2;
		double		worst = 0;

		for (int a = -3; a <= 3; a++)
			worst = fmax(worst, step * abs(abs(a - 1) - abs(a)));
		CHECK(worst <= epsilons[i] * (1 + 1e-9));
		CHECK(worst > epsilons[i] - 0x1p-20 - 1e-9);
	}

	/* and the law is that of twice the epsilon */
	CHECK(dperm_metrics_variance(test_laplace(dperm_selection_budget(0.5, DPERM_NEIGHBOURS_REMOVE)), 1) ==
		  dperm_metrics_variance(test_laplace(dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE)), 1));
}

/*
 * Counts in parts of a person: the same law with that many times the scale,
 * grouped into cells of equal width.
 */
TEST(noise_of_persons_has_its_law)
{
	static const uint64_t parts[] = {2, 7, DPERM_PERSON_PARTS};
	static const double epsilons[] = {0.3, 1, 4};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 11);
	for (int i = 0; i < 9; i++)
	{
		uint64_t	whole = parts[i / 3];
		double		epsilon = epsilons[i % 3];
		double		step = (double) dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) / 0x1p21 / (double) whole;
		int64_t		width = whole < 100 ? 1 : (int64_t) (whole / 4);
		int			reach = 2 + (int) (16 / epsilon / (double) width * (double) whole);
		int64_t		seen[CELLS_MAX] = {0};
		double		law[CELLS_MAX];

		CHECK(2 * reach + 1 <= CELLS_MAX);
		for (int k = 0; k < DRAWS; k++)
		{
			int64_t		z = 5;
			int64_t		cell;

			dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE)), whole, &z, 1);
			z -= 5;

			/* cells are 0; 1 to width; and so on, on both sides */
			cell = z >= 0 ? (z + width - 1) / width : -((-z + width - 1) / width);
			seen[(cell > reach ? reach : cell < -reach ? -reach : cell) + reach]++;
		}
		for (int k = 0; k <= reach; k++)
		{
			/* P(|z| > j) on one side is q^(j+1)/(1+q) */
			double		above = exp(-step * (double) (k == 0 ? 0 : (k - 1) * width + 1));
			double		beyond = k == reach ? 0 : exp(-step * (double) (k * width + 1));

			law[reach + k] = law[reach - k] = (above - beyond) / (1 + exp(-step));
		}
		law[reach] = -expm1(-step) / (1 + exp(-step));
		CHECK(counts_fit_p(seen, law, 2 * reach + 1, DRAWS) > P_MIN);
	}
	CHECK(e.status == DPERM_OK);
}

#define PERSON_CELLS 3

/*
 * The next way to divide at most that many parts among cells; false after the
 * last.
 */
static bool
next_division(int *cells, int parts)
{
	for (int i = 0; i < PERSON_CELLS; i++)
	{
		int			sum = 0;

		cells[i]++;
		for (int j = 0; j < PERSON_CELLS; j++)
			sum += cells[j];
		if (sum <= parts)
			return true;
		cells[i] = 0;
	}
	return false;
}

/* The largest privacy loss of noisy counts when one person replaces another. */
static double
worst_between(const int *ours, const int *theirs, double step)
{
	double		worst = 0;

	for (int i = 0; i < PERSON_CELLS; i++)
	{
		double		most = 0;

		for (int z = -1; z <= 200; z++)
			most = fmax(most, step * (abs(z - theirs[i]) - abs(z - ours[i])));
		worst += most;
	}
	return worst;
}

/*
 * All persons against all others, and against none: within epsilon, and exactly
 * epsilon for some. A person whose rows each count for one would exceed it.
 */
TEST(persons_are_within_epsilon)
{
	enum
	{
		PARTS = 4
	};
	static const double epsilons[] = {1e-6, 0.1, 1.0 / 3, 5};

	for (int i = 0; i < 4; i++)
		for (int neighbours = 0; neighbours < 2; neighbours++)
		{
			double		budget = (double) dperm_selection_budget(epsilons[i], (DpermNeighbours) neighbours) / 0x1p20;
			int			ours[PERSON_CELLS] = {0};
			int			rows[PERSON_CELLS] = {50 * PARTS, 0, 0};
			int			none[PERSON_CELLS] = {0};
			double		worst = 0;

			do
			{
				int			theirs[PERSON_CELLS] = {0};

				do
				{
					worst = fmax(worst, worst_between(ours, theirs, budget / 2 / PARTS));
				} while (neighbours == DPERM_NEIGHBOURS_REPLACE && next_division(theirs, PARTS));
			} while (next_division(ours, PARTS));
			CHECK(worst <= epsilons[i] * (1 + 1e-9));
			CHECK(worst > epsilons[i] - 0x1p-20 - 1e-9);
			CHECK(worst_between(rows, none, budget / 2 / PARTS) > epsilons[i]);
		}
}

/* In whole persons: variance, intervals and metrics. */
TEST(persons_are_shown_whole)
{
	static const int64_t rows[DPERM_CELLS] = {30, 20, 10, 40};
	TestRandom	state = 12;
	int64_t		persons[DPERM_CELLS];

	for (int i = 0; i < DPERM_CELLS; i++)
		persons[i] = rows[i] * (int64_t) DPERM_PERSON_PARTS;
	for (int m = 0; m < DPERM_METRIC_MACRO_F1; m++)
	{
		DpermEstimate a = dperm_metrics_of_counts((DpermMetricKind) m, 2, 1, rows, 1, 7);
		DpermEstimate b = dperm_metrics_of_counts((DpermMetricKind) m, 2, 1, persons, DPERM_PERSON_PARTS, 7);

		CHECK(a.value == b.value && a.low == b.low && a.high == b.high);
	}
	CHECK(dperm_metrics_count(3 << 19, test_laplace(0), DPERM_PERSON_PARTS).value == 1.5);
	for (int i = 0; i < 2000; i++)
	{
		uint64_t	budget = dperm_selection_budget(pow(10, -6 + 9 * test_uniform(&state)), DPERM_NEIGHBOURS_REPLACE);
		uint64_t	parts = i % 2 ? DPERM_PERSON_PARTS : 1 + (uint64_t) test_below(&state, 1000);
		DpermEstimate at = dperm_metrics_count(-17, test_laplace(budget), parts);
		long double log_q = -(long double) budget / 0x1p21L / parts;
		double		reach = rint((at.high - at.value) * (double) parts);
		long double q = expl(log_q);

		CHECK(at.value == -17 / (double) parts);
		CHECK_NEAR(at.value - at.low, at.high - at.value, 1e-9 * fabs(at.value) + 1e-12);
		CHECK(2 * expl(log_q * (reach + 1)) / (1 + q) <= 0.05L + 1e-9L);
		CHECK(reach == 0 || 2 * expl(log_q * reach) / (1 + q) > 0.05L - 1e-9L);
		CHECK_NEAR(dperm_metrics_variance(test_laplace(budget), parts) * (double) parts * (double) parts,
				   (double) (2 * q / (expm1l(log_q) * expm1l(log_q))), 1e-9 * (double) (2 * q / (expm1l(log_q) * expm1l(log_q))));
	}
	CHECK(dperm_metrics_variance(test_laplace(0), DPERM_PERSON_PARTS) == 0);

	/* about that of the Laplace law with scale 2/epsilon */
	CHECK_NEAR(dperm_metrics_variance(test_laplace(dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE)), DPERM_PERSON_PARTS), 8, 1e-9);
}

TEST(infinite_epsilon_adds_nothing)
{
	int64_t		counts[3] = {1, 0, -7};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 4);
	dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(INFINITY, DPERM_NEIGHBOURS_REPLACE)), 1, counts, 3);
	CHECK(counts[0] == 1 && counts[1] == 0 && counts[2] == -7 && e.left == 0);
	CHECK(dperm_metrics_variance(test_laplace(0), 1) == 0);

	/* and a random source that fails ends it, whatever the scale */
	source.fail_at = 0;
	dperm_counts_add_noise(&e, test_laplace(1), 1, counts, 3);
	CHECK(e.status != DPERM_OK);
	dperm_counts_add_noise(&e, test_laplace(UINT64_C(1) << 40), 1, counts, 3);
	CHECK(e.status != DPERM_OK);
}

TEST(variance_is_that_of_the_law)
{
	static const double epsilons[] = {0.01, 0.1, 1.0 / 3, 1, 2.5, 8, 30};
	TestEntropy source;
	DpermEntropy e;
	double		sum = 0;

	for (size_t i = 0; i < sizeof(epsilons) / sizeof(epsilons[0]); i++)
	{
		double		q = ratio_of(epsilons[i]);
		double		variance = 0;

		for (int k = 1; k < 100000 && pow(q, k) > 0; k++)
			variance += 2.0 * k * k * (1 - q) / (1 + q) * pow(q, k);
		CHECK_NEAR(dperm_metrics_variance(test_laplace(dperm_selection_budget(epsilons[i], DPERM_NEIGHBOURS_REPLACE)), 1) / variance, 1, 1e-9);
	}

	/* the smallest epsilon: nearly 2 scale^2 */
	CHECK_NEAR(dperm_metrics_variance(test_laplace(1), 1) / (2 * 0x1p42), 1, 1e-6);
	CHECK(dperm_metrics_variance(test_laplace(UINT64_C(1) << 40), 1) == 0);

	test_entropy_init(&e, &source, 5);
	for (int k = 0; k < DRAWS; k++)
	{
		int64_t		z = 0;

		dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(0.3, DPERM_NEIGHBOURS_REPLACE)), 1, &z, 1);
		sum += (double) (z * z);
	}
	CHECK_NEAR(sum / DRAWS / dperm_metrics_variance(test_laplace(dperm_selection_budget(0.3, DPERM_NEIGHBOURS_REPLACE)), 1), 1, 0.03);
}

/*
 * The interval of a count contains the true one in 95 percent of all draws, and
 * is no wider than that requires.
 */
TEST(count_interval_is_exact)
{
	TestRandom	state = 6;

	for (int i = 0; i < 20000; i++)
	{
		double		epsilon = pow(10, -6 + 9 * test_uniform(&state));
		uint64_t	budget = i == 0 ? 1 : i == 1 ? UINT64_C(1) << 40 : dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE);
		DpermEstimate at = dperm_metrics_count(-17, test_laplace(budget), 1);
		long double log_q = -(long double) budget / 0x1p21L;
		long double q = expl(log_q);
		double		reach = at.high + 17;
		long double miss = 2 * expl(log_q * (reach + 1)) / (1 + q);
		long double less = 2 * expl(log_q * reach) / (1 + q);

		CHECK(at.value == -17 && at.low == -17 - reach && reach >= 0 && reach == floor(reach));
		CHECK(miss <= 0.05L + 1e-12L);
		CHECK(reach == 0 || less > 0.05L - 1e-12L);
	}
	CHECK(dperm_metrics_count(5, test_laplace(0), 1).low == 5 && dperm_metrics_count(5, test_laplace(0), 1).high == 5);

	/*
	 * epsilon 1: q = 0.607, and 2 q^7/(1 + q) is below 0.05 for the first time
	 */
	CHECK(dperm_metrics_count(100, test_laplace(dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE)), 1).low == 94);
	CHECK(dperm_metrics_count(100, test_laplace(dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE)), 1).high == 106);
}

TEST(cells_of_decisions)
{
	static const double negative[] = {0.0, -0.0, -0x1p-1074, -1, -1e300, -INFINITY, NAN};
	static const double positive[] = {0x1p-1074, 1e-300, 1, 1e300, INFINITY};

	for (size_t i = 0; i < sizeof(negative) / sizeof(double); i++)
	{
		CHECK(dperm_counts_cell(0, negative[i], 1, 0) == DPERM_FALSE_NEGATIVE);
		CHECK(dperm_counts_cell(0, negative[i], -1, 0) == DPERM_TRUE_NEGATIVE);
	}
	for (size_t i = 0; i < sizeof(positive) / sizeof(double); i++)
	{
		CHECK(dperm_counts_cell(0, positive[i], 1, 0) == DPERM_TRUE_POSITIVE);
		CHECK(dperm_counts_cell(0, positive[i], -1, 0) == DPERM_FALSE_POSITIVE);
	}
}

/* Rows of the first class come first, and each of them by its decision. */
TEST(cells_of_several)
{
	int			next = 0;

	for (int label = 1; label <= 5; label++)
		for (int decided = 1; decided <= 5; decided++)
			CHECK(dperm_counts_cell(5, decided, label, 0) == next++);

	/* in a histogram, the first class is the positive one */
	CHECK(dperm_counts_cell(5, 1e9, 1, 10) == 9);
	CHECK(dperm_counts_cell(5, -1e9, 1, 10) == 0);
	CHECK(dperm_counts_cell(5, 1e9, 2, 10) == 19);
	CHECK(dperm_counts_cell(5, -1e9, 5, 10) == 10);
}

/*
 * Bins lie between the thresholds that dp_roc shows, and the classes are
 * separate.
 */
TEST(bins_of_decisions)
{
	for (int bins = 1; bins <= 1000; bins += bins < 10 ? 1 : 99)
	{
		for (int i = 0; i < bins; i++)
		{
			double		middle = tan(acos(-1.0) * ((i + 0.5) / bins - 0.5));
			double		low = tan(acos(-1.0) * ((double) i / bins - 0.5));

			CHECK(dperm_counts_cell(0, middle, 1, bins) == i);
			CHECK(dperm_counts_cell(0, middle, -1, bins) == bins + i);
			if (i > 0)
			{
				CHECK(dperm_counts_cell(0, low + 1e-9 * (1 + low * low), 1, bins) == i);
				CHECK(dperm_counts_cell(0, low - 1e-9 * (1 + low * low), 1, bins) == i - 1);
			}
		}
		CHECK(dperm_counts_cell(0, INFINITY, 1, bins) == bins - 1);
		CHECK(dperm_counts_cell(0, INFINITY, -1, bins) == 2 * bins - 1);
		CHECK(dperm_counts_cell(0, -INFINITY, 1, bins) == 0);
		CHECK(dperm_counts_cell(0, NAN, 1, bins) == 0);
		CHECK(dperm_counts_cell(0, NAN, -1, bins) == bins);
	}
}
