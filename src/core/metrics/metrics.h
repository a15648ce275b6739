/*
 * metrics.h: metrics of noisy counts and sums (core/privacy/counts.h), each with
 * a 95 percent interval. All of this works on what has its noise already.
 * Plain.
 */
#ifndef DPERM_METRICS_H
#define DPERM_METRICS_H

#include "core/privacy/counts.h"

typedef enum DpermMetricKind
{
	DPERM_METRIC_ACCURACY,
	DPERM_METRIC_ERROR,
	DPERM_METRIC_PRECISION,		/* this one and the next two are of a class */
	DPERM_METRIC_RECALL,
	DPERM_METRIC_F1,
	DPERM_METRIC_MACRO_F1,		/* the mean over the classes */
	DPERM_METRIC_ROWS,			/* of numbers, from here on: units with a label */
	DPERM_METRIC_ABSOLUTE,		/* the mean absolute error */
	DPERM_METRIC_SQUARED,		/* the root of the mean squared error */
	DPERM_METRIC_R2,			/* 1 - squared error / variance of the label */
	DPERM_METRIC_COUNT
} DpermMetricKind;

/* A number with a 95 percent interval. */
typedef struct DpermEstimate
{
	double		value;			/* NaN for 0/0, which is NULL in SQL */
	double		low;
	double		high;
} DpermEstimate;

extern const char *dperm_metrics_name(DpermMetricKind metric);

/* The variance of the noise of counts, in whole units. */
extern double dperm_metrics_variance(DpermCountsNoise noise, uint64_t parts);

/*
 * A metric of the noisy counts of a confusion matrix, with an interval that
 * allows for both the noise and the sampling of units. Negative sums of counts
 * are taken as zero. A person who is in several cells varies less than one who
 * is in a single cell, so for persons the interval is wide enough. class is the
 * number of a class, 1 for the positive one of two, and does not matter where a
 * metric is of all of them.
 */
extern DpermEstimate dperm_metrics_of_counts(DpermMetricKind metric, int classes, int class,
											 const int64_t *counts, uint64_t parts,
											 double noise_variance);

/*
 * A noisy count of whole units with an interval for its noise only, from exact
 * quantiles of its distribution.
 */
extern DpermEstimate dperm_metrics_count(int64_t count, DpermCountsNoise noise, uint64_t parts);

/*
 * The quantile of a share, as a cell, from noisy counts of intervals (counts.h),
 * with the variance of a count; with an interval of places for the noise, which
 * begins and ends where one of the intervals does. NaN if there is nothing.
 */
extern DpermEstimate dperm_metrics_quantile(double share_below, const int64_t *counts,
											double variance, const int *ends, int count);

/*
 * The number of bins for n units and the noise of a budget: an even divisor of
 * DPERM_COUNTS_FINE. Of public quantities only.
 */
extern int	dperm_metrics_bins(uint64_t budget, int64_t n);

/*
 * Counts in whole units that could be without noise: the nearest ones, by the
 * sum of squares, that are not negative and have the same sum; all 0 if that is
 * negative.
 */
extern void dperm_metrics_settle(const int64_t *counts, int bins, uint64_t parts, double *out);

/*
 * The area under the curve from settled bins by class, low scores first; ties
 * count half. The interval allows for both the noise and the sampling of units.
 */
extern DpermEstimate dperm_metrics_area(const double *positive, const double *negative, int bins,
									   double noise_variance);

/*
 * A metric of noisy sums, for a label whose bounds are twice the unit apart,
 * which may be more than the largest double. Intervals allow for the noise and
 * for the sampling of units. Sums that are not released are replaced by bounds
 * on them, so intervals of the last two are too wide rather than too narrow.
 */
extern DpermEstimate dperm_metrics_of_errors(DpermMetricKind metric, const int64_t *sums,
											 uint64_t budget, double unit);

#endif							/* DPERM_METRICS_H */
