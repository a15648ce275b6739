/*
 * view_rows.c: the rows of a protected view, computed one by one.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "protect/worker_rules.h"
#include "query/view_rows.h"

/* The only relation in FROM, or 0 for a query that does more than show its rows. */
static int
only_relation(const Query *query)
{
	if (query->hasAggs || query->hasSubLinks || list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return 0;
	return linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
}

/* Take the policies and the WHERE clause of a query out of it. */
static List *
take_conditions(Query *query, RangeTblEntry *entry)
{
	List	   *conditions = entry->securityQuals;

	if (query->jointree->quals)
		conditions = lappend(conditions, query->jointree->quals);
	entry->securityQuals = NIL;
	query->jointree->quals = NULL;
	return conditions;
}

/* Expressions over a view, in terms of what the view reads. */
static List *
expand_view(List *expressions, int relation, RangeTblEntry *entry)
{
	return (List *) ReplaceVarsFromTargetList((Node *) expressions, relation, 0, entry,
											  entry->subquery->targetList,
#if PG_VERSION_NUM >= 180000
											  0,
#endif
											  REPLACEVARS_REPORT_ERROR, 0, NULL);
}

/* Generated columns that are computed when they are read, as expressions. */
static List *
expand_generated(List *expressions, int relation, const RangeTblEntry *entry)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	Relation	table = table_open(entry->relid, NoLock);

	expressions =
		(List *) expand_generated_columns_in_expr((Node *) expressions, table, relation);
	table_close(table, NoLock);
#endif
	return expressions;
}

/* Put the columns of the query, by their places, in place of those of the table. */
static Node *
place_columns(Node *node, void *columns)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Var  *column = (Var *) node;
		int			place = 1;
		ListCell   *cell;

		foreach(cell, (List *) columns)
		{
			if (equal(lfirst(cell), node))
				break;
			place++;
		}
		return (Node *) makeVar(1, place, column->vartype, column->vartypmod, column->varcollid, 0);
	}
	return expression_tree_mutator(node, place_columns, columns);
}

/* A list of columns, each once, as a query shows them. */
static List *
show_columns(const List *columns)
{
	List	   *targets = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		int			place = list_length(targets) + 1;

		targets = lappend(targets, makeTargetEntry(lfirst(cell), place, psprintf("c%d", place),
												   false));
	}
	return targets;
}

/* Does a list show anything but columns? */
static bool
shows_more(const List *targets)
{
	ListCell   *cell;

	foreach(cell, targets)
		if (!IsA(lfirst_node(TargetEntry, cell)->expr, Var))
			return true;
	return false;
}

/* Are all parts of a query, down to its table, fit to be split? */
static bool
is_fit(Query *query)
{
	int			relation = only_relation(query);
	RangeTblEntry *entry = relation > 0 ? rt_fetch(relation, query->rtable) : NULL;

	return entry && (entry->rtekind == RTE_RELATION ||
					 (entry->rtekind == RTE_SUBQUERY && is_fit(entry->subquery)));
}

bool
dperm_view_rows_split(Query *tree, DpermViewRows *rows)
{
	Query	   *query = copyObject(tree);
	List	   *targets = query->targetList;
	List	   *conditions,
			   *columns = NIL;
	RangeTblEntry *entry;
	ListCell   *cell;
	int			relation;

	if (!is_fit(query))
		return false;
	relation = only_relation(query);
	entry = rt_fetch(relation, query->rtable);
	conditions = take_conditions(query, entry);
	while (entry->rtekind == RTE_SUBQUERY)
	{
		targets = expand_view(targets, relation, entry);
		conditions = expand_view(conditions, relation, entry);
		query = entry->subquery;
		relation = only_relation(query);
		entry = rt_fetch(relation, query->rtable);
		conditions = list_concat(take_conditions(query, entry), conditions);
	}
	targets = expand_generated(targets, relation, entry);
	conditions = expand_generated(conditions, relation, entry);
	if (conditions == NIL && !shows_more(targets))
		return false;
	foreach(cell, pull_var_clause((Node *) list_make2(targets, conditions), 0))
		columns = list_append_unique(columns, lfirst(cell));
	query->targetList = show_columns(columns);
	rows->columns = query;
	rows->targets = (List *) expression_planner((Expr *) place_columns((Node *) targets, columns));
	rows->conditions =
		(List *) expression_planner((Expr *) place_columns((Node *) conditions, columns));
	return true;
}

/* A receiver of columns. */
typedef struct Evaluation
{
	DestReceiver pub;			/* must be first */
	const DpermViewRows *rows;
	DestReceiver *next;
	TupleTableSlot *shown;		/* a row, for the next receiver */
	ResourceOwner guard;		/* of the subtransaction; NULL while there is none */

	/* made anew after an error */
	MemoryContext context;
	ExprContext *values;
	ExprState  *condition;
	List	   *targets;		/* ExprState */
} Evaluation;

/* Make expressions ready. */
static void
compile(Evaluation *evaluation)
{
	MemoryContext before = MemoryContextSwitchTo(evaluation->context);
	ListCell   *cell;

	evaluation->values = CreateStandaloneExprContext();
	evaluation->condition = ExecInitQual(evaluation->rows->conditions, NULL);
	evaluation->targets = NIL;
	foreach(cell, evaluation->rows->targets)
		evaluation->targets =
			lappend(evaluation->targets, ExecInitExpr(lfirst_node(TargetEntry, cell)->expr, NULL));
	MemoryContextSwitchTo(before);
}

/* Begin a subtransaction, which the caller's resources are not part of. */
static void
begin_guard(Evaluation *evaluation)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	evaluation->guard = CurrentResourceOwner;
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

/* Evaluate the expressions of a row; false if it is not to be shown. */
static bool
evaluate(Evaluation *evaluation, TupleTableSlot *columns)
{
	ExprContext *values = evaluation->values;
	TupleTableSlot *shown = evaluation->shown;
	ListCell   *cell;
	int			i = 0;

	if (values == NULL)
	{
		compile(evaluation);
		values = evaluation->values;
	}
	ResetExprContext(values);
	values->ecxt_scantuple = columns;
	if (!ExecQual(evaluation->condition, values))
		return false;
	ExecClearTuple(shown);
	foreach(cell, evaluation->targets)
	{
		shown->tts_values[i] =
			ExecEvalExprSwitchContext(lfirst(cell), values, &shown->tts_isnull[i]);
		i++;
	}
	ExecStoreVirtualTuple(shown);
	return true;
}

/* After an error: forget all that it may have left behind. */
static ErrorData *
clean_up(Evaluation *evaluation)
{
	ErrorData  *error = CopyErrorData();
	MemoryContext context = CurrentMemoryContext;

	FlushErrorState();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	evaluation->guard = NULL;
	evaluation->values = NULL;
	MemoryContextReset(evaluation->context);
	return error;
}

/*
 * Evaluate a row within the subtransaction. A row that fails is not shown; the
 * error is in *failed then.
 */
static bool
evaluate_guarded(Evaluation *evaluation, TupleTableSlot *columns, ErrorData **failed)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;
	volatile bool shown = false;

	if (evaluation->guard == NULL)
		begin_guard(evaluation);
	PG_TRY();
	{
		CurrentResourceOwner = evaluation->guard;
		dperm_worker_rules_evaluates(true);
		shown = evaluate(evaluation, columns);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = clean_up(evaluation);
	}
	PG_END_TRY();
	dperm_worker_rules_evaluates(false);
	CurrentResourceOwner = owner;
	*failed = error;
	return shown && error == NULL;
}

/*
 * End the subtransaction, if there is one. Nothing that functions have set or
 * written outlives it.
 */
static void
end_guard(Evaluation *evaluation)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (evaluation->guard == NULL)
		return;
	CurrentResourceOwner = evaluation->guard;
	FreeExprContext(evaluation->values, true);
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	evaluation->guard = NULL;
}

/* The columns of a row have arrived. */
static bool
receive_columns(TupleTableSlot *slot, DestReceiver *self)
{
	Evaluation *evaluation = (Evaluation *) self;

	ErrorData  *error;

	if (evaluate_guarded(evaluation, slot, &error))
		return evaluation->next->receiveSlot(evaluation->shown, evaluation->next);
	if (error)
		dperm_worker_rules_row_failed(error);
	return true;
}

/* Rows are about to arrive. */
static void
start_columns(DestReceiver *self, int operation, TupleDesc desc)
{
	Evaluation *evaluation = (Evaluation *) self;
	TupleDesc	shown = ExecTypeFromTL(evaluation->rows->targets);

	evaluation->shown = MakeSingleTupleTableSlot(shown, &TTSOpsVirtual);
	evaluation->next->rStartup(evaluation->next, operation, shown);
}

/* No more rows will arrive. */
static void
end_columns(DestReceiver *self)
{
	Evaluation *evaluation = (Evaluation *) self;

	end_guard(evaluation);
	ExecDropSingleTupleTableSlot(evaluation->shown);
	evaluation->next->rShutdown(evaluation->next);
}

static void
forget_evaluation(DestReceiver *self)
{
}

/* Prepare to evaluate. */
static Evaluation *
make_evaluation(const DpermViewRows *rows)
{
	Evaluation *evaluation = palloc0(sizeof(*evaluation));

	evaluation->rows = rows;
	evaluation->context = AllocSetContextCreate(CurrentMemoryContext, "dperm expressions",
												ALLOCSET_DEFAULT_SIZES);
	return evaluation;
}

DestReceiver *
dperm_view_rows_receiver(const DpermViewRows *rows, DestReceiver *next)
{
	Evaluation *evaluation = make_evaluation(rows);

	evaluation->pub.receiveSlot = receive_columns;
	evaluation->pub.rStartup = start_columns;
	evaluation->pub.rShutdown = end_columns;
	evaluation->pub.rDestroy = forget_evaluation;
	evaluation->pub.mydest = next->mydest;
	evaluation->next = next;
	return &evaluation->pub;
}

void
dperm_view_rows_try(const DpermViewRows *rows)
{
	Evaluation *evaluation = make_evaluation(rows);
	TupleTableSlot *columns =
		MakeSingleTupleTableSlot(ExecTypeFromTL(rows->columns->targetList), &TTSOpsVirtual);
	ErrorData  *error;

	evaluation->shown = MakeSingleTupleTableSlot(ExecTypeFromTL(rows->targets), &TTSOpsVirtual);
	(void) evaluate_guarded(evaluation, ExecStoreAllNullTuple(columns), &error);
	end_guard(evaluation);
	ExecDropSingleTupleTableSlot(evaluation->shown);
	ExecDropSingleTupleTableSlot(columns);
	if (error)
		dperm_worker_rules_try_failed(error);
}
