/*
 * curve.h: a ROC curve and the area under it, from a noisy histogram of
 * decisions.
 */
#ifndef DPERM_CURVE_H
#define DPERM_CURVE_H

#include <stdint.h>

#include "core/privacy/counts.h"

/*
 * Rows are counted in so many bins if their number is to be chosen: it follows
 * from the number of units, which is known when all rows have been read. Many
 * numbers of bins divide it.
 */
#define DPERM_CURVE_FINE 840

/*
 * The number of bins for n units and the noise of a budget: an even divisor of
 * DPERM_CURVE_FINE. Of public quantities only.
 */
extern int	dperm_curve_bins(uint64_t budget, int64_t n);

/*
 * Merge the DPERM_CURVE_FINE bins of both classes into fewer, in place. As
 * dperm_counts_cell() would have counted, but for rounding at the edges.
 */
extern void dperm_curve_merge(int64_t *counts, int bins);

/*
 * Counts in whole units that could be without noise: the nearest ones, by the
 * sum of squares, that are not negative and have the same sum; all 0 if that is
 * negative.
 */
extern void dperm_curve_settle(const int64_t *counts, int bins, uint64_t parts, double *out);

/*
 * The area under the curve from settled bins by class, low scores first; ties
 * count half. The interval allows for both the noise and the sampling of units.
 */
extern DpermEstimate dperm_curve_area(const double *positive, const double *negative, int bins,
									  double noise_variance);

#endif							/* DPERM_CURVE_H */
