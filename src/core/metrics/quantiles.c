/*
 * quantiles.c: noisy counts of a summary with their intervals, and quantiles from
 * them.
 */
#include "core/metrics/quantiles.h"

#include <math.h>

#define NORMAL_QUANTILE 1.959963984540054

/* The variance of the noise, for counts in parts. */
double
dperm_quantiles_variance(DpermSummaryShare share, uint64_t parts)
{
	return share.sigma > 0 ? pow((double) share.sigma, 2) :
		dperm_metrics_variance(share.counts, parts) * pow((double) parts, 2);
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

/*
 * The quantile of a share, as a cell, from noisy counts of intervals; with an interval of places
 * for the noise, which begins and ends where one of the intervals does. Sums of counts that were
 * drawn go up and down, so they may pass the share several times: the quantile is in the middle,
 * and may be from the first place where it could be to the last one. NaN if there is nothing.
 */
DpermEstimate
dperm_quantiles_at(double share_below, const int64_t *counts, double variance, const int *ends,
				   int count)
{
	double		all = 0,
				sum = 0,
				first = NAN,
				last = NAN;
	DpermEstimate result = {NAN, -1, ends[0]};

	for (int i = 0; i < count; i++)
		all += (double) counts[i];
	if (!(all > 0))
		return (DpermEstimate) {NAN, 0, ends[count - 1]};
	for (int i = 0; i < count; i++)
	{
		int			from = i > 0 ? ends[i - 1] : 0;
		double		missing = share_below * all - sum;
		double		reach = NORMAL_QUANTILE *
			sqrt(variance * ((i + 1) * pow(1 - share_below, 2) +
							 (count - i - 1) * pow(share_below, 2)));

		sum += (double) counts[i];
		if (missing > 0 && share_below * all <= sum)
		{
			last = fmin(from + missing / (double) counts[i] * (ends[i] - from), ends[i] - 1);
			first = fmin(first, last);
		}
		if (result.low < 0 && (i + 1 == count || sum - share_below * all >= -reach))
			result.low = from;
		if (i + 1 < count && sum - share_below * all < reach)
			result.high = ends[i + 1];
	}
	result.value = floor((first + last) / 2);
	return result;
}
