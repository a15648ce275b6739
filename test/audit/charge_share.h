/*
 * charge_share.h: the Renyi divergence of a training of one weight between two
 * neighbouring tables, as a share of what a budget charges for the call
 * (divergence.c).
 */
#ifndef DPERM_TEST_CHARGE_SHARE_H
#define DPERM_TEST_CHARGE_SHARE_H

#include "audit/simplex.h"
#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/charge.h"
#include "loss_at.h"
#include "unit/test.h"

#define CHARGE_STEPS 1200		/* of an integral over the weight */
#define CHARGE_ROWS 3			/* of a table; the first one differs */
#define CHARGE_CALLS 24

/* A training of one weight, and the budget it charges. */
typedef struct ChargedCall
{
	DpermSetup	setup;
	DpermSpend	spend;
	double		order;
} ChargedCall;

/* The log of the density of an output, up to a constant. */
static inline double
charge_density(const ChargedCall *call, const DpermCalibration *cal, const double *rows, double f)
{
	double		flat = call->setup.rows * cal->lambda;
	double		b = -flat * f;
	double		slope = flat;

	for (int i = 0; i < CHARGE_ROWS; i++)
	{
		LossAt at = loss_at(call->setup.loss, f * rows[i], 1);

		b -= at.slope * rows[i];
		slope += at.curve * rows[i] * rows[i];
	}
	return -b * b / (2 * cal->noise_scale * cal->noise_scale) + log(slope);
}

/*
 * The divergence of objective perturbation between two tables, as a share of
 * the charge. The numbers are the rows, the other first row, and the logarithm
 * of lambda over its least value.
 */
static inline double
charge_share(const void *arg, const double *point)
{
	ChargedCall call = *(const ChargedCall *) arg;
	DpermCalibration cal;
	double		rows[2][CHARGE_ROWS];
	double		sums[3] = {0, 0, 0};
	double		reach;

	for (int i = 0; i <= CHARGE_ROWS; i++)
		rows[i / CHARGE_ROWS][i % CHARGE_ROWS] = fmax(-1, fmin(1, point[i]));
	if (call.setup.neighbours == DPERM_NEIGHBOURS_REMOVE)
		rows[1][0] = 0;
	memcpy(&rows[1][1], &rows[0][1], sizeof(double) * (CHARGE_ROWS - 1));
	call.setup.lambda = 1e-9 * exp(fabs(point[CHARGE_ROWS + 1]));
	if (call.setup.lambda > DPERM_LAMBDA_MAX || dperm_calibrate(&call.setup, &cal) != NULL)
		return 0;
	reach = (12 * cal.noise_scale + CHARGE_ROWS) / (call.setup.rows * cal.lambda);
	for (int i = 0; i < CHARGE_STEPS; i++)
	{
		double		f = reach * (2 * (i + 0.5) / CHARGE_STEPS - 1);
		double		p = charge_density(&call, &cal, rows[0], f);
		double		q = charge_density(&call, &cal, rows[1], f);

		sums[0] += exp(p);
		sums[1] += exp(q);
		sums[2] += exp(call.order * p + (1 - call.order) * q);
	}
	return (log(sums[2]) - call.order * log(sums[0]) - (1 - call.order) * log(sums[1])) /
		(call.order - 1) / dperm_amount_double(dperm_charge_of(&call.spend, call.order).divergence);
}

/* A call whose method is chosen once the number of rows is known. */
static inline ChargedCall
charge_call(int kind)
{
	const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.5}};
	const double epsilons[] = {0.1, 1, 3};
	DpermNeighbours neighbours = (DpermNeighbours) (kind % 2);
	double		epsilon = epsilons[kind / 4 % 3];
	double		slack = kind / 12 % 2 ? 0.5 : DPERM_CHARGE_SLACK;

	return (ChargedCall) {
		.setup = {.loss = losses[kind / 2 % 2], .neighbours = neighbours, .epsilon = epsilon,
				  .delta = 1e-6, .rows = CHARGE_ROWS, .dim = 1, .slack = slack},
		.spend = {.neighbours = neighbours, .epsilon = epsilon, .delta = 1e-6, .output = true,
				  .objective = true, .slack = slack, .dim = 1},
		.order = dperm_filter_order(3 * epsilon, 1e-5)
	};
}

/* The highest share that some climbs find. */
static inline double
charge_search(const ChargedCall *call, TestRandom *state)
{
	double		highest = 0;

	for (int i = 0; i < 2; i++)
	{
		double		point[CHARGE_ROWS + 2] = {1, 0, 0, -1, 22 * test_uniform(state)};

		for (int j = 1; j < CHARGE_ROWS; j++)
			point[j] = 2 * test_uniform(state) - 1;
		highest = fmax(highest, simplex_climb(charge_share, call, point, CHARGE_ROWS + 2, 0.5, 40));
	}
	return highest;
}

#endif							/* DPERM_TEST_CHARGE_SHARE_H */
