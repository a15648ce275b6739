/*
 * checked_query.h: a query of ours, from its text to its rows, and what else the files
 * of this room share. Trusted.
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

#include "query/source.h"

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

extern void dperm_checked_query_run(const DpermChecked *query, DestReceiver *receiver);
extern bool dperm_checked_query_take(const DpermChecked *query,
									 void (*take) (void *arg, TupleTableSlot *slot), void *arg);
extern void dperm_checked_query_try(const DpermChecked *query);
extern bool dperm_checked_query_runs_there(const DpermChecked *query);

/*
 * How the rows of a protected relation are read: a query of columns, and a row of the
 * source as expressions over them. Analysed, checked and planned before the charge, to
 * be run after it: no name is looked up any more then.
 */
typedef struct DpermProtectedRows
{
	char	   *text;			/* reads bare columns of the table */
	PlannedStmt *planned;
	bool		computed;		/* if not, the columns are the row */
	List	   *targets;		/* TargetEntry: label, features, and the unit if there is one */
	List	   *conditions;		/* all of them must be true, else the row is empty */
	int			unit;			/* the column of the query that is the unit; 0: none */
} DpermProtectedRows;

/* protected_rows.c */
extern DpermProtectedRows *dperm_protected_rows_make(const DpermSource *source);
extern void dperm_protected_rows_plan(DpermProtectedRows *rows);
extern DestReceiver *dperm_protected_rows_receiver(const DpermProtectedRows *rows,
												   DestReceiver *next);

/* checked_query.c again: the query over a protected relation, in a worker. */
extern DpermProtectedRows *dperm_checked_query_keep(const DpermSource *source);
extern void dperm_checked_query_run_kept(DpermProtectedRows *rows, DestReceiver *receiver);

/* moments.c: the request of a pass, and what it answers. */
extern bytea *dperm_moments_request(const DpermPassSpec *spec, DpermPass *pass);
extern void dperm_moments_answer(const bytea *request, List *results, DpermPass *answer);
extern void dperm_moments_wrong_answer(void) __attribute__((noreturn));

#endif							/* DPERM_CHECKED_QUERY_H */
