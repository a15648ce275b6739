/*
 * checked_query.h: a query of ours, from its text to its rows.
 *
 * It is analysed once, and the result is checked, planned and run. Nothing that
 * happens in between, such as another relation getting the name, can replace
 * it.
 */
#ifndef DPERM_CHECKED_QUERY_H
#define DPERM_CHECKED_QUERY_H

#include "executor/tuptable.h"
#include "nodes/params.h"
#include "nodes/plannodes.h"
#include "tcop/dest.h"

#include "query/table_rows.h"

/* A query over a relation. */
typedef struct DpermChecked
{
	const DpermSource *source;
	/*
	 * the only one that the text may name, except for the parts of the source
	 */
	Oid			relation;
	const char *text;
	ParamListInfo params;
	int			options;		/* for the planner: CURSOR_OPT_... */
	/*
	 * unless NULL, called when the query is about to run, with the number of
	 * parallel workers that are planned; false: it is not run
	 */
	bool		(*prepare) (void *arg, int workers);
	void	   *prepare_arg;
} DpermChecked;

/*
 * The query over a protected relation, analysed, checked and planned before the
 * charge, to be run after it: no name is looked up any more then.
 */
typedef struct DpermKeptQuery
{
	DpermTableRows *rows;
	PlannedStmt *planned;
} DpermKeptQuery;

/* Run a query; its rows go to a receiver. It sees the active snapshot. */
extern void dperm_checked_query_run(const DpermChecked *query, DestReceiver *receiver);

/*
 * The same with a function for each row, which is valid during the call; false if
 * prepare() refuses.
 */
extern bool dperm_checked_query_take(const DpermChecked *query,
									 void (*take) (void *arg, TupleTableSlot *slot), void *arg);

/*
 * Do everything up to the first row: check a query, plan it, and have the
 * executor check privileges.
 */
extern void dperm_checked_query_try(const DpermChecked *query);

/*
 * The same in a worker, for the query that reads the rows of a protected
 * relation; and run what was planned, once.
 */
extern DpermKeptQuery *dperm_checked_query_keep(const DpermSource *source, DpermTableRows *rows);
extern void dperm_checked_query_run_kept(DpermKeptQuery *kept, DestReceiver *receiver);

/*
 * Is a query that aggregates a foreign table run as a whole by the server that
 * has the rows?
 */
extern bool dperm_checked_query_runs_there(const DpermChecked *query);

#endif							/* DPERM_CHECKED_QUERY_H */
