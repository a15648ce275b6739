/*
 * quantiles.c: noisy counts of a summary with their intervals, and quantiles from
 * them.
 */
#include "core/metrics/quantiles.h"

#include <math.h>

#define NORMAL_QUANTILE 1.959963984540054

/* The variance of the noise, for counts in whole units. */
double
dperm_quantiles_variance(DpermSummaryShare share, uint64_t parts)
{
	double		sigma = (double) share.sigma / (double) parts;

	return share.sigma > 0 ? sigma * sigma : dperm_metrics_variance(share.counts, parts);
}

/* A noisy count of whole units with a 95 percent interval for its noise. */
DpermEstimate
dperm_quantiles_count(int64_t count, DpermSummaryShare share, uint64_t parts)
{
	double		whole = (double) count / (double) parts;
	double		reach = ceil(NORMAL_QUANTILE * (double) share.sigma) / (double) parts;

	/* 95 percent of the discrete law are within this, as sigma is at least 1 */
	if (share.sigma > 0)
		return (DpermEstimate) {whole, whole - reach, whole + reach};
	return dperm_metrics_count(count, share.counts, parts);
}

/* Where so much is below, as a place among the cells; and the interval that it is in. */
static double
place_of(double below, const double *settled, const int *ends, int count, int *interval)
{
	double		sum = 0;
	int			last = 0;

	for (int i = 0; i < count; i++)
	{
		int			from = i > 0 ? ends[i - 1] : 0;

		if (settled[i] > 0 && below <= sum + settled[i])
		{
			*interval = i;
			return from + fmax(0, below - sum) / settled[i] * (ends[i] - from);
		}
		if (settled[i] > 0)
			last = i;
		sum += settled[i];
	}
	*interval = last;
	return ends[last];
}

/*
 * The quantile of a share, as a cell, from settled counts of intervals; with an interval of places
 * for the noise, which begins and ends where one of the intervals does. The noise of what is below,
 * minus the share of all, has the variance of that many counts. NaN if all is 0.
 */
DpermEstimate
dperm_quantiles_at(double share_below, const double *settled, const int *ends, int count,
					   double variance)
{
	double		total = 0,
				reach;
	DpermEstimate result = {NAN, 0, ends[count - 1]};
	int			interval;

	for (int i = 0; i < count; i++)
		total += settled[i];
	if (!(total > 0))
		return result;
	result.value = floor(place_of(share_below * total, settled, ends, count, &interval));
	result.value = fmin(result.value, ends[interval] - 1);
	reach = NORMAL_QUANTILE *
		sqrt(variance * ((interval + 1) * pow(1 - share_below, 2) +
						 (count - interval) * pow(share_below, 2)));
	(void) place_of(fmax(0, share_below * total - reach), settled, ends, count, &interval);
	result.low = interval > 0 ? ends[interval - 1] : 0;
	(void) place_of(fmin(total, share_below * total + reach), settled, ends, count, &interval);
	result.high = ends[interval];
	return result;
}
