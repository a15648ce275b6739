/*
 * test_counts.c: noisy counts against their exact law, and what is computed
 * from them.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/privacy/counts.h"
#include "core/privacy/person.h"
#include "core/privacy/selection.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */
#define DRAWS 100000
#define CELLS_MAX 801

/* The ratio of neighbouring probabilities of the noise. */
static double
ratio_of(double epsilon)
{
	return exp(-(double) dperm_selection_budget(epsilon) / 0x1p20 / 2);
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

			dperm_counts_add_noise(&e, dperm_selection_budget(epsilons[i]), 1, counts, 4);
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
	CHECK(dperm_entropy_ok(&e));
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

		dperm_counts_add_noise(&e, dperm_selection_budget(1), 1, &z, 1);
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

		dperm_counts_add_noise(&e, dperm_selection_budget(2), 1, z, 2);
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
		double		step = (double) dperm_selection_budget_for(epsilons[i], DPERM_NEIGHBOURS_REMOVE) / 0x1p20 / 2;
		double		worst = 0;

		for (int a = -3; a <= 3; a++)
			worst = fmax(worst, step * abs(abs(a - 1) - abs(a)));
		CHECK(worst <= epsilons[i] * (1 + 1e-9));
		CHECK(worst > epsilons[i] - 0x1p-20 - 1e-9);
	}

	/* and the law is that of twice the epsilon */
	CHECK(dperm_counts_variance(dperm_selection_budget_for(0.5, DPERM_NEIGHBOURS_REMOVE), 1) ==
		  dperm_counts_variance(dperm_selection_budget(1), 1));
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
		double		step = (double) dperm_selection_budget(epsilon) / 0x1p21 / (double) whole;
		int64_t		width = whole < 100 ? 1 : (int64_t) (whole / 4);
		int			reach = 2 + (int) (16 / epsilon / (double) width * (double) whole);
		int64_t		seen[CELLS_MAX] = {0};
		double		law[CELLS_MAX];

		CHECK(2 * reach + 1 <= CELLS_MAX);
		for (int k = 0; k < DRAWS; k++)
		{
			int64_t		z = 5;
			int64_t		cell;

			dperm_counts_add_noise(&e, dperm_selection_budget(epsilon), whole, &z, 1);
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
	CHECK(dperm_entropy_ok(&e));
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
			double		budget = (double) dperm_selection_budget_for(epsilons[i], (DpermNeighbours) neighbours) / 0x1p20;
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
	static const int64_t rows[DPERM_CELLS] = {30, 10, 20, 40};
	TestRandom	state = 12;
	int64_t		persons[DPERM_CELLS];

	for (int i = 0; i < DPERM_CELLS; i++)
		persons[i] = rows[i] * (int64_t) DPERM_PERSON_PARTS;
	for (int m = 0; m < DPERM_METRICS; m++)
	{
		DpermEstimate a = dperm_counts_metric((DpermMetric) m, rows, 1, 7);
		DpermEstimate b = dperm_counts_metric((DpermMetric) m, persons, DPERM_PERSON_PARTS, 7);

		CHECK(a.value == b.value && a.low == b.low && a.high == b.high);
	}
	CHECK(dperm_counts_estimate(3 << 19, 0, DPERM_PERSON_PARTS).value == 1.5);
	for (int i = 0; i < 2000; i++)
	{
		uint64_t	budget = dperm_selection_budget(pow(10, -6 + 9 * test_uniform(&state)));
		uint64_t	parts = i % 2 ? DPERM_PERSON_PARTS : 1 + (uint64_t) test_below(&state, 1000);
		DpermEstimate at = dperm_counts_estimate(-17, budget, parts);
		long double log_q = -(long double) budget / 0x1p21L / parts;
		double		reach = rint((at.high - at.value) * (double) parts);
		long double q = expl(log_q);

		CHECK(at.value == -17 / (double) parts);
		CHECK_NEAR(at.value - at.low, at.high - at.value, 1e-9 * fabs(at.value) + 1e-12);
		CHECK(2 * expl(log_q * (reach + 1)) / (1 + q) <= 0.05L + 1e-9L);
		CHECK(reach == 0 || 2 * expl(log_q * reach) / (1 + q) > 0.05L - 1e-9L);
		CHECK_NEAR(dperm_counts_variance(budget, parts) * (double) parts * (double) parts,
				   (double) (2 * q / (expm1l(log_q) * expm1l(log_q))), 1e-9 * (double) (2 * q / (expm1l(log_q) * expm1l(log_q))));
	}
	CHECK(dperm_counts_variance(0, DPERM_PERSON_PARTS) == 0);

	/* about that of the Laplace law with scale 2/epsilon */
	CHECK_NEAR(dperm_counts_variance(dperm_selection_budget(1), DPERM_PERSON_PARTS), 8, 1e-9);
}

TEST(infinite_epsilon_adds_nothing)
{
	int64_t		counts[3] = {1, 0, -7};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 4);
	dperm_counts_add_noise(&e, dperm_selection_budget(INFINITY), 1, counts, 3);
	CHECK(counts[0] == 1 && counts[1] == 0 && counts[2] == -7 && e.left == 0);
	CHECK(dperm_counts_variance(0, 1) == 0);

	/* and a random source that fails ends it, whatever the scale */
	source.fail_at = 0;
	dperm_counts_add_noise(&e, 1, 1, counts, 3);
	CHECK(!dperm_entropy_ok(&e));
	dperm_counts_add_noise(&e, UINT64_C(1) << 40, 1, counts, 3);
	CHECK(!dperm_entropy_ok(&e));
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
		CHECK_NEAR(dperm_counts_variance(dperm_selection_budget(epsilons[i]), 1) / variance, 1, 1e-9);
	}

	/* the smallest epsilon: nearly 2 scale^2 */
	CHECK_NEAR(dperm_counts_variance(1, 1) / (2 * 0x1p42), 1, 1e-6);
	CHECK(dperm_counts_variance(UINT64_C(1) << 40, 1) == 0);

	test_entropy_init(&e, &source, 5);
	for (int k = 0; k < DRAWS; k++)
	{
		int64_t		z = 0;

		dperm_counts_add_noise(&e, dperm_selection_budget(0.3), 1, &z, 1);
		sum += (double) (z * z);
	}
	CHECK_NEAR(sum / DRAWS / dperm_counts_variance(dperm_selection_budget(0.3), 1), 1, 0.03);
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
		uint64_t	budget = i == 0 ? 1 : i == 1 ? UINT64_C(1) << 40 : dperm_selection_budget(epsilon);
		DpermEstimate at = dperm_counts_estimate(-17, budget, 1);
		long double log_q = -(long double) budget / 0x1p21L;
		long double q = expl(log_q);
		double		reach = at.high + 17;
		long double miss = 2 * expl(log_q * (reach + 1)) / (1 + q);
		long double less = 2 * expl(log_q * reach) / (1 + q);

		CHECK(at.value == -17 && at.low == -17 - reach && reach >= 0 && reach == floor(reach));
		CHECK(miss <= 0.05L + 1e-12L);
		CHECK(reach == 0 || less > 0.05L - 1e-12L);
	}
	CHECK(dperm_counts_estimate(5, 0, 1).low == 5 && dperm_counts_estimate(5, 0, 1).high == 5);

	/*
	 * epsilon 1: q = 0.607, and 2 q^7/(1 + q) is below 0.05 for the first time
	 */
	CHECK(dperm_counts_estimate(100, dperm_selection_budget(1), 1).low == 94);
	CHECK(dperm_counts_estimate(100, dperm_selection_budget(1), 1).high == 106);
}

/* A metric by its definition, of any numbers. */
static double
metric_of(DpermMetric metric, const double *c)
{
	double		tp = c[DPERM_TRUE_POSITIVE],
				fp = c[DPERM_FALSE_POSITIVE],
				fn = c[DPERM_FALSE_NEGATIVE],
				tn = c[DPERM_TRUE_NEGATIVE];

	switch (metric)
	{
		case DPERM_METRIC_ACCURACY:
			return (tp + tn) / (tp + fp + fn + tn);
		case DPERM_METRIC_ERROR:
			return (fp + fn) / (tp + fp + fn + tn);
		case DPERM_METRIC_PRECISION:
			return tp / (tp + fp);
		case DPERM_METRIC_RECALL:
			return tp / (tp + fn);
		default:
			return 2 * tp / (2 * tp + fp + fn);
	}
}

TEST(metrics_by_hand)
{
	static const int64_t counts[DPERM_CELLS] = {30, 10, 20, 40};
	static const double values[] = {0.7, 0.3, 0.75, 0.6, 2.0 / 3};

	/*
	 * with one more in every cell; without noise, the textbook formula p (1 -
	 * p)/n of the rows that matter
	 */
	static const double centres[] = {72.0 / 104, 32.0 / 104, 31.0 / 42, 31.0 / 52};
	static const double sizes[] = {104, 104, 42, 52};

	for (int i = 0; i < DPERM_METRICS; i++)
	{
		DpermEstimate at = dperm_counts_metric((DpermMetric) i, counts, 1, 0);

		CHECK_NEAR(at.value, values[i], 1e-15);
		if (i < DPERM_METRIC_F1)
		{
			double		half = 1.959964 * sqrt(centres[i] * (1 - centres[i]) / sizes[i]);

			CHECK_NEAR(at.high, centres[i] + half, 1e-7);
			CHECK_NEAR(at.low, centres[i] - half, 1e-7);
		}
	}
	CHECK_TEXT(dperm_counts_metric_name(DPERM_METRIC_ACCURACY), "accuracy");
	CHECK_TEXT(dperm_counts_metric_name(DPERM_METRIC_ERROR), "error");
	CHECK_TEXT(dperm_counts_metric_name(DPERM_METRIC_PRECISION), "precision");
	CHECK_TEXT(dperm_counts_metric_name(DPERM_METRIC_RECALL), "recall");
	CHECK_TEXT(dperm_counts_metric_name(DPERM_METRIC_F1), "f1");
}

/* The width by numerical derivatives, for any cells, with and without noise. */
TEST(intervals_follow_the_delta_method)
{
	TestRandom	state = 7;

	for (int round = 0; round < 2000; round++)
	{
		int64_t		counts[DPERM_CELLS];
		double		cells[DPERM_CELLS];
		double		total = 0;
		double		noise = test_below(&state, 2) ? 0 : 100 * test_uniform(&state);

		for (int i = 0; i < DPERM_CELLS; i++)
			total += cells[i] = 1 + (double) (counts[i] = 200 + test_below(&state, 1000));
		for (int m = 0; m < DPERM_METRICS; m++)
		{
			DpermEstimate at = dperm_counts_metric((DpermMetric) m, counts, 1, noise);
			double		variance = 0,
						mean = 0;

			for (int i = 0; i < DPERM_CELLS; i++)
			{
				double		kept = cells[i];
				double		slope;

				cells[i] = kept + 1e-3;
				slope = metric_of((DpermMetric) m, cells);
				cells[i] = kept - 1e-3;
				slope = (slope - metric_of((DpermMetric) m, cells)) / 2e-3;
				cells[i] = kept;
				variance += slope * slope * (kept + noise);
				mean += slope * kept;
			}
			variance -= mean * mean / total;
			CHECK_NEAR((at.low + at.high) / 2, metric_of((DpermMetric) m, cells), 1e-9);
			CHECK_NEAR((at.high - at.low) / 2 / (1.959964 * sqrt(variance)), 1, 1e-5);
		}
	}
}

/* All of a few rows does not mean all rows there could be. */
TEST(certainty_needs_rows)
{
	static const int64_t all[DPERM_CELLS] = {10, 0, 0, 10};
	DpermEstimate at = dperm_counts_metric(DPERM_METRIC_ACCURACY, all, 1, 0);

	CHECK(at.value == 1 && at.high == 1 && at.low > 0.7 && at.low < 0.95);
	at = dperm_counts_metric(DPERM_METRIC_ERROR, all, 1, 0);
	CHECK(at.value == 0 && at.low == 0 && at.high > 0.05 && at.high < 0.3);
}

/*
 * Cells that noise made negative count as zero; what cannot be computed is NaN.
 */
TEST(odd_cells)
{
	static const int64_t none[DPERM_CELLS] = {0, 0, 0, 0};
	static const int64_t negative[DPERM_CELLS] = {-3, -10, INT64_MIN, -1};
	static const int64_t no_positives[DPERM_CELLS] = {-5, 0, 0, 40};
	static const int64_t perfect[DPERM_CELLS] = {60, -2, -1, 40};
	static const int64_t huge[DPERM_CELLS] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

	for (int i = 0; i < DPERM_METRICS; i++)
	{
		DpermMetric m = (DpermMetric) i;
		DpermEstimate at = dperm_counts_metric(m, none, 1, 8);

		CHECK(isnan(at.value) && at.low == 0 && at.high == 1);
		at = dperm_counts_metric(m, negative, 1, 8);
		CHECK(isnan(at.value) && at.low == 0 && at.high == 1);
		at = dperm_counts_metric(m, perfect, 1, 8);
		CHECK(at.value == (m == DPERM_METRIC_ERROR ? 0 : 1));
		CHECK(at.low >= 0 && at.high <= 1 && at.high > at.low);
		at = dperm_counts_metric(m, huge, 1, 8);
		CHECK_NEAR(at.value, 0.5, 1e-12);
		CHECK(at.low <= at.value && at.high >= at.value);
	}
	CHECK(dperm_counts_metric(DPERM_METRIC_ACCURACY, no_positives, 1, 8).value == 1);
	CHECK(isnan(dperm_counts_metric(DPERM_METRIC_PRECISION, no_positives, 1, 8).value));
	CHECK(isnan(dperm_counts_metric(DPERM_METRIC_RECALL, no_positives, 1, 8).value));
	CHECK(isnan(dperm_counts_metric(DPERM_METRIC_F1, no_positives, 1, 8).value));
}

/*
 * Intervals from samples of rows, with noise, contain the true metric about 95
 * times in 100.
 */
static void
check_coverage(double epsilon, int rows, const double *law, uint64_t seed)
{
	enum
	{
		SAMPLES = 4000
	};
	TestRandom	state = seed;
	TestEntropy source;
	DpermEntropy e;
	uint64_t	budget = dperm_selection_budget(epsilon);
	int			held[DPERM_METRICS] = {0};

	test_entropy_init(&e, &source, seed);
	for (int k = 0; k < SAMPLES; k++)
	{
		int64_t		counts[DPERM_CELLS] = {0};

		for (int i = 0; i < rows; i++)
		{
			double		u = test_uniform(&state);
			int			cell = 0;

			while (cell < DPERM_CELLS - 1 && u >= law[cell])
				u -= law[cell++];
			counts[cell]++;
		}
		dperm_counts_add_noise(&e, budget, 1, counts, DPERM_CELLS);
		for (int m = 0; m < DPERM_METRICS; m++)
		{
			double		truth = metric_of((DpermMetric) m, law);
			DpermEstimate at = dperm_counts_metric((DpermMetric) m, counts, 1, dperm_counts_variance(budget, 1));

			held[m] += at.low <= truth && truth <= at.high;
		}
	}
	for (int m = 0; m < DPERM_METRICS; m++)
	{
		double		share = (double) held[m] / SAMPLES;

		CHECK(share > 0.93 && share < 0.985);
		if (!(share > 0.93 && share < 0.985))
			fprintf(stderr, "epsilon %g, %d rows, %s: %g\n", epsilon, rows,
					dperm_counts_metric_name((DpermMetric) m), share);
	}
}

TEST(intervals_cover)
{
	static const double even[DPERM_CELLS] = {0.3, 0.2, 0.15, 0.35};
	static const double skewed[DPERM_CELLS] = {0.1, 0.05, 0.05, 0.8};

	check_coverage(INFINITY, 400, even, 1);
	check_coverage(INFINITY, 800, skewed, 2);
	check_coverage(1, 400, even, 3);
	check_coverage(1, 800, skewed, 4);
	check_coverage(0.2, 800, even, 5);	/* as much noise as sampling */
	check_coverage(0.05, 1500, even, 6);	/* mostly noise */
}

TEST(cells_of_decisions)
{
	static const double negative[] = {0.0, -0.0, -0x1p-1074, -1, -1e300, -INFINITY, NAN};
	static const double positive[] = {0x1p-1074, 1e-300, 1, 1e300, INFINITY};

	for (size_t i = 0; i < sizeof(negative) / sizeof(double); i++)
	{
		CHECK(dperm_counts_cell(negative[i], true, 0) == DPERM_FALSE_NEGATIVE);
		CHECK(dperm_counts_cell(negative[i], false, 0) == DPERM_TRUE_NEGATIVE);
	}
	for (size_t i = 0; i < sizeof(positive) / sizeof(double); i++)
	{
		CHECK(dperm_counts_cell(positive[i], true, 0) == DPERM_TRUE_POSITIVE);
		CHECK(dperm_counts_cell(positive[i], false, 0) == DPERM_FALSE_POSITIVE);
	}
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

			CHECK(dperm_counts_cell(middle, true, bins) == i);
			CHECK(dperm_counts_cell(middle, false, bins) == bins + i);
			if (i > 0)
			{
				CHECK(dperm_counts_cell(low + 1e-9 * (1 + low * low), true, bins) == i);
				CHECK(dperm_counts_cell(low - 1e-9 * (1 + low * low), true, bins) == i - 1);
			}
		}
		CHECK(dperm_counts_cell(INFINITY, true, bins) == bins - 1);
		CHECK(dperm_counts_cell(INFINITY, false, bins) == 2 * bins - 1);
		CHECK(dperm_counts_cell(-INFINITY, true, bins) == 0);
		CHECK(dperm_counts_cell(NAN, true, bins) == 0);
		CHECK(dperm_counts_cell(NAN, false, bins) == bins);
	}
}
