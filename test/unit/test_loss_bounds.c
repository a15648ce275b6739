/*
 * test_loss_bounds.c: every constant of the table of losses against brute force
 * over outputs and labels. None is too small, and none is larger than it has to
 * be: a formula may not reach its bound, so that no other test would notice.
 */
#include "unit/test.h"

#include <float.h>

#include "core/loss/loss.h"
#include "loss_at.h"
#include "unit/problem.h"

static const DpermLoss losses[] = {
	{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.01}, {DPERM_LOSS_HUBER, 0.5}, {DPERM_LOSS_HUBER, 1},
	{DPERM_LOSS_SMOOTH_HINGE, 0.01}, {DPERM_LOSS_SMOOTH_HINGE, 0.3}, {DPERM_LOSS_SMOOTH_HINGE, 1},
	{DPERM_LOSS_LOG_COSH, 0.02}, {DPERM_LOSS_LOG_COSH, 0.25}, {DPERM_LOSS_LOG_COSH, 0.7}, {DPERM_LOSS_LOG_COSH, 1}
};

#define LOSSES (int) (sizeof(losses) / sizeof(losses[0]))

/* The labels to try: both classes, or numbers up to their ends. */
static int
labels_of(DpermLoss loss, double *labels)
{
	int			count = 0;
	bool		number = dperm_loss_entry((int) loss.kind)->label == DPERM_LABEL_NUMBER;

	for (double label = -1; label <= 1; label += number ? 0.125 : 2)
		labels[count++] = label;
	return count;
}

/* The largest that anything is, over outputs and labels. */
typedef struct Found
{
	double		slope;
	double		curve;
	double		steepest;		/* rise of the slope over a step */
	double		start;
	int			directions;		/* signs of the slope under one label */
	double		above;			/* curvature over what the slope allows */
} Found;

/* Look at an output, and at a step from it. */
static void
look(DpermLoss loss, double output, double label, Found *found, bool *signs)
{
	const DpermLossEntry *entry = dperm_loss_entry((int) loss.kind);
	double		trace = dperm_loss_bounds(loss).trace;
	LossAt at = loss_at(loss, output, label);
	double		step = 1e-4 * (loss.h > 0 ? loss.h : 1);
	double		rise = loss_at(loss, output + step, label).slope - at.slope;
	double		change;

	found->slope = fmax(found->slope, fabs(at.slope));
	found->curve = fmax(found->curve, at.curve);
	found->steepest = fmax(found->steepest, rise / ((output + step) - output));
	signs[at.slope > 0] |= at.slope != 0;
	if (entry->share && fmin(fabs(at.slope), 1 - fabs(at.slope)) > 1e-8)
		found->above = fmax(found->above, at.curve / (trace * entry->share(loss, 1 - fabs(at.slope), &change)));
}

/* Look everywhere. */
static Found
search(DpermLoss loss)
{
	Found		found = {0};
	double		labels[32];
	int			count = labels_of(loss, labels);
	double		fine = 1e-3 * (loss.h > 0 ? loss.h : 1);

	for (int i = 0; i < count; i++)
	{
		bool		signs[2] = {false, false};

		/* near the bends, which are at 1 or -1 or at the label, and far from them */
		for (double away = -4; away < 4; away += fine)
		{
			double		near = away * (loss.h > 0 ? loss.h : 1);

			look(loss, labels[i] + near, labels[i], &found, signs);
			look(loss, near, labels[i], &found, signs);
			look(loss, 20 * away, labels[i], &found, signs);
		}
		found.start = fmax(found.start, loss_at(loss, 0, labels[i]).value);
		found.directions = (int) fmax(found.directions, signs[0] + signs[1]);
	}
	return found;
}

TEST(states_every_bound)
{
	for (int l = 0; l < LOSSES; l++)
	{
		DpermLossBounds bounds = dperm_loss_bounds(losses[l]);
		Found		found = search(losses[l]);

		/* one block: the slope is a number, and reach and norm are both its size */
		CHECK(found.slope <= bounds.norm && found.slope > bounds.norm * (1 - 1e-9));
		CHECK(found.slope <= bounds.reach && found.slope > bounds.reach * (1 - 1e-9));
		CHECK(found.curve <= bounds.curvature * (1 + 1e-14) && found.curve > bounds.curvature * (1 - 1e-4));
		CHECK(found.curve <= bounds.trace * (1 + 1e-14) && found.curve > bounds.trace * (1 - 1e-4));
		CHECK(found.steepest <= bounds.curvature * (1 + 1e-7) && found.steepest > bounds.curvature * (1 - 1e-3));
		CHECK(found.start <= bounds.start * (1 + 1e-15) && found.start > bounds.start * (1 - 1e-15));
		CHECK(bounds.rank == 1);
		CHECK(bounds.directions == found.directions);
		if (dperm_loss_entry((int) losses[l].kind)->share)
			CHECK(found.above <= 1 + 1e-5 && found.above > 0.999);
		CHECK(bounds.typical_norm == (losses[l].kind == DPERM_LOSS_LOG_COSH ? 5 : 20));
	}
}

/* A slope in long double. */
static long double
exact_slope(DpermLoss loss, double output, double label)
{
	if (loss.kind == DPERM_LOSS_LOG_COSH)
		return tanhl(((long double) output - label) / loss.h);
	return label * wide_loss(loss, (long double) output * label).slope;
}

/* The rounding of a slope, and of an argument twice, as the certificate allows for them; climbed from many starts. */
TEST(rounds_slopes_within_their_bound)
{
	TestRandom	state = 9;

	for (int l = 0; l < LOSSES; l++)
	{
		DpermLossBounds bounds = dperm_loss_bounds(losses[l]);
		double		scale = losses[l].h > 0 ? losses[l].h : 3;
		double		labels[32];
		int			count = labels_of(losses[l], labels);
		double		most = 0;

		for (int start = 0; start < 3000; start++)
		{
			double		label = labels[test_below(&state, count)];
			double		at = label + 2 * scale * (2 * test_uniform(&state) - 1);
			double		best = 0;

			for (int step = 0; step < 60; step++)
			{
				double		output = at + scale * (step ? pow(10, -12 * test_uniform(&state)) * (2 * test_uniform(&state) - 1) : 0);
				double		slope = output;
				double		off;

				dperm_loss_block(losses[l], 1, &slope, &label, NULL, NULL);
				off = (double) fabsl(slope - exact_slope(losses[l], output, label)) / (DBL_EPSILON / 2);
				if (off > best)
				{
					best = off;
					at = output;
				}
			}
			most = fmax(most, best);
		}
		CHECK(most <= 2 * bounds.curvature + bounds.slope_rounding);
		CHECK(losses[l].kind == DPERM_LOSS_HUBER || most > 0.2 * bounds.slope_rounding);
	}
}
