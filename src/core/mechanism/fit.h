/*
 * fit.h: a training with any mechanism: noise, minimiser, release.
 * Trusted.
 */
#ifndef DPERM_FIT_H
#define DPERM_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/draw.h"
#include "core/solve/solver.h"
#include "core/solve/sums.h"

typedef struct DpermFit
{
	DpermSetup	setup;
	DpermCalibration calibration;	/* dperm_calibrate() of the setup */
	/* dim, in the order of the weights: those of the prior, or NULL */
	const double *prior;
	/* a sample of the rows to start from, or NULL */
	DpermMatrix *sample;
	double		hess_cost;		/* as in DpermProblem, for all rows */
	DpermEntropy *entropy;
} DpermFit;

/* How many doubles of room a fit needs. */
extern size_t dperm_fit_room(int dim, int blocks);

/*
 * In three steps:
 *
 *   dperm_fit_start(&fitting, &fit, weights, room);
 *   dperm_fit_minimise(&fitting, answer, arg);
 *   status = dperm_fit_end(&fitting);
 *
 * where answer fills in what is asked: the mean over all rows. Then the dim weights
 * are what is released, in the order of the rows' coordinates; with several classes,
 * each with a weight for each class. On any status other than DPERM_OK they must not
 * be shown.
 */
typedef struct DpermFitting
{
	const DpermFit *fit;
	DpermStatus status;
	double	   *weights;
	double	   *noise;			/* dim, at the beginning of the room */
	DpermObjective objective;
	void		(*answer) (void *arg, const DpermAsk *question);
	void	   *arg;
	bool		certified;		/* are the weights those of a question that was certified? */
} DpermFitting;

extern void dperm_fit_start(DpermFitting *fitting, const DpermFit *fit, double *weights,
								double *room);
extern void dperm_fit_minimise(DpermFitting *fitting,
							   void (*answer) (void *arg, const DpermAsk *question), void *arg);
extern DpermStatus dperm_fit_end(DpermFitting *fitting);

#endif							/* DPERM_FIT_H */
