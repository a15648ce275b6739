/*
 * debit.c: spending from a budget.
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "budget/debit.h"
#include "budget/grants.h"
#include "budget/own_rows.h"
#include "core/base/limits.h"

/* Up to 2^40 calls: more than a budget has of the least epsilon. */
#define CALLS_BITS 40

/* A charge that cannot be computed, whatever the budget. */
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

/* An amount of epsilon or delta, for a message. */
static char *
amount_text(bool is_delta, DpermAmount amount)
{
	char	   *text;

	if (is_delta)
		return psprintf("%.15g", dperm_amount_double(amount));
	text = palloc(DPERM_AMOUNT_TEXT);
	dperm_amount_print(amount, text);
	return text;
}

/*
 * Raise for a budget, or a grant of it, that has too little left of epsilon; or
 * of delta, if it would allow the call without one: what it is called, and how
 * its owner can give more.
 */
static void
refuse(const char *whose, const DpermAccount *account, const DpermFilterSums *taken,
	   double epsilon, const char *more)
{
	DpermFilterSums pure = dperm_filter_pure(epsilon, account->filter.order);
	bool		is_delta = dperm_budget_allows(account, &pure);
	const char *what = is_delta ? "delta" : "epsilon";
	char	   *left = amount_text(is_delta, is_delta ?
		dperm_filter_delta_left(&account->filter, &account->spent, epsilon) :
		dperm_filter_left(&account->filter, &account->spent));
	bool		nothing = strcmp(left, "0") == 0;

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 !nothing ? errmsg("%s has too little %s left", whose, what) :
			 is_delta ? errmsg("%s has no delta left", whose) :
						errmsg("%s is exhausted", whose),
			 errdetail("The call costs %s %s; a single call can still have %s %s.", what,
					   amount_text(is_delta, is_delta ? taken->delta : taken->epsilon), what, left),
			 nothing && !is_delta ? errhint("Ask the owner of the budget %s.", more) :
									errhint("Use a smaller %s%s, or ask the owner of the budget "
											"%s.", what, is_delta ? " or none" : "", more)));
}

/* Find who pays, or raise an error unless the grant and the budget allow it. */
static DpermPayer
find_payer(const DpermBudget *budget, const DpermCharge *charge, const DpermFilterSums *taken)
{
	const DpermSpend *spend = &charge->spend;
	DpermPayer	payer;
	DpermPayerFault fault =
		dperm_grants_find(budget, charge->relation, charge->role, spend, &payer);

	if (fault == DPERM_PAYER_NO_GRANT)
		dperm_grants_raise(budget);
	if (OidIsValid(charge->relation))
		check_claim(budget, spend);
	if (!(budget->account.filter.order > 1) && spend->delta > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" has no delta", budget->name),
				 errhint("Omit delta, or ask the owner of the budget for one with a delta.")));
	if (fault == DPERM_PAYER_NO_ROOM && payer.kept >= DPERM_GRANTS_KEPT &&
		OidIsValid(charge->relation))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%d releases are kept for the grant of budget \"%s\" to \"%s\"",
						payer.kept, budget->name, GetUserNameFromId(payer.grantee, false)),
				 errhint("Delete those that are not needed with dp_release_drop; dp_releases "
						 "lists them.")));
	if (fault == DPERM_PAYER_NO_ROOM)
		refuse(psprintf("the grant of budget \"%s\" to \"%s\"", budget->name,
						GetUserNameFromId(payer.grantee, false)),
			   &payer.account, taken, spend->epsilon, "for a larger grant: dp_grant");
	if (!dperm_budget_allows(&budget->account, taken))
		refuse(psprintf("budget \"%s\"", budget->name), &budget->account, taken, spend->epsilon,
			   "to raise it: dp_budget_alter");
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

/* An account after a charge. */
static DpermAccount
charged(DpermAccount account, const DpermFilterSums *taken)
{
	account.spent = dperm_filter_add(&account.spent, taken);
	return account;
}

/* The largest epsilon of a pure release that a budget and a grant of it allow. */
static DpermAmount
left_of(const DpermAccount *budget, const DpermAccount *grant)
{
	DpermAmount left = dperm_filter_left(&budget->filter, &budget->spent);
	DpermAmount granted = grant->limited ? dperm_filter_left(&grant->filter, &grant->spent) : left;

	return dperm_amount_compare(granted, left) < 0 ? granted : left;
}

/* A text of a line, which may be NULL. */
static Datum
text_value(const char *text)
{
	return text ? CStringGetTextDatum(text) : (Datum) 0;
}

/* Write what is spent then: to the budget, the grant and the ledger. */
static DpermLedgerEntry
write_debit(const DpermBudget *budget, const DpermCharge *charge, const DpermFilterSums *taken,
			const DpermPayer *payer)
{
	DpermAccount after = charged(budget->account, taken);
	DpermAccount grant = charged(payer->account, &payer->taken);
	const char *role = GetUserNameFromId(charge->role, true);
	int64		entry = budget->entry + 1;
	const DpermOwnField fields[] = {
		{"budget_id", dperm_own_rows_uuid(budget->id)},
		{"budget", CStringGetTextDatum(budget->name)},
		{"entry", Int64GetDatum(entry)},
		{"at", TimestampTzGetDatum(GetCurrentTimestamp())},
		{"act", CStringGetTextDatum("charge")},
		{"actor_name", dperm_role_name_make(charge->role)},
		{"role", DirectFunctionCall1(namein, CStringGetDatum(role ? role : ""))},
		{"function", text_value(charge->function)},
		{"relation", text_value(relation_name(charge->relation))},
		{"label", text_value(charge->asked.label)},
		{"features", PointerGetDatum(charge->asked.features)},
		{"learner", text_value(charge->asked.learner)},
		{"parameters", PointerGetDatum(charge->asked.parameters)},
		{"purpose", text_value(charge->asked.purpose)},
		{"neighbours", CStringGetTextDatum(dperm_claim_neighbours_name(budget->neighbours))},
		{"unit", text_value(budget->has_unit ? dperm_claim_unit_name(budget->unit) : NULL)},
		{"epsilon", dperm_own_rows_numeric(taken->epsilon)},
		{"delta", dperm_own_rows_numeric(taken->delta)},
		{"divergence", dperm_own_rows_numeric(taken->divergence)},
		{"direct", dperm_own_rows_numeric(taken->direct)},
		{"tail", dperm_own_rows_numeric(taken->tail)},
		{"epsilon_left", dperm_own_rows_numeric(dperm_filter_left(&after.filter, &after.spent))},
		{"grant_left", payer->id ? dperm_own_rows_numeric(left_of(&after, &grant)) : (Datum) 0},
		{"details", text_value(charge->details)}
	};

	dperm_budget_write_sums("budgets", budget->id, &after.spent,
							&(DpermOwnField) {"entry", Int64GetDatum(entry)}, 1);
	dperm_grants_write(payer, OidIsValid(charge->relation));
	dperm_own_rows_insert("ledger", fields, lengthof(fields));
	return (DpermLedgerEntry) {
		.budget_id = budget->id,
		.budget = budget->name,
		.entry = entry,
		.grant_id = payer->id
	};
}

/*
 * Lock the tables that are written, before anything is waited for. Who waits for
 * one of them, such as VACUUM FULL, may wait for the session, which waits for
 * this process: a lock would never be granted.
 */
static void
lock_tables(void)
{
	static const char *const tables[] = {"budgets", "grants", "ledger"};

	for (int i = 0; i < lengthof(tables) && !RecoveryInProgress(); i++)
		LockRelationOid(dperm_own_rows_table(tables[i]), RowExclusiveLock);
}

/* Check and spend, all in one transaction. */
DpermLedgerEntry
dperm_debit(const DpermCharge *charge)
{
	DpermBudget *budget;
	DpermFilterSums taken;
	DpermPayer	payer;

	check_spend(&charge->spend);
	lock_tables();
	budget = dperm_budget_lock(charge->budget);
	taken = dperm_charge_of(&charge->spend, budget->account.filter.order);
	payer = find_payer(budget, charge, &taken);
	return write_debit(budget, charge, &taken, &payer);
}

/*
 * How many such charges an account allows, one after the other: as many as a sum
 * of powers of two allows.
 */
static int64
count_calls(const DpermAccount *account, const DpermFilterSums *taken)
{
	DpermFilterSums powers[CALLS_BITS] = {*taken};
	DpermFilterSums sum = {.epsilon = {0, 0}};
	int64		calls = 0;

	for (int i = 1; i < CALLS_BITS; i++)
		powers[i] = dperm_filter_add(&powers[i - 1], &powers[i - 1]);
	for (int i = CALLS_BITS - 1; i >= 0; i--)
	{
		DpermFilterSums more = dperm_filter_add(&sum, &powers[i]);

		if (dperm_budget_allows(account, &more))
		{
			sum = more;
			calls += INT64CONST(1) << i;
		}
	}
	return calls;
}

/* Preview a charge. */
DpermQuote
dperm_debit_preview(const DpermCharge *charge)
{
	DpermQuote	quote = {.left = "0", .left_after = "0"};
	const DpermBudget *budget = charge->budget;
	DpermPayer	payer;
	DpermPayerFault fault;
	DpermFilterSums taken;

	check_spend(&charge->spend);
	taken = dperm_charge_of(&charge->spend, budget->account.filter.order);
	fault = dperm_grants_find(budget, charge->relation, charge->role, &charge->spend, &payer);
	quote.delta_limit = dperm_amount_double(budget->account.filter.delta);
	if (payer.account.limited)
		quote.delta_limit =
			Min(quote.delta_limit, dperm_amount_double(payer.account.filter.delta));
	quote.allowed = charge->spend.neighbours == budget->neighbours &&
					(!budget->has_unit || charge->spend.unit == budget->unit) &&
					fault == DPERM_PAYER_FOUND && dperm_budget_allows(&budget->account, &taken);
	dperm_amount_print(taken.epsilon, quote.epsilon);
	dperm_amount_print(taken.delta, quote.delta);
	if (fault != DPERM_PAYER_NO_GRANT)
		dperm_amount_print(left_of(&budget->account, &payer.account), quote.left);
	if (quote.allowed)
	{
		DpermAccount after = charged(budget->account, &taken);
		DpermAccount grant = charged(payer.account, &payer.taken);

		dperm_amount_print(left_of(&after, &grant), quote.left_after);
		quote.calls = Min(count_calls(&budget->account, &taken),
						  count_calls(&payer.account, &payer.taken));
	}
	return quote;
}

/* May the role spend at all? */
bool
dperm_debit_permitted(const DpermBudget *budget, Oid relation, Oid role)
{
	DpermPayer	payer;

	return dperm_grants_find(budget, relation, role, NULL, &payer) != DPERM_PAYER_NO_GRANT;
}
