/*
 * traces.h: what work over protected rows leaves in a session, and in the server's table of locks.
 *
 * Expressions look up types, labels of enums, functions and much else when they come to it, and the planner the statistics of a column. Which of these a session
 * knows by heart shows in EXPLAIN (BUFFERS) of whatever it does next; which catalog is looked at, in pg_locks; and that one is looked at for
 * the first time, in an error when the table of locks is full. None of that may depend on rows.
 */
#ifndef DPERM_TRACES_H
#define DPERM_TRACES_H

#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"

/*
 * Before work over rows, and before the planner looks at what is known about them: take all locks on the catalog that it may need, until the transaction ends. They are the same
 * whatever rows hold.
 */
extern void dperm_traces_prepare(void);

/*
 * Before a query is planned: take the locks that its types need, and load what cannot be forgotten of its types and collations, and of those in the functions that it may call; and the
 * libraries of these.
 */
extern void dperm_traces_prepare_query(Query *query, const List *functions);

/* Keep a table, its TOAST table and the indexes of that locked until the transaction ends. */
extern void dperm_traces_hold_table(Oid table);

/* After the work: forget all that the session has looked up in the catalog. Not in a transaction that has failed. */
extern void dperm_traces_forget(void);

/*
 * In a transaction that has failed: forget the rows of catalogs, such as labels of enums. Enough where no expression of the owner runs, as over tables of Citus: all else that
 * our own code looks up, it looks up whatever rows hold.
 */
extern void dperm_traces_forget_labels(void);

#endif							/* DPERM_TRACES_H */
