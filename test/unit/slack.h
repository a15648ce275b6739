/*
 * slack.h: the slack of objective perturbation in long double, by trying slopes: what the library's is compared with.
 */
#ifndef DPERM_TEST_SLACK_H
#define DPERM_TEST_SLACK_H

#include <math.h>

#include "core/loss/loss.h"

/* The size of the slope and the trace of the curvature of an output, by a number from 0 to 1 that the slope grows with. */
static inline void
slack_output(DpermLoss loss, long double t, long double *slope, long double *curve)
{
	long double q = 2 * t - 1;

	*slope = t;
	*curve = loss.kind == DPERM_LOSS_LOG_COSH ? (1 - t) * (1 + t) / loss.h : t * (1 - t);
	if (loss.kind == DPERM_LOSS_SOFTMAX)
		*curve = 2 * t - loss.classes * t * t / (loss.classes - 1);
	if (loss.kind == DPERM_LOSS_HUBER)
		*curve = 0.5L / loss.h;
	if (loss.kind == DPERM_LOSS_SMOOTH_HINGE)
	{
		*slope = 0.5L + (3 * q - q * q * q) / 4;
		*curve = 0.75L * (1 - q * q) / loss.h;
	}
}

/* The most that the noise may have of epsilon for this output. */
static inline long double
slack_left(DpermLoss loss, int apart, long double rank, long double flat, long double epsilon, long double t)
{
	long double slope,
				curve;

	slack_output(loss, t, &slope, &curve);
	return apart * (epsilon - rank * log1pl(curve / (rank * flat))) / (apart - 1 + slope);
}

/*
 * Epsilon less the least of these. The determinants are concave in the slope, so that what is left is quasiconvex in it, and a
 * golden-section search finds the least; flat is n Lambda.
 */
static inline long double
slack_reference(DpermLoss loss, int apart, long double rank, long double flat, long double epsilon)
{
	const long double golden = 0.6180339887498948482L;
	long double low = 0,
				high = 1,
				left,
				right,
				at_left,
				at_right;

	/* nothing is left whatever the slope, if that has the largest curvature */
	if (!(rank * log1pl(dperm_loss_bounds(loss).trace / (rank * flat)) < epsilon))
		return INFINITY;
	left = high - golden * (high - low);
	right = low + golden * (high - low);
	at_left = slack_left(loss, apart, rank, flat, epsilon, left);
	at_right = slack_left(loss, apart, rank, flat, epsilon, right);
	for (int i = 0; i < 90; i++)
	{
		if (at_left < at_right)
		{
			high = right;
			right = left;
			at_right = at_left;
			left = high - golden * (high - low);
			at_left = slack_left(loss, apart, rank, flat, epsilon, left);
		}
		else
		{
			low = left;
			left = right;
			at_left = at_right;
			right = low + golden * (high - low);
			at_right = slack_left(loss, apart, rank, flat, epsilon, right);
		}
	}
	return fmaxl(epsilon - fminl(slack_left(loss, apart, rank, flat, epsilon, (low + high) / 2),
								 slack_left(loss, apart, rank, flat, epsilon, 1)), 0);
}

#endif							/* DPERM_TEST_SLACK_H */
