/*
 * model.c: checks of a model, and its binary form.
 *
 * The binary form is canonical: encoding a decoded form gives the same bytes.
 * So two models are equal if and only if their forms are. All numbers are
 * big-endian; the doubles are IEEE 754.
 *
 * 	 0	magic "DPRM"		 4	format, 16 bits		 6	loss, 8 bits
 * 	 7	method				 8	analysis			 9	neighbours
 * 	10	unit				11	length of the encoder, 32 bits
 * 	15	rows, 64 bits		23	release_scale, 64 bits
 * 	31	h					39	epsilon				47	lambda
 * 	55	lambda_effective	63	eps_slack			71	eps_noise
 * 	79	eps_release			87	noise_scale			95	grid
 * 	103	delta				111	length of label, 32 bits
 * 	115	1 + length of positive, or 0, 32 bits
 * 	119	length of tuning, 32 bits			123	length of noise, 32 bits
 * 	127	entry, 64 bits		135	length of budget, 32 bits
 * 	139	length of source, 32 bits			143	length of prior, 32 bits
 * 	147	the encoder, the weights, label, positive, tuning, budget, source,
 * 		prior, noise (model_noise.h)
 * 		the number of alternatives, 8 bits; for each method and law, 8 bits
 * 		each, and risk
 * 		if the label is a number, its bounds
 *
 * The magic and the format keep their places in every later format.
 */
#include "core/mechanism/mechanism.h"
#include "core/model/model.h"

#include <math.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/model/model_noise.h"
#include "core/model/prior.h"
#include "core/model/tuning.h"

#define HEADER_SIZE 147
#define ALTERNATIVE_SIZE 10
#define BOUNDS_SIZE 16

/*
 * Arena per coordinate: a block, a category, a weight, a shape, and the
 * alignment of these and of texts.
 */
#define ARENA_PER_DIM 224
#define ARENA_BASE 512

/* Longer than the candidates of any tuning, and than any name or label. */
#define TUNING_MAX (1 << 20)
#define LABEL_MAX (1 << 18)

static const unsigned char magic[4] = {'D', 'P', 'R', 'M'};

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
	if (m->label.len > LABEL_MAX || m->positive.len > LABEL_MAX)
		return "label is too long";
	if (!m->has_positive && m->positive.len > 0)
		return "positive is not expected";
	if ((m->label.len > 0 && memchr(m->label.bytes, 0, (size_t) m->label.len)) ||
		(m->positive.len > 0 && memchr(m->positive.bytes, 0, (size_t) m->positive.len)))
		return "label or positive contains a zero byte";
	if (dperm_model_label(m) != DPERM_LABEL_NUMBER)
	{
		if (m->label_low != 0 || m->label_high != 0)
			return "bounds are not expected";
	}
	else if (m->has_positive)
		return "positive is not expected";
	else if (!dperm_block_are_bounds(m->label_low, m->label_high))
		return "the bounds of the label are out of range";
	if (m->source.len > LABEL_MAX)
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
	for (int i = 0; i < dperm_encoder_dim(&m->encoder); i++)
		if (!isfinite(m->weights[i]))
			return "a weight is not finite";
	return check_noise(m);
}

/* The ways that the method was chosen from. */
static const char *
check_alternatives(const DpermModel *m)
{
	double		least = INFINITY;
	double		own = m->alternative_count > 0 ? INFINITY : 0;

	if (m->alternative_count < 0 || m->alternative_count > DPERM_ALTERNATIVES_MAX)
		return "there are too many alternatives";
	if (m->alternative_count > 0 && !dperm_claim_private(&m->claim))
		return "a model without privacy has no alternatives";
	for (int i = 0; i < m->alternative_count; i++)
	{
		const DpermAlternative *alternative = &m->alternatives[i];

		if (dperm_mechanism_entry((int) alternative->method) == NULL ||
			(alternative->law != DPERM_LAW_NORM && alternative->law != DPERM_LAW_GAUSSIAN))
			return "an alternative is unknown";
		if (i > 0 && (alternative->method < alternative[-1].method ||
					  (alternative->method == alternative[-1].method &&
					   alternative->law <= alternative[-1].law)))
			return "the alternatives are out of order";
		if (!is_positive(alternative->risk))
			return "the risk of an alternative is out of range";
		least = fmin(least, alternative->risk);
		if (alternative->method == m->method && alternative->law == dperm_model_law(m))
			own = fmin(own, alternative->risk);
	}
	if (isinf(own))
		return "the method is not among the alternatives";
	return own <= least ? NULL : "the method is not the alternative of least risk";
}

/* Check how the parameters were chosen, if the model says so. */
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
	if (fault == NULL && !tuning.holdout && tuning.persons != (m->claim.unit == DPERM_UNIT_PERSON))
		fault = "tuning and unit contradict each other";
	if (fault == NULL && !tuning.holdout && m->rows > tuning.rows)
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
	if (m->budget.len > LABEL_MAX)
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
		*why = check_alternatives(model);
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

/* Bytes of the binary form. */
size_t
dperm_model_binary_size(const DpermModel *model)
{
	return HEADER_SIZE + dperm_encoder_form_size(&model->encoder) +
		   8 * (size_t) dperm_encoder_dim(&model->encoder) + (size_t) model->label.len +
		   (size_t) model->positive.len + (size_t) model->tuning.len +
		   (size_t) model->budget.len + (size_t) model->source.len + (size_t) model->prior.len +
		   dperm_model_noise_size(model->noise) + 1 +
		   ALTERNATIVE_SIZE * (size_t) model->alternative_count +
		   (dperm_model_label(model) == DPERM_LABEL_NUMBER ? BOUNDS_SIZE : 0);
}

/* Write the binary form. */
void
dperm_model_to_binary(const DpermModel *model, unsigned char *out)
{
	size_t		encoder_size = dperm_encoder_form_size(&model->encoder);

	out = dperm_bytes_put(out, magic, sizeof(magic));
	out = dperm_bytes_put_int(out, DPERM_MODEL_FORMAT, 2);
	out = dperm_bytes_put_int(out, (uint64_t) model->loss.kind, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->method, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->analysis, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->claim.neighbours, 1);
	out = dperm_bytes_put_int(out, (uint64_t) model->claim.unit, 1);
	out = dperm_bytes_put_int(out, encoder_size, 4);
	out = dperm_bytes_put_int(out, (uint64_t) model->rows, 8);
	out = dperm_bytes_put_int(out, (uint64_t) model->release_scale, 8);
	out = dperm_bytes_put_double(out, model->loss.h);
	out = dperm_bytes_put_double(out, model->claim.epsilon);
	out = dperm_bytes_put_double(out, model->lambda);
	out = dperm_bytes_put_double(out, model->lambda_effective);
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
		out = dperm_bytes_put_double(out, model->claim.shares[i]);
	out = dperm_bytes_put_double(out, model->noise_scale);
	out = dperm_bytes_put_double(out, model->grid);
	out = dperm_bytes_put_double(out, model->claim.delta);
	out = dperm_bytes_put_int(out, (uint64_t) model->label.len, 4);
	out = dperm_bytes_put_int(out, model->has_positive ? 1 + (uint64_t) model->positive.len : 0, 4);
	out = dperm_bytes_put_int(out, (uint64_t) model->tuning.len, 4);
	out = dperm_bytes_put_int(out, dperm_model_noise_size(model->noise), 4);
	out = dperm_bytes_put_int(out, (uint64_t) model->entry, 8);
	out = dperm_bytes_put_int(out, (uint64_t) model->budget.len, 4);
	out = dperm_bytes_put_int(out, (uint64_t) model->source.len, 4);
	out = dperm_bytes_put_int(out, (uint64_t) model->prior.len, 4);
	dperm_encoder_form_write(&model->encoder, out);
	out += encoder_size;
	for (int i = 0; i < dperm_encoder_dim(&model->encoder); i++)
		out = dperm_bytes_put_double(out, model->weights[i]);
	out = dperm_bytes_put(out, model->label.bytes, (size_t) model->label.len);
	out = dperm_bytes_put(out, model->positive.bytes, (size_t) model->positive.len);
	out = dperm_bytes_put(out, model->tuning.bytes, (size_t) model->tuning.len);
	out = dperm_bytes_put(out, model->budget.bytes, (size_t) model->budget.len);
	out = dperm_bytes_put(out, model->source.bytes, (size_t) model->source.len);
	out = dperm_bytes_put(out, model->prior.bytes, (size_t) model->prior.len);
	out = dperm_model_noise_write(model->noise, out);
	out = dperm_bytes_put_int(out, (uint64_t) model->alternative_count, 1);
	for (int i = 0; i < model->alternative_count; i++)
	{
		out = dperm_bytes_put_int(out, (uint64_t) model->alternatives[i].method, 1);
		out = dperm_bytes_put_int(out, (uint64_t) model->alternatives[i].law, 1);
		out = dperm_bytes_put_double(out, model->alternatives[i].risk);
	}
	if (dperm_model_label(model) == DPERM_LABEL_NUMBER)
	{
		out = dperm_bytes_put_double(out, model->label_low);
		(void) dperm_bytes_put_double(out, model->label_high);
	}
}

/* The lengths of the parts. */
typedef struct Parts
{
	size_t		encoder;
	size_t		label;
	size_t		positive;		/* plus one, or 0 for none */
	size_t		tuning;
	size_t		noise;
	size_t		budget;
	size_t		source;
	size_t		prior;
} Parts;

/* Read the header, and the lengths of the parts after it. */
static const char *
read_header(DpermBytes *r, DpermModel *m, Parts *parts)
{
	const unsigned char *start = dperm_bytes_get(r, sizeof(magic));

	if (start == NULL || memcmp(start, magic, sizeof(magic)) != 0 || r->left < 2)
		return "it does not begin with the header of a model";
	if (dperm_bytes_get_int(r, 2) != DPERM_MODEL_FORMAT)
		return "this version of dperm does not support the format of the model";
	if (r->left < HEADER_SIZE - sizeof(magic) - 2)
		return "it does not begin with the header of a model";

	/*
	 * dperm_model_check verifies the ranges; a byte fits into each of the
	 * enums.
	 */
	m->loss.kind = (DpermLossKind) dperm_bytes_get_int(r, 1);
	m->method = (DpermMethod) dperm_bytes_get_int(r, 1);
	m->analysis = (DpermAnalysis) dperm_bytes_get_int(r, 1);
	m->claim.neighbours = (DpermNeighbours) dperm_bytes_get_int(r, 1);
	m->claim.unit = (DpermUnit) dperm_bytes_get_int(r, 1);
	parts->encoder = (size_t) dperm_bytes_get_int(r, 4);
	m->rows = dperm_bytes_get_signed(r);
	m->release_scale = dperm_bytes_get_signed(r);
	m->loss.h = dperm_bytes_get_double(r);
	m->claim.epsilon = dperm_bytes_get_double(r);
	m->lambda = dperm_bytes_get_double(r);
	m->lambda_effective = dperm_bytes_get_double(r);
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
		m->claim.shares[i] = dperm_bytes_get_double(r);
	m->noise_scale = dperm_bytes_get_double(r);
	m->grid = dperm_bytes_get_double(r);
	m->claim.delta = dperm_bytes_get_double(r);
	parts->label = (size_t) dperm_bytes_get_int(r, 4);
	parts->positive = (size_t) dperm_bytes_get_int(r, 4);
	parts->tuning = (size_t) dperm_bytes_get_int(r, 4);
	parts->noise = (size_t) dperm_bytes_get_int(r, 4);
	m->entry = dperm_bytes_get_signed(r);
	parts->budget = (size_t) dperm_bytes_get_int(r, 4);
	parts->source = (size_t) dperm_bytes_get_int(r, 4);
	parts->prior = (size_t) dperm_bytes_get_int(r, 4);
	return r->bad ? "it is not in canonical form" : NULL;
}

/* Copy some bytes as a text into the arena. */
static const char *
read_part(DpermBytes *r, size_t len, size_t most, DpermArena *arena, DpermText *text)
{
	const unsigned char *from = len <= most ? dperm_bytes_get(r, len) : NULL;
	char	   *to;

	if (len == 0)
		return NULL;
	if (from == NULL)
		return "it ends too early";
	to = dperm_arena_take(arena, len);
	if (to == NULL)
		return "there is not enough memory for the texts";
	memcpy(to, from, len);
	text->bytes = to;
	text->len = (int) len;
	return NULL;
}

/* The ways that the method was chosen from. */
static const char *
get_alternatives(DpermBytes *r, DpermModel *m)
{
	uint64_t	count = r->left > 0 ? dperm_bytes_get_int(r, 1) : DPERM_ALTERNATIVES_MAX + 1;

	if (count > DPERM_ALTERNATIVES_MAX || r->left < ALTERNATIVE_SIZE * count)
		return "it ends before the alternatives do";
	m->alternative_count = (int) count;
	for (int i = 0; i < m->alternative_count; i++)
	{
		m->alternatives[i].method = (DpermMethod) dperm_bytes_get_int(r, 1);
		m->alternatives[i].law = (DpermNoiseLaw) dperm_bytes_get_int(r, 1);
		m->alternatives[i].risk = dperm_bytes_get_double(r);
	}
	return NULL;
}

/* The bounds of a label that is a number. */
static const char *
get_bounds(DpermBytes *r, DpermModel *m)
{
	const DpermLossEntry *loss = dperm_loss_entry((int) m->loss.kind);

	if (loss == NULL || loss->label != DPERM_LABEL_NUMBER)
		return NULL;
	if (r->left < BOUNDS_SIZE)
		return "it ends before the bounds of the label";
	m->label_low = dperm_bytes_get_double(r);
	m->label_high = dperm_bytes_get_double(r);
	return NULL;
}

/* Read the encoder, the weights and the texts into the arena. */
static const char *
read_body(DpermBytes *r, const Parts *parts, DpermArena *arena, DpermModel *m)
{
	const unsigned char *encoder = dperm_bytes_get(r, parts->encoder);
	const char *fault;
	double	   *weights;
	int			dim;

	if (encoder == NULL)
		return "it ends before the features do";
	fault = dperm_encoder_form_read(encoder, parts->encoder, arena, &m->encoder);
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
	m->has_positive = parts->positive > 0;
	fault = read_part(r, parts->label, LABEL_MAX, arena, &m->label);
	if (fault == NULL && m->has_positive)
		fault = read_part(r, parts->positive - 1, LABEL_MAX, arena, &m->positive);
	if (fault == NULL)
		fault = read_part(r, parts->tuning, TUNING_MAX, arena, &m->tuning);
	if (fault == NULL)
		fault = read_part(r, parts->budget, LABEL_MAX, arena, &m->budget);
	if (fault == NULL)
		fault = read_part(r, parts->source, LABEL_MAX, arena, &m->source);
	if (fault == NULL)
		fault = read_part(r, parts->prior, DPERM_PRIOR_MAX, arena, &m->prior);
	if (fault == NULL && r->left < parts->noise)
		fault = "it ends before the noise does";
	if (fault == NULL)
		fault = dperm_model_noise_read(dperm_bytes_get(r, parts->noise), parts->noise, dim,
									   dperm_model_law(m), arena, &m->noise);
	if (fault == NULL)
		fault = get_alternatives(r, m);
	if (fault == NULL)
		fault = get_bounds(r, m);
	if (fault == NULL && r->left > 0)
		fault = "there is data after the model";
	return fault == NULL && r->bad ? "it is not in canonical form" : fault;
}

/* Read a binary form, trusting none of it. */
DpermStatus
dperm_model_from_binary(const unsigned char *in, size_t len, DpermArena *arena,
						DpermModel *out, const char **why)
{
	DpermBytes r = {in, len, false};
	DpermModel	m;
	Parts		parts = {0};

	memset(&m, 0, sizeof(m));
	*why = read_header(&r, &m, &parts);
	if (*why == NULL)
		*why = read_body(&r, &parts, arena, &m);
	if (*why || dperm_model_check(&m, why) != DPERM_OK)
		return DPERM_BAD_FORMAT;
	*out = m;
	return DPERM_OK;
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
	model->alternative_count =
		dperm_claim_private(&calibration->claim) ? setup->alternative_count : 0;
	memcpy(model->alternatives, setup->alternatives, sizeof(model->alternatives));
	model->grid = calibration->grid;
	model->release_scale = calibration->release_scale;
	model->weights = weights;
}
