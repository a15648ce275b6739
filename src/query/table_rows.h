/*
 * table_rows.h: how the rows of a protected relation are read.
 *
 * The server reads columns of the table, and nothing else. The expressions of a
 * view are evaluated row by row (view_rows.h).
 */
#ifndef DPERM_TABLE_ROWS_H
#define DPERM_TABLE_ROWS_H

#include "query/source.h"

/* A query of columns, and a row of the source as expressions over them. */
typedef struct DpermTableRows
{
	char	   *text;			/* reads bare columns of the table */
	bool		computed;		/* if not, the columns are the row */
	List	   *targets;		/* TargetEntry: label, features, and the unit if there is one */
	List	   *conditions;		/* all of them must be true, else the row is empty */
	int			unit;			/* the column of the query that is the unit; 0: none */
} DpermTableRows;

/* How the rows of a source with a registration are read. */
extern DpermTableRows *dperm_table_rows_make(const DpermSource *source);

/*
 * Simplify the expressions, as the planner does. This evaluates those of
 * constants.
 */
extern void dperm_table_rows_plan(DpermTableRows *rows);

#endif							/* DPERM_TABLE_ROWS_H */
