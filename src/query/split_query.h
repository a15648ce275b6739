/*
 * split_query.h: a query, split into stored columns and expressions over them.
 *
 * Of a protected relation the server reads columns of the table, and nothing
 * else. The expressions of its views are evaluated row by row (view_rows.h).
 */
#ifndef DPERM_SPLIT_QUERY_H
#define DPERM_SPLIT_QUERY_H

#include "nodes/parsenodes.h"

/* A split query; its lists contain expressions over the columns. */
typedef struct DpermSplitQuery
{
	Query	   *columns;		/* reads bare columns of one table */
	List	   *conditions;		/* all of them must be true */
	List	   *targets;		/* of TargetEntry: the columns of a row */
	bool		leaves_traces;	/* may a row leave something behind that affects the next? */
} DpermSplitQuery;

/*
 * Split a query whose views have been expanded, and simplify its expressions.
 * Raises an error if a name must not be used. Who runs the query of the columns
 * needs the rights on all relations of the query.
 * Returns false if there is nothing to split: it only shows columns of a table,
 * or is an aggregation.
 */
extern bool dperm_split_query(Query *tree, DpermSplitQuery *split);

#endif							/* DPERM_SPLIT_QUERY_H */
