/*
 * filter.c: amounts, and the two rules of a budget (docs/guarantee.md,
 * "Budgets").
 * Trusted.
 */
#include "core/privacy/filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/core.h"
#include "core/privacy/composition.h"

/* Digits of an amount after the point, and the largest as a double. */
#define DIGITS 24
#define AMOUNT_MAX 1e6

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

/* Ten to a power, up to 10^30. */
static DpermAmount
power_of_ten(int power)
{
	DpermAmount result = 1;

	while (power-- > 0)
		result *= 10;
	return result;
}

/* The shortest decimal of a double, rounded to this many digits. */
static DpermAmount
of_double(double x, int digits, bool up)
{
	DpermAmount result = 0;
	char		text[32];
	bool		more = false;
	int			place;

	if (up ? !(x < AMOUNT_MAX) : x >= AMOUNT_MAX)
		return DPERM_AMOUNT_MAX;
	if (!(x > 0))
		return 0;

	/* a decimal of up to 15 digits is found with 15; trailing zeros do not matter */
	for (int precision = 14; precision < 17; precision++)
	{
		snprintf(text, sizeof(text), "%.*e", precision, x);
		if (strtod(text, NULL) == x)
			break;
	}
	place = atoi(strchr(text, 'e') + 1);
	for (const char *at = text; *at != 'e'; at++)
	{
		if (*at < '0' || *at > '9')
			continue;
		if (place >= -digits)
			result += (DpermAmount) (*at - '0') * power_of_ten(DIGITS + place);
		else if (*at != '0')
			more = true;
		place--;
	}
	return more && up ? dperm_amount_add(result, power_of_ten(DIGITS - digits)) : result;
}

DpermAmount
dperm_amount_up(double x, int digits)
{
	return of_double(x, digits, true);
}

DpermAmount
dperm_amount_down(double x, int digits)
{
	return of_double(x, digits, false);
}

/* Read digits, optionally followed by a point and more digits. */
bool
dperm_amount_read(const char *text, DpermAmount *out)
{
	const char *at = text;
	DpermAmount unit = DPERM_AMOUNT_ONE;

	*out = 0;
	for (; *at >= '0' && *at <= '9'; at++)
	{
		*out = *out * 10 + (DpermAmount) (*at - '0') * unit;
		if (*out > DPERM_AMOUNT_MAX)
			return false;
	}
	if (at == text)
		return false;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
		{
			unit /= 10;
			*out += (DpermAmount) (*at - '0') * unit;
			if (unit == 0 && *at != '0')
				return false;
		}
	return *at == '\0';
}

void
dperm_amount_print(DpermAmount a, char *text)
{
	const DpermAmount half = power_of_ten(DIGITS / 2);
	size_t		len;

	snprintf(text, DPERM_AMOUNT_TEXT, "%" PRIu64 ".%012" PRIu64 "%012" PRIu64,
			 (uint64_t) (a / DPERM_AMOUNT_ONE), (uint64_t) (a / half % half),
			 (uint64_t) (a % half));
	len = strlen(text);
	while (text[len - 1] == '0')
		len--;
	if (text[len - 1] == '.')
		len--;
	text[len] = '\0';
}

double
dperm_amount_double(DpermAmount a)
{
	char		text[DPERM_AMOUNT_TEXT];

	dperm_amount_print(a, text);
	return strtod(text, NULL);
}

/*
 * The divergence that converts to epsilon at a delta, within the precision of
 * doubles; negative if there is none.
 */
static double
divergence_for(double epsilon, double delta, double order)
{
	double		low = 0;
	double		high = 2 * epsilon + 10;

	/* conversion adds terms that do not depend on the divergence, and a margin for rounding */
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

/* Rounded to three digits after the point, for readability; every order above 1 is valid. */
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
		return 0;
	limit = divergence_for(
		dperm_amount_double(filter->epsilon) * NUDGE,
		dperm_amount_double(filter->delta * RENYI_PARTS / PARTS) * NUDGE,
		filter->order);
	return dperm_amount_down(limit, LIMIT_DIGITS);
}

/* Rule A. */
static bool
sums_allow(const DpermFilter *filter, const DpermFilterSums *spent)
{
	return spent->epsilon <= filter->epsilon &&
		dperm_amount_add(spent->delta, spent->tail) <= filter->delta * SUM_PARTS / PARTS;
}

/* Rule B. */
static bool
divergences_allow(const DpermFilter *filter, DpermAmount limit, const DpermFilterSums *spent)
{
	return filter->order > 1 && spent->divergence <= limit &&
		spent->direct <= filter->delta * DIRECT_PARTS / PARTS;
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
		sums.tail = sums.direct = dperm_amount_up(DPERM_TAIL, DPERM_DELTA_DIGITS);
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
	DpermAmount unit = power_of_ten(DIGITS - DPERM_EPSILON_DIGITS);
	DpermAmount low = 0;
	DpermAmount high = DPERM_EPSILON_MAX * DPERM_AMOUNT_ONE / unit + 1;

	while (high - low > 1)
	{
		DpermAmount middle = low + (high - low) / 2;
		DpermFilterSums pure =
			dperm_filter_pure(dperm_amount_double(middle * unit), filter->order);
		DpermFilterSums all = dperm_filter_add(spent, &pure);

		if (sums_allow(filter, &all) || divergences_allow(filter, limit, &all))
			low = middle;
		else
			high = middle;
	}
	return low * unit;
}

DpermAmount
dperm_filter_delta_left(const DpermFilter *filter, const DpermFilterSums *spent, double epsilon)
{
	DpermFilterSums all = dperm_filter_pure(epsilon, filter->order);
	DpermAmount sums = 0;
	DpermAmount direct = 0;

	all.tail = all.direct = 0;	/* it is in the delta */
	all = dperm_filter_add(spent, &all);
	if (sums_allow(filter, &all))
		sums = dperm_amount_less(filter->delta * SUM_PARTS / PARTS,
								 dperm_amount_add(spent->delta, spent->tail));
	if (divergences_allow(filter, dperm_filter_limit(filter), &all))
		direct = dperm_amount_less(filter->delta * DIRECT_PARTS / PARTS, spent->direct);
	return sums < direct ? direct : sums;
}
