/*
 * predict.c: dp_predict, dp_predict_prob, dp_predict_class, dp_predict_probs,
 * dp_predict_value, dp_decision.
 *
 * The features are declared "any", so that no call is ambiguous.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/base.h"
#include "column/column.h"
#include "core/loss/loss.h"
#include "core/model/model.h"

PG_FUNCTION_INFO_V1(dp_predict);
PG_FUNCTION_INFO_V1(dp_predict_prob);
PG_FUNCTION_INFO_V1(dp_predict_class);
PG_FUNCTION_INFO_V1(dp_predict_probs);
PG_FUNCTION_INFO_V1(dp_predict_value);
PG_FUNCTION_INFO_V1(dp_decision);

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
	if (dperm_model_label(model) == DPERM_LABEL_TWO &&
		!dperm_loss_entry((int) model->loss.kind)->probability)
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
