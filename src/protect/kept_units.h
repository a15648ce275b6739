/*
 * kept_units.h: do the rows of a table belong to the same persons in all
 * relations that charge a budget?
 */
#ifndef DPERM_KEPT_UNITS_H
#define DPERM_KEPT_UNITS_H

#include "protect/registry.h"

/*
 * The tables whose rows a relation shows, as DpermKeptUnit (kept_unit_rows.h):
 * with their partitions and children, and the column that is the unit; 0 if
 * rows are the units, or the unit is a column of another table. A materialized
 * view that is not made row by row from one table counts as a table, and those
 * behind it are mixed. Raises no error: a view that cannot be protected shows
 * no rows.
 */
extern List *dperm_kept_units_trace(Oid relation, AttrNumber unit);

/*
 * Raise an error if one of these tables behind a registered relation, or of
 * their parents, is kept for the budget with another unit, or is mixed in one
 * relation but not in another. If complete, also if one is not kept at all, or
 * only by this transaction: what a call reads must still be known after a
 * rollback.
 */
extern void dperm_kept_units_check(const DpermRegistration *ours, List *tables, bool complete);

#endif							/* DPERM_KEPT_UNITS_H */
