/*
 * identity.h: what identifies the rows of a source, so that they can be divided
 * into portions.
 */
#ifndef DPERM_IDENTITY_H
#define DPERM_IDENTITY_H

#include "nodes/pg_list.h"

#include "query/source.h"

/*
 * The SQL list that identifies a row, for dperm_portion: of columns, by their
 * names, or if there are none of the place of the row. Raises unless
 * constraints say that no two rows share it; of rows that are public anything
 * will do.
 */
extern char *dperm_identity_sql(const DpermSource *source, List *identity, bool is_public);

#endif							/* DPERM_IDENTITY_H */
