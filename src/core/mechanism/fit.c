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

bool
dperm_fit_rough(const DpermFit *fit)
{
	return dperm_solver_rough(fit->setup.loss, fit->calibration.lambda);
}

/* Begin to minimise the objective, with a tilt or NULL, from the current weights. */
static void
minimise(DpermFitting *fitting, const double *tilt)
{
	const DpermFit *fit = fitting->fit;
	DpermProblem problem = {
		.objective = objective_of(fit, tilt),
		.weight_bound = fit->calibration.weight_bound,
		.descent_steps = fit->calibration.descent_steps,
		.sample = fit->sample,
		.hess_cost = fit->hess_cost
	};

	fitting->objective = problem.objective;
	dperm_solver_start(&fitting->solver, &problem, fitting->weights,
					   fitting->room + 2 * fit->setup.dim);
}

/*
 * Without noise in the objective, from the weights of the prior, to which what
 * is tilted is due.
 */
static void
minimise_plain(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;
	int			dim = fit->setup.dim;
	double	   *tilt = fitting->room + dim;

	for (int i = 0; i < dim; i++)
	{
		fitting->weights[i] = fit->prior ? fit->prior[i] : 0;
		tilt[i] = -fit->calibration.lambda * fitting->weights[i];
	}
	minimise(fitting, fit->prior ? tilt : NULL);
}

/*
 * With noise in the objective, from its minimum without data, which is right if
 * the noise dominates. A prior differs from the noise in that it is known.
 */
static void
minimise_tilted(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;
	double		lambda = fit->calibration.lambda;

	for (int i = 0; i < fit->setup.dim; i++)
	{
		fitting->noise[i] /= fit->setup.rows;
		if (fit->prior)
			fitting->noise[i] -= lambda * fit->prior[i];
		fitting->weights[i] = -fitting->noise[i] / lambda;
	}
	minimise(fitting, fitting->noise);
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

void
dperm_fit_start(DpermFitting *fitting, const DpermFit *fit, double *weights, double *room)
{
	memset(fitting, 0, sizeof(*fitting));
	fitting->fit = fit;
	fitting->weights = weights;
	fitting->room = room;
	fitting->noise = room;
	fitting->status = DPERM_OK;
	if (!isinf(fit->setup.epsilon))
	{
		draw_noise(fitting);
		if (!dperm_entropy_ok(fit->entropy))
		{
			fitting->status = DPERM_NO_ENTROPY;
			return;
		}
	}
	if (has_noise(fit, true))
		minimise_tilted(fitting);
	else
		minimise_plain(fitting);
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
	return dperm_entropy_ok(fit->entropy) ? DPERM_OK : DPERM_NO_ENTROPY;
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
