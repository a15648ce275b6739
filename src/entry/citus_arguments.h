/*
 * citus_arguments.h: rows that Citus gathers for an aggregate, and what its
 * servers compute for them.
 */
#ifndef DPERM_CITUS_ARGUMENTS_H
#define DPERM_CITUS_ARGUMENTS_H

#include "nodes/plannodes.h"

/*
 * Does the input of a node come unchanged from servers of Citus? If so, columns
 * are the expressions that the query for the servers has for the columns of the
 * input, over the tables there; NIL if they are not known.
 */
extern bool dperm_citus_arguments_columns(const Plan *node, List **columns);

/*
 * An expression over the input of a node, with columns replaced by what the
 * servers compute for them.
 */
extern Node *dperm_citus_arguments_expression(Node *expression, List *columns);

/*
 * Could the value of such an expression differ between rows or servers within a
 * group? Only constants, parameters of the query, grouping expressions, and
 * immutable functions of these cannot.
 */
extern bool dperm_citus_arguments_varies(Node *expression, List *groups);

#endif							/* DPERM_CITUS_ARGUMENTS_H */
