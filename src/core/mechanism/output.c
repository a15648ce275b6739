/*
 * output.c: output perturbation: the noise is added to the minimiser
 * (docs/guarantee.md, "Output perturbation").
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "core/base/limits.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/mechanism/mechanism.h"
#include "core/privacy/gaussian.h"
#include "core/privacy/draw.h"

/* Lambda must be large enough: nothing raises it here. */
static const char *
check_output(const DpermSetup *s)
{
	return s->lambda >= DPERM_LAMBDA_MIN ? NULL : DPERM_LAMBDA_TOO_SMALL;
}

/*
 * The scale of the noise at a lambda, for its share of epsilon: the minimum
 * moves by at most a row's share divided by lambda.
 */
static double
scale_at(const DpermSetup *s, double lambda, double epsilon, double delta)
{
	double		reach = dperm_loss_bounds(s->loss).norm * dperm_claim_rows_apart(s->neighbours) /
		(s->rows * lambda);

	return s->delta > 0 ? reach * dperm_gaussian_sigma(epsilon, delta) : reach / epsilon;
}

/*
 * A proxy for the excess risk (section "The criterion"). Noise is the same in
 * all directions, so it meets the mean curvature; the curvatures add up to at
 * most their trace, plus lambda in each direction.
 */
static double
output_risk(const DpermSetup *s, double lambda)
{
	double		scale = scale_at(s, lambda, s->epsilon, s->delta);
	double		typical = dperm_calibrate_typical(s);

	return scale * scale * dperm_noise_spread(dperm_setup_law(s), NULL, s->dim) *
			   (lambda + dperm_loss_bounds(s->loss).trace / s->dim) / 2 +
		   lambda * typical * typical / 2;
}

/* The shares of epsilon. */
static void
spend_output(const DpermSetup *s, DpermCalibration *out)
{
	out->lambda = s->lambda;
	out->claim.shares[DPERM_SHARE_SLACK] = 0;
	out->claim.shares[DPERM_SHARE_NOISE] = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
}

/* The scale of the noise. */
static double
output_scale(const DpermSetup *s, const DpermCalibration *cal)
{
	return scale_at(s, cal->lambda, cal->claim.shares[DPERM_SHARE_NOISE], dperm_calibrate_delta(s));
}

/*
 * As for objective perturbation; the noise is added to the weights, in doubles,
 * and only a prior is in the tilt.
 */
static double
bound_output(const DpermSetup *s, DpermCalibration *out)
{
	double		tail = dperm_noise_tail(dperm_setup_law(s), NULL, s->dim, 1, out->noise_scale) +
				  2 * dperm_loss_bounds(s->loss).norm / (s->rows * out->lambda);
	double		largest;

	dperm_calibrate_solver(s, 0, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda + tail;
	out->residual = out->gradient_bound / out->lambda + dperm_noise_rounding(s->dim) * tail +
		2 * DBL_EPSILON * (largest + s->prior_norm);
	return largest;
}

/* The mean of |b| is at most its root mean square. */
static double
output_effect(const DpermSetup *s, const DpermCalibration *cal)
{
	return sqrt(dperm_noise_spread(dperm_setup_law(s), NULL, s->dim)) * cal->noise_scale;
}

/* The noise is in the weights as it is. */
static bool
output_deviations(const DpermSetup *s, const DpermCalibration *cal, double *each)
{
	dperm_noise_deviations(dperm_setup_law(s), NULL, s->dim, each);
	for (int i = 0; i < s->dim; i++)
		each[i] *= cal->noise_scale;
	return true;
}

/* The same in all directions. */
static void
draw_output(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal, double *noise)
{
	dperm_noise_draw(e, dperm_setup_law(s), NULL, s->dim, cal->noise_scale, noise);
}

static void
end_output(DpermFitting *fitting)
{
	for (int i = 0; i < fitting->fit->setup.dim; i++)
		fitting->weights[i] += fitting->noise[i];
}

const DpermMechanism dperm_output = {
	.name = "output",
	.description = "output perturbation",
	.check = check_output,
	.risk = output_risk,
	.spend = spend_output,
	.scale = output_scale,
	.bound = bound_output,
	.effect = output_effect,
	.damped = false,
	.deviations = output_deviations,
	.draw = draw_output,
	.start = dperm_fit_minimise_plain,
	.end = end_output
};
