/*
 * noise_share.c: how large the noise of a training is beside its weights.
 */
#include "core/mechanism/noise_share.h"

#include <math.h>

#include "core/base/status.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"

double
dperm_noise_share_norm(const DpermSetup *setup, const DpermCalibration *calibration)
{
	double		release = sqrt(2.0 * setup->dim) * (double) calibration->release_scale *
		calibration->grid;

	/* they are independent, and the release has mean 0 */
	return hypot(dperm_mechanism_entry((int) setup->method)->effect(setup, calibration), release);
}

double
dperm_noise_share_bound(const DpermSetup *setup, const DpermCalibration *calibration)
{
	const DpermLossBounds loss = dperm_loss_bounds(setup->loss);
	/* at the prior's weights: at most that at 0, and the slope times their norm */
	double		start = loss.start + loss.norm * setup->prior_norm;

	return setup->prior_norm +
		fmin(sqrt(2 * start / calibration->lambda), loss.norm / calibration->lambda);
}

double
dperm_noise_share(const DpermSetup *setup)
{
	DpermCalibration calibration;
	const char *why;

	if (dperm_calibrate(setup, &calibration, &why) != DPERM_OK)
		return INFINITY;
	return dperm_noise_share_norm(setup, &calibration) /
		   dperm_noise_share_bound(setup, &calibration);
}
