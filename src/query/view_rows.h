/*
 * view_rows.h: the rows of a protected view, computed one by one.
 *
 * The server reads columns of the table, and nothing else (table_rows.h). The
 * expressions of the view are evaluated here, a row at a time. A row that the
 * WHERE clause does not let through is passed on as an empty row, in which
 * everything but the unit is NULL: so all rows of the table count. An error in
 * an expression ends nothing but its row, which is then empty, too.
 */
#ifndef DPERM_VIEW_ROWS_H
#define DPERM_VIEW_ROWS_H

#include "tcop/dest.h"

#include "query/table_rows.h"

/*
 * Initialise the expressions, and evaluate nothing. Raises errors such as a
 * function that may not be executed.
 */
extern void dperm_view_rows_start(const DpermTableRows *rows);

/*
 * A receiver of the columns that passes the rows on. It needs a transaction,
 * and keeps a subtransaction open, for all rows up to one that fails.
 */
extern DestReceiver *dperm_view_rows_receiver(const DpermTableRows *rows, DestReceiver *next);

#endif							/* DPERM_VIEW_ROWS_H */
