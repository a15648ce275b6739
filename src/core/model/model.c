/*
 * model.c: what a valid model is, and how a fit becomes one.
 */
#include "core/mechanism/calibrate.h"
#include "core/model/model.h"

#include <math.h>
#include <string.h>

#include "core/base/classes.h"
#include "core/base/limits.h"
#include "core/model/prior.h"
#include "core/model/tuning.h"

/*
 * Arena per coordinate: a block, a category, a weight, a shape, and the
 * alignment of these and of texts.
 */
#define ARENA_PER_DIM 224
#define ARENA_BASE 512

/* Is a double a power of two? Its mantissa is one half then. */
static bool
is_power_of_two(double x)
{
	int			exponent;

	return isfinite(x) && x > 0.0 && frexp(x, &exponent) == 0.5;
}

/* Is a number positive and finite? NaN is neither. */
static bool
is_positive(double x)
{
	return isfinite(x) && x > 0.0;
}

/* The same, or zero. */
static bool
is_nonnegative(double x)
{
	return isfinite(x) && x >= 0.0;
}

/* Check the loss, the method and the parameters of training. */
static const char *
check_learner(const DpermModel *m)
{
	const char *fault = dperm_loss_fault(m->loss);

	if (fault)
		return fault;
	if (dperm_mechanism_entry((int) m->method) == NULL)
		return "the method is unknown";
	if (m->analysis != DPERM_ANALYSIS_SHARP && m->analysis != DPERM_ANALYSIS_PAPER)
		return "the analysis is unknown";
	if (m->rows < 1 || m->rows > DPERM_ROWS_MAX)
		return m->claim.unit == DPERM_UNIT_PERSON ? "the number of persons is out of "
			"range" : "the number of rows is out of range";
	if (!is_nonnegative(m->lambda))
		return "lambda is out of range";
	/* The tolerance allows for a lambda that was computed twice. */
	if (!is_positive(m->lambda_effective) ||
		m->lambda_effective < m->lambda * (1.0 - 1e-12))
		return "lambda_effective is out of range";
	return NULL;
}

/* Check the claim, and the noise it is based on. */
static const char *
check_privacy(const DpermModel *m)
{
	const char *fault = dperm_claim_fault(&m->claim);

	if (fault)
		return fault;
	if (!dperm_claim_private(&m->claim))
		return m->noise_scale != 0.0 || m->grid != 0.0 || m->release_scale != 0 ||
					   m->noise != NULL ?
				   "a model without privacy cannot have noise or a budget" :
				   NULL;
	if (!is_positive(m->noise_scale))
		return "noise_scale is out of range";
	if (m->claim.delta > 0 && m->analysis != DPERM_ANALYSIS_SHARP)
		return "the analysis of the paper does not support delta";
	if (m->claim.unit == DPERM_UNIT_PERSON && m->method == DPERM_METHOD_OBJECTIVE &&
		m->analysis != DPERM_ANALYSIS_SHARP)
		return "the analysis of the paper supports rows, not persons";
	if (m->method == DPERM_METHOD_OUTPUT && m->claim.shares[DPERM_SHARE_SLACK] != 0)
		return "output perturbation has no slack";
	if (m->noise && (m->method != DPERM_METHOD_OBJECTIVE || m->analysis != DPERM_ANALYSIS_SHARP))
		return "noise of this method and analysis has no shape";
	if (!is_power_of_two(m->grid))
		return "grid is not a power of two";
	if (m->release_scale < 1)
		return "release_scale is out of range";
	return NULL;
}

/* Check the label, which is used for evaluation. */
static const char *
check_label(const DpermModel *m)
{
	DpermLabelKind kind = dperm_model_label(m);
	const char *fault;

	if (m->label.len > DPERM_MODEL_LABEL_MAX || m->positive.len > DPERM_MODEL_LABEL_MAX)
		return "label is too long";
	if (!m->has_positive && m->positive.len > 0)
		return "positive is not expected";
	if ((m->label.len > 0 && memchr(m->label.bytes, 0, (size_t) m->label.len)) ||
		(m->positive.len > 0 && memchr(m->positive.bytes, 0, (size_t) m->positive.len)))
		return "label or positive contains a zero byte";
	if (m->has_positive && kind != DPERM_LABEL_TWO)
		return "positive is not expected";
	if (kind != DPERM_LABEL_NUMBER && (m->label_low != 0 || m->label_high != 0))
		return "bounds are not expected";
	if (kind == DPERM_LABEL_NUMBER && !dperm_block_are_bounds(m->label_low, m->label_high))
		return "the bounds of the label are out of range";
	if (kind == DPERM_LABEL_NUMBER && m->classes.len > 0)
		return "classes are not expected";
	fault = kind == DPERM_LABEL_SEVERAL || m->classes.len > 0 ?
		dperm_classes_fault(m->classes.bytes, (size_t) m->classes.len, dperm_model_names(m)) : NULL;
	if (fault)
		return fault;
	if (m->source.len > DPERM_MODEL_LABEL_MAX)
		return "the source is too long";
	if (m->source.len > 0 && memchr(m->source.bytes, 0, (size_t) m->source.len))
		return "the source contains a zero byte";
	return NULL;
}

/*
 * Check the shape of the noise: that of the features, except for a single
 * vector, which dp_encode may have produced.
 */
static const char *
check_noise(const DpermModel *m)
{
	const DpermEncoder *enc = &m->encoder;
	bool		lone = enc->block_count == 1 && enc->blocks[0].kind == DPERM_BLOCK_VECTOR &&
				enc->kernel.kind == DPERM_KERNEL_LINEAR;
	const char *fault = dperm_noise_fault(m->noise, dperm_encoder_dim(enc));

	for (int i = 0; fault == NULL && m->noise && !lone && i < m->noise->shape_count; i++)
		if (!dperm_shape_belongs(enc, &m->noise->shapes[i]))
			fault = "the shapes of the noise are not those of the features";
	return fault;
}

/* Check the features and their weights. */
static const char *
check_shape(const DpermModel *m)
{
	const char *fault = dperm_encoder_fault(&m->encoder);

	if (fault == NULL)
		fault = dperm_encoder_form_names_fault(&m->encoder);
	if (fault)
		return fault;
	if (dperm_model_weights(m) > DPERM_DIM_MAX)
		return "there are too many weights";
	for (int i = 0; i < dperm_model_weights(m); i++)
		if (!isfinite(m->weights[i]))
			return "a weight is not finite";
	return check_noise(m);
}

/* Check how the parameters were chosen, if the model says so. */
static const char *
check_tuning(const DpermModel *m)
{
	DpermTuning tuning;
	const char *fault;

	if (m->tuning.len == 0)
		return NULL;
	if (m->tuning.len > DPERM_MODEL_TUNING_MAX)
		return "tuning is too long";
	fault = dperm_tuning_read(&m->tuning, &tuning);
	if (fault == NULL && tuning.persons != (m->claim.unit == DPERM_UNIT_PERSON))
		fault = "tuning and unit contradict each other";
	if (fault == NULL && m->rows > tuning.rows)
		fault = tuning.persons ? "tuning has fewer persons than the model" : "tuning has fewer "
			"rows than the model";
	return fault;
}

/* Check what the model says about its prior, if it had one. */
static const char *
check_prior(const DpermModel *m)
{
	DpermPrior	prior;

	return m->prior.len == 0			  ? NULL :
		   m->prior.len > DPERM_PRIOR_MAX ? "prior is too long" :
											dperm_prior_read(&m->prior, &prior);
}

/* What was charged for it, if anything was. */
static const char *
check_ledger(const DpermModel *m)
{
	if (m->budget.len > DPERM_MODEL_LABEL_MAX)
		return "the name of the budget is too long";
	if (m->entry < 0 || (m->entry > 0) != (m->budget.len > 0))
		return "the entry of the ledger is out of range";
	if (m->entry > 0 && !dperm_claim_private(&m->claim))
		return "a model without privacy has no entry in a ledger";
	if (m->budget.len > 0 && memchr(m->budget.bytes, 0, (size_t) m->budget.len))
		return "the name of the budget contains a zero byte";
	return NULL;
}

/* Every rule of a valid model, the first broken one in *why. */
DpermStatus
dperm_model_check(const DpermModel *model, const char **why)
{
	*why = check_learner(model);
	if (*why == NULL)
		*why = check_privacy(model);
	if (*why == NULL)
		*why = check_shape(model);
	if (*why == NULL)
		*why = check_label(model);
	if (*why == NULL)
		*why = check_tuning(model);
	if (*why == NULL)
		*why = check_prior(model);
	if (*why == NULL)
		*why = check_ledger(model);
	return *why == NULL ? DPERM_OK : DPERM_BAD_FORMAT;
}

/*
 * Texts are at most as long as the input. Everything else takes a fixed number
 * of bytes per byte of its form, and a valid model has at most DPERM_DIM_MAX of
 * each.
 */
size_t
dperm_model_arena_size(size_t len)
{
	size_t		most = (size_t) ARENA_PER_DIM * DPERM_DIM_MAX;

	return len + (len < most / 20 ? 20 * len : most) + ARENA_BASE;
}

/* Fill in a model from the parameters and the result of a fit. */
void
dperm_model_fill(DpermModel *model, const DpermSetup *setup,
				 const DpermCalibration *calibration, const DpermEncoder *encoder,
				 const double *weights)
{
	model->loss = setup->loss;
	model->method = setup->method;
	model->analysis = setup->analysis;
	model->claim = calibration->claim;
	model->lambda = setup->lambda;
	model->rows = setup->rows;
	model->encoder = *encoder;
	model->lambda_effective = calibration->lambda;
	model->noise_scale = calibration->noise_scale;
	model->noise = dperm_claim_private(&calibration->claim) ? setup->noise : NULL;
	model->grid = calibration->grid;
	model->release_scale = calibration->release_scale;
	model->weights = weights;
}
