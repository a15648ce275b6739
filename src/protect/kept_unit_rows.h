/*
 * kept_unit_rows.h: the units that are kept for budgets, in our table.
 */
#ifndef DPERM_KEPT_UNIT_ROWS_H
#define DPERM_KEPT_UNIT_ROWS_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "budget/budget.h"

/*
 * The unit that the rows of a table have for a budget, or have had when that
 * was charged: what was spent is about persons that this column told apart.
 * Kept for the tables behind relations (kept_units.h), also when these are no
 * longer protected, are gone, or charge another budget, and for the budget of
 * an id, whatever its name is.
 */
typedef struct DpermKeptUnit
{
	Oid			relation;
	/*
	 * 0: rows are the units, or the column is of another table, or has been
	 * dropped
	 */
	AttrNumber	unit;
	bool		mixed;			/* is what charges the budget not made from its rows one by one? */
	bool		changed;		/* by this transaction? */
} DpermKeptUnit;

/*
 * The units that are kept for the budget of an id, of some relations; also of
 * those that only have the name of what was restored.
 */
extern List *dperm_kept_unit_rows_find(const char *id, List *relations);

/*
 * Keep units, unless the tables have one; or forget all. Within a scope, with
 * the budget locked.
 */
extern void dperm_kept_unit_rows_add(DpermTablesScope *scope, const char *id, List *units);
extern void dperm_kept_unit_rows_forget(DpermTablesScope *scope, const DpermBudget *budget);

#endif							/* DPERM_KEPT_UNIT_ROWS_H */
