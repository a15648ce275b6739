/*
 * summary.h: counts of all columns of a table at one epsilon
 * (docs/guarantee.md, "A summary").
 */
#ifndef DPERM_SUMMARY_H
#define DPERM_SUMMARY_H

#include "core/privacy/claim.h"
#include "core/privacy/counts.h"

/* The cells of a number, unless it has fewer values. */
#define DPERM_SUMMARY_CELLS 4096

/*
 * What a column gets: a list of values has noise for each count, a number in
 * addition for the intervals that are counted. All 0: no noise.
 */
typedef struct DpermSummaryShare
{
	uint64_t	intervals;		/* epsilon times 2^20 */
	bool		removes;		/* for neighbours that remove a row */
	uint64_t	counts;			/* a budget of Laplace noise, as in counts.h; or */
	int64_t		sigma;			/* in parts: of Gaussian noise, unless 0 */
} DpermSummaryShare;

extern bool dperm_summary_divide(double epsilon, double delta, DpermNeighbours neighbours,
								 uint64_t parts, const bool *numbers, int count,
								 DpermSummaryShare *shares);
extern int	dperm_summary_intervals(DpermEntropy *e, DpermSummaryShare share, uint64_t parts,
									int64_t units, const int64_t *cells, int count, int *ends);
extern void dperm_summary_add_noise(DpermEntropy *e, DpermSummaryShare share, uint64_t parts,
									int64_t *counts, int count);

#endif							/* DPERM_SUMMARY_H */
