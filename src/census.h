/*
 * census.h: whose rows count in a protected relation.
 *
 * The number of rows, or of persons, is public, so that it must not depend on what rows hold. A view whose filter looks at them is counted
 * by the table behind it; the rows that it leaves out are empty ones.
 */
#ifndef DPERM_CENSUS_H
#define DPERM_CENSUS_H

#include "access/attnum.h"

/*
 * The query that counts the rows behind a view, or with a unit (not 0) lists the units of all of them; NULL for any other relation, whose own
 * rows count. Raises for a relation that cannot be protected: a view that is more than some rows and columns of one table, and a table with
 * policies that its owner is subject to. *table, unless NULL, is the table that is counted.
 */
extern char *dperm_census_query(Oid relation, AttrNumber unit, Oid *table);

/*
 * Bring what the server knows about the TOAST tables behind a relation into its caches: it would do so when the first value is fetched, and
 * what a session finds in its caches shows in EXPLAIN (BUFFERS).
 */
extern void dperm_census_warm(Oid relation);

#endif							/* DPERM_CENSUS_H */
