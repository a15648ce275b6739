/*
 * errors.h: sums of the errors of a model whose label is a number.
 *
 * Label and prediction are scaled to [-1, 1], as in training, and the prediction
 * is clipped to that. Each sum is over terms between 0 and 1, which are rounded
 * down to parts of 2^-20; a row of a person counts for its share of 1, rounded
 * down, too. So one unit of privacy, whatever its rows hold, adds between 0 and
 * DPERM_ERRORS_PARTS to each sum (docs/guarantee.md, "Errors of numbers").
 */
#ifndef DPERM_ERRORS_H
#define DPERM_ERRORS_H

#include <stdint.h>

#include "core/privacy/counts.h"
#include "core/privacy/entropy.h"

#define DPERM_ERRORS_PARTS (UINT64_C(1) << 20)

/* The sums. With e half the error, and y the label, mapped to [0, 1]: */
enum
{
	DPERM_SUM_ROWS,				/* 1 */
	DPERM_SUM_ABSOLUTE,			/* |e| */
	DPERM_SUM_SQUARED,			/* e^2 */
	DPERM_SUM_LABEL,			/* y */
	DPERM_SUM_LABEL_SQUARED,	/* y^2 */
	DPERM_SUMS
};

/*
 * Add a row with a label. labelled is the number of labelled rows of its
 * person, 1 if rows are the units.
 */
extern void dperm_errors_add(double decision, double label, int64_t labelled, int64_t *sums);

/*
 * Add discrete Laplace noise. A unit moves each of the sums by at most
 * DPERM_ERRORS_PARTS, so all of them by DPERM_SUMS times that, whether it is
 * replaced or removed: the scale is that, divided by epsilon. budget is
 * dperm_selection_budget(epsilon); 0 adds nothing.
 */
extern void dperm_errors_add_noise(DpermEntropy *e, uint64_t budget, int64_t *sums);

typedef enum DpermErrorMetric
{
	DPERM_ERROR_ROWS,			/* units with a label */
	DPERM_ERROR_ABSOLUTE,		/* the mean absolute error */
	DPERM_ERROR_SQUARED,		/* the root of the mean squared error */
	DPERM_ERROR_R2,				/* 1 - squared error / variance of the label */
	DPERM_ERROR_METRICS
} DpermErrorMetric;

extern const char *dperm_errors_metric_name(DpermErrorMetric metric);

/*
 * A metric of noisy sums, for a label whose bounds are twice the unit apart,
 * which may be more than the largest double. Intervals allow for the noise and
 * for the sampling of units. Sums that are not released are replaced by bounds
 * on them, so intervals of the last two are too wide rather than too narrow.
 */
extern DpermEstimate dperm_errors_metric(DpermErrorMetric metric, const int64_t *sums,
										 uint64_t budget, double unit);

#endif							/* DPERM_ERRORS_H */
