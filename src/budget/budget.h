/*
 * budget.h: budgets, as the rows of our tables have them.
 */
#ifndef DPERM_BUDGET_H
#define DPERM_BUDGET_H

#include "budget/own_rows.h"
#include "core/privacy/claim.h"
#include "core/privacy/filter.h"

/* What limits spending, and what has been spent: of a budget, or of a grant. */
typedef struct DpermAccount
{
	bool		limited;		/* true for a budget */
	DpermFilter filter;
	DpermFilterSums spent;		/* with divergences of the filter's order */
} DpermAccount;

/* A budget, as its row has it. */
typedef struct DpermBudget
{
	char	   *name;
	/* a uuid, as text: another budget may get the name when this one is dropped */
	char	   *id;
	Oid			owner;			/* InvalidOid: a role that does not exist in this cluster */
	DpermAccount account;
	DpermNeighbours neighbours;
	bool		has_unit;		/* is its unit set, because it has or had a protected relation? */
	DpermUnit	unit;
	int64		entry;			/* number of its last line in the ledger */
} DpermBudget;

/*
 * A budget by name, in its latest state, in the current context; raises an error
 * if there is none.
 */
extern DpermBudget *dperm_budget_get(const char *name);

/* A budget by id, in the state of a snapshot, or the latest; NULL if it is missing. */
extern DpermBudget *dperm_budget_find(const char *id, Snapshot snapshot);

/* The same, locked as by FOR UPDATE; raises an error if it has just been dropped. */
extern DpermBudget *dperm_budget_lock(const DpermBudget *budget);

/* Does an account allow a charge, after all that was spent? */
extern bool dperm_budget_allows(const DpermAccount *account, const DpermFilterSums *taken);

/*
 * The sums in a row of budgets or grants; and write them, with up to
 * DPERM_BUDGET_MORE other columns, to the row with this id. The budget must be
 * locked.
 */
#define DPERM_BUDGET_MORE 3
extern DpermFilterSums dperm_budget_sums(const DpermOwnRows *rows, int row);
extern void dperm_budget_write_sums(const char *table, const char *id,
									const DpermFilterSums *sums, const DpermOwnField *more,
									int count);

/* Identifies a line of the ledger, and the grant that paid for it. */
typedef struct DpermLedgerEntry
{
	const char *budget_id;
	const char *budget;
	int64		entry;
	const char *grant_id;		/* NULL: none, an owner */
} DpermLedgerEntry;

#endif							/* DPERM_BUDGET_H */
