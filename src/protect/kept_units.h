/*
 * kept_units.h: are the rows of a table somebody's in the same way in all
 * relations that charge a budget?
 */
#ifndef DPERM_KEPT_UNITS_H
#define DPERM_KEPT_UNITS_H

#include "protect/registry.h"

/*
 * The tables whose rows a relation shows, as DpermKeptUnit
 * (kept_unit_rows.h): with
 * their partitions and children, and the column that is the unit; 0 if rows
 * are, or it is none of theirs. A materialized view that is not made row by row
 * from one table is a table, and those behind it are mixed. Raises nothing: a
 * view that cannot be protected shows no rows.
 */
extern List *dperm_kept_units_trace(Oid relation, AttrNumber unit);

/*
 * Raise if one of the tables behind a registered relation, or of their parents,
 * is kept for the budget with another unit, or is mixed in one relation and not
 * in another. If complete, also if one is not kept at all, or only by this
 * transaction: what a call reads has to stay known when it is rolled back.
 */
extern void dperm_kept_units_check(const DpermRegistration *ours, bool complete);

#endif							/* DPERM_KEPT_UNITS_H */
