/*
 * smooth_hinge.c: the paper's l_s: a quartic between 0 and 1 - z, twice
 * differentiable.
 */
#include <math.h>

#include "core/base/wide.h"
#include "core/loss/loss.h"
#include "core/loss/pairs.h"

/* The loss and its derivatives. */
static DpermLossAt
smooth_hinge_at(double h, double z)
{
	DpermLossAt at = {0, 0, 0};
	double		q;

	if (z > 1 + h)
		return at;
	if (z < 1 - h)
	{
		at.value = 1 - z;
		at.slope = -1;
		return at;
	}
	q = (1 - z) / h;			/* in [-1, 1] */
	at.value = h * fmax(0, ((-q * q / 16 + 3.0 / 8) * q + 0.5) * q + 3.0 / 16);
	at.slope = fmax(-1, fmin(0, (q * q - 3) * q / 4 - 0.5));
	at.curve = 0.75 * fmax(0, 1 - q * q) / h;
	return at;
}

/* l_s: the quartic on the bend, plus the linear part before it. */
static inline DpermPair
smooth_hinge_pair(double h, DpermPair z, DpermLossSums *sums, DpermPair *curve)
{
	DpermPair	q = dperm_at_most(dperm_at_least((1 - z) / h, -1), 1);
	DpermPair	slope = (q * q - 3) * q * 0.25 - 0.5;

	sums->value +=
		h * dperm_at_least(((q * q * (-1.0 / 16) + 3.0 / 8) * q + 0.5) * q + 3.0 / 16, 0) +
		dperm_at_least((1 - h) - z, 0);
	if (curve)
		*curve = 0.75 * dperm_at_least(1 - q * q, 0) / h;
	return dperm_at_most(dperm_at_least(slope, -1), 0);
}

/* A block of margins. */
static double
smooth_hinge_block(double h, int count, double *margins, double *curves, const double *weights)
{
	return dperm_loss_any_pairs(smooth_hinge_pair, h, INFINITY, count, margins, curves, weights);
}

/* (q^3 - 3 q)/4 - 1/2 on the bend, in twice the precision. */
static DpermWide
smooth_hinge_slope(double h, DpermWide z)
{
	DpermWide	slope;
	DpermWide	q;

	if (dperm_loss_beyond_bend(h, z, &slope, &q))
		return slope;
	slope =
		dperm_wide_multiply(q, dperm_wide_subtract(dperm_wide_multiply(q, q), dperm_wide_of(3)));
	return dperm_wide_subtract(dperm_wide_scale(slope, 0.25), dperm_wide_of(0.5));
}

/*
 * The curvature is c (1 - q^2), where the slope is 1/2 + (3 q - q^3)/4. With q
 * = 2 sin(x) that is (1 + sin(3 x))/2; x is computed from its end, so that 1 -
 * q keeps its relative precision there. Both ends are alike.
 */
static double
smooth_hinge_share(DpermLoss loss, double rest, double *change)
{
	double		angle = asin(sqrt(fmin(rest, 1 - rest))) * 2 / 3;
	double		half = sin(angle / 2);
	double		away = 2 * half * half + sqrt(3) * sin(angle);	/* 1 - |q| */
	double		share = away * (2 - away);

	(void) loss;
	*change = (rest < 0.5 ? -8 : 8) * (1 - away) / (3 * share);
	return share;
}

/* On the bend the curvature is at most 0.75 / h; at 0 the loss is 1 for any h. */
static DpermLossBounds
smooth_hinge_bounds(DpermLoss loss)
{
	return dperm_loss_of_margin(0.75 / loss.h, 1);
}

const DpermLossEntry dperm_smooth_hinge = {
	.name = "smooth_hinge",
	.learner = DPERM_LEARNER_SVM,
	.label = DPERM_LABEL_TWO,
	.h_min = DPERM_H_MIN,
	.h_range = "h must be between 0.01 and 1",
	.flat = true,
	.probability = false,
	.bounds = smooth_hinge_bounds,
	.at = smooth_hinge_at,
	.block = smooth_hinge_block,
	.slope = smooth_hinge_slope,
	.share = smooth_hinge_share
};
