/*
 * population.h: whose rows count in a protected relation.
 *
 * The number of rows or persons is public, so it must not depend on what rows
 * contain. A view with a filter is counted by the table behind it; the rows
 * that it leaves out count as empty rows.
 */
#ifndef DPERM_POPULATION_H
#define DPERM_POPULATION_H

#include "access/attnum.h"
#include "utils/relcache.h"

/*
 * The query that counts the rows behind a view or, with a unit (not 0), lists
 * the units of all of them; NULL for any other relation, whose own rows count.
 * Raises an error for a relation that cannot be protected: a view that is more
 * than some rows and columns of one table, or a table with policies that apply
 * to its owner. *table, unless NULL, is set to the table that is counted.
 */
extern char *dperm_population_query(Oid relation, AttrNumber unit, Oid *table);

/*
 * The table or view that a view or materialized view shows row by row, and in
 * *behind its column that is shown as the unit, 0 if unit is 0. InvalidOid if
 * the view does more than that, or if the unit is an expression. A materialized
 * view must show all rows of a table as they were stored: not of a view,
 * without a filter, and only with built-in functions.
 */
extern Oid	dperm_population_behind(Relation relation, AttrNumber unit, AttrNumber *behind);

/*
 * Warn of a relation whose number of rows may reveal something about them: a
 * partition or child table, to which rows are assigned by what they contain.
 */
extern void dperm_population_warn(Oid relation, bool has_unit);

#endif							/* DPERM_POPULATION_H */
