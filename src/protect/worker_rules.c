/*
 * worker_rules.c: what a process that reads protected rows may do at all.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "protect/trusted_schemas.h"
#include "protect/worker_rules.h"

/* Whom this process trusts, beside PostgreSQL and superusers. */
static Oid	trusted_owner;
static Oid	trusted_extension;

/* The hooks of others. */
static needs_fmgr_hook_type next_needs_hook;
static fmgr_hook_type next_hook;
static object_access_hook_type next_access_hook;
static planner_hook_type next_planner;
static get_relation_info_hook_type next_relation_info;

/* Are names looked for in trusted schemas alone, at this moment? */
static bool only_trusted_schemas;

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

/* PostgreSQL looks up a function. */
static bool
look_up(Oid function)
{
	refuse_stranger(function);
	return next_needs_hook && next_needs_hook(function);
}

/*
 * PostgreSQL calls a function that has settings of its own, or is SECURITY
 * DEFINER; for these it does not ask before.
 */
static void
call(FmgrHookEventType event, FmgrInfo *function, Datum *private)
{
	if (event == FHET_START)
		refuse_stranger(function->fn_oid);
	if (next_hook)
		next_hook(event, function, private);
}

/*
 * Schemas that have been looked at, and whether they are trusted: what others
 * do meanwhile changes nothing.
 */
typedef struct KnownSchema
{
	Oid			schema;
	bool		trusted;
} KnownSchema;

static List *known_schemas;

/* Is a schema trusted? */
static bool
is_trusted_schema(Oid schema)
{
	KnownSchema *known;
	ListCell   *cell;
	MemoryContext before;

	foreach(cell, known_schemas)
		if (((KnownSchema *) lfirst(cell))->schema == schema)
			return ((KnownSchema *) lfirst(cell))->trusted;
	before = MemoryContextSwitchTo(TopMemoryContext);
	known = palloc(sizeof(*known));
	known->schema = schema;
	known->trusted = dperm_trusted_schemas_has(schema, trusted_owner);
	known_schemas = lappend(known_schemas, known);
	MemoryContextSwitchTo(before);
	return known->trusted;
}

/* A name is looked for in a schema (trusted_schemas.h). */
static void
search_schema(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	if (next_access_hook)
		next_access_hook(access, class, object, sub, arg);
	if (access == OAT_NAMESPACE_SEARCH && only_trusted_schemas && !is_trusted_schema(object))
	{
		ObjectAccessNamespaceSearch *search = arg;

		search->result = false;
		if (search->ereport_on_violation)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("schema \"%s\" has, or may get, objects of other roles than the owner "
							"of the protected relation", get_namespace_name(object))));
	}
}

/* Names are looked for in schemas that strangers cannot change. */
void
dperm_worker_rules_schemas_only(bool only)
{
	only_trusted_schemas = only;
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
	next_access_hook = object_access_hook;
	object_access_hook = search_schema;
	next_planner = planner_hook;
	planner_hook = plan_here;
	next_relation_info = get_relation_info_hook;
	get_relation_info_hook = no_extended_statistics;
	get_relation_stats_hook = no_column_statistics;
	get_index_stats_hook = no_index_statistics;
}
