/* query_rules.h: what a query over a source must not contain. */
#ifndef DPERM_QUERY_RULES_H
#define DPERM_QUERY_RULES_H

#include "nodes/parsenodes.h"

/*
 * Raise an error for a query of ours, analysed but with views not yet expanded,
 * that calls a function that belongs neither to PostgreSQL nor to our
 * extension.
 */
extern void dperm_query_rules_text(Oid extension, Query *tree);

/*
 * Raise an error for a query, with views expanded, that cannot be a pass. If it
 * may return any rows, their order does not matter.
 */
extern void dperm_query_rules(Oid extension, Query *tree, bool any_rows);

#endif							/* DPERM_QUERY_RULES_H */
