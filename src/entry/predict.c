/*
 * predict.c: dp_predict, dp_predict_prob, dp_decision.
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
PG_FUNCTION_INFO_V1(dp_decision);

/* w.x for the arguments (model, features); false if the row has no values. */
static bool
decide_call(FunctionCallInfo fcinfo, double *decision)
{
	return dperm_scorer_decision(dperm_scorer_get(fcinfo, dperm_scorer_open_model),
								 PG_GETARG_DATUM(1), decision);
}

/* The signed distance, up to scale. */
Datum
dp_decision(PG_FUNCTION_ARGS)
{
	double		decision;

	if (!decide_call(fcinfo, &decision))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(decision);
}

/* The class: is the decision positive? */
Datum
dp_predict(PG_FUNCTION_ARGS)
{
	double		decision;

	if (!decide_call(fcinfo, &decision))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(decision > 0);
}

/* The probability of the positive class, if the model has one. */
Datum
dp_predict_prob(PG_FUNCTION_ARGS)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
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
