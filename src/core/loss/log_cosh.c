/*
 * log_cosh.c: h log cosh(r/h) of a residual r: a parabola near 0, |r| - h log 2
 * far from it.
 */
#include <math.h>

#include "core/base/wide.h"
#include "core/loss/loss.h"
#include "core/loss/pairs.h"

#define LOG_TWO 0x1.62e42fefa39efp-1

/*
 * With e = exp(-2|r|/h), in (0, 1], nothing overflows. Near 0 the logarithm is
 * that of 1 + 2 sinh(r/2h)^2.
 */
static DpermLossAt
log_cosh_at(double h, double r)
{
	double		x = fabs(r) / h;
	double		e = exp(-2 * x);
	double		half = sinh(fmin(x, 1) / 2);

	return (DpermLossAt) {
		.value = x < 1 ? h * log1p(2 * half * half) : fabs(r) + h * (log1p(e) - LOG_TWO),
		.slope = tanh(r / h),
		.curve = fmin(4 * e / ((1 + e) * (1 + e)), 1) / h
	};
}

/* The same, but the value is divided by h. */
static inline DpermPair
log_cosh_pair(double h, DpermPair r, DpermLossSums *sums, DpermPair *curve)
{
	DpermPair	away = (DpermPair) ((DpermInts) r | INT64_MIN) / h;	/* -|r/h| */
	DpermPair	e = dperm_exp(dperm_at_least(2 * away, -708));	/* practically zero beyond */
	DpermPair	sum = 1 + e;
	DpermPair	size = (1 - e) / sum;

	sums->product *= sum;
	sums->value -= away + LOG_TWO;
	if (curve)
		*curve = dperm_at_most(4 * e / (sum * sum), 1) / h;
	return dperm_choose(r < 0, -size, size);
}

/* A block of residuals. */
static double
log_cosh_block(double h, int count, double *residuals, double *curves, const double *weights)
{
	return h * dperm_loss_any_pairs(log_cosh_pair, h, 0, count, residuals, curves, weights);
}

/* Beyond this |r|/h the slope is -1 or 1, up to 2 e^-700. */
#define FLAT 350

/* The hyperbolic tangent of r/h, in twice the precision. */
static DpermWide
log_cosh_slope(double h, DpermWide r)
{
	const DpermWide one = {1, 0};
	double		sign = r.high < 0 ? -1 : 1;
	DpermWide	e;

	if (!(fabs(r.high) < FLAT * h))
		return dperm_wide_of(sign);
	e = dperm_wide_exp(dperm_wide_divide(dperm_wide_scale(r, -2 * sign), dperm_wide_of(h)));
	return dperm_wide_scale(
		dperm_wide_divide(dperm_wide_subtract(one, e), dperm_wide_add(one, e)), sign);
}

/* The curvature is 1 - s^2 of its largest, for slope s. */
static double
log_cosh_share(DpermLoss loss, double rest, double *change)
{
	(void) loss;
	*change = -2 * (1 - rest);
	return rest * (2 - rest);
}

/*
 * A slope has either sign: two directions. Labels are between -1 and 1, and so
 * are the residuals at weights 0.
 */
static DpermLossBounds
log_cosh_bounds(DpermLoss loss)
{
	return (DpermLossBounds) {
		.reach = 1,
		.norm = 1,
		.curvature = 1 / loss.h,
		.trace = 1 / loss.h,
		.rank = 1,
		.directions = 2,
		.lines = 1,
		.start = log_cosh_at(loss.h, 1).value,
		.slope_rounding = 8,
		.typical_norm = 5
	};
}

const DpermLossEntry dperm_log_cosh = {
	.name = "log_cosh",
	.learner = DPERM_LEARNER_LINREG,
	.label = DPERM_LABEL_NUMBER,
	.h_min = DPERM_H_MIN_LOG_COSH,
	.h_range = "h must be between 0.02 and 1",
	.flat = false,
	.probability = false,
	.bounds = log_cosh_bounds,
	.at = log_cosh_at,
	.block = log_cosh_block,
	.slope = log_cosh_slope,
	.share = log_cosh_share
};
