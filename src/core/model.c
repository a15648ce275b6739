/*
 * model.c: what a valid model is, and its binary form.
 *
 * The binary form is canonical: a form that decodes is, byte for byte, what
 * encoding the result gives. So two models are equal when their forms are. All
 * numbers are big-endian; the doubles are IEEE 754.
 *
 *	 0	magic "DPRM"		 4	format, 16 bits		 6	loss, 8 bits
 *	 7	method				 8	analysis			 9	intercept, 0 or 1
 *	10	dimension_source	11	zero				12	dimension, 32 bits
 *	16	rows, 64 bits		24	release_scale, 64 bits
 *	32	h					40	epsilon				48	lambda
 *	56	lambda_effective	64	eps_slack			72	eps_noise
 *	80	eps_release			88	noise_scale			96	grid
 *	104	norm				112	the weights
 */
#include "model.h"

#include <math.h>
#include <string.h>

#define HEADER_SIZE 112

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
	switch (m->loss.kind)
	{
		case DPERM_LOSS_LOGISTIC:
			if (m->loss.h != 0.0)
				return "the logistic loss has no h";
			break;
		case DPERM_LOSS_HUBER:
		case DPERM_LOSS_SMOOTH_HINGE:
			if (!(m->loss.h >= DPERM_H_MIN && m->loss.h <= DPERM_H_MAX))
				return "h is out of range";
			break;
		default:
			return "the loss is unknown";
	}
	if (m->method != DPERM_METHOD_OBJECTIVE && m->method != DPERM_METHOD_OUTPUT)
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

/* The shape of the vectors. */
static const char *
check_shape(const DpermModel *m)
{
	/* The first test also keeps dperm_encoder_dim from overflowing. */
	if (m->encoder.dimension < 1 || m->encoder.dimension > DPERM_DIM_MAX ||
		dperm_encoder_dim(&m->encoder) > DPERM_DIM_MAX)
		return "dimension is out of range";
	if (m->dimension_source != DPERM_DIMENSION_DECLARED &&
		m->dimension_source != DPERM_DIMENSION_ROWS)
		return "dimension_source is unknown";
	if (!is_positive(m->encoder.norm))
		return "norm is out of range";
	for (int i = 0; i < dperm_encoder_dim(&m->encoder); i++)
		if (!isfinite(m->weights[i]))
			return "a weight is not finite";
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
	return *why == NULL ? DPERM_OK : DPERM_BAD_FORMAT;
}

/* Write the low bytes of value, most significant first; return what follows. */
static unsigned char *
put_int(unsigned char *at, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*at++ = (unsigned char) (value >> (8 * i));
	return at;
}

/* A double with the sign of zero taken off, so that equal models are equal bytes. */
static unsigned char *
put_double(unsigned char *at, double value)
{
	uint64_t	bits;

	if (value == 0.0)
		value = 0.0;
	memcpy(&bits, &value, sizeof(bits));
	return put_int(at, bits, 8);
}

/* Read what put_int wrote and step over it. */
static uint64_t
get_int(const unsigned char **at, int bytes)
{
	uint64_t	value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | *(*at)++;
	return value;
}

/* As get_int for 64 bits with a sign, without relying on how a cast wraps. */
static int64_t
get_signed(const unsigned char **at)
{
	uint64_t	bits = get_int(at, 8);
	int64_t		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Read what put_double wrote; the one form that it never writes clears *canonical. */
static double
get_double(const unsigned char **at, bool *canonical)
{
	uint64_t	bits = get_int(at, 8);
	double		value;

	memcpy(&value, &bits, sizeof(value));
	if (value == 0.0 && bits != 0)
		*canonical = false;
	return value;
}

/* Bytes of the binary form. */
size_t
dperm_model_binary_size(const DpermModel *model)
{
	return HEADER_SIZE + 8 * (size_t) dperm_encoder_dim(&model->encoder);
}

/* Write the binary form. */
void
dperm_model_to_binary(const DpermModel *model, unsigned char *out)
{
	memcpy(out, magic, sizeof(magic));
	out += sizeof(magic);
	out = put_int(out, DPERM_MODEL_FORMAT, 2);
	out = put_int(out, (uint64_t) model->loss.kind, 1);
	out = put_int(out, (uint64_t) model->method, 1);
	out = put_int(out, (uint64_t) model->analysis, 1);
	out = put_int(out, model->encoder.intercept ? 1 : 0, 1);
	out = put_int(out, (uint64_t) model->dimension_source, 1);
	out = put_int(out, 0, 1);
	out = put_int(out, (uint64_t) model->encoder.dimension, 4);
	out = put_int(out, (uint64_t) model->rows, 8);
	out = put_int(out, (uint64_t) model->release_scale, 8);
	out = put_double(out, model->loss.h);
	out = put_double(out, model->epsilon);
	out = put_double(out, model->lambda);
	out = put_double(out, model->lambda_effective);
	out = put_double(out, model->eps_slack);
	out = put_double(out, model->eps_noise);
	out = put_double(out, model->eps_release);
	out = put_double(out, model->noise_scale);
	out = put_double(out, model->grid);
	out = put_double(out, model->encoder.norm);
	for (int i = 0; i < dperm_encoder_dim(&model->encoder); i++)
		out = put_double(out, model->weights[i]);
}

/* The part of the header that decides how many bytes follow it. */
static const char *
read_shape(const unsigned char *in, size_t len, DpermEncoder *enc)
{
	const unsigned char *at;
	uint64_t	dimension;

	if (len < HEADER_SIZE || memcmp(in, magic, sizeof(magic)) != 0)
		return "it does not begin with the header of a model";
	at = in + 4;
	if (get_int(&at, 2) != DPERM_MODEL_FORMAT)
		return "the format of the model is unknown to this version of dperm";
	at = in + 12;
	dimension = get_int(&at, 4);
	if (in[9] > 1 || dimension < 1 || dimension + in[9] > DPERM_DIM_MAX)
		return "dimension is out of range";
	enc->dimension = (int) dimension;
	enc->intercept = in[9] == 1;
	if (len != HEADER_SIZE + 8 * (size_t) dperm_encoder_dim(enc))
		return "the number of weights is not the one that the header says";
	return NULL;
}

/* The number of weights in a binary form, or -1. */
int
dperm_model_binary_dim(const unsigned char *in, size_t len)
{
	DpermEncoder enc;

	return read_shape(in, len, &enc) == NULL ? dperm_encoder_dim(&enc) : -1;
}

/* Read a binary form, trusting none of it. */
DpermStatus
dperm_model_from_binary(const unsigned char *in, size_t len, double *weights,
						DpermModel *out, const char **why)
{
	const unsigned char *at;
	DpermModel	m;
	bool		canonical = true;

	memset(&m, 0, sizeof(m));
	*why = read_shape(in, len, &m.encoder);
	if (*why)
		return DPERM_BAD_FORMAT;

	/* Out of range is for dperm_model_check; a byte fits any of the enums. */
	m.loss.kind = (DpermLossKind) in[6];
	m.method = (DpermMethod) in[7];
	m.analysis = (DpermAnalysis) in[8];
	m.dimension_source = (DpermDimensionSource) in[10];
	if (in[11] != 0)
		canonical = false;

	at = in + 16;
	m.rows = get_signed(&at);
	m.release_scale = get_signed(&at);
	m.loss.h = get_double(&at, &canonical);
	m.epsilon = get_double(&at, &canonical);
	m.lambda = get_double(&at, &canonical);
	m.lambda_effective = get_double(&at, &canonical);
	m.eps_slack = get_double(&at, &canonical);
	m.eps_noise = get_double(&at, &canonical);
	m.eps_release = get_double(&at, &canonical);
	m.noise_scale = get_double(&at, &canonical);
	m.grid = get_double(&at, &canonical);
	m.encoder.norm = get_double(&at, &canonical);
	for (int i = 0; i < dperm_encoder_dim(&m.encoder); i++)
		weights[i] = get_double(&at, &canonical);
	m.weights = weights;

	if (!canonical)
	{
		*why = "it is not in canonical form";
		return DPERM_BAD_FORMAT;
	}
	if (dperm_model_check(&m, why) != DPERM_OK)
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
