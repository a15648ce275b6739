/*
 * model_binary.c: the binary form of a model.
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
 * 	147	the encoder
 * 		unless the label is a number, how many classes have names, 16 bits, the
 * 		length of these, 32 bits, and these (classes.h)
 * 		the weights, label, positive, tuning, budget, source, prior, noise
 * 		(model_noise.h)
 * 		if the label is a number, its bounds
 *
 * The magic and the format keep their places in every later format.
 */
#include "core/model/model.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/classes.h"
#include "core/base/limits.h"
#include "core/model/model_noise.h"
#include "core/model/prior.h"

#define HEADER_SIZE 147
#define BOUNDS_SIZE 16
#define CLASSES_SIZE 6

static const unsigned char magic[4] = {'D', 'P', 'R', 'M'};

/* Bytes of what a label may be: the bounds of a number, or the names of classes. */
static size_t
label_size(const DpermModel *model)
{
	return dperm_model_label(model) == DPERM_LABEL_NUMBER ?
		BOUNDS_SIZE : CLASSES_SIZE + (size_t) model->classes.len;
}

/* Bytes of the binary form. */
size_t
dperm_model_binary_size(const DpermModel *model)
{
	return HEADER_SIZE + dperm_encoder_form_size(&model->encoder) +
		   8 * (size_t) dperm_model_weights(model) + (size_t) model->label.len +
		   (size_t) model->positive.len + (size_t) model->tuning.len +
		   (size_t) model->budget.len + (size_t) model->source.len + (size_t) model->prior.len +
		   dperm_model_noise_size(model->noise) + label_size(model);
}

/* Write the binary form. */
void
dperm_model_binary_write(const DpermModel *model, unsigned char *out)
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
	if (dperm_model_label(model) != DPERM_LABEL_NUMBER)
	{
		out = dperm_bytes_put_int(out, (uint64_t) dperm_model_names(model), 2);
		out = dperm_bytes_put_int(out, (uint64_t) model->classes.len, 4);
		out = dperm_bytes_put(out, model->classes.bytes, (size_t) model->classes.len);
	}
	for (int i = 0; i < dperm_model_weights(model); i++)
		out = dperm_bytes_put_double(out, model->weights[i]);
	out = dperm_bytes_put(out, model->label.bytes, (size_t) model->label.len);
	out = dperm_bytes_put(out, model->positive.bytes, (size_t) model->positive.len);
	out = dperm_bytes_put(out, model->tuning.bytes, (size_t) model->tuning.len);
	out = dperm_bytes_put(out, model->budget.bytes, (size_t) model->budget.len);
	out = dperm_bytes_put(out, model->source.bytes, (size_t) model->source.len);
	out = dperm_bytes_put(out, model->prior.bytes, (size_t) model->prior.len);
	out = dperm_model_noise_write(model->noise, out);
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

/* Is the label of this kind? The loss may be unknown. */
static bool
has_label(const DpermModel *m, DpermLabelKind kind)
{
	const DpermLossEntry *loss = dperm_loss_entry((int) m->loss.kind);

	return loss && loss->label == kind;
}

/* The bounds of a label that is a number. */
static const char *
get_bounds(DpermBytes *r, DpermModel *m)
{
	if (!has_label(m, DPERM_LABEL_NUMBER))
		return NULL;
	if (r->left < BOUNDS_SIZE)
		return "it ends before the bounds of the label";
	m->label_low = dperm_bytes_get_double(r);
	m->label_high = dperm_bytes_get_double(r);
	return NULL;
}

/* The names of classes; those of two, if they are known. */
static const char *
read_classes(DpermBytes *r, DpermArena *arena, DpermModel *m)
{
	size_t		len;
	int			count;

	if (!has_label(m, DPERM_LABEL_TWO) && !has_label(m, DPERM_LABEL_SEVERAL))
		return NULL;
	if (r->left < CLASSES_SIZE)
		return "it ends before the classes do";
	count = (int) dperm_bytes_get_int(r, 2);
	len = (size_t) dperm_bytes_get_int(r, 4);
	if (has_label(m, DPERM_LABEL_SEVERAL))
		m->loss.classes = count;
	else if (count != (len > 0 ? 2 : 0))
		return "there must be two classes with this loss";
	return read_part(r, len, DPERM_CLASSES_BYTES, arena, &m->classes);
}

/* The weights. */
static const char *
read_weights(DpermBytes *r, DpermArena *arena, DpermModel *m)
{
	double	   *weights;
	int			count = dperm_encoder_dim(&m->encoder);

	if (count > DPERM_DIM_MAX / dperm_loss_blocks(m->loss))
		return "there are too many weights";
	count = dperm_model_weights(m);
	if (r->left < 8 * (size_t) count)
		return "it ends before the weights do";
	weights = dperm_arena_take(arena, sizeof(double) * (size_t) count);
	if (weights == NULL)
		return "there is not enough memory for the weights";
	for (int i = 0; i < count; i++)
		weights[i] = dperm_bytes_get_double(r);
	m->weights = weights;
	return r->bad ? "it is not in canonical form" : NULL;
}

/* Read the encoder, the weights and the texts into the arena. */
static const char *
read_body(DpermBytes *r, const Parts *parts, DpermArena *arena, DpermModel *m)
{
	const unsigned char *encoder = dperm_bytes_get(r, parts->encoder);
	const char *fault;

	if (encoder == NULL)
		return "it ends before the features do";
	fault = dperm_encoder_form_read(encoder, parts->encoder, arena, &m->encoder);
	if (fault)
		return fault;
	fault = read_classes(r, arena, m);
	if (fault == NULL)
		fault = read_weights(r, arena, m);
	if (fault)
		return fault;
	m->has_positive = parts->positive > 0;
	fault = read_part(r, parts->label, DPERM_MODEL_LABEL_MAX, arena, &m->label);
	if (fault == NULL && m->has_positive)
		fault = read_part(r, parts->positive - 1, DPERM_MODEL_LABEL_MAX, arena, &m->positive);
	if (fault == NULL)
		fault = read_part(r, parts->tuning, DPERM_MODEL_TUNING_MAX, arena, &m->tuning);
	if (fault == NULL)
		fault = read_part(r, parts->budget, DPERM_MODEL_LABEL_MAX, arena, &m->budget);
	if (fault == NULL)
		fault = read_part(r, parts->source, DPERM_MODEL_LABEL_MAX, arena, &m->source);
	if (fault == NULL)
		fault = read_part(r, parts->prior, DPERM_PRIOR_MAX, arena, &m->prior);
	if (fault == NULL && r->left < parts->noise)
		fault = "it ends before the noise does";
	if (fault == NULL)
		fault = dperm_model_noise_read(dperm_bytes_get(r, parts->noise), parts->noise,
									   dperm_encoder_dim(&m->encoder), dperm_model_law(m), arena,
									   &m->noise);
	if (fault == NULL)
		fault = get_bounds(r, m);
	if (fault == NULL && r->left > 0)
		fault = "there is data after the model";
	return fault == NULL && r->bad ? "it is not in canonical form" : fault;
}

/* Read a binary form, trusting none of it. */
DpermStatus
dperm_model_binary_read(const unsigned char *in, size_t len, DpermArena *arena,
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
