/*
 * row_sources.h: the relations that share rows with a relation.
 */
#ifndef DPERM_ROW_SOURCES_H
#define DPERM_ROW_SOURCES_H

#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"

/*
 * The relation itself and everything it shares rows with, as far as the catalog
 * knows: what views, materialized views and policies read, partitions and
 * children, and the parents of tables. What a function reads is not followed.
 */
extern List *dperm_row_sources_relations(Oid relation);

/* A table with its partitions and children, and all parents of these. */
extern List *dperm_row_sources_family(Oid table);

/*
 * What a query over a protected relation may read: the family of a table; a view
 * and that of its table. The rows of a materialized view are its own.
 */
extern List *dperm_row_sources_read(Oid relation);

/*
 * Is the callback true for one of the functions of an aggregate? The catalog
 * records no dependency on built-in functions.
 */
extern bool dperm_row_sources_aggregate(Oid aggregate, check_function_callback is_such, void *arg);

/* Is row-level security enabled for a relation? */
extern bool dperm_row_sources_has_policies(Oid relation);

/*
 * Call a function for each object that an object depends on, according to the
 * catalog.
 */
extern void
dperm_row_sources_dependencies(Oid class, Oid object,
							   void (*each)(Oid class, Oid object, void *arg), void *arg);

#endif							/* DPERM_ROW_SOURCES_H */
