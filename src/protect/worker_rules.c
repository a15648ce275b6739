/*
 * worker_rules.c: what a process that reads protected rows may do at all.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/resowner.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "protect/worker_rules.h"

/* Whom this process trusts, beside PostgreSQL and superusers. */
static Oid	trusted_owner;
static Oid	trusted_extension;

/* The hooks of others. */
static needs_fmgr_hook_type next_needs_hook;
static fmgr_hook_type next_hook;
static planner_hook_type next_planner;
static get_relation_info_hook_type next_relation_info;

bool
dperm_worker_rules_function(Oid function, Oid owner, Oid extension)
{
	HeapTuple	tuple;
	Oid			its_owner;

	/*
	 * what initdb has made belongs to PostgreSQL; an administrator who gives it
	 * away gives away the server
	 */
	if (function < FirstNormalObjectId)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	its_owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return its_owner == owner || superuser_arg(its_owner) ||
		(OidIsValid(extension) && getExtensionOfObject(ProcedureRelationId, function) == extension);
}

/* Raise for a function of a stranger. */
static void
refuse_stranger(Oid function)
{
	if (!dperm_worker_rules_function(function, trusted_owner, trusted_extension))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s does not belong to the owner of the protected "
						"relation", format_procedure(function))));
}

/*
 * Can what a function does depend on names that are looked up when it runs? Then
 * others may have a hand in whether it fails: by an object that fits better, or a
 * constraint of a domain. Functions in C, and bodies that were parsed when they
 * were created, name nothing.
 */
static bool
is_opaque(Oid function)
{
	HeapTuple	tuple;
	Oid			language;
	bool		parsed;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	parsed = !heap_attisnull(tuple, Anum_pg_proc_prosqlbody, NULL);
	ReleaseSysCache(tuple);
	return language != ClanguageId && language != INTERNALlanguageId && !parsed;
}

/* What opaque functions of the owner call, by their languages' handlers. */
typedef struct Handler
{
	Oid			function;
	PGFunction	address;
} Handler;

static List *handlers;

/* Are rows read, and is an opaque function under way? */
static bool reading;
static bool within;

/* The first error that was caught. */
static ErrorData *caught;

/* The handler of a function, NULL if it is not known yet. */
static PGFunction
handler_of(Oid function)
{
	ListCell   *cell;

	foreach(cell, handlers)
		if (((Handler *) lfirst(cell))->function == function)
			return ((Handler *) lfirst(cell))->address;
	return NULL;
}

/* Is an error an interrupt of the process, and not one that a function raises? */
static bool
is_interrupt(const ErrorData *error)
{
	return error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE && error->funcname &&
		strcmp(error->funcname, "ProcessInterrupts") == 0;
}

/* Keep the first error, for the log. */
static void
keep_error(ErrorData *error)
{
	MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);

	if (caught == NULL)
	{
		caught = palloc0(sizeof(*caught));
		caught->sqlerrcode = error->sqlerrcode;
		caught->lineno = error->lineno;
		caught->funcname = error->funcname ? pstrdup(error->funcname) : NULL;
		caught->filename = error->filename ? pstrdup(error->filename) : NULL;
	}
	MemoryContextSwitchTo(before);
	FreeErrorData(error);
}

/*
 * Call an opaque function. If it fails, its value is NULL. So whoever makes it
 * fail for some rows has changed what these rows are, which the noise hides, and
 * does not learn whether there are any.
 */
static Datum
call_carefully(PG_FUNCTION_ARGS)
{
	volatile PGFunction handler = handler_of(fcinfo->flinfo->fn_oid);
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;
	volatile Datum result = 0;

	if (within)
		return handler(fcinfo);
	within = true;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		result = handler(fcinfo);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	within = false;
	if (error && is_interrupt(error))
		ReThrowError(error);
	if (error)
	{
		keep_error(error);
		fcinfo->isnull = true;
		result = 0;
	}
	return result;
}

/*
 * Have a function called carefully, wherever it is called from: an expression, an
 * operator, a cast, a constraint. What is changed is the copy that PostgreSQL has
 * made for one place in this process.
 */
static void
make_careful(FmgrInfo *function)
{
	MemoryContext before;
	Handler    *handler;

	if (!reading || within || function->fn_addr == call_carefully || function->fn_retset ||
		!is_opaque(function->fn_oid))
		return;
	if (handler_of(function->fn_oid) == NULL)
	{
		before = MemoryContextSwitchTo(TopMemoryContext);
		handler = palloc(sizeof(*handler));
		handler->function = function->fn_oid;
		handler->address = function->fn_addr;
		handlers = lappend(handlers, handler);
		MemoryContextSwitchTo(before);
	}
	function->fn_addr = call_carefully;
}

/* From here on rows are read, or no longer. */
void
dperm_worker_rules_reading(bool now)
{
	reading = now;
	within = false;
}

/* The first error of an opaque function, for the log; or NULL. */
const ErrorData *
dperm_worker_rules_caught(void)
{
	return caught;
}

/* PostgreSQL looks up a function. Of an opaque one it shall tell when it is called. */
static bool
look_up(Oid function)
{
	refuse_stranger(function);
	return is_opaque(function) || (next_needs_hook && next_needs_hook(function));
}

/* PostgreSQL calls such a function, or one that has settings of its own or is SECURITY DEFINER. */
static void
call(FmgrHookEventType event, FmgrInfo *function, Datum *private)
{
	if (event == FHET_START)
	{
		refuse_stranger(function->fn_oid);
		make_careful(function);
	}
	if (next_hook)
		next_hook(event, function, private);
}

/*
 * A query is planned, ours or one of a function: other processes, which do not
 * have these hooks, must not work for it.
 */
static PlannedStmt *
plan_here(Query *query, const char *text, int options, ParamListInfo params)
{
	options &= ~CURSOR_OPT_PARALLEL_OK;
	return next_planner ? next_planner(query, text, options, params) :
						  standard_planner(query, text, options, params);
}

/*
 * The planner asks for statistics: there are none, since they are made of rows.
 * Then a plan is the same whatever rows hold.
 */
static bool
no_column_statistics(PlannerInfo *root, RangeTblEntry *entry, AttrNumber column,
					 VariableStatData *data)
{
	data->statsTuple = NULL;
	return true;
}

static bool
no_index_statistics(PlannerInfo *root, Oid index, AttrNumber column, VariableStatData *data)
{
	data->statsTuple = NULL;
	return true;
}

static void
no_extended_statistics(PlannerInfo *root, Oid relation, bool parent, RelOptInfo *info)
{
	if (next_relation_info)
		next_relation_info(root, relation, parent, info);
	info->statlist = NIL;
}

void
dperm_worker_rules_only(Oid owner)
{
	trusted_owner = owner;
	trusted_extension = get_extension_oid("dperm", true);
	next_needs_hook = needs_fmgr_hook;
	needs_fmgr_hook = look_up;
	next_hook = fmgr_hook;
	fmgr_hook = call;
	next_planner = planner_hook;
	planner_hook = plan_here;
	next_relation_info = get_relation_info_hook;
	get_relation_info_hook = no_extended_statistics;
	get_relation_stats_hook = no_column_statistics;
	get_index_stats_hook = no_index_statistics;
}
