/*
 * budget.c: budgets and their ledger in our own tables.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/message.h"
#include "budget/budget.h"
#include "budget/object_name.h"
#include "budget/own_rows.h"

#define ACCOUNTS "dp_budget_accounts"

/*
 * Raise the error for a missing budget. The worker does not see what the
 * session has not committed.
 */
static void
raise_no_budget(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("budget \"%s\" does not exist", name),
			 errhint(MyBgworkerEntry ? "A budget that this transaction has created must be "
									   "committed before it is charged." :
					 "dp_budgets lists budgets; dp_budget_create creates one.")));
}

/* Parse a word in a column of the table. */
static int
parse_word(const char *word, int (*parse) (const char *name))
{
	int			found = parse(word);

	if (found < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid word \"%s\" in the table of budgets", word)));
	return found;
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
	budget->filter.epsilon = dperm_own_rows_amount(rows, row, "epsilon");
	budget->filter.delta = dperm_own_rows_amount(rows, row, "delta");
	budget->filter.order = DatumGetFloat8(dperm_own_rows_value(rows, row, "renyi_order"));
	budget->neighbours = (DpermNeighbours) parse_word(dperm_own_rows_text(rows, row, "neighbours"),
													  dperm_claim_neighbours_parse);
	budget->has_unit = unit != NULL;
	if (unit)
		budget->unit = (DpermUnit) parse_word(unit, dperm_claim_unit_parse);
	budget->spent.epsilon = dperm_own_rows_amount(rows, row, "spent_epsilon");
	budget->spent.delta = dperm_own_rows_amount(rows, row, "spent_delta");
	budget->spent.divergence = dperm_own_rows_amount(rows, row, "spent_divergence");
	budget->spent.direct = dperm_own_rows_amount(rows, row, "spent_direct");
	budget->spent.tail = dperm_own_rows_amount(rows, row, "spent_tail");
	budget->since = DatumGetInt64(dperm_own_rows_value(rows, row, "since"));
	return budget;
}

/* The oldest of some budgets; for two of the same age, always the same one. */
static int
oldest(const DpermOwnRows *rows)
{
	int			found = 0;

	for (int i = 1; i < rows->count; i++)
	{
		TimestampTz one = DatumGetTimestampTz(dperm_own_rows_value(rows, i, "created"));
		TimestampTz other = DatumGetTimestampTz(dperm_own_rows_value(rows, found, "created"));

		if (one < other || (one == other && strcmp(dperm_own_rows_text(rows, i, "id"),
												   dperm_own_rows_text(rows, found, "id")) < 0))
			found = i;
	}
	return found;
}

/* The budget of a row, locked on demand; NULL if there is no row. */
static DpermBudget *
fetch_budget(DpermOwnRows rows, bool lock)
{
	int			row = oldest(&rows);

	if (rows.count == 0 || (lock && !dperm_own_rows_lock(&rows, row)))
		return NULL;
	return make_budget(&rows, row);
}

/*
 * The lock on what a budget protects. It is taken by whoever has locked the row,
 * and is there for those who hold it longer than that.
 */
static void
lock_protection(const DpermBudget *budget, LOCKMODE mode, bool session, LOCKTAG *tag)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, dperm_own_tables_find(ACCOUNTS),
					   DatumGetUInt32(hash_any((const unsigned char *) budget->id,
											   strlen(budget->id))), 1);
	(void) LockAcquire(tag, mode, session, false);
}

/* Read a budget. */
DpermBudget *
dperm_budget_find(const char *name, bool lock)
{
	DpermBudget *budget =
		fetch_budget(dperm_own_rows_find(ACCOUNTS, "budget", CStringGetTextDatum(name)), lock);
	LOCKTAG		tag;

	if (budget && lock)
		lock_protection(budget, ExclusiveLock, false, &tag);
	return budget;
}

/* Read a budget, or raise. */
DpermBudget *
dperm_budget_get(const char *name, bool lock)
{
	DpermBudget *budget = dperm_budget_find(name, lock);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* What this process keeps others from changing. */
static LOCKTAG held;

/* Lock a budget for a charge. */
DpermBudget *
dperm_budget_hold(const char *id, const char *name)
{
	DpermBudget *budget =
		fetch_budget(dperm_own_rows_find(ACCOUNTS, "id", dperm_own_rows_uuid(id)), true);

	if (budget == NULL)
		raise_no_budget(name);
	lock_protection(budget, ShareLock, true, &held);
	return budget;
}

/* Let others go on. */
void
dperm_budget_let_go(void)
{
	(void) LockRelease(&held, ShareLock, true);
}

/* Write what has been spent. */
void
dperm_budget_write_spent(const DpermBudget *budget, const DpermFilterSums *spent)
{
	DpermOwnRows rows = dperm_own_rows_find(ACCOUNTS, "id", dperm_own_rows_uuid(budget->id));
	const DpermOwnField fields[] = {
		{"spent_epsilon", dperm_own_tables_numeric(spent->epsilon)},
		{"spent_delta", dperm_own_tables_numeric(spent->delta)},
		{"spent_divergence", dperm_own_tables_numeric(spent->divergence)},
		{"spent_direct", dperm_own_tables_numeric(spent->direct)},
		{"spent_tail", dperm_own_tables_numeric(spent->tail)}
	};

	if (rows.count != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
	dperm_own_rows_update(&rows, 0, fields, lengthof(fields));
}

/*
 * Raise an error unless the role is the owner or a member of it; superusers are
 * members of all roles.
 */
static void
check_budget_owner(const DpermBudget *budget, Oid role)
{
	if (!has_privs_of_role(role, budget->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of budget \"%s\"", budget->name)));
}

/*
 * A budget owned by the role, locked. The owner is checked first, because a
 * lock could make the owner wait.
 */
DpermBudget *
dperm_budget_get_own(const char *name, Oid role)
{
	DpermBudget *budget;

	check_budget_owner(dperm_budget_get(name, false), role);
	budget = dperm_budget_get(name, true);
	check_budget_owner(budget, role);
	return budget;
}

/* Set the unit of a budget, or check it. */
void
dperm_budget_settle_unit(DpermTablesScope *scope, DpermBudget *budget, DpermUnit unit, bool others)
{
	Oid			types[] = {TEXTOID, TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id),
					  CStringGetTextDatum(dperm_claim_unit_name(unit))};

	if (budget->has_unit && budget->unit == unit)
		return;
	if (budget->has_unit && (others || dperm_budget_is_charged(budget)))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("budget \"%s\" counts %ss, "
					"not %ss",
					budget->name, dperm_claim_unit_name(budget->unit), dperm_claim_unit_name(unit)),
			 errhint("%s, or %s.",
					 unit == DPERM_UNIT_ROW ?
						 "Specify unit, the column that identifies persons" :
						 "Protect the relation without a unit, after dp_unprotect if it has one",
					 dperm_budget_is_charged(budget) ?
						 "create another budget" :
						 "call dp_unprotect for the other relations of the budget, as nothing has "
						 "been charged yet")));
	if (dperm_own_tables_query(scope, "UPDATE dperm.dp_budget_accounts SET unit = $2 WHERE id = "
									  "$1::uuid", 2, types, values, NULL) != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
	budget->has_unit = true;
	budget->unit = unit;
}

/* The name of a role, or its OID if it has been dropped. */
static const char *
role_name(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return name ? name : psprintf("%u", role);
}

/* The number of the next line of the ledger. */
int64
dperm_budget_next_entry(const char *budget)
{
	DpermOwnRows last =
		dperm_own_rows_last("dp_ledger_entries", "budget", CStringGetTextDatum(budget), "entry");

	return last.count == 0 ? 1 : DatumGetInt64(dperm_own_rows_value(&last, 0, "entry")) + 1;
}

/* A text or an amount of a line, which may be NULL. */
static Datum
text_value(const char *text)
{
	return text ? CStringGetTextDatum(text) : (Datum) 0;
}

static Datum
amount_value(const DpermAmount *amount)
{
	return amount ? dperm_own_tables_numeric(*amount) : (Datum) 0;
}

/*
 * Append a line. The caller holds a lock on the budget's row, so that numbers
 * have no gaps.
 */
int64
dperm_budget_append(const DpermBudgetLine *line)
{
	int64		entry = dperm_budget_next_entry(line->budget);
	const char *id = line->id ? line->id : dperm_budget_get(line->budget, false)->id;
	DpermAsked	nothing = {.label = NULL};
	const DpermAsked *asked = line->asked ? line->asked : &nothing;
	const DpermOwnField fields[] = {
		{"budget_id", dperm_own_rows_uuid(id)},
		{"budget", CStringGetTextDatum(line->budget)},
		{"entry", Int64GetDatum(entry)},
		{"at", TimestampTzGetDatum(GetCurrentTimestamp())},
		{"act", CStringGetTextDatum(line->act)},
		{"actor_name", dperm_object_name_make(line->role)},
		{"role", DirectFunctionCall1(namein, CStringGetDatum(role_name(line->role)))},
		{"function", text_value(line->function)},
		{"relation", text_value(line->relation)},
		{"label", text_value(asked->label)},
		{"features", PointerGetDatum(asked->features)},
		{"learner", text_value(asked->learner)},
		{"parameters", PointerGetDatum(asked->parameters)},
		{"purpose", text_value(asked->purpose)},
		{"neighbours", text_value(line->neighbours)},
		{"unit", text_value(line->unit)},
		{"epsilon", amount_value(line->epsilon)},
		{"delta", amount_value(line->delta)},
		{"divergence", amount_value(line->charge ? &line->charge->divergence : NULL)},
		{"direct", amount_value(line->charge ? &line->charge->direct : NULL)},
		{"tail", amount_value(line->charge ? &line->charge->tail : NULL)},
		{"epsilon_left", amount_value(line->left)},
		{"grant_left", amount_value(line->grant_left)},
		{"details", text_value(line->details ?
							   dperm_message_clip(line->details, DPERM_BUDGET_DETAILS) : NULL)}
	};

	dperm_own_rows_insert("dp_ledger_entries", fields, lengthof(fields));
	return entry;
}

/* Record an act of management without amounts. */
void
dperm_budget_note(const char *budget, const char *act, Oid role, const char *relation,
				  const char *details)
{
	DpermBudgetLine line = {
		.budget = budget, .act = act, .role = role, .relation = relation, .details = details};

	(void) dperm_budget_append(&line);
}
