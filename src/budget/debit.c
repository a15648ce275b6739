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

#include "budget/budget.h"
#include "budget/debit.h"
#include "budget/grants.h"
#include "budget/own_rows.h"
#include "core/base/limits.h"
#include "relation/relation.h"

/* Raise an error for a charge that is invalid for any budget. */
static void
check_spend(const DpermSpend *spend)
{
	if (!isfinite(spend->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be finite when a budget is charged"),
				 errhint("Without noise nothing is protected.")));
	if (!(spend->epsilon >= DPERM_EPSILON_MIN && spend->epsilon <= DPERM_EPSILON_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be between %g "
						"and %d", DPERM_EPSILON_MIN, DPERM_EPSILON_MAX)));
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
	DpermAmount delta;			/* as claimed, without the tail */
} Debit;

/*
 * The only registration of a relation that has a budget; -1 if there are none
 * or several.
 */
static int
only_registration(const DpermOwnRows *rows)
{
	int			found = -1;

	for (int i = 0; i < rows->count; i++)
		if (dperm_own_rows_value(rows, i, "budget"))
		{
			if (found >= 0)
				return -1;
			found = i;
		}
	return found;
}

/* Why no role can spend on a relation. */
typedef enum Hindrance
{
	NOT_HINDERED,
	/*
	 * not the one that the relation is registered with; it may have the same
	 * name
	 */
	HINDERED_BY_BUDGET,
	HINDERED_BY_OWNER			/* the relation has got another owner */
} Hindrance;

/*
 * Find the hindrance; *version is the transaction that wrote the registration.
 */
static Hindrance
find_hindrance(const DpermBudget *budget, Oid relation, TransactionId *version)
{
	DpermOwnRows rows =
		dperm_own_rows_find("dp_protected_relations", "relation", ObjectIdGetDatum(relation));
	int			row = only_registration(&rows);
	char	   *id = row >= 0 ? dperm_own_rows_text(&rows, row, "budget_id") : NULL;

	if (id == NULL || strcmp(id, budget->id) != 0)
		return HINDERED_BY_BUDGET;
	*version = DatumGetTransactionId(dperm_own_rows_value(&rows, row, "xmin"));
	return DatumGetObjectId(dperm_own_rows_value(&rows, row, "owner")) ==
				   dperm_relation_owner(relation) ?
			   NOT_HINDERED :
			   HINDERED_BY_OWNER;
}

/*
 * Raise an error unless the relation still has the registration that was
 * checked, and the owner who made it.
 */
static void
check_registration(const DpermCharge *charge, const DpermBudget *budget)
{
	TransactionId version;

	if (find_hindrance(budget, charge->relation, &version) != NOT_HINDERED ||
		version != charge->version)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the registration of the protected relation has changed"),
				 errhint("Try again.")));
}

/* Raise an error unless neighbours and unit are those of the budget. */
static void
check_claim(const DpermBudget *budget, const DpermSpend *spend)
{
	if (spend->neighbours != budget->neighbours)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("budget \"%s\" is for "
							   "neighbours '%s'",
							   budget->name, dperm_claim_neighbours_name(budget->neighbours)),
						errhint("Specify neighbours => "
								"'%s'.",
								dperm_claim_neighbours_name(budget->neighbours))));
	if (!budget->has_unit || spend->unit != budget->unit)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("budget \"%s\" has another unit of privacy", budget->name),
				 errhint("Protect the relation again.")));
}

/* An amount, for a message. */
static char *
amount_text(DpermAmount amount)
{
	char	   *text = palloc(DPERM_AMOUNT_TEXT);

	dperm_amount_print(amount, text);
	return text;
}

/* Find who pays, or raise an error. */
static DpermPayer
find_payer(const DpermBudget *budget, const Debit *debit, bool lock)
{
	DpermPayer	payer;

	switch (dperm_grants_find(budget, debit->charge->relation, debit->charge->role,
							  debit->taken.epsilon, debit->delta, lock, &payer))
	{
		case DPERM_PAYER_FOUND:
			break;
		case DPERM_PAYER_NO_GRANT:
			dperm_grants_raise(budget);
			break;
		case DPERM_PAYER_NO_ROOM:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the grant of budget \"%s\" to \"%s\" is "
							"exhausted",
							budget->name, GetUserNameFromId(payer.grantee, false)),
					 errdetail("The call costs epsilon %s and delta %s; the grant has %s "
							   "left.",
							   amount_text(debit->taken.epsilon), amount_text(debit->delta),
							   payer.limited ? psprintf("epsilon %s", amount_text(payer.left)) :
											   "too little delta"),
					 errhint("Use a smaller epsilon, or ask the owner of the budget for a larger "
							 "grant: dp_grant.")));
			break;
	}
	return payer;
}

/* The name of a relation, for the ledger. */
static char *
relation_name(Oid relation)
{
	char	   *name = OidIsValid(relation) ? get_rel_name(relation) : NULL;

	return name ?
			   quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name) :
			   NULL;
}

/*
 * Raise an error if the budget does not allow it; else return its sums after
 * the charge.
 */
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
				 errdetail("The call costs epsilon %s and delta %s; a single release without delta "
						   "could still have epsilon %s.",
						   amount_text(debit->taken.epsilon), amount_text(debit->delta),
						   amount_text(dperm_filter_left(&budget->filter, &budget->spent))),
				 errhint("Use a smaller epsilon, or ask the owner of the budget to raise it: "
						 "dp_budget_alter.")));
	return spent;
}

/* Check and spend, all in one transaction. */
DpermLedgerEntry
dperm_debit(const DpermCharge *charge)
{
	Debit		debit = {.charge = charge};
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
	dperm_own_tables_check_triggers(NULL);
	dperm_own_tables_follow_commands();
	budget = dperm_budget_get(charge->budget, false);
	debit.taken = dperm_charge_of(&charge->spend, budget->filter.order);
	debit.delta = dperm_amount_up(charge->spend.delta, DPERM_DELTA_DIGITS);

	/* check the grant before taking the lock, which others wait for */
	(void) find_payer(budget, &debit, false);
	budget = dperm_budget_get_by_id(budget->id, budget->name, true);
	debit.taken = dperm_charge_of(&charge->spend, budget->filter.order);
	if (OidIsValid(charge->relation))
	{
		check_registration(charge, budget);
		check_claim(budget, &charge->spend);
	}
	payer = find_payer(budget, &debit, true);
	spent = check_filter(budget, &debit);
	left = dperm_filter_left(&budget->filter, &spent);
	dperm_budget_write_spent(budget, &spent);
	dperm_grants_write_spent(budget, &payer, debit.taken.epsilon, debit.delta);
	line.budget = budget->name;
	line.id = budget->id;
	line.relation = relation_name(charge->relation);
	line.neighbours = dperm_claim_neighbours_name(budget->neighbours);
	if (budget->has_unit)
		line.unit = dperm_claim_unit_name(budget->unit);
	return (DpermLedgerEntry) {
		.budget_id = budget->id,
		.budget = budget->name,
		.entry = dperm_budget_append(&line)
	};
}

/* Why a charge would be rejected, or NULL. Call it within a scope. */
static const char *
find_refusal(const DpermBudget *budget, DpermPayerFault fault, const DpermSpend *spend,
			 const DpermFilterSums *spent)
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

/* The most that a payer can spend from a budget in a single pure release. */
static DpermAmount
left_for(const DpermBudget *budget, const DpermFilterSums *spent, const DpermPayer *payer)
{
	DpermAmount left = dperm_filter_left(&budget->filter, spent);

	return payer->limited && dperm_amount_compare(payer->left, left) < 0 ? payer->left : left;
}

/* Preview a charge. */
DpermQuote
dperm_debit_preview(const DpermCharge *charge)
{
	DpermQuote	quote = {.allowed = false};
	DpermAmount claimed = dperm_amount_up(charge->spend.delta, DPERM_DELTA_DIGITS);
	DpermBudget *budget;
	DpermPayer	payer;
	DpermPayerFault fault;
	DpermFilterSums taken;
	DpermFilterSums spent;

	check_spend(&charge->spend);
	budget = dperm_budget_get(charge->budget, false);
	taken = dperm_charge_of(&charge->spend, budget->filter.order);
	spent = dperm_filter_add(&budget->spent, &taken);
	fault = dperm_grants_find(budget, charge->relation, charge->role, taken.epsilon, claimed,
							  false, &payer);
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
	return quote;
}

/* Raise an error for a role that may not spend from a budget. */
void
dperm_debit_check_grant(const char *name, Oid role)
{
	DpermAmount nothing = {0, 0};
	DpermBudget *budget = dperm_budget_get(name, false);
	DpermPayer	payer;

	if (dperm_grants_find(budget, InvalidOid, role, nothing, nothing, false, &payer) ==
		DPERM_PAYER_NO_GRANT)
		dperm_grants_raise(budget);
}

/* May the role spend at all? */
static bool
may_spend(const char *name, Oid relation, Oid role, Hindrance *hindrance)
{
	DpermAmount nothing = {0, 0};
	DpermBudget *budget = dperm_budget_find(name, false);
	TransactionId version;
	DpermPayer	payer;

	*hindrance = budget == NULL ? HINDERED_BY_BUDGET :
		OidIsValid(relation) ? find_hindrance(budget, relation, &version) : NOT_HINDERED;
	return *hindrance == NOT_HINDERED &&
		dperm_grants_find(budget, relation, role, nothing, nothing, false, &payer) !=
		DPERM_PAYER_NO_GRANT;
}

/*
 * May the role spend from the budget of a relation? Raises an error if no role
 * may.
 */
bool
dperm_debit_permitted(const char *budget, Oid relation, Oid role)
{
	Hindrance	hindrance;
	bool		permitted = may_spend(budget, relation, role, &hindrance);

	if (hindrance == HINDERED_BY_BUDGET)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" is protected, and its budget \"%s\" is "
						"missing", get_rel_name(relation), budget),
				 errdetail("The budget was not restored with the relation, or it is another budget "
						   "of this name, or the registration belongs to a relation of this name "
						   "with another owner, or there are two registrations."),
				 errhint("The owner of the relation has to protect it again with dp_protect.")));
	if (hindrance == HINDERED_BY_OWNER)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("protected relation \"%s\" has a different owner than when it was "
						"protected", get_rel_name(relation)),
				 errdetail("Its budget is \"%s\", which was chosen by another role.", budget),
				 errhint("Its owner has to protect it again with dp_protect, or call "
						 "dp_unprotect.")));
	return permitted;
}

/* The same without raising an error. */
bool
dperm_debit_may_spend(const char *budget, Oid relation, Oid role)
{
	Hindrance	hindrance;

	return may_spend(budget, relation, role, &hindrance);
}
