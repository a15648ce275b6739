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

/* What is being charged, in the units of the budget's filter. */
typedef struct Debit
{
	const DpermCharge *charge;
	DpermFilterSums taken;
} Debit;

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
amount_text(int which, DpermAmount amount)
{
	char	   *text;

	if (which == DPERM_PAYER_DELTA)
		return psprintf("%.15g", dperm_amount_double(amount));
	text = palloc(DPERM_AMOUNT_TEXT);
	dperm_amount_print(amount, text);
	return text;
}

/*
 * Raise for a budget, or a grant of it, that has too little left of epsilon or
 * delta: what it is called, and how its owner can give more.
 */
static void
raise_shortage(const char *whose, int which, const char *cost, const char *left, const char *more)
{
	bool		epsilon = which == DPERM_PAYER_EPSILON;
	bool		nothing = strcmp(left, "0") == 0;
	const char *what = epsilon ? "epsilon" : "delta";

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 !nothing ? errmsg("%s has too little %s left", whose, what) :
			 epsilon  ? errmsg("%s is exhausted", whose) :
						errmsg("%s has no delta left", whose),
			 errdetail("The call costs %s %s; a single call can still have %s %s.", what, cost,
					   what, left),
			 nothing && epsilon ? errhint("Ask the owner of the budget %s.", more) :
								  errhint("Use a smaller %s%s, or ask the owner of the budget %s.",
										  what, epsilon ? "" : " or none", more)));
}

/* Find who pays, or raise. */
static DpermPayer
find_payer(const DpermBudget *budget, const Debit *debit)
{
	DpermPayer	payer;
	DpermPayerFault fault =
		dperm_grants_find(budget, debit->charge->relation, debit->charge->role,
						  debit->taken.epsilon, debit->taken.delta, &payer);

	if (fault == DPERM_PAYER_NO_GRANT)
		dperm_grants_raise(budget);
	if (fault == DPERM_PAYER_NO_ROOM && payer.kept >= DPERM_GRANTS_KEPT &&
		OidIsValid(debit->charge->relation))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%d releases are kept for the grant of budget \"%s\" to \"%s\"",
						payer.kept, budget->name, GetUserNameFromId(payer.grantee, false)),
				 errhint("Delete those that are not needed with dp_release_drop; dp_releases "
						 "lists them.")));
	if (fault == DPERM_PAYER_NO_ROOM)
	{
		int			which =
			dperm_grants_suffice(&payer, DPERM_PAYER_EPSILON, debit->taken.epsilon) ?
				DPERM_PAYER_DELTA :
				DPERM_PAYER_EPSILON;

		raise_shortage(psprintf("the grant of budget \"%s\" to \"%s\"", budget->name,
								GetUserNameFromId(payer.grantee, false)),
					   which,
					   amount_text(which, which == DPERM_PAYER_EPSILON ? debit->taken.epsilon :
																		 debit->taken.delta),
					   amount_text(which, payer.left[which]), "for a larger grant: dp_grant");
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

/* Does the budget allow a call, after all that was spent? */
static bool
allows(const DpermBudget *budget, const DpermSpend *spend)
{
	DpermFilterSums taken = dperm_charge_of(spend, budget->filter.order);
	DpermFilterSums spent = dperm_filter_add(&budget->spent, &taken);

	return dperm_filter_allows(&budget->filter, &spent);
}

/*
 * Raise if the budget does not allow it; else what it has spent then. If it
 * would be allowed without its delta, that is the cause.
 */
static DpermFilterSums
check_filter(const DpermBudget *budget, const Debit *debit)
{
	DpermFilterSums spent = dperm_filter_add(&budget->spent, &debit->taken);
	DpermSpend	pure = {.epsilon = debit->charge->spend.epsilon};
	char	   *whose = psprintf("budget \"%s\"", budget->name);

	if (!(budget->filter.order > 1) && debit->charge->spend.delta > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" has no delta", budget->name),
				 errhint("Omit delta, or ask the owner of the budget for one with a delta.")));
	if (dperm_filter_allows(&budget->filter, &spent))
		return spent;
	if (allows(budget, &pure))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s has too little delta left", whose),
				 errdetail("The call costs delta %s.",
						   amount_text(DPERM_PAYER_DELTA, debit->taken.delta)),
				 errhint("Use a smaller delta or none, or ask the owner of the budget to raise it: "
						 "dp_budget_alter.")));
	raise_shortage(whose, DPERM_PAYER_EPSILON,
				   amount_text(DPERM_PAYER_EPSILON, debit->taken.epsilon),
				   amount_text(DPERM_PAYER_EPSILON,
							   dperm_filter_left(&budget->filter, &budget->spent)),
				   "to raise it: dp_budget_alter");
	return spent;				/* keep compiler quiet */
}

/*
 * What a payer, who has just spent some epsilon, can still spend of a budget in
 * a single pure release.
 */
static DpermAmount
left_for(const DpermBudget *budget, const DpermFilterSums *spent, DpermPayer payer,
		 DpermAmount epsilon)
{
	DpermAmount left = dperm_filter_left(&budget->filter, spent);

	payer.left[DPERM_PAYER_EPSILON] = dperm_amount_less(payer.left[DPERM_PAYER_EPSILON], epsilon);
	return dperm_grants_suffice(&payer, DPERM_PAYER_EPSILON, left) ?
			   left :
			   payer.left[DPERM_PAYER_EPSILON];
}

/* A text of a line, which may be NULL. */
static Datum
text_value(const char *text)
{
	return text ? CStringGetTextDatum(text) : (Datum) 0;
}

/* Write what is spent then: to the budget, the grant and the ledger. */
static DpermLedgerEntry
write_debit(const DpermBudget *budget, const Debit *debit, const DpermPayer *payer,
			const DpermFilterSums *spent)
{
	DpermAmount left = dperm_filter_left(&budget->filter, spent);
	DpermAmount grant_left = left_for(budget, spent, *payer, debit->taken.epsilon);
	const DpermCharge *charge = debit->charge;
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
		{"epsilon", dperm_own_rows_numeric(debit->taken.epsilon)},
		{"delta", dperm_own_rows_numeric(debit->taken.delta)},
		{"divergence", dperm_own_rows_numeric(debit->taken.divergence)},
		{"direct", dperm_own_rows_numeric(debit->taken.direct)},
		{"tail", dperm_own_rows_numeric(debit->taken.tail)},
		{"epsilon_left", dperm_own_rows_numeric(left)},
		{"grant_left", payer->id ? dperm_own_rows_numeric(grant_left) : (Datum) 0},
		{"details", text_value(charge->details)}
	};

	dperm_budget_write_spent(budget, spent, entry);
	dperm_grants_write_spent(budget, payer, debit->taken.epsilon, debit->taken.delta,
							 OidIsValid(charge->relation));
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
	Debit		debit = {.charge = charge};
	DpermBudget *budget;
	DpermPayer	payer;
	DpermFilterSums spent;

	check_spend(&charge->spend);
	lock_tables();
	debit.taken = dperm_charge_of(&charge->spend, charge->budget->filter.order);

	/* check the grant before taking the lock, which others wait for */
	(void) find_payer(charge->budget, &debit);
	budget = dperm_budget_lock(charge->budget);
	debit.taken = dperm_charge_of(&charge->spend, budget->filter.order);
	if (OidIsValid(charge->relation))
		check_claim(budget, &charge->spend);
	payer = find_payer(budget, &debit);
	spent = check_filter(budget, &debit);
	return write_debit(budget, &debit, &payer, &spent);
}

/*
 * How many such charges the budget and the grant that pays allow, one after the
 * other: as many as a sum of powers of two allows.
 */
static int64
count_calls(const DpermBudget *budget, const DpermFilterSums *taken, const DpermPayer *payer)
{
	DpermFilterSums powers[CALLS_BITS] = {*taken};
	DpermFilterSums sum = {.epsilon = {0, 0}};
	int64		calls = 0;

	for (int i = 1; i < CALLS_BITS; i++)
		powers[i] = dperm_filter_add(&powers[i - 1], &powers[i - 1]);
	for (int i = CALLS_BITS - 1; i >= 0; i--)
	{
		DpermFilterSums more = dperm_filter_add(&sum, &powers[i]);
		DpermFilterSums spent = dperm_filter_add(&budget->spent, &more);

		if (dperm_filter_allows(&budget->filter, &spent) &&
			dperm_grants_suffice(payer, DPERM_PAYER_EPSILON, more.epsilon) &&
			dperm_grants_suffice(payer, DPERM_PAYER_DELTA, more.delta))
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
	DpermQuote	quote = {.allowed = false};
	const DpermBudget *budget = charge->budget;
	DpermPayer	payer;
	DpermPayerFault fault;
	DpermFilterSums taken;
	DpermFilterSums spent;

	check_spend(&charge->spend);
	taken = dperm_charge_of(&charge->spend, budget->filter.order);
	spent = dperm_filter_add(&budget->spent, &taken);
	fault = dperm_grants_find(budget, charge->relation, charge->role, taken.epsilon, taken.delta,
							  &payer);
	quote.allowed = charge->spend.neighbours == budget->neighbours &&
					(!budget->has_unit || charge->spend.unit == budget->unit) &&
					fault == DPERM_PAYER_FOUND && dperm_filter_allows(&budget->filter, &spent);
	dperm_amount_print(taken.epsilon, quote.epsilon);
	dperm_amount_print(taken.delta, quote.delta);
	strlcpy(quote.left, "0", sizeof(quote.left));
	strlcpy(quote.left_after, "0", sizeof(quote.left_after));
	if (fault != DPERM_PAYER_NO_GRANT)
		dperm_amount_print(left_for(budget, &budget->spent, payer, (DpermAmount) {0, 0}),
						   quote.left);
	if (quote.allowed)
	{
		dperm_amount_print(left_for(budget, &spent, payer, taken.epsilon), quote.left_after);
		quote.calls = count_calls(budget, &taken, &payer);
	}
	return quote;
}

/* May the role spend at all? */
bool
dperm_debit_permitted(const DpermBudget *budget, Oid relation, Oid role)
{
	DpermAmount nothing = {0, 0};
	DpermPayer	payer;

	return dperm_grants_find(budget, relation, role, nothing, nothing, &payer) !=
		DPERM_PAYER_NO_GRANT;
}
