/* kept_unit_rows.h: the rows of our table that keep units for budgets. */
#ifndef DPERM_KEPT_UNIT_ROWS_H
#define DPERM_KEPT_UNIT_ROWS_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "budget/budget.h"

/*
 * The unit of the rows of a table for a budget, or the one that they had when
 * it was charged: what was spent protects the persons of that column. It is
 * kept for the tables behind relations (kept_units.h), even after these are
 * unprotected, dropped, or charged to another budget; and by the id of the
 * budget, not its name.
 */
typedef struct DpermKeptUnit
{
	Oid			relation;
	/*
	 * 0: rows are the units, or the column belongs to another table or has been
	 * dropped
	 */
	AttrNumber	unit;
	bool		mixed;			/* is the relation not made row by row from this table? */
	bool		changed;		/* by this transaction? */
} DpermKeptUnit;

/*
 * The units of some relations that are kept for the budget with this id,
 * including those that are known only by the name that was restored.
 */
extern List *dperm_kept_unit_rows_find(const char *id, List *relations);

/*
 * Keep units, unless the tables already have one; or forget all of them. Within
 * a scope, with the budget locked.
 */
extern void dperm_kept_unit_rows_add(DpermTablesScope *scope, const char *id, List *units);
extern void dperm_kept_unit_rows_forget(DpermTablesScope *scope, const DpermBudget *budget);

#endif							/* DPERM_KEPT_UNIT_ROWS_H */
