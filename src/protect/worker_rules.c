/* worker_rules.c: what a process that reads protected rows may do. */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/timeout.h"

#include "base/message.h"
#include "protect/worker_rules.h"

/* Whom this process trusts, besides PostgreSQL and superusers. */
static Oid	trusted_owner;
static Oid	trusted_extension;

/* What hooks are called and given, which depends on the version. */
#if PG_VERSION_NUM >= 190000
#define PLANNER(...) __VA_ARGS__, struct ExplainState *explain
#define PLAN_OF(...) __VA_ARGS__, explain
#define get_relation_info_hook build_simple_rel_hook
#define get_relation_info_hook_type build_simple_rel_hook_type
#define RELATION_INFO PlannerInfo *root, RelOptInfo *info, RangeTblEntry *entry
#define INFO_OF_RELATION root, info, entry
#else
#define PLANNER(...) __VA_ARGS__
#define PLAN_OF(...) __VA_ARGS__
#define RELATION_INFO PlannerInfo *root, Oid relation, bool parent, RelOptInfo *info
#define INFO_OF_RELATION root, relation, parent, info
#endif

/* The hooks of other extensions. */
static needs_fmgr_hook_type next_needs_hook;
static fmgr_hook_type next_hook;
static object_access_hook_type next_access;
static planner_hook_type next_planner;
static get_relation_info_hook_type next_relation_info;

bool
dperm_worker_rules_function(Oid function, Oid owner, Oid extension)
{
	HeapTuple	tuple;
	Oid			its_owner;

	/*
	 * whatever initdb has created belongs to PostgreSQL; an administrator who
	 * gives it away gives away the server
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

/* Raise an error for a function of another role. */
static void
refuse_stranger(Oid function)
{
	if (!dperm_worker_rules_function(function, trusted_owner, trusted_extension))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s does not belong to the owner of the protected relation",
						format_procedure(function)),
				 errdetail("It would run with the owner's rights."),
				 errhint("The owner of the relation or a superuser must own the function.")));
}

/* Is an expression of the relation being evaluated? */
static bool evaluating;

/* The first error of a row. */
static ErrorData *caught;

void
dperm_worker_rules_evaluates(bool now)
{
	evaluating = now;
}

/* Has this process been told to stop? */
static volatile sig_atomic_t told_to_stop;

void
dperm_worker_rules_stop(SIGNAL_ARGS)
{
	int			before = errno;

	/* a wait for a lock that took too long is an error of the row */
	if (!get_timeout_indicator(LOCK_TIMEOUT, false))
		told_to_stop = true;
	/* as StatementCancelHandler() does, whose arguments depend on the version */
	if (!proc_exit_inprogress)
	{
		InterruptPending = true;
		QueryCancelPending = true;
	}
	SetLatch(MyLatch);
	errno = before;
}

void
dperm_worker_rules_interrupt(void)
{
	bool		stop = told_to_stop;

	/*
	 * not the error of the row, whose class would reveal something about it
	 */
	told_to_stop = false;
	if (stop)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("the signal to stop came while a row was evaluated")));
}

void
dperm_worker_rules_keep(ErrorData *error)
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
}

/*
 * Is an error about the text of a function, as of a name that is not found or
 * must not be used? Then no row is the cause.
 */
static bool
is_faulty(const ErrorData *error)
{
	static const int faults[] = {ERRCODE_UNDEFINED_FUNCTION, ERRCODE_AMBIGUOUS_FUNCTION,
								 ERRCODE_UNDEFINED_TABLE, ERRCODE_UNDEFINED_OBJECT,
								 ERRCODE_UNDEFINED_COLUMN, ERRCODE_AMBIGUOUS_COLUMN,
								 ERRCODE_INVALID_SCHEMA_NAME, ERRCODE_INSUFFICIENT_PRIVILEGE};

	if (error->funcname && strcmp(error->funcname, "exec_stmt_raise") == 0)
		return false;
	for (int i = 0; i < lengthof(faults); i++)
		if (error->sqlerrcode == faults[i])
			return true;
	return false;
}

void
dperm_worker_rules_raise(ErrorData *error)
{
	if (is_faulty(error))
	{
		dperm_message_public();
		error->output_to_client = true; /* our copy was made before this was set */
	}
	ReThrowError(error);
}

const ErrorData *
dperm_worker_rules_caught(void)
{
	return caught;
}

/* PostgreSQL looks up a function. */
static bool
look_up(Oid function)
{
	refuse_stranger(function);
	return next_needs_hook && next_needs_hook(function);
}

/* PostgreSQL calls one that has settings of its own or is SECURITY DEFINER. */
static void
call(FmgrHookEventType event, FmgrInfo *function, Datum *private)
{
	if (event == FHET_START)
		refuse_stranger(function->fn_oid);
	if (next_hook)
		next_hook(event, function, private);
}

/*
 * PostgreSQL looks up a name in a schema. While an expression is evaluated,
 * that is a name in the body of a function, first looked up for a row. Others
 * can see the lock on what is found, and could have replaced it. So nothing is
 * found except in pg_catalog, where only superusers create objects.
 */
static void
search_schema(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	ObjectAccessNamespaceSearch *search = arg;

	if (next_access)
		next_access(access, class, object, sub, arg);
	if (access != OAT_NAMESPACE_SEARCH || !evaluating || object == PG_CATALOG_NAMESPACE)
		return;
	search->result = false;
	if (search->ereport_on_violation)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a function of the protected relation names an object in schema \"%s\"",
						get_namespace_name(object)),
				 errhint("A function in PL/pgSQL, or in SQL with a body in quotes, can only use "
						 "pg_catalog; one with RETURN or BEGIN ATOMIC can use any schema.")));
}

/*
 * A query is planned, ours or one of a function: parallel workers, which do not
 * have these hooks, must not be used.
 */
static PlannedStmt *
plan_here(PLANNER(Query *query, const char *text, int options, ParamListInfo params))
{
	options &= ~CURSOR_OPT_PARALLEL_OK;
	if (evaluating)
		params = NULL;			/* plans of functions do not depend on the values of a row */
	return next_planner ? next_planner(PLAN_OF(query, text, options, params)) :
						  standard_planner(PLAN_OF(query, text, options, params));
}

/*
 * The planner asks for statistics: there are none, since they are computed from
 * rows. So plans do not depend on what rows contain.
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
no_extended_statistics(RELATION_INFO)
{
	if (next_relation_info)
		next_relation_info(INFO_OF_RELATION);
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
	next_access = object_access_hook;
	object_access_hook = search_schema;
	next_planner = planner_hook;
	planner_hook = plan_here;
	next_relation_info = get_relation_info_hook;
	get_relation_info_hook = no_extended_statistics;
	get_relation_stats_hook = no_column_statistics;
	get_index_stats_hook = no_index_statistics;
}
