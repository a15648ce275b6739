/*
 * pairs.h: code that the losses share: two margins, or residuals, at a
 * time; bounds; the bend.
 */
#ifndef DPERM_PAIRS_H
#define DPERM_PAIRS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/vector.h"
#include "core/base/wide.h"
#include "core/loss/loss.h"

/*
 * Two margins at a time, without branches: margins are practically random, and
 * a mispredicted branch costs more than all the arithmetic. Sums go to
 * DpermLossSums.
 */
typedef struct DpermLossSums
{
	DpermPair	value;
	DpermPair	product;		/* its logarithm is part of the value */
} DpermLossSums;

static inline DpermPair
dperm_at_least(DpermPair x, double least)
{
	return dperm_choose(x > least, x, dperm_both(least));
}

static inline DpermPair
dperm_at_most(DpermPair x, double most)
{
	return dperm_choose(x < most, x, dperm_both(most));
}

/* Slopes of two margins; curve may be NULL. */
typedef DpermPair (*DpermLossPair) (double h, DpermPair z, DpermLossSums *sums, DpermPair *curve);

/*
 * A block. Inlined, so that the compiler knows the loss and whether curves is
 * NULL. An odd last margin is paired with none, which adds nothing.
 */
static inline double
dperm_loss_pairs(DpermLossPair pair, double h, double none, int count, double *margins,
				 double *curves)
{
	DpermLossSums sums = {dperm_both(0), dperm_both(1)};
	DpermPair	curve = dperm_both(0);
	int			i = 0;

	for (; i + 2 <= count; i += 2)
	{
		dperm_put_pair(pair(h, dperm_pair_at(margins + i), &sums, curves ? &curve : NULL),
					   margins + i);
		if (curves)
			dperm_put_pair(curve, curves + i);
	}
	if (i < count)
	{
		DpermPair	last = {margins[i], none};

		margins[i] = pair(h, last, &sums, curves ? &curve : NULL)[0];
		if (curves)
			curves[i] = curve[0];
	}
	return sums.value[0] + sums.value[1] + log(sums.product[0]) + log(sums.product[1]);
}

/*
 * Logarithms of numbers from 1 to 2, by the series of the inverse hyperbolic
 * tangent of (x-1)/(x+1), for x or x/2. The error is a few units in the last
 * place of 1.
 */
static inline DpermPair
dperm_log(DpermPair x)
{
	DpermInts	large = x > 1.4142135623730951;
	DpermPair	less = dperm_choose(large, x * 0.5, x);
	DpermPair	t = (less - 1) / (less + 1);
	DpermPair	z = t * t;
	DpermPair	sum = dperm_both(1.0 / 21);

	for (int k = 19; k > 0; k -= 2)
		sum = dperm_multiply_add(sum, z, dperm_both(1.0 / k));
	return 2 * t * sum + dperm_choose(large, dperm_both(0x1.62e42fefa39efp-1), dperm_both(0));
}

/*
 * The same as dperm_loss_pairs() for margins that have weights, by which
 * losses, slopes and curves are multiplied.
 */
static inline double
dperm_loss_weighted_pairs(DpermLossPair pair, double h, double none, int count, double *margins,
						  double *curves, const double *weights)
{
	DpermPair	total = dperm_both(0);

	for (int i = 0; i < count; i += 2)
	{
		bool		last = i + 1 == count;
		DpermPair	z = last ? (DpermPair) {margins[i], none} : dperm_pair_at(margins + i);
		DpermPair	weight = last ? (DpermPair) {weights[i], 0} : dperm_pair_at(weights + i);
		DpermLossSums sums = {dperm_both(0), dperm_both(1)};
		DpermPair	curve = dperm_both(0);
		DpermPair	slope = weight * pair(h, z, &sums, curves ? &curve : NULL);

		total += weight * (sums.value + dperm_log(sums.product));
		curve *= weight;
		if (last)
		{
			margins[i] = slope[0];
			if (curves)
				curves[i] = curve[0];
			break;
		}
		dperm_put_pair(slope, margins + i);
		if (curves)
			dperm_put_pair(curve, curves + i);
	}
	return total[0] + total[1];
}

/* The block function of a loss, with a separate loop for each case. */
static inline double
dperm_loss_any_pairs(DpermLossPair pair, double h, double none, int count, double *margins,
					 double *curves, const double *weights)
{
	if (weights)
		return curves ? dperm_loss_weighted_pairs(pair, h, none, count, margins, curves, weights) :
			dperm_loss_weighted_pairs(pair, h, none, count, margins, NULL, weights);
	return curves ? dperm_loss_pairs(pair, h, none, count, margins, curves) :
					dperm_loss_pairs(pair, h, none, count, margins, NULL);
}

/*
 * The bounds of a loss of two classes: one slope, of one sign, and so one
 * direction.
 */
static inline DpermLossBounds
dperm_loss_of_margin(double curvature, double start)
{
	return (DpermLossBounds) {
		.reach = 1,
		.norm = 1,
		.curvature = curvature,
		.trace = curvature,
		.rank = 1,
		.directions = 1,
		.lines = 1,
		.start = start,
		.slope_rounding = 4,
		.typical_norm = 20
	};
}

/*
 * The slope of a loss with a bend, in twice the precision: 0 beyond the bend
 * and -1 before it, which returns true; on the bend, q = (1-z)/h between -1 and
 * 1, from which the caller computes it.
 */
static inline bool
dperm_loss_beyond_bend(double h, DpermWide z, DpermWide *slope, DpermWide *q)
{
	DpermWide	away = dperm_wide_subtract(dperm_wide_of(1), z);

	*slope = dperm_wide_of(0);
	if (!(dperm_wide_add(away, dperm_wide_of(h)).high > 0))
		return true;
	*slope = dperm_wide_of(-1);
	if (!(dperm_wide_subtract(away, dperm_wide_of(h)).high < 0))
		return true;
	*q = dperm_wide_divide(away, dperm_wide_of(h));
	return false;
}

#endif							/* DPERM_PAIRS_H */
