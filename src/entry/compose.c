/*
 * compose.c: dp_compose, the aggregate for the total cost of several releases.
 *
 * The state is the sums of core/privacy/composition.h. It reads models and
 * claims, which are public, not rows of private tables.
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
#include "core/base/core.h"
#include "core/privacy/composition.h"

PG_FUNCTION_INFO_V1(dperm_compose_step);
PG_FUNCTION_INFO_V1(dperm_compose_final);

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
