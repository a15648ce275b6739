/*
 * charge.c: what a call takes from a budget, for any number of rows
 * (docs/guarantee.md, "Budgets").
 * Trusted: a charge that is too small breaks a budget.
 */
#include "core/mechanism/charge.h"

#include <math.h>

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/composition.h"
#include "core/privacy/gaussian.h"

/* A relative margin for rounding, as in model_release.c. */
#define NUDGE (1 + 1e-9)

/*
 * For a larger epsilon sigma may come out larger than a model's: by 6e-6 for
 * the steps of its search, and by 1e-11/epsilon, about 1e-5 at most, for the
 * margin of the exact formula, which is larger than that of the others.
 */
#define SIGMA_ROOM (1 + 2e-5)

/*
 * The release that spends epsilon and delta with noise that is known. The share
 * of the release depends on the number of rows: here it is the largest, and the
 * noise gets all of epsilon.
 */
static DpermRelease
known_release(const DpermSpend *spend, DpermCurve curve)
{
	DpermRelease release = {
		.neighbours = spend->neighbours,
		.unit = spend->unit,
		.epsilon = spend->epsilon,
		.delta = spend->delta,
		.curve = curve,
		.stage = DPERM_RELEASE_SHARE_MAX * spend->epsilon * NUDGE
	};

	return release;
}

/* Output perturbation: noise is proportional to the sensitivity, for any number of rows. */
static double
output_divergence(const DpermSpend *spend, double order)
{
	bool		gaussian = spend->delta > 0;
	DpermRelease release = known_release(spend, gaussian ? DPERM_CURVE_SHIFT : DPERM_CURVE_BALL);

	release.dim = spend->dim;
	release.mu = gaussian ?
		SIGMA_ROOM / dperm_gaussian_sigma(spend->epsilon, dperm_calibrate_delta(spend->delta)) :
		spend->epsilon * NUDGE;
	return dperm_composition_curve(&release, order);
}

/*
 * Gaussian objective perturbation. The slack whatever the slope is at most a
 * share of epsilon; that of the claim may be 0, and then the noise gets all of
 * epsilon. No bound that its sigma satisfies is below the exact delta.
 */
static double
objective_divergence(const DpermSpend *spend, double order)
{
	DpermRelease release = known_release(spend, DPERM_CURVE_NONE);
	const DpermLossBounds loss = dperm_loss_bounds(spend->loss);
	double		most = (spend->slack > 0 ? spend->slack : DPERM_SLACK_MAX) * spend->epsilon;

	dperm_composition_objective(&release, loss.directions, loss.lines,
								dperm_claim_rows_apart(spend->neighbours) *
								dperm_gaussian_sigma(spend->epsilon,
													 dperm_calibrate_delta(spend->delta) /
														 loss.directions));
	release.mu *= SIGMA_ROOM;
	release.kappa = most * NUDGE;
	return dperm_composition_curve(&release, order);
}

DpermFilterSums
dperm_charge_of(const DpermSpend *spend, double order)
{
	DpermFilterSums sums = dperm_filter_pure(spend->epsilon, order);
	double		divergence = 0;

	if (spend->delta > 0)
	{
		sums.delta = dperm_amount_up(spend->delta, DPERM_DELTA_DIGITS);
		sums.tail = 0;			/* it is in the delta */
	}
	if (!(order > 1))
		return sums;

	/* unless something better is known: pure, apart from its delta */
	if (spend->bound || !(spend->output || spend->objective))
	{
		if (spend->delta > 0)
			sums.direct = sums.delta;
		return sums;
	}
	if (spend->objective && !(spend->delta > 0))
		return sums;
	if (spend->output)
		divergence = output_divergence(spend, order);
	if (spend->objective)
		divergence = fmax(divergence, objective_divergence(spend, order));
	sums.divergence = dperm_amount_up(divergence, DPERM_DIVERGENCE_DIGITS);
	return sums;
}
