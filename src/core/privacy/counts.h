/*
 * counts.h: counts with exact noise, and metrics computed from them.
 */
#ifndef DPERM_COUNTS_H
#define DPERM_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/privacy/entropy.h"

/*
 * Add discrete Laplace noise to counts of disjoint cells. Counts are in parts
 * of a unit of privacy: dperm_person_parts() of them per unit, 1 for rows, at
 * most 2^20. Replacing one row takes one from a cell and adds one to another,
 * so the counts change by 2 in total; a person contributes at most parts in
 * total, so the counts change by twice that. The scale is 2 parts/epsilon.
 * budget is dperm_selection_budget(epsilon); 0 adds nothing.
 */
extern void dperm_counts_add_noise(DpermEntropy *e, uint64_t budget, uint64_t parts,
								   int64_t *counts, int count);

/* The variance of that noise, for counts in whole units. */
extern double dperm_counts_variance(uint64_t budget, uint64_t parts);

/*
 * Cells of a confusion matrix, by label and then by decision. The positive class
 * is the first of two.
 */
enum
{
	DPERM_TRUE_POSITIVE,
	DPERM_FALSE_NEGATIVE,
	DPERM_FALSE_POSITIVE,
	DPERM_TRUE_NEGATIVE,
	DPERM_CELLS
};

/* The most classes whose matrix is counted. */
#define DPERM_COUNTS_CLASSES_MAX 100

/*
 * The cell of a row with a label, by the model's decision. Of several classes
 * both are numbers of classes; else classes is 0, and the decision is positive
 * or not. With bins: one of 2 * bins, with those of the positive class first, or
 * of the first of several classes; the decision is then a number. Bins are equal
 * parts of the range of the arctangent, which is bounded, so that they are
 * public.
 */
extern int	dperm_counts_cell(int classes, double decision, double label, int bins);

typedef enum DpermMetric
{
	DPERM_METRIC_ACCURACY,
	DPERM_METRIC_ERROR,
	DPERM_METRIC_PRECISION,		/* this one and the next two are of a class */
	DPERM_METRIC_RECALL,
	DPERM_METRIC_F1,
	DPERM_METRICS,
	DPERM_METRIC_MACRO_F1 = DPERM_METRICS	/* the mean over the classes */
} DpermMetric;

/* The 97.5 percent quantile of the normal law. */
#define DPERM_NORMAL_QUANTILE 1.959963984540054

/* A number with a 95 percent interval. */
typedef struct DpermEstimate
{
	double		value;			/* NaN for 0/0, which is NULL in SQL */
	double		low;
	double		high;
} DpermEstimate;

extern const char *dperm_counts_metric_name(DpermMetric metric);

/*
 * A metric of the noisy counts of a confusion matrix, with an interval that
 * allows for both the noise and the sampling of units. Negative sums of counts
 * are taken as zero. A person who is in several cells varies less than one who
 * is in a single cell, so for persons the interval is wide enough. class is the
 * number of a class, 1 for the positive one of two, and does not matter where a
 * metric is of all of them.
 */
extern DpermEstimate dperm_counts_metric(DpermMetric metric, int classes, int class,
										 const int64_t *counts, uint64_t parts,
										 double noise_variance);

/*
 * A noisy count of whole units with an interval for its noise only, from exact
 * quantiles of the discrete Laplace distribution.
 */
extern DpermEstimate dperm_counts_estimate(int64_t count, uint64_t budget, uint64_t parts);

#endif							/* DPERM_COUNTS_H */
