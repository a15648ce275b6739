/*
 * query_check.h: what a query over a source may not contain.
 */
#ifndef DPERM_QUERY_CHECK_H
#define DPERM_QUERY_CHECK_H

#include "nodes/parsenodes.h"

/*
 * Raise for an analysed query that is not fit to be a pass. Our own functions are in the schema, and belong to the
 * extension that the type belongs to.
 */
extern void dperm_query_check(Oid schema, Oid type, Query *tree);

#endif							/* DPERM_QUERY_CHECK_H */
