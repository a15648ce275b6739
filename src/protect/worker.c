/*
 * worker.c: the process that runs a call on a protected relation. Trusted.
 *
 * The caller is an adversary who may not read the rows, and whose session would
 * keep traces of everything done in it. This process ends with the call. It
 * sees what is committed, and nothing of the transaction that waits for it.
 * That transaction may hold locks that the worker needs, so the worker never
 * waits for long before the charge.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "libpq/pqmq.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

#include "base/base.h"
#include "protect/protect.h"
#include "relation/relation.h"

/* How often to try to keep a release, and how long to wait in between. */
#define KEEP_ATTEMPTS 4
#define KEEP_PAUSE_MS 1000

/* The classes of errors, which reveal nothing about rows. */
typedef struct Failure
{
	/* in dp_releases: why a call that was charged has released nothing */
	const char *reason;
	int			code;
	const char *message;		/* NULL: the error is public, and is shown as it is */
} Failure;

static const Failure cancelled = {
	"cancelled", ERRCODE_QUERY_CANCELED, "the call was cancelled"
};
static const Failure few_resources = {
	"too few resources", ERRCODE_INSUFFICIENT_RESOURCES,
	"the server had too few resources to read the protected relation"
};
static const Failure not_read = {
	"the relation could not be read", ERRCODE_EXTERNAL_ROUTINE_INVOCATION_EXCEPTION,
	"the protected relation could not be read"
};
static const Failure public_error = {"the arguments do not fit the number of rows"};

/*
 * The lock on an entry of the ledger whose call is running is an advisory one,
 * of a class that no SQL function uses (sql/parts/71_budgets.sql).
 */
#define RUNNING_CLASS 0x6471

/* What this process is doing. */
static struct
{
	DpermCallHeader *header;
	shm_mq_handle *to_session;
	MemoryContext context;		/* of the call, across transactions */
	List	   *registered;		/* relations whose registrations are locked */
	Datum		payer;			/* the role as a dperm_role_name */
	DpermCall	call;
	ReturnSetInfo rows;			/* of a function that returns rows */
	Datum		model;			/* of any other; 0: none */
	bool		kept;
} worker;

/* The functions that it can be asked for. */
static const DpermFunction *known;
static int	known_count;

void
dperm_worker_knows(const DpermFunction *functions, int count)
{
	known = functions;
	known_count = count;
}

/* The function with a name. */
const DpermFunction *
dperm_worker_function(const char *name)
{
	for (int i = 0; i < known_count; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	elog(ERROR, "unknown function \"%s\"", name);
}

/* -------------------------------------------------------- transactions */

/* Begin a transaction, and with it a phase. */
static void
begin(DpermPhase phase)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	dperm_phase_enter(phase, true);
	PushActiveSnapshot(GetTransactionSnapshot());
	MemoryContextSwitchTo(worker.context);
}

/* End it. */
static void
commit(void)
{
	PopActiveSnapshot();
	CommitTransactionCommand();
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, 0);
	MemoryContextSwitchTo(worker.context);
}

/* Has the charge been committed? */
static bool
is_charged(void)
{
	return dperm_call_state(worker.header) == DPERM_CALL_CHARGED;
}

/* ---------------------------------------------------------------- locks */

/*
 * All locks that the call may need are taken before its first row: everybody sees
 * locks, and an error if the lock table is full. So no lock may depend on what a
 * row contains.
 *
 * Lock a relation for this process. PostgreSQL processes invalidation messages
 * when it first takes a lock by name: that happens here, not when a row happens
 * to need the lock.
 */
static void
lock_relation(Oid relation, LOCKMODE mode)
{
	LockRelId	id = {.relId = relation, .dbId = MyDatabaseId};

	LockRelationIdForSession(&id, mode);
	LockRelationOid(relation, mode);
	UnlockRelationOid(relation, mode);
}

/* Lock the indexes of a table. */
static void
lock_indexes(Oid table, LOCKMODE mode)
{
	ListCell   *cell;

	foreach(cell, dperm_relation_oids(IndexRelationId, IndexIndrelidIndexId,
									  Anum_pg_index_indrelid, table, Anum_pg_index_indexrelid))
		lock_relation(lfirst_oid(cell), mode);
}

/* Lock a relation with its indexes and its TOAST table. */
static void
lock_with_values(Oid relation, LOCKMODE mode)
{
	Oid			toast;

	lock_relation(relation, mode);
	lock_indexes(relation, mode);
	toast = dperm_relation_oid_of(RelationRelationId, relation, Anum_pg_class_reltoastrelid);
	if (OidIsValid(toast))
	{
		lock_relation(toast, mode);
		lock_indexes(toast, mode);
	}
}

/*
 * Lock the catalogs that a row can make a process look at, and the table that is
 * written after the charge.
 */
static void
lock_ours(void)
{
	/*
	 * Caches are filled by the first row that needs them: the labels of an enum,
	 * the collation of a comparison, how values of a type are written or, in an
	 * array, compared, and the schema of a type that the error of a row names.
	 * To look at a catalog for the first time takes those that describe it. The
	 * last three say which defaults, constraints and triggers our table has.
	 */
	static const Oid catalogs[] = {
		EnumRelationId, CollationRelationId,
		TypeRelationId, ProcedureRelationId, OperatorRelationId, CastRelationId,
		OperatorClassRelationId, AccessMethodOperatorRelationId, AccessMethodProcedureRelationId,
		NamespaceRelationId,
		RelationRelationId, AttributeRelationId, IndexRelationId, AccessMethodRelationId,
		AttrDefaultRelationId, ConstraintRelationId, TriggerRelationId
	};

	for (int i = 0; i < lengthof(catalogs); i++)
		lock_with_values(catalogs[i], AccessShareLock);

	/*
	 * who waits for it, such as VACUUM FULL, may wait for the session, which waits
	 * for this process: a lock would never be granted
	 */
	lock_with_values(dperm_own_rows_table("releases"), RowExclusiveLock);
}

/*
 * Lock a relation, all relations that it shares rows with, their TOAST tables,
 * some system catalogs and our tables for this process, until it ends or a
 * transaction of it fails. From then on the definition of what it reads does
 * not change, except that partitions may be attached. Returns the relation and
 * those it shares rows with: a plan must read no others. The registration of the
 * relation, and that of the table of a view, is locked, too.
 */
static List *
hold_relation(Oid relation)
{
	List	   *held = NIL;
	bool		all = false;
	ListCell   *cell;

	lock_ours();
	lock_with_values(relation, AccessShareLock);
	AcceptInvalidationMessages();
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the protected relation was dropped while it was used")));
	while (!all)
	{
		List	   *reads = dperm_relation_reads(relation);

		all = true;
		/* of a table of Citus, also the shards on this server */
		foreach(cell, list_concat(reads, dperm_location_shards(reads)))
			if (!list_member_oid(held, lfirst_oid(cell)))
			{
				held = lappend_oid(held, lfirst_oid(cell));
				lock_with_values(lfirst_oid(cell), AccessShareLock);
				all = false;
			}
		AcceptInvalidationMessages();
	}
	/* its own registration, and that of the table of a view */
	foreach(cell, held)
		if (lfirst_oid(cell) == relation ||
			(get_rel_relkind(relation) == RELKIND_VIEW && !has_superclass(lfirst_oid(cell))))
		{
			dperm_protection_lock(lfirst_oid(cell), ShareLock, true);
			worker.registered = lappend_oid(worker.registered, lfirst_oid(cell));
		}
	return held;
}

/*
 * Let those go on who wait to change the registration: when this process has the
 * snapshot that it reads rows with. After the charge, so nothing is looked up for
 * it.
 */
static void
let_registration_go(void)
{
	ListCell   *cell;

	foreach(cell, worker.registered)
	{
		LOCKTAG		tag = dperm_protection_tag(lfirst_oid(cell));

		(void) LockRelease(&tag, ShareLock, true);
	}
}

/* ---------------------------------------------------------------- open */

/* The call, with its arguments. */
static void
read_call(void)
{
	DpermCallHeader *header = worker.header;
	ExprContext *context = makeNode(ExprContext);

	dperm_budget_check_role(header->role);
	worker.payer = dperm_own_rows_role(header->role);	/* it may be dropped meanwhile */
	worker.call.function = dperm_worker_function(get_func_name(header->function));
	worker.call.fcinfo = dperm_call_read(header);
	context->ecxt_per_query_memory = context->ecxt_per_tuple_memory = worker.context;
	worker.rows = (ReturnSetInfo) {
		.type = T_ReturnSetInfo,
		.econtext = context,
		.allowedModes = SFRM_Materialize
	};
	if (worker.call.fcinfo->flinfo->fn_retset)
		worker.call.fcinfo->resultinfo = (Node *) &worker.rows;
}

/* Say in pg_stat_activity, to those who may read all of it, what is running for whom. */
static void
report_activity(void)
{
	const DpermCallHeader *header = worker.header;
	char	   *relation = OidIsValid(header->relation) ?
		psprintf(" on %s", dperm_relation_name(header->relation)) : "";

	pgstat_report_activity(STATE_RUNNING,
						   psprintf("%s%s for %s, PID %d", worker.call.function->name, relation,
									quote_identifier(GetUserNameFromId(header->role, false)),
									header->session));
}

/* Lock the relation, and find out how it is protected. */
static void
find_relation(void)
{
	Oid			relation = worker.header->relation;
	List	   *reached;

	if (!OidIsValid(relation))
		return;
	reached = hold_relation(relation);

	dperm_phase_set_relation(relation);
	worker.call.registration = dperm_protection_open(relation, reached);
	if (worker.call.registration == NULL)
		dperm_protection_raise_changed(relation);
	if (worker.call.registration->on_cluster)
		dperm_location_connect(dperm_relation_owner(relation));
}

/* -------------------------------------------------------------- charge */

/* Others see by this lock that the call of an entry is running. */
static void
lock_entry(const DpermLedgerEntry *entry)
{
	char	   *name = psprintf("%s " INT64_FORMAT, entry->budget_id, entry->entry);
	uint64		key =
		DatumGetUInt64(DirectFunctionCall2Coll(hashtextextended, C_COLLATION_OID,
											   CStringGetTextDatum(name), Int64GetDatum(0)));
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, RUNNING_CLASS);
	(void) LockAcquire(&tag, ExclusiveLock, true, false);
}

/* Charge the budget: from here on the session cannot abandon the call. */
static void
charge_budget(void)
{
	DpermCallHeader *header = worker.header;
	const DpermLedgerEntry *paid = &worker.call.paid;

	worker.call.paid = dperm_budget_charge(&worker.call.charge);
	lock_entry(paid);
	header->entry = paid->entry;
	strlcpy(header->budget, paid->budget, sizeof(header->budget));
	dperm_phase_enter(DPERM_PHASE_CHARGED, false);
	if (!dperm_call_advance(header, DPERM_CALL_OPEN, DPERM_CALL_COMMITTING))
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("the session has abandoned the call")));
	commit();
	(void) dperm_call_advance(header, DPERM_CALL_COMMITTING, DPERM_CALL_CHARGED);
}

/* ---------------------------------------------------------------- keep */

/* Rows as JSON: an array of objects. */
static Datum
rows_as_json(Tuplestorestate *rows, TupleDesc desc)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(BlessTupleDesc(desc), &TTSOpsMinimalTuple);
	StringInfoData json;

	initStringInfo(&json);
	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, slot))
		appendStringInfo(&json, "%s%s", json.len == 0 ? "" : ", ",
						 TextDatumGetCString(DirectFunctionCall1(
							 row_to_json, ExecFetchSlotHeapTupleDatum(slot))));
	ExecDropSingleTupleTableSlot(slot);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(psprintf("[%s]", json.data)));
}

/* Write what was released, or why nothing was. */
static void
write_release(const char *failure)
{
	const DpermLedgerEntry *paid = &worker.call.paid;
	const DpermRegistration *registration = worker.call.registration;
	Datum		metrics = 0;

	if (failure == NULL && worker.rows.setResult)
		metrics = rows_as_json(worker.rows.setResult, worker.rows.setDesc);
	dperm_own_rows_insert("releases", (DpermOwnField[]) {
		{"budget_id", dperm_own_rows_uuid(paid->budget_id)},
		{"entry", Int64GetDatum(paid->entry)},
		{"at", TimestampTzGetDatum(GetCurrentTimestamp())},
		{"payer_name", worker.payer},
		{"grant_id", paid->grant_id ? dperm_own_rows_uuid(paid->grant_id) : (Datum) 0},
		{"model", failure ? (Datum) 0 : worker.model},
		{"metrics", metrics},
		{"failure", failure ? CStringGetTextDatum(failure) : (Datum) 0},
		{"protected", dperm_own_rows_uuid(registration->table->id)},
		{"units", failure ? (Datum) 0 : Int64GetDatum(worker.call.units)}
	}, 10);
}

/* In PG_CATCH: the error, after the end of its transaction. */
static ErrorData *
end_error(void)
{
	ErrorData  *error;

	/* an error resumes cancels, and what is logged would be interrupted */
	HOLD_CANCEL_INTERRUPTS();
	MemoryContextSwitchTo(worker.context);
	error = CopyErrorData();
	FlushErrorState();
	AbortOutOfAnyTransaction();
	MemoryContextSwitchTo(worker.context);
	return error;
}

/*
 * Keep a release, in a transaction of its own, or the reason for having none.
 * If that fails, which releases the locks, returns false. Cancels are held
 * before and afterwards; without locks not in between, as a lock timeout is one.
 */
static bool
keep(const char *failure, bool locked)
{
	volatile bool kept = false;

	SetConfigOption("lock_timeout", locked ? "0" : DPERM_LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
	PG_TRY();
	{
		begin(DPERM_PHASE_KEEP);
		if (!locked)
			RESUME_CANCEL_INTERRUPTS();
		write_release(failure);
		commit();
		kept = true;
	}
	PG_CATCH();
	{
		dperm_phase_log(end_error(), "keeping the result of a call on");
	}
	PG_END_TRY();
	if (kept && !locked)
		HOLD_CANCEL_INTERRUPTS();
	return kept;
}

/*
 * Keep what has been paid for, or why it failed. This can fail: everybody can fill the lock table
 * of the server, or its disk. So it is tried again, at first with the room that
 * the released locks have left. The session, which gets the result anyway, does
 * not wait for long.
 */
static void
keep_release(const char *failure, bool locked)
{
	worker.kept = keep(failure, locked);
	for (int i = 1; !worker.kept && i < KEEP_ATTEMPTS; i++)
	{
		if (i > 1)
			(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, KEEP_PAUSE_MS,
							 PG_WAIT_EXTENSION);
		CHECK_FOR_INTERRUPTS();
		worker.kept = keep(failure, false);
	}
}

/* ---------------------------------------------------------------- tell */

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

/* Send a message. If the session is gone, this process ends. */
static void
tell(char kind, const void *bytes, Size size)
{
	shm_mq_iovec parts[2] = {{&kind, 1}, {bytes, size}};

	if (shm_mq_sendv(worker.to_session, parts, lengthof(parts), false, true) != SHM_MQ_SUCCESS)
		proc_exit(0);
}

/* Send rows. */
static void
tell_rows(Tuplestorestate *store, TupleDesc desc)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);

	tuplestore_rescan(store);
	while (tuplestore_gettupleslot(store, true, false, slot))
	{
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, NULL);

		tell(DPERM_MESSAGE_ROW, tuple, tuple->t_len);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* Send what was released. */
static void
tell_result(void)
{
	dperm_message_allow(DPERM_MESSAGES_ALL);
	if (worker.call.function->run && !worker.kept)
		ereport(WARNING,
				(errmsg("the result of the call could not be kept in the ledger"),
				 errhint("Store it. See the server log for the cause.")));
	dperm_message_tell_waiting();
	if (worker.rows.setResult)
		tell_rows(worker.rows.setResult, worker.rows.setDesc);
	else if (worker.model)
		tell(DPERM_MESSAGE_VALUE, DatumGetPointer(worker.model),
			 VARSIZE(DatumGetPointer(worker.model)));
	tell(DPERM_MESSAGE_END, "", 0);
}

/* ---------------------------------------------------------------- work */

/*
 * The call. No row is read before the charge: open() reads none, and run() is
 * only called after it.
 */
static void
work(void)
{
	DpermCall  *call = &worker.call;

	begin(DPERM_PHASE_CHECK);
	read_call();
	report_activity();
	find_relation();
	call->function->open(call);
	charge_budget();			/* commits */
	if (call->function->run)
	{
		begin(DPERM_PHASE_READ);
		let_registration_go();
		worker.model = call->function->run(call);
		if (worker.rows.setResult || call->fcinfo->isnull)
			worker.model = 0;
		commit();

		/* a cancel would only lose what has been paid for */
		HOLD_CANCEL_INTERRUPTS();
		keep_release(NULL, true);
	}
	let_go_of_server();
	tell_result();
}

/* ------------------------------------------------------------- failure */

/* The class of an error. */
static const Failure *
class_of(const ErrorData *error, bool public)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	if (category == ERRCODE_OPERATOR_INTERVENTION)
		return &cancelled;
	if (category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_SYSTEM_ERROR)
		return &few_resources;
	return public ? &public_error : &not_read;
}

/*
 * Raise an error again, as the caller may see it: as it is if it is public, else
 * by its class. A lock that was not available says what to do. After the charge,
 * the session adds that it has been charged.
 */
static void
raise_again(ErrorData *error, const Failure *class, bool public)
{
	bool		charged = is_charged();
	const char *message = class->message;

	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && !charged)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not lock the budget or the protected relation in time"),
				 errdetail("Nothing has been charged."),
				 errhint("Commit or roll back the transaction that has changed the budget, its "
						 "grants or the relation, which may be this one, and try again.")));
	if (public && (class == &public_error || (class == &few_resources && !charged)))
	{
		error->output_to_client = true; /* nothing could be sent when it was raised */
		ReThrowError(error);
	}
	if (class == &cancelled && dperm_phase_took_too_long())
		message = charged ? "the call took longer than dperm.call_timeout" :
			psprintf("could not check the call within %d seconds", DPERM_CHECK_SECONDS);
	ereport(ERROR,
			(errcode(class->code),
			 errmsg_internal("%s", message),
			 charged ? 0 : errdetail("Nothing has been charged."),
			 class == &cancelled ? 0 : errhint("See the server log for the cause.")));
}

/* After an error: keep why nothing was released, if it was paid for, and tell the session. */
static void
fail(void)
{
	bool		public = dperm_message_is_public();
	ErrorData  *error = end_error();
	const Failure *class = class_of(error, public);

	dperm_message_allow(DPERM_MESSAGES_NONE);
	if (!public)
		dperm_phase_log(error, "a call on");
	if (is_charged() && worker.call.function->run && !worker.kept)
		keep_release(class->reason, false);
	let_go_of_server();
	dperm_message_allow(DPERM_MESSAGES_ALL);
	PG_TRY();
	{
		raise_again(error, class, public);
	}
	PG_CATCH();
	{
		HOLD_CANCEL_INTERRUPTS();
		MemoryContextSwitchTo(worker.context);
		EmitErrorReport();
		FlushErrorState();
	}
	PG_END_TRY();
}

/* ------------------------------------------------------------- process */

/* Session locks are not released at the end of a transaction. */
static void
release_locks(int code, Datum arg)
{
	LockReleaseSession(DEFAULT_LOCKMETHOD);
}

/* What the background worker runs; its argument is the handle of the shared memory. */
void
dperm_worker_main(Datum handle)
{
	dsm_segment *segment;
	shm_mq	   *queue;

	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, dperm_phase_stop);
	BackgroundWorkerUnblockSignals();

	/* if the session has given up, its shared memory is gone */
	segment = dsm_attach(DatumGetUInt32(handle));
	if (segment == NULL ||
		((DpermCallHeader *) dsm_segment_address(segment))->version != DPERM_CALL_VERSION)
		return;
	worker.header = dsm_segment_address(segment);
	queue = dperm_call_queue(worker.header);
	shm_mq_set_sender(queue, MyProc);
	worker.to_session = shm_mq_attach(queue, segment, NULL);
	pq_redirect_to_shm_mq(segment, worker.to_session);
	BackgroundWorkerInitializeConnectionByOid(worker.header->database, InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	before_shmem_exit(release_locks, 0);
	(void) LockAcquire(&worker.header->place, DPERM_PLACE_LOCK, true, false);

	/* a session that has given up may have given its place to another one before */
	if (dperm_call_state(worker.header) != DPERM_CALL_OPEN)
		return;
	dperm_phase_init(worker.header->role, &worker.header->style);
	dperm_cache_memory = worker.header->cache_memory;
	worker.context = AllocSetContextCreate(TopMemoryContext, "dperm call", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(worker.context);
	PG_TRY();
	{
		work();
	}
	PG_CATCH();
	{
		fail();
	}
	PG_END_TRY();
	dsm_detach(segment);
}
