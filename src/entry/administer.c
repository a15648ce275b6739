/*
 * administer.c: the functions that administer budgets, whose work is done in SQL
 * (sql/parts/83_internal_administration.sql), and what that needs in C; and
 * dp_budget_charge.
 *
 * A function with the rights of its owner cannot know who calls it. So whoever
 * calls dp_grant calls dperm_administer(), which passes the current user on to
 * dperm.dp_grant.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/arguments.h"
#include "budget/grants.h"
#include "budget/own_rows.h"
#include "core/base/limits.h"
#include "core/privacy/filter.h"
#include "entry/administer.h"
#include "entry/entry.h"
#include "protect/worker.h"
#include "relation/relation.h"
#include "train/call_charge.h"

PG_FUNCTION_INFO_V1(dperm_administer);
PG_FUNCTION_INFO_V1(dp_budget_charge);
PG_FUNCTION_INFO_V1(dperm_budget_limit);
PG_FUNCTION_INFO_V1(dperm_budget_order);
PG_FUNCTION_INFO_V1(dperm_budget_left);
PG_FUNCTION_INFO_V1(dperm_row_sources);

/* Turn off a setting, if there is one of this name, until the nest level ends. */
static void
set_off(const char *name)
{
	if (GetConfigOption(name, true, false))
		(void) set_config_option(name, "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
								 0, false);
}

/* Call a function, with the current user as its first argument. */
Datum
dperm_administer_call(const char *function, int count, const Oid *types,
					  const NullableDatum *arguments, bool *isnull)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	MemoryContext context = CurrentMemoryContext;
	Oid			owner = dperm_relation_owner(dperm_own_rows_table("budgets"));
	Oid			inner_types[FUNC_MAX_ARGS] = {OIDOID};
	FmgrInfo	found;
	Oid			user;
	int			security;
	Datum		result = 0;
	int			settings;

	dperm_location_check_coordinator();
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("budgets and protected relations cannot be changed in isolation level %s",
						XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errdetail("Its snapshot does not see what others have changed since."),
				 errhint("Use READ COMMITTED.")));
	memcpy(inner_types + 1, types, sizeof(Oid) * count);
	fmgr_info(LookupFuncName(list_make2(makeString("dperm"), makeString(pstrdup(function))),
							 count + 1, inner_types, false), &found);
	GetUserIdAndSecContext(&user, &security);

	/* a session can outlive its role, which still has the rights of itself */
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(user)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role with OID %u has been dropped", user)));
	InitFunctionCallInfoData(*inner, &found, count + 1, InvalidOid, NULL, NULL);
	inner->args[0] = (NullableDatum) {ObjectIdGetDatum(user), false};
	memcpy(inner->args + 1, arguments, sizeof(NullableDatum) * count);
	SetUserIdAndSecContext(owner, security | SECURITY_LOCAL_USERID_CHANGE);
	settings = NewGUCNestLevel();
	set_off("quote_all_identifiers");
	set_off("citus.override_table_visibility"); /* which hides shards in pg_class */
	PG_TRY();
	{
		result = FunctionCallInvoke(inner);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		error->context = NULL;	/* but for that of who calls us */
		ThrowErrorData(error);
	}
	PG_END_TRY();
	AtEOXact_GUC(true, settings);
	SetUserIdAndSecContext(user, security);
	*isnull = inner->isnull;
	return result;
}

/* dp_budget_create and its like: dperm.<name>(caller, arguments...) */
Datum
dperm_administer(PG_FUNCTION_ARGS)
{
	Oid		   *types;
	int			count;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	return dperm_administer_call(get_func_name(fcinfo->flinfo->fn_oid), count, types,
								 fcinfo->args, &fcinfo->isnull);
}

/* dperm_budget_limit(value, is_delta): a limit as an amount */
Datum
dperm_budget_limit(PG_FUNCTION_ARGS)
{
	double		value = PG_GETARG_FLOAT8(0);

	if (PG_GETARG_BOOL(1))
	{
		if (!(value == 0 || (value >= DPERM_DELTA_MIN && value < 1)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("delta of a budget must be 0, or at least %g and less "
							"than 1", DPERM_DELTA_MIN),
					 errhint("delta should be much smaller than 1 divided by the number of rows or "
							 "persons.")));
		PG_RETURN_DATUM(dperm_own_rows_numeric(dperm_amount_down(value, DPERM_DELTA_DIGITS)));
	}
	if (!(value >= DPERM_EPSILON_MIN && value <= DPERM_EPSILON_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon of a budget must be between %g "
						"and %d", DPERM_EPSILON_MIN, DPERM_EPSILON_MAX),
				 errhint("epsilon is what all releases may cost together; values up to about 10 "
						 "give some protection.")));
	PG_RETURN_DATUM(dperm_own_rows_numeric(dperm_amount_down(value, DPERM_EPSILON_DIGITS)));
}

/* A numeric argument as an amount; false if it is not one. */
static bool
amount_argument(FunctionCallInfo fcinfo, int i, DpermAmount *amount)
{
	return dperm_amount_read(DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(i))),
							 amount);
}

/* dperm_budget_order(epsilon, delta) */
Datum
dperm_budget_order(PG_FUNCTION_ARGS)
{
	DpermAmount epsilon,
				delta;

	if (!amount_argument(fcinfo, 0, &epsilon) || !amount_argument(fcinfo, 1, &delta))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dperm_filter_order(dperm_amount_double(epsilon), dperm_amount_double(delta)));
}

/*
 * dperm_budget_left(epsilon, delta, renyi_order, spent_epsilon, spent_delta,
 * spent_divergence, spent_direct, spent_tail, is_delta)
 */
Datum
dperm_budget_left(PG_FUNCTION_ARGS)
{
	DpermFilter filter = {.order = PG_GETARG_FLOAT8(2)};
	DpermFilterSums spent;

	if (!amount_argument(fcinfo, 0, &filter.epsilon) ||
		!amount_argument(fcinfo, 1, &filter.delta) || !amount_argument(fcinfo, 3, &spent.epsilon) ||
		!amount_argument(fcinfo, 4, &spent.delta) ||
		!amount_argument(fcinfo, 5, &spent.divergence) ||
		!amount_argument(fcinfo, 6, &spent.direct) || !amount_argument(fcinfo, 7, &spent.tail) ||
		!isfinite(filter.order))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(dperm_own_rows_numeric(PG_GETARG_BOOL(8) ?
		dperm_filter_delta_left(&filter, &spent, DPERM_EPSILON_MIN) :
		dperm_filter_left(&filter, &spent)));
}

/* dperm_row_sources(relation): the relations that share rows with it */
Datum
dperm_row_sources(PG_FUNCTION_ARGS)
{
	List	   *relations = dperm_row_sources_relations(PG_GETARG_OID(0));
	Datum	   *values = palloc(sizeof(Datum) * list_length(relations));

	for (int i = 0; i < list_length(relations); i++)
		values[i] = ObjectIdGetDatum(list_nth_oid(relations, i));
	PG_RETURN_ARRAYTYPE_P(construct_array(values, list_length(relations), OIDOID, sizeof(Oid),
										  true, TYPALIGN_INT));
}

/* Open a charge: there is nothing to run. */
void
dperm_entry_open_charge(DpermCall *call)
{
	FunctionCallInfo fcinfo = call->fcinfo;
	Datum		value;

	call->charge = (DpermCharge) {
		.budget = dperm_budget_get(
			dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED)),
		.role = GetUserId(),
		.function = call->function->name,
		.asked = {.purpose = dperm_call_charge_purpose(fcinfo)},
		.spend = {.bound = true}
	};
	call->charge.spend.epsilon = DatumGetFloat8(
		dperm_arguments_required(fcinfo, "epsilon", FLOAT8OID,
								 "It is the epsilon of a release that was made elsewhere."));
	if (dperm_arguments_get(fcinfo, "delta", FLOAT8OID, &value))
		call->charge.spend.delta = DatumGetFloat8(value);
}

/*
 * dp_budget_charge(budget, epsilon, delta, purpose): for a release that dperm
 * does not make
 */
Datum
dp_budget_charge(PG_FUNCTION_ARGS)
{
	DpermCall	call = {.function = dperm_worker_function("dp_budget_charge"), .fcinfo = fcinfo};

	dperm_entry_open_charge(&call);
	if (!dperm_debit_permitted(call.charge.budget, InvalidOid, GetUserId()))
		dperm_grants_raise(call.charge.budget);
	(void) dperm_call_hand_over(fcinfo, call.function, InvalidOid);
	PG_RETURN_VOID();
}
