/*
 * fit.c: the mechanism as a whole (docs/guarantee.md, "The algorithm").
 */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "release.h"

/*
 * The start: the minimiser over few rows, then over more of them, each the start of the next, at last
 * over one stripe of all rows or over all of a sample. Few are this many for each coordinate, and this
 * many at least; more are this many times as many. A minimiser over n rows need not be better than the
 * chance in their choice, 1/sqrt(n).
 */
#define FEW_ROWS 2
#define FEW_AT_LEAST 256
#define MORE_TIMES 16
#define CHANCE 0.05

/* Lambda over curvature from which on single precision is enough for a Hessian. */
#define ROUGH_LAMBDA 4e-4

/* How many doubles of room a fit needs. */
size_t
dperm_fit_room(int dim)
{
	return dperm_newton_room(dim) + 2 * (size_t) dim;
}

/* Is single precision enough for Hessians? */
bool
dperm_fit_rough(const DpermFit *fit)
{
	return fit->calibration.lambda >= ROUGH_LAMBDA * dperm_loss_curvature(fit->setup.loss);
}

/* Minimise over every step-th row of the sample, and leave the Hessian there in the solver's place. */
static void
solve_sample(const DpermFit *fit, const DpermProblem *whole, int64_t step, double *weights,
			 double *work, bool metric)
{
	DpermMatrix rows = *fit->sample;
	DpermProblem problem = *whole;
	DpermSolver solver;
	DpermAsk	ask;

	rows.step = step;
	rows.rough = dperm_fit_rough(fit);
	problem.hess_cost = 0;
	problem.goal = fmax(whole->goal, CHANCE / sqrt((double) rows.count / step));
	dperm_solver_start(&solver, &problem, weights, work);
	if (metric)
		dperm_solver_use_metric(&solver);
	while (dperm_solver_next(&solver, &ask))
		(void) dperm_matrix_eval(&rows, ask.weights, ask.value, ask.gradient, ask.hess);

	/* a start need not be certified */
	(void) dperm_matrix_eval(&rows, weights, &solver.trial.value, solver.trial.gradient,
							 solver.hess);
}

/* From every step-th row to more of them: by and by to one stripe, then to all. */
static int64_t
next_step(int64_t step, int64_t stripes)
{
	if (step <= stripes)
		return 1;
	step /= MORE_TIMES;
	return step >= MORE_TIMES / 4 * stripes ? step : stripes;
}

/* A start for the solver; true when its place for a Hessian holds one to begin with. */
static bool
approach(const DpermFit *fit, const DpermProblem *problem, double *weights, double *work)
{
	const DpermMatrix *sample = fit->sample;
	int64_t		stripes = sample && sample->stripes ? sample->stripes : 1;
	int64_t		few = FEW_ROWS * problem->dim > FEW_AT_LEAST ? FEW_ROWS * problem->dim :
		FEW_AT_LEAST;
	int64_t		step = stripes;
	bool		all;
	bool		metric = false;

	if (!sample || sample->count == 0)
		return false;
	all = sample->count == fit->setup.rows;
	while (sample->count / (2 * step) >= few && 2 * step <= sample->chunk_rows)
		step *= 2;
	if (sample->count / step < few)
	{
		/* so few rows: the problem itself is as easy as its start */
		if (all)
			return false;
		step = 1;
	}
	for (;;)
	{
		solve_sample(fit, problem, step, weights, work, metric);
		metric = true;
		if (step == 1 || (all && step == stripes))
			return true;
		step = next_step(step, stripes);
	}
}

/* Draw b, find a start, and make ready to ask for passes over all rows. */
void
dperm_fitting_start(DpermFitting *fitting, const DpermFit *fit, double *weights, double *room)
{
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;
	double	   *noise = room;
	double	   *tilt = room + dim;
	double	   *work = room + 2 * dim;
	bool		private = !isinf(fit->setup.epsilon);
	bool		tilted = private && fit->setup.method == DPERM_METHOD_OBJECTIVE;
	bool		metric;
	DpermProblem problem = {
		.dim = dim,
		.lambda = cal->lambda,
		.goal = cal->gradient_goal,
		.flat = fit->setup.loss.kind != DPERM_LOSS_LOGISTIC,
		.hess_cost = fit->hess_cost,
		.poll = fit->poll
	};

	fitting->fit = fit;
	fitting->weights = weights;
	fitting->room = room;
	fitting->status = DPERM_OK;
	if (private)
	{
		dperm_draw_gamma_sphere(fit->entropy, dim, cal->noise_scale, noise);
		if (!dperm_entropy_ok(fit->entropy))
		{
			fitting->status = DPERM_NO_ENTROPY;
			return;
		}
	}
	if (tilted)
	{
		for (int i = 0; i < dim; i++)
			tilt[i] = noise[i] / fit->setup.rows;
		problem.tilt = tilt;
	}

	/* where the minimiser would be without data: right when the noise dominates */
	for (int i = 0; i < dim; i++)
		weights[i] = tilted ? -tilt[i] / cal->lambda : 0;
	metric = approach(fit, &problem, weights, work);
	dperm_solver_start(&fitting->solver, &problem, weights, work);
	if (metric)
		dperm_solver_use_metric(&fitting->solver);
}

/* What to ask of all rows next; false at the end. */
bool
dperm_fitting_next(DpermFitting *fitting, DpermAsk *ask)
{
	if (fitting->status != DPERM_OK || dperm_solver_next(&fitting->solver, ask))
		return fitting->status == DPERM_OK;
	fitting->status = fitting->solver.status;
	return false;
}

/* Certify and release. */
static DpermStatus
release(const DpermFit *fit, const double *noise, double *weights)
{
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;
	double		length = 0;

	for (int i = 0; i < dim; i++)
		length += weights[i] * weights[i];
	if (!(sqrt(length) <= cal->weight_bound))
		return DPERM_NOT_CERTIFIED;
	if (isinf(fit->setup.epsilon))
		return DPERM_OK;

	if (fit->setup.method != DPERM_METHOD_OBJECTIVE)
		for (int i = 0; i < dim; i++)
			weights[i] += noise[i];
	dperm_release(fit->entropy, dim, cal->grid, cal->release_scale, weights);
	return dperm_entropy_ok(fit->entropy) ? DPERM_OK : DPERM_NO_ENTROPY;
}

/* Release the weights; leave no trace of the noise, nor of weights that were not released. */
DpermStatus
dperm_fitting_end(DpermFitting *fitting)
{
	int			dim = fitting->fit->setup.dim;
	DpermStatus status = fitting->status;

	if (status == DPERM_OK)
		status = release(fitting->fit, fitting->room, fitting->weights);
	dperm_wipe(fitting->room, dperm_fit_room(dim));
	if (status != DPERM_OK)
		dperm_wipe(fitting->weights, dim);
	return status;
}

/* The whole, with an oracle that answers at once. */
DpermStatus
dperm_fit(const DpermFit *fit, double *weights, double *room)
{
	DpermFitting fitting;
	DpermAsk	ask;

	dperm_fitting_start(&fitting, fit, weights, room);
	while (dperm_fitting_next(&fitting, &ask))
	{
		fitting.status = fit->rows.eval(fit->rows.arg, ask.weights, ask.value, ask.gradient,
										ask.hess);
	}
	return dperm_fitting_end(&fitting);
}
