/*
 * logistic.c: log(1 + exp(-z)).
 */
#include <math.h>

#include "core/base/wide.h"
#include "core/loss/loss.h"
#include "core/loss/pairs.h"

/* log(1 + exp(-z)), where the argument of exp cannot overflow. */
static DpermLossAt
logistic_at(double h, double z)
{
	double		e = exp(-fabs(z));	/* in (0, 1] */
	double		log_part = log1p(e);
	DpermLossAt at;

	(void) h;
	if (z >= 0)
	{
		at.value = log_part;
		at.slope = -e / (1 + e);
	}
	else
	{
		at.value = log_part - z;
		at.slope = -1 / (1 + e);
	}
	at.curve = fmin(0.25, e / ((1 + e) * (1 + e)));
	return at;
}

/*
 * The logistic loss. The logarithm is taken of a product: the factors 1 + e are
 * between 1 and 2, and a block has too few of them to overflow.
 */
static inline DpermPair
logistic_pair(double h, DpermPair z, DpermLossSums *sums, DpermPair *curve)
{
	DpermInts	negative = z < 0;
	DpermPair	away = (DpermPair) ((DpermInts) z | INT64_MIN);	/* -|z| */
	DpermPair	e = dperm_exp(dperm_at_least(away, -708));	/* practically zero beyond */
	DpermPair	sum = 1 + e;

	(void) h;
	sums->product *= sum;
	sums->value -= dperm_choose(negative, z, dperm_both(0));
	if (curve)
		*curve = dperm_at_most(e / (sum * sum), 0.25);
	return dperm_choose(negative, dperm_both(-1), -e) / sum;
}

/* A block of margins. */
static double
logistic_block(double h, int count, double *margins, double *curves, const double *weights)
{
	return dperm_loss_any_pairs(logistic_pair, h, INFINITY, count, margins, curves, weights);
}

/* Margins beyond which the logistic loss has slope 0 or -1, up to e^-700. */
#define LOGISTIC_FLAT 700

/* -1/(1 + e^z), in twice the precision. */
static DpermWide
logistic_slope(double h, DpermWide z)
{
	const DpermWide one = {1, 0};
	DpermWide	e;

	(void) h;
	if (!(z.high < LOGISTIC_FLAT))
		return dperm_wide_of(0);
	if (z.high < -LOGISTIC_FLAT)
		return dperm_wide_of(-1);
	e = dperm_wide_exp(z.high > 0 ? dperm_wide_minus(z) : z);
	return dperm_wide_minus(dperm_wide_divide(z.high > 0 ? e : one, dperm_wide_add(one, e)));
}

/* The curvature is s(1 - s), for slope s. */
static double
logistic_share(DpermLoss loss, double rest, double *change)
{
	(void) loss;
	*change = 4 * (2 * rest - 1);
	return 4 * rest * (1 - rest);
}

/* At 0 the loss is log 2. */
static DpermLossBounds
logistic_bounds(DpermLoss loss)
{
	(void) loss;
	return dperm_loss_of_margin(0.25, 0x1.62e42fefa39efp-1);
}

const DpermLossEntry dperm_logistic = {
	.name = "logistic",
	.learner = DPERM_LEARNER_LOGREG,
	.label = DPERM_LABEL_TWO,
	.flat = false,
	.probability = true,
	.bounds = logistic_bounds,
	.at = logistic_at,
	.block = logistic_block,
	.slope = logistic_slope,
	.share = logistic_share
};
