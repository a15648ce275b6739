/*
 * fit.c: a complete training (docs/guarantee.md, "The algorithm").
 * Trusted: nothing leaves before it has its noise.
 */
#include "core/mechanism/fit.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"
#include "core/privacy/draw.h"

/* Is there noise, in the objective or to be added to its minimum? */
static bool
has_noise(const DpermFit *fit, bool in_objective)
{
	return !isinf(fit->setup.epsilon) &&
		dperm_mechanism_entry((int) fit->setup.method)->in_objective == in_objective;
}

size_t
dperm_fit_room(int dim, int blocks)
{
	/* the noise; and as it was drawn, then the tilt of the prior */
	return dperm_solver_room(dim, blocks) + 2 * (size_t) dim;
}

/* What a fit minimises. */
static DpermObjective
objective_of(const DpermFit *fit, const double *tilt)
{
	const DpermCalibration *cal = &fit->calibration;

	return (DpermObjective) {
		.loss = fit->setup.loss,
		.dim = fit->setup.dim,
		.most_rows = dperm_setup_most_rows(&fit->setup),
		.lambda = cal->lambda,
		.tilt = tilt,
		.bound = cal->gradient_bound,
		.rounding = {cal->rounding[0], cal->rounding[1]}
	};
}

/*
 * Draw the noise. With several classes it comes class by class, and weights are
 * coordinate by coordinate (sums.h).
 */
static void
draw_noise(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;
	int			blocks = dperm_loss_blocks(fit->setup.loss);
	int			row_dim = dperm_setup_row_dim(&fit->setup);
	double	   *drawn = blocks > 1 ? fitting->room + fit->setup.dim : fitting->noise;

	dperm_mechanism_draw(fit->entropy, &fit->setup, &fit->calibration, drawn);
	if (blocks == 1)
		return;
	for (int k = 0; k < blocks; k++)
		for (int j = 0; j < row_dim; j++)
			fitting->noise[j * blocks + k] = drawn[k * row_dim + j];
}

/*
 * Begin to minimise the objective, with the prior and the noise, if that is in it, as
 * a tilt. From the minimum without data: the weights of the prior, or what is right
 * if the noise dominates.
 */
static void
minimise(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;
	int			dim = fit->setup.dim;
	double		lambda = fit->calibration.lambda;
	bool		noisy = has_noise(fit, true);
	double	   *tilt = fitting->room + dim;
	DpermProblem problem = {
		.objective = objective_of(fit, noisy || fit->prior ? tilt : NULL),
		.weight_bound = fit->calibration.weight_bound,
		.descent_steps = fit->calibration.descent_steps,
		.sample = fit->sample,
		.hess_cost = fit->hess_cost
	};

	for (int i = 0; i < dim; i++)
	{
		tilt[i] = noisy ? fitting->noise[i] / fit->setup.rows : 0;
		if (fit->prior)
			tilt[i] -= lambda * fit->prior[i];
		fitting->weights[i] = 0 - tilt[i] / lambda; /* never -0 */
	}
	fitting->objective = problem.objective;
	dperm_solver_start(&fitting->solver, &problem, fitting->weights, fitting->room + 2 * dim);
}

void
dperm_fit_start(DpermFitting *fitting, const DpermFit *fit, double *weights, double *room)
{
	*fitting = (DpermFitting) {.fit = fit, .weights = weights, .room = room, .noise = room};
	if (!isinf(fit->setup.epsilon))
	{
		draw_noise(fitting);
		fitting->status = fit->entropy->status;
	}
	if (fitting->status == DPERM_OK)
		minimise(fitting);
}

/*
 * The weights of a question are accepted by its answer, whatever led to it;
 * otherwise the solver goes on.
 */
bool
dperm_fit_next(DpermFitting *fitting, DpermAsk *ask)
{
	bool		more;

	if (fitting->status != DPERM_OK || fitting->certified)
		return false;
	fitting->certified = fitting->asked.weights &&
		dperm_certify(&fitting->objective, &fitting->asked);
	if (fitting->certified)
	{
		memcpy(fitting->weights, fitting->asked.weights,
			   sizeof(double) * (size_t) fitting->objective.dim);
		return false;
	}
	more = dperm_solver_next(&fitting->solver, ask);
	fitting->asked = *ask;
	return more;
}

/* Are the weights certified, and within the certified bound? */
static bool
plausible(const DpermFitting *fitting)
{
	const DpermCalibration *cal = &fitting->fit->calibration;
	double		norm = sqrt(dperm_dot(fitting->fit->setup.dim, fitting->weights, fitting->weights));

	return fitting->certified && norm <= cal->weight_bound + cal->gradient_bound / cal->lambda;
}

/* Release the weights. */
static DpermStatus
release(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;

	if (isinf(fit->setup.epsilon))
		return DPERM_OK;
	if (has_noise(fit, false))
		for (int i = 0; i < fit->setup.dim; i++)
			fitting->weights[i] += fitting->noise[i];
	dperm_release(fit->entropy, fit->setup.dim, fit->calibration.grid,
				  fit->calibration.release_scale, fitting->weights);
	return fit->entropy->status;
}

/*
 * Release the weights, and erase the noise and the weights that are not
 * released. They are certified unless the noise exceeds its bound, which has a
 * probability below delta; zeros are released instead then.
 */
DpermStatus
dperm_fit_end(DpermFitting *fitting)
{
	int			dim = fitting->fit->setup.dim;
	DpermStatus status = fitting->status;

	if (!plausible(fitting))
		dperm_wipe(fitting->weights, dim);
	if (status == DPERM_OK)
		status = release(fitting);
	dperm_wipe(fitting->room, dperm_fit_room(dim, dperm_loss_blocks(fitting->fit->setup.loss)));
	if (status != DPERM_OK)
		dperm_wipe(fitting->weights, dim);
	return status;
}
