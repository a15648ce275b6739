/*
 * compose.c: dp_compose, the aggregate for the total cost of several releases.
 *
 * The state is the sums of core/privacy/composition.h. It reads models and
 * claims, which are public, not rows of private tables.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "column/model_type.h"
#include "core/base/limits.h"
#include "core/model/model_release.h"
#include "core/model/prior.h"
#include "core/privacy/composition.h"

PG_FUNCTION_INFO_V1(dperm_compose_model_step);
PG_FUNCTION_INFO_V1(dperm_compose_claim_step);
PG_FUNCTION_INFO_V1(dperm_compose_final);

/* The cast, in model_type.c. */
extern PGDLLEXPORT Datum dperm_model_from_jsonb(PG_FUNCTION_ARGS);

/* The state of one group. */
typedef struct ComposeState
{
	double		delta;			/* the same for all rows */
	int64		exposed;		/* models with a prior that is not private, or one behind it */
	DpermComposition sums;
} ComposeState;

/* Arguments of the transition functions behind the state. */
enum
{
	ARG_RELEASE = 1,
	ARG_DELTA
};

/* The delta argument, checked. */
static double
checked_delta(FunctionCallInfo fcinfo)
{
	double		delta =
		PG_NARGS() > ARG_DELTA && !PG_ARGISNULL(ARG_DELTA) ? PG_GETARG_FLOAT8(ARG_DELTA) : 0;

	if (!(delta == 0 || (delta >= DPERM_DELTA_MIN && delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0, or at least %g and less than 1", DPERM_DELTA_MIN),
				 errhint("delta should be much smaller than 1 divided by the number of rows; with "
						 "0, epsilons and deltas are added up.")));
	return delta;
}

/* The memory of the state. */
static MemoryContext
compose_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/* The state, with a delta that is the same for all rows. */
static ComposeState *
open_state(FunctionCallInfo fcinfo, MemoryContext context)
{
	double		delta = checked_delta(fcinfo);
	ComposeState *state;

	if (!PG_ARGISNULL(0))
	{
		state = (ComposeState *) PG_GETARG_POINTER(0);
		if (state->delta != delta)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("delta must be the same for all rows of a group"),
					 errhint("It is what all releases may spend together.")));
		return state;
	}
	state = MemoryContextAllocZero(context, sizeof(ComposeState));
	state->delta = delta;
	return state;
}

/* Raise an error for releases that cannot be composed. */
static void
check_fit(DpermCompositionFault fault)
{
	switch (fault)
	{
		case DPERM_COMPOSITION_FITS:
			return;
		case DPERM_COMPOSITION_NOT_PRIVATE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot compose a release that is not private"),
					 errhint("A model that was trained with epsilon => 'Infinity' protects "
							 "nothing, and neither does anything that is released with it.")));
			break;
		case DPERM_COMPOSITION_OUT_OF_RANGE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("epsilon of a claim must be positive and at most %g, and its delta at "
							"least 0 and less than 1",
							DPERM_COMPOSITION_EPSILON_MAX)));
			break;
		case DPERM_COMPOSITION_NEIGHBOURS:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot compose releases with different neighbours"),
					 errdetail("An epsilon for 'replace' and one for 'remove' do not add up."),
					 errhint("Group by the neighbours, or train with the same ones.")));
			break;
		case DPERM_COMPOSITION_UNITS:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot compose releases with different units of privacy"),
					 errhint("Group by the unit.")));
			break;
	}
}

/* Add a release to the state. */
static Datum
add_release(FunctionCallInfo fcinfo, ComposeState *state, const DpermRelease *release)
{
	check_fit(dperm_composition_add(&state->sums, release));
	PG_RETURN_POINTER(state);
}

/* Add a model, which may reveal rows of a prior that is not private. */
static Datum
add_model(FunctionCallInfo fcinfo, MemoryContext context, DpermModel *model)
{
	ComposeState *state = open_state(fcinfo, context);
	DpermRelease release = dperm_model_release(model);
	DpermPrior	prior;

	if (model->prior.len > 0 && dperm_prior_read(&model->prior, &prior) == NULL && !prior.private)
		state->exposed++;
	pfree(model);
	return add_release(fcinfo, state, &release);
}

/* A NULL is ignored, but its delta is not. */
static Datum
ignore_null(FunctionCallInfo fcinfo)
{
	(void) checked_delta(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Transition: (internal, dp_model [, delta]) */
Datum
dperm_compose_model_step(PG_FUNCTION_ARGS)
{
	MemoryContext context = compose_context(fcinfo);

	if (PG_ARGISNULL(ARG_RELEASE))
		return ignore_null(fcinfo);
	return add_model(fcinfo, context, dperm_model_type_open(PG_GETARG_DATUM(ARG_RELEASE)));
}

/* Raise an error for an invalid claim. */
static void
bad_claim(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid claim"),
			 errdetail_internal("%s", detail),
			 errhint("A claim is an object such as {\"epsilon\": 0.1, \"delta\": 0, "
					 "\"neighbours\": \"replace\", \"unit\": \"row\"}, or a model as jsonb.")));
}

/* Is it the JSON form of a model? */
static bool
is_model(Jsonb *json)
{
	return JB_ROOT_IS_OBJECT(json) &&
		   findJsonbValueFromContainer(
			   &json->root, JB_FOBJECT,
			   &(JsonbValue) {.type = jbvString, .val.string = {strlen("format"), "format"}}) !=
			   NULL;
}

/* One member of a claim: the name of its neighbours or its unit. */
static int
claim_name(const JsonbValue *value, const char *what, int (*parse) (const char *name))
{
	char	   *name;
	int			found;

	if (value->type != jbvString)
		bad_claim(psprintf("%s must be a string.", what));
	name = pnstrdup(value->val.string.val, value->val.string.len);
	found = parse(name);
	if (found < 0)
		bad_claim(psprintf("%s \"%s\" is unknown.", what, name));
	return found;
}

/*
 * A number of a claim; "Infinity" is the epsilon of models that are not
 * private. A tiny number is out of range, and not taken for zero.
 */
static double
claim_number(const JsonbValue *value, const char *what)
{
	if (value->type == jbvString && value->val.string.len == strlen("Infinity") &&
		memcmp(value->val.string.val, "Infinity", strlen("Infinity")) == 0)
		return INFINITY;
	if (value->type != jbvNumeric)
		bad_claim(psprintf("%s must be a number.", what));
	return DatumGetFloat8(
		DirectFunctionCall1(numeric_float8, NumericGetDatum(value->val.numeric)));
}

/* A claim about a release other than a model. */
static DpermRelease
read_claim(Jsonb *claim)
{
	DpermRelease release = {
		.neighbours = DPERM_NEIGHBOURS_REPLACE, .unit = DPERM_UNIT_ROW, .epsilon = NAN};
	JsonbIterator *members = JsonbIteratorInit(&claim->root);
	JsonbValue	value;

	if (JsonbIteratorNext(&members, &value, true) != WJB_BEGIN_OBJECT)
		bad_claim("It is not an object.");
	while (JsonbIteratorNext(&members, &value, true) == WJB_KEY)
	{
		char	   *key = pnstrdup(value.val.string.val, value.val.string.len);

		(void) JsonbIteratorNext(&members, &value, true);
		if (strcmp(key, "epsilon") == 0)
			release.epsilon = claim_number(&value, key);
		else if (strcmp(key, "delta") == 0)
			release.delta = claim_number(&value, key);
		else if (strcmp(key, "neighbours") == 0)
			release.neighbours =
				(DpermNeighbours) claim_name(&value, key, dperm_claim_neighbours_parse);
		else if (strcmp(key, "unit") == 0)
			release.unit = (DpermUnit) claim_name(&value, key, dperm_claim_unit_parse);
		else
			bad_claim(psprintf("The key \"%s\" is unknown.", key));
	}
	if (isnan(release.epsilon))
		bad_claim("It has no epsilon.");
	release.curve = release.delta == 0 ? DPERM_CURVE_PURE : DPERM_CURVE_NONE;
	return release;
}

/* Transition: (internal, jsonb [, delta]) */
Datum
dperm_compose_claim_step(PG_FUNCTION_ARGS)
{
	MemoryContext context = compose_context(fcinfo);
	Jsonb	   *json;
	DpermRelease release;

	if (PG_ARGISNULL(ARG_RELEASE))
		return ignore_null(fcinfo);
	json = PG_GETARG_JSONB_P(ARG_RELEASE);
	if (is_model(json))
		return add_model(fcinfo, context,
						 dperm_model_type_open(
							 DirectFunctionCall1(dperm_model_from_jsonb, JsonbPGetDatum(json))));
	release = read_claim(json);
	return add_release(fcinfo, open_state(fcinfo, context), &release);
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

	(void) compose_context(fcinfo);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is nothing to compose"),
				 errhint("dp_compose needs at least one model or claim that is not NULL.")));
	state = (ComposeState *) PG_GETARG_POINTER(0);
	if (!dperm_composition_total(&state->sums, state->delta, &total))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the releases spend more than a delta of %s",
						double_to_shortest_decimal(state->delta)),
				 errdetail("Releases of which only epsilon and delta are known spend %.6g, "
						   "including the tails of the noise of all.", total.delta),
				 errhint("Specify a larger delta, or omit it to add up epsilons and deltas.")));
	if (total.delta >= 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the releases protect nothing"),
				 errdetail("Their deltas add up to %.6g.", total.delta)));
	if (isinf(total.epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the releases protect nothing at a delta of %s",
						double_to_shortest_decimal(state->delta)),
				 errdetail("Together they have an epsilon above 600."),
				 errhint("Specify a larger delta, or omit it to add up epsilons and deltas.")));
	PG_RETURN_DATUM(describe(state, &total));
}
