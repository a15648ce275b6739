/*
 * errors.c: sums of the errors of a model whose label is a number.
 */
#include "core/privacy/errors.h"

#include <math.h>

#include "core/privacy/draw.h"

/* Add a row: every number is rounded down. */
void
dperm_errors_add(double decision, double label, int64_t labelled, int64_t *sums)
{
	double		error = fabs(fmax(-1, fmin(1, decision)) - label) / 2;
	double		place = (label + 1) / 2;
	double		terms[DPERM_SUMS] = {
		[DPERM_SUM_ROWS] = 1,
		[DPERM_SUM_ABSOLUTE] = error,
		[DPERM_SUM_SQUARED] = error * error,
		[DPERM_SUM_LABEL] = place,
		[DPERM_SUM_LABEL_SQUARED] = place * place
	};

	for (int i = 0; i < DPERM_SUMS; i++)
		sums[i] += (int64_t) (terms[i] * (double) DPERM_ERRORS_PARTS) / labelled;
}

/* Add noise of scale DPERM_SUMS parts/epsilon; 1/epsilon is 2^20/budget. */
void
dperm_errors_add_noise(DpermEntropy *e, uint64_t budget, int64_t *sums)
{
	for (int i = 0; budget > 0 && i < DPERM_SUMS; i++)
		sums[i] += dperm_draw_discrete_laplace_ratio(
			e, (int64_t) ((DPERM_SUMS * DPERM_ERRORS_PARTS) << 20), (int64_t) budget);
}

/* The sums as means, and the variance of their noise. */
typedef struct Means
{
	double		rows;
	double		absolute;
	double		squared;
	double		label;
	double		variance;		/* of the label */
	double		noise;			/* of a sum */
} Means;

/*
 * The sums as means. The noise is taken as a normal one with the same 95 percent
 * interval, which is that of the Laplace law, up to 2^-20.
 */
static Means
means_of(const int64_t *sums, uint64_t budget)
{
	double		scale = budget > 0 ? DPERM_SUMS * 0x1p20 / (double) budget : 0;
	double		of[DPERM_SUMS];
	double		rows = (double) sums[DPERM_SUM_ROWS] / (double) DPERM_ERRORS_PARTS;
	double		reach = scale * log(20) / DPERM_NORMAL_QUANTILE;
	Means		means = {.rows = rows, .noise = reach * reach};

	for (int i = 0; i < DPERM_SUMS; i++)
		of[i] = fmin(1, fmax(0, (double) sums[i] / (double) DPERM_ERRORS_PARTS / rows));
	means.absolute = of[DPERM_SUM_ABSOLUTE];
	means.squared = of[DPERM_SUM_SQUARED];
	means.label = of[DPERM_SUM_LABEL];
	means.variance = of[DPERM_SUM_LABEL_SQUARED] - means.label * means.label;
	return means;
}

/* An estimate with this variance, within limits. */
static DpermEstimate
estimate_of(double value, double variance, double least, double most)
{
	double		half = DPERM_NORMAL_QUANTILE * sqrt(fmax(variance, 0));

	return (DpermEstimate) {value, fmax(least, value - half), fmin(most, value + half)};
}

/*
 * Means of numbers between 0 and 1: a mean a has the variance of one of them,
 * divided by their number n, and noise (1 + a^2)/n^2 times that of a sum.
 */
static DpermEstimate
mean_of(const Means *m, double mean, double variance)
{
	return estimate_of(mean,
					   variance / m->rows + (1 + mean * mean) * m->noise / (m->rows * m->rows), 0,
					   1);
}

/*
 * 1 - c, with c = S/V, S = E e^2. The interval is that of Fieller: all c for
 * which S - c V, whose mean is 0 at the true c, is within so many of its
 * standard deviations; everything if V may be zero. The variance of e^2 - c (y -
 * mean)^2 is at most E e^4 + c^2 E (y - mean)^4, which is at most S + c^2 V
 * far^2.
 */
static DpermEstimate
r2_of(const Means *m)
{
	double		limit = DPERM_NORMAL_QUANTILE * DPERM_NORMAL_QUANTILE / m->rows;
	double		noise = m->noise / m->rows;
	double		far = fmax(m->label, 1 - m->label);
	double		square = m->label * m->label;
	double		a = m->variance * m->variance -
		limit * (m->variance * far * far + (1 + 4 * square + square * square) * noise);
	double		b = m->squared * m->variance;
	double		c = m->squared * m->squared - limit * (m->squared + noise);
	double		root = sqrt(fmax(0, b * b - a * c));
	DpermEstimate result = {1 - m->squared / m->variance, -INFINITY, 1};

	if (a > 0)
	{
		result.low = 1 - (b + root) / a;
		result.high = fmin(1, 1 - (b - root) / a);
	}
	return result;
}

static const char *const error_names[] = {
	"labelled", "mean absolute error", "root mean square error", "r2"
};

const char *
dperm_errors_metric_name(DpermErrorMetric metric)
{
	return error_names[metric];
}

/* A share of the distance between the bounds; 0 even if that overflows. */
static double
share_of_range(double share, double unit)
{
	return 2 * (unit * share);
}

/* A metric with its interval. */
DpermEstimate
dperm_errors_metric(DpermErrorMetric metric, const int64_t *sums, uint64_t budget, double unit)
{
	Means		m = means_of(sums, budget);
	DpermEstimate result = {NAN, 0, share_of_range(1, unit)};

	if (metric == DPERM_ERROR_ROWS)
		return estimate_of(m.rows, m.noise, -INFINITY, INFINITY);
	if (metric == DPERM_ERROR_R2)
		return m.rows > 0 && m.variance > 0 ? r2_of(&m) : (DpermEstimate) {NAN, -INFINITY, 1};
	if (!(m.rows > 0))
		return result;
	if (metric == DPERM_ERROR_ABSOLUTE)
		result = mean_of(&m, m.absolute, m.squared - m.absolute * m.absolute);
	else
	{
		result = mean_of(&m, m.squared, m.squared - m.squared * m.squared);
		result = (DpermEstimate) {sqrt(result.value), sqrt(result.low), sqrt(result.high)};
	}
	return (DpermEstimate) {share_of_range(result.value, unit), share_of_range(result.low, unit),
							share_of_range(result.high, unit)};
}
