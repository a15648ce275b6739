/*
 * model_parse.c: read a model from its JSON text.
 *
 * Keys may come in any order, because jsonb does not preserve it. Every key is
 * required except kernel and those that are redundant: kind, private, delta,
 * neighbours and dimension must agree with the rest if present, and guarantee
 * is a string that is neither read nor trusted: the paragraph is always derived
 * again from the model.
 */
#include "core/base/limits.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/model/model.h"

#include <math.h>
#include <string.h>

#include "core/encode/encoder_json.h"
#include "core/base/json.h"
#include "core/model/model_lists.h"
#include "core/model/model_noise.h"

/* One key of the object, with its static messages. */
typedef struct Field
{
	const char *key;
	const char *missing;
	const char *repeated;
	const char *mistyped;
} Field;

#define FIELD(key, type) \
	{key, "key \"" key "\" is missing", "key \"" key "\" occurs twice", \
	"key \"" key "\" must be " type}

typedef enum FieldId
{
	F_FORMAT,
	F_KIND,
	F_LOSS,
	F_H,
	F_PRIVATE,
	F_EPSILON,
	F_DELTA,
	F_NEIGHBOURS,
	F_UNIT,
	F_ROWS,
	F_PERSONS,
	F_SOURCE,
	F_LABEL,
	F_POSITIVE,
	F_BOUNDS,
	F_CLASSES,
	F_METHOD,
	F_ANALYSIS,
	F_LAMBDA,
	F_LAMBDA_EFFECTIVE,
	F_BUDGET,
	F_NOISE,
	F_NOISE_GROUPS,
	F_NOISE_SCALE,
	F_GRID,
	F_RELEASE_SCALE,
	F_DIMENSION,
	F_FEATURES,
	F_INTERCEPT,
	F_KERNEL,
	F_WEIGHTS,
	F_TUNING,
	F_PRIOR,
	F_LEDGER,
	F_GUARANTEE,
	F_COUNT
} FieldId;

static const Field fields[F_COUNT] = {
	[F_FORMAT] = FIELD("format", "an integer"),
	[F_KIND] = FIELD("kind", "a string"),
	[F_LOSS] = FIELD("loss", "a string"),
	[F_H] = FIELD("h", "a number"),
	[F_PRIVATE] = FIELD("private", "a boolean"),
	[F_EPSILON] = FIELD("epsilon", "a number or \"Infinity\""),
	[F_DELTA] = FIELD("delta", "a number"),
	[F_NEIGHBOURS] = FIELD("neighbours", "a string"),
	[F_UNIT] = FIELD("unit", "a string"),
	[F_ROWS] = FIELD("rows", "an integer"),
	[F_PERSONS] = FIELD("persons", "an integer"),
	[F_SOURCE] = FIELD("source", "a string"),
	[F_LABEL] = FIELD("label", "a string"),
	[F_POSITIVE] = FIELD("positive", "a string"),
	[F_BOUNDS] = FIELD("bounds", "an array of two numbers"),
	[F_CLASSES] = FIELD("classes", "an array of strings"),
	[F_METHOD] = FIELD("method", "a string"),
	[F_ANALYSIS] = FIELD("analysis", "a string"),
	[F_LAMBDA] = FIELD("lambda", "a number"),
	[F_LAMBDA_EFFECTIVE] = FIELD("lambda_effective", "a number"),
	[F_BUDGET] = FIELD("budget", "an object of numbers"),
	[F_NOISE] = FIELD("noise", "a string"),
	[F_NOISE_GROUPS] = FIELD("noise_groups", "an array of objects"),
	[F_NOISE_SCALE] = FIELD("noise_scale", "a number"),
	[F_GRID] = FIELD("grid", "a number"),
	[F_RELEASE_SCALE] = FIELD("release_scale", "an integer"),
	[F_DIMENSION] = FIELD("dimension", "an integer"),
	[F_FEATURES] = FIELD("features", "an array of objects"),
	[F_INTERCEPT] = FIELD("intercept", "a boolean"),
	[F_KERNEL] = FIELD("kernel", "an object"),
	[F_WEIGHTS] = FIELD("weights", "an array of numbers, or of such arrays"),
	[F_TUNING] = FIELD("tuning", "an object"),
	[F_PRIOR] = FIELD("prior", "an object"),
	[F_LEDGER] = FIELD("ledger", "an object"),
	[F_GUARANTEE] = FIELD("guarantee", "a string")
};

#define BIT(field) (UINT64_C(1) << (field))

/*
 * Keys that may be omitted; h, bounds and classes are required or not allowed
 * depending on the loss, and so are rows and persons depending on the unit.
 */
#define OPTIONAL \
	(BIT(F_ROWS) | BIT(F_PERSONS) | BIT(F_KIND) | BIT(F_H) | BIT(F_PRIVATE) | BIT(F_DELTA) | \
	 BIT(F_NEIGHBOURS) | BIT(F_UNIT) | BIT(F_LABEL) | BIT(F_POSITIVE) | BIT(F_BOUNDS) | \
	 BIT(F_CLASSES) | \
	 BIT(F_NOISE) | BIT(F_NOISE_GROUPS) | BIT(F_DIMENSION) | BIT(F_KERNEL) | BIT(F_TUNING) | \
	 BIT(F_SOURCE) | BIT(F_PRIOR) | BIT(F_LEDGER) | BIT(F_GUARANTEE))

/* Longer than any key or name that is compared. */
#define NAME_ROOM 32

typedef struct Parser
{
	DpermJson	json;
	DpermModel	model;
	DpermArena *arena;
	DpermModelList weights;
	int64_t		says_dimension;
	uint64_t	seen;			/* BIT(field) of each key seen so far */
	DpermLearner says_learner;	/* kind, private: to be compared at the end */
	bool		says_private;
	bool		says_shaped;
	DpermNoise *noise;			/* to be completed once the law is known */
	const char *why;
} Parser;

/* Record what is wrong; returns false for the caller to pass on. */
static bool
fail(Parser *p, const char *why)
{
	if (p->why == NULL)
		p->why = why;
	return false;
}

/* Which field a key names, or F_COUNT. */
static FieldId
find_field(const char *key)
{
	for (int i = 0; i < F_COUNT; i++)
		if (strcmp(fields[i].key, key) == 0)
			return (FieldId) i;
	return F_COUNT;
}

/* A number, or the string "Infinity", which JSON has no number for. */
static bool
read_epsilon(Parser *p)
{
	char		name[NAME_ROOM];

	if (dperm_json_peek(&p->json) != DPERM_JSON_STRING)
		return dperm_json_number(&p->json, &p->model.claim.epsilon);
	if (!dperm_json_string(&p->json, name, sizeof(name)))
		return false;
	if (strcmp(name, "Infinity") != 0)
		return fail(p, fields[F_EPSILON].mistyped);
	p->model.claim.epsilon = INFINITY;
	return true;
}

/* The three shares, each once. */
static bool
read_budget(Parser *p)
{
	char		key[NAME_ROOM];
	unsigned	seen = 0;

	if (!dperm_json_object(&p->json))
		return false;
	while (dperm_json_key(&p->json, key, sizeof(key)))
	{
		int			i = dperm_claim_share_parse(key);

		if (i < 0)
			return fail(p, "key \"budget\" contains an unknown key");
		if (seen & (1U << i))
			return fail(p, "key \"budget\" contains a key twice");
		seen |= 1U << i;
		if (!dperm_json_number(&p->json, &p->model.claim.shares[i]))
			return false;
	}
	if (p->json.why == NULL && seen != (1U << DPERM_SHARE_COUNT) - 1)
		return fail(p, "key \"budget\" must contain slack, noise and release");
	return p->json.why == NULL;
}

/* The bounds of the label. */
static bool
read_label_bounds(Parser *p)
{
	double	   *bounds[2] = {&p->model.label_low, &p->model.label_high};
	int			i = 0;

	if (!dperm_json_array(&p->json))
		return false;
	while (dperm_json_element(&p->json))
		if (i == 2 || !dperm_json_number(&p->json, bounds[i++]))
			return fail(p, fields[F_BOUNDS].mistyped);
	return p->json.why == NULL && (i == 2 || fail(p, fields[F_BOUNDS].mistyped));
}

/* Copy the text of an object; dperm_model_check parses it. */
static bool
read_object(Parser *p, FieldId field, DpermText *text)
{
	const char *start;
	char	   *copy;
	size_t		len;

	if (dperm_json_peek(&p->json) != DPERM_JSON_OBJECT)
		return fail(p, fields[field].mistyped);
	start = p->json.at;
	if (!dperm_json_skip(&p->json))
		return false;
	len = (size_t) (p->json.at - start);
	copy = dperm_arena_take(p->arena, len);
	if (copy == NULL || len > INT32_MAX)
		return fail(p, "there is not enough memory for the texts");
	memcpy(copy, start, len);
	*text = (DpermText) {copy, (int) len};
	return true;
}

/* Which entry of which ledger was written for it; each key once. */
static bool
read_ledger(Parser *p)
{
	char		key[NAME_ROOM];
	unsigned	seen = 0;

	if (!dperm_json_object(&p->json))
		return false;
	while (dperm_json_key(&p->json, key, sizeof(key)))
	{
		unsigned	bit = strcmp(key, "budget") == 0 ? 1 : strcmp(key, "entry") == 0 ? 2 : 4;

		if (bit == 4 || (seen & bit))
			return fail(p, "key \"ledger\" contains an unknown key, or one twice");
		seen |= bit;
		if (bit == 1 ? !dperm_encoder_json_text(&p->json, p->arena, &p->model.budget, &p->why) :
					   !dperm_json_integer(&p->json, &p->model.entry))
			return false;
	}
	if (p->json.why == NULL && seen != 3)
		return fail(p, "key \"ledger\" must contain budget and entry");
	return p->json.why == NULL;
}

/* A string that is one of the names of something. */
static bool
read_name(Parser *p, FieldId field)
{
	char		name[NAME_ROOM];

	if (!dperm_json_string(&p->json, name, sizeof(name)))
		return false;
	switch (field)
	{
		case F_KIND:
			for (int i = 0; i < DPERM_LEARNER_COUNT; i++)
				if (strcmp(name, dperm_loss_learner_name((DpermLearner) i)) == 0)
				{
					p->says_learner = (DpermLearner) i;
					return true;
				}
			return fail(p, "the kind is unknown");
		case F_LOSS:
			return dperm_loss_parse(name, &p->model.loss.kind) ||
				fail(p, "the loss is unknown");
		case F_METHOD:
			return dperm_mechanism_parse(name, &p->model.method) ||
				fail(p, "the method is unknown");
		case F_ANALYSIS:
			return dperm_calibrate_analysis_parse(name, &p->model.analysis) ||
				fail(p, "the analysis is unknown");
		case F_NOISE:
			p->says_shaped = strcmp(name, "shaped") == 0;
			return p->says_shaped || strcmp(name, "ball") == 0 || fail(p, "the noise is unknown");
		case F_NEIGHBOURS:
			p->model.claim.neighbours = (DpermNeighbours) dperm_claim_neighbours_parse(name);
			return (int) p->model.claim.neighbours >= 0 || fail(p, "neighbours is unknown");
		default:				/* F_UNIT */
			p->model.claim.unit = (DpermUnit) dperm_claim_unit_parse(name);
			return (int) p->model.claim.unit >= 0 || fail(p, "unit is unknown");
	}
}

/* The value of one key. */
static bool
read_field(Parser *p, FieldId field)
{
	DpermModel *m = &p->model;
	DpermJson  *json = &p->json;
	int64_t		integer;

	switch (field)
	{
		case F_FORMAT:
			return dperm_json_integer(json, &integer);	/* checked already */
		case F_H:
			return dperm_json_number(json, &m->loss.h);
		case F_PRIVATE:
			return dperm_json_bool(json, &p->says_private);
		case F_EPSILON:
			return read_epsilon(p);
		case F_DELTA:
			return dperm_json_number(json, &m->claim.delta);
		case F_ROWS:
		case F_PERSONS:
			return dperm_json_integer(json, &m->rows);
		case F_LAMBDA:
			return dperm_json_number(json, &m->lambda);
		case F_LAMBDA_EFFECTIVE:
			return dperm_json_number(json, &m->lambda_effective);
		case F_BUDGET:
			return read_budget(p);
		case F_NOISE_GROUPS:
			return dperm_model_noise_parse(json, p->arena, &p->noise, &p->why);
		case F_NOISE_SCALE:
			return dperm_json_number(json, &m->noise_scale);
		case F_GRID:
			return dperm_json_number(json, &m->grid);
		case F_RELEASE_SCALE:
			return dperm_json_integer(json, &m->release_scale);
		case F_DIMENSION:
			return dperm_json_integer(json, &p->says_dimension);
		case F_FEATURES:
			return dperm_encoder_json_features(json, p->arena, &m->encoder, &p->why);
		case F_KERNEL:
			return dperm_encoder_json_kernel(json, &m->encoder.kernel, &p->why);
		case F_INTERCEPT:
			return dperm_json_bool(json, &m->encoder.intercept);
		case F_WEIGHTS:
			return dperm_model_lists_weights(json, p->arena, &p->weights, &p->why);
		case F_TUNING:
			return read_object(p, field, &m->tuning);
		case F_PRIOR:
			return read_object(p, field, &m->prior);
		case F_LEDGER:
			return read_ledger(p);
		case F_SOURCE:
			return dperm_encoder_json_text(json, p->arena, &m->source, &p->why);
		case F_LABEL:
			return dperm_encoder_json_text(json, p->arena, &m->label, &p->why);
		case F_POSITIVE:
			m->has_positive = true;
			return dperm_encoder_json_text(json, p->arena, &m->positive, &p->why);
		case F_BOUNDS:
			return read_label_bounds(p);
		case F_CLASSES:
			return dperm_model_lists_classes(json, p->arena, m, &p->why);
		case F_GUARANTEE:
			return dperm_json_string(json, NULL, 0);
		default:
			return read_name(p, field);
	}
}

/*
 * Check the format before everything else: a later format would look like
 * errors in this one.
 */
static bool
check_format(Parser *p, const char *in, size_t len)
{
	char		key[NAME_ROOM];
	int64_t		format = 0;
	bool		found = false;

	dperm_json_open(&p->json, in, len);
	if (!dperm_json_object(&p->json))
		return false;
	while (dperm_json_key(&p->json, key, sizeof(key)))
	{
		if (found || strcmp(key, fields[F_FORMAT].key) != 0)
			dperm_json_skip(&p->json);
		else if (!dperm_json_integer(&p->json, &format))
			return p->json.mistyped ? fail(p, fields[F_FORMAT].mistyped) : false;
		else
			found = true;
	}
	if (!dperm_json_close(&p->json))
		return false;
	if (!found)
		return fail(p, fields[F_FORMAT].missing);
	if (format != DPERM_MODEL_FORMAT)
		return fail(p, "this version of dperm does not support the format of the model");
	return true;
}

/* All keys, each once. */
static bool
read_members(Parser *p, const char *in, size_t len)
{
	char		key[NAME_ROOM];

	dperm_json_open(&p->json, in, len);
	if (!dperm_json_object(&p->json))
		return false;
	while (dperm_json_key(&p->json, key, sizeof(key)))
	{
		FieldId		field = find_field(key);

		if (field == F_COUNT)
			return fail(p, "there is an unknown key");
		if (p->seen & BIT(field))
			return fail(p, fields[field].repeated);
		p->seen |= BIT(field);
		if (!read_field(p, field))
			return p->json.mistyped ? fail(p, fields[field].mistyped) : false;
	}
	return dperm_json_close(&p->json);
}

/*
 * Check that the keys agree with each other; dperm_model_check checks the
 * ranges.
 */
static bool
check_agreement(Parser *p)
{
	DpermModel *m = &p->model;
	const char *fault = dperm_encoder_fault(&m->encoder);
	int			dim;
	const DpermLossEntry *loss = dperm_loss_entry((int) m->loss.kind);
	bool		persons = m->claim.unit == DPERM_UNIT_PERSON;

	for (int i = 0; i < F_COUNT; i++)
		if (!((p->seen | OPTIONAL) & BIT(i)))
			return fail(p, fields[i].missing);
	if (p->seen & BIT(persons ? F_ROWS : F_PERSONS))
		return fail(p, persons ? "a model for persons has no rows" : "a model for rows has no "
			"persons");
	if (!(p->seen & BIT(persons ? F_PERSONS : F_ROWS)))
		return fail(p, fields[persons ? F_PERSONS : F_ROWS].missing);
	if (loss->h_min > 0 && !(p->seen & BIT(F_H)))
		return fail(p, fields[F_H].missing);
	if (loss->h_min == 0 && (p->seen & BIT(F_H)))
		return fail(p, "this loss has no h");
	if (loss->label == DPERM_LABEL_NUMBER && !(p->seen & BIT(F_BOUNDS)))
		return fail(p, fields[F_BOUNDS].missing);
	if (loss->label != DPERM_LABEL_NUMBER && (p->seen & BIT(F_BOUNDS)))
		return fail(p, "bounds are not expected");
	if (loss->label == DPERM_LABEL_SEVERAL && !(p->seen & BIT(F_CLASSES)))
		return fail(p, fields[F_CLASSES].missing);
	if (loss->label == DPERM_LABEL_NUMBER && (p->seen & BIT(F_CLASSES)))
		return fail(p, "classes are not expected");
	if (loss->label == DPERM_LABEL_TWO && (p->seen & BIT(F_CLASSES)))
	{
		/* the names of two, which share their weights */
		if (m->loss.classes != 2)
			return fail(p, "there must be two classes with this loss");
		m->loss.classes = 0;
	}
	if ((p->seen & BIT(F_KIND)) && p->says_learner != loss->learner)
		return fail(p, "kind and loss contradict each other");
	if ((p->seen & BIT(F_PRIVATE)) && p->says_private == (bool) isinf(m->claim.epsilon))
		return fail(p, "private and epsilon contradict each other");
	if ((p->seen & (BIT(F_NOISE) | BIT(F_NOISE_GROUPS))) && p->says_shaped != (p->noise != NULL))
		return fail(p, "noise and noise_groups contradict each other");
	if (fault)
		return fail(p, fault);
	dim = dperm_encoder_dim(&m->encoder);
	if ((p->seen & BIT(F_DIMENSION)) && p->says_dimension != dim)
		return fail(p, "dimension does not match the features");
	if (p->weights.arrays != m->loss.classes)
		return fail(p, "there must be an array of weights for each class, if there are several");
	if (p->weights.count != dim)
		return fail(p, DPERM_MODEL_UNEVEN);
	if ((p->seen & BIT(F_LEDGER)) && m->entry == 0)
		return fail(p, "the entry of the ledger is out of range");
	return true;
}

/* Read the text form, trusting none of it. */
DpermStatus
dperm_model_parse(const char *in, size_t len, DpermArena *arena, DpermModel *out,
					  const char **why)
{
	Parser		p;

	memset(&p, 0, sizeof(p));
	p.arena = arena;
	*why = NULL;

	if (!check_format(&p, in, len) || !read_members(&p, in, len) || !check_agreement(&p))
	{
		*why = p.why ? p.why : p.json.why;
		return DPERM_BAD_FORMAT;
	}
	if (p.noise)
		dperm_noise_measure(dperm_model_law(&p.model), p.noise);
	p.model.noise = p.noise;
	p.model.weights = p.weights.numbers;
	if (dperm_model_check(&p.model, why) != DPERM_OK)
		return DPERM_BAD_FORMAT;
	*out = p.model;
	return DPERM_OK;
}
