/*
 * budget.h: budgets and their ledger, for functions that manage them.
 */
#ifndef DPERM_BUDGET_H
#define DPERM_BUDGET_H

#include "core/privacy/claim.h"
#include "core/privacy/filter.h"

/* A budget, as its row has it. */
typedef struct DpermBudget
{
	char	   *name;
	char	   *id;				/* a uuid, as text: no two budgets have the same, whatever their names are */
	Oid			owner;			/* InvalidOid: a role that is not in this cluster */
	DpermFilter filter;
	DpermNeighbours neighbours;
	bool		has_unit;		/* is its unit settled, since it has or had a protected relation? */
	DpermUnit	unit;
	DpermFilterSums spent;
	int64		since;			/* the line of the ledger that created it */
} DpermBudget;

/*
 * Queries over our own tables: as the owner of these tables, in a search path without anything of the caller's, with SPI connected.
 * An error undoes all of it with its (sub)transaction.
 *
 *		DpermBudgetScope scope;
 *
 *		dperm_budget_enter(&scope);
 *		... dperm_budget_query(), or dperm_budget_execute() with names qualified by scope.schema, which is quoted
 *		dperm_budget_leave(&scope);
 *
 * What is to outlive it is made in scope.caller, a memory context.
 */
typedef struct DpermBudgetScope
{
	char	   *schema;
	Oid			schema_oid;
	MemoryContext caller;
	Oid			user;
	int			security;
	int			settings;
	int			depth;			/* how many others it is in */
} DpermBudgetScope;

/* Watch what is analysed within scopes; when a library of ours is loaded. */
extern void dperm_budget_init(void);

/*
 * Raises if our tables have triggers that our script has not made, or lack those that it has. Somebody with the privilege TRIGGER, say by GRANT ALL ON ALL TABLES, can make one, and
 * it would run with the rights of the owner of the table. The second one warns, and returns false, for event triggers: an error would stop everybody's
 * commands, also the one that puts it right.
 */
extern void dperm_budget_enter(DpermBudgetScope *scope);
extern bool dperm_budget_try_enter(DpermBudgetScope *scope);

/* Can the owner of our tables, who need not be a superuser any more, reach them? Warns if not: for event triggers, too. */
extern bool dperm_budget_reachable(void);

/* To read alone, which fires no triggers: it takes no locks on our tables that stop anybody, and does not mind triggers. */
extern void dperm_budget_enter_reading(DpermBudgetScope *scope);
extern void dperm_budget_leave(DpermBudgetScope *scope);

/* Run a statement; the number of rows, which SPI_tuptable then has. All statements over our tables come through here. */
extern uint64 dperm_budget_execute(const char *statement, int count, Oid *types, Datum *values, const char *nulls, bool read_only);

/* The same for one that writes, or locks, or sees what this transaction has written, in which each %s is our schema. */
extern uint64 dperm_budget_query(DpermBudgetScope *scope, const char *query, int count, Oid *types, Datum *values, const char *nulls);

/* Columns of a row of the result, counted from 1: as text, NULL for NULL; an OID; an amount. */
extern char *dperm_budget_value(uint64 row, int column);
extern Oid	dperm_budget_oid(uint64 row, int column);
extern DpermAmount dperm_budget_amount(uint64 row, int column);

/* An amount as numeric. */
extern Datum dperm_budget_numeric(DpermAmount amount);

/* The owner of a relation, InvalidOid if it is gone. */
extern Oid	dperm_budget_relation_owner(Oid relation);

/*
 * A budget, by its name, within a scope; locked FOR UPDATE on demand. Made in the current context. If a restored one has the name of one that was made before the restore,
 * the older one is meant. Raises if there is none; the second one returns NULL.
 */
extern DpermBudget *dperm_budget_get(DpermBudgetScope *scope, const char *name, bool lock);

extern DpermBudget *dperm_budget_find(DpermBudgetScope *scope, const char *name, bool lock);

/* The same by its id; its name is for the error if there is none. */
extern DpermBudget *dperm_budget_get_by_id(DpermBudgetScope *scope, const char *id, const char *name, bool lock);

/* Raise unless the role is the budget's owner, a member of it, or a superuser. */
extern void dperm_budget_check_owner(const DpermBudget *budget, Oid role);

/* A budget that is the role's own, locked; raises otherwise, without waiting for a lock. */
extern DpermBudget *dperm_budget_get_own(DpermBudgetScope *scope, const char *name, Oid role);

/*
 * Settle the unit of a budget whose relations have none yet, or raise if it is another one: a budget is an account of rows, or of
 * persons. Within a scope, with the budget locked.
 */
extern void dperm_budget_settle_unit(DpermBudgetScope *scope, DpermBudget *budget, DpermUnit unit);

/* Bytes of the details of a line, which has a part in every dump for good. The rest of its texts are names. */
#define DPERM_BUDGET_DETAILS 8192

/* A line of the ledger; what is NULL is NULL in it. */
typedef struct DpermBudgetLine
{
	const char *budget;
	const char *id;				/* of the budget; NULL: of the one that its name means */
	const char *act;
	Oid			role;			/* who acts */
	const char *function;
	const char *relation;		/* its qualified name */
	const char *neighbours;
	const char *unit;
	const DpermAmount *epsilon;
	const DpermAmount *delta;
	const DpermFilterSums *charge;	/* the rest of what is spent */
	const DpermAmount *left;
	const char *details;		/* for people; cut, with "..." at the end, if it is too long */
} DpermBudgetLine;

/* The number that the next line of a budget gets, within a scope. */
extern int64 dperm_budget_next_entry(DpermBudgetScope *scope, const char *budget);

/* Append a line, within a scope; the budget's row is locked, or is new. */
extern void dperm_budget_append(DpermBudgetScope *scope, const DpermBudgetLine *line);

/*
 * A line of the ledger about an act of management: "protect", "unprotect", ... within a scope. relation is its qualified name or NULL,
 * details are free text for people, or NULL; role is who acts.
 */
extern void dperm_budget_note(DpermBudgetScope *scope, const char *budget, const char *act, Oid role, const char *relation,
							  const char *details);

#endif							/* DPERM_BUDGET_H */
