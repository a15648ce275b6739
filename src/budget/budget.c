/*
 * budget.c: budgets, as the rows of our tables have them.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "budget/budget.h"

#define BUDGETS "budgets"

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

/* Add what a charge takes, and ask the filter. */
bool
dperm_budget_allows(const DpermAccount *account, const DpermFilterSums *taken)
{
	DpermFilterSums spent = dperm_filter_add(&account->spent, taken);

	return !account->limited || dperm_filter_allows(&account->filter, &spent);
}

/* Read the sums of a row. */
DpermFilterSums
dperm_budget_sums(const DpermOwnRows *rows, int row)
{
	return (DpermFilterSums) {
		.epsilon = dperm_own_rows_amount(rows, row, "spent_epsilon"),
		.delta = dperm_own_rows_amount(rows, row, "spent_delta"),
		.divergence = dperm_own_rows_amount(rows, row, "spent_divergence"),
		.direct = dperm_own_rows_amount(rows, row, "spent_direct"),
		.tail = dperm_own_rows_amount(rows, row, "spent_tail")
	};
}

/* Write the sums of a row. */
void
dperm_budget_write_sums(const char *table, const char *id, const DpermFilterSums *sums,
						const DpermOwnField *more, int count)
{
	DpermOwnRows rows = dperm_own_rows_find(table, "id", dperm_own_rows_uuid(id), NULL);
	DpermOwnField fields[5 + DPERM_BUDGET_MORE] = {
		{"spent_epsilon", dperm_own_rows_numeric(sums->epsilon)},
		{"spent_delta", dperm_own_rows_numeric(sums->delta)},
		{"spent_divergence", dperm_own_rows_numeric(sums->divergence)},
		{"spent_direct", dperm_own_rows_numeric(sums->direct)},
		{"spent_tail", dperm_own_rows_numeric(sums->tail)}
	};

	if (rows.count != 1)
		elog(ERROR, "could not write to table \"%s\"", table);
	memcpy(fields + 5, more, sizeof(DpermOwnField) * count);
	dperm_own_rows_update(&rows, 0, fields, 5 + count);
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
		.spent = dperm_budget_sums(rows, row)
	};
	budget->neighbours = (DpermNeighbours) parse_word(dperm_own_rows_text(rows, row, "neighbours"),
													  dperm_claim_neighbours_parse);
	budget->has_unit = unit != NULL;
	if (unit)
		budget->unit = (DpermUnit) parse_word(unit, dperm_claim_unit_parse);
	budget->entry = DatumGetInt64(dperm_own_rows_value(rows, row, "entry"));
	return budget;
}

/* The one of these rows that has not been dropped, locked on demand; or NULL. */
static DpermBudget *
present_budget(DpermOwnRows rows, bool lock)
{
	for (int i = 0; i < rows.count; i++)
		if ((!lock || dperm_own_rows_lock(&rows, i)) && !dperm_own_rows_value(&rows, i, "dropped"))
			return make_budget(&rows, i);
	return NULL;
}

/* Find a budget by name, or raise. */
DpermBudget *
dperm_budget_get(const char *name)
{
	DpermBudget *budget = present_budget(
		dperm_own_rows_find(BUDGETS, "budget", CStringGetTextDatum(name), NULL), false);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* Find a budget by id. */
DpermBudget *
dperm_budget_find(const char *id, Snapshot snapshot)
{
	return present_budget(dperm_own_rows_find(BUDGETS, "id", dperm_own_rows_uuid(id), snapshot),
						  false);
}

/* Lock a budget. */
DpermBudget *
dperm_budget_lock(const DpermBudget *budget)
{
	DpermBudget *locked = present_budget(
		dperm_own_rows_find(BUDGETS, "id", dperm_own_rows_uuid(budget->id), NULL), true);

	if (locked == NULL)
		raise_no_budget(budget->name);
	return locked;
}
