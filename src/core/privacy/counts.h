/*
 * counts.h: what is told of counts: which cell or sums a row counts in; exact
 * noise for them; a private choice by them; and the intervals in which a summary
 * counts the values of a column. Metrics are computed from what these leave
 * behind (core/metrics).
 * Trusted.
 *
 * Counts are in parts of a unit of privacy: dperm_unit_parts() of them per unit,
 * 1 for rows, at most 2^20. All arithmetic that privacy depends on is on integers.
 */
#ifndef DPERM_COUNTS_H
#define DPERM_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/privacy/claim.h"
#include "core/privacy/draw.h"

/* ---------------------------------------------------------------- budgets */

/*
 * epsilon as a fraction num/2^20, rounded down so that no more is spent. At
 * least 2^-20; an infinite epsilon (num = 0) adds no noise, and selects the best
 * candidate, the first one in case of a tie. Twice as much if a row is removed,
 * since counts then change by half as much as when another row takes its place,
 * or all in the same direction.
 */
extern uint64_t dperm_selection_budget(double epsilon, DpermNeighbours neighbours);

/* ---------------------------------------------------------------- choices */

/*
 * A choice among candidates by their number of errors. Replacing one row changes
 * every count by at most one; replacing a person, by at most the parts of a
 * person. Both rules choose candidate i with an exponential preference in its
 * excess z_i - min z, and are epsilon-differentially private (docs/guarantee.md,
 * "Selection").
 */
typedef enum DpermSelection
{
	DPERM_SELECT_PERMUTE_AND_FLIP = 0,	/* McKenna and Sheldon 2020: never worse */
	DPERM_SELECT_EXPONENTIAL = 1	/* the paper's */
} DpermSelection;

#define DPERM_SELECTION_COUNT 2

extern const char *dperm_selection_name(int rule);

/* The position of the chosen candidate. order is room for count ints. */
extern int dperm_selection_choose(DpermEntropy *e, DpermSelection rule, uint64_t budget,
								  uint64_t parts, const int64_t *mistakes, int count, int *order);

/* ------------------------------------------------------ counts of decisions */

/* The noise of counts of disjoint cells, or of sums. Both 0: none. */
typedef struct DpermCountsNoise
{
	/*
	 * discrete Laplace, of scale 2 parts/epsilon, by dperm_selection_budget() of
	 * epsilon: replacing one row takes one from a cell and adds one to another,
	 * so the counts change by 2 in total; a person contributes at most parts in
	 * total, so the counts change by twice that
	 */
	uint64_t	budget;
	int64_t		sigma;			/* or discrete Gaussian, in parts */
} DpermCountsNoise;

/* Add it. A unit moves all counts together by at most twice the parts. */
extern void dperm_counts_add_noise(DpermEntropy *e, DpermCountsNoise noise, uint64_t parts,
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

/* --------------------------------------------------------- sums of errors */

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
 * The parts of their noise, by dperm_selection_budget() of epsilon: whether a unit is
 * replaced or removed, it moves each of the sums by at most DPERM_ERRORS_PARTS.
 */
#define DPERM_ERRORS_NOISE_PARTS (DPERM_SUMS * DPERM_ERRORS_PARTS / 2)

/*
 * Add a row with a label. labelled is the number of labelled rows of its
 * person, 1 if rows are the units.
 */
extern void dperm_counts_add_errors(double decision, double label, int64_t labelled,
									int64_t *sums);

/* --------------------------------------- a summary (docs/guarantee.md, "A summary") */

/* The cells of a number, unless it has fewer values. */
#define DPERM_SUMMARY_CELLS 4096

/* What is counted of a column. */
typedef enum DpermSummaryKind
{
	DPERM_SUMMARY_NOTHING,
	DPERM_SUMMARY_VALUES,		/* a list of values */
	DPERM_SUMMARY_NUMBER		/* intervals, which are found first */
} DpermSummaryKind;

/* What a column of a summary gets. */
typedef struct DpermSummary
{
	DpermSummaryKind kind;
	DpermCountsNoise noise;		/* of each count */
	uint64_t	intervals;		/* epsilon times 2^20, to find the intervals; 0: they are exact */
	bool		removes;		/* for neighbours that remove a row */
} DpermSummary;

/*
 * Divide (epsilon, delta) among columns whose kinds are known; false if epsilon is
 * too small for that.
 */
extern bool dperm_summary_divide(double epsilon, double delta, DpermNeighbours neighbours,
								 uint64_t parts, DpermSummary *columns, int count);

/*
 * The intervals of a number, from the exact counts of its cells: ends is room for as many as there
 * are cells, and becomes where each ends; the first one begins at 0. Returns their number.
 */
extern int	dperm_summary_intervals(DpermEntropy *e, const DpermSummary *column, uint64_t parts,
									int64_t units, const int64_t *cells, int count, int *ends);

#endif							/* DPERM_COUNTS_H */
