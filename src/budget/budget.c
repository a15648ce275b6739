/*
 * budget.c: budgets and grants as the rows of our tables have them, and spending
 * from them before the first row is read. Trusted.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "budget/budget.h"
#include "core/base/core.h"
#include "relation/relation.h"

#define BUDGETS "budgets"

/* Up to 2^40 calls: more than a budget has of the least epsilon. */
#define CALLS_BITS 40

/* So many at most: releases are in every dump, and a model can have megabytes. */
#define KEPT_MAX 10000

/* Who pays for a charge, and from which grant. */
typedef struct Payer
{
	bool		permitted;		/* an owner, or there is a grant, which is described here */
	bool		allowed;		/* it allows the charge, and does not keep too many releases */
	Oid			grantee;		/* whose grant it is; InvalidOid for owners */
	char	   *id;				/* of this grant, a uuid as text; NULL: none */
	/* order and delta are those that its first charge has fixed, or will fix */
	DpermAccount account;
	DpermFilterSums taken;		/* what the charge takes from it */
	int			kept;			/* how many releases it has paid for that are kept, or more */
} Payer;

/* -------------------------------------------------------------- budgets */

/* Raise the error for a missing budget. A worker does not see one that is not committed. */
static void
raise_no_budget(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("budget \"%s\" does not exist", name),
			 errhint("dp_budgets lists budgets; dp_budget_create creates one, for roles that a "
					 "superuser has granted EXECUTE on it. A new one must be committed before it "
					 "is charged.")));
}

/* Does an account allow a charge, after all that was spent? */
static bool
allows(const DpermAccount *account, const DpermFilterSums *taken)
{
	DpermFilterSums spent = dperm_filter_add(&account->spent, taken);

	return !account->limited || dperm_filter_allows(&account->filter, &spent);
}

/* The sums in a row of budgets or grants. */
static DpermFilterSums
read_sums(const DpermOwnRows *rows, int row)
{
	return (DpermFilterSums) {
		.epsilon = dperm_own_rows_amount(rows, row, "spent_epsilon"),
		.delta = dperm_own_rows_amount(rows, row, "spent_delta"),
		.divergence = dperm_own_rows_amount(rows, row, "spent_divergence"),
		.direct = dperm_own_rows_amount(rows, row, "spent_direct"),
		.tail = dperm_own_rows_amount(rows, row, "spent_tail")
	};
}

/*
 * Write the sums, and up to MORE other columns, to the row of budgets or grants
 * with this id. The budget is locked.
 */
#define MORE 3
static void
write_sums(const char *table, const char *id, const DpermFilterSums *sums,
		   const DpermOwnField *more, int count)
{
	DpermOwnField fields[5 + MORE] = {
		{"spent_epsilon", dperm_own_rows_numeric(sums->epsilon)},
		{"spent_delta", dperm_own_rows_numeric(sums->delta)},
		{"spent_divergence", dperm_own_rows_numeric(sums->divergence)},
		{"spent_direct", dperm_own_rows_numeric(sums->direct)},
		{"spent_tail", dperm_own_rows_numeric(sums->tail)}
	};

	memcpy(fields + 5, more, sizeof(DpermOwnField) * count);
	dperm_own_rows_update(table, id, fields, 5 + count);
}

/* Make a budget from its row. */
static DpermBudget *
make_budget(const DpermOwnRows *rows, int row)
{
	DpermBudget *budget = palloc0(sizeof(DpermBudget));
	char	   *unit = dperm_own_rows_text(rows, row, "unit");

	budget->name = dperm_own_rows_text(rows, row, "budget");
	budget->id = dperm_own_rows_text(rows, row, "id");
	budget->owner = DatumGetObjectId(dperm_own_rows_value(rows, row, "owner"));
	budget->account = (DpermAccount) {
		.limited = true,
		.filter.epsilon = dperm_own_rows_amount(rows, row, "epsilon"),
		.filter.delta = dperm_own_rows_amount(rows, row, "delta"),
		.filter.order = DatumGetFloat8(dperm_own_rows_value(rows, row, "renyi_order")),
		.spent = read_sums(rows, row)
	};
	/* constraints of the table allow no other words */
	budget->neighbours = (DpermNeighbours)
		dperm_find_word(dperm_claim_neighbours_name, DPERM_NEIGHBOURS_COUNT,
						dperm_own_rows_text(rows, row, "neighbours"));
	budget->has_unit = unit != NULL;
	if (unit)
		budget->unit = (DpermUnit) dperm_find_word(dperm_claim_unit_name, DPERM_UNIT_COUNT, unit);
	budget->entry = DatumGetInt64(dperm_own_rows_value(rows, row, "entry"));
	return budget;
}

/* The budget of such a row that has not been dropped, locked on demand; or NULL. */
static DpermBudget *
find_budget(const char *column, Datum value, Snapshot snapshot, bool lock)
{
	DpermOwnRows rows = dperm_own_rows_find(BUDGETS, column, value, snapshot);

	for (int i = 0; i < rows.count; i++)
		if ((!lock || dperm_own_rows_lock(&rows, i)) && !dperm_own_rows_value(&rows, i, "dropped"))
			return make_budget(&rows, i);
	return NULL;
}

/*
 * A budget by name, in its latest state, in the current context; raises an error
 * if there is none.
 */
DpermBudget *
dperm_budget_get(const char *name)
{
	DpermBudget *budget = find_budget("budget", CStringGetTextDatum(name), NULL, false);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* A budget by id, in the state of a snapshot, or the latest; NULL if it is missing. */
DpermBudget *
dperm_budget_find(const char *id, Snapshot snapshot)
{
	return find_budget("id", dperm_own_rows_uuid(id), snapshot, false);
}

/* --------------------------------------------------------------- grants */

/* Raise the error for who may not spend. */
void
dperm_budget_raise_denied(const DpermBudget *budget)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for budget \"%s\"", budget->name),
			 errhint("Its owner can allow it with dp_grant; a grant takes effect when it is "
					 "committed.")));
}

/*
 * Raise an error for a role that was dropped: a session can outlive its role, and
 * still has the rights of itself.
 */
void
dperm_budget_check_role(Oid role)
{
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role with OID %u has been dropped", role)));
}

/* The role whose grant a row is; InvalidOid: none any more, or it is revoked. */
static Oid
grantee_of(const DpermOwnRows *rows, int row)
{
	return dperm_own_rows_value(rows, row, "revoked") ?
		InvalidOid :
		DatumGetObjectId(dperm_own_rows_value(rows, row, "grantee"));
}

/*
 * A row as who pays. A grant without a limit counts as the budget does, so that
 * its sums are known if it gets one.
 */
static Payer
payer_of(const DpermBudget *budget, const DpermOwnRows *rows, int row)
{
	Datum		order = dperm_own_rows_value(rows, row, "renyi_order");
	Payer		payer = {
		.permitted = true,
		.grantee = grantee_of(rows, row),
		.id = dperm_own_rows_text(rows, row, "id"),
		.account.limited = dperm_own_rows_value(rows, row, "epsilon") != 0,
		.account.filter = budget->account.filter,
		.account.spent = read_sums(rows, row),
		.kept = DatumGetInt32(dperm_own_rows_value(rows, row, "kept"))
	};
	DpermFilter *filter = &payer.account.filter;

	/* those that have failed, or were deleted, are not kept */
	if (payer.kept >= KEPT_MAX)
		payer.kept = dperm_own_rows_count("releases", "grant_id", dperm_own_rows_uuid(payer.id),
										  "failure");
	if (payer.account.limited)
		filter->epsilon = dperm_own_rows_amount(rows, row, "epsilon");
	if (dperm_own_rows_value(rows, row, "delta"))
		filter->delta = dperm_own_rows_amount(rows, row, "delta");
	if (payer.account.spent.epsilon > 0)
		filter->order = order ? DatumGetFloat8(order) : 0;
	else if (payer.account.limited)
		filter->order = dperm_filter_order(dperm_amount_double(filter->epsilon),
										   dperm_amount_double(filter->delta));
	return payer;
}

/*
 * The rows of the grants that a role can spend, in order: its own, then those of
 * roles that it is a member of.
 */
static List *
usable_rows(const DpermOwnRows *rows, Oid role)
{
	List	   *roles = NIL;
	List	   *usable = NIL;
	ListCell   *cell;

	for (int i = 0; i < rows->count; i++)
		if (OidIsValid(grantee_of(rows, i)) && grantee_of(rows, i) != role &&
			has_privs_of_role(role, grantee_of(rows, i)))
			roles = lappend_oid(roles, grantee_of(rows, i));
	list_sort(roles, list_oid_cmp);
	roles = lcons_oid(role, roles);
	foreach(cell, roles)
		for (int i = 0; i < rows->count; i++)
			if (grantee_of(rows, i) == lfirst_oid(cell))
				usable = lappend_int(usable, i);
	return usable;
}

/*
 * Who pays for a charge (NULL: none): owners of the budget or of the relation
 * (InvalidOid: none), and members of these, pay from the budget alone; others
 * need a grant, their own or that of a role they are a member of. The first one
 * that allows it pays. Whoever writes a grant has locked its budget.
 */
static Payer
find_payer(const DpermBudget *budget, Oid relation, Oid role, const DpermSpend *spend)
{
	Oid			owner = OidIsValid(relation) ? dperm_relation_owner(relation) : InvalidOid;
	Payer		first = {.permitted = false};
	DpermOwnRows rows;
	ListCell   *cell;

	if (has_privs_of_role(role, budget->owner) ||
		(OidIsValid(owner) && has_privs_of_role(role, owner)))
		return (Payer) {.permitted = true, .allowed = true};
	rows = dperm_own_rows_find("grants", "budget_id", dperm_own_rows_uuid(budget->id), NULL);
	foreach(cell, usable_rows(&rows, role))
	{
		Payer		found = payer_of(budget, &rows, lfirst_int(cell));

		if (spend)
			found.taken = dperm_charge_of(spend, found.account.filter.order);
		found.allowed = (found.kept < KEPT_MAX || !OidIsValid(relation)) &&
			allows(&found.account, &found.taken);
		if (found.allowed)
			return found;
		if (!first.permitted)
			first = found;
	}
	return first;
}

/*
 * May this role spend from a budget at all? As of the latest state: this is for
 * the permission error that comes before any other; the charge checks again.
 */
bool
dperm_budget_permits(const DpermBudget *budget, Oid relation, Oid role)
{
	return find_payer(budget, relation, role, NULL).permitted;
}

/*
 * Write what the payer's grant is after a charge, and whether its release is
 * kept. The first time, this fixes its order and delta.
 */
static void
write_grant(const Payer *payer, const DpermAccount *after, bool keeps)
{
	double		order = after->filter.order;
	const DpermOwnField fields[] = {
		{"renyi_order", order > 1 ? Float8GetDatum(order) : (Datum) 0},
		{"delta", dperm_own_rows_numeric(after->filter.delta)},
		{"kept", Int32GetDatum(payer->kept + 1)}
	};

	write_sums("grants", payer->id, &after->spent, fields, keeps ? 3 : 2);
}

/* ------------------------------------------------------------- charging */

/* Raise an error for a charge that cannot be computed, whatever the budget. */
static void
check_spend(const DpermSpend *spend)
{
	if (!isfinite(spend->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be finite when a budget is charged"),
				 errhint("Without noise nothing is protected.")));
	if (!(spend->epsilon >= DPERM_EPSILON_MIN && spend->epsilon <= DPERM_EPSILON_MAX) ||
		!(spend->delta == 0 || (spend->delta >= DPERM_DELTA_MIN && spend->delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be between %g and %d, and delta 0, or at least %g and less "
						"than 1", DPERM_EPSILON_MIN, DPERM_EPSILON_MAX, DPERM_DELTA_MIN)));
}

/* Raise an error unless neighbours and unit are those of the budget. */
static void
check_fit(const DpermBudget *budget, const DpermSpend *spend)
{
	const char *neighbours = dperm_claim_neighbours_name(budget->neighbours);

	if (spend->neighbours != budget->neighbours)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neighbours of budget \"%s\" are \"%s\", not \"%s\"", budget->name,
						neighbours, dperm_claim_neighbours_name(spend->neighbours)),
				 errhint("Specify neighbours => '%s'.", neighbours)));
	if (!budget->has_unit || spend->unit != budget->unit)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("budget \"%s\" has another unit of privacy", budget->name),
				 errhint("Protect the relation again.")));
}

/*
 * Raise an error for a budget, or a grant of it, that has too little left of
 * epsilon; or of delta, if it would allow the call without one. more is how its
 * owner can give more.
 */
static void
refuse(const char *whose, const DpermAccount *account, const DpermFilterSums *taken,
	   double epsilon, const char *more)
{
	DpermFilterSums pure = dperm_filter_pure(epsilon, account->filter.order);
	bool		is_delta = allows(account, &pure);
	const char *what = is_delta ? "delta" : "epsilon";
	DpermAmount left = is_delta ?
		dperm_filter_delta_left(&account->filter, &account->spent, epsilon) :
		dperm_filter_left(&account->filter, &account->spent);

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("%s has too little %s left", whose, what),
			 errdetail("The call costs %s %.15g; a single call can still have %s %.15g.", what,
					   dperm_amount_double(is_delta ? taken->delta : taken->epsilon), what,
					   dperm_amount_double(left)),
			 errhint("Use no more than that, or ask the owner of the budget %s.", more)));
}

/* Find who pays, or raise an error unless the grant and the budget allow it. */
static Payer
require_payer(const DpermBudget *budget, const DpermCharge *charge, const DpermFilterSums *taken)
{
	const DpermSpend *spend = &charge->spend;
	Payer		payer = find_payer(budget, charge->relation, charge->role, spend);
	char	   *grant;

	if (!payer.permitted)
		dperm_budget_raise_denied(budget);
	if (OidIsValid(charge->relation))
		check_fit(budget, spend);
	if (!(budget->account.filter.order > 1) && spend->delta > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" has no delta", budget->name),
				 errhint("Omit delta, or ask the owner of the budget for one with a delta.")));
	if (!payer.allowed)
	{
		grant = psprintf("the grant of budget \"%s\" to \"%s\"", budget->name,
						 GetUserNameFromId(payer.grantee, false));
		if (payer.kept >= KEPT_MAX && OidIsValid(charge->relation))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("%d releases are kept for %s", payer.kept, grant),
					 errhint("Delete those that are not needed with dp_release_drop; dp_releases "
							 "lists them.")));
		refuse(grant, &payer.account, taken, spend->epsilon, "for a larger grant: dp_grant");
	}
	if (!allows(&budget->account, taken))
		refuse(psprintf("budget \"%s\"", budget->name), &budget->account, taken, spend->epsilon,
			   "to raise it: dp_budget_alter");
	return payer;
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

	return granted < left ? granted : left;
}

/* A text of a line, which may be NULL. */
static Datum
text_value(const char *text)
{
	return text ? CStringGetTextDatum(text) : (Datum) 0;
}

/* Write what is spent then: to the budget, the grant and the ledger. */
static DpermLedgerEntry
write_charge(const DpermBudget *budget, const DpermCharge *charge, const DpermFilterSums *taken,
			 const Payer *payer)
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
		{"actor_name", dperm_own_rows_role(charge->role)},
		{"role", DirectFunctionCall1(namein, CStringGetDatum(role ? role : ""))},
		{"function", text_value(charge->function)},
		{"relation", text_value(OidIsValid(charge->relation) ?
								dperm_relation_name(charge->relation) : NULL)},
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

	write_sums(BUDGETS, budget->id, &after.spent,
			   &(DpermOwnField) {"entry", Int64GetDatum(entry)}, 1);
	if (payer->id)
		write_grant(payer, &grant, OidIsValid(charge->relation));
	dperm_own_rows_insert("ledger", fields, lengthof(fields));
	return (DpermLedgerEntry) {
		.budget_id = budget->id,
		.budget = budget->name,
		.entry = entry,
		.grant_id = payer->id
	};
}

/*
 * Spend, or raise an error, in this transaction: that of a worker (worker.c),
 * which commits it before any row is read. The budget is locked until then. The
 * conditions are: neighbours and unit are the budget's; the role may spend; the
 * filter allows it. That the budget is that of the relation is known: its
 * registration is locked (protection.c).
 */
DpermLedgerEntry
dperm_budget_charge(const DpermCharge *charge)
{
	static const char *const written[] = {BUDGETS, "grants", "ledger"};
	DpermBudget *budget;
	DpermFilterSums taken;
	Payer		payer;

	check_spend(&charge->spend);

	/*
	 * before anything is waited for: who waits for one of them, such as VACUUM
	 * FULL, may wait for the session, which waits for this process, and a lock
	 * would never be granted
	 */
	for (int i = 0; i < lengthof(written); i++)
		LockRelationOid(dperm_own_rows_table(written[i]), RowExclusiveLock);
	budget = find_budget("id", dperm_own_rows_uuid(charge->budget->id), NULL, true);
	if (budget == NULL)
		raise_no_budget(charge->budget->name);
	taken = dperm_charge_of(&charge->spend, budget->account.filter.order);
	payer = require_payer(budget, charge, &taken);
	return write_charge(budget, charge, &taken, &payer);
}

/*
 * How many such charges an account allows, one after the other: as many as a sum
 * of powers of two allows.
 */
static int64
count_calls(const DpermAccount *account, const DpermFilterSums *taken)
{
	DpermFilterSums powers[CALLS_BITS] = {*taken};
	DpermFilterSums sum = {0};
	int64		calls = 0;

	for (int i = 1; i < CALLS_BITS; i++)
		powers[i] = dperm_filter_add(&powers[i - 1], &powers[i - 1]);
	for (int i = CALLS_BITS - 1; i >= 0; i--)
	{
		DpermFilterSums more = dperm_filter_add(&sum, &powers[i]);

		if (allows(account, &more))
		{
			sum = more;
			calls += INT64CONST(1) << i;
		}
	}
	return calls;
}

/* What a charge would take, as of the latest state. */
DpermQuote
dperm_budget_preview(const DpermCharge *charge)
{
	DpermQuote	quote = {.left = "0", .left_after = "0"};
	const DpermBudget *budget = charge->budget;
	DpermFilterSums taken;
	Payer		payer;

	check_spend(&charge->spend);
	check_fit(budget, &charge->spend);
	taken = dperm_charge_of(&charge->spend, budget->account.filter.order);
	payer = find_payer(budget, charge->relation, charge->role, &charge->spend);
	quote.delta_limit = dperm_amount_double(budget->account.filter.delta);
	if (payer.account.limited)
		quote.delta_limit =
			Min(quote.delta_limit, dperm_amount_double(payer.account.filter.delta));
	quote.allowed = payer.allowed && allows(&budget->account, &taken);
	dperm_amount_print(taken.epsilon, quote.epsilon);
	dperm_amount_print(taken.delta, quote.delta);
	if (payer.permitted)
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
