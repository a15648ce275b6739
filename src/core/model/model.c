/*
 * model.c: what a valid model is, the description of its two forms, and how it
 * composes. Plain.
 */
#include "core/model/model.h"

#include <math.h>
#include <string.h>

#include "core/base/linsys.h"

/*
 * A relative margin for rounding, and for shares that add up to slightly more
 * than 1.
 */
#define NUDGE (1 + 1e-9)

/* What is wrong with a key of JSON that follows from others. */
#define CONTRADICTS "contradicts other keys"

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

	if (!m->has_positive && m->positive.len > 0)
		return "positive is not expected";
	if (m->has_positive && kind != DPERM_LABEL_TWO)
		return "positive is not expected";
	if (kind != DPERM_LABEL_NUMBER && (m->label_low != 0 || m->label_high != 0))
		return "bounds are not expected";
	if (kind == DPERM_LABEL_NUMBER && !dperm_block_are_bounds(m->label_low, m->label_high))
		return "the bounds of the label are out of range";
	if (kind == DPERM_LABEL_NUMBER && m->classes.len > 0)
		return "classes are not expected";
	return kind == DPERM_LABEL_SEVERAL || m->classes.len > 0 ?
		dperm_classes_fault(m->classes.bytes, (size_t) m->classes.len, dperm_model_names(m)) : NULL;
}

/* Check the features, their weights, and the shape of the noise of these. */
static const char *
check_shape(const DpermModel *m)
{
	const char *fault = dperm_encoder_fault(&m->encoder);

	if (fault)
		return fault;
	if (dperm_model_weights(m) > DPERM_DIM_MAX)
		return "there are too many weights";
	for (int i = 0; i < dperm_model_weights(m); i++)
		if (!isfinite(m->weights[i]))
			return "a weight is not finite";
	return dperm_noise_fault(m->noise, dperm_encoder_dim(&m->encoder));
}

/* Check the texts, which may be anything else. */
static const char *
check_texts(const DpermModel *m)
{
	const DpermText *const texts[] = {&m->prior, &m->tuning, &m->source, &m->label, &m->positive,
									  &m->budget};
	static const int most[] = {DPERM_MODEL_PRIOR_MAX, DPERM_MODEL_TUNING_MAX};

	for (int i = 0; i < 6; i++)
		if (texts[i]->len > (i < 2 ? most[i] : DPERM_MODEL_LABEL_MAX))
			return i == 0 ? "prior is too long" : i == 1 ? "tuning is too long" :
				"a name is too long";
	return NULL;
}

/* What was charged for it, if anything was. */
static const char *
check_ledger(const DpermModel *m)
{
	if (m->entry < 0 || (m->entry > 0) != (m->budget.len > 0))
		return "the entry of the ledger is out of range";
	if (m->entry > 0 && !dperm_claim_private(&m->claim))
		return "a model without privacy has no entry in a ledger";
	return NULL;
}

/* The first rule of a valid model that is broken, or NULL. */
const char *
dperm_model_fault(const DpermModel *model)
{
	static const char *(*const checks[]) (const DpermModel *model) = {
		check_learner, check_privacy, check_shape, check_texts, check_label, check_ledger
	};
	const char *fault = NULL;

	for (size_t i = 0; fault == NULL && i < sizeof(checks) / sizeof(checks[0]); i++)
		fault = checks[i](model);
	return fault;
}

/*
 * Fill in what a fit was given and made: everything but source, label and its
 * domain, tuning, prior and the entry of the ledger.
 */
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

static const char *
noise_name(int shaped)
{
	return shaped ? "shaped" : "ball";
}

/* A claim, without its shares. */
void
dperm_model_claim(DpermCodec *c, DpermClaim *claim)
{
	dperm_codec_number(c, "epsilon", &claim->epsilon);
	if (dperm_codec_has(c, "delta", true))
		dperm_codec_number(c, "delta", &claim->delta);
	if (dperm_codec_has(c, "neighbours", true))
		claim->neighbours = (DpermNeighbours) dperm_codec_name(c, "neighbours",
															   (int) claim->neighbours,
															   dperm_claim_neighbours_name, 2);
	if (dperm_codec_has(c, "unit", true))
		claim->unit = (DpermUnit) dperm_codec_name(c, "unit", (int) claim->unit,
												   dperm_claim_unit_name, 2);
}

/* The entry of the ledger that a model is. */
void
dperm_model_ledger(DpermCodec *c, DpermModel *m)
{
	dperm_codec_object(c, "ledger");
	dperm_codec_text(c, "budget", &m->budget);
	dperm_codec_integer(c, "entry", &m->entry);
	dperm_codec_end(c);
}

/* A text that is missing in JSON if it is empty. */
static void
visit_text(DpermCodec *c, const char *key, DpermText *text)
{
	if (dperm_codec_has(c, key, text->len > 0))
		dperm_codec_text(c, key, text);
}

static void
visit_object(DpermCodec *c, const char *key, DpermText *text)
{
	if (dperm_codec_has(c, key, text->len > 0))
		dperm_codec_object_text(c, key, text);
}

/* The names of count classes, each with its zero byte, as a list. Returns how many. */
static int
visit_classes(DpermCodec *c, DpermText *classes, int count)
{
	const char *at = classes->bytes;
	DpermOut	read = {NULL, 0, 0};

	count = dperm_codec_list(c, "classes", count);
	for (int i = 0; i < count; i++)
	{
		DpermText	name = {at, at ? (int) strlen(at) : 0};

		dperm_codec_text(c, NULL, &name);
		if (dperm_codec_reads(c))
		{
			dperm_codec_put_bytes(&read, name.bytes, (size_t) name.len);
			dperm_codec_put_bytes(&read, "", 1);
		}
		else
			at += name.len + 1;
	}
	dperm_codec_end(c);
	if (dperm_codec_reads(c) && c->why == NULL)
		*classes = (DpermText) {read.bytes, (int) read.len};
	return c->why ? 0 : count;
}

/* What a label may be: the positive value, the bounds of a number, the names of classes. */
static void
visit_label_domain(DpermCodec *c, DpermModel *m)
{
	DpermLabelKind kind = dperm_model_label(m);
	int			names = dperm_model_names(m);

	m->has_positive = dperm_codec_some(c, "positive", m->has_positive);
	if (m->has_positive)
		dperm_codec_text(c, "positive", &m->positive);
	if (kind == DPERM_LABEL_NUMBER)
		dperm_codec_pair(c, "bounds", &m->label_low, &m->label_high);
	else if (kind == DPERM_LABEL_SEVERAL)
		m->loss.classes = visit_classes(c, &m->classes, names);
	else if (dperm_codec_some(c, "classes", names > 0) &&
			 visit_classes(c, &m->classes, names) != 2)
		dperm_codec_fail(c, "there must be two classes with this loss");
}

/* A shape; coordinates are numbered from 1, as in SQL. */
static DpermShape
visit_shape(DpermCodec *c, DpermShape shape)
{
	dperm_codec_object(c, NULL);
	shape.kind = (DpermShapeKind) dperm_codec_name(c, "shape", (int) shape.kind,
												   dperm_shape_name, DPERM_SHAPE_KINDS);
	shape.first = dperm_codec_count(c, "first", shape.first + 1) - 1;
	shape.count = dperm_codec_count(c, "count", shape.count);
	dperm_codec_number(c, "radius", &shape.radius);
	dperm_codec_end(c);
	return shape;
}

/* The shape of noise that has one: groups, each with its share and its shapes. */
static const DpermNoise *
visit_noise(DpermCodec *c, const DpermNoise *noise, DpermNoiseLaw law)
{
	bool		reads = dperm_codec_reads(c);
	DpermNoise *read = dperm_host_alloc(sizeof(DpermNoise));
	DpermOut	groups = {NULL, 0, 0};
	DpermOut	shapes = {NULL, 0, 0};

	read->group_count = dperm_codec_list(c, "noise_groups", reads ? 0 : noise->group_count);
	for (int i = 0; i < read->group_count; i++)
	{
		DpermNoiseGroup group = reads ? (DpermNoiseGroup) {.first = read->shape_count} :
			noise->groups[i];

		dperm_codec_object(c, NULL);
		dperm_codec_number(c, "share", &group.share);
		group.count = dperm_codec_list(c, "shapes", group.count);
		for (int j = 0; j < group.count; j++)
		{
			DpermShape	shape = visit_shape(c, reads ? (DpermShape) {.count = 0} :
											noise->shapes[group.first + j]);

			dperm_codec_put_bytes(&shapes, &shape, sizeof(shape));
		}
		read->shape_count += group.count;
		dperm_codec_put_bytes(&groups, &group, sizeof(group));
		dperm_codec_end(c);
		dperm_codec_end(c);
	}
	dperm_codec_end(c);
	if (!reads || c->why)
		return noise;
	read->groups = (DpermNoiseGroup *) groups.bytes;
	read->shapes = (DpermShape *) shapes.bytes;
	dperm_noise_measure(law, read);
	return read;
}

/* How much noise there is, and what it costs. */
static void
visit_release(DpermCodec *c, DpermModel *m)
{
	dperm_codec_object(c, "budget");
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
		dperm_codec_number(c, dperm_claim_share_name(i), &m->claim.shares[i]);
	dperm_codec_end(c);
	if (dperm_codec_some(c, "noise_groups", m->noise != NULL))
		m->noise = visit_noise(c, m->noise, dperm_model_law(m));
	if ((dperm_codec_reads(c) || dperm_claim_private(&m->claim)) && dperm_codec_says(c, "noise") &&
		dperm_codec_name(c, "noise", m->noise != NULL, noise_name, 2) != (m->noise != NULL))
		dperm_codec_complain(c, "noise", CONTRADICTS);
	dperm_codec_number(c, "noise_scale", &m->noise_scale);
	dperm_codec_number(c, "grid", &m->grid);
	dperm_codec_integer(c, "release_scale", &m->release_scale);
}

/*
 * The description of a model: its fields in the order of both forms, with their
 * keys. JSON may lack delta, neighbours and unit, and what a model need not have;
 * and kind, private, noise and dimension, which follow from others. guarantee is
 * not read, but derived again.
 */
static void
visit_model(DpermCodec *c, DpermModel *m)
{
	const DpermLossEntry *loss;
	int64_t		dimension;
	bool		private;

	m->loss.kind = (DpermLossKind) dperm_codec_name(c, "loss", (int) m->loss.kind,
													dperm_loss_name, DPERM_LOSS_COUNT);
	loss = dperm_loss_entry((int) m->loss.kind);
	if (dperm_codec_says(c, "kind") &&
		dperm_codec_name(c, "kind", (int) loss->learner, dperm_loss_learner_name,
						 DPERM_LEARNER_COUNT) != (int) loss->learner)
		dperm_codec_complain(c, "kind", CONTRADICTS);
	if (loss->h_min > 0)
		dperm_codec_number(c, "h", &m->loss.h);
	dperm_model_claim(c, &m->claim);
	private = dperm_claim_private(&m->claim);
	if (dperm_codec_says(c, "private") && dperm_codec_flag(c, "private", private) != private)
		dperm_codec_complain(c, "private", CONTRADICTS);
	dperm_codec_integer(c, m->claim.unit == DPERM_UNIT_PERSON ? "persons" : "rows", &m->rows);
	visit_text(c, "source", &m->source);
	visit_text(c, "label", &m->label);
	visit_label_domain(c, m);
	m->method = (DpermMethod) dperm_codec_name(c, "method", (int) m->method,
											   dperm_mechanism_name, DPERM_METHOD_COUNT);
	m->analysis = (DpermAnalysis) dperm_codec_name(c, "analysis", (int) m->analysis,
												   dperm_calibrate_analysis_name, 2);
	dperm_codec_number(c, "lambda", &m->lambda);
	dperm_codec_number(c, "lambda_effective", &m->lambda_effective);
	visit_release(c, m);
	dperm_encoder_form_visit(c, &m->encoder);
	dimension = c->why ? 0 : dperm_encoder_dim(&m->encoder);
	if (dperm_codec_says(c, "dimension"))
		dperm_codec_integer(c, "dimension", &dimension);
	if (c->why == NULL && dimension != dperm_encoder_dim(&m->encoder))
		dperm_codec_complain(c, "dimension", CONTRADICTS);
	m->weights = dperm_codec_numbers(c, "weights", m->weights, m->loss.classes, (int) dimension);
	visit_object(c, "tuning", &m->tuning);
	visit_object(c, "prior", &m->prior);
	if (dperm_codec_some(c, "ledger", m->entry != 0))
	{
		dperm_model_ledger(c, m);
		if (dperm_codec_reads(c) && m->entry == 0)
			dperm_codec_fail(c, "the entry of the ledger is out of range");
	}
	if (dperm_codec_says(c, "guarantee"))
	{
		DpermText	words = dperm_codec_reads(c) ? (DpermText) {NULL, 0} :
			dperm_model_guarantee(m);

		dperm_codec_text(c, "guarantee", &words);
	}
}

/* Read the fields of a model after its format; NULL, else what is wrong. */
static const char *
read_model(DpermCodec *c, DpermModel *out)
{
	DpermModel	m = {0};
	const char *fault;

	visit_model(c, &m);
	dperm_codec_end(c);
	fault = dperm_codec_end_of_bytes(c);
	if (fault == NULL)
		fault = dperm_model_fault(&m);
	if (fault == NULL)
		*out = m;
	return fault;
}

/* The bytes that all formats begin with: this, and 16 bits. */
static const char magic[4] = {'D', 'P', 'R', 'M'};

#define HEADER (sizeof(magic) + 2)

/* The format of some bytes; 0 if they are no model. */
int
dperm_model_format(DpermText bytes)
{
	if (bytes.len < (int) HEADER || memcmp(bytes.bytes, magic, sizeof(magic)) != 0)
		return 0;
	return (int) dperm_bytes_load((const unsigned char *) bytes.bytes + sizeof(magic), 2);
}

/* A model as bytes. */
DpermText
dperm_model_write(const DpermModel *model)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_BYTES};
	DpermModel	m = *model;

	dperm_codec_put(&c.out, "%.4s%c%c", magic, DPERM_MODEL_BINARY >> 8, DPERM_MODEL_BINARY);
	visit_model(&c, &m);
	return dperm_codec_written(&c);
}

/*
 * Read bytes that have been accepted once; NULL, else what is wrong. The model is
 * valid, but its objects may be something else. It points into the bytes.
 */
const char *
dperm_model_open(DpermText bytes, DpermModel *out)
{
	DpermCodec	c;

	if (dperm_model_format(bytes) != DPERM_MODEL_BINARY)
		return dperm_model_format(bytes) == 0 ? "it does not begin with the header of a model" :
			"this version of dperm does not support the format of the model";
	c = dperm_codec_read(bytes.bytes + HEADER, (size_t) bytes.len - HEADER);
	return read_model(&c, out);
}

/* A model as JSON, in an order made for reading. */
DpermText
dperm_model_print(const DpermModel *model)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_JSON};
	DpermModel	m = *model;

	dperm_codec_object(&c, NULL);
	(void) dperm_codec_count(&c, "format", DPERM_MODEL_FORMAT);
	visit_model(&c, &m);
	dperm_codec_end(&c);
	return dperm_codec_written(&c);
}

/* Its label with its domain, and its features, as they are in JSON; these need no weights. */
DpermText
dperm_model_print_label(const DpermModel *model)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_JSON};
	DpermModel	m = *model;

	dperm_codec_object(&c, NULL);
	dperm_codec_text(&c, "column", &m.label);
	visit_label_domain(&c, &m);
	dperm_codec_end(&c);
	return dperm_codec_written(&c);
}

DpermText
dperm_model_print_features(const DpermModel *model)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_JSON};
	DpermEncoder enc = model->encoder;

	dperm_encoder_form_features(&c, NULL, &enc);
	return dperm_codec_written(&c);
}

/*
 * Read a model from JSON, trusting none of it; NULL, else what is wrong. The format
 * comes first: what another one has would look like errors.
 */
const char *
dperm_model_parse(const DpermTree *tree, DpermModel *out)
{
	DpermCodec	c = {.form = DPERM_CODEC_READ_JSON, .root = *tree};
	int			format;

	dperm_codec_object(&c, NULL);
	format = dperm_codec_count(&c, "format", 0);
	if (c.why == NULL && format != DPERM_MODEL_FORMAT)
		return "this version of dperm does not support the format of the model";
	return read_model(&c, out);
}

/*
 * The same for bytes of anybody. Only those that a model is written as are read as this
 * model, even by way of JSON, which accepts names and objects, too.
 */
const char *
dperm_model_receive(DpermText bytes, DpermModel *out)
{
	DpermModel	m;
	DpermText	again;
	DpermTree	tree;
	const char *fault = dperm_model_open(bytes, &m);

	if (fault)
		return fault;
	if (!dperm_tree_parse(dperm_model_print(&m), &tree))
		return "a name or an object is not valid in the encoding of this database";
	fault = dperm_model_parse(&tree, &m);
	if (fault)
		return fault;
	again = dperm_model_write(&m);
	if (!dperm_host_same_text(&again, &bytes))
		return "it is not in canonical form";
	*out = m;
	return NULL;
}

/*
 * The claim of a valid model, and the Renyi curve that its parameters determine
 * (docs/guarantee.md, "Curves").
 */
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

		dperm_composition_objective(&release, loss.directions, loss.rank,
									model->noise_scale / loss.norm / NUDGE);
		release.kappa = dperm_slack_any_slope(rank, loss.trace / flat) * NUDGE;
	}
	return release;
}

/*
 * The standard deviation that noise gives to each weight of a model
 * (docs/guarantee.md, "The noise of a weight"), from what the model says of
 * itself: true if that is exact, false if it is a bound. Zeros without noise.
 */
bool
dperm_model_weight_noise(const DpermModel *model, double *out)
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

/*
 * A bound on the norm of weights that are finite: up to 5000 squares are rounded
 * far less than this, and those that vanish add less than the constant.
 */
double
dperm_model_norm(const double *weights, int count)
{
	double		most = 0;

	for (int i = 0; i < count; i++)
		most = fmax(most, fabs(weights[i]));
	if (!(most <= DPERM_PRIOR_NORM_MAX))
		return INFINITY;		/* also if the squares would overflow */
	return sqrt(dperm_dot(count, weights, weights)) * (1 + 1e-9) + 1e-150;
}
