/*
 * instrument.c: holds a process that reads protected rows, makes it fail, or
 * has it do something that it should not, without code of an owner or of an
 * analyst. For tests, as one of shared_preload_libraries.
 *
 * A moment is "plan", when the query over the rows is planned; "charge", just
 * before the charge is committed; "read", before the first row; "row_K", when
 * the executor hands over row K; or "keep", just before the release is
 * committed. The first four settings are lists of moments:
 *
 * instrument.hold: the process waits while somebody holds the advisory lock
 * whose key is K, or -1, -2, -3 and -4 for plan, charge, read and keep.
 * instrument.mark: it holds that lock itself afterwards, so that others see
 * that the moment has passed.
 * instrument.fail: it raises an error that contains a secret.
 * instrument.leak: it runs the statements in instrument.sql as a superuser, if
 * the moment is a row; or, with instrument.plain, as whoever it is, with what
 * that role may do there.
 * instrument.relation: only calls on a table of that name are concerned.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varlena.h"
#include "utils/wait_event.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

enum
{
	PLAN = -1,
	CHARGE = -2,
	READ = -3,
	KEEP = -4
};

static char *hold;
static char *mark;
static char *fail;
static char *leak;
static char *sql;
static char *relation;
static bool plain;

static planner_hook_type next_planner;
static ExecutorRun_hook_type next_run;

/* Transactions of this process that have written something. */
static int	written;

/* The name of a moment. */
static char *
name_of(int moment)
{
	switch (moment)
	{
		case PLAN:
			return "plan";
		case CHARGE:
			return "charge";
		case READ:
			return "read";
		case KEEP:
			return "keep";
		default:
			return psprintf("row_%d", moment);
	}
}

/* Is a moment in a list? */
static bool
is_in(const char *list, int moment)
{
	char	   *name = name_of(moment);
	List	   *names;
	ListCell   *cell;
	bool		found = false;

	if (!SplitGUCList(pstrdup(list), ',', &names))
		elog(FATAL, "not a list: %s", list);
	foreach(cell, names)
		found |= strcmp(lfirst(cell), name) == 0;
	return found;
}

/* The lock of a moment, as pg_advisory_lock(bigint) has it. */
static LOCKTAG
lock_of(int moment)
{
	LOCKTAG		tag;
	uint64		key = (uint64) (int64) moment;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, 1);
	return tag;
}

/* Does somebody hold a lock? To look takes no room for locks, as to try would. */
static bool
is_held(LOCKTAG tag)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "instrument", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	LockData   *data = GetLockStatusData();
	bool		held = false;

	for (int i = 0; i < data->nelements; i++)
		held |= memcmp(&data->locks[i].locktag, &tag, sizeof(tag)) == 0 &&
			(data->locks[i].holdMask & LOCKBIT_ON(ExclusiveLock)) != 0;
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return held;
}

/* Wait while somebody holds a lock. */
static void
wait_for(LOCKTAG tag)
{
	while (is_held(tag))
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 10,
						 WAIT_EVENT_PG_SLEEP);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Run statements, as a superuser or as they are. */
static void
run_statements(void)
{
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	if (!plain)
		SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, 0);
	SPI_connect();
	if (SPI_execute(sql, false, 0) < 0)
		elog(FATAL, "cannot run %s", sql);
	SPI_finish();
	SetUserIdAndSecContext(user, context);
}

/* A moment has come. */
static void
at(int moment)
{
	LOCKTAG		tag = lock_of(moment);

	if (is_in(hold, moment))
		wait_for(tag);
	if (is_in(mark, moment))
		(void) LockAcquire(&tag, ShareLock, false, false);
	if (is_in(fail, moment))
		ereport(ERROR, (errcode(ERRCODE_RAISE_EXCEPTION), errmsg("secret canary"),
						errdetail("secret canary"), errhint("secret canary")));
	if (moment > 0 && is_in(leak, moment))
		run_statements();
}

/* Is this a process that reads protected rows? */
static bool
is_worker(void)
{
	return MyBgworkerEntry && strcmp(MyBgworkerEntry->bgw_type, "dperm") == 0;
}

/*
 * Does a statement read the columns of a relation? The one that counts rows has
 * none of them, or the unit.
 */
static bool
reads_columns(List *targets, List *entries)
{
	ListCell   *cell;

	if (list_length(targets) < 2)
		return false;
	foreach(cell, entries)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relid >= FirstNormalObjectId &&
			(*relation == '\0' || strcmp(get_rel_name(entry->relid), relation) == 0))
			return true;
	}
	return false;
}

/* A query is planned. */
#if PG_VERSION_NUM >= 190000
#define PLANNER(...) __VA_ARGS__, struct ExplainState *explain
#define PLAN_OF(...) __VA_ARGS__, explain
#else
#define PLANNER(...) __VA_ARGS__
#define PLAN_OF(...) __VA_ARGS__
#endif
static PlannedStmt *
plan(PLANNER(Query *query, const char *text, int options, ParamListInfo params))
{
	if (is_worker() && written == 0 && reads_columns(query->targetList, query->rtable))
		at(PLAN);
	return next_planner ? next_planner(PLAN_OF(query, text, options, params)) :
		standard_planner(PLAN_OF(query, text, options, params));
}

/* Rows on their way to a receiver. */
typedef struct Counter
{
	DestReceiver pub;
	DestReceiver *to;
	int			rows;
} Counter;

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	Counter    *counter = (Counter *) self;

	at(++counter->rows);
	return counter->to->receiveSlot(slot, counter->to);
}

static void
start_rows(DestReceiver *self, int operation, TupleDesc desc)
{
	((Counter *) self)->to->rStartup(((Counter *) self)->to, operation, desc);
}

static void
end_rows(DestReceiver *self)
{
	((Counter *) self)->to->rShutdown(((Counter *) self)->to);
}

static void
keep_receiver(DestReceiver *self)
{
}

/* A query runs. */
#if PG_VERSION_NUM >= 180000
#define RUNNER(...) __VA_ARGS__
#define RUN_OF(...) __VA_ARGS__
#else
#define RUNNER(...) __VA_ARGS__, bool once
#define RUN_OF(...) __VA_ARGS__, once
#endif
static void
run(RUNNER(QueryDesc *query, ScanDirection direction, uint64 count))
{
	Counter		counter = {{receive, start_rows, end_rows, keep_receiver, query->dest->mydest},
						   query->dest, 0};
	bool		counts = is_worker() && query->operation == CMD_SELECT &&
		reads_columns(query->plannedstmt->planTree->targetlist, query->plannedstmt->rtable);

	if (counts)
	{
		at(READ);
		query->dest = &counter.pub;
	}
	if (next_run)
		next_run(RUN_OF(query, direction, count));
	else
		standard_ExecutorRun(RUN_OF(query, direction, count));
	query->dest = counter.to;
}

/* A transaction ends: the first that has written is the charge, the next keeps. */
static void
transaction_ends(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT && is_worker() &&
		TransactionIdIsValid(GetTopTransactionIdIfAny()))
		at(++written == 1 ? CHARGE : KEEP);
}

/* A setting that a test changes for calls that begin afterwards. */
static void
define(const char *name, char **variable)
{
	DefineCustomStringVariable(name, "a moment of a call", NULL, variable, "", PGC_SIGHUP, 0, NULL,
							   NULL, NULL);
}

/* Install the hooks. */
void
_PG_init(void)
{
	define("instrument.hold", &hold);
	define("instrument.mark", &mark);
	define("instrument.fail", &fail);
	define("instrument.leak", &leak);
	define("instrument.sql", &sql);
	define("instrument.relation", &relation);
	DefineCustomBoolVariable("instrument.plain", "who runs the statements", NULL, &plain, false,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	next_planner = planner_hook;
	planner_hook = plan;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = run;
	RegisterXactCallback(transaction_ends, NULL);
}
