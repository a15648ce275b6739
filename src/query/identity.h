/*
 * identity.h: what identifies the rows of a source, so that they can be divided
 * into portions.
 */
#ifndef DPERM_IDENTITY_H
#define DPERM_IDENTITY_H

#include "nodes/pg_list.h"

#include "query/source.h"

/*
 * The SQL list that identifies a row, for dperm_portion: the named columns, or
 * the physical location if there are none. Raises an error unless constraints
 * ensure that no two rows share it.
 */
extern char *dperm_identity_sql(const DpermSource *source, List *identity);

/*
 * Does a primary key, in a table and all of its partitions, hold for all rows
 * that the active snapshot sees?
 */
extern bool dperm_identity_key_holds(Oid constraint);

#endif							/* DPERM_IDENTITY_H */
