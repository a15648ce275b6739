/*
 * test_confusion.c: metrics of noisy confusion matrices, and their intervals.
 */
#include "unit/test.h"

#include "core/metrics/metrics.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"

#define CLASSES_MAX 50
#define MATRIX_MAX (CLASSES_MAX * CLASSES_MAX)
#define ALL_METRICS (DPERM_METRIC_MACRO_F1 + 1)

/* The metrics of single classes. */
static bool
is_of_a_class(int metric)
{
	return metric >= DPERM_METRIC_PRECISION && metric <= DPERM_METRIC_F1;
}

/* Top and bottom of a metric by its definition, for a row in a cell. */
static void
terms_of(int metric, int class, int label, int decided, double *top, double *bottom)
{
	bool		hit = label == class && decided == class;

	*top = metric == DPERM_METRIC_ACCURACY ? label == decided :
		metric == DPERM_METRIC_ERROR ? label != decided : metric == DPERM_METRIC_F1 ? 2 * hit : hit;
	*bottom = metric <= DPERM_METRIC_ERROR ? 1 :
		metric == DPERM_METRIC_PRECISION ? decided == class :
		metric == DPERM_METRIC_RECALL ? label == class : (label == class) + (decided == class);
}

/* A metric of a matrix of any numbers. */
static double
metric_of(int metric, int classes, int class, const double *cells)
{
	double		top = 0,
				bottom = 0;
	int			defined = 0;

	for (int i = 1; metric == DPERM_METRIC_MACRO_F1 && i <= classes; i++)
	{
		double		f1 = metric_of(DPERM_METRIC_F1, classes, i, cells);

		top += isnan(f1) ? 0 : f1;
		defined += !isnan(f1);
	}
	if (metric == DPERM_METRIC_MACRO_F1)
		return top / defined;
	for (int i = 0; i < classes * classes; i++)
	{
		double		t,
					b;

		terms_of(metric, class, i / classes + 1, i % classes + 1, &t, &b);
		top += t * cells[i];
		bottom += b * cells[i];
	}
	return top / bottom;
}

TEST(metrics_of_two_by_hand)
{
	static const int64_t counts[DPERM_CELLS] = {30, 20, 10, 40};
	static const double values[] = {0.7, 0.3, 0.75, 0.6, 2.0 / 3, (2.0 / 3 + 80.0 / 110) / 2};
	static const char *const names[] = {"accuracy", "error", "precision", "recall", "f1",
		"macro f1"};

	for (int i = 0; i < ALL_METRICS; i++)
	{
		CHECK_NEAR(dperm_metrics_of_counts((DpermMetricKind) i, 2, 1, counts, 1, 0).value, values[i], 1e-15);
		CHECK_TEXT(dperm_metrics_name((DpermMetricKind) i), names[i]);
	}
}

/* Of any number of classes, by the definition. */
TEST(metrics_of_several)
{
	TestRandom	state = 21;

	for (int round = 0; round < 300; round++)
	{
		int			classes = 2 + (int) test_below(&state, 9);
		int64_t		counts[MATRIX_MAX];
		double		cells[MATRIX_MAX];

		for (int label = 1; label <= classes; label++)
			for (int decided = 1; decided <= classes; decided++)
			{
				int			cell = dperm_counts_cell(classes, decided, label, 0);

				cells[cell] = (double) (counts[cell] = 1 + test_below(&state, 50));
			}
		for (int m = 0; m < ALL_METRICS; m++)
			for (int class = 1; class <= classes; class++)
			{
				DpermEstimate at = dperm_metrics_of_counts((DpermMetricKind) m, classes, class, counts, 1, 3);

				CHECK_NEAR(at.value, metric_of(m, classes, class, cells), 1e-12);
				CHECK(at.low >= 0 && at.low < at.value && at.value < at.high && at.high <= 1);
			}
	}
}

/*
 * At the ends R of an interval, top - R bottom is as many standard deviations
 * from 0 as the quantile says. Each group of cells with the same terms has one
 * more unit; those of accuracy have two.
 */
static double
deviations_at(int metric, int classes, int class, const int64_t *counts, double noise, double r)
{
	double		d = 0,
				variance = 0,
				groups = 0;

	for (int i = 0; i < classes * classes; i++)
	{
		double		t,
					b;

		terms_of(metric, class, i / classes + 1, i % classes + 1, &t, &b);
		d += (t - r * b) * (double) counts[i];
		/* 95 percent of the Laplace law are within log(20)/sqrt(2) deviations */
		variance += (t - r * b) * (t - r * b) *
			((double) counts[i] + noise * log(20) * log(20) / 2 / (1.959964 * 1.959964));
	}
	for (int i = 0; i < DPERM_CELLS; i++)
	{
		double		t,
					b;

		terms_of(metric, 1, i / 2 + 1, i % 2 + 1, &t, &b);
		d += t - r * b;
		groups += (t - r * b) * (t - r * b);
	}
	return fabs(d) / sqrt(variance + groups);
}

TEST(intervals_are_fiellers)
{
	TestRandom	state = 7;

	for (int round = 0; round < 1000; round++)
	{
		int			classes = 2 + (int) test_below(&state, 9);
		int64_t		counts[MATRIX_MAX];
		double		noise = test_below(&state, 2) ? 0 : 100 * test_uniform(&state);

		for (int i = 0; i < classes * classes; i++)
			counts[i] = 200 + test_below(&state, 1000);
		for (int m = 0; m < DPERM_METRIC_MACRO_F1; m++)
		{
			DpermEstimate at = dperm_metrics_of_counts((DpermMetricKind) m, classes, 2, counts, 1, noise);

			CHECK_NEAR(deviations_at(m, classes, 2, counts, noise, at.low), 1.959964, 1e-4);
			CHECK_NEAR(deviations_at(m, classes, 2, counts, noise, at.high), 1.959964, 1e-4);
		}
	}
}

/* All of a few rows does not mean all rows there could be. */
TEST(certainty_needs_rows)
{
	static const int64_t all[DPERM_CELLS] = {10, 0, 0, 10};
	DpermEstimate at = dperm_metrics_of_counts(DPERM_METRIC_ACCURACY, 2, 1, all, 1, 0);

	CHECK(at.value == 1 && at.high == 1 && at.low > 0.7 && at.low < 0.95);
	at = dperm_metrics_of_counts(DPERM_METRIC_ERROR, 2, 1, all, 1, 0);
	CHECK(at.value == 0 && at.low == 0 && at.high > 0.05 && at.high < 0.3);
}

/*
 * Noise can make counts negative or zero; what cannot be computed is NaN. A
 * class that there is nothing of may have any F1, but does not lower the mean.
 */
TEST(odd_cells)
{
	static const int64_t none[DPERM_CELLS] = {0, 0, 0, 0};
	static const int64_t negative[DPERM_CELLS] = {-3, -10, INT64_MIN, -1};
	static const int64_t no_positives[DPERM_CELLS] = {-5, 0, 0, 40};
	static const int64_t perfect[DPERM_CELLS] = {60, -2, -1, 40};
	static const int64_t huge[DPERM_CELLS] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
	static const int64_t without_third[9] = {50, 0, 0, 0, 50, 0, 0, 0, 0};

	for (int i = 0; i < ALL_METRICS; i++)
	{
		DpermMetricKind m = (DpermMetricKind) i;
		DpermEstimate at = dperm_metrics_of_counts(m, 2, 1, none, 1, 8);

		CHECK(isnan(at.value) && at.low == 0 && at.high == 1);
		at = dperm_metrics_of_counts(m, 2, 1, negative, 1, 8);
		CHECK(isnan(at.value) && at.low == 0 && at.high == 1);
		at = dperm_metrics_of_counts(m, 2, 1, perfect, 1, 8);
		CHECK(at.value == (m == DPERM_METRIC_ERROR ? 0 : 1));
		CHECK(at.low >= 0 && at.high <= 1 && at.high > at.low);
		at = dperm_metrics_of_counts(m, 2, 1, huge, 1, 8);
		CHECK_NEAR(at.value, 0.5, 1e-12);
		CHECK(at.low <= at.value && at.high >= at.value);
	}
	CHECK(dperm_metrics_of_counts(DPERM_METRIC_ACCURACY, 2, 1, no_positives, 1, 8).value == 1);
	CHECK(isnan(dperm_metrics_of_counts(DPERM_METRIC_PRECISION, 2, 1, no_positives, 1, 8).value));
	CHECK(isnan(dperm_metrics_of_counts(DPERM_METRIC_RECALL, 2, 1, no_positives, 1, 8).value));
	CHECK(isnan(dperm_metrics_of_counts(DPERM_METRIC_F1, 2, 1, no_positives, 1, 8).value));
	CHECK(dperm_metrics_of_counts(DPERM_METRIC_MACRO_F1, 3, 1, without_third, 1, 0).value == 1);
	CHECK(dperm_metrics_of_counts(DPERM_METRIC_MACRO_F1, 3, 1, without_third, 1, 0).low < 0.67);
	CHECK(isnan(dperm_metrics_of_counts(DPERM_METRIC_F1, 3, 3, without_third, 1, 0).value));
}

/* Noise that adds up to nothing does not make a model worse. */
TEST(noise_cancels_in_sums)
{
	static const int64_t counts[9] = {50, 9, -9, -8, 50, 8, 7, -7, 50};

	CHECK(dperm_metrics_of_counts(DPERM_METRIC_ACCURACY, 3, 1, counts, 1, 50).value == 1);
	CHECK(dperm_metrics_of_counts(DPERM_METRIC_RECALL, 3, 1, counts, 1, 50).value == 1);
}

/* The law of rows: classes by a ratio, and the accuracy of each. */
static void
make_law(int classes, double ratio, double accuracy, double *law)
{
	double		sum = 0;

	for (int i = 0; i < classes * classes; i++)
		sum += law[i] = pow(ratio, i / classes) *
			(i / classes == i % classes ? accuracy : (1 - accuracy) / (classes - 1));
	for (int i = 0; i < classes * classes; i++)
		law[i] /= sum;
}

/* Count rows that are drawn by a law. */
static void
draw_rows(TestRandom *state, int rows, int cells, const double *law, int64_t *counts)
{
	memset(counts, 0, sizeof(int64_t) * (size_t) cells);
	for (int i = 0; i < rows; i++)
	{
		double		u = test_uniform(state);
		int			cell = 0;

		while (cell < cells - 1 && u >= law[cell])
			u -= law[cell++];
		counts[cell]++;
	}
}

/*
 * Intervals from samples of rows, with noise, contain the true metric 95 times
 * in 100: about that, or more where there are few rows or much noise.
 */
static void
check_coverage(double epsilon, int rows, int classes, double ratio, double accuracy, int samples)
{
	/* three deviations and a half below 0.95 */
	double		least = 0.95 - 3.5 * sqrt(0.95 * 0.05 / samples);
	uint64_t	budget = dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE);
	double		variance = dperm_metrics_variance(test_laplace(budget), 1);
	TestRandom	state = (TestRandom) (rows + classes);
	int			held[ALL_METRICS][CLASSES_MAX] = {{0}};
	double		law[MATRIX_MAX];
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, (uint64_t) rows);
	make_law(classes, ratio, accuracy, law);
	for (int k = 0; k < samples; k++)
	{
		int64_t		counts[MATRIX_MAX];

		draw_rows(&state, rows, classes * classes, law, counts);
		dperm_counts_add_noise(&e, test_laplace(budget), 1, counts, classes * classes);
		for (int m = 0; m < ALL_METRICS; m++)
			for (int class = 1; class <= (is_of_a_class(m) ? classes : 1); class++)
			{
				double		truth = metric_of(m, classes, class, law);
				DpermEstimate at =
					dperm_metrics_of_counts((DpermMetricKind) m, classes, class, counts, 1, variance);

				held[m][class - 1] += at.low <= truth && truth <= at.high;
			}
	}
	for (int m = 0; m < ALL_METRICS; m++)
		for (int i = 0; i < (is_of_a_class(m) ? classes : 1); i++)
		{
			double		share = (double) held[m][i] / samples;

			CHECK(share > least);
			if (!(share > least))
				fprintf(stderr, "epsilon %g, %d rows, %d classes, %s of %d: %g\n", epsilon, rows,
						classes, dperm_metrics_name((DpermMetricKind) m), i + 1, share);
		}
}

TEST(intervals_cover)
{
	static const double epsilons[] = {INFINITY, 1, 0.2};
	static const int classes[] = {2, 3, 10};
	static const int rows[] = {30, 300, 1500};

	for (int i = 0; i < 27; i++)
	{
		check_coverage(epsilons[i % 3], rows[i / 3 % 3], classes[i / 9], 1, 0.7, 2000);
		check_coverage(epsilons[i % 3], rows[i / 3 % 3], classes[i / 9], 0.5, 0.95, 2000);
	}
}

/* Errors of many classes add up, those of which noise says little as well. */
TEST(intervals_of_many_classes_cover)
{
	for (int i = 0; i < 4; i++)
		check_coverage(i % 2 ? 0.5 : 0.05, 200, i / 2 ? 50 : 20, 1, 0.99, 200);
	check_coverage(0.5, 5000, 50, 1, 0.99, 100);
}

/* And they are no wider than that requires, where there are rows enough. */
TEST(intervals_are_narrow)
{
	static const int64_t counts[9] = {700, 200, 100, 100, 800, 100, 50, 50, 900};

	for (int m = 0; m < ALL_METRICS; m++)
	{
		DpermEstimate at = dperm_metrics_of_counts((DpermMetricKind) m, 3, 1, counts, 1, 8);

		CHECK(at.high - at.low < (is_of_a_class(m) ? 0.061 : 0.041));
	}
}
