/*
 * weight_noise.c: how much of a weight may be noise.
 */
#include "core/model/weight_noise.h"

#include <math.h>

#include "core/mechanism/calibrate.h"
#include "core/privacy/draw.h"

/* What the mechanism adds, and what the release does. */
bool
dperm_weight_noise(const DpermModel *model, double *out)
{
	DpermSetup	setup = {
		.loss = model->loss,
		.delta = model->claim.delta,
		.rows = model->rows,
		.dim = dperm_encoder_dim(&model->encoder) * dperm_loss_blocks(model->loss),
		.noise = model->noise
	};
	DpermCalibration calibration = {
		.lambda = model->lambda_effective,
		.noise_scale = model->noise_scale
	};
	double		release;
	bool		exact;

	if (!dperm_claim_private(&model->claim))
	{
		for (int i = 0; i < setup.dim; i++)
			out[i] = 0;
		return true;
	}
	exact = dperm_mechanism_entry((int) model->method)->deviations(&setup, &calibration, out);
	release = dperm_release_deviation(model->grid, model->release_scale);
	for (int i = 0; i < setup.dim; i++)
		out[i] = hypot(out[i], release);
	return exact;
}
