/*
 * row_sources.h: the tables that relations read from, also through views,
 * materialized views and functions.
 */
#ifndef DPERM_ROW_SOURCES_H
#define DPERM_ROW_SOURCES_H

#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"

/*
 * The tables behind some relations, with their partitions and children. Raises
 * for a function that may read any table: one whose body the catalog does not
 * know, unless it is marked IMMUTABLE; and for the statistics, which hold
 * values of any table.
 */
extern List *dperm_row_sources_tables(List *relations);

/*
 * The relation itself and all that it shares rows with, as far as the catalog
 * knows: what views and materialized views read, partitions and children, and
 * the parents of tables. Raises nothing: what a function reads that has no
 * parsed body is left out.
 */
extern List *dperm_row_sources_relations(Oid relation);

/*
 * Of these, what has rows: tables and materialized views, without the parents
 * of tables.
 */
extern List *dperm_row_sources_stored(Oid relation);

/*
 * Is a function one of PostgreSQL's own that read a table, its statistics or a
 * type, or run a query, that their arguments name?
 */
extern bool dperm_row_sources_by_name(Oid function);

/*
 * Is one of the functions behind an aggregate one for which a callback is true?
 * The catalog records no dependency on those of PostgreSQL.
 */
extern bool dperm_row_sources_aggregate(Oid aggregate, check_function_callback is_such, void *arg);

/* Is row-level security enabled for a relation? */
extern bool dperm_row_sources_has_policies(Oid relation);

/* The type of a node that is an expression, else InvalidOid. */
extern Oid	dperm_row_sources_type(Node *node);

/* The parents of a table, and their parents. */
extern List *dperm_row_sources_parents(Oid table);

/*
 * Call a function for each object that an object depends on, as the catalog has
 * it.
 */
extern void
dperm_row_sources_dependencies(Oid class, Oid object,
							   void (*each)(Oid class, Oid object, void *arg), void *arg);

#endif							/* DPERM_ROW_SOURCES_H */
