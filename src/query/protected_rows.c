/*
 * protected_rows.c: how the rows of a protected relation are read. Trusted.
 *
 * The server reads columns of the table, and nothing else. The expressions of a view
 * are evaluated here, a row at a time. A row that the WHERE clause does not let through
 * is passed on as an empty row, in which everything but the unit is NULL: so all rows
 * of the table count. An error in an expression ends nothing but its row, which is then
 * empty, too.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "protect/protect.h"
#include "query/checked_query.h"
#include "relation/relation.h"

/* A column of a table. */
static Expr *
make_column(Oid table, AttrNumber number)
{
	Oid			type,
				collation;
	int32		typmod;

	get_atttypetypmodcoll(table, number, &type, &typmod, &collation);
	return (Expr *) makeVar(1, number, type, typmod, collation, 0);
}

/* A column of the source, as an expression over columns of its table. */
static Expr *
shown_column(const DpermSource *source, const char *name)
{
	AttrNumber	number = get_attnum(source->relation, name);
	const DpermView *view = source->registration->view;

	return view ? copyObject(list_nth_node(TargetEntry, view->targets, number - 1)->expr) :
		make_column(source->relation, number);
}

/* Add an expression to a row. */
static void
add_target(DpermProtectedRows *rows, Expr *expression)
{
	int			place = list_length(rows->targets) + 1;

	rows->targets = lappend(rows->targets,
							makeTargetEntry(expression, place, psprintf("c%d", place), false));
}

/* Expressions over the stored columns of a table. */
static List *
expand_generated(List *expressions, Oid table)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	Relation	relation = table_open(table, AccessShareLock);

	expressions = (List *) expand_generated_columns_in_expr((Node *) expressions, relation, 1);
	table_close(relation, NoLock);
#endif
	return expressions;
}

/*
 * Replace the columns of the table by those of the query, by position: it has each of
 * them once, in the order in which they appear.
 */
static Node *
place_columns(Node *node, void *arg)
{
	List	  **columns = arg;	/* their numbers */

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Var  *column = (Var *) node;
		int			place = 0;

		*columns = list_append_unique_int(*columns, column->varattno);
		while (list_nth_int(*columns, place) != column->varattno)
			place++;
		return (Node *) makeVar(1, place + 1, column->vartype, column->vartypmod,
								column->varcollid, 0);
	}
	return expression_tree_mutator(node, place_columns, arg);
}

/*
 * The query of the columns. What has become a part of a table without parts
 * since it was checked is not planned.
 */
static char *
query_of(Oid table, bool has_parts, const List *columns)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT");
	foreach(cell, columns)
		appendStringInfo(&sql, "%s t.%s", cell == list_head(columns) ? "" : ",",
						 quote_identifier(get_attname(table, lfirst_int(cell), false)));
	appendStringInfo(&sql, " FROM %s%s AS t", has_parts ? "" : "ONLY ", dperm_relation_name(table));
	return sql.data;
}

/* Is a row more than the columns of the query, in their order? */
static bool
is_computed(const DpermProtectedRows *rows)
{
	ListCell   *cell;

	foreach(cell, rows->targets)
	{
		const TargetEntry *target = lfirst_node(TargetEntry, cell);

		if (!IsA(target->expr, Var) || ((const Var *) target->expr)->varattno != target->resno)
			return true;
	}
	return rows->conditions != NIL;
}

/* How the rows of a source with a registration are read. */
DpermProtectedRows *
dperm_protected_rows_make(const DpermSource *source)
{
	const DpermRegistration *registration = source->registration;
	Oid			table = registration->table->relation;
	DpermProtectedRows *rows = palloc0(sizeof(*rows));
	List	   *columns = NIL;

	if (source->label_column)
		add_target(rows, shown_column(source, source->label_column));
	for (int i = 0; i < source->block_count; i++)
		add_target(rows, shown_column(source, source->features[i]->name));
	if (registration->persons)
		add_target(rows, make_column(table, registration->unit));
	if (registration->view && registration->view->condition)
		rows->conditions = list_make1(copyObject(registration->view->condition));
	rows->targets = expand_generated(rows->targets, table);
	rows->conditions = expand_generated(rows->conditions, table);
	rows->targets = (List *) place_columns((Node *) rows->targets, &columns);
	rows->conditions = (List *) place_columns((Node *) rows->conditions, &columns);
	rows->text = query_of(table, registration->has_parts, columns);
	if (registration->persons)
	{
		const Expr *unit = llast_node(TargetEntry, rows->targets)->expr;

		if (!IsA(unit, Var))
			elog(ERROR, "the unit of a protected relation is not a stored column");
		rows->unit = ((const Var *) unit)->varattno;
	}
	rows->computed = is_computed(rows);
	return rows;
}

/* ------------------------------------------------------- row by row */

/* A receiver of columns. */
typedef struct Evaluation
{
	DestReceiver pub;			/* must be first */
	const DpermProtectedRows *rows;
	DestReceiver *next;
	TupleTableSlot *shown;		/* a row, for the next receiver */
	ResourceOwner guard;		/* of the subtransaction; NULL while there is none */

	MemoryContext errors;		/* the last error */

	/* rebuilt after an error */
	MemoryContext context;
	ExprContext *values;
	ExprState  *condition;
	List	   *targets;		/* ExprState */
} Evaluation;

/* Initialise the expressions. */
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

/* Begin a subtransaction that does not own the resources of the caller. */
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

/* Evaluate the expressions of a row; false if the conditions exclude it. */
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

/* End the subtransaction, if there is one. */
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

/* Clean up after an error, and return it. */
static ErrorData *
clean_up(Evaluation *evaluation)
{
	MemoryContext context = MemoryContextSwitchTo(evaluation->errors);
	ErrorData  *error;

	MemoryContextReset(evaluation->errors);
	error = CopyErrorData();
	FlushErrorState();
	MemoryContextSwitchTo(context);
	end_guard(evaluation);
	evaluation->values = NULL;
	MemoryContextReset(evaluation->context);
	return error;
}

/* Evaluate a row within the subtransaction; false if it is not to be shown. */
static bool
evaluate_guarded(Evaluation *evaluation, TupleTableSlot *columns)
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
		dperm_phase_enter(DPERM_PHASE_ROW, false);
		shown = evaluate(evaluation, columns);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = clean_up(evaluation);
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	dperm_phase_end_row(error);
	return shown && error == NULL;
}

/* Make an empty row: everything is NULL, except the unit. */
static void
show_empty(Evaluation *evaluation, TupleTableSlot *columns)
{
	TupleTableSlot *shown = evaluation->shown;
	int			last = shown->tts_tupleDescriptor->natts - 1;

	ExecClearTuple(shown);
	memset(shown->tts_isnull, true, sizeof(bool) * (last + 1));
	if (evaluation->rows->unit > 0)
		shown->tts_values[last] =
			slot_getattr(columns, evaluation->rows->unit, &shown->tts_isnull[last]);
	ExecStoreVirtualTuple(shown);
}

/* The columns of a row have arrived. */
static bool
receive_columns(TupleTableSlot *slot, DestReceiver *self)
{
	Evaluation *evaluation = (Evaluation *) self;

	if (!evaluate_guarded(evaluation, slot))
		show_empty(evaluation, slot);
	return evaluation->next->receiveSlot(evaluation->shown, evaluation->next);
}

/* Rows are about to arrive. */
static void
start_columns(DestReceiver *self, int operation, TupleDesc desc)
{
	Evaluation *evaluation = (Evaluation *) self;
	TupleDesc	shown = ExecTypeFromTL(evaluation->rows->targets);

	compile(evaluation);
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

/*
 * The receiver of the columns, which passes rows on to another, if they are more than
 * these. It needs a transaction, and keeps a subtransaction open, for all rows up to one
 * that fails.
 */
DestReceiver *
dperm_protected_rows_receiver(const DpermProtectedRows *rows, DestReceiver *next)
{
	Evaluation *evaluation;

	if (!rows->computed)
		return next;
	evaluation = palloc0(sizeof(*evaluation));
	evaluation->pub = (DestReceiver) {
		.receiveSlot = receive_columns, .rStartup = start_columns, .rShutdown = end_columns,
		.rDestroy = forget_evaluation, .mydest = next->mydest
	};
	evaluation->rows = rows;
	evaluation->next = next;
	evaluation->errors = AllocSetContextCreate(CurrentMemoryContext, "dperm error of a row",
											   ALLOCSET_SMALL_SIZES);
	evaluation->context = AllocSetContextCreate(CurrentMemoryContext, "dperm expressions",
												ALLOCSET_DEFAULT_SIZES);
	return &evaluation->pub;
}

/*
 * Simplify the expressions, as the planner does, which evaluates those of constants;
 * and initialise them, which raises errors such as a function that may not be executed.
 */
void
dperm_protected_rows_plan(DpermProtectedRows *rows)
{
	Evaluation	evaluation = {.rows = rows, .context = CurrentMemoryContext};

	rows->targets = (List *) expression_planner((Expr *) rows->targets);
	rows->conditions = make_ands_implicit(
		expression_planner(make_ands_explicit(rows->conditions)));
	if (rows->computed)
		compile(&evaluation);
}
