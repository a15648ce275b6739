/*
 * run_as.c: queries that run with the rights of a relation's owner, and work that leaves no trace in statistics.
 *
 * The caller is an adversary who may not read the rows. Nothing of theirs must run with the owner's rights: neither what a search
 * path finds, nor what a setting switches on. And what the server counts can be read by everybody, in views that show all
 * tables and all statements: it must not count what a call does with the rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "executor/instrument.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

#include "run_as.h"
#include "traces.h"

/* A setting and the value that it has meanwhile. */
typedef struct Setting
{
	const char *name;
	const char *value;
} Setting;

/*
 * A plan holds the weights of a pass as a constant, and settings that anybody may change print plans, and
 * how much a sort took, to the client. An error that ends the session is shown before anybody can hide it.
 */
static const Setting silent[] = {{"debug_print_parse", "off"},
{"debug_print_rewritten", "off"}, {"debug_print_plan", "off"}, {"trace_sort", "off"},
{"client_min_messages", "error"}, {"exit_on_error", "off"}};

/*
 * Names are looked up in pg_catalog, and temporary objects come last, since they cannot be left out. Policies raise an error where
 * they would leave out rows. There is one way to read a table.
 */
static const Setting restricted[] = {{"search_path", "pg_catalog, pg_temp"}, {"row_security", "off"},
{"enable_seqscan", "on"}, {"enable_indexscan", "off"}, {"enable_indexonlyscan", "off"}, {"enable_bitmapscan", "off"},
{"enable_partition_pruning", "on"}, {"constraint_exclusion", "off"}, {"max_parallel_workers_per_gather", "0"},
{"force_parallel_mode", "off"}, {"debug_parallel_query", "off"}, {"jit", "off"}, {"synchronize_seqscans", "off"}};

/*
 * What an expression of the owner says, and whether it fails, must not be up to the caller: one that fails under a setting if and only if some row
 * holds a certain value would tell of it. So here is every setting of PostgreSQL 14 to 18 that anybody may change (pg_settings with
 * context "user") and that
 *
 * - says how values are written or read,
 * - says how SQL is read, in a function with SET clauses or of a session that has the owner's rights,
 * - has a part in the plan, which decides what is evaluated first: cpu_operator_cost alone changes the order of conditions, or
 * - says when and where a sort within an expression writes temporary files, which everybody can see grow.
 *
 * The values are the defaults of PostgreSQL, but for memory. Left to the caller are time-outs, the network, transactions, logging, new objects and maintenance (statement_timeout, client_encoding, default_tablespace, vacuum_... and such): they decide
 * how long a query takes or whether it can run at all, not what it says. A setting that only current_setting() reads, or
 * that another extension defines, is the owner's business: docs/owner.md. The test protect_attacks goes through pg_settings.
 */
static const Setting pinned[] = {
	/* values; the first of them also has a part in how others are written */
	{"quote_all_identifiers", "off"}, {"DateStyle", "ISO, MDY"}, {"IntervalStyle", "postgres"}, {"TimeZone", "GMT"}, {"timezone_abbreviations", "Default"},
	{"array_nulls", "on"}, {"bytea_output", "hex"}, {"extra_float_digits", "1"}, {"xmlbinary", "base64"}, {"xmloption", "content"},
	{"lc_monetary", "C"}, {"lc_numeric", "C"}, {"lc_time", "C"}, {"default_text_search_config", "pg_catalog.simple"},
	{"gin_fuzzy_search_limit", "0"}, {"stats_fetch_consistency", "cache"},
	/* SQL and PL/pgSQL */
	{"standard_conforming_strings", "on"}, {"backslash_quote", "safe_encoding"}, {"escape_string_warning", "on"},
	{"transform_null_equals", "off"}, {"restrict_nonsystem_relation_kind", ""},
	{"plpgsql.extra_errors", "none"}, {"plpgsql.extra_warnings", "none"}, {"plpgsql.check_asserts", "on"}, {"plpgsql.print_strict_params", "off"},
	/* plans */
	{"cpu_index_tuple_cost", "0.005"}, {"cpu_operator_cost", "0.0025"}, {"cpu_tuple_cost", "0.01"}, {"seq_page_cost", "1"},
	{"random_page_cost", "4"}, {"parallel_setup_cost", "1000"}, {"parallel_tuple_cost", "0.1"}, {"effective_cache_size", "4GB"},
	{"recursive_worktable_factor", "10"}, {"from_collapse_limit", "8"}, {"join_collapse_limit", "8"}, {"plan_cache_mode", "auto"},
	{"geqo", "on"}, {"geqo_effort", "5"}, {"geqo_generations", "0"}, {"geqo_pool_size", "0"}, {"geqo_seed", "0"},
	{"geqo_selection_bias", "2"}, {"geqo_threshold", "12"}, {"min_parallel_index_scan_size", "512kB"},
	{"min_parallel_table_scan_size", "8MB"}, {"parallel_leader_participation", "on"}, {"jit_above_cost", "100000"},
	{"jit_inline_above_cost", "500000"}, {"jit_optimize_above_cost", "500000"}, {"jit_expressions", "on"}, {"jit_tuple_deforming", "on"},
	{"enable_async_append", "on"}, {"enable_distinct_reordering", "on"}, {"enable_gathermerge", "on"}, {"enable_group_by_reordering", "on"},
	{"enable_hashagg", "on"}, {"enable_hashjoin", "on"}, {"enable_incremental_sort", "on"}, {"enable_material", "on"},
	{"enable_memoize", "on"}, {"enable_mergejoin", "on"}, {"enable_nestloop", "on"}, {"enable_parallel_append", "on"},
	{"enable_parallel_hash", "on"}, {"enable_partitionwise_aggregate", "off"}, {"enable_partitionwise_join", "off"},
	{"enable_presorted_aggregate", "on"}, {"enable_self_join_elimination", "on"}, {"enable_sort", "on"}, {"enable_tidscan", "on"},
	/* memory, and temporary files: what one row can make a sort need shall fit */
	{"work_mem", "64MB"}, {"hash_mem_multiplier", "1"}, {"temp_tablespaces", ""},
	/* of Citus, those whose value matters even where an administrator has set it; the caller has left all alone: location.h. The last one puts shards into a plan, in place of their table */
	{"citus.max_intermediate_result_size", "-1"}, {"citus.propagate_set_commands", "none"}, {"citus.enable_binary_protocol", "on"},
	{"citus.task_assignment_policy", "greedy"}, {"citus.enable_local_execution", "on"},
	{"citus.enable_fast_path_router_planner", "off"}
};

/* What counts: tables, functions, temporary files, which are shown to the client too, statements, and plans that an administrator has logged. */
static const Setting uncounted[] = {{"track_counts", "off"}, {"track_functions", "none"}, {"log_temp_files", "-1"},
{"pg_stat_statements.track", "none"}, {"auto_explain.log_min_duration", "-1"}};

/* Set some settings, those that this server knows, until the nest level ends. */
static void
set_all(const Setting *settings, int count)
{
	for (int i = 0; i < count; i++)
		if (GetConfigOption(settings[i].name, true, false) != NULL)
			(void) set_config_option(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_SESSION,
									 GUC_ACTION_SAVE, true, 0, false);
}

/* Keep messages from the client, and take the rights of an owner. */
void
dperm_run_as_begin(DpermRunAs *before, Oid owner)
{
	before->settings = NewGUCNestLevel();
	GetUserIdAndSecContext(&before->user, &before->security);
	set_all(silent, lengthof(silent));
	if (OidIsValid(owner))
	{
		set_all(restricted, lengthof(restricted));
		set_all(pinned, lengthof(pinned));
		SetUserIdAndSecContext(owner, before->security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	}
}

/* Go back to before. */
void
dperm_run_as_end(DpermRunAs *before)
{
	AtEOXact_GUC(true, before->settings);
	SetUserIdAndSecContext(before->user, before->security);
}

/* Are rows being read that the caller may not see? And what may be called meanwhile? */
static bool shielded;
static const DpermCallees *callees;

static emit_log_hook_type previous_hook;
static needs_fmgr_hook_type previous_lookup;
static fmgr_hook_type previous_call;

/* A message is about to be logged and sent. One that ends the session cannot be caught; its context would quote the row that is being read. */
static void
message_made(ErrorData *error)
{
	if (shielded && error->elevel >= FATAL)
	{
		error->context = NULL;
		error->detail = NULL;
		error->detail_log = NULL;
		error->internalquery = NULL;
	}
	if (previous_hook)
		previous_hook(error);
}

/* Is a function in C, and a superuser's? */
static bool
is_compiled(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		result = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);

		result = (form->prolang == ClanguageId || form->prolang == INTERNALlanguageId) && superuser_arg(form->proowner);
		ReleaseSysCache(tuple);
	}
	return result;
}

/* Raise for a function that must not run while rows are read. */
static void
check_call(Oid function)
{
	if (shielded && callees && callees->limited && function >= FirstNormalObjectId && !list_member_oid(callees->functions, function) && !is_compiled(function))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %u cannot run with the rights of the owner of a protected relation", function)));
}

/*
 * A function is looked up, to be called or put in line. All that a query calls has been looked at before; should PostgreSQL find a function in a way that
 * nobody has thought of, it does not run.
 */
static bool
function_looked_up(Oid function)
{
	check_call(function);
	return previous_lookup && previous_lookup(function);
}

/* A function with SET clauses or SECURITY DEFINER is called. The other hook is not asked about these. */
static void
function_called(FmgrHookEventType event, FmgrInfo *function, Datum *state)
{
	if (event == FHET_START)
		check_call(function->fn_oid);
	if (previous_call)
		previous_call(event, function, state);
}

/* Is work going on that is part of no subtransaction? */
static bool alone;

/* A transaction ends. */
static void
transaction_undone(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT && alone)
	{
		alone = false;
		dperm_traces_forget_labels();
	}
}

/* When the library is loaded. */
void
dperm_run_as_init(void)
{
	previous_lookup = needs_fmgr_hook;
	needs_fmgr_hook = function_looked_up;
	previous_call = fmgr_hook;
	fmgr_hook = function_called;
	previous_hook = emit_log_hook;
	emit_log_hook = message_made;
	RegisterXactCallback(transaction_undone, NULL);
}

/* The stack that a query over protected rows has, in bytes, wherever it is called; and in *all, what the server has. */
static long
stack_share(long *all)
{
	long		limit = max_stack_depth * 1024L;
	long		system = get_stack_depth_rlimit();

	*all = system > STACK_DEPTH_SLOP ? system - STACK_DEPTH_SLOP : limit;
	return Min(limit, *all / 2);
}

/* Raise if rows of a protected relation are being read. */
void
dperm_run_as_check_free(void)
{
	if (shielded)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a protected relation cannot be used while another one is read"),
				 errhint("Do not call it from a function that a protected relation calls.")));
}

/* Where the stack has got to. A variable may be elsewhere: tools that look for wrong addresses put some on the heap. */
static const char *
stack_top(void)
{
#if defined(__GNUC__)
	return __builtin_frame_address(0);
#else
	char		here;

	return &here;
#endif
}

/* Before rows are read. */
void
dperm_run_as_shield(DpermShield *before, Oid owner, const DpermCallees *allowed)
{
	long		all;
	long		share = stack_share(&all);

	before->active = OidIsValid(owner);
	if (!before->active)
		return;
	dperm_run_as_check_free();

	/* what is not logged does not come to our hook */
	if (log_min_messages > FATAL)
		(void) set_config_option("log_min_messages", "fatal", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("max_stack_depth", psprintf("%ldkB", share / 1024), PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	before->stack = set_stack_base();
	if (labs((long) (before->stack - stack_top())) > all - share)
	{
		restore_stack_base(before->stack);
		ereport(ERROR,
				(errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
				 errmsg("too little of the stack is left to read a protected relation"),
				 errhint("Call the function outside of functions that call each other.")));
	}
	before->encoding = pg_get_client_encoding();
	(void) SetClientEncoding(GetDatabaseEncoding());
	shielded = true;
	callees = allowed;
}

/* After that, also after an error. */
void
dperm_run_as_unshield(const DpermShield *before)
{
	if (before->active)
	{
		restore_stack_base(before->stack);
		(void) SetClientEncoding(before->encoding);
		shielded = false;
		callees = NULL;
	}
}

/* Raise another error in place of one that may show what a row holds. */
void
dperm_run_as_hide_error(const char *relation)
{
	int			code = geterrcode();
	int			category = ERRCODE_TO_CATEGORY(code);

	/* context and detail can quote a row: of a cancel, the message alone is shown, and of what the system lacks only the code */
	if (category == ERRCODE_OPERATOR_INTERVENTION)
	{
		ErrorData  *error = CopyErrorData();

		FlushErrorState();
		ereport(ERROR, (errcode(code), errmsg_internal("%s", error->message)));
	}
	if (category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_SYSTEM_ERROR)
	{
		FlushErrorState();
		ereport(ERROR,
				(errcode(code),
				 errmsg("protected relation \"%s\" could not be read", relation),
				 errhint("The owner of the relation sees why.")));
	}
	FlushErrorState();
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_INVOCATION_EXCEPTION),
			 errmsg("an expression of protected relation \"%s\" has failed", relation),
			 errhint("The owner of the relation sees why. Expressions of a protected view must not fail, whatever rows hold.")));
}

/*
 * Do some work, and forget what it has looked up, also if it fails. While an error is handled the catalog cannot be read, and relations that are open must be read anew: so the work has a
 * subtransaction of its own, which is undone first. No cancel comes in between.
 */
static void
work_and_forget(void (*work) (void *), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner resources = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		work(arg);
		HOLD_INTERRUPTS();
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = resources;
	dperm_traces_forget();
	RESUME_INTERRUPTS();
	if (error)
		ReThrowError(error);
}

/* The same without a subtransaction, which Citus would tell to the workers. An error ends the transaction. */
static void
work_alone(void (*work) (void *), void *arg)
{
	alone = true;
	work(arg);
	HOLD_INTERRUPTS();
	dperm_traces_forget();
	alone = false;
	RESUME_INTERRUPTS();
}

/* Work that the server does not count. */
void
dperm_run_as_unseen(Oid owner, bool fenced, void (*work) (void *), void *arg)
{
	BufferUsage buffers = pgBufferUsage;
	WalUsage	wal = pgWalUsage;
	int			level;

	if (!OidIsValid(owner))
	{
		work(arg);
		return;
	}
	level = NewGUCNestLevel();
	set_all(uncounted, lengthof(uncounted));
	PG_TRY();
	{
		dperm_traces_prepare();
		if (fenced)
			work_alone(work, arg);
		else
			work_and_forget(work, arg);
	}
	PG_FINALLY();
	{
		/* what EXPLAIN and pg_stat_statements show is a difference of these */
		pgBufferUsage = buffers;
		pgWalUsage = wal;
	}
	PG_END_TRY();
	AtEOXact_GUC(true, level);
}
