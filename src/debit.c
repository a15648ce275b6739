/*
 * debit.c: spending from a budget.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "budget.h"
#include "core/base/limits.h"
#include "debit.h"
#include "payer.h"

/* A charge that cannot be computed, whatever the budget. */
static void
check_spend(const DpermSpend *spend)
{
	if (!isfinite(spend->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be finite where a budget is charged"),
				 errhint("Without noise nothing is protected.")));
	if (!(spend->epsilon >= DPERM_EPSILON_MIN && spend->epsilon <= DPERM_EPSILON_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be between %g and %d", DPERM_EPSILON_MIN, DPERM_EPSILON_MAX)));
	if (!(spend->delta == 0 || (spend->delta >= DPERM_DELTA_MIN && spend->delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0, or at least %g and less than 1", DPERM_DELTA_MIN)));
}

/* What is being charged, in the units of the budget's filter. */
typedef struct Debit
{
	const DpermCharge *charge;
	DpermFilterSums taken;
	DpermAmount delta;			/* as it is claimed, without the tail */
} Debit;

/* Has the relation the registration that was checked, and the owner who made it? */
static void
check_registration(DpermTablesScope *scope, const DpermCharge *charge, const DpermBudget *budget)
{
	Oid			types[] = {OIDOID, TEXTOID, XIDOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(charge->relation), CStringGetTextDatum(budget->id), TransactionIdGetDatum(charge->version),
	ObjectIdGetDatum(dperm_tables_relation_owner(charge->relation))};

	if (dperm_tables_query(scope, "SELECT FROM %s.dp_protected_relations WHERE relation = $1 AND budget IS NOT NULL HAVING count(*) = 1 AND bool_and(budget_id = $2::uuid AND xmin = $3 AND owner = $4)",
						   lengthof(types), types, values, NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the registration of the protected relation has changed"),
				 errhint("Try again.")));
}

/* Is it charged for what the budget counts? */
static void
check_claim(const DpermBudget *budget, const DpermSpend *spend)
{
	if (spend->neighbours != budget->neighbours)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("budget \"%s\" is for neighbours '%s'", budget->name, dperm_claim_neighbours_name(budget->neighbours)),
				 errhint("Specify neighbours => '%s'.", dperm_claim_neighbours_name(budget->neighbours))));
	if (!budget->has_unit || spend->unit != budget->unit)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("budget \"%s\" has another unit of privacy", budget->name),
				 errhint("Protect the relation anew.")));
}

/* An amount, for a message. */
static char *
amount_text(DpermAmount amount)
{
	char	   *text = palloc(DPERM_AMOUNT_TEXT);

	dperm_amount_print(amount, text);
	return text;
}

/* Find who pays, or raise. */
static DpermPayer
find_payer(DpermTablesScope *scope, const DpermBudget *budget, const Debit *debit, bool lock)
{
	DpermPayer	payer;

	switch (dperm_payer_find(scope, budget, debit->charge->relation, debit->charge->role, debit->taken.epsilon, debit->delta, lock, &payer))
	{
		case DPERM_PAYER_FOUND:
			break;
		case DPERM_PAYER_NO_GRANT:
			dperm_payer_raise(budget);
			break;
		case DPERM_PAYER_NO_ROOM:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the grant of budget \"%s\" to \"%s\" is exhausted", budget->name, GetUserNameFromId(payer.grantee, false)),
					 errdetail("The call costs epsilon %s and delta %s; the grant has %s left.", amount_text(debit->taken.epsilon),
							   amount_text(debit->delta), payer.limited ? psprintf("epsilon %s", amount_text(payer.left)) : "less delta"),
					 errhint("Use a smaller epsilon, or ask the owner of the budget for a larger grant: dp_grant.")));
			break;
	}
	return payer;
}

/* Write what has been spent. A grant may have two rows (payer.c), whose sums count. */
static void
write_sums(DpermTablesScope *scope, const DpermBudget *budget, const DpermFilterSums *spent, const DpermPayer *payer, const Debit *debit)
{
	Oid			types[] = {TEXTOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID};
	Oid			grant_types[] = {TEXTOID, OIDOID, NUMERICOID, NUMERICOID};
	Datum		values[] = {CStringGetTextDatum(budget->id), dperm_tables_numeric(spent->epsilon), dperm_tables_numeric(spent->delta),
	dperm_tables_numeric(spent->divergence), dperm_tables_numeric(spent->direct)};
	Datum		grant_values[] = {values[0], ObjectIdGetDatum(payer->grantee), dperm_tables_numeric(debit->taken.epsilon), dperm_tables_numeric(debit->delta)};

	if (dperm_tables_query(scope,
						   "UPDATE %s.dp_budget_accounts SET spent_epsilon = $2, spent_delta = $3, spent_divergence = $4, spent_direct = $5 WHERE id = $1::uuid",
						   lengthof(types), types, values, NULL) != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
	if (OidIsValid(payer->grantee) &&
		dperm_tables_query(scope, "UPDATE %s.dp_budget_grants SET spent_epsilon = spent_epsilon OPERATOR(pg_catalog.+) $3, spent_delta = spent_delta OPERATOR(pg_catalog.+) $4"
						   " WHERE ctid OPERATOR(pg_catalog.=) (SELECT g.ctid FROM %s.dp_budget_grants AS g WHERE g.budget_id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid"
						   " AND g.grantee OPERATOR(pg_catalog.=) $2 ORDER BY g.ctid LIMIT 1)",
						   lengthof(grant_types), grant_types, grant_values, NULL) != 1)
		elog(ERROR, "could not write to the grant of budget \"%s\"", budget->name);
}

/* The name of a relation, for the ledger. */
static char *
relation_name(Oid relation)
{
	char	   *name = OidIsValid(relation) ? get_rel_name(relation) : NULL;

	return name ? quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name) : NULL;
}

/* Raise if the budget does not allow it; else what it has spent then. */
static DpermFilterSums
check_filter(const DpermBudget *budget, const Debit *debit)
{
	DpermFilterSums spent = dperm_filter_add(&budget->spent, &debit->taken);

	if (!(budget->filter.order > 1) && debit->delta.units + debit->delta.parts > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" has no delta", budget->name),
				 errhint("Omit delta, or ask the owner of the budget for one with a delta.")));
	if (!dperm_filter_allows(&budget->filter, &spent))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" is exhausted", budget->name),
				 errdetail("The call costs epsilon %s and delta %s; a single release without delta could still have epsilon %s.",
						   amount_text(debit->taken.epsilon), amount_text(debit->delta), amount_text(dperm_filter_left(&budget->filter, &budget->spent))),
				 errhint("Use a smaller epsilon, or ask the owner of the budget to raise it: dp_budget_alter.")));
	return spent;
}

/* Check and spend, all in one transaction. */
DpermLedgerEntry
dperm_debit(const DpermCharge *charge)
{
	Debit		debit = {.charge = charge};
	DpermLedgerEntry written;
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	DpermFilterSums spent;
	DpermAmount left;
	DpermBudgetLine line = {
		.act = "charge",
		.role = charge->role,
		.function = charge->function,
		.epsilon = &debit.taken.epsilon,
		.delta = &debit.taken.delta,
		.charge = &debit.taken,
		.left = &left,
		.details = charge->purpose
	};

	check_spend(&charge->spend);
	dperm_tables_enter(&scope);
	budget = dperm_budget_get(&scope, charge->budget, false);
	debit.taken = dperm_charge_of(&charge->spend, budget->filter.order);
	debit.delta = dperm_amount_up(charge->spend.delta, DPERM_DELTA_DIGITS);

	/* nobody without a grant gets as far as the lock, which others wait for */
	(void) find_payer(&scope, budget, &debit, false);
	budget = dperm_budget_get_by_id(&scope, budget->id, budget->name, true);
	debit.taken = dperm_charge_of(&charge->spend, budget->filter.order);
	if (OidIsValid(charge->relation))
	{
		check_registration(&scope, charge, budget);
		check_claim(budget, &charge->spend);
	}
	payer = find_payer(&scope, budget, &debit, true);
	spent = check_filter(budget, &debit);
	left = dperm_filter_left(&budget->filter, &spent);
	write_sums(&scope, budget, &spent, &payer, &debit);
	line.budget = budget->name;
	line.id = budget->id;
	line.relation = relation_name(charge->relation);
	line.neighbours = dperm_claim_neighbours_name(budget->neighbours);
	if (budget->has_unit)
		line.unit = dperm_claim_unit_name(budget->unit);
	written = (DpermLedgerEntry) {
		.budget_id = MemoryContextStrdup(scope.caller, budget->id),
		.budget = MemoryContextStrdup(scope.caller, budget->name),
		.entry = dperm_budget_append(&scope, &line)
	};
	dperm_tables_leave(&scope);
	return written;
}

/* Why a charge would be refused, or NULL; within a scope. */
static const char *
find_refusal(const DpermBudget *budget, DpermPayerFault fault, const DpermSpend *spend, const DpermFilterSums *spent)
{
	if (spend->neighbours != budget->neighbours)
		return "The budget has other neighbours.";
	if (budget->has_unit && spend->unit != budget->unit)
		return "The budget has another unit of privacy.";
	if (fault == DPERM_PAYER_NO_GRANT)
		return "You have no grant of the budget.";
	if (fault == DPERM_PAYER_NO_ROOM)
		return "Your grant has too little left.";
	if (!(budget->filter.order > 1) && spend->delta > 0)
		return "The budget has no delta.";
	if (!dperm_filter_allows(&budget->filter, spent))
		return "The budget has too little left.";
	return NULL;
}

/* What a payer can spend of a budget in a single pure release. */
static DpermAmount
left_for(const DpermBudget *budget, const DpermFilterSums *spent, const DpermPayer *payer)
{
	DpermAmount left = dperm_filter_left(&budget->filter, spent);

	return payer->limited && dperm_amount_compare(payer->left, left) < 0 ? payer->left : left;
}

/* What it would take. */
DpermQuote
dperm_debit_preview(const DpermCharge *charge)
{
	DpermQuote	quote = {.allowed = false};
	DpermAmount claimed = dperm_amount_up(charge->spend.delta, DPERM_DELTA_DIGITS);
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	DpermPayerFault fault;
	DpermFilterSums taken;
	DpermFilterSums spent;

	check_spend(&charge->spend);
	dperm_tables_enter_reading(&scope);
	budget = dperm_budget_get(&scope, charge->budget, false);
	taken = dperm_charge_of(&charge->spend, budget->filter.order);
	spent = dperm_filter_add(&budget->spent, &taken);
	fault = dperm_payer_find(&scope, budget, charge->relation, charge->role, taken.epsilon, claimed, false, &payer);
	quote.refusal = find_refusal(budget, fault, &charge->spend, &spent);
	quote.allowed = quote.refusal == NULL;
	dperm_amount_print(taken.epsilon, quote.epsilon);
	dperm_amount_print(taken.delta, quote.delta);
	strlcpy(quote.left, "0", sizeof(quote.left));
	strlcpy(quote.left_after, "0", sizeof(quote.left_after));
	if (fault != DPERM_PAYER_NO_GRANT)
		dperm_amount_print(left_for(budget, &budget->spent, &payer), quote.left);
	if (quote.allowed)
	{
		payer.left = dperm_amount_less(payer.left, taken.epsilon);
		dperm_amount_print(left_for(budget, &spent, &payer), quote.left_after);
	}
	dperm_tables_leave(&scope);
	return quote;
}

/* What keeps everybody from spending on a relation. */
typedef enum Hindrance
{
	NOT_HINDERED,
	HINDERED_BY_BUDGET,			/* it is not the one that the relation is registered with: one of the same name need not be */
	HINDERED_BY_OWNER			/* the relation has come to belong to another role */
} Hindrance;

/* Find it, in the newest state, as registrations are. */
static Hindrance
find_hindrance(DpermTablesScope *scope, const DpermBudget *budget, Oid relation)
{
	Oid			types[] = {OIDOID, TEXTOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation), CStringGetTextDatum(budget->id), ObjectIdGetDatum(dperm_tables_relation_owner(relation))};
	uint64		found;
	bool		owned;

	PushActiveSnapshot(GetLatestSnapshot());
	found = dperm_tables_execute(psprintf("SELECT pg_catalog.bool_and(owner OPERATOR(pg_catalog.=) $3) FROM %s.dp_protected_relations WHERE relation = $1 AND budget IS NOT NULL"
										  " HAVING count(*) = 1 AND bool_and(budget_id = $2::uuid)", scope->schema), lengthof(types), types, values, NULL, true);
	PopActiveSnapshot();
	if (found != 1)
		return HINDERED_BY_BUDGET;
	owned = strcmp(dperm_tables_value(0, 1), "t") == 0;
	return owned ? NOT_HINDERED : HINDERED_BY_OWNER;
}

/* Raise for a role that may not spend from a budget. */
void
dperm_debit_check_grant(const char *name, Oid role)
{
	DpermAmount nothing = {0, 0};
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;

	dperm_tables_enter_reading(&scope);
	budget = dperm_budget_get(&scope, name, false);
	if (dperm_payer_find(&scope, budget, InvalidOid, role, nothing, nothing, false, &payer) == DPERM_PAYER_NO_GRANT)
		dperm_payer_raise(budget);
	dperm_tables_leave(&scope);
}

/* May the role spend at all? */
static bool
may_spend(const char *name, Oid relation, Oid role, Hindrance *hindrance)
{
	DpermAmount nothing = {0, 0};
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	bool		permitted;

	dperm_tables_enter_reading(&scope);
	budget = dperm_budget_find(&scope, name, false);
	*hindrance = budget == NULL ? HINDERED_BY_BUDGET : OidIsValid(relation) ? find_hindrance(&scope, budget, relation) : NOT_HINDERED;
	permitted = *hindrance == NOT_HINDERED && dperm_payer_find(&scope, budget, relation, role, nothing, nothing, false, &payer) != DPERM_PAYER_NO_GRANT;
	dperm_tables_leave(&scope);
	return permitted;
}

/* May the role spend from the budget of a relation? Raises if nobody may. */
bool
dperm_debit_permitted(const char *budget, Oid relation, Oid role)
{
	Hindrance	hindrance;
	bool		permitted = may_spend(budget, relation, role, &hindrance);

	if (hindrance == HINDERED_BY_BUDGET)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" is protected, and its budget \"%s\" is missing", get_rel_name(relation), budget),
				 errdetail("The budget has not been restored with the relation, or is another one of this name, or the registration is of a relation of this name and another owner, or there are two of them."),
				 errhint("The owner of the relation has to protect it anew: dp_protect.")));
	if (hindrance == HINDERED_BY_OWNER)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("protected relation \"%s\" has another owner than when it was protected", get_rel_name(relation)),
				 errdetail("Its budget is \"%s\", which another role has chosen.", budget),
				 errhint("Its owner has to protect it anew, with dp_protect, or call dp_unprotect.")));
	return permitted;
}

/* The same without an error. */
bool
dperm_debit_may_spend(const char *budget, Oid relation, Oid role)
{
	Hindrance	hindrance;

	return may_spend(budget, relation, role, &hindrance);
}
