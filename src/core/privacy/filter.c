/*
 * filter.c: the two rules of a budget (docs/guarantee.md, "Budgets").
 */
#include "core/privacy/filter.h"

#include <math.h>

#include "core/base/limits.h"
#include "core/privacy/composition.h"

/*
 * The shares of delta, in sixteenths: for sums; for Renyi divergences; and for
 * what has no divergence.
 */
#define PARTS 16
#define SUM_PARTS 4
#define RENYI_PARTS 11
#define DIRECT_PARTS 1

/* Steps of a bisection of doubles that are not far from 1. */
#define SEARCH_STEPS 100

/* Digits after the point of a limit. */
#define LIMIT_DIGITS 15

/* A relative margin for the rounding of a budget's epsilon and delta. */
#define NUDGE (1 - 1e-15)

/*
 * The divergence that converts to epsilon at a delta, within the precision of
 * doubles; negative if there is none.
 */
static double
divergence_for(double epsilon, double delta, double order)
{
	double		low = 0;
	double		high = 2 * epsilon + 10;

	/*
	 * conversion adds terms that do not depend on the divergence, and a margin
	 * for rounding
	 */
	if (dperm_composition_convert(low, order, delta) > epsilon)
		return epsilon - dperm_composition_convert(low, order, delta);
	for (int i = 0; i < SEARCH_STEPS; i++)
	{
		double		middle = low + (high - low) / 2;

		if (dperm_composition_convert(middle, order, delta) <= epsilon)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Rounded to three digits after the point, for readability; every order above 1
 * is valid.
 */
double
dperm_filter_order(double epsilon, double delta)
{
	double		best = dperm_composition_order(0);
	double		most = -INFINITY;

	if (!(delta > 0))
		return 0;
	for (int i = 0; i < DPERM_ORDER_COUNT; i++)
	{
		double		order = rint(dperm_composition_order(i) * 1000) / 1000;
		double		limit = divergence_for(epsilon, delta * RENYI_PARTS / PARTS, order);

		/*
		 * the cost of a little Gaussian noise is proportional to the order; for
		 * a large epsilon there may be no valid order
		 */
		double		count = limit > 0 ? limit / order : limit;

		if (count > most)
		{
			most = count;
			best = order;
		}
	}
	return best;
}

DpermAmount
dperm_filter_limit(const DpermFilter *filter)
{
	double		limit;

	if (!(filter->order > 1))
		return (DpermAmount) {0, 0};
	limit = divergence_for(
		dperm_amount_double(filter->epsilon) * NUDGE,
		dperm_amount_double(dperm_amount_share(filter->delta, RENYI_PARTS, PARTS)) * NUDGE,
		filter->order);
	return dperm_amount_down(limit, LIMIT_DIGITS);
}

/* Rule A. */
static bool
sums_allow(const DpermFilter *filter, const DpermFilterSums *spent)
{
	return dperm_amount_compare(spent->epsilon, filter->epsilon) <= 0 &&
		   dperm_amount_compare(dperm_amount_add(spent->delta, spent->tail),
								dperm_amount_share(filter->delta, SUM_PARTS, PARTS)) <= 0;
}

/* Rule B. */
static bool
divergences_allow(const DpermFilter *filter, DpermAmount limit, const DpermFilterSums *spent)
{
	return filter->order > 1 && dperm_amount_compare(spent->divergence, limit) <= 0 &&
		   dperm_amount_compare(spent->direct,
								dperm_amount_share(filter->delta, DIRECT_PARTS, PARTS)) <= 0;
}

bool
dperm_filter_allows(const DpermFilter *filter, const DpermFilterSums *spent)
{
	return sums_allow(filter, spent) ||
		   divergences_allow(filter, dperm_filter_limit(filter), spent);
}

DpermFilterSums
dperm_filter_add(const DpermFilterSums *a, const DpermFilterSums *b)
{
	DpermFilterSums sums = {
		.epsilon = dperm_amount_add(a->epsilon, b->epsilon),
		.delta = dperm_amount_add(a->delta, b->delta),
		.divergence = dperm_amount_add(a->divergence, b->divergence),
		.direct = dperm_amount_add(a->direct, b->direct),
		.tail = dperm_amount_add(a->tail, b->tail)
	};

	return sums;
}

DpermFilterSums
dperm_filter_pure(double epsilon, double order)
{
	DpermRelease release = {.epsilon = epsilon, .curve = DPERM_CURVE_PURE};
	DpermFilterSums sums = {.epsilon = dperm_amount_up(epsilon, DPERM_EPSILON_DIGITS)};

	if (order > 1)
	{
		sums.tail = sums.direct = dperm_amount_up(DPERM_FILTER_TAIL, DPERM_DELTA_DIGITS);
		sums.divergence =
			dperm_amount_up(dperm_composition_curve(&release, order), DPERM_DIVERGENCE_DIGITS);
	}
	return sums;
}

/*
 * Everything grows with epsilon, so a bisection in units of the last digit
 * finds the largest.
 */
DpermAmount
dperm_filter_left(const DpermFilter *filter, const DpermFilterSums *spent)
{
	DpermAmount limit = dperm_filter_limit(filter);
	int64_t		scale = dperm_amount_up(1, 0).units;
	int64_t		low = 0;
	int64_t		high = DPERM_EPSILON_MAX * scale + 1;

	while (high - low > 1)
	{
		int64_t		middle = low + (high - low) / 2;
		DpermFilterSums pure =
			dperm_filter_pure(dperm_amount_double((DpermAmount) {middle, 0}), filter->order);
		DpermFilterSums all = dperm_filter_add(spent, &pure);

		if (sums_allow(filter, &all) || divergences_allow(filter, limit, &all))
			low = middle;
		else
			high = middle;
	}
	return (DpermAmount) {low, 0};
}

DpermAmount
dperm_filter_delta_left(const DpermFilter *filter, const DpermFilterSums *spent, double epsilon)
{
	DpermFilterSums all = dperm_filter_pure(epsilon, filter->order);
	DpermAmount sums = {0, 0};
	DpermAmount direct = {0, 0};

	all.tail = all.direct = (DpermAmount) {0, 0};	/* it is in the delta */
	all = dperm_filter_add(spent, &all);
	if (sums_allow(filter, &all))
		sums = dperm_amount_less(dperm_amount_share(filter->delta, SUM_PARTS, PARTS),
								 dperm_amount_add(spent->delta, spent->tail));
	if (divergences_allow(filter, dperm_filter_limit(filter), &all))
		direct = dperm_amount_less(dperm_amount_share(filter->delta, DIRECT_PARTS, PARTS),
								   spent->direct);
	return dperm_amount_compare(sums, direct) < 0 ? direct : sums;
}
