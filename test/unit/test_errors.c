/*
 * test_errors.c: sums of errors: how much a unit can move them, their noise,
 * and what is computed from them.
 */
#include "unit/test.h"

#include "core/metrics/metrics.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */
#define PARTS ((int64_t) DPERM_ERRORS_PARTS)

/* Numbers that are hard for a sum: ends, their neighbours, and what no decision should be. */
static const double decisions[] = {-1, 1, 0, -0.0, 0.5, -1.5, 1e300, -1e300, INFINITY, -INFINITY, NAN, 0x1p-1074};

/* Whatever a row holds, it adds at least 0 and at most one to each sum; so do the rows of a person. */
TEST(a_unit_adds_at_most_one)
{
	TestRandom	state = 801;

	for (int round = 0; round < 200000; round++)
	{
		int			rows = 1 + test_below(&state, 9);
		int64_t		sums[DPERM_SUMS] = {0};

		for (int i = 0; i < rows; i++)
		{
			double		label = test_below(&state, 4) ? 2 * test_uniform(&state) - 1 : test_below(&state, 2) ? 1 : -1;
			double		decision = test_below(&state, 2) ? decisions[test_below(&state, 12)] : 6 * test_uniform(&state) - 3;

			dperm_counts_add_errors(decision, label, rows, sums);
		}
		for (int i = 0; i < DPERM_SUMS; i++)
			CHECK(sums[i] >= 0 && sums[i] <= PARTS);
	}
}

/* The bound is reached in every sum. */
TEST(the_bound_is_reached)
{
	int64_t		most[DPERM_SUMS] = {0};

	dperm_counts_add_errors(-1, 1, 1, most);
	for (int i = 0; i < DPERM_SUMS; i++)
		CHECK(most[i] == PARTS);
}

/* Terms are those of the label in its own units, rounded down. */
TEST(sums_are_those_of_errors)
{
	TestRandom	state = 802;

	for (int round = 0; round < 20000; round++)
	{
		double		low = -50 * test_uniform(&state);
		double		range = 1 + 100 * test_uniform(&state);
		double		y = low + range * test_uniform(&state);
		double		p = low + range * (3 * test_uniform(&state) - 1);
		double		clipped = fmin(fmax(p, low), low + range);
		double		terms[DPERM_SUMS] = {1, fabs(clipped - y) / range, pow((clipped - y) / range, 2), (y - low) / range, pow((y - low) / range, 2)};
		int64_t		sums[DPERM_SUMS] = {0};

		dperm_counts_add_errors(2 * (p - low) / range - 1, 2 * (y - low) / range - 1, 1, sums);
		for (int i = 0; i < DPERM_SUMS; i++)
			CHECK(fabs((double) sums[i] - terms[i] * (double) PARTS) < 1.001);
	}
}

/* The scale is five parts/epsilon: an exponential law, up to rounding, of either sign. */
TEST(noise_has_its_scale)
{
	static const double epsilons[] = {0.05, 0.5, 1, 3, 20};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 3);
	for (size_t i = 0; i < sizeof(epsilons) / sizeof(epsilons[0]); i++)
	{
		int64_t		seen[20] = {0};
		double		law[20];
		double		scale = 5 * (double) PARTS / epsilons[i];

		for (int k = 0; k < 100000; k += DPERM_SUMS)
		{
			int64_t		sums[DPERM_SUMS] = {0, 100, -5, INT64_C(1) << 53, 7};
			static const int64_t truth[DPERM_SUMS] = {0, 100, -5, INT64_C(1) << 53, 7};

			dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(epsilons[i], DPERM_NEIGHBOURS_REPLACE)), DPERM_ERRORS_NOISE_PARTS, sums, DPERM_SUMS);
			for (int j = 0; j < DPERM_SUMS; j++)
			{
				double		z = (double) (sums[j] - truth[j]);
				int			cell = (int) floor(10 * -expm1(-fabs(z) / scale));

				seen[(z < 0 ? 10 : 0) + (cell < 9 ? cell : 9)]++;
			}
		}
		for (int j = 0; j < 20; j++)
			law[j] = 0.05;
		CHECK(counts_fit_p(seen, law, 20, 100000) > P_MIN);
	}
	CHECK(e.status == DPERM_OK);
}

/* Infinite epsilon adds nothing. */
TEST(without_privacy_there_is_no_noise)
{
	TestEntropy source;
	DpermEntropy e;
	int64_t		sums[DPERM_SUMS] = {1, 2, 3, 4, 5};

	test_entropy_init(&e, &source, 4);
	dperm_counts_add_noise(&e, test_laplace(dperm_selection_budget(INFINITY, DPERM_NEIGHBOURS_REPLACE)), DPERM_ERRORS_NOISE_PARTS, sums, DPERM_SUMS);
	for (int i = 0; i < DPERM_SUMS; i++)
		CHECK(sums[i] == i + 1);
}

#define ROWS 400

/* A table of predictions and labels in [0, 10]: label, and error of about 1. */
static void
draw_table(TestRandom *state, double *labels, double *predictions)
{
	for (int i = 0; i < ROWS; i++)
	{
		labels[i] = 10 * test_uniform(state);
		predictions[i] = fmin(fmax(labels[i] + 4 * (test_uniform(state) - 0.5), 0), 10);
	}
}

/* Metrics of exact sums, against those of the table. */
TEST(metrics_are_those_of_the_table)
{
	TestRandom	state = 803;
	double		labels[ROWS];
	double		predictions[ROWS];

	for (int round = 0; round < 100; round++)
	{
		int64_t		sums[DPERM_SUMS] = {0};
		double		absolute = 0,
					squared = 0,
					mean = 0,
					variance = 0;
		DpermEstimate found[DPERM_METRIC_COUNT];

		draw_table(&state, labels, predictions);
		for (int i = 0; i < ROWS; i++)
		{
			dperm_counts_add_errors(predictions[i] / 5 - 1, labels[i] / 5 - 1, 1, sums);
			absolute += fabs(predictions[i] - labels[i]) / ROWS;
			squared += pow(predictions[i] - labels[i], 2) / ROWS;
			mean += labels[i] / ROWS;
		}
		for (int i = 0; i < ROWS; i++)
			variance += pow(labels[i] - mean, 2) / ROWS;
		for (int i = DPERM_METRIC_ROWS; i < DPERM_METRIC_COUNT; i++)
		{
			found[i] = dperm_metrics_of_errors((DpermMetricKind) i, sums, 0, 5);
			CHECK(found[i].low <= found[i].value && found[i].value <= found[i].high);
		}
		CHECK(found[DPERM_METRIC_ROWS].value == ROWS && found[DPERM_METRIC_ROWS].high == ROWS);
		CHECK_NEAR(found[DPERM_METRIC_ABSOLUTE].value, absolute, 1e-4);
		CHECK_NEAR(found[DPERM_METRIC_SQUARED].value, sqrt(squared), 1e-4);
		CHECK_NEAR(found[DPERM_METRIC_R2].value, 1 - squared / variance, 1e-4);
	}
}

/* Intervals contain what they should at least as often as they say, with noise and without. */
TEST(intervals_cover)
{
	static const double epsilons[] = {INFINITY, 1, 0.5};
	TestRandom	state = 804;
	TestEntropy source;
	DpermEntropy e;
	double		labels[ROWS];
	double		predictions[ROWS];
	double		mean[DPERM_METRIC_COUNT] = {0};

	test_entropy_init(&e, &source, 5);
	for (size_t k = 0; k < 3; k++)
	{
		uint64_t	budget = dperm_selection_budget(epsilons[k], DPERM_NEIGHBOURS_REPLACE);
		int			covered[DPERM_METRIC_COUNT] = {0};

		/* the first rounds find the means */
		for (int round = 0; round < 2 * 3000; round++)
		{
			int64_t		sums[DPERM_SUMS] = {0};

			draw_table(&state, labels, predictions);
			for (int i = 0; i < ROWS; i++)
				dperm_counts_add_errors(predictions[i] / 5 - 1, labels[i] / 5 - 1, 1, sums);
			if (round >= 3000)
				dperm_counts_add_noise(&e, test_laplace(budget), DPERM_ERRORS_NOISE_PARTS, sums, DPERM_SUMS);
			for (int i = DPERM_METRIC_ROWS; i < DPERM_METRIC_COUNT; i++)
			{
				DpermEstimate found = dperm_metrics_of_errors((DpermMetricKind) i, sums, round < 3000 ? 0 : budget, 5);

				if (round < 3000 && k == 0)
					mean[i] += found.value / 3000;
				else if (round >= 3000)
					covered[i] += found.low <= mean[i] + 1e-9 && mean[i] <= found.high + 1e-9;
			}
		}
		for (int i = DPERM_METRIC_ROWS; i < DPERM_METRIC_COUNT; i++)
			CHECK(covered[i] >= 0.94 * 3000);
	}
}

/*
 * Labels of which noise hides that they differ: the variance that R2 is divided
 * by may be zero, or several times as large as it seems.
 */
TEST(interval_of_r2_covers_small_variances)
{
	static const double epsilons[] = {5, 2, 1};
	TestRandom	state = 805;
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 6);
	for (size_t k = 0; k < 3; k++)
	{
		uint64_t	budget = dperm_selection_budget(epsilons[k], DPERM_NEIGHBOURS_REPLACE);
		int			covered = 0;

		for (int round = 0; round < 2000; round++)
		{
			int64_t		sums[DPERM_SUMS] = {0};
			DpermEstimate found;

			/* uniform, and predictions that have nothing to do with them: R2 is -1/4 */
			for (int i = 0; i < 1000; i++)
				dperm_counts_add_errors(0.15 * (test_uniform(&state) - 0.5),
								 0.3 * (test_uniform(&state) - 0.5), 1, sums);
			dperm_counts_add_noise(&e, test_laplace(budget), DPERM_ERRORS_NOISE_PARTS, sums, DPERM_SUMS);
			found = dperm_metrics_of_errors(DPERM_METRIC_R2, sums, budget, 1);
			covered += found.low <= -0.25 && -0.25 <= found.high;
		}
		CHECK(covered >= 0.94 * 2000);
	}
}

/* Without rows, or with sums that noise has made senseless, there are no metrics. */
TEST(no_rows_no_metrics)
{
	int64_t		none[DPERM_SUMS] = {0};
	int64_t		odd[DPERM_SUMS] = {-5, 3, -2, 7, 1};

	for (int i = DPERM_METRIC_ROWS + 1; i < DPERM_METRIC_COUNT; i++)
	{
		CHECK(isnan(dperm_metrics_of_errors((DpermMetricKind) i, none, 1 << 20, 5).value));
		CHECK(isnan(dperm_metrics_of_errors((DpermMetricKind) i, odd, 1 << 20, 5).value));
	}
}

/* Bounds may be further apart than the largest double: an error that is not is a number, and none is NaN. */
TEST(bounds_far_apart)
{
	const double unit = 1.7e308;
	int64_t		sums[DPERM_SUMS] = {0};

	for (int i = 0; i < 100; i++)
		dperm_counts_add_errors(0, 0, 1, sums);
	for (int i = 0; i < 2; i++)
	{
		DpermEstimate found = dperm_metrics_of_errors(DPERM_METRIC_ABSOLUTE + i, sums, 0, unit);

		CHECK(found.value == 0 && found.low == 0 && found.high == 0);
	}
	for (int i = 0; i < 100; i++)
		dperm_counts_add_errors(-0.5, 0, 1, sums);
	CHECK(fabs(dperm_metrics_of_errors(DPERM_METRIC_ABSOLUTE, sums, 0, unit).value / unit - 0.25) < 1e-9);
	CHECK(dperm_metrics_of_errors(DPERM_METRIC_ABSOLUTE, sums, 1 << 20, unit).low >= 0);
}
