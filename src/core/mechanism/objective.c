/*
 * objective.c: objective perturbation: the noise tilts the objective
 * (docs/guarantee.md, "Objective perturbation").
 */
#include <float.h>
#include <math.h>

#include "core/base/limits.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/mechanism/mechanism.h"
#include "core/mechanism/slack.h"
#include "core/privacy/gaussian.h"
#include "core/privacy/draw.h"

/*
 * The share of epsilon that the slack may always take, in the sharp analysis.
 */
#define SLACK_SHARE 0.1

/* The relative precision of the search for a lambda. */
#define PRECISION 1e-12

/* The mean of the noise's squared norm at scale 1. */
static double
noise_spread(const DpermSetup *s)
{
	return dperm_loss_blocks(s->loss) *
		dperm_noise_spread(dperm_setup_law(s), s->noise, dperm_setup_row_dim(s));
}

/*
 * A proxy for the excess risk at a lambda, from public quantities only (section
 * "The criterion"): what the noise adds to the objective, and the cost of the
 * regulariser for weights of a typical norm.
 */
static double
objective_risk(const DpermSetup *s, double lambda)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		left = s->epsilon - dperm_slack(s, lambda, s->epsilon).slack;
	double		typical = dperm_calibrate_typical(s);
	double		scale;

	if (!(left > 0))
		return INFINITY;

	/* close enough here: the noise that two means at that distance need */
	scale = dperm_claim_rows_apart(s->neighbours) *
			(s->delta > 0 ? loss.norm * dperm_gaussian_sigma(left, s->delta / loss.directions) :
							loss.reach / left);
	return scale * scale * noise_spread(s) / (2.0 * s->rows * s->rows * lambda) +
		   lambda * typical * typical / 2;
}

/* The lambda at which the slack whatever the slope takes a share of epsilon. */
static double
lambda_any_slope(const DpermSetup *s, double share)
{
	double		rank = dperm_slack_rank(s->loss, s->unit, s->dim);

	return dperm_loss_bounds(s->loss).trace / (rank * s->rows * expm1(share * s->epsilon / rank));
}

/*
 * The lambda at which the slack takes a share of epsilon; the second epsilon is
 * what slack and noise have together. The slack falls as lambda grows, and has
 * no closed form. With a delta it is the slack whatever the slope, which the
 * curves of releases depend on.
 */
static double
lambda_at(const DpermSetup *s, double share, double epsilon)
{
	double		high = lambda_any_slope(s, share);
	double		low = fmax(lambda_any_slope(s, 1), DPERM_LAMBDA_MIN);

	while (s->delta == 0 && high > low * (1 + PRECISION))
	{
		double		middle = sqrt(low) * sqrt(high);

		if (dperm_slack(s, middle, epsilon).slack <= share * s->epsilon)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Does the slack at a lambda take at most a share of epsilon? */
static bool
takes_at_most(const DpermSetup *s, double lambda, double share, double epsilon)
{
	return lambda >= lambda_any_slope(s, share) ||
		(s->delta == 0 && dperm_slack(s, lambda, epsilon).slack <= share * s->epsilon);
}

/*
 * The caller's lambda, or the least: where the slack takes the share of the
 * setup; without one a tenth of epsilon, or what it takes at the default lambda
 * if that is more.
 */
static double
raised_lambda(const DpermSetup *s, double epsilon)
{
	double		share = s->slack > 0 ? s->slack : SLACK_SHARE;
	double		lambda = fmax(s->lambda, DPERM_LAMBDA_MIN);
	double		least;

	/* most often it is large enough, and nothing has to be searched for */
	if (takes_at_most(s, lambda, share, epsilon))
		return lambda;
	least = s->slack == 0 ? dperm_calibrate_best_lambda(s) : INFINITY;
	if (takes_at_most(s, least, share, epsilon))
		return fmax(lambda, fmin(least, lambda_at(s, share, epsilon)));
	least = fmax(lambda, least);
	return takes_at_most(s, least, DPERM_SLACK_MAX, epsilon) ?
		least : fmax(least, lambda_at(s, DPERM_SLACK_MAX, epsilon));
}

/*
 * The factor of the determinants, and a capped slack (section "Sharp
 * analysis").
 */
static void
sharp(const DpermSetup *s, DpermCalibration *out)
{
	double		epsilon = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
	DpermSlack	line;

	out->lambda = raised_lambda(s, epsilon);
	line = dperm_slack(s, out->lambda, epsilon);
	out->claim.shares[DPERM_SHARE_SLACK] = line.slack;
	out->claim.shares[DPERM_SHARE_NOISE] = epsilon - line.slack;
	/* both were rounded up, so that an excess of the product is of rounding */
	out->floor = fmin(dperm_claim_rows_apart(s->neighbours) * line.fall,
					  out->claim.shares[DPERM_SHARE_NOISE]);
}

/*
 * Algorithm 2 as printed, run at epsilon less the release share (section "Paper
 * analysis").
 */
static void
paper(const DpermSetup *s, DpermCalibration *out)
{
	double		epsilon = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
	double		c = dperm_loss_bounds(s->loss).trace;
	double		lambda = fmax(s->lambda, DPERM_LAMBDA_MIN);
	double		slack = 2 * log1p(c / (s->rows * lambda));

	if (epsilon - slack > 0)
	{
		out->lambda = lambda;
		out->claim.shares[DPERM_SHARE_SLACK] = slack;
		out->claim.shares[DPERM_SHARE_NOISE] = epsilon - slack;
	}
	else
	{
		out->lambda = c / (s->rows * expm1(epsilon / 4));
		out->claim.shares[DPERM_SHARE_SLACK] = epsilon / 2;
		out->claim.shares[DPERM_SHARE_NOISE] = epsilon / 2;
	}
}

/* A lambda that is too small is raised, so every lambda is valid. */
static const char *
check_objective(const DpermSetup *s)
{
	if (s->analysis == DPERM_ANALYSIS_PAPER && s->delta > 0)
		return "the analysis of the paper does not support delta";
	if (s->analysis == DPERM_ANALYSIS_PAPER && s->unit == DPERM_UNIT_PERSON)
		return "the analysis of the paper supports rows, not persons";
	if (s->analysis == DPERM_ANALYSIS_PAPER &&
		dperm_loss_entry((int) s->loss.kind)->label != DPERM_LABEL_TWO)
		return "the analysis of the paper supports labels of two classes only";
	return NULL;
}

/*
 * The scale of the noise for its share of epsilon (sections "Objective
 * perturbation" and "Gaussian noise").
 */
static double
objective_scale(const DpermSetup *s, const DpermCalibration *cal)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		epsilon = cal->claim.shares[DPERM_SHARE_NOISE];

	if (s->delta == 0)
		return loss.reach * dperm_claim_rows_apart(s->neighbours) / epsilon;
	return loss.norm * dperm_gaussian_objective_sigma(s->neighbours, s->unit, epsilon,
													  dperm_calibrate_delta(s) / loss.directions,
													  cal->floor);
}

/* Effective lambda and shares. */
static void
spend_objective(const DpermSetup *s, DpermCalibration *out)
{
	if (s->analysis == DPERM_ANALYSIS_SHARP)
		sharp(s, out);
	else
		paper(s, out);
}

/*
 * The noise that leads to the same output on two neighbouring tables differs by
 * at most two slopes: the bounds have to hold for both. The rounding of the
 * noise, and of the tilt, acts like a gradient.
 */
static double
bound_objective(const DpermSetup *s, DpermCalibration *out)
{
	double		tail = dperm_noise_tail(dperm_setup_law(s), s->noise, dperm_setup_row_dim(s),
										dperm_loss_blocks(s->loss), out->noise_scale) +
				  2 * dperm_loss_bounds(s->loss).norm;
	double		largest;

	dperm_calibrate_solver(s, tail, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda;
	out->residual =
		(out->gradient_bound +
		 (dperm_noise_rounding(dperm_setup_row_dim(s)) + DBL_EPSILON) * tail / s->rows) /
			out->lambda +
		DBL_EPSILON * (largest + 2 * s->prior_norm);
	return largest;
}

/*
 * The mean of |b| is at most its root mean square, and b moves the minimum by
 * at most |b|/(n lambda).
 */
static double
objective_effect(const DpermSetup *s, const DpermCalibration *cal)
{
	return sqrt(noise_spread(s)) * cal->noise_scale / (s->rows * cal->lambda);
}

/*
 * The private curvature decides how coordinates of the noise mix. It is at
 * least n lambda: then a weight has the deviation of its own coordinate, or up
 * to this if another one has a larger deviation (Proposition 3).
 */
static bool
objective_deviations(const DpermSetup *s, const DpermCalibration *cal, double *each)
{
	double		factor = cal->noise_scale / (s->rows * cal->lambda);
	double		largest = 0;
	int			row_dim = dperm_setup_row_dim(s);

	for (int i = 0; i < s->dim; i += row_dim)
		dperm_noise_deviations(dperm_setup_law(s), s->noise, row_dim, each + i);
	for (int i = 0; i < s->dim; i++)
		largest = fmax(largest, each[i] * each[i]);
	for (int i = 0; i < s->dim; i++)
	{
		double		own = each[i] * each[i];

		each[i] = factor * (largest > 2 * own ? largest / (2 * sqrt(largest - own)) : each[i]);
	}
	return false;
}

/* In the shape of the data, or in the ball; of each class by itself. */
static void
draw_objective(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal, double *noise)
{
	int			row_dim = dperm_setup_row_dim(s);

	for (int i = 0; i < s->dim; i += row_dim)
		dperm_noise_draw(e, dperm_setup_law(s), s->noise, row_dim, cal->noise_scale, noise + i);
}

/*
 * Minimise the tilted objective, starting at its minimum without data, which is
 * right if the noise dominates. A prior differs from the noise in that it is
 * known.
 */
static void
start_objective(DpermFitting *fitting)
{
	const DpermSetup *s = &fitting->fit->setup;
	const double *prior = fitting->fit->prior;
	double		lambda = fitting->fit->calibration.lambda;

	for (int i = 0; i < s->dim; i++)
	{
		fitting->noise[i] /= s->rows;
		if (prior)
			fitting->noise[i] -= lambda * prior[i];
		fitting->weights[i] = -fitting->noise[i] / lambda;
	}
	dperm_fit_minimise(fitting, fitting->noise);
}

/* The noise is in the minimiser already. */
static void
end_objective(DpermFitting *fitting)
{
	(void) fitting;
}

const DpermMechanism dperm_objective = {
	.name = "objective",
	.description = "objective perturbation",
	.check = check_objective,
	.risk = objective_risk,
	.spend = spend_objective,
	.scale = objective_scale,
	.bound = bound_objective,
	.effect = objective_effect,
	.damped = true,
	.deviations = objective_deviations,
	.draw = draw_objective,
	.start = start_objective,
	.end = end_objective
};
