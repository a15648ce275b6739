/*
 * constraint_age.h: do constraints hold for the rows that the active snapshot
 * shows?
 */
#ifndef DPERM_CONSTRAINT_AGE_H
#define DPERM_CONSTRAINT_AGE_H

#include "access/htup.h"

/* Was a row of the catalog there when the active snapshot was taken? */
extern bool dperm_constraint_age_tuple(HeapTuple tuple);

/* Were a table's partitions, all of them, part of it by then? */
extern bool dperm_constraint_age_partitions(Oid relation);

/*
 * Has a primary key been valid since then, in the table and all of its
 * partitions?
 */
extern bool dperm_constraint_age_key(Oid constraint);

#endif							/* DPERM_CONSTRAINT_AGE_H */
