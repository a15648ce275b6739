/*
 * calibrate.c: the privacy formulas that all mechanisms share: ranges,
 * certificate, release stage.
 *
 * Section names are those of docs/guarantee.md. Where a constant is computed in
 * doubles, it is nudged to the safe side by more than its rounding error.
 */
#include "core/mechanism/calibrate.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/loss/loss.h"
#include "core/solve/descent.h"
#include "core/solve/moments.h"
#include "core/mechanism/mechanism.h"

/*
 * The largest gradient at weights that are accepted: BOUND, or BOUND_ROWS
 * divided by the number of rows, which keeps release noise below a hundredth of
 * the main noise. Without noise, BOUND is added to what rounding may hide.
 */
#define BOUND 1e-10
#define BOUND_ROWS 6e-5
#define GOAL_WITHOUT_NOISE 1e-12

/* The finest grid, and how many grid points the weights may span. */
#define GRID_MIN 0x1p-40
#define GRID_POINTS 0x1p50

/*
 * Steps of the search for the least risk: each reduces the interval by more
 * than a third, and the risk is flat there.
 */
#define SEARCH_STEPS 40

/* A relative margin for the rounding of the constants computed here. */
#define NUDGE (1 + 1e-12)

/*
 * Rounded to three digits, for readability, and so that the result does not
 * depend on how a platform rounds logarithms.
 */
static double
three_digits(double lambda)
{
	int			power = (int) floor(log10(lambda)) - 2;

	return power < 0 ? rint(lambda * pow(10, -power)) / pow(10, -power) :
					   rint(lambda / pow(10, power)) * pow(10, power);
}

/*
 * How far weights are from where the regulariser pulls them: half as far from
 * a prior.
 */
double
dperm_calibrate_typical(const DpermSetup *s)
{
	return dperm_loss_bounds(s->loss).typical_norm / (s->prior ? 2 : 1);
}

/* The risk that the mechanism expects. */
double
dperm_calibrate_risk(const DpermSetup *s, double lambda)
{
	return dperm_mechanism_entry((int) s->method)->risk(s, lambda);
}

/*
 * The lambda of least risk. The risk is convex in lambda, so a golden-section
 * search over its logarithm finds it.
 */
double
dperm_calibrate_best_lambda(const DpermSetup *s)
{
	const double golden = 0.6180339887498949;
	double		low = log(DPERM_LAMBDA_MIN);
	double		high = log(DPERM_LAMBDA_MAX);
	double		left = high - golden * (high - low);
	double		right = low + golden * (high - low);
	double		left_risk = dperm_calibrate_risk(s, exp(left));
	double		right_risk = dperm_calibrate_risk(s, exp(right));

	for (int i = 0; i < SEARCH_STEPS; i++)
	{
		/*
		 * where the slack would take all of epsilon, both are infinite: lambda
		 * is too small
		 */
		if (left_risk < right_risk)
		{
			high = right;
			right = left;
			right_risk = left_risk;
			left = high - golden * (high - low);
			left_risk = dperm_calibrate_risk(s, exp(left));
		}
		else
		{
			low = left;
			left = right;
			left_risk = right_risk;
			right = low + golden * (high - low);
			right_risk = dperm_calibrate_risk(s, exp(right));
		}
	}
	return three_digits(exp(high));
}

/* The default lambda; the analysis of the paper has a simple rule. */
double
dperm_calibrate_default_lambda(const DpermSetup *s)
{
	bool		printed = s->method == DPERM_METHOD_OBJECTIVE &&
		s->analysis == DPERM_ANALYSIS_PAPER;
	double		lambda = isinf(s->epsilon) ? 1.0 / s->rows :
					printed			  ? 0.1 * s->dim / (s->rows * s->epsilon) :
										dperm_calibrate_best_lambda(s);

	return fmin(fmax(lambda, DPERM_LAMBDA_MIN), DPERM_LAMBDA_MAX);
}

/*
 * What is left of delta: the tail of the noise takes less than 2^-65, truncated
 * loops far less.
 */
double
dperm_calibrate_delta(const DpermSetup *s)
{
	return s->delta - 0x1p-64;
}

/* Check the ranges of the parameters, which the formulas below rely on. */
static DpermStatus
check(const DpermSetup *s, const char **why)
{
	*why = NULL;
	if (!(s->epsilon >= DPERM_EPSILON_MIN))
		*why = "epsilon must be at least 1e-6";
	else if (s->epsilon > DPERM_EPSILON_MAX && !isinf(s->epsilon))
		*why = "epsilon must be at most 500, or infinite";
	else if (!(s->delta == 0 || (s->delta >= DPERM_DELTA_MIN && s->delta < 1)))
		*why = "delta must be 0, or at least 1e-15 and less than 1";
	else if (s->delta > 0 && isinf(s->epsilon))
		*why = "delta must be 0 when epsilon is infinite";
	else if ((int) s->neighbours < 0 || (int) s->neighbours > DPERM_NEIGHBOURS_REMOVE)
		*why = "neighbours is unknown";
	else if ((int) s->unit < 0 || (int) s->unit > DPERM_UNIT_PERSON)
		*why = "unit is unknown";
	else if (!(s->lambda >= 0 && s->lambda <= DPERM_LAMBDA_MAX))
		*why = "lambda must be between 0 and 1e9";
	else if (s->rows < 1 || s->rows > DPERM_ROWS_MAX)
		*why = s->unit == DPERM_UNIT_PERSON ?
			"the number of persons is out of range" : "the number of rows is out of range";
	else if (s->dim < 1 || s->dim > DPERM_DIM_MAX)
		*why = "the dimension is out of range";
	else if (!(s->slack == 0 || (s->slack >= DPERM_SLACK_MIN && s->slack <= DPERM_SLACK_MAX)))
		*why = "slack must be between 0.001 and 0.9";
	else if (!(s->prior_norm >= 0 && s->prior_norm <= DPERM_PRIOR_NORM_MAX))
		*why = "the weights of the prior must have a norm of at most 1e6";
	else if (dperm_mechanism_entry((int) s->method) == NULL)
		*why = "the method is unknown";
	else
		*why = dperm_loss_fault(s->loss);
	if (*why == NULL && s->dim % dperm_loss_blocks(s->loss) != 0)
		*why = "the number of weights is not a multiple of that of classes";
	return *why ? DPERM_BAD_ARGUMENT : DPERM_OK;
}

/*
 * The constants of the certificate (sections "Bounded weights", "Rounding" and
 * "The solver always certifies"): how large the minimiser can be if |b| is at
 * most tail, and how small the gradient must become. A prior is a part of the
 * tilt (section "A prior").
 */
void
dperm_calibrate_solver(const DpermSetup *s, double tail, DpermCalibration *out)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		tilt = tail / s->rows + out->lambda * s->prior_norm;
	double		pull = tilt / out->lambda;
	double		by_gradient = pull + loss.norm / out->lambda;
	double		by_value = pull + sqrt(pull * pull + 2 * loss.start / out->lambda);
	double		at_zero = dperm_moments_rounding(s->dim, s->loss, 0);

	out->weight_bound = 1.01 * fmin(by_gradient, by_value);
	out->rounding[0] = at_zero + 8 * DPERM_ROUNDING_UNIT * (loss.norm + tilt);
	if (s->unit == DPERM_UNIT_PERSON)
		/* the product of slope and weight */
		out->rounding[0] += DPERM_ROUNDING_UNIT * loss.norm;
	out->rounding[1] = dperm_moments_rounding(s->dim, s->loss, 1) - at_zero +
		8 * DPERM_ROUNDING_UNIT * out->lambda;
	if (isinf(s->epsilon))
		out->gradient_bound =
			GOAL_WITHOUT_NOISE + 2 * (out->rounding[0] + out->rounding[1] * out->weight_bound);
	else
		out->gradient_bound = fmin(BOUND, BOUND_ROWS / s->rows);
	out->gradient_bound =
		fmax(out->gradient_bound,
			 4 * dperm_descent_reach(s->dim, out->lambda, s->loss, dperm_setup_most_rows(s),
									 out->weight_bound, tilt));
	out->gradient_goal = isinf(s->epsilon) ? out->gradient_bound - out->rounding[0] -
												 out->rounding[1] * out->weight_bound :
											 out->gradient_bound / 2;
	out->descent_steps =
		dperm_descent_steps(out->lambda, loss.curvature, out->weight_bound, out->gradient_bound);
}

/* The grid and the release noise for a residual rho (section "Release"). */
static void
release_stage(const DpermSetup *s, double longest, DpermCalibration *out)
{
	double		grid = GRID_MIN;

	for (;; grid *= 2)
	{
		double		steps = 2 * sqrt(s->dim) * out->residual / grid * (1 + 1e-9) + s->dim;
		double		scale = ceil(steps / out->claim.shares[DPERM_SHARE_RELEASE] * NUDGE);

		if (longest / grid <= GRID_POINTS && scale <= GRID_POINTS)
		{
			out->grid = grid;
			out->release_scale = (int64_t) scale;
			return;
		}
	}
}

/*
 * The share of epsilon for the release stage at which noise and release cost
 * least together, from the constants at the largest share (section "The share
 * of the release"). Unlike the noise, the release is not damped by curvatures,
 * whose mean is at most their trace over d, besides lambda.
 */
static double
release_share(const DpermSetup *s, const DpermCalibration *largest)
{
	double		noise = dperm_mechanism_entry((int) s->method)->effect(s, largest);
	double		release = DPERM_RELEASE_SHARE_MAX * sqrt(2.0 * s->dim) * largest->grid *
		(double) largest->release_scale;
	double		curvature = 1 + dperm_loss_bounds(s->loss).trace / (s->dim * largest->lambda);
	double		odds = cbrt(release / noise * (release / noise) * curvature);

	return fmin(odds / (1 + odds), DPERM_RELEASE_SHARE_MAX);
}

/* Every constant of the mechanism, with a share for the release stage. */
static DpermStatus
calibrate(const DpermSetup *s, double share, DpermCalibration *out, const char **why)
{
	const DpermMechanism *mechanism = dperm_mechanism_entry((int) s->method);

	memset(out, 0, sizeof(*out));
	if (check(s, why) != DPERM_OK)
		return DPERM_BAD_ARGUMENT;
	out->claim = (DpermClaim) {
		.neighbours = s->neighbours, .unit = s->unit, .epsilon = s->epsilon, .delta = s->delta};
	if (isinf(s->epsilon))
		out->lambda = s->lambda;
	else if ((*why = mechanism->check(s)) != NULL)
		return DPERM_BAD_ARGUMENT;
	else
	{
		out->claim.shares[DPERM_SHARE_RELEASE] = share * s->epsilon;
		mechanism->spend(s, out);
		out->noise_scale = mechanism->scale(s, out);
		out->noise_scale *= NUDGE;
		if (!isfinite(out->noise_scale))
		{
			*why = "no noise is large enough";
			return DPERM_BAD_ARGUMENT;
		}
	}
	if (!(out->lambda >= DPERM_LAMBDA_MIN))
	{
		*why = DPERM_LAMBDA_TOO_SMALL;
		return DPERM_BAD_ARGUMENT;
	}
	if (isinf(s->epsilon))
		dperm_calibrate_solver(s, 0, out);
	else
		release_stage(s, mechanism->bound(s, out), out);
	return DPERM_OK;
}

/* From the public parameters to every constant of the mechanism. */
DpermStatus
dperm_calibrate(const DpermSetup *s, DpermCalibration *out, const char **why)
{
	DpermStatus status = calibrate(s, DPERM_RELEASE_SHARE_MAX, out, why);

	if (status != DPERM_OK || isinf(s->epsilon))
		return status;
	return calibrate(s, release_share(s, out), out, why);
}

/* The risk at the lambda that a setup uses. */
double
dperm_calibrate_expected_risk(const DpermSetup *s)
{
	const DpermMechanism *mechanism = dperm_mechanism_entry((int) s->method);
	DpermCalibration out = {.claim = {.epsilon = s->epsilon}};
	const char *why;

	if (check(s, &why) != DPERM_OK || mechanism->check(s) != NULL)
		return INFINITY;
	mechanism->spend(s, &out);
	return out.lambda >= DPERM_LAMBDA_MIN ? dperm_calibrate_risk(s, out.lambda) : INFINITY;
}

static const char *const analysis_names[] = {"sharp", "paper"};

const char *
dperm_calibrate_analysis_name(int analysis)
{
	return analysis_names[analysis];
}
