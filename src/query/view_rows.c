/*
 * view_rows.c: the rows of a protected view, computed one by one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "protect/protect.h"
#include "query/view_rows.h"

/* A receiver of columns. */
typedef struct Evaluation
{
	DestReceiver pub;			/* must be first */
	const DpermTableRows *rows;
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

DestReceiver *
dperm_view_rows_receiver(const DpermTableRows *rows, DestReceiver *next)
{
	Evaluation *evaluation = palloc0(sizeof(*evaluation));

	evaluation->rows = rows;
	evaluation->errors = AllocSetContextCreate(CurrentMemoryContext, "dperm error of a row",
											   ALLOCSET_SMALL_SIZES);
	evaluation->context = AllocSetContextCreate(CurrentMemoryContext, "dperm expressions",
												ALLOCSET_DEFAULT_SIZES);
	evaluation->pub.receiveSlot = receive_columns;
	evaluation->pub.rStartup = start_columns;
	evaluation->pub.rShutdown = end_columns;
	evaluation->pub.rDestroy = forget_evaluation;
	evaluation->pub.mydest = next->mydest;
	evaluation->next = next;
	return &evaluation->pub;
}

void
dperm_view_rows_start(const DpermTableRows *rows)
{
	Evaluation	evaluation = {.rows = rows, .context = CurrentMemoryContext};

	compile(&evaluation);
}
