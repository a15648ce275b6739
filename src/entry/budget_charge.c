/* budget_charge.c: dp_budget_charge, for releases by other tools. */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "base/arguments.h"
#include "budget/grants.h"
#include "entry/budget_charge.h"
#include "train/call_charge.h"

PG_FUNCTION_INFO_V1(dp_budget_charge);

/* Open a charge: there is nothing to run. */
static void
open_charge(DpermCall *call)
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
	if (!dperm_arguments_get(fcinfo, "epsilon", FLOAT8OID, &value))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null")));
	call->charge.spend.epsilon = DatumGetFloat8(value);
	if (dperm_arguments_get(fcinfo, "delta", FLOAT8OID, &value))
		call->charge.spend.delta = DatumGetFloat8(value);
}

const DpermFunction dperm_budget_charge_function = {"dp_budget_charge", 0, open_charge, NULL};

/*
 * dp_budget_charge(budget, epsilon, delta, purpose): for a release that dperm
 * does not make
 */
Datum
dp_budget_charge(PG_FUNCTION_ARGS)
{
	DpermCall	call = {.function = &dperm_budget_charge_function, .fcinfo = fcinfo};

	open_charge(&call);
	if (!dperm_debit_permitted(call.charge.budget, InvalidOid, GetUserId()))
		dperm_grants_raise(call.charge.budget);
	(void) dperm_call_hand_over(fcinfo, call.function, InvalidOid);
	PG_RETURN_VOID();
}
