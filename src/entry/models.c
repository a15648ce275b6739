/*
 * models.c: functions of models, which everybody may know: predictions; what a model
 * consists of; and what several releases cost together. Plain.
 *
 * dp_coefficients has its weights by column, and how much of each may be noise; dp_curve
 * what a number adds to the decision, by its value; dp_explain what each column adds to
 * the decision on a row. Features are declared "any", so that no call is ambiguous.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "base/base.h"
#include "column/column.h"
#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/model/model.h"
#include "core/privacy/composition.h"

PG_FUNCTION_INFO_V1(dp_predict);
PG_FUNCTION_INFO_V1(dp_predict_prob);
PG_FUNCTION_INFO_V1(dp_predict_class);
PG_FUNCTION_INFO_V1(dp_predict_probs);
PG_FUNCTION_INFO_V1(dp_predict_value);
PG_FUNCTION_INFO_V1(dp_decision);
PG_FUNCTION_INFO_V1(dp_coefficients);
PG_FUNCTION_INFO_V1(dp_curve);
PG_FUNCTION_INFO_V1(dp_explain);
PG_FUNCTION_INFO_V1(dperm_compose_step);
PG_FUNCTION_INFO_V1(dperm_compose_final);

/* ---------------------------------------------------------- predictions */

/* Raise an error for a model whose label is of another kind than is wanted. */
static _Noreturn void
refuse_kind(DpermLabelKind kind, DpermLabelKind wanted)
{
	static const char *const hints[] = {
		[DPERM_LABEL_TWO] = "Use dp_predict().",
		[DPERM_LABEL_NUMBER] = "Use dp_predict_value().",
		[DPERM_LABEL_SEVERAL] = "Use dp_predict_class() or dp_predict_probs()."
	};

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 kind == DPERM_LABEL_NUMBER ? errmsg("the model predicts a number, not a class") :
			 wanted == DPERM_LABEL_NUMBER ? errmsg("the model predicts a class, not a number") :
			 errmsg("the model has several classes"),
			 errhint("%s", hints[kind])));
}

/*
 * The model of a call, whose label is of this kind, and its decision on a row; the
 * result of the call is NULL if the row says nothing.
 */
static inline const DpermModel *
decide(FunctionCallInfo fcinfo, DpermLabelKind kind, double *decision)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	const DpermModel *model = dperm_scorer_scored(scorer)->model;

	if (dperm_model_label(model) != kind)
		refuse_kind(dperm_model_label(model), kind);
	*decision = 0;
	fcinfo->isnull = !dperm_scorer_decision(scorer, PG_GETARG_DATUM(1), decision);
	return model;
}

/* The scorer of a call whose model knows the names of its classes. */
static inline DpermScorer *
named_scorer(FunctionCallInfo fcinfo)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	const DpermModel *model = dperm_scorer_scored(scorer)->model;

	if (dperm_model_label(model) == DPERM_LABEL_NUMBER)
		refuse_kind(DPERM_LABEL_NUMBER, DPERM_LABEL_SEVERAL);
	if (dperm_model_names(model) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the model does not know the names of its two classes"),
				 errhint("Use dp_predict(), or train with a label whose domain lists both, as in "
						 "domains => '{\"y\": [\"no\", \"yes\"]}', positive => 'yes'.")));
	return scorer;
}

/* Raise an error for a model that has no probabilities. */
static void
check_probability(const DpermModel *model)
{
	if (dperm_loss_entry((int) model->loss.kind)->learner == DPERM_LEARNER_SVM)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a support vector machine does not give probabilities"),
				 errhint("Use dp_decision() or dp_predict().")));
}

/*
 * What a row says for each class: a score; of two classes the positive one has
 * the decision, and the other its opposite. NULL if it says nothing.
 */
static double *
outputs_of(DpermScorer *scorer, Datum features)
{
	double	   *outputs;

	if (dperm_model_label(dperm_scorer_scored(scorer)->model) == DPERM_LABEL_SEVERAL)
		return dperm_scorer_outputs(scorer, features);
	outputs = palloc(sizeof(double) * 2);
	if (!dperm_scorer_decision(scorer, features, &outputs[1]))
		return NULL;
	outputs[0] = -outputs[1];
	return outputs;
}

/* The signed distance, up to scale; or a number, scaled and not yet clipped. */
Datum
dp_decision(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	double		decision;

	if (dperm_model_label(dperm_scorer_scored(scorer)->model) == DPERM_LABEL_SEVERAL)
		refuse_kind(DPERM_LABEL_SEVERAL, DPERM_LABEL_TWO);
	if (!dperm_scorer_decision(scorer, PG_GETARG_DATUM(1), &decision))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(decision);
}

/* The class: is the decision positive? */
Datum
dp_predict(PG_FUNCTION_ARGS)
{
	double		decision;

	(void) decide(fcinfo, DPERM_LABEL_TWO, &decision);
	PG_RETURN_BOOL(decision > 0);
}

/* The probability of the positive class, if the model has one. */
Datum
dp_predict_prob(PG_FUNCTION_ARGS)
{
	double		decision;

	check_probability(decide(fcinfo, DPERM_LABEL_TWO, &decision));
	PG_RETURN_FLOAT8(dperm_score_probability(decision));
}

/* The name of the class: the most probable one, or that of dp_predict. */
Datum
dp_predict_class(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = named_scorer(fcinfo);
	const DpermModel *model = dperm_scorer_scored(scorer)->model;
	double	   *outputs = outputs_of(scorer, PG_GETARG_DATUM(1));
	int			class;

	if (outputs == NULL)
		PG_RETURN_NULL();
	class = dperm_score_class(dperm_model_names(model), outputs);
	PG_RETURN_TEXT_P(cstring_to_text(dperm_label_class_name(model, class)));
}

/* The probabilities of all classes, in their order; none if a row says nothing. */
Datum
dp_predict_probs(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = named_scorer(fcinfo);
	const DpermModel *model = dperm_scorer_scored(scorer)->model;
	double	   *outputs;
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);

	check_probability(model);
	outputs = outputs_of(scorer, PG_GETARG_DATUM(1));
	if (outputs == NULL)
		return (Datum) 0;
	if (model->loss.classes > 0)
		dperm_score_probabilities(model->loss.classes, outputs);
	for (int i = 0; i < dperm_model_names(model); i++)
	{
		double		probability =
			model->loss.classes > 0 ? outputs[i] : dperm_score_probability(outputs[i]);

		dperm_host_put_row(store, desc, (NullableDatum[]) {
			dperm_host_text(dperm_label_class_name(model, i + 1)),
			{Float8GetDatum(probability)}
		});
	}
	return (Datum) 0;
}

/* The number: the decision, mapped to the bounds of the label. */
Datum
dp_predict_value(PG_FUNCTION_ARGS)
{
	double		decision;
	const DpermModel *model = decide(fcinfo, DPERM_LABEL_NUMBER, &decision);

	PG_RETURN_FLOAT8(dperm_score_value(decision, model->label_low, model->label_high));
}

/* --------------------------------------------------------- explanations */

/* A weight or a score, and its place in a list. */
typedef struct Ranked
{
	int			number;			/* of a coordinate or a block */
	bool		intercept;		/* comes last */
	double		value;
	double		strength;		/* the largest comes first */
} Ranked;

/* For qsort. */
static int
compare_ranked(const void *a, const void *b)
{
	const Ranked *first = a;
	const Ranked *second = b;

	if (first->intercept != second->intercept)
		return first->intercept - second->intercept;
	if (first->strength != second->strength)
		return first->strength > second->strength ? -1 : 1;
	return first->number - second->number;
}

/* The class that an argument names, as label.c says. */
static int
class_argument(FunctionCallInfo fcinfo, int i, const DpermModel *model)
{
	return dperm_label_choose_class(model, PG_ARGISNULL(i) ? NULL :
							  text_to_cstring(PG_GETARG_TEXT_PP(i)));
}

/* The noise of each weight of a class; is it exact? */
static const double *
class_noise(const DpermModel *model, int class, bool *exact)
{
	double	   *noise = palloc(sizeof(double) * dperm_model_weights(model));

	*exact = dperm_model_weight_noise(model, noise);
	return noise + (dperm_model_class(model, class) - model->weights);
}

/* What a coordinate stands for within its block; NULL if it is all of it. */
static char *
name_within(const DpermBlock *block, int within)
{
	if (block->each > 0)
	{
		int			element = within / block->each;
		DpermBlock	line = dperm_block_element(block, element);

		return psprintf("[%d] %s", element + 1, dperm_column_shown(
							&line, dperm_encoder_knot(&line, within % block->each)));
	}
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return pnstrdup(block->categories[within].bytes, block->categories[within].len);
	if (dperm_block_knots(block) > 1)
		return dperm_column_shown(block, dperm_encoder_knot(block, within));
	return block->kind == DPERM_BLOCK_VECTOR || block->kind == DPERM_BLOCK_BOX ?
		psprintf("[%d]", within + 1) : NULL;
}

/* The name of a column; NULL if it has none. */
static NullableDatum
column_name(const DpermBlock *block)
{
	return dperm_host_text(block->column.len == 0 ? NULL :
						   pnstrdup(block->column.bytes, block->column.len));
}

/* What a weight is multiplied by at most, in units of the label. */
static double
full_entry(const DpermModel *model, const DpermBlock *block)
{
	double		target = dperm_encoder_target(&model->encoder);

	return dperm_model_unit(model) * (block ? dperm_encoder_most(block, target) : target);
}

/*
 * dp_coefficients(model, class): a row for each coordinate, see sql/parts; those
 * that stand out most from their noise come first.
 */
Datum
dp_coefficients(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	DpermModel *model;
	int			dim;
	int			class;
	const double *weights;
	const double *noise;
	bool		exact;
	Ranked	   *ranked;

	model = dperm_model_type_required(fcinfo);
	dim = dperm_encoder_dim(&model->encoder);
	class = class_argument(fcinfo, 1, model);
	weights = dperm_model_class(model, class);
	noise = class_noise(model, class, &exact);
	ranked = palloc(sizeof(Ranked) * dim);
	for (int i = 0; i < dim; i++)
		ranked[i] = (Ranked) {
			.number = i,
			.intercept = model->encoder.intercept && i == dim - 1,
			.value = weights[i],
			.strength = fabs(weights[i]) / (noise[i] > 0 ? noise[i] : 1)
		};
	qsort(ranked, dim, sizeof(Ranked), compare_ranked);
	for (int i = 0; i < dim; i++)
	{
		int			number = ranked[i].number;
		int			within = number;
		const DpermBlock *block = dperm_encoder_block(&model->encoder, &within);
		bool		intercept = ranked[i].intercept;
		bool		kernel = !block && !intercept;	/* which combines all columns */
		double		full = full_entry(model, block);

		dperm_host_put_row(store, desc, (NullableDatum[]) {
			{Int32GetDatum(number + 1)},
			block ? column_name(block) : dperm_host_text(NULL),
			dperm_host_text(intercept ? "intercept" :
							kernel ? psprintf("kernel feature %d", number + 1) :
							name_within(block, within)),
			{Float8GetDatum(weights[number])},
			{Float8GetDatum(noise[number])},
			dperm_host_text(exact ? "exact" : "bound"),
			{BoolGetDatum(fabs(weights[number]) > DPERM_MODEL_STANDS_OUT * noise[number])},
			{Float8GetDatum(full * weights[number] +
							(intercept ? dperm_model_centre(model) : 0)), kernel},
			{Float8GetDatum(full * noise[number]), kernel}
		});
	}
	return (Datum) 0;
}

/* A column of numbers, or an element of a vector of numbers. */
typedef struct Curve
{
	DpermBlock	line;
	int			first;			/* its first weight */
	double		target;			/* what a weight is multiplied by at most */
} Curve;

/* Raise an error for a column that is neither a number nor a time. */
static void
check_number(const DpermBlock *block, const char *name)
{
	if (!dperm_block_is_number(block))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is a %s, which has no curve", name,
						dperm_encoder_kind_name(block->kind)),
				 block->kind == DPERM_BLOCK_BOX ?
				 errhint("Its elements have curves, such as \"%s[1]\".", name) :
				 errhint("dp_coefficients lists its weights.")));
}

/* Find a column, or an element with bounds: x[3]. */
static Curve
find_curve(const DpermEncoder *encoder, const char *name)
{
	double		target = dperm_encoder_target(encoder);
	Curve		found = {.first = -1};

	for (int i = 0, first = 0; i < encoder->block_count; first += encoder->blocks[i++].count)
	{
		const DpermBlock *block = &encoder->blocks[i];
		const char *rest;
		int			number;

		if (strncmp(name, block->column.bytes, block->column.len) != 0)
			continue;
		rest = name + block->column.len;
		if (*rest == '\0')
		{
			check_number(block, name);
			return (Curve) {*block, first, target};
		}
		number = *rest == '[' && block->kind == DPERM_BLOCK_BOX ? atoi(rest + 1) : 0;
		if (number >= 1 && number <= dperm_block_elements(block) &&
			strcmp(rest, psprintf("[%d]", number)) == 0)
		{
			found.line = dperm_block_element(block, number - 1);
			found.first = first + (number - 1) * found.line.count;
			found.target = dperm_encoder_most(block, target);
		}
	}
	if (found.first < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the model has no column \"%s\"", name),
				 errhint("dp_coefficients lists its columns.")));
	return found;
}

/* What a number adds in the middle of its range, as a multiple of the target. */
static double
middle_of(const DpermBlock *line, const double *weights)
{
	DpermValue	middle = {.present = true, .number = dperm_encoder_even(line, 1, 2)};
	double		entry;
	int			place;

	if (line->count == 1)
		return 0;
	place = dperm_knots_point(dperm_encoder_position(line, &middle, 0), line->count - 1, 1, &entry);
	return weights[place] * entry + weights[place + 1] * (1 - entry);
}

/*
 * dp_curve(model, column_name, class): what the column adds at each of its knots,
 * which is the weight of the knot, or at both ends of a straight line.
 */
Datum
dp_curve(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	const DpermModel *model;
	const char *column;
	Curve		curve;
	int			class;
	const double *weights;
	const double *noise;
	bool		exact;
	double		unit;			/* of the label, for a weight of 1 */

	model = dperm_model_type_required(fcinfo);
	column = dperm_arguments_required_text(fcinfo, "column_name",
										   "dp_coefficients lists the columns.");
	class = class_argument(fcinfo, 2, model);
	if (model->encoder.kernel.kind != DPERM_KERNEL_LINEAR)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the decision of a model with a kernel is not a sum over columns"),
				 errhint("Train without a kernel to see what each column adds.")));
	curve = find_curve(&model->encoder, column);
	weights = dperm_model_class(model, class) + curve.first;
	noise = class_noise(model, class, &exact) + curve.first;
	unit = dperm_model_unit(model) * curve.target;
	for (int i = 0; i < Max(curve.line.count, 2); i++)
	{
		bool		is_line = curve.line.count == 1;
		int			at = is_line ? 0 : i;
		double		weight = is_line && i == 0 ? -weights[at] : weights[at];
		double		value = !is_line ? dperm_encoder_knot(&curve.line, i) :
			i == 0 ? curve.line.low : curve.line.high;

		dperm_host_put_row(store, desc, (NullableDatum[]) {
			dperm_host_text(dperm_column_shown(&curve.line, value)),
			{Float8GetDatum(unit * weight)},
			{Float8GetDatum(unit * noise[at])},
			{Float8GetDatum(exp(unit * (weight - middle_of(&curve.line, weights)))),
			model->loss.kind != DPERM_LOSS_LOGISTIC},
			{Float8GetDatum(dperm_block_scaled(&curve.line, value))}
		});
	}
	return (Datum) 0;
}

/*
 * dp_explain(model, features, class): (column_name, value, score), the
 * largest first. No rows if the model or the features are NULL.
 */
Datum
dp_explain(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	DpermScorer *scorer;
	const DpermModel *model;
	const DpermEncoder *encoder;
	const double *sums;
	Ranked	   *ranked;
	int			count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	model = dperm_scorer_scored(scorer)->model;
	encoder = &dperm_scorer_scored(scorer)->encoder;
	sums = dperm_scorer_terms(scorer, PG_GETARG_DATUM(1), class_argument(fcinfo, 2, model));
	/* a number is never without an intercept: the centre of its bounds */
	count = encoder->block_count +
		(encoder->intercept || dperm_model_label(model) == DPERM_LABEL_NUMBER);
	ranked = palloc(sizeof(Ranked) * count);
	for (int i = 0; i < count; i++)
	{
		bool		last = i == encoder->block_count;
		double		sum = !last || encoder->intercept ? sums[i] : 0;
		double		value = dperm_model_unit(model) * sum + (last ? dperm_model_centre(model) : 0);

		ranked[i] = (Ranked) {i, last, value, fabs(value)};
	}
	qsort(ranked, count, sizeof(Ranked), compare_ranked);
	for (int i = 0; i < count; i++)
	{
		int			number = ranked[i].number;
		bool		last = ranked[i].intercept;

		dperm_host_put_row(store, desc, (NullableDatum[]) {
			last ? dperm_host_text(NULL) : column_name(&encoder->blocks[number]),
			dperm_host_text(last ? "intercept" : dperm_scorer_value(scorer, number)),
			{Float8GetDatum(ranked[i].value)}
		});
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------- composition */

/* The state of one group. */
typedef struct ComposeState
{
	double		delta;			/* the same for all rows */
	int64		exposed;		/* models with a prior that is not private, or one behind it */
	DpermComposition sums;
} ComposeState;

/* Arguments of the transition function behind the state. */
enum
{
	ARG_RELEASE = 1,
	ARG_DELTA
};

/*
 * The state, with a delta that is the same for all rows; NULL if there is none and
 * this row adds nothing.
 */
static ComposeState *
open_state(FunctionCallInfo fcinfo)
{
	ComposeState *state = PG_ARGISNULL(0) ? NULL : (ComposeState *) PG_GETARG_POINTER(0);
	double		delta =
		PG_NARGS() > ARG_DELTA && !PG_ARGISNULL(ARG_DELTA) ? PG_GETARG_FLOAT8(ARG_DELTA) : 0;
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (!(delta == 0 || (delta >= DPERM_DELTA_MIN && delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0, or at least %g and less than 1", DPERM_DELTA_MIN),
				 errhint("delta should be much smaller than 1 divided by the number of rows; with "
						 "0, epsilons and deltas are added up.")));
	if (state && state->delta != delta)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be the same for all rows of a group"),
				 errhint("It is what all releases may spend together.")));
	if (state == NULL && !PG_ARGISNULL(ARG_RELEASE))
	{
		state = MemoryContextAllocZero(context, sizeof(ComposeState));
		state->delta = delta;
	}
	return state;
}

/* Add a release to the state; raises an error for one that cannot be composed. */
static void
add_release(ComposeState *state, DpermRelease release)
{
	static const struct
	{
		const char *message;
		const char *hint;
	}			faults[] = {
		[DPERM_COMPOSITION_NOT_PRIVATE] = {
			"cannot compose a release that is not private",
			"A model that was trained with epsilon => 'Infinity' protects nothing, and neither "
			"does anything that is released with it."
		},
		[DPERM_COMPOSITION_OUT_OF_RANGE] = {
			"epsilon or delta of a claim is out of range",
			"epsilon must be positive and at most 1e9, and delta at least 0 and less than 1."
		},
		[DPERM_COMPOSITION_NEIGHBOURS] = {
			"cannot compose releases with different neighbours",
			"An epsilon for 'replace' and one for 'remove' do not add up. Group by the "
			"neighbours, or train with the same ones."
		},
		[DPERM_COMPOSITION_UNITS] = {
			"cannot compose releases with different units of privacy",
			"Group by the unit."
		}
	};
	DpermCompositionFault fault = dperm_composition_add(&state->sums, &release);

	StaticAssertStmt(DPERM_COMPOSITION_EPSILON_MAX == 1e9, "the hint names the limit");
	if (fault != DPERM_COMPOSITION_FITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_internal("%s", faults[fault].message),
				 errhint("%s", faults[fault].hint)));
}

/* Add a model, which may reveal rows of a prior that is not private. */
static void
add_model(ComposeState *state, Datum value)
{
	DpermModel *model = dperm_model_type_open(value);

	add_release(state, dperm_model_release(model));
	if (!dperm_model_prior_is_private(model))
		state->exposed++;
}

/* A claim about a release other than a model. */
static DpermRelease
read_claim(Jsonb *json)
{
	DpermCodec	c = {.form = DPERM_CODEC_READ_JSON, .root = dperm_host_tree(json)};
	DpermClaim	claim = {.neighbours = DPERM_NEIGHBOURS_REPLACE, .unit = DPERM_UNIT_ROW};

	dperm_codec_object(&c, NULL);
	dperm_model_claim(&c, &claim);
	dperm_codec_end(&c);
	if (c.why)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid claim: %s", c.why),
				 errhint("A claim is an object such as {\"epsilon\": 0.1, \"delta\": 0, "
						 "\"neighbours\": \"replace\", \"unit\": \"row\"}, or a model as "
						 "jsonb.")));
	return (DpermRelease) {
		.neighbours = claim.neighbours,
		.unit = claim.unit,
		.epsilon = claim.epsilon,
		.delta = claim.delta,
		.curve = claim.delta == 0 ? DPERM_CURVE_PURE : DPERM_CURVE_NONE
	};
}

/* Transition: (internal, dp_model or jsonb [, delta]); what has a format is a model. */
Datum
dperm_compose_step(PG_FUNCTION_ARGS)
{
	ComposeState *state = open_state(fcinfo);

	if (PG_ARGISNULL(ARG_RELEASE))
		fcinfo->isnull = state == NULL;
	else if (get_fn_expr_argtype(fcinfo->flinfo, ARG_RELEASE) != JSONBOID)
		add_model(state, PG_GETARG_DATUM(ARG_RELEASE));
	else
	{
		Jsonb	   *claim = PG_GETARG_JSONB_P(ARG_RELEASE);

		if (JB_ROOT_IS_OBJECT(claim) &&
			getKeyJsonValueFromContainer(&claim->root, "format", strlen("format"), NULL))
			add_model(state, dperm_model_type_accept(NULL, dperm_host_tree(claim)));
		else
			add_release(state, read_claim(claim));
	}
	return PointerGetDatum(state);
}

/* The total, as jsonb. */
static Datum
describe(const ComposeState *state, const DpermComposed *total)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text,
					 "{\"epsilon\": %s, \"delta\": %s, "
					 "\"releases\": " INT64_FORMAT ", \"by\": \"%s\"",
					 double_to_shortest_decimal(total->epsilon),
					 double_to_shortest_decimal(total->delta),
					 dperm_composition_releases(&state->sums), total->order > 0 ? "renyi" : "sum");
	if (total->order > 0)
		appendStringInfo(&text, ", \"order\": %.4g, "
								"\"summed\": " INT64_FORMAT, total->order, total->summed);
	if (state->exposed > 0)
		appendStringInfo(&text, ", \"not_private_priors\": " INT64_FORMAT, state->exposed);
	appendStringInfo(&text, ", \"neighbours\": \"%s\", \"unit\": \"%s\"}",
					 dperm_claim_neighbours_name(state->sums.neighbours),
					 dperm_claim_unit_name(state->sums.unit));
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data));
}

/* Final: the total. The state does not change, so it works for windows. */
Datum
dperm_compose_final(PG_FUNCTION_ARGS)
{
	ComposeState *state;
	DpermComposed total;
	bool		fits;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is nothing to compose"),
				 errhint("dp_compose needs at least one model or claim that is not NULL.")));
	state = (ComposeState *) PG_GETARG_POINTER(0);
	fits = dperm_composition_total(&state->sums, state->delta, &total);
	if (!fits || total.delta >= 1 || isinf(total.epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 fits ? errmsg("the releases protect nothing") :
				 errmsg("the releases spend more than a delta of %s",
						double_to_shortest_decimal(state->delta)),
				 !fits ? errdetail("Releases of which only epsilon and delta are known spend %.6g, "
								   "including the tails of the noise of all.", total.delta) :
				 total.delta >= 1 ? errdetail("Their deltas add up to %.6g.", total.delta) :
				 errdetail("Together they have an epsilon above 600."),
				 state->delta > 0 ?
				 errhint("Specify a larger delta, or omit it to add up epsilons and deltas.") : 0));
	PG_RETURN_DATUM(describe(state, &total));
}
