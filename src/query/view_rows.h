/*
 * view_rows.h: the rows of a protected view, computed one by one.
 *
 * A query over a protected relation is split. The server reads columns of the
 * table, and nothing else; the expressions of the view are evaluated here, a
 * row at a time. So an error in one of them ends nothing but its row, which is
 * then left out, as if the WHERE clause had not let it through.
 */
#ifndef DPERM_VIEW_ROWS_H
#define DPERM_VIEW_ROWS_H

#include "nodes/parsenodes.h"
#include "tcop/dest.h"

/* A query, split; its lists hold expressions over the columns. */
typedef struct DpermViewRows
{
	Query	   *columns;		/* reads bare columns of one table */
	List	   *conditions;		/* which all have to be true */
	List	   *targets;		/* TargetEntry, what a row shows */
} DpermViewRows;

/*
 * Split a query whose views have been expanded, and simplify its expressions.
 * False if it shows bare columns of a table, or is an aggregation: then there is
 * nothing to split.
 */
extern bool dperm_view_rows_split(Query *tree, DpermViewRows *rows);

/*
 * Evaluate the expressions for a row of NULLs, which nobody has written. Raises
 * if they call what they may not; any other error may be one of this row alone.
 */
extern void dperm_view_rows_try(const DpermViewRows *rows);

/*
 * A receiver of the columns that hands the rows on. It needs a transaction, and
 * has a subtransaction open from the first row to the last.
 */
extern DestReceiver *dperm_view_rows_receiver(const DpermViewRows *rows, DestReceiver *next);

#endif							/* DPERM_VIEW_ROWS_H */
