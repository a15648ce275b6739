/*
 * fit.h: the mechanism: noise, minimiser, release.
 */
#ifndef DPERM_FIT_H
#define DPERM_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate.h"
#include "moments.h"
#include "newton.h"
#include "sample.h"
#include "status.h"

typedef struct DpermFit
{
	DpermSetup	setup;
	DpermCalibration calibration;	/* dperm_calibrate() of the setup */
	DpermOracle rows;			/* the mean over all rows */
	const DpermOracle *sample;	/* over some of them, to start from; or NULL */
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

/* An oracle over encoded rows in memory, in chunks of equal size but for the last. */
typedef struct DpermMatrix
{
	DpermLoss	loss;
	int			dim;
	int64_t		count;			/* rows in all */
	int64_t		chunk_rows;		/* rows of a chunk */
	double	  **chunks;			/* each row after row */
	DpermPoll	poll;
	double	   *room;			/* dperm_moments_room(dim, true) doubles */
} DpermMatrix;

/* The mean over the rows of a DpermMatrix: DpermOracle.eval with arg = matrix. */
extern DpermStatus dperm_matrix_eval(void *matrix, const double *weights, double *value,
									 double *gradient, double *hess);

/* The sums of a finished pass as means, in the form a DpermOracle returns. */
extern void dperm_moments_means(DpermMoments *m, double *value, double *gradient,
								double *hess);

#endif							/* DPERM_FIT_H */
