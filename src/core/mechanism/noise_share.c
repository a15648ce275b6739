/*
 * noise_share.c: how large the noise of a training is beside what it should find.
 */
#include "core/mechanism/noise_share.h"

#include <math.h>

#include "core/base/status.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"

/*
 * How much the scores of a model are expected to correlate with the labels, and how
 * curved losses are at its weights, as a share of what they can be.
 */
#define TYPICAL_CORRELATION 0.5
#define TYPICAL_CURVATURE 0.5

double
dperm_noise_share_norm(const DpermSetup *setup, const DpermCalibration *calibration)
{
	double		release = sqrt(2.0 * setup->dim) * (double) calibration->release_scale *
		calibration->grid;

	/* they are independent, and the release has mean 0 */
	return hypot(dperm_mechanism_entry((int) setup->method)->effect(setup, calibration), release);
}

/* The norm of the slope of a row's loss at weights 0. */
static double
slope_at_zero(DpermLoss loss)
{
	const double label = 1;
	double		slope = 0;

	if (loss.classes > 0)
		return sqrt(1 - 1.0 / loss.classes);
	dperm_loss_block(loss, 1, &slope, &label, NULL, NULL);
	return fabs(slope);
}

/*
 * At the minimum, the noise in a gradient is to that as the noise in a score is to
 * the score, if all directions are alike. Of the d coordinates of a row, whose norm
 * is about 1, each has a mean square of 1/d. So the gradient at 0 has a norm of
 * about the slope times the correlation, divided by sqrt(d). Noise that is added to
 * the minimum, where curvatures do not damp it, counts as if it were in a gradient.
 */
double
dperm_noise_share(const DpermSetup *setup)
{
	DpermCalibration calibration;
	const char *why;
	double		curvature;

	if (dperm_calibrate(setup, &calibration, &why) != DPERM_OK)
		return INFINITY;
	curvature = calibration.lambda;
	if (!dperm_mechanism_entry((int) setup->method)->damped)
		curvature += TYPICAL_CURVATURE * dperm_loss_bounds(setup->loss).trace / setup->dim;
	return dperm_noise_share_norm(setup, &calibration) * curvature *
		sqrt(dperm_setup_row_dim(setup)) / (slope_at_zero(setup->loss) * TYPICAL_CORRELATION);
}
