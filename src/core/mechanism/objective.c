/*
 * objective.c: objective perturbation: the noise tilts the objective (docs/guarantee.md, "Objective perturbation").
 */
#include <float.h>
#include <math.h>

#include "core/base/limits.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/mechanism/mechanism.h"
#include "core/privacy/draw.h"

/* What the Jacobian may take of epsilon at most, in the sharp analysis. */
#define SLACK_SHARE 0.1

/* One determinant factor and a capped slack (section "Sharp analysis"). */
static void
sharp(const DpermSetup *s, double c, DpermCalibration *out)
{
	double		least = c / (s->rows * expm1(SLACK_SHARE * s->epsilon));

	out->lambda = fmax(fmax(s->lambda, DPERM_LAMBDA_MIN), least);
	out->claim.shares[DPERM_SHARE_SLACK] = log1p(c / (s->rows * out->lambda));
	out->claim.shares[DPERM_SHARE_NOISE] = s->epsilon - out->claim.shares[DPERM_SHARE_SLACK] - out->claim.shares[DPERM_SHARE_RELEASE];
}

/* Algorithm 2 as printed, run at epsilon less the release share (section "Paper analysis"). */
static void
paper(const DpermSetup *s, double c, DpermCalibration *out)
{
	double		epsilon = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
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

/* A lambda that is too small is raised, so every lambda will do. */
static const char *
check_objective(const DpermSetup *s)
{
	(void) s;
	return NULL;
}

/* Effective lambda, shares and scale. */
static void
spend_objective(const DpermSetup *s, double c, DpermCalibration *out)
{
	if (s->analysis == DPERM_ANALYSIS_SHARP)
		sharp(s, c, out);
	else
		paper(s, c, out);
	out->noise_scale = 2 / out->claim.shares[DPERM_SHARE_NOISE];
}

/*
 * The noise that leads to one and the same output under two neighbouring tables differs by the sensitivity, 2: the bounds
 * have to hold for both. Its rounding, and that of its share of a row, act like a gradient.
 */
static double
bound_objective(const DpermSetup *s, double c, DpermCalibration *out)
{
	double		tail = dperm_draw_gamma_sphere_tail(s->dim, out->noise_scale) + 2;
	double		largest;

	dperm_calibrate_solver(s, c, tail, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda;
	out->residual = (out->gradient_bound + (dperm_draw_gamma_sphere_rounding(s->dim) + DBL_EPSILON) * tail / s->rows) /
		out->lambda + DBL_EPSILON * largest;
	return largest;
}

/* |b| has mean dim times scale, and moves the minimum by at most |b|/(n lambda). */
static double
objective_effect(const DpermSetup *s, const DpermCalibration *cal)
{
	return s->dim * cal->noise_scale / (s->rows * cal->lambda);
}

/* Density proportional to exp(-|b|/scale). */
static void
draw_objective(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal, double *noise)
{
	dperm_draw_gamma_sphere(e, s->dim, cal->noise_scale, noise);
}

/* Minimise the tilted objective, from where its minimum would be without data: right when the noise dominates. */
static void
start_objective(DpermFitting *fitting)
{
	const DpermSetup *s = &fitting->fit->setup;
	double		lambda = fitting->fit->calibration.lambda;

	for (int i = 0; i < s->dim; i++)
	{
		fitting->noise[i] /= s->rows;
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
	.spend = spend_objective,
	.bound = bound_objective,
	.effect = objective_effect,
	.draw = draw_objective,
	.start = start_objective,
	.next = dperm_fit_ask,
	.end = end_objective
};
