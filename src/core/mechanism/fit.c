/*
 * fit.c: the mechanism as a whole (docs/guarantee.md, "The algorithm").
 */
#include "core/mechanism/fit.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"
#include "core/privacy/release.h"

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

/*
 * Where all rows are in memory, but compact, the minimiser over those is corrected: the exact gradient there tells by
 * what their gradient is wrong, and that, as a tilt, moves their minimiser to the exact one, but for the difference of the
 * two Hessians times the way. After a correction that leaves more of the gradient than this, and after so many of them, the
 * solver turns to the rows themselves.
 */
#define CORRECTION_LEFT 0.25
#define CORRECTIONS 8

/*
 * The minimiser over compact rows need not be better than their rounding, 2^-16 of chance, is likely to make it; later
 * ones have to reach the goal.
 */
#define COMPACT_CHANCE 0x1p-18

/* The gradient from which on single precision is not enough for the next step, and how far off its values are. */
#define SINGLE_NORM 1e-5
#define SINGLE_ERROR 1e-6

/* Passes over compact rows before that is given up; most often it takes less than ten. */
#define COMPACT_ASKS 300

/* Vectors of a fit: the noise, its tilt, that of the compact problem, the exact gradient, the best point so far. */
#define VECTORS 6

/* How many doubles of room a fit needs. */
size_t
dperm_fit_room(int dim)
{
	return dperm_newton_room(dim) + dperm_descent_room(dim) + VECTORS * (size_t) dim;
}

/* Is single precision enough for Hessians? */
bool
dperm_fit_rough(const DpermFit *fit)
{
	return fit->calibration.lambda >= ROUGH_LAMBDA * dperm_loss_curvature(fit->setup.loss);
}

/*
 * Minimise over every step-th row of the sample, and leave the Hessian there in the solver's place: of twice as many rows
 * where that is cheap, because it makes every step to come the better.
 */
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
	rows.single = true;
	problem.hess_cost = 0;
	problem.value_error = rows.compact ? SINGLE_ERROR : 0;
	problem.goal = fmax(whole->goal, CHANCE / sqrt((double) rows.count / step));
	dperm_solver_start(&solver, &problem, weights, work);
	if (metric)
		dperm_solver_use_metric(&solver);
	while (dperm_solver_next(&solver, &ask))
		(void) dperm_matrix_answer(&rows, &ask);

	/* a start need not be certified */
	if (step > 1 && dperm_hess_cost(problem.dim) <= DPERM_CHEAP_HESS)
		rows.step = step / 2;
	ask = (DpermAsk) {.weights = weights, .value = &solver.trial.value, .gradient = solver.trial.gradient,
		.hess = solver.hess};
	(void) dperm_matrix_answer(&rows, &ask);
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

/*
 * Minimise over the compact rows, in single precision as long as that is enough. It need not succeed: the exact gradient
 * will tell.
 */
static void
solve_compact(DpermFitting *fitting)
{
	DpermSolver *solver = &fitting->solver;
	DpermMatrix rows = *fitting->fit->sample;
	DpermAsk	ask;

	rows.single = !fitting->correcting;
	if (rows.single)
		solver->at.norm = INFINITY;
	for (int asked = 0; asked < COMPACT_ASKS; asked++)
	{
		if (!dperm_solver_next(solver, &ask))
		{
			if (!rows.single)
				return;

			/* what is corrected has to be known exactly */
			rows.single = false;
			dperm_solver_again(solver);
			continue;
		}
		rows.single = rows.single && solver->at.norm > SINGLE_NORM;
		(void) dperm_matrix_answer(&rows, &ask);
	}

	/* what is known there may be of another leg, so nothing can be corrected by it */
	memcpy(fitting->weights, solver->at.weights, sizeof(double) * (size_t) fitting->problem.dim);
	fitting->corrections = CORRECTIONS;
}

/* The problem over compact rows. */
static DpermProblem
compact_problem(const DpermFitting *fitting, double goal)
{
	DpermProblem problem = fitting->problem;

	problem.tilt = fitting->tilt;
	problem.hess_cost = 0;
	problem.value_error = SINGLE_ERROR;
	problem.goal = goal;
	return problem;
}

/* Start with the minimiser over all rows as they are when compact. */
static void
start_correcting(DpermFitting *fitting, bool metric, double *work)
{
	const double *tilt = fitting->problem.tilt;
	int			dim = fitting->problem.dim;
	double		chance = COMPACT_CHANCE * sqrt((double) dim / fitting->fit->setup.rows);
	DpermProblem problem = compact_problem(fitting, fmax(fitting->problem.goal, chance));

	for (int i = 0; i < dim; i++)
		fitting->tilt[i] = tilt ? tilt[i] : 0;
	dperm_solver_start(&fitting->solver, &problem, fitting->weights, work);
	if (metric)
		dperm_solver_use_metric(&fitting->solver);
	solve_compact(fitting);
	fitting->best.norm = INFINITY;
	fitting->correcting = true;
}

/* Draw b, find a start, and make ready to ask for passes over all rows. */
void
dperm_fitting_start(DpermFitting *fitting, const DpermFit *fit, double *weights, double *room)
{
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;
	double	   *noise = room;
	double	   *tilt = room + dim;
	double	   *work = room + VECTORS * (size_t) dim + dperm_descent_room(dim);
	bool		private = !isinf(fit->setup.epsilon);
	bool		tilted = private && fit->setup.method == DPERM_METHOD_OBJECTIVE;
	bool		metric;
	DpermProblem problem = {
		.dim = dim,
		.lambda = cal->lambda,
		.goal = cal->gradient_goal,
		.rounding = {cal->rounding[0], cal->rounding[1]},
		.flat = dperm_loss_entry((int) fit->setup.loss.kind)->flat,
		.hess_cost = fit->hess_cost,
		.poll = fit->poll
	};

	memset(fitting, 0, sizeof(*fitting));
	fitting->fit = fit;
	fitting->weights = weights;
	fitting->room = room;
	fitting->tilt = room + 2 * dim;
	fitting->exact = (DpermPoint) {.weights = weights, .gradient = room + 3 * dim};
	fitting->best = (DpermPoint) {.weights = room + 4 * dim, .gradient = room + 5 * dim};
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
	fitting->problem = problem;
	metric = approach(fit, &problem, weights, work);
	if (fit->sample && fit->sample->compact && fit->sample->count == fit->setup.rows)
	{
		start_correcting(fitting, metric, work);
		return;
	}
	dperm_solver_start(&fitting->solver, &problem, weights, work);
	if (metric)
		dperm_solver_use_metric(&fitting->solver);
}

/* Remember the exact answer if it is the first, or the best so far. */
static void
keep_best(DpermFitting *fitting)
{
	const DpermPoint *exact = &fitting->exact;
	DpermPoint *best = &fitting->best;
	size_t		size = sizeof(double) * (size_t) fitting->problem.dim;

	if (isfinite(best->norm) && !(exact->norm < best->norm))
		return;
	memcpy(best->weights, exact->weights, size);
	memcpy(best->gradient, exact->gradient, size);
	best->value = exact->value;
	best->norm = exact->norm;
}

/* What rounding in doubles may have hidden of the gradient at the weights. */
static double
hidden(const DpermFitting *fitting)
{
	const double *rounding = fitting->fit->calibration.rounding;

	return rounding[0] + rounding[1] * sqrt(dperm_dot(fitting->problem.dim, fitting->weights, fitting->weights)) *
		(1 + 1e-9);
}

/* Take in the exact gradient at the minimiser over compact rows, and correct that one; false if it is exact enough. */
static bool
correct(DpermFitting *fitting)
{
	DpermSolver *solver = &fitting->solver;
	double		goal = fmax(fitting->problem.goal, hidden(fitting));
	double		before = fitting->best.norm;
	DpermProblem problem;
	DpermPoint	from;

	dperm_point_complete(&fitting->problem, &fitting->exact);
	if (fitting->exact.norm <= goal)
		return false;
	keep_best(fitting);
	if (fitting->corrections++ == CORRECTIONS || !isfinite(fitting->exact.norm) ||
		!(fitting->exact.norm <= CORRECTION_LEFT * before))
	{
		/* compact rows are of little use here, and so may be their Hessian */
		fitting->correcting = false;
		dperm_solver_go_on(solver, &fitting->problem, &fitting->best, false);
		return true;
	}
	from = fitting->exact;
	from.value = solver->at.value;
	for (int i = 0; i < fitting->problem.dim; i++)
	{
		double		wrong = from.gradient[i] - solver->at.gradient[i];

		fitting->tilt[i] += wrong;
		from.value += wrong * from.weights[i];
	}
	problem = compact_problem(fitting, goal / 2);
	dperm_solver_go_on(solver, &problem, &from, true);
	solve_compact(fitting);
	return true;
}

/*
 * Doubles have come to an end, at weights with this computed gradient. They are accepted if the exact one is within its
 * bound all the same; else go on in twice the precision.
 */
static bool
certify(DpermFitting *fitting, double norm, DpermAsk *ask)
{
	const DpermFit *fit = fitting->fit;
	const DpermCalibration *cal = &fit->calibration;
	DpermDescentProblem problem = {
		.dim = fit->setup.dim,
		.lambda = cal->lambda,
		.tilt = fitting->problem.tilt,
		.curvature = dperm_loss_curvature(fit->setup.loss),
		.rows = fit->setup.rows,
		.bound = cal->gradient_bound,
		.weight_bound = cal->weight_bound,
		.steps = cal->descent_steps,
		.poll = fit->poll
	};

	fitting->correcting = false;
	fitting->certified = norm * (1 + 1e-9) + hidden(fitting) <= cal->gradient_bound;	/* false for NaN */
	if (fitting->certified)
	{
		fitting->ended = true;
		return false;
	}
	fitting->descending = true;
	dperm_descent_start(&fitting->descent, &problem, fitting->weights, fitting->solver.hess,
						fitting->room + VECTORS * (size_t) fit->setup.dim);
	return dperm_descent_next(&fitting->descent, ask);
}

/* What to ask of all rows next; false at the end. */
bool
dperm_fitting_next(DpermFitting *fitting, DpermAsk *ask)
{
	if (fitting->status != DPERM_OK || fitting->ended)
		return false;
	if (fitting->descending)
	{
		if (dperm_descent_next(&fitting->descent, ask))
			return true;
		fitting->ended = true;
		fitting->certified = fitting->descent.certified;
		return false;
	}
	if (fitting->correcting && fitting->asked && !correct(fitting))
		return certify(fitting, fitting->exact.norm, ask);
	if (fitting->correcting)
	{
		fitting->asked = true;
		*ask = (DpermAsk) {.weights = fitting->weights, .value = &fitting->exact.value, .gradient = fitting->exact.gradient};
		return true;
	}
	if (dperm_solver_next(&fitting->solver, ask))
		return true;
	return certify(fitting, fitting->solver.at.norm, ask);
}

/* Release the weights. */
static DpermStatus
release(const DpermFit *fit, const double *noise, double *weights)
{
	const DpermCalibration *cal = &fit->calibration;
	int			dim = fit->setup.dim;

	if (isinf(fit->setup.epsilon))
		return DPERM_OK;

	if (fit->setup.method != DPERM_METHOD_OBJECTIVE)
		for (int i = 0; i < dim; i++)
			weights[i] += noise[i];
	dperm_release(fit->entropy, dim, cal->grid, cal->release_scale, weights);
	return dperm_entropy_ok(fit->entropy) ? DPERM_OK : DPERM_NO_ENTROPY;
}

/* Are the weights as the certificate says they must be? */
static bool
plausible(const DpermFitting *fitting)
{
	const DpermCalibration *cal = &fitting->fit->calibration;
	double		norm = sqrt(dperm_dot(fitting->problem.dim, fitting->weights, fitting->weights));

	return norm <= cal->weight_bound + cal->gradient_bound / cal->lambda;
}

/*
 * Release the weights; leave no trace of the noise, nor of weights that were not released. They are certified unless
 * the noise is larger than its bound, which has a probability below delta: zeros are released then.
 */
DpermStatus
dperm_fitting_end(DpermFitting *fitting)
{
	int			dim = fitting->fit->setup.dim;
	DpermStatus status = fitting->status;

	if (!fitting->certified || !plausible(fitting))
		dperm_wipe(fitting->weights, dim);

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
		fitting.status = fit->rows.answer(fit->rows.arg, &ask);
	}
	return dperm_fitting_end(&fitting);
}
