/*
 * call.c: a call of a function that reads rows, in the session of the caller. Trusted.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "libpq/pqmq.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/params.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

#include "base/base.h"
#include "protect/protect.h"
#include "relation/relation.h"

/*
 * How long to wait between two attempts to start a background worker, and when
 * to tell the caller, in milliseconds.
 */
#define PAUSE_MS 10
#define NOTICE_MS 1000

/* The maximum size of the arguments, which go to shared memory. */
#define ARGUMENTS_MAX (64 * 1024 * 1024)

/*
 * Places are advisory locks of a class that no SQL function uses: those use 1
 * and 2.
 */
#define PLACE_CLASS 0x6470

/* The size of the queue. Messages may be larger. */
#define QUEUE_SIZE 65536

/* ------------------------------------------------------ shared memory */

/* Where the arguments are. */
static char *
arguments_of(DpermCallHeader *header)
{
	return (char *) header + MAXALIGN(sizeof(DpermCallHeader));
}

/* Where the queue is. */
shm_mq *
dperm_call_queue(DpermCallHeader *header)
{
	return (shm_mq *) (arguments_of(header) + MAXALIGN(header->arguments));
}

/* The state. */
DpermCallState
dperm_call_state(DpermCallHeader *header)
{
	DpermCallState state = (DpermCallState) pg_atomic_read_u32(&header->state);

	pg_read_barrier();			/* what it says is read after it */
	return state;
}

/* Go from one state to another, which fails if it is not the first one. */
bool
dperm_call_advance(DpermCallHeader *header, DpermCallState from, DpermCallState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&header->state, &expected, to);
}

/* The names of columns in an argument, as an array of text. */
static Datum
names_array(FunctionCallInfo fcinfo)
{
	int			count;
	char	  **names = dperm_arguments_names(fcinfo, "features", &count);
	Datum	   *texts = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		texts[i] = CStringGetTextDatum(names[i]);
	return PointerGetDatum(construct_array(texts, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/*
 * The arguments of a call, which SerializeParamList() writes to shared memory.
 * Names of columns become an array of text, whatever type the caller has passed.
 */
static ParamListInfo
params_of(FunctionCallInfo fcinfo)
{
	Oid		   *types;
	int			count;
	ParamListInfo params;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	params = makeParamList(count);
	for (int i = 0; i < count; i++)
	{
		ParamExternData *param = &params->params[i];
		/* names can be a string of any type, or an array of them */
		bool		names = get_typtype(types[i]) == TYPTYPE_PSEUDO;

		param->ptype = names ? TEXTARRAYOID : types[i];
		param->isnull = PG_ARGISNULL(i);
		if (!param->isnull)
			param->value = names ? names_array(fcinfo) :
				get_typlen(types[i]) == -1 ?
				PointerGetDatum(PG_DETOAST_DATUM(PG_GETARG_DATUM(i))) : PG_GETARG_DATUM(i);
	}
	return params;
}

/*
 * A call from there, allocated in the current memory context: the same function
 * with the same arguments. Its expression tells their types.
 */
FunctionCallInfo
dperm_call_read(DpermCallHeader *header)
{
	char	   *bytes = arguments_of(header);
	ParamListInfo params = RestoreParamList(&bytes);
	FunctionCallInfo fcinfo = palloc0(SizeForFunctionCallInfo(params->numParams));
	FmgrInfo   *function = palloc0(sizeof(*function));
	List	   *arguments = NIL;

	fmgr_info(header->function, function);
	InitFunctionCallInfoData(*fcinfo, function, params->numParams, InvalidOid, NULL, NULL);
	for (int i = 0; i < params->numParams; i++)
	{
		const ParamExternData *param = &params->params[i];
		int16		length;
		bool		byval;

		get_typlenbyval(param->ptype, &length, &byval);
		fcinfo->args[i].value = param->value;
		fcinfo->args[i].isnull = param->isnull;
		arguments = lappend(arguments, makeConst(param->ptype, -1, InvalidOid, length,
												 param->value, param->isnull, byval));
	}
	fmgr_info_set_expr((Node *) makeFuncExpr(header->function, get_func_rettype(header->function),
											 arguments, InvalidOid, InvalidOid,
											 COERCE_EXPLICIT_CALL),
					   function);
	return fcinfo;
}

/* --------------------------------------------------------------- places */

/* Wait for some time, or until the latch is set. Tells the caller, once, what for. */
static void
wait_a_while(TimestampTz start, bool *said, const char *what, const char *hint)
{
	if (!*said && TimestampDifferenceExceeds(start, GetCurrentTimestamp(), NOTICE_MS))
	{
		ereport(NOTICE, (errmsg("waiting: %s", what), errhint("%s", hint)));
		*said = true;
	}
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, PAUSE_MS,
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Take one of the places of the session user, if one is free. */
static bool
try_place(LOCKTAG *place)
{
	for (int i = 0; i < Max(max_worker_processes / 4, 1); i++)
	{
		SET_LOCKTAG_ADVISORY(*place, InvalidOid, GetSessionUserId(), i, PLACE_CLASS);
		if (LockAcquire(place, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
			continue;

		/* it is free: now it belongs to this session and its worker */
		(void) LockAcquire(place, DPERM_PLACE_LOCK, false, false);
		(void) LockRelease(place, ExclusiveLock, false);
		return true;
	}
	return false;
}

/*
 * Take one of the places that the session user has for calls, in all databases
 * together: a training holds its background worker for as long as it takes, and
 * whoever starts many of these must not keep everybody else from theirs. An error
 * gives it back with the transaction's resources; but a place is free when the
 * worker has ended, too.
 */
static LOCKTAG
take_place(void)
{
	TimestampTz start = GetCurrentTimestamp();
	bool		said = false;
	LOCKTAG		place;

	while (!try_place(&place))
		wait_a_while(start, &said,
					 psprintf("role \"%s\" has %d calls on protected relations under way",
							  GetUserNameFromId(GetSessionUserId(), false),
							  Max(max_worker_processes / 4, 1)),
					 "A role can have a quarter of max_worker_processes.");
	return place;
}

/*
 * Nobody waits for the worker any more: before its charge it gives up. Called
 * when its shared memory is detached: at the end of the (sub)transaction of the
 * call, or of the session.
 */
static void
abandon(dsm_segment *segment, Datum arg)
{
	(void) dperm_call_advance(dsm_segment_address(segment), DPERM_CALL_OPEN,
									  DPERM_CALL_ABANDONED);
}

/* Start the worker as soon as there is a slot for it. */
static BackgroundWorkerHandle *
start_worker(dsm_segment *segment)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(segment)),
		.bgw_notify_pid = MyProcPid
	};
	TimestampTz start = GetCurrentTimestamp();
	bool		said = false;
	BackgroundWorkerHandle *handle;

	strlcpy(worker.bgw_library_name, "$libdir/dperm", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "dperm_worker_main", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "dperm", BGW_MAXLEN);
	snprintf(worker.bgw_name, BGW_MAXLEN, "dperm worker for PID %d", MyProcPid);
	while (!RegisterDynamicBackgroundWorker(&worker, &handle))
		wait_a_while(start, &said, "no background worker is free",
					 "Increase max_worker_processes, which should be more than "
					 "max_parallel_workers.");
	return handle;
}

/* A call that has been handed over. */
typedef struct Call
{
	FunctionCallInfo fcinfo;
	const DpermFunction *function;
	DpermCallHeader *header;
	BackgroundWorkerHandle *handle;
	shm_mq_handle *from_worker;
	Tuplestorestate *rows;		/* of a function that returns rows */
	TupleTableSlot *slot;
	Datum		result;
	bool		ended;
} Call;

/* Copy a setting, which must not be truncated: it would mean something else. */
static void
copy_setting(char *to, const char *name)
{
	if (strlcpy(to, GetConfigOption(name, false, false), DPERM_SETTING_MAX) >= DPERM_SETTING_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the value of parameter \"%s\" is too long", name)));
}

/* Write the call to shared memory. */
static dsm_segment *
write_call(Call *call, Oid relation)
{
	ParamListInfo arguments = params_of(call->fcinfo);
	Size		size = EstimateParamListSpace(arguments);
	dsm_segment *segment;
	DpermCallHeader *header;
	char	   *to;

	if (size > ARGUMENTS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the arguments of a call on a protected relation must take less than %d MB",
						ARGUMENTS_MAX / 1024 / 1024)));
	segment = dsm_create(MAXALIGN(sizeof(DpermCallHeader)) + MAXALIGN(size) + QUEUE_SIZE, 0);
	header = call->header = dsm_segment_address(segment);
	*header = (DpermCallHeader) {
		.version = DPERM_CALL_VERSION,
		.database = MyDatabaseId,
		.function = call->fcinfo->flinfo->fn_oid,
		.relation = relation,
		.role = GetUserId(),
		.session = MyProcPid,
		.cache_memory = dperm_cache_memory,
		.arguments = size
	};
	copy_setting(header->style.date_style, "DateStyle");
	copy_setting(header->style.time_zone, "TimeZone");
	pg_atomic_init_u32(&header->state, DPERM_CALL_OPEN);
	to = arguments_of(header);
	SerializeParamList(arguments, &to);
	shm_mq_set_receiver(shm_mq_create(dperm_call_queue(header), QUEUE_SIZE), MyProc);
	return segment;
}

/* What became of the charge, without the full stop: by now, or if the worker has ended. */
static const char *
charge_of(DpermCallHeader *header)
{
	DpermCallState state = dperm_call_state(header);

	if (state == DPERM_CALL_OPEN || state == DPERM_CALL_ABANDONED)
		return "Nothing has been charged";
	return psprintf("The call %s been charged, as entry " INT64_FORMAT " of budget \"%s\"",
					state == DPERM_CALL_CHARGED ? "has" : "may have", header->entry,
					header->budget);
}

/*
 * Relay an error or a notice of the worker. An error after the charge says so.
 */
static void
relay_message(const Call *call, const char *bytes, Size size)
{
	StringInfoData message;
	ErrorData	error;

	initStringInfo(&message);
	appendBinaryStringInfo(&message, bytes, size);
	pq_parse_errornotice(&message, &error);
	if (error.elevel >= ERROR && dperm_call_state(call->header) == DPERM_CALL_CHARGED)
		error.detail = psprintf("%s%s%s.", error.detail ? error.detail : "",
								error.detail ? " " : "", charge_of(call->header));

	/* a fatal error of the worker must not end this session */
	error.elevel = Min(error.elevel, ERROR);
	ThrowErrorData(&error);
	pfree(message.data);
}

/* Handle a message. */
static void
receive(Call *call, const char *bytes, Size size)
{
	void	   *content;

	switch (bytes[0])
	{
		case 'E':
		case 'N':
			relay_message(call, bytes + 1, size - 1);
			break;
		case DPERM_MESSAGE_VALUE:
		case DPERM_MESSAGE_ROW:
			content = memcpy(palloc(size - 1), bytes + 1, size - 1);
			if (bytes[0] == DPERM_MESSAGE_VALUE)
				call->result = PointerGetDatum(content);
			else
				tuplestore_puttupleslot(call->rows, ExecStoreMinimalTuple(content, call->slot,
																			   true));
			break;
		case DPERM_MESSAGE_END:
			call->ended = true;
			break;
		default:
			elog(ERROR, "unexpected message from a background worker");
	}
}

/*
 * An error ends the wait for the worker, such as a cancel. It says what becomes
 * of the call, unless nothing has been charged.
 */
static void
tell_abandoned(void *arg)
{
	const Call *call = arg;
	DpermCallHeader *header = call->header;
	const char *what = call->fcinfo->flinfo->fn_retset ? "metrics" : "model";
	int			category = ERRCODE_TO_CATEGORY(geterrcode());

	/* something that is only logged does not end it */
	if (category == ERRCODE_SUCCESSFUL_COMPLETION || category == ERRCODE_WARNING)
		return;
	if (dperm_call_advance(header, DPERM_CALL_OPEN, DPERM_CALL_ABANDONED))
		return;
	if (dperm_call_state(header) != DPERM_CALL_CHARGED)
		errdetail("%s: see dp_ledger.", charge_of(header));
	else if (call->function->run == NULL)
		errdetail("%s.", charge_of(header));
	else
	{
		errdetail("%s; the %s will be in dp_releases.", charge_of(header), what);
		errhint("dp_cancel(%s, " INT64_FORMAT ") stops it; what was charged stays charged.",
				quote_literal_cstr(header->budget), header->entry);
	}
}

/* Handle messages up to the last one. */
static void
await_result(Call *call, dsm_segment *segment)
{
	ErrorContextCallback waiting = {
		.previous = error_context_stack, .callback = tell_abandoned, .arg = call};

	call->from_worker =
		shm_mq_attach(dperm_call_queue(call->header), segment, call->handle);
	while (!call->ended)
	{
		Size		size;
		void	   *bytes;
		shm_mq_result result;

		error_context_stack = &waiting;
		result = shm_mq_receive(call->from_worker, &size, &bytes, false);
		error_context_stack = waiting.previous;
		if (result != SHM_MQ_SUCCESS || size == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("the background worker of the call ended without an answer"),
					 errdetail("%s.", charge_of(call->header)),
					 errhint("See dp_ledger and the server log.")));
		receive(call, bytes, size);
	}
}

/*
 * Run a call in another process: one on a protected relation, or with InvalidOid
 * one that reads none. A cancel, or the end of this session, ends it before its
 * charge, and not afterwards.
 */
static Datum
hand_over(FunctionCallInfo fcinfo, const DpermFunction *function, Oid relation)
{
	Call		call = {.fcinfo = fcinfo, .function = function};
	dsm_segment *segment;
	LOCKTAG		place;

	/* parallel workers share locks, so they would share a place */
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot charge a budget during a parallel operation")));
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot charge a budget during recovery"),
				 errhint("Connect to the primary server.")));
	if (max_worker_processes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("this server has no background workers"),
				 errhint("Increase max_worker_processes.")));
	if (fcinfo->flinfo->fn_retset)
	{
		TupleDesc	desc;

		call.rows = dperm_host_result_set(fcinfo, &desc);
		call.slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	}
	place = take_place();

	/* an error detaches the memory with the transaction's resources */
	segment = write_call(&call, relation);
	call.header->place = place;
	on_dsm_detach(segment, abandon, (Datum) 0);
	call.handle = start_worker(segment);
	await_result(&call, segment);
	pfree(call.handle);
	dsm_detach(segment);
	(void) LockRelease(&place, DPERM_PLACE_LOCK, false);
	if (call.slot)
		ExecDropSingleTupleTableSlot(call.slot);
	fcinfo->isnull = call.result == 0 && !fcinfo->flinfo->fn_retset;
	return call.result;
}

/*
 * The protected relation of a call; InvalidOid if it is not protected. All that
 * is decided here is which process opens the call, and whether it may be started.
 */
static Oid
protected_relation(FunctionCallInfo fcinfo)
{
	char	   *name = dperm_arguments_text(fcinfo, "relation");
	Oid			relation = name ? dperm_relation_look_up(name, NoLock, true) : InvalidOid;
	DpermRegistration *registration =
		OidIsValid(relation) ? dperm_protection_find(relation) : NULL;

	if (registration == NULL)
		return InvalidOid;

	/* who may not spend must not even start a worker, of which there are few */
	dperm_protection_check_usable(registration);

	/* other processes do not see it yet */
	if (registration->fresh)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" has been protected by this transaction",
						get_rel_name(relation)),
				 errhint("Commit first.")));
	return relation;
}

/* Run a call on the relation that its argument names, if any: else there is only a charge. */
Datum
dperm_call(FunctionCallInfo fcinfo, const DpermFunction *function)
{
	DpermCall	call = {.function = function, .fcinfo = fcinfo};
	Oid			protected;

	dperm_phase_expect(DPERM_PHASE_SESSION);
	protected = protected_relation(fcinfo);
	if (!OidIsValid(protected))
	{
		function->open(&call);
		if (function->run)
			return function->run(&call);
	}
	return hand_over(fcinfo, function, protected);
}

/* ---------------------------------------------------------------- look */

/*
 * In a session: locks that are taken between these two are released, so that a
 * role without rights on a relation cannot block its owner for the rest of a
 * transaction. An error releases them, too. They are to be kept if planning may
 * have run functions of the caller, as it does for a relation that is not
 * protected: these may have altered something, which stays locked until the end
 * of the transaction.
 */
ResourceOwner
dperm_call_look(void)
{
	ResourceOwner before = CurrentResourceOwner;

	CurrentResourceOwner = ResourceOwnerCreate(before, "dperm look");
	return before;
}

void
dperm_call_look_away(ResourceOwner before, bool keep)
{
	ResourceOwner own = CurrentResourceOwner;

	ResourceOwnerRelease(own, RESOURCE_RELEASE_BEFORE_LOCKS, keep, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_LOCKS, keep, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_AFTER_LOCKS, keep, false);
	CurrentResourceOwner = before;
	ResourceOwnerDelete(own);
}
