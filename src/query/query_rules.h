/*
 * query_rules.h: what a query over a source may not contain.
 */
#ifndef DPERM_QUERY_RULES_H
#define DPERM_QUERY_RULES_H

#include "nodes/parsenodes.h"

/*
 * Raise for a text of ours, analysed but with views not yet expanded, that
 * calls a function neither of PostgreSQL nor of our extension.
 */
extern void dperm_query_rules_text(Oid extension, Query *tree);

/*
 * Raise for a query, with views expanded, that is not fit to be a pass; one
 * that may show any rows has no need for an order.
 */
extern void dperm_query_rules(Oid extension, Query *tree, bool any_rows);

#endif							/* DPERM_QUERY_RULES_H */
