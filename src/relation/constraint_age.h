/*
 * constraint_age.h: do constraints hold for the rows that the active snapshot
 * sees?
 */
#ifndef DPERM_CONSTRAINT_AGE_H
#define DPERM_CONSTRAINT_AGE_H

#include "access/htup.h"

/* Is a catalog row visible to the active snapshot? */
extern bool dperm_constraint_age_tuple(HeapTuple tuple);

/* Were all of a table's partitions attached by then? */
extern bool dperm_constraint_age_partitions(Oid relation);

/*
 * Has a primary key been valid since then, in the table and all of its
 * partitions?
 */
extern bool dperm_constraint_age_key(Oid constraint);

#endif							/* DPERM_CONSTRAINT_AGE_H */
