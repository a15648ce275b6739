/*
 * view_rows.c: the rows of a protected view, computed one by one.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "protect/worker.h"
#include "protect/worker_rules.h"
#include "query/view_rows.h"
#include "relation/row_sources.h"

/* The only relation in FROM, or 0 for a query that does more than show its rows. */
static int
only_relation(const Query *query)
{
	if (query->hasAggs || query->hasSubLinks || list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return 0;
	return linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
}

/* Can a query, down to its table, be split? */
static bool
is_fit(Query *query)
{
	int			relation = only_relation(query);
	RangeTblEntry *entry = relation > 0 ? rt_fetch(relation, query->rtable) : NULL;

	return entry && (entry->rtekind == RTE_RELATION ||
					 (entry->rtekind == RTE_SUBQUERY && is_fit(entry->subquery)));
}

/* Raise unless the relations of a query may be read. */
static void
check_access(Query *query)
{
#if PG_VERSION_NUM >= 160000
	(void) ExecCheckPermissions(query->rtable, query->rteperminfos, true);
#else
	(void) ExecCheckRTPerms(query->rtable, true);
#endif
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

/* Put expressions in place of the columns of a relation, those that are listed. */
static List *
expand_columns(List *expressions, int relation, RangeTblEntry *entry, List *targets)
{
	return (List *) ReplaceVarsFromTargetList((Node *) expressions, relation, 0, entry, targets,
#if PG_VERSION_NUM >= 180000
											  0,
#endif
											  REPLACEVARS_CHANGE_VARNO, relation, NULL);
}

/*
 * A test whether a whole row is NULL, or has no NULL, is not about dropped
 * columns, in whose place a row has NULLs.
 */
static Node *
skip_dropped(Node *node, void *desc)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, NullTest) && IsA(((NullTest *) node)->arg, RowExpr) &&
		((RowExpr *) ((NullTest *) node)->arg)->row_typeid == ((TupleDesc) desc)->tdtypeid)
	{
		NullTest   *test = copyObject((NullTest *) node);
		RowExpr    *row = (RowExpr *) test->arg;
		List	   *live = NIL;

		for (int i = 0; i < ((TupleDesc) desc)->natts; i++)
			if (!TupleDescAttr((TupleDesc) desc, i)->attisdropped)
				live = lappend(live, list_nth(row->args, i));
		row->args = live;
		row->colnames = NIL;
		row->row_typeid = RECORDOID;
		return (Node *) test;
	}
	return expression_tree_mutator(node, skip_dropped, desc);
}

/*
 * Expressions over stored columns of a table: a whole row is made of its columns,
 * and so are generated columns that are computed when they are read.
 */
static List *
expand_table(List *expressions, int relation, RangeTblEntry *entry)
{
	Relation	table = table_open(entry->relid, NoLock);
	TupleDesc	desc = RelationGetDescr(table);
	List	   *columns = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped)
			columns = lappend(columns,
							  makeTargetEntry((Expr *) makeVar(relation, i + 1, column->atttypid,
															   column->atttypmod,
															   column->attcollation, 0),
											  i + 1, NULL, false));
	}
	expressions = expand_columns(expressions, relation, entry, columns);
	expressions = (List *) skip_dropped((Node *) expressions, desc);
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	expressions =
		(List *) expand_generated_columns_in_expr((Node *) expressions, table, relation);
#endif
	table_close(table, NoLock);
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

/* Columns, each once, as a query shows them. */
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

/* Is a function another than PostgreSQL's own? */
static bool
is_others(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

/*
 * Does an expression run code other than PostgreSQL's own? It may leave something
 * behind: a setting, a cursor. A type may have a constraint that does.
 */
static bool
runs_others(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return dperm_row_sources_type(node) >= FirstNormalObjectId ||
		check_functions_in_node(node, is_others, context) ||
		expression_tree_walker(node, runs_others, context);
}

/*
 * Simplify expressions over the columns. Functions are inlined, and called if
 * their arguments are constants, by the rules for rows.
 */
static List *
simplify(List *expressions, List *columns)
{
	List	   *result;

	dperm_worker_rules_evaluates(true);
	result = (List *) expression_planner((Expr *) place_columns((Node *) expressions, columns));
	dperm_worker_rules_evaluates(false);
	return result;
}

bool
dperm_view_rows_split(Query *tree, DpermViewRows *rows)
{
	Query	   *query = copyObject(tree);
	List	   *targets = query->targetList;
	List	   *conditions = NIL,
			   *columns = NIL;
	RangeTblEntry *entry;
	ListCell   *cell;
	int			relation;

	if (!is_fit(query))
		return false;
	for (;;)
	{
		check_access(query);
		relation = only_relation(query);
		entry = rt_fetch(relation, query->rtable);
		conditions = list_concat(take_conditions(query, entry), conditions);
		if (entry->rtekind == RTE_RELATION)
			break;
		query = entry->subquery;
		targets = expand_columns(targets, relation, entry, query->targetList);
		conditions = expand_columns(conditions, relation, entry, query->targetList);
	}
	targets = expand_table(targets, relation, entry);
	conditions = expand_table(conditions, relation, entry);
	if (conditions == NIL && !shows_more(targets))
		return false;
	foreach(cell, pull_var_clause((Node *) list_make2(targets, conditions), 0))
		columns = list_append_unique(columns, lfirst(cell));
	query->targetList = show_columns(columns);
	rows->columns = query;
	rows->targets = simplify(targets, columns);
	rows->conditions = simplify(conditions, columns);
	rows->leaves_traces =
		runs_others((Node *) rows->targets, NULL) || runs_others((Node *) rows->conditions, NULL);
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

/*
 * End the subtransaction, if there is one. Nothing that functions have set, opened
 * or written outlives it.
 */
static void
end_guard(Evaluation *evaluation)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (evaluation->guard)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	evaluation->guard = NULL;
}

/* After an error: forget all that it may have left behind. */
static ErrorData *
clean_up(Evaluation *evaluation)
{
	ErrorData  *error = CopyErrorData();

	FlushErrorState();
	end_guard(evaluation);
	evaluation->values = NULL;
	MemoryContextReset(evaluation->context);
	return error;
}

/*
 * Evaluate a row within the subtransaction. False if it is not to be shown; if
 * that is for an error, this is in *failed.
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
	if (evaluation->rows->leaves_traces)
		end_guard(evaluation);
	*failed = error;
	return shown && error == NULL;
}

/*
 * The columns of a row have arrived. One that fails for a name or a type is tried
 * again with new plans: those of rows before it may be to blame.
 */
static bool
receive_columns(TupleTableSlot *slot, DestReceiver *self)
{
	Evaluation *evaluation = (Evaluation *) self;
	ErrorData  *error;
	bool		shown = evaluate_guarded(evaluation, slot, &error);

	dperm_worker_rules_interrupt(error);
	if (error && ERRCODE_TO_CATEGORY(error->sqlerrcode) ==
					 ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION)
	{
		FreeErrorData(error);
		ResetPlanCache();
		shown = evaluate_guarded(evaluation, slot, &error);
		dperm_worker_rules_interrupt(error);
	}
	if (error)
		dperm_worker_rules_keep(error);
	return !shown || evaluation->next->receiveSlot(evaluation->shown, evaluation->next);
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

/* A value that may well be in a row, of the types that most columns have; or NULL. */
static Datum
usual_value(Oid type, bool *isnull)
{
	*isnull = false;
	switch (getBaseType(type))
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case DATEOID:
			return Int32GetDatum(0);
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return Int64GetDatum(0);
		case FLOAT4OID:
			return Float4GetDatum(0);
		case FLOAT8OID:
			return Float8GetDatum(0);
		case NUMERICOID:
			return NumericGetDatum(int64_to_numeric(0));
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return PointerGetDatum(cstring_to_text(""));
		default:
			*isnull = !OidIsValid(get_element_type(getBaseType(type)));
			return *isnull ? 0 :
				PointerGetDatum(construct_empty_array(get_element_type(getBaseType(type))));
	}
}

/* Evaluate a row that nobody has written. */
static void
try_row(Evaluation *evaluation, TupleTableSlot *columns)
{
	ErrorData  *error;

	dperm_worker_tries();
	(void) evaluate_guarded(evaluation, columns, &error);
	end_guard(evaluation);
	dperm_worker_tried();
	if (error && dperm_worker_rules_faulty(error))
		ReThrowError(error);
	dperm_worker_rules_forgive();
}

void
dperm_view_rows_try(const DpermViewRows *rows)
{
	Evaluation *evaluation = make_evaluation(rows);
	TupleDesc	desc = ExecTypeFromTL(rows->columns->targetList);
	TupleTableSlot *columns = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);

	evaluation->shown = MakeSingleTupleTableSlot(ExecTypeFromTL(rows->targets), &TTSOpsVirtual);
	try_row(evaluation, ExecStoreAllNullTuple(columns));
	ExecClearTuple(columns);
	for (int i = 0; i < desc->natts; i++)
		columns->tts_values[i] =
			usual_value(TupleDescAttr(desc, i)->atttypid, &columns->tts_isnull[i]);
	try_row(evaluation, ExecStoreVirtualTuple(columns));
	ExecDropSingleTupleTableSlot(evaluation->shown);
	ExecDropSingleTupleTableSlot(columns);
}
