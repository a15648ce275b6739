/*
 * model.c: what a valid model is, and its binary form.
 *
 * The binary form is canonical: a form that decodes is, byte for byte, what
 * encoding the result gives. So two models are equal when their forms are. All
 * numbers are big-endian; the doubles are IEEE 754.
 *
 *	 0	magic "DPRM"		 4	format, 16 bits		 6	loss, 8 bits
 *	 7	method				 8	analysis			 9	dimension_source
 *	10	tuned, 0 or 1		11	zero				12	length of the encoder, 32 bits
 *	16	rows, 64 bits		24	release_scale, 64 bits
 *	32	h					40	epsilon				48	lambda
 *	56	lambda_effective	64	eps_slack			72	eps_noise
 *	80	eps_release			88	noise_scale			96	grid
 *	104	the encoder, the weights, and tuning up to the end
 */
#include "core/mechanism/mechanism.h"
#include "core/model/model.h"

#include <math.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/model/tuning.h"

#define HEADER_SIZE 104

/* Arena per coordinate: a block, a category, a weight, and what aligning them and texts costs. */
#define ARENA_PER_DIM 160
#define ARENA_BASE 512

/* Longer than the candidates of any tuning. */
#define TUNING_MAX (1 << 20)

static const unsigned char magic[4] = {'D', 'P', 'R', 'M'};

/* A power of two, as a double: the mantissa is one half. */
static bool
is_power_of_two(double x)
{
	int			exponent;

	return isfinite(x) && x > 0.0 && frexp(x, &exponent) == 0.5;
}

/* NaN fails, as do the infinities. */
static bool
is_positive(double x)
{
	return isfinite(x) && x > 0.0;
}

/* As is_positive, with zero. */
static bool
is_nonnegative(double x)
{
	return isfinite(x) && x >= 0.0;
}

/* What the learner and the loss say about each other. */
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
		return "the number of rows is out of range";
	if (!is_nonnegative(m->lambda))
		return "lambda is out of range";
	/* The tolerance is for a lambda that was computed twice. */
	if (!is_positive(m->lambda_effective) ||
		m->lambda_effective < m->lambda * (1.0 - 1e-12))
		return "lambda_effective is out of range";
	return NULL;
}

/* The budget and the noise that it bought. */
static const char *
check_privacy(const DpermModel *m)
{
	if (!(m->epsilon > 0.0))
		return "epsilon is out of range";
	if (isinf(m->epsilon))
	{
		if (m->eps_slack != 0.0 || m->eps_noise != 0.0 || m->eps_release != 0.0 ||
			m->noise_scale != 0.0 || m->grid != 0.0 || m->release_scale != 0)
			return "a model without privacy has no noise and no budget";
		return NULL;
	}
	if (!is_nonnegative(m->eps_slack) || !is_positive(m->eps_noise) ||
		!is_positive(m->eps_release))
		return "a share of the budget is out of range";
	if (m->eps_slack + m->eps_noise + m->eps_release > m->epsilon * (1.0 + 1e-9))
		return "the budget adds up to more than epsilon";
	if (!is_positive(m->noise_scale))
		return "noise_scale is out of range";
	if (!is_power_of_two(m->grid))
		return "grid is not a power of two";
	if (m->release_scale < 1)
		return "release_scale is out of range";
	return NULL;
}

/* Is some feature a vector? */
static bool
has_vector(const DpermEncoder *enc)
{
	for (int i = 0; i < enc->block_count; i++)
		if (enc->blocks[i].kind == DPERM_BLOCK_VECTOR)
			return true;
	return false;
}

/* The features and their weights. */
static const char *
check_shape(const DpermModel *m)
{
	const char *fault = dperm_encoder_fault(&m->encoder);

	if (fault == NULL)
		fault = dperm_encoder_names_fault(&m->encoder);
	if (fault)
		return fault;
	if (m->dimension_source != DPERM_DIMENSION_DECLARED &&
		m->dimension_source != DPERM_DIMENSION_ROWS)
		return "dimension_source is unknown";
	if (m->dimension_source == DPERM_DIMENSION_ROWS && !has_vector(&m->encoder))
		return "dimension_source is rows, but no feature is a vector";
	for (int i = 0; i < dperm_encoder_dim(&m->encoder); i++)
		if (!isfinite(m->weights[i]))
			return "a weight is not finite";
	return NULL;
}

/* How the parameters were chosen, if that is said. */
static const char *
check_tuning(const DpermModel *m)
{
	DpermTuning tuning;
	const char *fault;

	if (m->tuning.len == 0)
		return NULL;
	if (m->tuning.len > TUNING_MAX)
		return "tuning is too long";
	fault = dperm_tuning_read(&m->tuning, &tuning);
	if (fault == NULL && !tuning.holdout && m->rows > tuning.rows)
		fault = "tuning has fewer rows than the model";
	return fault;
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
		*why = check_tuning(model);
	return *why == NULL ? DPERM_OK : DPERM_BAD_FORMAT;
}

/*
 * Texts are at most as long as the input. Everything else takes a fixed number of bytes for each
 * byte of its form, and a valid model has at most DPERM_DIM_MAX of each.
 */
size_t
dperm_model_arena_size(size_t len)
{
	size_t		most = (size_t) ARENA_PER_DIM * DPERM_DIM_MAX;

	return len + (len < most / 16 ? 16 * len : most) + ARENA_BASE;
}

/* Bytes of the binary form. */
size_t
dperm_model_binary_size(const DpermModel *model)
{
	return HEADER_SIZE + dperm_encoder_binary_size(&model->encoder) +
		8 * (size_t) dperm_encoder_dim(&model->encoder) + (size_t) model->tuning.len;
}

/* Write the binary form. */
void
dperm_model_to_binary(const DpermModel *model, unsigned char *out)
{
	size_t		encoder_size = dperm_encoder_binary_size(&model->encoder);

	out = dperm_bytes_put(out, magic, sizeof(magic));
	out = dperm_bytes_put_int(out, DPERM_MODEL_FORMAT, 2);
	out = dperm_bytes_put_int(out, (uint64_t) model->loss.kind, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->method, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->analysis, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->dimension_source, 1);
	out = dperm_bytes_put_int(out, model->tuning.len > 0 ? 1 : 0, 1);
	out = dperm_bytes_put_int(out, 0, 1);
	out = dperm_bytes_put_int(out, encoder_size, 4);
	out = dperm_bytes_put_int(out, (uint64_t) model->rows, 8);
	out = dperm_bytes_put_int(out, (uint64_t) model->release_scale, 8);
	out = dperm_bytes_put_double(out, model->loss.h);
	out = dperm_bytes_put_double(out, model->epsilon);
	out = dperm_bytes_put_double(out, model->lambda);
	out = dperm_bytes_put_double(out, model->lambda_effective);
	out = dperm_bytes_put_double(out, model->eps_slack);
	out = dperm_bytes_put_double(out, model->eps_noise);
	out = dperm_bytes_put_double(out, model->eps_release);
	out = dperm_bytes_put_double(out, model->noise_scale);
	out = dperm_bytes_put_double(out, model->grid);
	dperm_encoder_to_binary(&model->encoder, out);
	out += encoder_size;
	for (int i = 0; i < dperm_encoder_dim(&model->encoder); i++)
		out = dperm_bytes_put_double(out, model->weights[i]);
	dperm_bytes_put(out, model->tuning.bytes, (size_t) model->tuning.len);
}

/* The header, and the length of the encoder after it. */
static const char *
read_header(DpermBytes *r, DpermModel *m, size_t *encoder_size, bool *tuned)
{
	const unsigned char *start = dperm_bytes_get(r, sizeof(magic));

	if (start == NULL || memcmp(start, magic, sizeof(magic)) != 0 ||
		r->left < HEADER_SIZE - sizeof(magic))
		return "it does not begin with the header of a model";
	if (dperm_bytes_get_int(r, 2) != DPERM_MODEL_FORMAT)
		return "the format of the model is unknown to this version of dperm";

	/* Out of range is for dperm_model_check; a byte fits any of the enums. */
	m->loss.kind = (DpermLossKind) dperm_bytes_get_int(r, 1);
	m->method = (DpermMethod) dperm_bytes_get_int(r, 1);
	m->analysis = (DpermAnalysis) dperm_bytes_get_int(r, 1);
	m->dimension_source = (DpermDimensionSource) dperm_bytes_get_int(r, 1);
	*tuned = dperm_bytes_get_int(r, 1) == 1;
	if (r->at[-1] > 1 || dperm_bytes_get_int(r, 1) != 0)
		r->bad = true;
	*encoder_size = (size_t) dperm_bytes_get_int(r, 4);
	m->rows = dperm_bytes_get_signed(r);
	m->release_scale = dperm_bytes_get_signed(r);
	m->loss.h = dperm_bytes_get_double(r);
	m->epsilon = dperm_bytes_get_double(r);
	m->lambda = dperm_bytes_get_double(r);
	m->lambda_effective = dperm_bytes_get_double(r);
	m->eps_slack = dperm_bytes_get_double(r);
	m->eps_noise = dperm_bytes_get_double(r);
	m->eps_release = dperm_bytes_get_double(r);
	m->noise_scale = dperm_bytes_get_double(r);
	m->grid = dperm_bytes_get_double(r);
	return r->bad ? "it is not in canonical form" : NULL;
}

/* The encoder and the weights, into the arena. */
static const char *
read_body(DpermBytes *r, size_t encoder_size, bool tuned, DpermArena *arena, DpermModel *m)
{
	const unsigned char *encoder = dperm_bytes_get(r, encoder_size);
	const char *fault;
	double	   *weights;
	int			dim;

	if (encoder == NULL)
		return "it ends before the features do";
	fault = dperm_encoder_from_binary(encoder, encoder_size, arena, &m->encoder);
	if (fault)
		return fault;
	dim = dperm_encoder_dim(&m->encoder);
	if (r->left < 8 * (size_t) dim)
		return "it ends before the weights do";
	weights = dperm_arena_take(arena, sizeof(double) * (size_t) dim);
	if (weights == NULL)
		return "there is not enough memory for the weights";
	for (int i = 0; i < dim; i++)
		weights[i] = dperm_bytes_get_double(r);
	m->weights = weights;
	if (r->bad)
		return "it is not in canonical form";
	if (tuned != (r->left > 0))
		return tuned ? "it ends before tuning does" : "something follows the weights";
	if (tuned)
	{
		char	   *tuning = dperm_arena_take(arena, r->left);

		if (tuning == NULL || r->left > TUNING_MAX)
			return "tuning is too long";
		memcpy(tuning, r->at, r->left);
		m->tuning.bytes = tuning;
		m->tuning.len = (int) r->left;
	}
	return NULL;
}

/* Read a binary form, trusting none of it. */
DpermStatus
dperm_model_from_binary(const unsigned char *in, size_t len, DpermArena *arena,
						DpermModel *out, const char **why)
{
	DpermBytes r = {in, len, false};
	DpermModel	m;
	size_t		encoder_size;
	bool		tuned;

	memset(&m, 0, sizeof(m));
	*why = read_header(&r, &m, &encoder_size, &tuned);
	if (*why == NULL)
		*why = read_body(&r, encoder_size, tuned, arena, &m);
	if (*why || dperm_model_check(&m, why) != DPERM_OK)
		return DPERM_BAD_FORMAT;
	*out = m;
	return DPERM_OK;
}

/* Fill in a model from what a fit was given and made. */
void
dperm_model_fill(DpermModel *model, const DpermSetup *setup,
				 const DpermCalibration *calibration, const DpermEncoder *encoder,
				 const double *weights)
{
	model->loss = setup->loss;
	model->method = setup->method;
	model->analysis = setup->analysis;
	model->epsilon = setup->epsilon;
	model->lambda = setup->lambda;
	model->rows = setup->rows;
	model->encoder = *encoder;
	model->lambda_effective = calibration->lambda;
	model->eps_slack = calibration->eps_slack;
	model->eps_noise = calibration->eps_noise;
	model->eps_release = calibration->eps_release;
	model->noise_scale = calibration->noise_scale;
	model->grid = calibration->grid;
	model->release_scale = calibration->release_scale;
	model->weights = weights;
}
