/* worker_rules.c: what a process that reads protected rows may do. */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/selfuncs.h"

#include "protect/worker_rules.h"

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
static planner_hook_type next_planner;
static get_relation_info_hook_type next_relation_info;

/* A query is planned: parallel workers, which would be seen, are not used. */
static PlannedStmt *
plan_here(PLANNER(Query *query, const char *text, int options, ParamListInfo params))
{
	options &= ~CURSOR_OPT_PARALLEL_OK;
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
dperm_worker_rules_begin(void)
{
	next_planner = planner_hook;
	planner_hook = plan_here;
	next_relation_info = get_relation_info_hook;
	get_relation_info_hook = no_extended_statistics;
	get_relation_stats_hook = no_column_statistics;
	get_index_stats_hook = no_index_statistics;
}
