/*
 * fit.h: the mechanism: noise, minimiser, release.
 */
#ifndef DPERM_FIT_H
#define DPERM_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "core/mechanism/calibrate.h"
#include "core/solve/descent.h"
#include "core/solve/matrix.h"
#include "core/solve/solver.h"
#include "core/privacy/sample.h"
#include "core/base/status.h"

typedef struct DpermFit
{
	DpermSetup	setup;
	DpermCalibration calibration;	/* dperm_calibrate() of the setup */
	DpermOracle rows;			/* the mean over all rows, for dperm_fit() */
	DpermMatrix *sample;		/* some of the rows, or all of them, perhaps compact, to start from; or NULL */
	double		hess_cost;		/* as in DpermProblem, of all rows */
	DpermEntropy *entropy;
	DpermPoll	poll;
} DpermFit;

/* How many doubles of room a fit needs. */
extern size_t dperm_fit_room(int dim);

/*
 * Write the released weights (dim of them). On any other status than DPERM_OK weights
 * hold nothing that may be shown.
 */
extern DpermStatus dperm_fit(const DpermFit *fit, double *weights, double *room);

/*
 * The same with the caller in command of the rows, as in newton.h:
 *
 *   dperm_fitting_start(&fitting, &fit, weights, room);
 *   while (dperm_fitting_next(&fitting, &ask))
 *       ... fill in what is asked: the mean over all rows ...
 *   status = dperm_fitting_end(&fitting);
 */
typedef struct DpermFitting
{
	const DpermFit *fit;
	DpermStatus status;
	bool		ended;			/* nothing is left to ask */
	double	   *weights;
	double	   *room;
	DpermProblem problem;
	DpermSolver solver;			/* over all rows; while correcting, over the compact ones */
	bool		certified;		/* is the exact gradient at the weights within its bound? */
	bool		descending;		/* has the solver ended at weights that are not? */
	DpermDescent descent;

	/* as long as the minimiser over compact rows is corrected */
	bool		correcting;
	bool		asked;			/* for an exact gradient */
	int			corrections;
	DpermPoint	exact;			/* the weights, and what is known of G over all rows */
	DpermPoint	best;			/* the best of those before */
	double	   *tilt;			/* dim: of the compact problem */
} DpermFitting;

/*
 * Is single precision enough for the Hessians that a fit asks for? Their rounding, about 1e-6 of the curvature and never
 * more than 3.2e-5 (dperm_moments_be_rough), must be small against lambda.
 */
extern bool dperm_fit_rough(const DpermFit *fit);

extern void dperm_fitting_start(DpermFitting *fitting, const DpermFit *fit, double *weights,
								double *room);
extern bool dperm_fitting_next(DpermFitting *fitting, DpermAsk *ask);
extern DpermStatus dperm_fitting_end(DpermFitting *fitting);

#endif							/* DPERM_FIT_H */
