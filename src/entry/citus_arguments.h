/*
 * citus_arguments.h: rows that Citus gathers for an aggregate, and what its
 * servers compute for them.
 */
#ifndef DPERM_CITUS_ARGUMENTS_H
#define DPERM_CITUS_ARGUMENTS_H

#include "nodes/plannodes.h"

/*
 * Does the input of a node come from servers of Citus, as it is? If so, columns
 * are the expressions that the query of the servers has for the columns of the
 * input, over the tables there; NIL if they cannot be told.
 */
extern bool dperm_citus_arguments_columns(const Plan *node, List **columns);

/*
 * An expression over the input of a node, with what the servers compute in
 * place of the columns.
 */
extern Node *dperm_citus_arguments_expression(Node *expression, List *columns);

/*
 * Could the value of such an expression differ from row to row, or from server
 * to server, within a group? Only constants, parameters of the query and what
 * the groups are made by cannot, and immutable functions of them.
 */
extern bool dperm_citus_arguments_varies(Node *expression, List *groups);

#endif							/* DPERM_CITUS_ARGUMENTS_H */
