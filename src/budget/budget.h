/*
 * budget.h: budgets, as the rows of our tables have them.
 */
#ifndef DPERM_BUDGET_H
#define DPERM_BUDGET_H

#include "core/privacy/claim.h"
#include "core/privacy/filter.h"
#include "utils/snapshot.h"

/* A budget, as its row has it. */
typedef struct DpermBudget
{
	char	   *name;
	/* a uuid, as text: another budget may get the name when this one is dropped */
	char	   *id;
	Oid			owner;			/* InvalidOid: a role that does not exist in this cluster */
	DpermFilter filter;
	DpermNeighbours neighbours;
	bool		has_unit;		/* is its unit set, because it has or had a protected relation? */
	DpermUnit	unit;
	DpermFilterSums spent;
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

/* Write what has been spent from a budget, which is locked, and the number of its last line. */
extern void dperm_budget_write_spent(const DpermBudget *budget, const DpermFilterSums *spent,
									 int64 entry);

/* Identifies a line of the ledger, and the grant that paid for it. */
typedef struct DpermLedgerEntry
{
	const char *budget_id;
	const char *budget;
	int64		entry;
	const char *grant_id;		/* NULL: none, an owner */
} DpermLedgerEntry;

#endif							/* DPERM_BUDGET_H */
