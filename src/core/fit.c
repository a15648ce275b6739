/*
 * fit.c: the mechanism as a whole (docs/guarantee.md, "The algorithm").
 */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "release.h"

/* How well the sample is solved, as |gradient| / lambda: the full passes do the rest. */
#define START_GOAL 0.1

/* How many doubles of room a fit needs. */
size_t
dperm_fit_room(int dim)
{
	return dperm_newton_room(dim) + 2 * (size_t) dim;
}

/* Overwrite secrets in a way that the compiler keeps. */
static void
wipe(double *x, size_t count)
{
	volatile double *v = x;

	for (size_t i = 0; i < count; i++)
		v[i] = 0;
}

/*
 * A start for the solver: the minimiser over the sample, roughly. For the losses with flat pieces
 * the path of lambda takes a third of the evaluations of a direct descent; for the logistic loss
 * it takes more.
 */
static DpermStatus
approach(const DpermFit *fit, DpermProblem *problem, double *weights, double *work)
{
	DpermStatus status;

	problem->oracle = fit->sample ? *fit->sample : fit->rows;
	problem->goal = fmax(START_GOAL * problem->lambda, fit->calibration.gradient_goal);
	if (fit->setup.loss.kind != DPERM_LOSS_LOGISTIC)
		return dperm_newton_path(problem, weights, work);
	if (!fit->sample)
		return DPERM_OK;
	status = dperm_newton(problem, weights, work);
	return status == DPERM_NOT_CERTIFIED ? DPERM_OK : status;
}

/* Minimise with the noise that was drawn, certify, release. */
static DpermStatus
fit_with_noise(const DpermFit *fit, const double *noise, double *tilt, double *weights,
			   double *work)
{
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;
	bool		private = !isinf(fit->setup.epsilon);
	bool		tilted = private && fit->setup.method == DPERM_METHOD_OBJECTIVE;
	double		length = 0;
	DpermStatus status;
	DpermProblem problem = {
		.dim = dim,
		.lambda = cal->lambda,
		.poll = fit->poll
	};

	if (tilted)
	{
		for (int i = 0; i < dim; i++)
			tilt[i] = noise[i] / fit->setup.rows;
		problem.tilt = tilt;
	}

	/* where the minimiser would be without data: right when the noise dominates */
	for (int i = 0; i < dim; i++)
		weights[i] = tilted ? -tilt[i] / cal->lambda : 0;
	status = approach(fit, &problem, weights, work);
	if (status != DPERM_OK)
		return status;
	problem.oracle = fit->rows;
	problem.goal = cal->gradient_goal;
	status = dperm_newton(&problem, weights, work);
	if (status != DPERM_OK)
		return status;

	for (int i = 0; i < dim; i++)
		length += weights[i] * weights[i];
	if (!(sqrt(length) <= cal->weight_bound))
		return DPERM_NOT_CERTIFIED;
	if (!private)
		return DPERM_OK;

	if (!tilted)
		for (int i = 0; i < dim; i++)
			weights[i] += noise[i];
	dperm_release(fit->entropy, dim, cal->grid, cal->release_scale, weights);
	return dperm_entropy_ok(fit->entropy) ? DPERM_OK : DPERM_NO_ENTROPY;
}

/* Draw b, and go on from there; leave no trace of it, nor of weights that were not released. */
DpermStatus
dperm_fit(const DpermFit *fit, double *weights, double *room)
{
	int			dim = fit->setup.dim;
	double	   *noise = room;
	DpermStatus status;

	if (!isinf(fit->setup.epsilon))
		dperm_draw_gamma_sphere(fit->entropy, dim, fit->calibration.noise_scale, noise);
	if (!isinf(fit->setup.epsilon) && !dperm_entropy_ok(fit->entropy))
		status = DPERM_NO_ENTROPY;
	else
		status = fit_with_noise(fit, noise, noise + dim, weights, noise + 2 * dim);
	wipe(room, dperm_fit_room(dim));
	if (status != DPERM_OK)
		wipe(weights, dim);
	return status;
}

/* The sums of a finished pass as means. */
void
dperm_moments_means(DpermMoments *m, double *value, double *gradient, double *hess)
{
	double		n = (double) m->rows;

	dperm_moments_flush(m);
	*value = (m->value[0] + m->value[1]) / n;
	for (int i = 0; i < m->dim; i++)
		gradient[i] = (m->gradient[i] + m->gradient_low[i]) / n;
	if (hess)
		for (int j = 0; j < m->dim; j++)
			for (int i = j; i < m->dim; i++)
			{
				size_t		at = (size_t) j * m->dim + i;

				hess[at] = m->hess[at] / n;
			}
}

/* The mean over rows in memory. */
DpermStatus
dperm_matrix_eval(void *matrix, const double *weights, double *value, double *gradient,
				  double *hess)
{
	DpermMatrix *x = matrix;
	DpermMoments m;

	dperm_moments_init(&m, x->loss, x->dim, hess != NULL, weights, x->room);
	for (int64_t i = 0; i < x->count;)
	{
		int64_t		within = i % x->chunk_rows;
		int64_t		some = x->chunk_rows - within;

		if (some > x->count - i)
			some = x->count - i;
		if (some > m.block_rows)
			some = m.block_rows;
		dperm_poll(&x->poll);
		dperm_moments_add(&m, x->chunks[i / x->chunk_rows] + within * x->dim, some);
		i += some;
	}
	dperm_moments_means(&m, value, gradient, hess);
	return DPERM_OK;
}
