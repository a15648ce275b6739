/*
 * checked_query.c: a query of ours, from its text to its rows. Trusted.
 *
 * Text contains names of relations, and a name can come to mean another
 * relation between two lookups: whoever owns a schema can rename it, which no
 * lock on a table prevents. So names are looked up once. The plan cache is not
 * used, since it analyses a query again when a name has changed, and would run
 * what has not been checked.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"

#include "base/base.h"
#include "base/compat.h"
#include "protect/protect.h"
#include "query/checked_query.h"
#include "relation/relation.h"

/* Is this an error that a server without our functions and types raises? */
static bool
is_about_missing(int code)
{
	return code == ERRCODE_UNDEFINED_FUNCTION || code == ERRCODE_UNDEFINED_OBJECT ||
		   code == ERRCODE_INVALID_SCHEMA_NAME;
}

/* Errors quote the query. */
static void
tell_query(void *arg)
{
	const DpermChecked *query = arg;
	int			position = geterrposition();

	if (query->source->location != DPERM_LOCATION_HERE && is_about_missing(geterrcode()))
		errhint("The servers that have the rows of \"%s\" need extension dperm, in the same "
				"version as here.",
				query->source->from);
	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(query->text);
	}
	else
		errcontext("SQL statement \"%s\"", query->text);
}

/* Analyse the text: names are looked up here. */
static Query *
analyse_text(const DpermChecked *query)
{
	List	   *statements = pg_parse_query(query->text);
	Oid		   *types = palloc(sizeof(Oid) * query->params->numParams);

	for (int i = 0; i < query->params->numParams; i++)
		types[i] = query->params->params[i].ptype;
	if (list_length(statements) != 1)
		elog(ERROR, "a query over a source is not one statement");
	return parse_analyze_fixedparams(linitial_node(RawStmt, statements), query->text, types,
									 query->params->numParams, NULL);
}

/* The relations that a query names. */
typedef struct Names
{
	const DpermChecked *query;
	List	   *found;
} Names;

/*
 * Does a query name a relation that it should not, or one twice? Then it does
 * not contain all parts of a source, or one of them counts double.
 */
static bool
names_other(Node *node, void *arg)
{
	Names	   *names = arg;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		Oid			relation = ((RangeTblEntry *) node)->relid;

		if (((RangeTblEntry *) node)->rtekind != RTE_RELATION)
			return false;
		if (list_member_oid(names->found, relation) ||
			(relation != names->query->relation &&
			 !list_member_oid(names->query->source->parts, relation)))
			return true;
		names->found = lappend_oid(names->found, relation);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, names_other, names, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, names_other, names);
}

/*
 * Raise an error unless a query, with views not yet expanded, reads its
 * relation.
 */
static void
check_relation(const DpermChecked *query, Query *tree)
{
	Names		names = {query, NIL};

	if (names_other((Node *) tree, &names) ||
		(list_length(names.found) > 1 && list_member_oid(names.found, query->relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" was changed while it "
						"was used", get_rel_name(query->source->relation)),
				 errdetail("Another relation has its name now."),
				 errhint("Try again.")));
}

/*
 * Our queries call functions of PostgreSQL and our own alone. Another one, as of
 * a cast, would run with the rights of the caller.
 */
static void
check_ours(Oid function, Oid extension)
{
	if (function >= FirstNormalObjectId &&
		getExtensionOfObject(ProcedureRelationId, function) != extension)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FUNCTION),
				 errmsg("function %s conflicts with a function of extension dperm",
						format_procedure(function)),
				 errhint("Drop that function.")));
}

/* Check every function of a query, with views not yet expanded. */
static bool
check_functions(Node *node, void *extension)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		check_ours(((Aggref *) node)->aggfnoid, *(Oid *) extension);
	if (IsA(node, FuncExpr))
		check_ours(((FuncExpr *) node)->funcid, *(Oid *) extension);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_functions, extension, 0);
	return expression_tree_walker(node, check_functions, extension);
}

/* Analyse a query, and check it. */
static Query *
analyse(const DpermChecked *query)
{
	const DpermSource *source = query->source;
	Oid			extension = get_extension_oid("dperm", false);
	ErrorContextCallback context = {
		.previous = error_context_stack, .callback = tell_query, .arg = (void *) query};
	Query	   *tree;
	List	   *rewritten;

	error_context_stack = &context;
	tree = analyse_text(query);
	error_context_stack = context.previous;
	check_relation(query, tree);
	(void) check_functions((Node *) tree, &extension);

	/*
	 * views are expanded here: they are locked, so their definitions cannot
	 * change
	 */
	error_context_stack = &context;
	rewritten = QueryRewrite(tree);
	error_context_stack = context.previous;
	if (list_length(rewritten) != 1 || linitial_node(Query, rewritten)->commandType != CMD_SELECT ||
		linitial_node(Query, rewritten)->hasModifyingCTE)
		elog(ERROR, "a query over a source does not only read");
	tree = linitial_node(Query, rewritten);
	dperm_known_tree_check((Node *) tree, RelationRelationId, source->relation);
	return tree;
}

/*
 * Raise an error if a plan reads a relation that has not been compared with the
 * registration of its source. A partition that has been attached since may be
 * charged to another budget, and no lock on the parent prevents that.
 */
static void
check_plan(const DpermRegistration *registration, const PlannedStmt *planned)
{
	ListCell   *cell;

	foreach(cell, planned->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION &&
			!list_member_oid(registration->reached, entry->relid))
		{
			/* this depends only on the catalog */
			dperm_message_public();
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("relation \"%s\" was changed while it "
							"was used", get_rel_name(registration->relation)),
					 errdetail("It reads another table now."),
					 errhint("Try again.")));
		}
	}
}

/*
 * Plan a query. It is not compiled: most of its time is spent in our own code,
 * and every worker would load the compiler and run it, in every pass.
 */
static PlannedStmt *
plan(const DpermChecked *query, Query *tree)
{
	PlannedStmt *planned = pg_plan_query(tree, query->text, query->options, query->params, NULL);

	planned->jitFlags = PGJIT_NONE;
	return planned;
}

/* Start the executor. */
static QueryDesc *
start(const char *text, ParamListInfo params, PlannedStmt *planned, DestReceiver *receiver)
{
	QueryDesc *running = CreateQueryDesc(planned, text, GetActiveSnapshot(), InvalidSnapshot,
										 receiver, params, NULL, 0);

	ExecutorStart(running, 0);
	return running;
}

/* Shut down the executor. */
static void
end(QueryDesc *running)
{
	ExecutorFinish(running);
	ExecutorEnd(running);
	FreeQueryDesc(running);
}

/* Run a query to completion. */
static void
run(QueryDesc *running)
{
	/* no row limit: with one the executor would not use parallel workers */
#if PG_VERSION_NUM >= 180000
	ExecutorRun(running, ForwardScanDirection, 0);
#else
	ExecutorRun(running, ForwardScanDirection, 0, true);
#endif
	end(running);
}

/* Find the largest number of parallel workers that a node of a plan starts. */
static bool
find_workers(PlanState *state, void *arg)
{
	int		   *workers = arg;

	if (state == NULL)
		return false;
	if (IsA(state, GatherState))
		*workers = Max(*workers, ((Gather *) state->plan)->num_workers);
	if (IsA(state, GatherMergeState))
		*workers = Max(*workers, ((GatherMerge *) state->plan)->num_workers);
	return planstate_tree_walker(state, find_workers, arg);
}

/* Shall a query be run that has been started? */
static bool
is_wanted(const DpermChecked *query, QueryDesc *running)
{
	int			workers = 0;

	if (query->prepare == NULL)
		return true;
	if (running->plannedstmt->parallelModeNeeded)
		(void) find_workers(running->planstate, &workers);
	return query->prepare(query->prepare_arg, workers);
}

/*
 * Before the charge: analyse, plan and start a query over a protected relation,
 * so that errors that come from the catalog cost nothing. Messages of
 * expressions that the planner simplifies only go to the log. Nothing can be
 * written.
 */
DpermProtectedRows *
dperm_checked_query_keep(const DpermSource *source)
{
	DpermProtectedRows *rows = dperm_protected_rows_make(source);
	DpermChecked query = {.source = source,
						  .relation = source->registration->table->relation,
						  .text = rows->text,
						  .params = makeParamList(0)};
	Query	   *tree;

	dperm_phase_expect(DPERM_PHASE_CHECK);
	dperm_phase_enter(DPERM_PHASE_PLAN, false);
	dperm_message_public();
	tree = analyse(&query);
	dperm_message_private();
	dperm_protected_rows_plan(rows);
	rows->planned = plan(&query, tree);
	check_plan(source->registration, rows->planned);
	end(start(rows->text, NULL, copyObject(rows->planned), None_Receiver));
	dperm_phase_enter(DPERM_PHASE_CHECK, false);
	return rows;
}

/* After the charge, once: everything that it reads is locked. */
void
dperm_checked_query_run_kept(DpermProtectedRows *rows, DestReceiver *receiver)
{
	dperm_phase_expect(DPERM_PHASE_READ);
	run(start(rows->text, NULL, rows->planned, dperm_protected_rows_receiver(rows, receiver)));
}

/*
 * Until the nest level of settings ends, keep from the client what settings that
 * anybody may change would send: plans, which contain the weights of a pass as a
 * constant, and statistics of sorts.
 */
static void
send_no_plans(void)
{
	static const char *const printing[] = {"debug_print_parse", "debug_print_rewritten",
										   "debug_print_plan", "trace_sort"};

	for (int i = 0; i < lengthof(printing); i++)
		if (GetConfigOption(printing[i], true, false))
			(void) set_config_option(printing[i], "off", PGC_SUSET, PGC_S_SESSION,
									 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("client_min_messages", "error", PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* Run a query; without a receiver, do everything up to the first row. */
static bool
execute(const DpermChecked *query, DestReceiver *receiver)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "dperm query", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	ErrorContextCallback errors = {
		.previous = error_context_stack, .callback = tell_query, .arg = (void *) query};
	int			settings = NewGUCNestLevel();
	Query	   *tree;
	QueryDesc  *running;
	bool		wanted;

	dperm_phase_expect(DPERM_PHASE_SESSION);
	send_no_plans();
	tree = analyse(query);
	error_context_stack = &errors;
	running = start(query->text, query->params, plan(query, tree),
					receiver ? receiver : None_Receiver);
	wanted = receiver && is_wanted(query, running);
	if (wanted)
		run(running);
	else
		end(running);
	error_context_stack = errors.previous;
	AtEOXact_GUC(true, settings);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return wanted;
}

/* Run a query; its rows go to a receiver. It sees the active snapshot. */
void
dperm_checked_query_run(const DpermChecked *query, DestReceiver *receiver)
{
	(void) execute(query, receiver);
}

/* Values are missing yet: the NULL in place of one must not simplify the plan. */
static void
let_values_vary(const DpermChecked *query)
{
	for (int i = 0; i < query->params->numParams; i++)
		query->params->params[i].pflags = 0;
}

/*
 * Do everything up to the first row: check a query, plan it, and have the executor check
 * privileges.
 */
void
dperm_checked_query_try(const DpermChecked *query)
{
	let_values_vary(query);
	(void) execute(query, NULL);
}

/*
 * Does the server that has the rows of a query aggregate them, so that nothing
 * of the plan is left to do here?
 */
bool
dperm_checked_query_runs_there(const DpermChecked *query)
{
	let_values_vary(query);
	return IsA(plan(query, analyse(query))->planTree, ForeignScan);
}

/* A receiver of few rows, each of which is handed to a function. */
typedef struct Taker
{
	DestReceiver pub;			/* must be first */
	void		(*take) (void *arg, TupleTableSlot *slot);
	void	   *arg;
} Taker;

/* A row has arrived. */
static bool
take_row(TupleTableSlot *slot, DestReceiver *self)
{
	Taker	   *taker = (Taker *) self;

	slot_getallattrs(slot);
	taker->take(taker->arg, slot);
	return true;
}

/* Rows are about to arrive. */
static void
start_rows(DestReceiver *self, int operation, TupleDesc desc)
{
}

/* No more rows will arrive. */
static void
end_rows(DestReceiver *self)
{
}

/*
 * Run a query, if prepare() wants it, and hand over its rows, each of which is valid
 * during the call.
 */
bool
dperm_checked_query_take(const DpermChecked *query,
						 void (*take) (void *arg, TupleTableSlot *slot), void *arg)
{
	Taker		taker = {
		.pub = {.receiveSlot = take_row, .rStartup = start_rows, .rShutdown = end_rows,
				.rDestroy = end_rows, .mydest = DestTuplestore},
		.take = take,
		.arg = arg
	};

	return execute(query, &taker.pub);
}
