/*
 * sample_model.h: valid models, for tests and as seeds for fuzzing.
 */
#ifndef DPERM_SAMPLE_MODEL_H
#define DPERM_SAMPLE_MODEL_H

#include "core/base/core.h"
#include "unit/sample_encoder.h"

#include "core/model/model.h"
#include "core/privacy/counts.h"

#define SAMPLE_TUNING 1024
#define SAMPLE_CLASSES 6

/* What a sampled model points to. */
typedef struct SampleModel
{
	SampleEncoder encoder;
	double		weights[SAMPLE_CLASSES * SAMPLE_DIM_MAX];
	char		tuning[SAMPLE_TUNING];
} SampleModel;

/*
 * A model of two weights, valid in every respect; tests break one thing at a
 * time.
 */
static const double plain_weights[2] = {0.25, -1.5};
static const DpermBlock plain_block = {.kind = DPERM_BLOCK_VECTOR, .count = 1, .norm = 1.0};

static inline DpermModel
plain_model(void)
{
	DpermModel	m;

	memset(&m, 0, sizeof(m));
	m.loss.kind = DPERM_LOSS_LOGISTIC;
	m.claim.epsilon = 1.0;
	m.lambda = 0.01;
	m.lambda_effective = 0.02;
	m.rows = 1000;
	m.encoder.block_count = 1;
	m.encoder.blocks = &plain_block;
	m.encoder.intercept = true;
	m.claim.shares[DPERM_SHARE_SLACK] = 0.0625;
	m.claim.shares[DPERM_SHARE_NOISE] = 0.875;
	m.claim.shares[DPERM_SHARE_RELEASE] = 0.0625;
	m.noise_scale = 2.5;
	m.grid = 0x1p-40;
	m.release_scale = 12345;
	m.weights = plain_weights;
	return m;
}

/* A model of three classes, with two weights each. */
static const double several_weights[6] = {0.25, -1.5, 0, 3, 0.5, 1};

static inline DpermModel
several_model(void)
{
	DpermModel	m = plain_model();

	m.loss = (DpermLoss) {.kind = DPERM_LOSS_SOFTMAX, .classes = 3};
	m.classes = (DpermText) {"no\0yes\0who \"knows\"?", 20};
	m.weights = several_weights;
	return m;
}

/* A model of two classes that have names. */
static inline DpermModel
named_model(void)
{
	DpermModel	m = plain_model();

	m.classes = (DpermText) {"no\0yes", 7};
	return m;
}

/* Are the groups the same, and what follows from them? */
static inline bool
same_noise(const DpermNoise *a, const DpermNoise *b)
{
	bool		same = (a == NULL) == (b == NULL);

	if (!same || a == NULL)
		return same;
	same = a->group_count == b->group_count && a->shape_count == b->shape_count && a->spread == b->spread;
	for (int i = 0; same && i < a->group_count; i++)
		same = a->groups[i].first == b->groups[i].first && a->groups[i].count == b->groups[i].count &&
			a->groups[i].dim == b->groups[i].dim && a->groups[i].share == b->groups[i].share;
	for (int i = 0; same && i < a->shape_count; i++)
		same = a->shapes[i].kind == b->shapes[i].kind && a->shapes[i].first == b->shapes[i].first &&
			a->shapes[i].count == b->shapes[i].count && a->shapes[i].radius == b->shapes[i].radius;
	return same;
}

/*
 * Are all fields equal, weights and all? Doubles by value, so that 0 equals -0.
 */
static inline bool
same_model(const DpermModel *a, const DpermModel *b)
{
	bool		same = a->loss.kind == b->loss.kind && a->loss.h == b->loss.h && a->loss.classes == b->loss.classes &&
		same_text(&a->classes, &b->classes) &&
		a->method == b->method && a->analysis == b->analysis && a->claim.epsilon == b->claim.epsilon &&
		a->claim.delta == b->claim.delta && a->claim.neighbours == b->claim.neighbours && a->claim.unit == b->claim.unit &&
		a->lambda == b->lambda && a->lambda_effective == b->lambda_effective &&
		a->rows == b->rows && same_encoder(&a->encoder, &b->encoder) &&
		a->claim.shares[DPERM_SHARE_SLACK] == b->claim.shares[DPERM_SHARE_SLACK] &&
		a->claim.shares[DPERM_SHARE_NOISE] == b->claim.shares[DPERM_SHARE_NOISE] && a->claim.shares[DPERM_SHARE_RELEASE] == b->claim.shares[DPERM_SHARE_RELEASE] &&
		a->noise_scale == b->noise_scale && a->grid == b->grid &&
		a->release_scale == b->release_scale && same_text(&a->tuning, &b->tuning) && same_text(&a->prior, &b->prior) && same_text(&a->budget, &b->budget) && same_text(&a->source, &b->source) && a->entry == b->entry &&
		same_text(&a->label, &b->label) && a->has_positive == b->has_positive && same_text(&a->positive, &b->positive) &&
		a->label_low == b->label_low && a->label_high == b->label_high;

	for (int i = 0; same && i < dperm_model_weights(a); i++)
		same = a->weights[i] == b->weights[i];
	return same && same_noise(a->noise, b->noise);
}

/* A weight: on the release grid, zero, tiny, or any finite double. */
static inline double
sample_weight(TestRandom *state)
{
	switch (test_below(state, 4))
	{
		case 0:
			return (double) (test_below(state, 2000001) - 1000000) * 0x1p-40;
		case 1:
			return test_below(state, 2) ? 0.0 : -0.0;
		case 2:
			return (test_uniform(state) - 0.5) * 1e-310;
		default:
			return sample_finite(state);
	}
}

/*
 * A candidate of a tuning: what users write, and odd JSON that a reader must
 * handle.
 */
static inline const char *
sample_candidate(TestRandom *state)
{
	static const char *const candidates[] = {
		"{\"lambda\": 0.01}",
		"{}",
		"{\"lambda\":1e-5,\"kernel\":\"gaussian\" , \"gamma\": 2}",
		"{\"a\": null, \"b\": true, \"c\": \"\", \"a\": -0.0}",
		"{\"\\\"}]\\\\\": \"\\u0041\\n{[\"}",
		"{ \"lambda\" :\t0.000000000000000000000000000000000001\n}"
	};

	return candidates[test_below(state, 6)];
}

/* How a model of so many rows or persons was tuned, the keys in any order. */
static inline DpermText
sample_tuning(TestRandom *state, DpermUnit unit, int64_t rows, char *room)
{
	int			count = 1 + test_below(state, 5);
	int			keys = 6;
	int			first = test_below(state, keys);
	int			len = 0;

	for (int k = 0; k < keys; k++)
	{
		len += sprintf(room + len, "%s", k == 0 ? "{" : test_below(state, 2) ? ", " : ",");
		switch ((first + k) % keys)
		{
			case 0:
				len += sprintf(room + len, "\"way\": \"private\"");
				break;
			case 1:
				len += sprintf(room + len, "\"candidates\": [");
				for (int i = 0; i < count; i++)
					len += sprintf(room + len, "%s%s", i ? ", " : "", sample_candidate(state));
				len += sprintf(room + len, "]");
				break;
			case 2:
				len += sprintf(room + len, "\"selection\": \"%s\"", test_below(state, 2) ?
							   "exponential" : "permute_and_flip");
				break;
			case 3:
				len += sprintf(room + len, "\"chosen\": %s", sample_candidate(state));
				break;
			case 4:
				len += sprintf(room + len, "\"%s\": %lld", unit == DPERM_UNIT_PERSON ? "persons" : "rows", (long long)
							   (rows + (DPERM_ROWS_MAX - rows) / (1 + test_below(state, 1000))));
				break;
			default:
				len += sprintf(room + len, "\"portions\": %d", count + 1);
		}
	}
	len += sprintf(room + len, "}");
	return (DpermText) {room, len};
}

/* The noise of a law that fits an encoder. */
static inline const DpermNoise *
sample_noise(DpermNoiseLaw law, const DpermEncoder *encoder)
{
	static DpermShape shapes[SAMPLE_DIM_MAX + 1];

	return dperm_noise_plan(law, shapes, dperm_shape_list(encoder, false, shapes));
}

/* A valid model, which points into room. A third of them are tuned. */
static inline DpermModel
sample_model(TestRandom *state, SampleModel *room)
{
	DpermModel	m;

	memset(&m, 0, sizeof(m));
	m.loss.kind = (DpermLossKind) test_below(state, DPERM_LOSS_COUNT);
	if (dperm_loss_entry((int) m.loss.kind)->label == DPERM_LABEL_SEVERAL)
	{
		/* any order, one of them empty */
		static const char values[] = "a\0\0b \"c\"\0\\\n\0\xc3\xa4\0A";

		m.loss.classes = 3 + test_below(state, SAMPLE_CLASSES - 2);
		m.classes = (DpermText) {values, 0};
		for (int i = 0; i < m.loss.classes; i++)
			m.classes.len += (int) strlen(values + m.classes.len) + 1;
	}
	if (dperm_loss_entry((int) m.loss.kind)->label == DPERM_LABEL_TWO && test_below(state, 2))
		m.classes = test_below(state, 2) ? (DpermText) {"no\0yes", 7} : (DpermText) {"\0\"\\\xc3\xa4", 6};
	if (dperm_loss_entry((int) m.loss.kind)->h_min > 0)
		m.loss.h = DPERM_H_MIN_LOG_COSH + test_uniform(state) * (DPERM_H_MAX - DPERM_H_MIN_LOG_COSH);
	if (dperm_loss_entry((int) m.loss.kind)->label == DPERM_LABEL_NUMBER)
	{
		m.label_low = -test_uniform(state);
		m.label_high = test_uniform(state);
	}
	m.method = (DpermMethod) test_below(state, 2);
	m.analysis = (DpermAnalysis) test_below(state, 2);
	m.claim.epsilon = test_below(state, 4) == 0 ? INFINITY : sample_positive(state);
	m.claim.neighbours = (DpermNeighbours) test_below(state, 2);
	m.claim.unit = (DpermUnit) test_below(state, 2);
	if (!isinf(m.claim.epsilon) && test_below(state, 2))
		m.claim.delta = pow(10, -15 * test_uniform(state)) * (1 - 0x1p-53);
	if (m.claim.delta < DPERM_DELTA_MIN)
		m.claim.delta = 0;
	if (m.claim.delta > 0 || m.claim.unit == DPERM_UNIT_PERSON)
		m.analysis = DPERM_ANALYSIS_SHARP;
	m.lambda = test_below(state, 4) == 0 ? 0.0 : sample_positive(state);
	m.lambda_effective = m.lambda + (test_below(state, 2) ? sample_positive(state) : 0.0);
	if (m.lambda_effective == 0.0)
		m.lambda_effective = 1e-3;
	m.rows = 1 + (int64_t) (test_random(state) % (uint64_t) DPERM_ROWS_MAX);
	m.encoder = *sample_encoder(state, &room->encoder);
	if (!isinf(m.claim.epsilon))
	{
		m.claim.shares[DPERM_SHARE_RELEASE] = 0.01 * m.claim.epsilon;
		m.claim.shares[DPERM_SHARE_SLACK] = m.method == DPERM_METHOD_OUTPUT ? 0.0 : 0.1 * m.claim.epsilon;
		m.claim.shares[DPERM_SHARE_NOISE] = (m.claim.epsilon - m.claim.shares[DPERM_SHARE_SLACK]) - m.claim.shares[DPERM_SHARE_RELEASE];
		m.noise_scale = 2.0 / m.claim.shares[DPERM_SHARE_NOISE];
		m.grid = ldexp(1.0, -test_below(state, 80));
		m.release_scale = (int64_t) (test_random(state) >> (1 + test_below(state, 60))) + 1;
		if (m.release_scale < 1)
			m.release_scale = INT64_MAX;
	}
	if (!isinf(m.claim.epsilon) && m.method == DPERM_METHOD_OBJECTIVE && m.analysis == DPERM_ANALYSIS_SHARP &&
		test_below(state, 2))
		m.noise = sample_noise(dperm_model_law(&m), &m.encoder);
	for (int i = 0; i < dperm_model_weights(&m); i++)
		room->weights[i] = sample_weight(state);
	m.weights = room->weights;
	if (test_below(state, 2))
		m.source = sample_literal("ward.\"the source\"");
	if (test_below(state, 2))
		m.label = sample_literal("the \"label\"");
	m.has_positive = dperm_loss_entry((int) m.loss.kind)->label == DPERM_LABEL_TWO && test_below(state, 2);
	if (m.has_positive && test_below(state, 3))
		m.positive = sample_literal("yes");
	if (test_below(state, 3) == 0)
		m.tuning = sample_tuning(state, m.claim.unit, m.rows, room->tuning);
	if (test_below(state, 3) == 0)
		m.prior = sample_literal(test_below(state, 2) ?
								 "{\"norm\": 0.5, \"private\": true, \"epsilon\": 2, \"delta\": 0, \"neighbours\": \"replace\", "
								 "\"unit\": \"row\", \"source\": \"ward.\\\"t\\\"\", \"ledger\": {\"budget\": \"b\", \"entry\": 3}}" :
								 "{\"unit\": \"person\", \"neighbours\": \"remove\", \"delta\": 0, \"epsilon\": \"Infinity\", "
								 "\"private\": false, \"norm\": 1e6}");
	if (!isinf(m.claim.epsilon) && test_below(state, 2))
	{
		m.budget = sample_literal("the \"budget\"");
		m.entry = 1 + (int64_t) (test_random(state) >> (1 + test_below(state, 62)));
		if (m.entry < 1)
			m.entry = INT64_MAX;
	}
	return m;
}

#endif							/* DPERM_SAMPLE_MODEL_H */
