/*
 * worker.c: the process that runs a call on a protected relation.
 *
 * The caller is an adversary who may not read the rows, and whose session would
 * keep traces of everything done in it. This process ends with the call. It
 * sees what is committed, and nothing of the transaction that waits for it.
 * That transaction may hold locks that the worker needs, so the worker never
 * waits for long.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "libpq/pqmq.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

#include "base/message.h"
#include "base/settings.h"
#include "protect/call_message.h"
#include "protect/kept_release.h"
#include "protect/locks.h"
#include "protect/worker.h"
#include "protect/worker_failure.h"
#include "protect/worker_rules.h"
#include "protect/worker_settings.h"
#include "relation/relation.h"

/* How long everything before the charge may take. */
#define CHECK_TIMEOUT_MS 15000

/* How often to try to keep a release, and how long to wait in between. */
#define KEEP_ATTEMPTS 4
#define KEEP_PAUSE_MS 1000

/* What this process is doing, if it is a worker. */
static struct
{
	FunctionCallInfo call;
	DpermCallHeader *header;
	dsm_segment *segment;
	shm_mq_handle *to_session;
	MemoryContext context;		/* of the call, across transactions */
	DpermKeptRelease release;	/* to be kept, for the entry of the ledger */
	TimestampTz start;
	int			settings;		/* nest level of the settings of the transaction */
	bool		charged;
	bool		kept;			/* is the release kept? */
	char	   *notice;			/* to be sent, or NULL */
	char	   *notice_hint;
} worker;

bool
dperm_worker_is_this(void)
{
	return worker.call != NULL;
}

bool
dperm_worker_is_for(FunctionCallInfo fcinfo)
{
	return worker.call != NULL && worker.call == fcinfo;
}

Oid
dperm_worker_relation(FunctionCallInfo fcinfo)
{
	return dperm_worker_is_for(fcinfo) ? worker.header->relation : InvalidOid;
}

/* Become a role, also as the session user; no function can change it back. */
static void
become(Oid role)
{
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, 0);
	SetSessionAuthorization(role, superuser_arg(role));
	SetUserIdAndSecContext(role, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

/* Begin a transaction as a role. */
static void
begin_as(Oid role, bool read_only)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	become(role);
	if (read_only)
	{
		XactIsoLevel = XACT_REPEATABLE_READ;
		XactReadOnly = true;
	}
	worker.settings = NewGUCNestLevel();
	PushActiveSnapshot(GetTransactionSnapshot());
	MemoryContextSwitchTo(worker.context);
}

/* End a transaction. */
static void
commit(void)
{
	PopActiveSnapshot();

	AtEOXact_GUC(false, worker.settings);
	CommitTransactionCommand();
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, 0);
	MemoryContextSwitchTo(worker.context);
}

/* From the check to the read. */
void
dperm_worker_charged(DpermLedgerEntry entry, Oid owner)
{
	if (!dperm_worker_is_this())
		elog(ERROR, "a budget is charged in a session");
	worker.release = (DpermKeptRelease) {
		.budget_id = MemoryContextStrdup(worker.context, entry.budget_id),
		.budget = MemoryContextStrdup(worker.context, entry.budget),
		.entry = entry.entry,
		.grant_id = entry.grant_id ? MemoryContextStrdup(worker.context, entry.grant_id) : NULL,
		.role = worker.header->role
	};

	/* the commit may wait for a standby, for as long as the session waits */
	disable_timeout(STATEMENT_TIMEOUT, false);

	/*
	 * a timeout that has just expired ends the call here, not after the charge
	 */
	CHECK_FOR_INTERRUPTS();
	commit();
	pg_atomic_write_u64(&worker.header->entry, entry.entry);
	worker.charged = true;
	dperm_message_mute();
	begin_as(OidIsValid(owner) ? owner : worker.header->role, true);
	dperm_locks_let_go(worker.header->relation);
	if (dperm_call_timeout > 0)
		enable_timeout_after(STATEMENT_TIMEOUT, dperm_call_timeout);
}

DpermLedgerEntry
dperm_worker_entry(void)
{
	return (DpermLedgerEntry) {
		.budget_id = worker.release.budget_id,
		.budget = worker.release.budget,
		.entry = worker.release.entry
	};
}

/* Send a message. If the session is gone, this process ends. */
static void
tell(char kind, const void *bytes, Size size)
{
	shm_mq_iovec parts[2] = {{&kind, 1}, {bytes, size}};
	shm_mq_result result = shm_mq_sendv(worker.to_session, parts, lengthof(parts), false, true);

	if (result != SHM_MQ_SUCCESS)
		proc_exit(0);
}

/*
 * Planning must not depend on the settings of the caller, nor on who that is.
 */
void
dperm_worker_plans(Oid owner)
{
	dperm_worker_settings_planning();
	become(owner);
	dperm_message_mute();
	XactReadOnly = true;
}

/* Back to the check. */
void
dperm_worker_planned(Oid owner)
{
	XactReadOnly = false;
	dperm_message_unmute();
	become(worker.header->role);
	SetUserIdAndSecContext(owner, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

void
dperm_worker_notice(const char *message, const char *hint)
{
	if (!worker.charged)
		ereport(NOTICE, (errmsg("%s", message), errhint("%s", hint)));
	else
	{
		worker.notice = MemoryContextStrdup(worker.context, message);
		worker.notice_hint = MemoryContextStrdup(worker.context, hint);
	}
}

/* Call the function, in the first two transactions. */
static Datum
call_function(ReturnSetInfo *rows)
{
	ExprContext *context = makeNode(ExprContext);
	Datum		result;

	worker.start = GetCurrentTimestamp();
	enable_timeout_after(STATEMENT_TIMEOUT, CHECK_TIMEOUT_MS);
	begin_as(worker.header->role, false);
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(worker.header->role)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role with OID %u has been dropped", worker.header->role)));
	dperm_worker_settings_style(worker.header->date_style, worker.header->time_zone);
	worker.call =
		dperm_call_message_read(worker.header, dperm_call_message_arguments(worker.header));
	context->ecxt_per_query_memory = context->ecxt_per_tuple_memory = worker.context;
	*rows = (ReturnSetInfo) {
		.type = T_ReturnSetInfo,
		.econtext = context,
		.allowedModes = SFRM_Materialize
	};
	if (worker.call->flinfo->fn_retset)
		worker.call->resultinfo = (Node *) rows;
	if (OidIsValid(worker.header->relation))
	{
		/* from here on its owner cannot change */
		dperm_locks_hold(worker.header->relation);
		dperm_worker_rules_begin();
	}
	result = FunctionCallInvoke(worker.call);
	if (!worker.charged)
		elog(ERROR, "function %u did not charge a budget", worker.header->function);
	disable_timeout(STATEMENT_TIMEOUT, false);
	commit();
	return result;
}

/*
 * Keep a release, in a transaction of its own, or the reason for having none.
 * If that fails, which releases the locks, returns false. Cancels are held
 * before and afterwards; without locks not in between, as a lock timeout is one.
 */
static bool
keep(bool locked)
{
	volatile bool kept = false;

	if (!locked)
		RESUME_CANCEL_INTERRUPTS();
	PG_TRY();
	{
		begin_as(BOOTSTRAP_SUPERUSERID, false);
		if (locked)
			dperm_worker_settings_keeping();
		dperm_kept_release_write(&worker.release);
		commit();
		kept = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		/* an error resumes cancels, and what is logged would be interrupted */
		HOLD_CANCEL_INTERRUPTS();
		MemoryContextSwitchTo(worker.context);
		error = CopyErrorData();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(worker.context);
		dperm_worker_failure_log(error, worker.header->relation, "keeping the result of a call on");
	}
	PG_END_TRY();
	if (kept && !locked)
		HOLD_CANCEL_INTERRUPTS();
	return kept;
}

/*
 * Keep what has been paid for. This can fail: everybody can fill the lock table
 * of the server, or its disk. So it is tried again, at first with the room that
 * the released locks have left. The session, which gets the result anyway, does
 * not wait for long.
 */
static bool
keep_release(void)
{
	bool		kept = keep(true);

	for (int i = 1; !kept && i < KEEP_ATTEMPTS; i++)
	{
		if (i > 1)
			(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, KEEP_PAUSE_MS,
							 PG_WAIT_EXTENSION);
		CHECK_FOR_INTERRUPTS();
		kept = keep(false);
	}
	return kept;
}

/* Send rows. */
static void
send_rows(Tuplestorestate *store, TupleDesc desc)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);

	tuplestore_rescan(store);
	while (tuplestore_gettupleslot(store, true, false, slot))
	{
		bool		owned;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &owned);

		tell(DPERM_MESSAGE_ROW, tuple, tuple->t_len);
		if (owned)
			pfree(tuple);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Everything is done: release the locks, including the place of the role, and
 * report statistics, before the session continues.
 */
static void
let_go_of_server(void)
{
	LockReleaseSession(DEFAULT_LOCKMETHOD);
	LockReleaseSession(USER_LOCKMETHOD);
	(void) pgstat_report_stat(true);
}

/* Run the call, and send what is released. */
static void
work(void)
{
	ReturnSetInfo rows;
	Datum		result = call_function(&rows);
	bool		kept = true;

	/*
	 * the session can still end this process; a cancel would only lose what has
	 * been paid for
	 */
	HOLD_CANCEL_INTERRUPTS();
	if (OidIsValid(worker.header->relation))
	{
		worker.release.rows = rows.setResult;
		worker.release.desc = rows.setDesc;
		if (!rows.setResult && !worker.call->isnull)
			worker.release.model = result;
		worker.kept = kept = keep_release();
	}
	if (dperm_worker_rules_caught())
		dperm_worker_failure_log(dperm_worker_rules_caught(), worker.header->relation,
								 "an expression of");
	let_go_of_server();
	dperm_message_public();
	if (!kept)
		ereport(WARNING,
				(errmsg("the result of the call could not be kept in the ledger"),
				 errhint("Store it. See the server log for the cause.")));
	if (worker.notice)
		ereport(NOTICE, (errmsg("%s", worker.notice), errhint("%s", worker.notice_hint)));
	if (rows.setResult)
		send_rows(rows.setResult, rows.setDesc);
	else if (worker.release.model)
		tell(DPERM_MESSAGE_VALUE, DatumGetPointer(result), VARSIZE(DatumGetPointer(result)));
	tell(DPERM_MESSAGE_END, "", 0);
}

/* Keep why nothing was released, if possible. */
static void
keep_failure(const char *failure)
{
	worker.release.model = 0;
	worker.release.rows = NULL;
	worker.release.failure = failure;
	(void) keep(false);
}

/* The seconds that the check may take, if they have passed; else 0. */
static int
check_timeout_passed(void)
{
	return TimestampDifferenceExceeds(worker.start, GetCurrentTimestamp(), CHECK_TIMEOUT_MS) ?
			   CHECK_TIMEOUT_MS / 1000 :
			   0;
}

/*
 * After an error: tell the session, in full before the charge and where the
 * error contains only public facts.
 */
static void
tell_failure(void)
{
	bool		public = dperm_message_is_public();
	bool		whole;
	ErrorData  *error;
	const char *class;

	disable_timeout(STATEMENT_TIMEOUT, false);
	HOLD_CANCEL_INTERRUPTS();
	whereToSendOutput = DestNone;
	MemoryContextSwitchTo(worker.context);
	error = CopyErrorData();
	FlushErrorState();
	AbortOutOfAnyTransaction();
	class = dperm_worker_failure_class(error->sqlerrcode, public);
	whole = worker.charged ? dperm_worker_failure_is_whole(error->sqlerrcode, class) : public;
	if (!whole)
		dperm_worker_failure_log(error, worker.header->relation, "a call on");
	if (worker.charged && !worker.kept)
		keep_failure(class);
	let_go_of_server();
	MemoryContextSwitchTo(worker.context);
	whereToSendOutput = DestRemote;
	PG_TRY();
	{
		if (!whole)
			dperm_worker_failure_raise_class(class, worker.charged);
		if (!worker.charged)
			dperm_worker_failure_raise_uncharged(error, check_timeout_passed());
		ReThrowError(error);
	}
	PG_CATCH();
	{
		HOLD_CANCEL_INTERRUPTS();
		EmitErrorReport();
		FlushErrorState();
	}
	PG_END_TRY();
}

/* Work, and tell the session of an error. */
static void
work_and_tell(void)
{
	PG_TRY();
	{
		work();
	}
	PG_CATCH();
	{
		tell_failure();
	}
	PG_END_TRY();
}

/* Session locks are not released at the end of a transaction. */
static void
release_locks(int code, Datum arg)
{
	LockReleaseSession(DEFAULT_LOCKMETHOD);
}

/* Attach to the session's memory. */
static void
attach(dsm_segment *segment)
{
	shm_mq	   *queue;

	worker.segment = segment;
	worker.header = dsm_segment_address(segment);
	queue = dperm_call_message_queue(worker.header);
	shm_mq_set_sender(queue, MyProc);
	worker.to_session = shm_mq_attach(queue, segment, NULL);
	pq_redirect_to_shm_mq(segment, worker.to_session);
}

/* The worker. */
void
dperm_worker_main(Datum handle)
{
	dsm_segment *segment;

	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, dperm_worker_rules_stop);
	BackgroundWorkerUnblockSignals();

	/* if the session has given up, its shared memory is gone */
	segment = dsm_attach(DatumGetUInt32(handle));
	if (segment == NULL ||
		((DpermCallHeader *) dsm_segment_address(segment))->version != DPERM_CALL_VERSION)
		return;
	attach(segment);
	BackgroundWorkerInitializeConnectionByOid(worker.header->database, InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	before_shmem_exit(release_locks, 0);
	for (int i = 0; i < worker.header->places; i++)
		(void) LockAcquire(&worker.header->place[i], DPERM_PLACE_LOCK, true, false);
	dperm_worker_settings_always();
	dperm_cache_memory = worker.header->cache_memory;
	worker.context = AllocSetContextCreate(TopMemoryContext, "dperm call", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(worker.context);
	pgstat_report_activity(STATE_RUNNING, "a call on a protected relation");
	work_and_tell();
	dsm_detach(segment);
}
