/*
 * counts.c: counts with exact noise, and metrics computed from them.
 */
#include "core/privacy/counts.h"

#include <math.h>

#include "core/privacy/draw.h"

#define BUDGET_UNIT 0x1p20
#define PI 3.14159265358979323846

/* The bin of a decision. Any value has one, even NaN. */
static int
bin_of(double decision, int bins)
{
	double		place = isnan(decision) ? 0 : floor((atan(decision) / PI + 0.5) * bins);

	return (int) fmax(0, fmin(place, bins - 1));
}

/*
 * The cell of a decision: in a histogram by class, or in the confusion matrix.
 */
int
dperm_counts_cell(double decision, bool positive, int bins)
{
	if (bins > 0)
		return (positive ? 0 : bins) + bin_of(decision, bins);
	if (decision > 0)
		return positive ? DPERM_TRUE_POSITIVE : DPERM_FALSE_POSITIVE;
	return positive ? DPERM_FALSE_NEGATIVE : DPERM_TRUE_NEGATIVE;
}

/* Add noise of scale 2 parts/epsilon. */
void
dperm_counts_add_noise(DpermEntropy *e, uint64_t budget, uint64_t parts, int64_t *counts, int count)
{
	/* 2/epsilon = 2^21/budget, as a fraction */
	for (int i = 0; budget > 0 && i < count; i++)
		counts[i] +=
			dperm_draw_discrete_laplace_ratio(e, (int64_t) (parts << 21), (int64_t) budget);
}

/*
 * epsilon/(2 parts): minus the logarithm of the ratio q of neighbouring
 * probabilities.
 */
static double
decay(uint64_t budget, uint64_t parts)
{
	return (double) budget / BUDGET_UNIT / 2 / (double) parts;
}

/*
 * The variance of the noise: 2q/(1-q)^2 for the discrete Laplace law of ratio
 * q.
 */
double
dperm_counts_variance(uint64_t budget, uint64_t parts)
{
	double		step = decay(budget, parts);
	double		gap = -expm1(-step) * (double) parts;

	return budget == 0 ? 0 : 2 * exp(-step) / (gap * gap);
}

static const char *const metric_names[] = {"accuracy", "error", "precision", "recall", "f1"};

const char *
dperm_counts_metric_name(DpermMetric metric)
{
	return metric_names[metric];
}

/*
 * Every metric is a ratio of two weighted sums of cells; these are the weights,
 * doubled for F1.
 */
static const double tops[DPERM_METRICS][DPERM_CELLS] = {
	{1, 0, 0, 1}, {0, 1, 1, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}
};
static const double bottoms[DPERM_METRICS][DPERM_CELLS] = {
	{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 0, 0}, {1, 0, 1, 0}, {2, 1, 1, 0}
};

/* The metric of cells, NaN for 0/0; *bottom is the denominator. */
static double
metric_of(DpermMetric metric, const double *cells, double *bottom)
{
	double		top = 0;

	*bottom = 0;
	for (int i = 0; i < DPERM_CELLS; i++)
	{
		top += tops[metric][i] * cells[i];
		*bottom += bottoms[metric][i] * cells[i];
	}
	return *bottom > 0 ? top / *bottom : NAN;
}

/* A metric of noisy counts with its interval. */
DpermEstimate
dperm_counts_metric(DpermMetric metric, const int64_t *counts, uint64_t parts,
					double noise_variance)
{
	DpermEstimate result = {NAN, 0, 1};
	double		variance = 0,
				mean = 0,
				total = 0,
				bottom,
				centre,
				half;
	double		cells[DPERM_CELLS];

	for (int i = 0; i < DPERM_CELLS; i++)
		cells[i] = counts[i] > 0 ? (double) counts[i] / (double) parts : 0;
	result.value = metric_of(metric, cells, &bottom);
	if (isnan(result.value))
		return result;

	/*
	 * add one unit to every cell, as Agresti and Coull do: a rate of 0 or 1 is
	 * not certain either
	 */
	for (int i = 0; i < DPERM_CELLS; i++)
		total += cells[i] += 1;
	centre = metric_of(metric, cells, &bottom);

	/*
	 * With g the gradient of top/bottom by cells: the multinomial covariance
	 * gives sum g_i^2 cells_i - (sum g_i cells_i)^2/total, the noise adds sum
	 * g_i^2 times its variance.
	 */
	for (int i = 0; i < DPERM_CELLS; i++)
	{
		double		g = (tops[metric][i] - centre * bottoms[metric][i]) / bottom;

		variance += g * g * (cells[i] + noise_variance);
		mean += g * cells[i];
	}
	variance -= mean * mean / total;
	half = DPERM_NORMAL_QUANTILE * sqrt(fmax(variance, 0));
	result.low = fmax(0, fmin(result.value, centre - half));
	result.high = fmin(1, fmax(result.value, centre + half));
	return result;
}

/* A noisy count with an interval for its noise. */
DpermEstimate
dperm_counts_estimate(int64_t count, uint64_t budget, uint64_t parts)
{
	double		whole = (double) count / (double) parts;
	DpermEstimate result = {whole, whole, whole};
	double		step = decay(budget, parts);
	double		reach;

	if (budget == 0)
		return result;

	/* P(|z| > k) = 2 q^(k+1)/(1+q) <= 0.05 */
	reach = fmax(0, ceil(-log(0.05 * (1 + exp(-step)) / 2) / step - 1));
	result.low -= reach / (double) parts;
	result.high += reach / (double) parts;
	return result;
}
