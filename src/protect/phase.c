/*
 * phase.c: what a process that runs a call on a protected relation is doing, and
 * what it may do. Trusted.
 *
 * There are three transactions: check, plan and charged are phases of the first,
 * read and row of the second, keep of the third.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "replication/syncrep.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/selfuncs.h"
#include "utils/timeout.h"

#include "base/base.h"
#include "protect/protect.h"
#include "relation/relation.h"

/* What a hook is called and given, which depends on the version. */
#if PG_VERSION_NUM >= 190000
#define get_relation_info_hook build_simple_rel_hook
#define get_relation_info_hook_type build_simple_rel_hook_type
#define RELATION_INFO PlannerInfo *root, RelOptInfo *info, RangeTblEntry *entry
#define INFO_OF_RELATION root, info, entry
#else
#define RELATION_INFO PlannerInfo *root, Oid relation, bool parent, RelOptInfo *info
#define INFO_OF_RELATION root, relation, parent, info
#endif

/* The hook of another extension. */
static get_relation_info_hook_type next_relation_info;

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

/* This process. */
static volatile DpermPhase now = DPERM_PHASE_SESSION;
static const DpermPhaseStyle *style;	/* of the caller */
static TimeoutId limit;
static volatile sig_atomic_t limit_passed;
static volatile sig_atomic_t told_to_stop;
static bool row_failed;			/* has an expression of a view failed? */

/* Whose rights phases have, and how many milliseconds they may take; 0: no limit. */
static Oid	caller;
static Oid	relation;			/* that is read, and its owner */
static Oid	owner;
static const Oid server = BOOTSTRAP_SUPERUSERID;
static const int unlimited = 0;
static const int check_limit = DPERM_CHECK_SECONDS * 1000;

/*
 * The rules of a phase. An error is passed on whole if messages are, and else if
 * it is marked as public (base.h). Otherwise only its class is.
 */
typedef struct Rules
{
	const char *name;
	const Oid  *role;
	bool		read_only;
	DpermMessages messages;
	const int  *limit;
	int			from;			/* the phases before it, as bits */
} Rules;

#define FROM(phase) (1 << DPERM_PHASE_##phase)

static const Rules rules[] = {
	[DPERM_PHASE_SESSION] = {"session", &server, false, DPERM_MESSAGES_ALL, &unlimited, 0},
	[DPERM_PHASE_CHECK] = {"check", &caller, false, DPERM_MESSAGES_ALL, &check_limit,
	FROM(SESSION) | FROM(PLAN)},
	[DPERM_PHASE_PLAN] = {"plan", &owner, true, DPERM_MESSAGES_MARKED, &check_limit,
	FROM(CHECK)},
	[DPERM_PHASE_CHARGED] = {"charged", &caller, false, DPERM_MESSAGES_ALL, &unlimited,
	FROM(CHECK)},
	[DPERM_PHASE_READ] = {"read", &owner, true, DPERM_MESSAGES_MARKED, &dperm_call_timeout,
	FROM(CHARGED) | FROM(ROW)},
	[DPERM_PHASE_ROW] = {"row", &owner, true, DPERM_MESSAGES_NONE, &dperm_call_timeout,
	FROM(READ)},
	[DPERM_PHASE_KEEP] = {"keep", &server, false, DPERM_MESSAGES_MARKED, &unlimited,
	FROM(CHARGED) | FROM(READ) | FROM(ROW) | FROM(KEEP)}
};

/*
 * Settings for the whole process, whatever a database or a role has set. There is only
 * one way to read a table. The session reports errors; only what ends the
 * process is logged here. The last setting keeps connections to the servers of
 * a cluster open across transactions.
 */
static const char *const always[][2] = {
	{"application_name", "dperm"},
	{"search_path", "pg_catalog, pg_temp"},
	{"row_security", "off"},	/* a policy that would hide rows raises an error */
	{"synchronous_commit", "on"},
	{"lock_timeout", DPERM_LOCK_TIMEOUT},
	{"transaction_timeout", "0"},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"default_transaction_deferrable", "off"},
	{"session_replication_role", "origin"},
	{"exit_on_error", "off"},
	{"quote_all_identifiers", "off"},
	{"client_min_messages", "notice"},	/* the session has its own */
	{"log_min_messages", "fatal"},
	{"log_error_verbosity", "terse"},	/* a context can quote a row */
	{"debug_print_parse", "off"},
	{"debug_print_rewritten", "off"},
	{"debug_print_plan", "off"},
	{"trace_sort", "off"},
	{"extra_float_digits", "1"},
	{"jit", "off"},
	{"plan_cache_mode", "force_generic_plan"},	/* the others depend on values */
	{"enable_seqscan", "on"},
	{"enable_indexscan", "off"},
	{"enable_indexonlyscan", "off"},
	{"enable_bitmapscan", "off"},
	{"enable_partition_pruning", "on"},
	{"constraint_exclusion", "off"},
	{"synchronize_seqscans", "off"},
	{"parallel_setup_cost", "1e300"},	/* parallel workers would be seen */
	{"debug_parallel_query", "off"},
	{"force_parallel_mode", "off"},
	{"track_functions", "none"},
	{"log_temp_files", "-1"},
	{"pg_stat_statements.track", "none"},
	{"auto_explain.log_min_duration", "-1"},
	{"citus.max_cached_conns_per_worker", "1"}
};

/* Until the end of the transaction. */
static void
set_local(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0,
							 false);
}

/*
 * Dates and times in arguments mean what they mean to the caller; those in a
 * view and in rows do not.
 */
static void
set_style(const char *date_style, const char *time_zone)
{
	set_local("DateStyle", date_style);
	set_local("TimeZone", time_zone);
}

/* The signal of a cancel, and of the time limits: it ends the call. */
void
dperm_phase_stop(SIGNAL_ARGS)
{
	int			before = errno;

	/* a wait for a lock that took too long is an error of the row, or a retry of keep */
	if (!get_timeout_indicator(LOCK_TIMEOUT, false))
	{
		/*
		 * a cancel would only lose what has been paid for, except in the wait
		 * for a standby, which it ends when the release is here
		 */
		if (now == DPERM_PHASE_KEEP && MyProc->syncRepState != SYNC_REP_WAITING)
			return;
		told_to_stop = true;
	}
	/* as StatementCancelHandler() does, whose arguments depend on the version */
	if (!proc_exit_inprogress)
	{
		InterruptPending = true;
		QueryCancelPending = true;
	}
	SetLatch(MyLatch);
	errno = before;
}

/* The time limit has passed. */
static void
pass_limit(void)
{
	limit_passed = true;
	(void) kill(MyProcPid, SIGINT);
}

/*
 * Set up a process that has just connected to its database. From now on it plans
 * without statistics, which are computed from rows.
 */
void
dperm_phase_init(Oid role, const DpermPhaseStyle *of_caller)
{
	caller = role;
	style = of_caller;
	next_relation_info = get_relation_info_hook;
	get_relation_info_hook = no_extended_statistics;
	get_relation_stats_hook = no_column_statistics;
	get_index_stats_hook = no_index_statistics;
	limit = RegisterTimeout(USER_TIMEOUT, pass_limit);
	for (int i = 0; i < lengthof(always); i++)
		if (GetConfigOption(always[i][0], true, false))
			SetConfigOption(always[i][0], always[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	/* the session takes messages as they are */
	SetConfigOption("client_encoding", GetDatabaseEncodingName(), PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Which relation is read: its owner cannot change, since it is locked, and nothing
 * has been planned yet.
 */
void
dperm_phase_set_relation(Oid locked)
{
	relation = locked;
	owner = dperm_relation_owner(locked);
}

/* Become a role, also as the session user; no function can change it back. */
static void
become(Oid user)
{
	if (!OidIsValid(user))
		elog(ERROR, "the owner of a protected relation is not known");
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, 0);
	SetSessionAuthorization(user, superuser_arg(user));
	SetUserIdAndSecContext(user, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

/* Limit the time from now on. */
static void
set_limit(int milliseconds)
{
	disable_timeout(limit, false);

	/* one that has just passed ends the call here */
	CHECK_FOR_INTERRUPTS();
	if (milliseconds > 0)
		enable_timeout_after(limit, milliseconds);
}

/* Raise the error of a cancel that has been caught, or has ended something else. */
static void
raise_stop(void)
{
	if (told_to_stop)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("the signal to stop came while a row was evaluated, or the charge was "
						"committed")));
}

/*
 * Enter a phase: set user, session user, READ ONLY, messages and time limit by
 * its rules. begins says that the transaction has just begun. What the rules do
 * not name as the phase before is an error.
 */
void
dperm_phase_enter(DpermPhase phase, bool begins)
{
	const Rules *old = &rules[now];
	const Rules *new = &rules[phase];

	if (!(new->from & (1 << now)))
		elog(ERROR, "phase \"%s\" cannot follow \"%s\"", new->name, old->name);
	now = phase;
	if (phase == DPERM_PHASE_CHECK)
		set_style(style->date_style, style->time_zone);
	if (phase == DPERM_PHASE_PLAN)
		set_style(GetConfigOptionResetString("DateStyle"), GetConfigOptionResetString("TimeZone"));
	if (phase == DPERM_PHASE_KEEP)
		QueryCancelPending = false;
	/* a wait for a standby ends with a cancel, and leaves it to us */
	if (phase == DPERM_PHASE_CHARGED || (phase == DPERM_PHASE_READ && begins))
		raise_stop();
	if (phase == DPERM_PHASE_READ && begins)
	{
		XactIsoLevel = XACT_REPEATABLE_READ;
		/* everybody may read statistics */
		set_local("track_counts", "off");
	}
	if (begins || new->role != old->role)
		become(*new->role);
	if (begins || new->read_only != old->read_only)
		XactReadOnly = new->read_only;
	if (new->messages != old->messages)
		dperm_message_allow(new->messages);
	if (new->limit != old->limit)
		set_limit(*new->limit);
}

/* Raise an error unless this is the phase: code that a row runs may call anything. */
void
dperm_phase_expect(DpermPhase phase)
{
	if (now != phase)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a protected relation cannot be used while another one is read"),
				 errdetail_internal("Phase \"%s\" in place of \"%s\".", rules[now].name,
									rules[phase].name)));
}

/* Has a time limit passed? */
bool
dperm_phase_took_too_long(void)
{
	return limit_passed;
}

/*
 * Log where an error was raised, without anything that a row may have
 * contributed.
 */
void
dperm_phase_log(const ErrorData *error, const char *what)
{
	SetConfigOption("log_min_messages", "log", PGC_SUSET, PGC_S_OVERRIDE);
	ereport(LOG, (errmsg("%s protected relation %u failed: SQLSTATE %s, raised by %s in "
						 "%s, line %d",
						 what, relation, unpack_sql_state(error->sqlerrcode),
						 error->funcname ? error->funcname : "?",
						 error->filename ? error->filename : "?", error->lineno)));
	SetConfigOption("log_min_messages", "fatal", PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Go back from row to read, with the error that the row has caused, or NULL; the
 * first one is logged. If there was a cancel, its error is raised: it is not that of
 * the row, whose class would reveal something about it.
 */
void
dperm_phase_end_row(const ErrorData *error)
{
	dperm_phase_enter(DPERM_PHASE_READ, false);
	raise_stop();
	if (error && !row_failed)
		dperm_phase_log(error, "an expression of");
	row_failed = row_failed || error;
}
