/*
 * output.c: output perturbation: the noise is added to the minimiser (docs/guarantee.md, "Output perturbation").
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "core/base/limits.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/mechanism/mechanism.h"
#include "core/privacy/draw.h"

/* Nothing raises lambda here. */
static const char *
check_output(const DpermSetup *s)
{
	return s->lambda >= DPERM_LAMBDA_MIN ? NULL : DPERM_LAMBDA_TOO_SMALL;
}

/* The default. */
static double
output_lambda(const DpermSetup *s, double c)
{
	(void) c;
	return dperm_calibrate_plain_lambda(s);
}

/* Shares and scale. */
static void
spend_output(const DpermSetup *s, double c, DpermCalibration *out)
{
	(void) c;
	out->lambda = s->lambda;
	out->claim.shares[DPERM_SHARE_SLACK] = 0;
	out->claim.shares[DPERM_SHARE_NOISE] = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
	out->noise_scale = 2 / (s->rows * s->lambda * out->claim.shares[DPERM_SHARE_NOISE]);
}

/* As for objective perturbation; the noise is added to the weights, in doubles. */
static double
bound_output(const DpermSetup *s, double c, DpermCalibration *out)
{
	double		tail = dperm_draw_gamma_sphere_tail(s->dim, out->noise_scale) + 2 / (s->rows * out->lambda);
	double		largest;

	dperm_calibrate_solver(s, c, 0, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda + tail;
	out->residual = out->gradient_bound / out->lambda + dperm_draw_gamma_sphere_rounding(s->dim) * tail +
		2 * DBL_EPSILON * largest;
	return largest;
}

/* |b| has a mean of at most the root of that of its square. */
static double
output_effect(const DpermSetup *s, const DpermCalibration *cal)
{
	return sqrt(dperm_noise_spread(NULL, s->dim)) * cal->noise_scale;
}

/* Density proportional to exp(-|b|/scale). */
static void
draw_output(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal, double *noise)
{
	dperm_draw_gamma_sphere(e, s->dim, cal->noise_scale, noise);
}

/* Minimise the objective as it is. */
static void
start_output(DpermFitting *fitting)
{
	for (int i = 0; i < fitting->fit->setup.dim; i++)
		fitting->weights[i] = 0;
	dperm_fit_minimise(fitting, NULL);
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
	.lambda = output_lambda,
	.spend = spend_output,
	.bound = bound_output,
	.effect = output_effect,
	.draw = draw_output,
	.start = start_output,
	.next = dperm_fit_ask,
	.end = end_output
};
