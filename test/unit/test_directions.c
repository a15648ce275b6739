/*
 * test_directions.c: Renyi divergences of Gaussian objective perturbation where
 * slopes have several directions, against integrals and an adversary who has a
 * training of one weight.
 */
#include "unit/test.h"

#include "core/mechanism/calibrate.h"
#include "core/model/model_release.h"
#include "core/privacy/composition.h"
#include "loss_at.h"

static const double orders[] = {1.05, 1.5, 2, 4, 10};

/* A training of one weight, in exact arithmetic; labels are numbers. */
typedef struct Line
{
	DpermLoss	loss;
	double		lambda;
	double		sigma;
	double		rows[3];		/* the last one is not the same in both tables */
	double		labels[3];
} Line;

/* The density of the minimiser of a tilted objective at f, with this last row. */
static double
line_density(Line line, double row, double f)
{
	double		noise = -3 * line.lambda * f;
	double		slope = 3 * line.lambda;

	line.rows[2] = row;
	for (int i = 0; i < 3; i++)
	{
		LossAt at = loss_at(line.loss, f * line.rows[i], line.labels[i]);

		noise -= at.slope * line.rows[i];
		slope += at.curve * line.rows[i] * line.rows[i];
	}
	return exp(-noise * noise / (2 * line.sigma * line.sigma)) * slope / line.sigma / sqrt(2 * acos(-1));
}

/* The Renyi divergence of the minimisers for two last rows; points are closer together where the bends are. */
static double
line_divergence(Line line, double row, double other, double order)
{
	double		reach = (14 * line.sigma * order + 3) / (3 * line.lambda);
	double		end = asinh(reach / 0.1);
	double		step = end / 3000;
	double		sum = 0;

	for (double t = -end + step / 2; t < end; t += step)
	{
		double		f = 0.1 * sinh(t);
		double		p = line_density(line, row, f);
		double		q = line_density(line, other, f);

		if (p > 0 && q > 0)
			sum += exp(order * log(p) + (1 - order) * log(q)) * 0.1 * cosh(t) * step;
	}
	return log(sum) / (order - 1);
}

/* A row with a label that is added, removed or replaced. */
enum
{
	ADDED,
	REMOVED,
	REPLACED,
	CHANGES
};

/*
 * The adversary: nothing distinguishes tables better than the curve says, and something nearly as well. The curve of one direction
 * is not enough: that shows where a row is added, which costs no slack.
 */
TEST(curves_hold_for_two_directions)
{
	static const double lambdas[] = {0.02, 0.3, 30};
	static const double sigmas[] = {0.8, 4, 30};
	double		closest[CHANGES] = {0};
	int			exceeded = 0;

	for (int l = 0; l < 3; l++)
		for (int s = 0; s < 3; s++)
			for (int others = 0; others < 3; others++)
				for (int change = 0; change < CHANGES; change++)
					for (int i = 0; i < 5; i++)
					{
						Line		line = {.loss = {DPERM_LOSS_LOG_COSH, 0.25}, .lambda = lambdas[l], .sigma = sigmas[s],
							.rows = {others > 0 ? 1 : 0, others > 1 ? -0.5 : 0}, .labels = {1, -1, change == REPLACED ? 1 : 0.3 * others}};
						DpermRelease release = {.epsilon = 1, .delta = 1e-6,
							.neighbours = change == REPLACED ? DPERM_NEIGHBOURS_REPLACE : DPERM_NEIGHBOURS_REMOVE};
						double		exact = line_divergence(line, change == ADDED ? 0 : 1, change == REMOVED ? 0 : change == ADDED ? 1 : -1, orders[i]);
						double		got;

						dperm_composition_objective(&release, 2, 1, sigmas[s]);
						CHECK(release.curve == DPERM_CURVE_AVERAGE);
						CHECK(release.mu == (change == REPLACED ? 2 : 1) / sigmas[s]);
						release.kappa = log1p(dperm_loss_bounds(line.loss).trace / (3 * lambdas[l]));
						got = dperm_composition_curve(&release, orders[i]);
						CHECK(exact <= got * (1 + 1e-4));
						closest[change] = fmax(closest[change], exact / got);

						dperm_composition_objective(&release, 1, 1, sigmas[s]);
						release.kappa = 0;
						exceeded += change == ADDED && exact > dperm_composition_curve(&release, orders[i]) * (1 + 1e-3);
					}
	for (int change = 0; change < CHANGES; change++)
		CHECK(closest[change] > 0.9);
	CHECK(exceeded > 30);
}

/*
 * What bounds the mean of e^((order-1) M), M the largest of some normal losses and 0, by quadrature, as a divergence; relative to
 * e^((order-1) base), and from there on.
 */
static double
largest_moment(double mu, int directions, double order)
{
	long double above = order - 1;
	long double base = mu * sqrtl(2 * logl(directions));
	long double sum = 0;
	long double low = base / mu - mu / 2;
	int			pieces = 2 * (int) ceil(100 * (12 + order * mu - (double) low));
	long double step = (12 + order * mu - low) / pieces;

	/* Simpson's rule: at the low end the integrand is 0, at the high end nothing is left of it */
	for (int i = 1; i < pieces; i++)
	{
		long double z = low + i * step;

		sum += (i % 2 ? 4 : 2) * step / 3 * expl(-z * z / 2) / sqrtl(2 * acosl(-1)) * expm1l(above * (mu * mu / 2 + mu * z - base));
	}
	return (double) (base + log1pl(directions * sum) / above);
}

/* The curve is that moment's, or the other one, which does not depend on directions. */
TEST(curves_grow_with_directions)
{
	int			by_moment = 0;
	int			by_other = 0;

	for (double mu = 0.003; mu < 4; mu *= 1.9)
		for (int i = 0; i < DPERM_ORDER_COUNT; i += 12)
		{
			double		order = dperm_composition_order(i);
			DpermRelease release = {.epsilon = 1, .delta = 1e-6, .curve = DPERM_CURVE_AVERAGE, .mu = mu, .kappa = 0.3};
			double		one;
			double		most = INFINITY;

			if (order * mu > 40)
				continue;
			one = dperm_composition_curve(&release, order);
			for (int m = 9; m > 1; m -= 7)
			{
				double		brute = 0.3 + largest_moment(mu, m, order);
				double		got;

				release.directions = m;
				got = dperm_composition_curve(&release, order);
				CHECK(got >= one && got <= most && got <= brute * (1 + 1e-7) + 1e-9);
				by_moment += fabs(got - brute) < 1e-8 * brute;
				by_other += got < brute * (1 - 1e-6) && one < got * (1 - 1e-6);
				most = got;
			}
		}
	CHECK(by_moment > 20 && by_other > 20);
}

/* A model whose slopes have two directions says so. */
TEST(models_have_directions)
{
	for (int unit = 0; unit < 2; unit++)
		for (int neighbours = 0; neighbours < 2; neighbours++)
		{
			DpermSetup	s = {.loss = {DPERM_LOSS_LOG_COSH, 0.25}, .neighbours = (DpermNeighbours) neighbours, .unit = (DpermUnit) unit,
				.epsilon = 1, .delta = 1e-6, .rows = 10000, .dim = 3};
			DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = 3, .norm = 1};
			DpermCalibration cal;
			DpermModel	model;
			DpermRelease release;
			double		rank = unit == DPERM_UNIT_PERSON ? 3 : 1;

			s.lambda = dperm_calibrate_default_lambda(&s);
			CHECK(dperm_calibrate(&s, &cal) == NULL);
			memset(&model, 0, sizeof(model));
			dperm_model_fill(&model, &s, &cal, &(DpermEncoder) {.block_count = 1, .blocks = &block}, NULL);
			release = dperm_model_release(&model);
			CHECK(release.curve == DPERM_CURVE_AVERAGE && release.directions == 2);
			CHECK_NEAR(release.mu * cal.noise_scale, neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2, 1e-8);
			CHECK_NEAR(release.kappa, rank * log1p(4 / (rank * 10000 * cal.lambda)), 1e-8);
		}
}
