/*
 * budget.c: budgets and their ledger, as our own tables have them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "budget.h"

/* A budget that there is not. The worker does not see what the session has not committed. */
static void
raise_no_budget(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("budget \"%s\" does not exist", name),
			 errhint(MyBgworkerEntry ? "One that this transaction has made has to be committed before it is charged." :
					 "dp_budgets lists budgets; dp_budget_create makes one.")));
}

/* A word of the table. */
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

#define BUDGET_SQL \
	"SELECT owner::oid, epsilon, delta, renyi_order, neighbours, unit, spent_epsilon, spent_delta, spent_divergence, spent_direct, since, id, budget" \
	" FROM %s.dp_budget_accounts WHERE "
#define BY_NAME_SQL BUDGET_SQL "budget OPERATOR(pg_catalog.=) $1 ORDER BY created, id LIMIT 1"
#define BY_ID_SQL BUDGET_SQL "id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid"

/* Read the budget that a query finds by a name or an id, or return NULL. */
static DpermBudget *
fetch_budget(DpermTablesScope *scope, const char *query, const char *key)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(key)};
	DpermBudget *budget;
	char	   *unit;
	bool		isnull;

	if (dperm_tables_query(scope, query, 1, types, values, NULL) == 0)
		return NULL;
	budget = palloc0(sizeof(DpermBudget));
	budget->name = dperm_tables_value(0, 13);
	budget->id = dperm_tables_value(0, 12);
	budget->owner = dperm_tables_oid(0, 1);
	budget->filter.epsilon = dperm_tables_amount(0, 2);
	budget->filter.delta = dperm_tables_amount(0, 3);
	budget->filter.order = DatumGetFloat8(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 4, &isnull));
	budget->neighbours = (DpermNeighbours) parse_word(dperm_tables_value(0, 5), dperm_claim_neighbours_parse);
	unit = dperm_tables_value(0, 6);
	budget->has_unit = unit != NULL;
	if (unit)
		budget->unit = (DpermUnit) parse_word(unit, dperm_claim_unit_parse);
	budget->spent.epsilon = dperm_tables_amount(0, 7);
	budget->spent.delta = dperm_tables_amount(0, 8);
	budget->spent.divergence = dperm_tables_amount(0, 9);
	budget->spent.direct = dperm_tables_amount(0, 10);
	budget->since = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 11, &isnull));
	return budget;
}

/* Read a budget. */
DpermBudget *
dperm_budget_find(DpermTablesScope *scope, const char *name, bool lock)
{
	return fetch_budget(scope, lock ? BY_NAME_SQL " FOR UPDATE" : BY_NAME_SQL, name);
}

/* Read a budget, or raise. */
DpermBudget *
dperm_budget_get(DpermTablesScope *scope, const char *name, bool lock)
{
	DpermBudget *budget = dperm_budget_find(scope, name, lock);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* Read a budget by its id, or raise. */
DpermBudget *
dperm_budget_get_by_id(DpermTablesScope *scope, const char *id, const char *name, bool lock)
{
	DpermBudget *budget = fetch_budget(scope, lock ? BY_ID_SQL " FOR UPDATE" : BY_ID_SQL, id);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* The owner and its members; superusers are members of all roles. */
void
dperm_budget_check_owner(const DpermBudget *budget, Oid role)
{
	if (!has_privs_of_role(role, budget->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of budget \"%s\"", budget->name)));
}

/* A budget of the role's own, locked. Nobody else gets as far as the lock, which could make the owner wait. */
DpermBudget *
dperm_budget_get_own(DpermTablesScope *scope, const char *name, Oid role)
{
	DpermBudget *budget;

	dperm_budget_check_owner(dperm_budget_get(scope, name, false), role);
	budget = dperm_budget_get(scope, name, true);
	dperm_budget_check_owner(budget, role);
	return budget;
}

/* Settle the unit. */
void
dperm_budget_settle_unit(DpermTablesScope *scope, DpermBudget *budget, DpermUnit unit)
{
	Oid			types[] = {TEXTOID, TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id), CStringGetTextDatum(dperm_claim_unit_name(unit))};

	if (budget->has_unit && budget->unit != unit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("budget \"%s\" counts %ss, not %ss", budget->name, dperm_claim_unit_name(budget->unit), dperm_claim_unit_name(unit)),
				 errhint("All relations that charge a budget have the same unit of privacy. Create another budget for this one.")));
	if (budget->has_unit)
		return;
	if (dperm_tables_query(scope, "UPDATE %s.dp_budget_accounts SET unit = $2 WHERE id = $1::uuid", 2, types, values, NULL) != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
	budget->has_unit = true;
	budget->unit = unit;
}

/* The name of a role, or its OID if it is gone. */
static const char *
role_name(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return name ? name : psprintf("%u", role);
}

/* The number of the next line, in the newest state, whatever the snapshot of the transaction is. */
int64
dperm_budget_next_entry(DpermTablesScope *scope, const char *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget)};
	bool		isnull;

	PushActiveSnapshot(GetLatestSnapshot());
	(void) dperm_tables_execute(psprintf("SELECT entry + 1 FROM %s.dp_ledger_entries WHERE budget = $1 ORDER BY entry DESC LIMIT 1", scope->schema), 1, types, values, NULL, true);
	PopActiveSnapshot();
	if (SPI_processed == 0)
		return 1;
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

/* A text for the ledger, cut between characters if it is too long. */
static const char *
clip_details(const char *text)
{
	int			len = strlen(text);

	if (len <= DPERM_BUDGET_DETAILS)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, len, DPERM_BUDGET_DETAILS - (int) strlen("...")), text);
}

/* Append a line. Whoever does holds a lock on the budget's row, so that numbers have no gaps. */
int64
dperm_budget_append(DpermTablesScope *scope, const DpermBudgetLine *line)
{
	int64		entry = dperm_budget_next_entry(scope, line->budget);
	Oid			types[] = {TEXTOID, TEXTOID, NAMEOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID, TEXTOID, INT8OID, TEXTOID};
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types) + 1];
	const char *texts[] = {line->budget, line->act, NULL, line->function, line->relation, line->neighbours, line->unit, NULL, NULL, NULL, NULL, NULL, line->details ? clip_details(line->details) : NULL, NULL, line->id};

	StaticAssertStmt(lengthof(texts) == lengthof(types), "a text for each argument");
	for (int i = 0; i < lengthof(types); i++)
	{
		nulls[i] = texts[i] ? ' ' : 'n';
		values[i] = texts[i] ? CStringGetTextDatum(texts[i]) : (Datum) 0;
	}
	nulls[lengthof(types)] = '\0';
	values[2] = DirectFunctionCall1(namein, CStringGetDatum(role_name(line->role)));
	nulls[2] = ' ';
	if (line->epsilon)
	{
		values[7] = dperm_tables_numeric(*line->epsilon);
		nulls[7] = ' ';
	}
	if (line->delta)
	{
		values[8] = dperm_tables_numeric(*line->delta);
		nulls[8] = ' ';
	}
	if (line->charge)
	{
		values[9] = dperm_tables_numeric(line->charge->divergence);
		values[10] = dperm_tables_numeric(line->charge->direct);
		nulls[9] = nulls[10] = ' ';
	}
	if (line->left)
	{
		values[11] = dperm_tables_numeric(*line->left);
		nulls[11] = ' ';
	}
	values[13] = Int64GetDatum(entry);
	nulls[13] = ' ';
	if (dperm_tables_query(scope,
						   "INSERT INTO %s.dp_ledger_entries (budget_id, budget, entry, act, role, function, relation, neighbours, unit, epsilon, delta, divergence, direct, epsilon_left, details)"
						   " SELECT coalesce($15::uuid, (SELECT a.id FROM %s.dp_budget_accounts AS a WHERE a.budget = $1 ORDER BY a.created, a.id LIMIT 1)),"
						   " $1, $14, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13",
						   lengthof(types), types, values, nulls) != 1)
		elog(ERROR, "could not write to the ledger of budget \"%s\"", line->budget);
	return entry;
}

/* An act of management that has no amounts. */
void
dperm_budget_note(DpermTablesScope *scope, const char *budget, const char *act, Oid role, const char *relation, const char *details)
{
	DpermBudgetLine line = {.budget = budget, .act = act, .role = role, .relation = relation, .details = details};

	(void) dperm_budget_append(scope, &line);
}
