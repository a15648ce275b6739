/*
 * fit.h: a training: noise, minimiser, release, whatever the mechanism.
 */
#ifndef DPERM_FIT_H
#define DPERM_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/status.h"
#include "core/mechanism/setup.h"
#include "core/privacy/entropy.h"
#include "core/solve/matrix.h"
#include "core/solve/minimise.h"
#include "core/solve/solver.h"

typedef struct DpermFit
{
	DpermSetup	setup;
	DpermCalibration calibration;	/* dperm_calibrate() of the setup */
	/*
	 * some of the rows, or all of them, perhaps compact, to start from; or NULL
	 */
	DpermMatrix *sample;
	double		hess_cost;		/* as in DpermProblem, of all rows */
	DpermEntropy *entropy;
	DpermPoll	poll;
} DpermFit;

/* How many doubles of room a fit needs. */
extern size_t dperm_fit_room(int dim);

/* Is single precision enough for the Hessians that a fit asks for? */
extern bool dperm_fit_rough(const DpermFit *fit);

/*
 * The caller is in command of the rows, as in solver.h:
 *
 *   dperm_fit_start(&fitting, &fit, weights, room);
 *   while (dperm_fit_next(&fitting, &ask))
 *       ... fill in what is asked: the mean over all rows ...
 *   status = dperm_fit_end(&fitting);
 *
 * Then weights (dim of them) are what is released. On any other status than
 * DPERM_OK they hold nothing that may be shown. A fault of the rows is put into
 * fitting.status, which ends the questions.
 */
typedef struct DpermFitting
{
	const DpermFit *fit;
	DpermStatus status;
	double	   *weights;
	double	   *room;
	double	   *noise;			/* dim: as drawn, or what the mechanism makes of it */
	DpermMinimise minimise;
} DpermFitting;

extern void dperm_fit_start(DpermFitting *fitting, const DpermFit *fit, double *weights,
								double *room);
extern bool dperm_fit_next(DpermFitting *fitting, DpermAsk *ask);
extern DpermStatus dperm_fit_end(DpermFitting *fitting);

/*
 * For mechanisms: begin to minimise the objective, with a tilt or NULL, from
 * where weights are; and ask on.
 */
extern void dperm_fit_minimise(DpermFitting *fitting, const double *tilt);
extern bool dperm_fit_ask(DpermFitting *fitting, DpermAsk *ask);

#endif							/* DPERM_FIT_H */
