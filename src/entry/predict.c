/*
 * predict.c: dp_predict, dp_predict_prob, dp_predict_value, dp_decision.
 *
 * The features are declared "any", so that no call is ambiguous.
 */
#include "postgres.h"

#include "fmgr.h"

#include "column/scorer.h"
#include "core/loss/loss.h"
#include "core/model/score.h"

PG_FUNCTION_INFO_V1(dp_predict);
PG_FUNCTION_INFO_V1(dp_predict_prob);
PG_FUNCTION_INFO_V1(dp_predict_value);
PG_FUNCTION_INFO_V1(dp_decision);

/* Raise an error for a model whose label is of another kind. */
static _Noreturn void
refuse_kind(DpermLabelKind kind)
{
	bool		number = kind == DPERM_LABEL_NUMBER;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 number ? errmsg("the model predicts a number, not a class") :
					  errmsg("the model predicts a class, not a number"),
			 errhint(number ? "Use dp_predict_value()." : "Use dp_predict().")));
}

/* The scorer of a call whose model has a label of this kind. */
static inline DpermScorer *
scorer_for(FunctionCallInfo fcinfo, DpermLabelKind kind)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	DpermLabelKind own = dperm_model_label(dperm_scorer_model(scorer));

	if (own != kind)
		refuse_kind(own);
	return scorer;
}

/* The signed distance, up to scale; or a number, scaled and not yet clipped. */
Datum
dp_decision(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	double		decision;

	if (!dperm_scorer_decision(scorer, PG_GETARG_DATUM(1), &decision))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(decision);
}

/* The class: is the decision positive? */
Datum
dp_predict(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = scorer_for(fcinfo, DPERM_LABEL_TWO);
	double		decision;

	if (!dperm_scorer_decision(scorer, PG_GETARG_DATUM(1), &decision))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(decision > 0);
}

/* The probability of the positive class, if the model has one. */
Datum
dp_predict_prob(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = scorer_for(fcinfo, DPERM_LABEL_TWO);
	double		decision;

	if (!dperm_loss_entry((int) dperm_scorer_model(scorer)->loss.kind)->probability)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a support vector machine does not give probabilities"),
				 errhint("Use dp_decision() or dp_predict().")));
	if (!dperm_scorer_decision(scorer, PG_GETARG_DATUM(1), &decision))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dperm_score_probability(decision));
}

/* The number: the decision, mapped to the bounds of the label. */
Datum
dp_predict_value(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = scorer_for(fcinfo, DPERM_LABEL_NUMBER);
	const DpermModel *model = dperm_scorer_model(scorer);
	double		decision;

	if (!dperm_scorer_decision(scorer, PG_GETARG_DATUM(1), &decision))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dperm_score_value(decision, model->label_low, model->label_high));
}
