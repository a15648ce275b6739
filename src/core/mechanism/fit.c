/*
 * fit.c: a complete training (docs/guarantee.md, "The algorithm").
 * Trusted: nothing leaves before it has its noise.
 */
#include "core/mechanism/fit.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"
#include "core/privacy/draw.h"

size_t
dperm_fit_room(int dim, int blocks)
{
	/* the noise; and as it was drawn, then the tilt; where the solver starts */
	return dperm_solver_room(dim, blocks) + 3 * (size_t) dim;
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
	double	   *drawn = fitting->noise + fit->setup.dim;

	dperm_mechanism_draw(fit->entropy, &fit->setup, &fit->calibration, drawn);
	for (int k = 0; k < blocks; k++)
		for (int j = 0; j < row_dim; j++)
			fitting->noise[j * blocks + k] = drawn[k * row_dim + j];
}

/* Draw the noise, if there is any. */
void
dperm_fit_start(DpermFitting *fitting, const DpermFit *fit, double *weights, double *room)
{
	*fitting = (DpermFitting) {.fit = fit, .weights = weights, .noise = room};
	if (!isinf(fit->setup.epsilon))
	{
		draw_noise(fitting);
		fitting->status = fit->entropy->status;
	}
}

/*
 * Answer a question of the solver. The weights of a question are accepted by its
 * answer, whatever led to it, and nothing that follows changes them.
 */
static bool
answer_and_certify(void *arg, const DpermAsk *question)
{
	DpermFitting *fitting = arg;

	if (fitting->certified)
		return true;
	fitting->answer(fitting->arg, question);
	fitting->certified = dperm_certify(&fitting->objective, question);
	if (fitting->certified)
		memcpy(fitting->weights, question->weights,
			   sizeof(double) * (size_t) fitting->objective.dim);
	return fitting->certified;
}

/*
 * Minimise the objective, with the prior and the noise, if that is in it, as a tilt.
 * From the minimum without data: the weights of the prior, or what is right if the
 * noise dominates.
 */
void
dperm_fit_minimise(DpermFitting *fitting, void (*answer) (void *arg, const DpermAsk *question),
				   void *arg)
{
	const DpermFit *fit = fitting->fit;
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;
	bool		noisy = !isinf(fit->setup.epsilon) && dperm_setup_in_objective(&fit->setup);
	double	   *tilt = fitting->noise + dim;
	double	   *start = tilt + dim;
	DpermProblem problem = {
		.objective = {
			.loss = fit->setup.loss,
			.dim = dim,
			.most_rows = dperm_setup_most_rows(&fit->setup),
			.more_rows = dperm_setup_more_rows(&fit->setup),
			.lambda = cal->lambda,
			.tilt = noisy || fit->prior ? tilt : NULL,
			.bound = cal->gradient_bound,
			.rounding = {cal->rounding[0], cal->rounding[1]}
		},
		.weight_bound = cal->weight_bound,
		.descent_steps = cal->descent_steps,
		.sample = fit->sample,
		.hess_cost = fit->hess_cost
	};

	if (fitting->status != DPERM_OK)
		return;
	for (int i = 0; i < dim; i++)
	{
		tilt[i] = noisy ? fitting->noise[i] / fit->setup.rows : 0;
		if (fit->prior)
			tilt[i] -= cal->lambda * fit->prior[i];
		start[i] = 0 - tilt[i] / cal->lambda;	/* never -0 */
	}
	fitting->objective = problem.objective;
	fitting->answer = answer;
	fitting->arg = arg;
	dperm_solver_run(&problem, answer_and_certify, fitting, start, start + dim);
}

/* Release the weights. */
static DpermStatus
release(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;

	if (isinf(fit->setup.epsilon))
		return DPERM_OK;
	if (!dperm_setup_in_objective(&fit->setup))
		for (int i = 0; i < fit->setup.dim; i++)
			fitting->weights[i] += fitting->noise[i];
	dperm_release(fit->entropy, fit->setup.dim, fit->calibration.grid,
				  fit->calibration.release_scale, fitting->weights);
	return fit->entropy->status;
}

/*
 * Release the weights, and erase the noise and the weights that are not
 * released. They are certified, and within the certified bound, unless the noise
 * exceeds its bound, which has a probability below delta; zeros are released
 * instead then.
 */
DpermStatus
dperm_fit_end(DpermFitting *fitting)
{
	const DpermFit *fit = fitting->fit;
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;
	DpermStatus status = fitting->status;

	if (!fitting->certified || !(sqrt(dperm_dot(dim, fitting->weights, fitting->weights)) <=
								 cal->weight_bound + cal->gradient_bound / cal->lambda))
		dperm_wipe(fitting->weights, dim);
	if (status == DPERM_OK)
		status = release(fitting);
	dperm_wipe(fitting->noise, dperm_fit_room(dim, dperm_loss_blocks(fit->setup.loss)));
	if (status != DPERM_OK)
		dperm_wipe(fitting->weights, dim);
	return status;
}
