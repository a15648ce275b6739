/*
 * filter.h: when a budget is exhausted, for any adaptive choices
 * (docs/guarantee.md, "Budgets").
 *
 * A budget (E, D) allows a release as long as one of two rules holds for
 * everything so far and the release itself: (A) epsilons add up to at most E,
 * and deltas to at most D/4; (B) Renyi divergences of one order, fixed when the
 * budget is created, add up to at most what converts to (E, 11D/16), and the
 * deltas of releases without a divergence to at most D/16. With D = 0: epsilons
 * add up to at most E, and there are no deltas.
 */
#ifndef DPERM_FILTER_H
#define DPERM_FILTER_H

#include <stdbool.h>

#include "core/privacy/amount.h"

/*
 * Each release takes at least this delta: the tail of its noise, and cut loops.
 * That of a release with a delta is in its delta; that of a pure one is counted
 * beside the deltas, so that these are what the callers asked for.
 */
#define DPERM_FILTER_TAIL 0x1p-64

/* Amounts of each kind are rounded up to this many digits after the point. */
#define DPERM_EPSILON_DIGITS 12
#define DPERM_DELTA_DIGITS 24
#define DPERM_DIVERGENCE_DIGITS 15

/* A budget. */
typedef struct DpermFilter
{
	DpermAmount epsilon;
	DpermAmount delta;
	double		order;			/* 0 without a delta */
} DpermFilter;

/* What has been spent, or what one release spends. */
typedef struct DpermFilterSums
{
	DpermAmount epsilon;
	DpermAmount delta;			/* as it was asked for */
	DpermAmount divergence;		/* Renyi, of the budget's order */
	DpermAmount direct;			/* what of delta and tail has no divergence */
	DpermAmount tail;			/* of pure releases, unless the budget has no delta */
} DpermFilterSums;

/*
 * The order for a budget: the one that allows most releases with a little
 * Gaussian noise each.
 */
extern double dperm_filter_order(double epsilon, double delta);

/*
 * The divergence that converts to (E, 11D/16), rounded down; 0 if there is none.
 */
extern DpermAmount dperm_filter_limit(const DpermFilter *filter);

/* Do these sums satisfy one of the rules? */
extern bool dperm_filter_allows(const DpermFilter *filter, const DpermFilterSums *spent);

/* The sum of both. */
extern DpermFilterSums dperm_filter_add(const DpermFilterSums *a, const DpermFilterSums *b);

/*
 * What a pure release spends from a budget with this order (0: one without
 * delta).
 */
extern DpermFilterSums dperm_filter_pure(double epsilon, double order);

/*
 * The largest epsilon of a pure release that would still be allowed, rounded
 * down.
 */
extern DpermAmount dperm_filter_left(const DpermFilter *filter, const DpermFilterSums *spent);

/*
 * The largest delta of a release with this epsilon, of which nothing else is
 * known, that would still be allowed.
 */
extern DpermAmount dperm_filter_delta_left(const DpermFilter *filter, const DpermFilterSums *spent,
										   double epsilon);

#endif							/* DPERM_FILTER_H */
