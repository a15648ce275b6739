/*
 * population.h: whose rows count in a protected relation.
 *
 * The number of rows, or of persons, is public, so that it must not depend on
 * what rows hold. A view whose filter looks at them is counted by the table
 * behind it; the rows that it leaves out are empty ones.
 */
#ifndef DPERM_POPULATION_H
#define DPERM_POPULATION_H

#include "access/attnum.h"
#include "utils/relcache.h"

/*
 * The query that counts the rows behind a view, or with a unit (not 0) lists
 * the units of all of them; NULL for any other relation, whose own rows count.
 * Raises for a relation that cannot be protected: a view that is more than some
 * rows and columns of one table, and a table with policies that its owner is
 * subject to. *table, unless NULL, is the table that is counted.
 */
extern char *dperm_population_query(Oid relation, AttrNumber unit, Oid *table);

/*
 * The table, or view, that a view or materialized view shows row by row, and in
 * *behind the column of it that is shown as the unit, 0 if unit is 0.
 * InvalidOid if it is more than that, or the unit is an expression. A
 * materialized view must show all rows of a table as they were stored: not of a
 * view, without a filter, and with PostgreSQL's own functions alone.
 */
extern Oid	dperm_population_behind(Relation relation, AttrNumber unit, AttrNumber *behind);

/*
 * Warn of a relation whose number of rows may tell of them: a partition or
 * child, which rows come to by what they hold.
 */
extern void dperm_population_warn(Oid relation, bool has_unit);

#endif							/* DPERM_POPULATION_H */
