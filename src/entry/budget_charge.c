/* budget_charge.c: dp_budget_charge, for releases by other tools. */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "base/arguments.h"
#include "budget/debit.h"
#include "budget/grants.h"
#include "protect/protected_call.h"
#include "protect/worker.h"
#include "train/call_charge.h"

PG_FUNCTION_INFO_V1(dp_budget_charge);

/*
 * dp_budget_charge(budget, epsilon, delta, purpose): for a release that dperm
 * does not make
 */
Datum
dp_budget_charge(PG_FUNCTION_ARGS)
{
	DpermCharge charge = {
		.budget = dperm_budget_get(
			dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED)),
		.role = GetUserId(),
		.function = "dp_budget_charge",
		.asked = {.purpose = dperm_call_charge_purpose(fcinfo)},
		.spend = {.bound = true}
	};
	Datum		value;

	if (!dperm_worker_is_for(fcinfo))
	{
		if (!dperm_debit_permitted(charge.budget, InvalidOid, charge.role))
			dperm_grants_raise(charge.budget);
		(void) dperm_protected_call(fcinfo, InvalidOid);
		PG_RETURN_VOID();
	}
	if (!dperm_arguments_get(fcinfo, "epsilon", FLOAT8OID, &value))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null")));
	charge.spend.epsilon = DatumGetFloat8(value);
	if (dperm_arguments_get(fcinfo, "delta", FLOAT8OID, &value))
		charge.spend.delta = DatumGetFloat8(value);
	dperm_worker_charged(dperm_debit(&charge), InvalidOid);
	PG_RETURN_VOID();
}
