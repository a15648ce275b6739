/*
 * quantiles.h: noisy counts of a summary (core/privacy/summary.h) with their
 * intervals, and quantiles from them. All of this works on what has its noise
 * already.
 */
#ifndef DPERM_QUANTILES_H
#define DPERM_QUANTILES_H

#include "core/metrics/metrics.h"
#include "core/privacy/summary.h"

extern double dperm_quantiles_variance(DpermSummaryShare share, uint64_t parts);
extern DpermEstimate dperm_quantiles_count(int64_t count, DpermSummaryShare share,
										   uint64_t parts);
extern DpermEstimate dperm_quantiles_at(double share_below, const int64_t *counts,
										double variance, const int *ends, int count);

#endif							/* DPERM_QUANTILES_H */
