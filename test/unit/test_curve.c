/*
 * test_curve.c: the area under a ROC curve, its interval, and the number of
 * bins.
 */
#include "unit/test.h"

#include <string.h>

#include "core/base/core.h"
#include "core/metrics/metrics.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"

#define BINS_MAX 120

/* The area of counts that may be negative. */
static double
area_of(const int64_t *positive, const int64_t *negative, int bins)
{
	double		p[BINS_MAX],
				n[BINS_MAX];

	dperm_metrics_settle(positive, bins, 1, p);
	dperm_metrics_settle(negative, bins, 1, n);
	return dperm_metrics_area(p, n, bins, 0).value;
}

/*
 * Pairs of a positive and a negative row in the right order; ties count half.
 */
static double
brute_area(const double *positive, const double *negative, int bins)
{
	double		right = 0,
				pairs = 0;

	for (int i = 0; i < bins; i++)
		for (int j = 0; j < bins; j++)
		{
			double		both = positive[i] * negative[j];

			pairs += both;
			right += both * (i > j ? 1 : i == j ? 0.5 : 0);
		}
	return right / pairs;
}

TEST(area_is_mann_whitney)
{
	TestRandom	state = 9;

	for (int round = 0; round < 2000; round++)
	{
		double		positive[50];
		double		negative[50];
		int			bins = 2 + test_below(&state, 49);

		for (int i = 0; i < bins; i++)
		{
			positive[i] = fmax(0, test_below(&state, 40) - 10);
			negative[i] = fmax(0, test_below(&state, 40) - 10);
		}
		positive[0] += 1;
		negative[bins - 1] += 1;
		CHECK_NEAR(dperm_metrics_area(positive, negative, bins, 0).value,
				   brute_area(positive, negative, bins), 1e-12);
	}
}

TEST(area_at_its_ends)
{
	static const int64_t low[3] = {5, 2, 0};
	static const int64_t high[3] = {0, 0, 9};
	static const int64_t none[3] = {0, -4, 0};
	static const int64_t huge[3] = {INT64_MAX, INT64_MAX, INT64_MIN};
	double		p[3] = {0, 0, 9},
				n[3] = {5, 2, 0};
	DpermEstimate at = dperm_metrics_area(p, n, 3, 0);

	CHECK(area_of(high, low, 3) == 1);
	CHECK(area_of(low, high, 3) == 0);
	CHECK(area_of(low, low, 3) == 0.5);
	CHECK(isnan(area_of(none, low, 3)));
	CHECK(isnan(area_of(low, none, 3)));
	CHECK(area_of(huge, low, 3) >= 0 && area_of(low, huge, 3) <= 1);

	/* all pairs of a few rows are not all pairs there could be */
	CHECK(at.value == 1 && at.high == 1 && at.low > 0.6 && at.low < 0.95);
	at = dperm_metrics_area(p, n, 3, 1e30);
	CHECK(at.low == 0 && at.high == 1);
	memset(p, 0, sizeof(p));
	at = dperm_metrics_area(p, n, 3, 8);
	CHECK(isnan(at.value) && at.low == 0 && at.high == 1);
}

/*
 * Settled counts keep their sum, and all that remain positive have lost the
 * same amount: no other counts are nearer.
 */
TEST(settled_counts_are_the_nearest)
{
	TestRandom	state = 3;

	for (int round = 0; round < 3000; round++)
	{
		int64_t		counts[60];
		double		out[60];
		double		total = 0,
					sum = 0,
					lost = -1;
		uint64_t	parts = test_below(&state, 2) ? 1 : DPERM_PERSON_PARTS;
		int			bins = 2 + test_below(&state, 59);

		for (int i = 0; i < bins; i++)
			total += (double) (counts[i] = (int64_t) (test_below(&state, 50) - 20) * (int64_t) parts);
		total /= (double) parts;
		dperm_metrics_settle(counts, bins, parts, out);
		for (int i = 0; i < bins; i++)
			if (out[i] > 0)
				lost = (double) counts[i] / (double) parts - out[i];
		for (int i = 0; i < bins; i++)
		{
			double		was = (double) counts[i] / (double) parts;

			sum += out[i];
			CHECK(out[i] >= 0);
			if (out[i] > 0)
				CHECK_NEAR(was - out[i], lost, 1e-9);
			else if (total > 0)
				CHECK(was <= lost + 1e-9);
		}
		CHECK_NEAR(sum, fmax(0, total), 1e-9);
	}
}

/* The width by numerical derivatives, with and without noise. */
TEST(interval_follows_the_delta_method)
{
	TestRandom	state = 7;

	for (int round = 0; round < 300; round++)
	{
		double		cells[2][20],
					more[2][20];
		int			bins = 2 + test_below(&state, 19);
		double		noise = test_below(&state, 2) ? 0 : 100 * test_uniform(&state);
		double		variance = 0;
		DpermEstimate at;

		for (int c = 0; c < 2; c++)
			for (int i = 0; i < bins; i++)
				more[c][i] = 1.0 / bins + (cells[c][i] = 300 + test_below(&state, 1000));
		at = dperm_metrics_area(cells[0], cells[1], bins, noise);
		for (int c = 0; c < 2; c++)
			for (int i = 0; i < bins; i++)
			{
				double		kept = more[c][i];
				double		slope;

				more[c][i] = kept + 1e-2;
				slope = brute_area(more[0], more[1], bins);
				more[c][i] = kept - 1e-2;
				slope = (slope - brute_area(more[0], more[1], bins)) / 2e-2;
				more[c][i] = kept;
				variance += slope * slope * (kept + noise);
			}
		CHECK_NEAR((at.low + at.high) / 2, brute_area(more[0], more[1], bins), 1e-9);
		CHECK_NEAR((at.high - at.low) / 2 / (1.959964 * sqrt(variance)), 1, 1e-5);
	}
}

/* A decision of a class with that mean: normal, which noise is not. */
static double
draw_decision(TestRandom *state, double mean)
{
	return mean + sqrt(-2 * log(1 - test_uniform(state))) * cos(2 * acos(-1.0) * test_uniform(state));
}

/*
 * The area under the curve with that many bins, over all rows there could be.
 */
static double
true_area(double mean, int bins)
{
	double		positive[BINS_MAX],
				negative[BINS_MAX],
				last[2] = {0, 0};

	for (int i = 0; i < bins; i++)
	{
		double		edge = i == bins - 1 ? INFINITY : tan(acos(-1.0) * ((i + 1.0) / bins - 0.5));
		double		p = erfc((mean - edge) / sqrt(2)) / 2,
					n = erfc((-mean - edge) / sqrt(2)) / 2;

		positive[i] = p - last[0];
		negative[i] = n - last[1];
		last[0] = p;
		last[1] = n;
	}
	return brute_area(positive, negative, bins);
}

/*
 * Intervals from samples of rows, with noise, contain the area of the bins, and
 * that without bins, about 95 times in 100.
 */
static void
check_coverage(double epsilon, int rows, double mean, uint64_t seed)
{
	enum
	{
		SAMPLES = 1500
	};
	TestRandom	state = seed;
	TestEntropy source;
	DpermEntropy e;
	uint64_t	budget = dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE);
	int			bins = dperm_metrics_bins(budget, rows);
	double		truth = true_area(mean, bins),
				exact = erfc(-mean) / 2;	/* of the difference of two normal variables */
	double		held = 0,
				held_exact = 0;

	test_entropy_init(&e, &source, seed);
	for (int k = 0; k < SAMPLES; k++)
	{
		int64_t		counts[2 * BINS_MAX] = {0};
		double		settled[2 * BINS_MAX];
		DpermEstimate at;

		for (int i = 0; i < rows; i++)
		{
			bool		positive = test_uniform(&state) < 0.3;

			counts[dperm_counts_cell(0, draw_decision(&state, positive ? mean : -mean), positive ? 1 : -1,
									 bins)]++;
		}
		dperm_counts_add_noise(&e, test_laplace(budget), 1, counts, 2 * bins);
		dperm_metrics_settle(counts, bins, 1, settled);
		dperm_metrics_settle(counts + bins, bins, 1, settled + bins);
		at = dperm_metrics_area(settled, settled + bins, bins, dperm_metrics_variance(test_laplace(budget), 1));
		held += at.low <= truth && truth <= at.high;
		held_exact += at.low <= exact && exact <= at.high;
	}
	if (held / SAMPLES < 0.93)
		fprintf(stderr, "epsilon %g, %d rows, %d bins: %.4f held %.3f, %.4f held %.3f\n", epsilon,
				rows, bins, truth, held / SAMPLES, exact, held_exact / SAMPLES);
	CHECK(held / SAMPLES > 0.93 && held_exact / SAMPLES > 0.92);
	if (epsilon * rows > 1000)
		CHECK(held / SAMPLES < 0.985);
}

TEST(intervals_cover)
{
	check_coverage(INFINITY, 400, 0.5, 1);
	check_coverage(20, 400, 1, 2);
	check_coverage(1, 400, 0.5, 3);
	check_coverage(1, 2000, 1, 4);
	check_coverage(0.2, 2000, 0.5, 5);
	check_coverage(0.05, 2000, 1, 6);	/* mostly noise */
}

TEST(bins_follow_rows_and_epsilon)
{
	/*
	 * smallest error of the area on Adult: 6 for n epsilon = 100, 20 for 2000,
	 * 40 for 10^4, 60 to 84 for 5 * 10^4
	 */
	static const struct
	{
		double		epsilon;
		int64_t		rows;
		int			bins;
	}			some[] = {{1, 0, 4}, {0.05, 500, 4}, {0.05, 2000, 8}, {0.05, 48842, 24}, {1, 2000, 24},
		{1, 9768, 40}, {0.2, 48842, 40}, {1, 48842, 84}, {1, 1000000, 120}, {INFINITY, 0, 120}};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		CHECK(dperm_metrics_bins(dperm_selection_budget(some[i].epsilon, DPERM_NEIGHBOURS_REPLACE), some[i].rows) == some[i].bins);
	CHECK(dperm_metrics_bins(dperm_selection_budget(0.5, DPERM_NEIGHBOURS_REMOVE), 2000) == 24);
	for (int64_t n = 1; n <= DPERM_ROWS_MAX; n += 1 + n / 7)
	{
		int			bins = dperm_metrics_bins(1 << 17, n);

		CHECK(bins >= 4 && bins <= BINS_MAX && DPERM_COUNTS_FINE % bins == 0 && bins % 2 == 0);
		CHECK(bins >= dperm_metrics_bins(1 << 17, n - 1) && bins <= dperm_metrics_bins(1 << 18, n));
	}
}

/* Fine bins that are merged give the counts of coarse ones. */
TEST(merged_bins_are_coarse_bins)
{
	TestRandom	state = 5;

	for (int bins = 4; bins <= BINS_MAX; bins++)
	{
		int64_t		fine[2 * DPERM_COUNTS_FINE] = {0},
					coarse[2 * BINS_MAX] = {0};

		if (DPERM_COUNTS_FINE % bins != 0)
			continue;
		for (int i = 0; i < 3000; i++)
		{
			double		decision = tan(acos(-1.0) * (test_uniform(&state) - 0.5));
			bool		positive = test_below(&state, 2) == 0;

			fine[dperm_counts_cell(0, decision, positive ? 1 : -1, DPERM_COUNTS_FINE)]++;
			coarse[dperm_counts_cell(0, decision, positive ? 1 : -1, bins)]++;
		}
		dperm_counts_merge(fine, bins);
		CHECK(memcmp(fine, coarse, sizeof(int64_t) * 2 * (size_t) bins) == 0);
	}
}
