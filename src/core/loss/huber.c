/*
 * huber.c: the paper's Huber loss: a parabola of width 2h between 0 and 1 - z.
 */
#include <math.h>

#include "core/base/wide.h"
#include "core/loss/loss.h"
#include "core/loss/pairs.h"

/* The loss and its derivatives. */
static DpermLossAt
huber_at(double h, double z)
{
	DpermLossAt at = {0, 0, 0};

	if (z > 1 + h)
		return at;
	if (z < 1 - h)
	{
		at.value = 1 - z;
		at.slope = -1;
		return at;
	}
	at.value = (1 + h - z) * (1 + h - z) / (4 * h);
	at.slope = fmax(-1, fmin(0, -(1 + h - z) / (2 * h)));
	at.curve = 1 / (2 * h);
	return at;
}

/* The Huber loss: the parabola on the bend, plus the linear part before it. */
static inline DpermPair
huber_pair(double h, DpermPair z, DpermLossSums *sums, DpermPair *curve)
{
	double		first = 1 - h;
	double		last = 1 + h;
	DpermPair	share = dperm_at_most(dperm_at_least((last - z) / (2 * h), 0), 1);

	sums->value += h * share * share + dperm_at_least(first - z, 0);
	if (curve)
		*curve = dperm_choose((z < first) | (z > last), dperm_both(0), dperm_both(1 / (2 * h)));
	return -share;
}

/* A block of margins. */
static double
huber_block(double h, int count, double *margins, double *curves, const double *weights)
{
	return dperm_loss_any_pairs(huber_pair, h, INFINITY, count, margins, curves, weights);
}

/* -(1 + q)/2 on the bend, in twice the precision. */
static DpermWide
huber_slope(double h, DpermWide z)
{
	DpermWide	slope;
	DpermWide	q;

	if (dperm_loss_beyond_bend(h, z, &slope, &q))
		return slope;
	return dperm_wide_scale(dperm_wide_add(q, dperm_wide_of(1)), -0.5);
}

/* On the bend the curvature is at most 0.5 / h; at 0 the loss is 1 for any h. */
static DpermLossBounds
huber_bounds(DpermLoss loss)
{
	return dperm_loss_of_margin(0.5 / loss.h, 1);
}

const DpermLossEntry dperm_huber = {
	.name = "huber",
	.learner = DPERM_LEARNER_SVM,
	.label = DPERM_LABEL_TWO,
	.h_min = DPERM_H_MIN,
	.h_range = "h must be between 0.01 and 1",
	.flat = true,
	.probability = false,
	.bounds = huber_bounds,
	.at = huber_at,
	.block = huber_block,
	.slope = huber_slope,
	.share = NULL
};
