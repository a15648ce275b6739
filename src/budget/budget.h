/*
 * budget.h: budgets and their ledger, for functions that manage them.
 */
#ifndef DPERM_BUDGET_H
#define DPERM_BUDGET_H

#include "utils/array.h"
#include "utils/jsonb.h"

#include "budget/own_tables.h"
#include "core/privacy/claim.h"
#include "core/privacy/filter.h"

/* A budget, as its row has it. */
typedef struct DpermBudget
{
	char	   *name;
	/* a uuid, as text: unique, unlike the name */
	char	   *id;
	Oid			owner;			/* InvalidOid: a role that does not exist in this cluster */
	DpermFilter filter;
	DpermNeighbours neighbours;
	bool		has_unit;		/* is its unit set, because it has or had a protected relation? */
	DpermUnit	unit;
	DpermFilterSums spent;
	int64		since;			/* number of the ledger line that created it */
} DpermBudget;

/*
 * A budget by name, in its latest state; locked FOR UPDATE if requested.
 * Allocated in the current context. If a restored budget has the same name as
 * one that was created before the restore, the older one is meant. If there is
 * none, the first function raises an error, the second returns NULL.
 */
extern DpermBudget *dperm_budget_get(const char *name, bool lock);

extern DpermBudget *dperm_budget_find(const char *name, bool lock);

/*
 * The same by id, locked for a charge; the name is for the error if there is
 * none. When the charge is committed, whoever locks the budget to change it, or
 * what it protects, still waits until this process lets go of it, or ends: a
 * registration that was good for the charge is good when reading begins.
 */
extern DpermBudget *dperm_budget_hold(const char *id, const char *name);

extern void dperm_budget_let_go(void);

/*
 * A budget owned by the role, locked; otherwise raises an error, without
 * waiting for a lock.
 */
extern DpermBudget *dperm_budget_get_own(const char *name, Oid role);

/* Has anything been spent from a budget? */
static inline bool
dperm_budget_is_charged(const DpermBudget *budget)
{
	return budget->spent.epsilon.units > 0;
}

/*
 * Settle the unit of a budget, or raise if it has another one that is fixed: a
 * budget is an account of rows, or of persons. It is, once it has been charged,
 * and as long as it has other relations. Within a scope, with the budget
 * locked.
 */
extern void dperm_budget_settle_unit(DpermTablesScope *scope, DpermBudget *budget, DpermUnit unit,
									 bool others);

/* Write what has been spent from a budget, which must be locked. */
extern void dperm_budget_write_spent(const DpermBudget *budget, const DpermFilterSums *spent);

/*
 * The limit on the details of a line in bytes, because lines are in every dump
 * forever. Its other texts are names.
 */
#define DPERM_BUDGET_DETAILS 8192

/* What a call was asked for; what is NULL is NULL in the ledger. */
typedef struct DpermAsked
{
	const char *label;
	ArrayType  *features;		/* of text */
	const char *learner;
	Jsonb	   *parameters;
	const char *purpose;		/* what the caller says about it */
} DpermAsked;

/* A line of the ledger; what is NULL is NULL in it. */
typedef struct DpermBudgetLine
{
	const char *budget;
	const char *id;				/* of the budget; NULL: look it up by name */
	const char *act;
	Oid			role;			/* who acts */
	const char *function;
	const char *relation;		/* its qualified name */
	const DpermAsked *asked;
	const char *neighbours;
	const char *unit;
	const DpermAmount *epsilon;
	const DpermAmount *delta;
	const DpermFilterSums *charge;	/* the rest of what is spent */
	const DpermAmount *left;	/* of the budget, */
	const DpermAmount *grant_left;	/* and to who pays from a grant */
	const char *details;		/* for people; cut, with "..." at the end, if it is too long */
} DpermBudgetLine;

/* Identifies a line. */
typedef struct DpermLedgerEntry
{
	const char *budget_id;
	const char *budget;
	int64		entry;
} DpermLedgerEntry;

/* The number of the next line of a budget, in its latest state. */
extern int64 dperm_budget_next_entry(const char *budget);

/*
 * Append a line and return its number. The budget's row must be locked, or new.
 */
extern int64 dperm_budget_append(const DpermBudgetLine *line);

/*
 * Append a line about an act of management: "protect", "unprotect", ...
 * relation is its qualified name or NULL, details are free text for people, or
 * NULL; role is the one who acts.
 */
extern void dperm_budget_note(const char *budget, const char *act, Oid role, const char *relation,
							  const char *details);

#endif							/* DPERM_BUDGET_H */
