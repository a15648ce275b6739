/*
 * row_sources.h: the tables that relations read from, including through views,
 * materialized views and functions.
 */
#ifndef DPERM_ROW_SOURCES_H
#define DPERM_ROW_SOURCES_H

#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"

/*
 * The relation itself and everything it shares rows with, as far as the catalog
 * knows: what views and materialized views read, partitions and children, and
 * the parents of tables. Never raises an error: what a function without a
 * parsed body reads is ignored.
 */
extern List *dperm_row_sources_relations(Oid relation);

/*
 * Those of them that have rows: tables and materialized views, without the
 * parents of tables.
 */
extern List *dperm_row_sources_stored(Oid relation);

/*
 * Is a function a built-in one that reads a table, its statistics or a type, or
 * runs a query, given by its arguments?
 */
extern bool dperm_row_sources_by_name(Oid function);

/*
 * Is the callback true for one of the functions of an aggregate? The catalog
 * records no dependency on built-in functions.
 */
extern bool dperm_row_sources_aggregate(Oid aggregate, check_function_callback is_such, void *arg);

/* Is row-level security enabled for a relation? */
extern bool dperm_row_sources_has_policies(Oid relation);

/* The type of a node that is an expression, else InvalidOid. */
extern Oid	dperm_row_sources_type(Node *node);

/* The parents of a table, and their parents. */
extern List *dperm_row_sources_parents(Oid table);

/*
 * Call a function for each object that an object depends on, according to the
 * catalog.
 */
extern void
dperm_row_sources_dependencies(Oid class, Oid object,
							   void (*each)(Oid class, Oid object, void *arg), void *arg);

#endif							/* DPERM_ROW_SOURCES_H */
