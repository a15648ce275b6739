/*
 * calibrate.c: every privacy formula of the project.
 *
 * Section names are those of docs/guarantee.md. Where a constant is computed in
 * doubles, it is nudged to the safe side by more than its rounding error.
 */
#include "core/mechanism/calibrate.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/solve/descent.h"
#include "core/solve/moments.h"
#include "core/base/names.h"
#include "core/privacy/sample.h"

/* Shares of epsilon: what the Jacobian may take at most, what the release stage takes. */
#define SLACK_SHARE 0.1
#define RELEASE_SHARE 0.01

/*
 * The gradient at weights that are accepted: at most this, or this divided by the number of rows, which keeps release noise
 * below a hundredth of the main noise. Without noise, this on top of what rounding may hide.
 */
#define BOUND 1e-10
#define BOUND_ROWS 6e-5
#define GOAL_WITHOUT_NOISE 1e-12

/* The finest grid, and how many grid points the weights may span. */
#define GRID_MIN 0x1p-40
#define GRID_POINTS 0x1p50

/* Relative room for the rounding of the constants computed here. */
#define NUDGE (1 + 1e-12)

/* The data-independent default of lambda. */
double
dperm_calibrate_default_lambda(double epsilon, int64_t rows, int dim)
{
	double		lambda = isinf(epsilon) ? 1.0 / rows : 0.1 * dim / (rows * epsilon);

	return fmin(fmax(lambda, DPERM_LAMBDA_MIN), DPERM_LAMBDA_MAX);
}

/* Are the parameters such that the formulas below make sense? */
static DpermStatus
check(const DpermSetup *s, const char **why)
{
	*why = NULL;
	if (!(s->epsilon >= DPERM_EPSILON_MIN))
		*why = "epsilon must be at least 1e-6";
	else if (s->epsilon > DPERM_EPSILON_MAX && !isinf(s->epsilon))
		*why = "epsilon must be at most 500, or infinite";
	else if (!(s->lambda >= 0 && s->lambda <= DPERM_LAMBDA_MAX))
		*why = "lambda must be between 0 and 1e9";
	else if (s->rows < 1 || s->rows > DPERM_ROWS_MAX)
		*why = "the number of rows is out of range";
	else if (s->dim < 1 || s->dim > DPERM_DIM_MAX)
		*why = "the dimension is out of range";
	else
		*why = dperm_loss_fault(s->loss);
	return *why ? DPERM_BAD_ARGUMENT : DPERM_OK;
}

/* Algorithm 1 (section "Output perturbation"). */
static void
output_perturbation(const DpermSetup *s, DpermCalibration *out)
{
	out->lambda = s->lambda;
	out->eps_slack = 0;
	out->eps_noise = s->epsilon - out->eps_release;
	out->noise_scale = 2 / (s->rows * s->lambda * out->eps_noise);
}

/* Algorithm 2 with one determinant factor and a capped slack (section "Sharp analysis"). */
static void
sharp_objective(const DpermSetup *s, double c, DpermCalibration *out)
{
	double		least = c / (s->rows * expm1(SLACK_SHARE * s->epsilon));

	out->lambda = fmax(fmax(s->lambda, DPERM_LAMBDA_MIN), least);
	out->eps_slack = log1p(c / (s->rows * out->lambda));
	out->eps_noise = s->epsilon - out->eps_slack - out->eps_release;
	out->noise_scale = 2 / out->eps_noise;
}

/* Algorithm 2 as printed, run at epsilon less the release share (section "Paper analysis"). */
static void
paper_objective(const DpermSetup *s, double c, DpermCalibration *out)
{
	double		epsilon = s->epsilon - out->eps_release;
	double		lambda = fmax(s->lambda, DPERM_LAMBDA_MIN);
	double		slack = 2 * log1p(c / (s->rows * lambda));

	if (epsilon - slack > 0)
	{
		out->lambda = lambda;
		out->eps_slack = slack;
		out->eps_noise = epsilon - slack;
	}
	else
	{
		out->lambda = c / (s->rows * expm1(epsilon / 4));
		out->eps_slack = epsilon / 2;
		out->eps_noise = epsilon / 2;
	}
	out->noise_scale = 2 / out->eps_noise;
}

/*
 * What the certificate rests on (sections "Bounded weights", "Rounding" and "The solver always certifies"): how large the
 * minimiser can be when |b| is at most tail, and what has to be reached there.
 */
static void
solver_bounds(const DpermSetup *s, double c, double tail, DpermCalibration *out)
{
	double		pull = tail / s->rows / out->lambda;
	double		start = dperm_loss_at(s->loss, 0).value;
	double		by_gradient = pull + 1 / out->lambda;
	double		by_value = pull + sqrt(pull * pull + 2 * start / out->lambda);
	double		tilt = tail / s->rows;

	out->weight_bound = 1.01 * fmin(by_gradient, by_value);
	out->rounding[0] = dperm_moments_rounding(s->dim, c, 0) + 8 * DPERM_ROUNDING_UNIT * (1 + tilt);
	out->rounding[1] = dperm_moments_rounding(s->dim, c, 1) - dperm_moments_rounding(s->dim, c, 0) +
		8 * DPERM_ROUNDING_UNIT * out->lambda;
	if (isinf(s->epsilon))
		out->gradient_bound = GOAL_WITHOUT_NOISE + 2 * (out->rounding[0] + out->rounding[1] * out->weight_bound);
	else
		out->gradient_bound = fmin(BOUND, BOUND_ROWS / s->rows);
	out->gradient_bound = fmax(out->gradient_bound,
							   4 * dperm_descent_reach(s->dim, out->lambda, c, s->rows, out->weight_bound, tilt));
	out->gradient_goal = isinf(s->epsilon) ? out->gradient_bound - out->rounding[0] - out->rounding[1] * out->weight_bound :
		out->gradient_bound / 2;
	out->descent_steps = dperm_descent_steps(out->lambda, c, out->weight_bound, out->gradient_bound);
}

/* The grid and the release noise for a residual rho (section "Release"). */
static void
release_stage(const DpermSetup *s, double longest, DpermCalibration *out)
{
	double		grid = GRID_MIN;

	for (;; grid *= 2)
	{
		double		steps = 2 * sqrt(s->dim) * out->residual / grid * (1 + 1e-9) + s->dim;
		double		scale = ceil(steps / out->eps_release * NUDGE);

		if (longest / grid <= GRID_POINTS && scale <= GRID_POINTS)
		{
			out->grid = grid;
			out->release_scale = (int64_t) scale;
			return;
		}
	}
}

/* From the public parameters to every constant of the mechanism. */
DpermStatus
dperm_calibrate(const DpermSetup *s, DpermCalibration *out, const char **why)
{
	double		c;
	double		longest;
	double		tail;

	memset(out, 0, sizeof(*out));
	if (check(s, why) != DPERM_OK)
		return DPERM_BAD_ARGUMENT;
	c = dperm_loss_curvature(s->loss);

	if (isinf(s->epsilon))
		out->lambda = s->lambda;
	else
	{
		out->eps_release = RELEASE_SHARE * s->epsilon;
		if (s->method == DPERM_METHOD_OUTPUT)
			output_perturbation(s, out);
		else if (s->analysis == DPERM_ANALYSIS_SHARP)
			sharp_objective(s, c, out);
		else
			paper_objective(s, c, out);
		out->noise_scale *= NUDGE;
	}
	if (!(out->lambda >= DPERM_LAMBDA_MIN))
	{
		*why = "lambda is too small here: at least 1e-10 is needed";
		return DPERM_BAD_ARGUMENT;
	}
	if (isinf(s->epsilon))
	{
		solver_bounds(s, c, 0, out);
		return DPERM_OK;
	}

	/*
	 * The noise that leads to one and the same output under two neighbouring tables differs
	 * by the sensitivity: the bounds have to hold for both.
	 */
	tail = dperm_gamma_sphere_tail(s->dim, out->noise_scale);
	if (s->method == DPERM_METHOD_OUTPUT)
	{
		/* the noise is added to the weights, in doubles */
		tail += 2 / (s->rows * out->lambda);
		solver_bounds(s, c, 0, out);
		longest = out->weight_bound + out->gradient_bound / out->lambda + tail;
		out->residual = out->gradient_bound / out->lambda + dperm_gamma_sphere_rounding(s->dim) * tail +
			2 * DBL_EPSILON * longest;
	}
	else
	{
		/* the noise tilts the objective, so its rounding, and that of its share of a row, act like a gradient */
		tail += 2;
		solver_bounds(s, c, tail, out);
		longest = out->weight_bound + out->gradient_bound / out->lambda;
		out->residual = (out->gradient_bound + (dperm_gamma_sphere_rounding(s->dim) + DBL_EPSILON) * tail / s->rows) /
			out->lambda + DBL_EPSILON * longest;
	}
	release_stage(s, longest, out);
	return DPERM_OK;
}

static const char *const method_names[] = {"objective", "output"};
static const char *const analysis_names[] = {"sharp", "paper"};

const char *
dperm_method_name(DpermMethod method)
{
	return method_names[method];
}

bool
dperm_method_parse(const char *name, DpermMethod *method)
{
	int			found = dperm_find_name(method_names, 2, name);

	if (found >= 0)
		*method = (DpermMethod) found;
	return found >= 0;
}

const char *
dperm_analysis_name(DpermAnalysis analysis)
{
	return analysis_names[analysis];
}

bool
dperm_analysis_parse(const char *name, DpermAnalysis *analysis)
{
	int			found = dperm_find_name(analysis_names, 2, name);

	if (found >= 0)
		*analysis = (DpermAnalysis) found;
	return found >= 0;
}
