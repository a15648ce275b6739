/*
 * What a call takes from a budget, whatever the number of rows: never less than
 * the cost of what the training then releases, and not much more.
 */
#include "core/mechanism/charge.h"

#include <stdlib.h>

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/composition.h"
#include "unit/test.h"

/*
 * The divergence of what a training releases, from its calibration;
 * dperm_model_release() does the same for a model.
 */
static double
released(const DpermSetup *setup, double order)
{
	DpermCalibration cal;
	DpermRelease release = {.neighbours = setup->neighbours, .unit = setup->unit, .epsilon = setup->epsilon, .delta = setup->delta};
	const DpermLossBounds loss = dperm_loss_bounds(setup->loss);
	double		flat;

	CHECK(dperm_calibrate(setup, &cal) == NULL);
	flat = setup->rows * cal.lambda;
	release.stage = cal.claim.shares[DPERM_SHARE_RELEASE] * (1 + 1e-9);
	if (setup->method == DPERM_METHOD_OUTPUT)
	{
		release.curve = setup->delta > 0 ? DPERM_CURVE_SHIFT : DPERM_CURVE_BALL;
		release.dim = setup->dim;
		release.mu = loss.norm * dperm_claim_rows_apart(setup->neighbours) / (flat * cal.noise_scale) * (1 + 1e-9);
	}
	else if (setup->delta == 0)
		release.curve = DPERM_CURVE_PURE;
	else
	{
		dperm_composition_objective(&release, loss.directions, loss.rank, cal.noise_scale / loss.norm);
		release.mu *= 1 + 1e-9;
		release.kappa = dperm_slack_any_slope(dperm_slack_rank(setup->loss, setup->unit, setup->dim),
											  loss.trace / flat) * (1 + 1e-9);
	}
	return dperm_composition_curve(&release, order);
}

/* A setup with that many rows, at the default lambda times a factor. */
static DpermSetup
setup_of(const DpermSpend *spend, DpermMethod method, double rows, double factor)
{
	DpermSetup	setup = {
		.loss = spend->loss,
		.method = method,
		.neighbours = spend->neighbours,
		.unit = spend->unit,
		.epsilon = spend->epsilon,
		.delta = spend->delta,
		.rows = (int64_t) rows,
		.dim = 10 * dperm_loss_blocks(spend->loss),
		.slack = method == DPERM_METHOD_OBJECTIVE ? spend->slack : 0
	};

	setup.lambda = dperm_calibrate_default_lambda(&setup) * factor;
	return setup;
}

TEST(covers_any_number_of_rows)
{
	const double epsilons[] = {0.01, 0.1, 1, 5};
	const double slacks[] = {0.1, 0.5, 0};

	const DpermLoss losses[] = {dperm_loss_default(DPERM_LEARNER_LOGREG), dperm_loss_default(DPERM_LEARNER_LINREG), {DPERM_LOSS_SOFTMAX, 0, 3},
	{DPERM_LOSS_SOFTMAX, 0, 40}};

	for (int i = 0; i < 16; i++)
		for (int relation = 0; relation < 4; relation++)
			for (int k = 0; k < 4; k++)
			{
				bool		output = k == 3;
				DpermSpend	spend = {
					.neighbours = (DpermNeighbours) (relation % 2), .unit = (DpermUnit) (relation / 2), .epsilon = epsilons[i / 4], .delta = 1e-6,
					.loss = losses[i % 4], .dim = 10 * dperm_loss_blocks(losses[i % 4]), .output = output, .objective = !output, .slack = output ? 0 : slacks[k]
				};
				double		order = dperm_filter_order(3, 1e-5);
				double		charged = dperm_amount_double(dperm_charge_of(&spend, order).divergence);
				double		most = 0;

				for (double rows = 1; rows < 1e9; rows *= 1500)
					for (double factor = 1e-3; factor <= 1000; factor *= 1000)
					{
						DpermSetup	setup = setup_of(&spend, output ? DPERM_METHOD_OUTPUT : DPERM_METHOD_OBJECTIVE, rows, factor);
						double		here;

						if (setup.lambda < DPERM_LAMBDA_MIN || setup.lambda > DPERM_LAMBDA_MAX)
							continue;
						here = released(&setup, order);
						CHECK(here <= charged);
						most = fmax(most, here);
					}

				/* the charge has all of a large slack, and the noise of none */
				CHECK(most > (output ? 0.9 : spend.slack == 0.1 ? 0.7 : 0.05) * charged);
			}
}

/*
 * The number of knots is not known before the rows are read, and a call is
 * charged for straight lines: whatever the rule then chooses, the model does
 * not cost more.
 */
TEST(covers_any_number_of_knots)
{
	TestRandom	state = 12;
	double		closest = 0;
	int			below = 0;

	for (int round = 0; round < 3000; round++)
	{
		bool		output = test_below(&state, 2);
		DpermSpend	spend = {
			.neighbours = (DpermNeighbours) test_below(&state, 2), .unit = (DpermUnit) test_below(&state, 2), .epsilon = exp(7 * test_uniform(&state) - 5),
			.delta = test_below(&state, 2) ? exp(-7 - 20 * test_uniform(&state)) : 0, .output = output, .objective = !output,
			.slack = output ? 0 : test_below(&state, 2) ? DPERM_CHARGE_SLACK : 0.001 + 0.899 * test_uniform(&state), .dim = 1 + test_below(&state, 30)
		};
		int			open = 1 + test_below(&state, spend.dim);
		double		order = 1 + exp(9 * test_uniform(&state) - 3);
		double		charged = dperm_amount_double(dperm_charge_of(&spend, order).divergence);
		DpermSetup	setup = setup_of(&spend, output ? DPERM_METHOD_OUTPUT : DPERM_METHOD_OBJECTIVE, exp(18 * test_uniform(&state)), exp(14 * test_uniform(&state) - 7));

		setup.lambda = fmin(fmax(setup.lambda, DPERM_LAMBDA_MIN), DPERM_LAMBDA_MAX);
		for (int knots = 1; knots <= 16; knots += knots == 1 ? 3 : 1)
		{
			double		share;

			setup.dim = spend.dim + open * (knots - 1);
			share = released(&setup, order) / charged;
			CHECK(share <= 1);
			closest = fmax(closest, share);
			below += share < 0.5;
		}
	}
	CHECK(closest > 0.99 && below > 1000);
}

/*
 * Tiny budgets have large orders, where divergences are huge: no call with a
 * large epsilon must cost little.
 */
TEST(never_wraps_around)
{
	DpermFilter filter = {.epsilon = dperm_amount_of(1e-4, 12, false), .delta = dperm_amount_of(1e-9, 24, false), .order = dperm_filter_order(1e-4, 1e-9)};

	srand(5);
	for (int i = 0; i < 2000; i++)
	{
		DpermSpend	spend = {
			.neighbours = (DpermNeighbours) (i % 2), .unit = (DpermUnit) (i / 2 % 2), .epsilon = exp(-4 + 10.2 * rand() / RAND_MAX), .delta = exp(-30 + 29.9 * rand() / RAND_MAX),
			.objective = true, .slack = 0.001 + 0.899 * rand() / RAND_MAX
		};
		DpermFilterSums sums = dperm_charge_of(&spend, filter.order);

		CHECK(dperm_amount_double(sums.divergence) >= fmin(1e-5 * spend.epsilon, 1e6));
		CHECK(!dperm_filter_allows(&filter, &sums));
	}

	/* found by a search: the charge came to 5e-9 */
	{
		DpermSpend	spend = {
			.neighbours = DPERM_NEIGHBOURS_REPLACE, .unit = DPERM_UNIT_PERSON, .epsilon = 500, .delta = 1.1607963702947319e-13, .objective = true,
			.slack = 0.26118122331011928
		};
		DpermFilterSums sums = dperm_charge_of(&spend, filter.order);

		CHECK(dperm_amount_double(sums.divergence) == 1e6);
		CHECK(!dperm_filter_allows(&filter, &sums));
	}
}

/* A curve grows with both of its parameters: the cells rely on that. */
TEST(curves_grow)
{
	srand(11);
	for (int i = 0; i < 20000; i++)
	{
		DpermRelease small = {
			.curve = i % 2 ? DPERM_CURVE_REMOVE : DPERM_CURVE_AVERAGE, .epsilon = 1, .delta = 1e-6,
			.mu = exp(-8 + 8.0 * rand() / RAND_MAX), .kappa = exp(-12 + 12.0 * rand() / RAND_MAX)
		};
		DpermRelease large = small;
		double		order = 1 + exp(-4 + 10.0 * rand() / RAND_MAX);

		large.mu *= 1 + 1.0 * rand() / RAND_MAX;
		large.kappa *= 1 + 1.0 * rand() / RAND_MAX;
		CHECK(dperm_composition_curve(&small, order) <= dperm_composition_curve(&large, order) * (1 + 1e-9));
	}
}

/* What is known of a call decides what it spends. */
TEST(spends_by_what_is_known)
{
	DpermSpend	spend = {.epsilon = 0.5};
	DpermFilterSums sums = dperm_charge_of(&spend, 0);
	DpermFilterSums pure;
	DpermFilterSums gaussian;
	DpermFilterSums both;
	double		order = 20;

	/* pure, for a budget without delta and with one */
	CHECK(sums.epsilon == DPERM_AMOUNT_ONE / 2 && sums.delta == 0 && sums.divergence == 0);
	pure = dperm_charge_of(&spend, order);
	CHECK(pure.delta == 0 && pure.tail == 54211 && pure.direct == 54211 && pure.divergence > 0);

	/* only epsilon and delta */
	spend.delta = 1e-6;
	sums = dperm_charge_of(&spend, order);
	CHECK(dperm_amount_double(sums.delta) == 1e-6 && dperm_amount_double(sums.direct) == 1e-6);
	CHECK(sums.divergence == pure.divergence);

	/* Gaussian noise: its delta is in the curve */
	spend.output = true;
	gaussian = dperm_charge_of(&spend, order);
	CHECK(dperm_amount_double(gaussian.delta) == 1e-6 && gaussian.tail == 0 && gaussian.direct == 54211);
	CHECK(gaussian.divergence < pure.divergence);

	/* either: the larger of both */
	spend.objective = true;
	spend.slack = 0.1;
	both = dperm_charge_of(&spend, order);
	CHECK(both.divergence >= gaussian.divergence);

	/* nothing specified: nothing known */
	spend.output = spend.objective = false;
	sums = dperm_charge_of(&spend, order);
	CHECK(dperm_amount_double(sums.direct) == 1e-6);
}

/* The number of such calls that a new budget allows. */
static int
calls(double epsilon, double delta, const DpermSpend *spend)
{
	DpermFilter filter = {dperm_amount_of(epsilon, 12, false), dperm_amount_of(delta, 24, false), dperm_filter_order(epsilon, delta)};
	DpermFilterSums taken = dperm_charge_of(spend, filter.order);
	DpermFilterSums spent = taken;
	int			count = 0;

	for (; dperm_filter_allows(&filter, &spent); count++)
		spent = dperm_filter_add(&spent, &taken);
	return count;
}

/*
 * Small calls of a large budget, by all relations and units: of the method that
 * the program chooses, and of a given one.
 */
TEST(budgets_last)
{
	for (int relation = 0; relation < 4; relation++)
	{
		DpermSpend	spend = {
			.neighbours = (DpermNeighbours) (relation % 2), .unit = (DpermUnit) (relation / 2), .epsilon = 0.1, .delta = 1e-9,
			.output = true, .objective = true, .slack = DPERM_CHARGE_SLACK
		};
		int			chosen = calls(3, 1e-6, &spend);
		int			output;

		CHECK(chosen >= 550);
		spend.output = false;
		CHECK(calls(3, 1e-6, &spend) >= chosen);
		spend.objective = false;
		spend.output = true;
		output = calls(3, 1e-6, &spend);
		CHECK(output > chosen && output > 900);
	}
}

/* The numbers of docs/reference.md, "How long a budget lasts". */
TEST(the_table_in_the_reference)
{
	static const int counts[][2] = {{567, 66}, {703, 90}, {19, 3}, {3558, 466}, {903, 121}};
	const DpermSpend spends[] = {
		{.epsilon = 0.1, .delta = 1e-9, .output = true, .objective = true, .slack = DPERM_CHARGE_SLACK},
		{.neighbours = DPERM_NEIGHBOURS_REMOVE, .epsilon = 0.1, .delta = 1e-9, .output = true, .objective = true,
		 .slack = DPERM_CHARGE_SLACK},
		{.epsilon = 0.5, .delta = 1e-8, .objective = true, .slack = DPERM_CHARGE_SLACK},
		{.epsilon = 0.1, .output = true, .dim = 100},
		{.epsilon = 0.02}
	};

	for (int i = 0; i < 5; i++)
	{
		CHECK(calls(3, 1e-6, &spends[i]) == counts[i][0]);
		CHECK(calls(1, 1e-6, &spends[i]) == counts[i][1]);
	}
}

/*
 * Pure output perturbation: the more weights, the less it takes; nothing is
 * known of other pure calls.
 */
TEST(ball_noise_takes_less)
{
	DpermSpend	spend = {.epsilon = 0.1, .output = true, .dim = 1};
	DpermSpend	pure = {.epsilon = 0.1};
	double		order = dperm_filter_order(3, 1e-6);
	DpermAmount before = dperm_charge_of(&pure, order).divergence;

	CHECK(dperm_charge_of(&spend, order).divergence == before);
	for (spend.dim = 2; spend.dim <= 2000; spend.dim *= 3)
	{
		DpermFilterSums sums = dperm_charge_of(&spend, order);

		CHECK(sums.divergence < before);
		CHECK(sums.tail == 54211 && sums.direct == 54211 && sums.delta == 0);
		before = sums.divergence;
	}
	spend.dim = 100;
	CHECK(calls(3, 1e-6, &spend) > 2000 && calls(3, 1e-6, &pure) < 50);
	spend.objective = true;
	CHECK(calls(3, 1e-6, &spend) == calls(3, 1e-6, &pure));
	spend.objective = false;

	/* a budget without delta adds up epsilons */
	CHECK(dperm_charge_of(&spend, 0).divergence == 0 && dperm_charge_of(&spend, 0).tail == 0);
}
