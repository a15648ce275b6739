/*
 * charge.c: amounts, the two rules of a budget, and what a call takes from it, for
 * any number of rows (docs/guarantee.md, "Budgets").
 * Trusted: a charge that is too small breaks a budget.
 */
#include "core/mechanism/charge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/composition.h"

/* Digits of an amount after the point, of all and of those that are rounded; the largest. */
#define DIGITS 24
#define EPSILON_DIGITS 12
#define DIVERGENCE_DIGITS 15
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

/* A relative margin for the rounding of a budget's epsilon and delta. */
#define LESS (1 - 1e-15)

/* A relative margin for rounding, as in model.c. */
#define NUDGE (1 + 1e-9)

/*
 * For a larger epsilon sigma may come out larger than a model's: by 6e-6 for
 * the steps of its search, and by 1e-11/epsilon, about 1e-5 at most, for the
 * margin of the exact formula, which is larger than that of the others.
 */
#define SIGMA_ROOM (1 + 2e-5)

/* Ten to a power, up to 10^30. */
static DpermAmount
power_of_ten(int power)
{
	DpermAmount result = 1;

	while (power-- > 0)
		result *= 10;
	return result;
}

DpermAmount
dperm_amount_of(double x, int digits, bool up)
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
		dperm_amount_double(filter->epsilon) * LESS,
		dperm_amount_double(filter->delta * RENYI_PARTS / PARTS) * LESS,
		filter->order);
	return dperm_amount_of(limit, DIVERGENCE_DIGITS, false);
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
	DpermFilterSums sums = {.epsilon = dperm_amount_of(epsilon, EPSILON_DIGITS, true)};

	if (order > 1)
	{
		sums.tail = sums.direct = dperm_amount_of(DPERM_TAIL, DIGITS, true);
		sums.divergence =
			dperm_amount_of(dperm_composition_curve(&release, order), DIVERGENCE_DIGITS, true);
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
	DpermAmount unit = power_of_ten(DIGITS - EPSILON_DIGITS);
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
		sums = filter->delta * SUM_PARTS / PARTS - dperm_amount_add(spent->delta, spent->tail);
	if (divergences_allow(filter, dperm_filter_limit(filter), &all))
		direct = filter->delta * DIRECT_PARTS / PARTS - spent->direct;
	return sums < direct ? direct : sums;
}

/* ----------------------------------------------------- what a call takes */

/*
 * The divergence of a training whose noise is known: output perturbation, or else
 * Gaussian objective perturbation. The share of the release depends on the number of
 * rows: here it is the largest, and the noise gets all of epsilon. In the output, noise
 * is proportional to the sensitivity, for any number of rows. In the objective, the slack
 * whatever the slope is at most a share of epsilon; that of the claim may be 0, and then
 * the noise gets all of epsilon. No bound that its sigma satisfies is below the exact delta.
 */
static double
divergence_of(const DpermSpend *spend, bool output, double order)
{
	const DpermLossBounds loss = dperm_loss_bounds(spend->loss);
	bool		gaussian = spend->delta > 0;
	double		sigma = !gaussian ? 0 :
		dperm_privacy_sigma(spend->epsilon, dperm_calibrate_delta(spend->delta) /
							(output ? 1 : loss.directions));
	DpermRelease release = {
		.neighbours = spend->neighbours,
		.unit = spend->unit,
		.epsilon = spend->epsilon,
		.delta = spend->delta,
		.curve = gaussian ? DPERM_CURVE_SHIFT : DPERM_CURVE_BALL,
		.mu = gaussian ? SIGMA_ROOM / sigma : spend->epsilon * NUDGE,
		.dim = spend->dim,
		.stage = DPERM_RELEASE_SHARE_MAX * spend->epsilon * NUDGE
	};

	if (!output)
	{
		dperm_composition_objective(&release, loss.directions, loss.rank,
									dperm_claim_rows_apart(spend->neighbours) * sigma);
		release.mu *= SIGMA_ROOM;
		release.kappa =
			(spend->slack > 0 ? spend->slack : DPERM_SLACK_MAX) * spend->epsilon * NUDGE;
	}
	return dperm_composition_curve(&release, order);
}

DpermFilterSums
dperm_charge_of(const DpermSpend *spend, double order)
{
	DpermFilterSums sums = dperm_filter_pure(spend->epsilon, order);
	double		divergence = 0;

	if (spend->delta > 0)
	{
		sums.delta = dperm_amount_of(spend->delta, DIGITS, true);
		sums.tail = 0;			/* it is in the delta */
	}
	if (!(order > 1))
		return sums;

	/* unless something better is known: pure, apart from its delta */
	if (!spend->output && !spend->objective)
	{
		if (spend->delta > 0)
			sums.direct = sums.delta;
		return sums;
	}
	if (spend->objective && !(spend->delta > 0))
		return sums;
	if (spend->output)
		divergence = divergence_of(spend, true, order);
	if (spend->objective)
		divergence = fmax(divergence, divergence_of(spend, false, order));
	sums.divergence = dperm_amount_of(divergence, DIVERGENCE_DIGITS, true);
	return sums;
}
