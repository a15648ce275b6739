/*
 * counts.h: counts of decisions and sums of errors, with exact noise. Metrics
 * are computed from what these leave behind (core/metrics).
 * Trusted.
 */
#ifndef DPERM_COUNTS_H
#define DPERM_COUNTS_H

#include <stdint.h>

#include "core/privacy/draw.h"

/*
 * Add discrete Laplace noise to counts of disjoint cells. Counts are in parts
 * of a unit of privacy: dperm_unit_parts() of them per unit, 1 for rows, at
 * most 2^20. Replacing one row takes one from a cell and adds one to another,
 * so the counts change by 2 in total; a person contributes at most parts in
 * total, so the counts change by twice that. The scale is 2 parts/epsilon.
 * budget is dperm_selection_budget(epsilon); 0 adds nothing.
 */
extern void dperm_counts_add_noise(DpermEntropy *e, uint64_t budget, uint64_t parts,
								   int64_t *counts, int count);

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

/*
 * Rows are counted in so many bins if their number is to be chosen: it follows
 * from the number of units, which is known when all rows have been read. Many
 * numbers of bins divide it.
 */
#define DPERM_COUNTS_FINE 840

/*
 * Merge the DPERM_COUNTS_FINE bins of both classes into fewer, in place. As
 * dperm_counts_cell() would have counted, but for rounding at the edges.
 */
extern void dperm_counts_merge(int64_t *counts, int bins);

/*
 * Errors of numbers: label and prediction are scaled to [-1, 1], as in training,
 * and the prediction is clipped to that. Each sum is over terms between 0 and 1,
 * which are rounded down to parts of 2^-20; a row of a person counts for its
 * share of 1, rounded down, too. So one unit of privacy, whatever its rows hold,
 * adds between 0 and DPERM_ERRORS_PARTS to each sum (docs/guarantee.md, "Errors
 * of numbers").
 */
#define DPERM_ERRORS_PARTS (UINT64_C(1) << 20)

/* With e half the error, and y the label, mapped to [0, 1]: */
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
extern void dperm_counts_add_errors(double decision, double label, int64_t labelled,
									int64_t *sums);

/*
 * Add discrete Laplace noise. A unit moves each of the sums by at most
 * DPERM_ERRORS_PARTS, so all of them by DPERM_SUMS times that, whether it is
 * replaced or removed: the scale is that, divided by epsilon. budget is
 * dperm_selection_budget(epsilon); 0 adds nothing.
 */
extern void dperm_counts_add_error_noise(DpermEntropy *e, uint64_t budget, int64_t *sums);

#endif							/* DPERM_COUNTS_H */
