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
	bool		leaves_traces;	/* may a row leave something behind for the next? */
} DpermViewRows;

/*
 * Split a query whose views have been expanded, and simplify its expressions.
 * Raises if a relation must not be read, or a name must not be used. False if
 * it shows bare columns of a table, or is an aggregation: then there is nothing
 * to split.
 */
extern bool dperm_view_rows_split(Query *tree, DpermViewRows *rows);

/*
 * Evaluate the expressions for a row of NULLs, and for one of zeros and empty
 * texts, which nobody has written. Raises for errors that no row is to blame for.
 */
extern void dperm_view_rows_try(const DpermViewRows *rows);

/*
 * A receiver of the columns that hands the rows on. It needs a transaction, and
 * has a subtransaction open: for each row, if one may leave something behind, or
 * for all of them up to one that fails.
 */
extern DestReceiver *dperm_view_rows_receiver(const DpermViewRows *rows, DestReceiver *next);

#endif							/* DPERM_VIEW_ROWS_H */
