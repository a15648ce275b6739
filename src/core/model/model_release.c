/*
 * model_release.c: from the parameters of a model to its Renyi curve
 * (docs/guarantee.md, "Curves").
 */
#include "core/model/model_release.h"

#include <math.h>

#include "core/mechanism/calibrate.h"

/*
 * A relative margin for rounding, and for shares that add up to slightly more
 * than 1.
 */
#define NUDGE (1 + 1e-9)

/* The claim and the curve. */
DpermRelease
dperm_model_release(const DpermModel *model)
{
	const DpermClaim *claim = &model->claim;
	const DpermLossBounds loss = dperm_loss_bounds(model->loss);
	bool		gaussian = dperm_model_law(model) == DPERM_LAW_GAUSSIAN;
	double		flat = model->rows * model->lambda_effective;
	int			weights = dperm_encoder_dim(&model->encoder) * dperm_loss_blocks(model->loss);
	DpermRelease release = {
		.neighbours = claim->neighbours,
		.unit = claim->unit,
		.epsilon = claim->epsilon,
		.delta = claim->delta,
		.curve = DPERM_CURVE_PURE
	};

	if (!dperm_claim_private(claim))
		return release;
	if (gaussian)
		release.curve = DPERM_CURVE_NONE;
	release.stage = claim->shares[DPERM_SHARE_RELEASE] * NUDGE;

	/*
	 * if it was tuned, others were trained, too, and its own curve does not
	 * cover the whole release
	 */
	if (model->tuning.len > 0)
		return release;
	if (model->method == DPERM_METHOD_OUTPUT)
	{
		release.curve = gaussian ? DPERM_CURVE_SHIFT : DPERM_CURVE_BALL;
		release.mu = loss.norm * dperm_claim_rows_apart(claim->neighbours) /
			(flat * model->noise_scale) * NUDGE;
		release.dim = weights;
	}
	else if (model->method == DPERM_METHOD_OBJECTIVE && gaussian)
	{
		double		rank = dperm_slack_rank(model->loss, claim->unit, weights);

		dperm_composition_objective(&release, loss.directions, loss.lines,
									model->noise_scale / loss.norm / NUDGE);
		release.kappa = dperm_slack_any_slope(rank, loss.trace / flat) * NUDGE;
	}
	return release;
}
