/*
 * view_rows.h: the rows of a protected view, computed one by one.
 *
 * The server reads columns of the table, and nothing else (split_query.h). The
 * expressions of the view are evaluated here, a row at a time. So an error in
 * one of them ends nothing but its row, which is then left out, as if the WHERE
 * clause had not let it through.
 */
#ifndef DPERM_VIEW_ROWS_H
#define DPERM_VIEW_ROWS_H

#include "tcop/dest.h"

#include "query/split_query.h"

/*
 * Initialise the expressions, and evaluate nothing. Raises errors such as a
 * function that may not be executed.
 */
extern void dperm_view_rows_start(const DpermSplitQuery *rows);

/*
 * A receiver of the columns that passes the rows on. It needs a transaction,
 * and keeps a subtransaction open: for each row if a row may leave something
 * behind, or else for all rows up to one that fails.
 */
extern DestReceiver *dperm_view_rows_receiver(const DpermSplitQuery *rows, DestReceiver *next);

#endif							/* DPERM_VIEW_ROWS_H */
