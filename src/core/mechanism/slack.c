/*
 * slack.c: a line above the logarithm of the determinants.
 */
#include "core/mechanism/slack.h"

#include <math.h>
#include <stddef.h>

#include "core/loss/loss.h"

/* More than the relative rounding error of a value and of its derivative. */
#define ROUNDING 1e-13

/* The search for the tangent: its relative precision, and the most steps. */
#define PRECISION 1e-13
#define STEPS 60

/*
 * A row adds a matrix of the rank of the curvature to the Hessian, a person one
 * of up to that rank times the coordinates of a row, with the same trace: the
 * worst case is an even spread.
 */
double
dperm_slack_rank(DpermLoss loss, DpermUnit unit, int dim)
{
	int			rank = dperm_loss_bounds(loss).rank;

	return unit == DPERM_UNIT_PERSON ? (double) rank * (dim / dperm_loss_blocks(loss)) : rank;
}

double
dperm_slack_any_slope(double rank, double ratio)
{
	return rank * log1p(ratio / rank);
}

/*
 * The tangent at slope 1 - rest. The determinants are concave in the slope, so
 * they are nowhere above it.
 */
static DpermSlack
tangent(const DpermSetup *s, double rank, double ratio, double rest)
{
	double		change;
	double		share = dperm_loss_entry((int) s->loss.kind)->share(s->loss, rest, &change);
	double		value = rank * log1p(ratio * share / rank);
	double		fall = -ratio * change / (1 + ratio * share / rank);
	double		error = (value + fabs(fall)) * ROUNDING;

	return (DpermSlack) {
		.slack = fmax(value * (1 + ROUNDING) - (fall - error) * rest, 0),
		.fall = fall + error
	};
}

/*
 * Where to look next, between two points where the tangent is above epsilon by
 * over and below it by under: on the line between them, or in the middle.
 */
static double
between(double low, double high, double over, double under, int step)
{
	double		share = over / (over + under);

	if (step % 3 == 2 || !(share > 0.001 && share < 0.999))
		share = 0.5;
	return low + (high - low) * share;
}

/*
 * The tangent's slack falls, and its value at the other end rises, as its slope
 * approaches 1. So a search finds the tangent through epsilon there. Any
 * tangent that stays below epsilon will do.
 */
DpermSlack
dperm_slack(const DpermSetup *s, double lambda, double epsilon)
{
	double		rank = dperm_slack_rank(s->loss, s->unit, s->dim);
	double		ratio = dperm_loss_bounds(s->loss).trace / (s->rows * lambda);
	int			apart = dperm_claim_rows_apart(s->neighbours);
	DpermSlack	best = {.slack = dperm_slack_any_slope(rank, ratio) * (1 + ROUNDING)};
	double		low = 0;
	double		high = 1;
	double		over = INFINITY;
	double		under = epsilon;

	if (dperm_loss_entry((int) s->loss.kind)->share == NULL || !(best.slack < epsilon))
		return best;
	for (int i = 0; i < STEPS && high - low > PRECISION * high; i++)
	{
		double		rest = i == 0 ? 0 : between(low, high, over, under, i);
		DpermSlack	line = tangent(s, rank, ratio, rest);
		double		end = line.slack + apart * line.fall;

		if (end <= epsilon)
		{
			high = rest;
			under = epsilon - end;
			best = line.slack < best.slack ? line : best;
		}
		else
		{
			low = rest;
			over = end - epsilon;
		}
	}
	return best;
}
