/*
 * debit.c: spending from a budget: dperm_debit, and dp_budget_charge for releases of other tools.
 *
 * The session computes the charge, a background worker spends it (debit_worker.c), and the session waits for that.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "arguments.h"
#include "budget.h"
#include "core/base/limits.h"
#include "debit.h"
#include "debit_worker.h"
#include "payer.h"

PG_FUNCTION_INFO_V1(dp_budget_charge);

/* How long to wait for a free background worker, and for it to start, in milliseconds; and how long between two attempts. */
#define SLOT_MS 10000
#define START_MS 10000
#define PAUSE_MS 10

/* Locks of places are advisory ones of a class that no SQL function makes: those are 1 and 2. */
#define PLACE_CLASS 0x6470

/* A charge that cannot be computed, whatever the budget. */
static void
check_spend(const DpermSpend *spend)
{
	if (!isfinite(spend->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be finite where a budget is charged"),
				 errhint("Without noise nothing is protected.")));
	if (!(spend->epsilon >= DPERM_EPSILON_MIN && spend->epsilon <= DPERM_EPSILON_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be between %g and %d", DPERM_EPSILON_MIN, DPERM_EPSILON_MAX)));
	if (!(spend->delta == 0 || (spend->delta >= DPERM_DELTA_MIN && spend->delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0, or at least %g and less than 1", DPERM_DELTA_MIN)));
}

/* The library of the worker, as the catalog has it. */
static char *
worker_library(Oid schema_oid, const char *schema)
{
	HeapTuple	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum("dp_ledger_guard"), PointerGetDatum(buildoidvector(NULL, 0)),
										ObjectIdGetDatum(schema_oid));
	bool		isnull = true;
	Datum		path = 0;
	char	   *library;

	if (HeapTupleIsValid(tuple))
		path = SysCacheGetAttr(PROCNAMEARGSNSP, tuple, Anum_pg_proc_probin, &isnull);
	if (isnull)
		elog(ERROR, "could not find the module of dp_ledger_guard in schema %s", schema);
	library = TextDatumGetCString(path);
	ReleaseSysCache(tuple);
	return library;
}

/* What the session reads of the budget, and of our own extension. */
static DpermDebitRequest
prepare_request(const DpermCharge *charge, char **library)
{
	DpermDebitRequest request = {
		.database = MyDatabaseId,
		.session = MyProc,
		.relation = charge->relation,
		.version = charge->version,
		.role = charge->role,
		.neighbours = charge->spend.neighbours,
		.unit = charge->spend.unit
	};
	DpermAmount nothing = {0, 0};
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	MemoryContext old;

	dperm_tables_enter(&scope);
	budget = dperm_budget_get(&scope, charge->budget, false);
	request.order = budget->filter.order;
	if (strlcpy(request.budget_id, budget->id, sizeof(request.budget_id)) >= sizeof(request.budget_id))
		elog(ERROR, "the id of budget \"%s\" is too long", budget->name);

	/* the worker looks again; but whoever has no grant shall not even start one, of which there are few */
	if (dperm_payer_find(&scope, budget, charge->relation, charge->role, nothing, nothing, false, &payer) == DPERM_PAYER_NO_GRANT)
		dperm_payer_raise(budget);
	old = MemoryContextSwitchTo(scope.caller);
	*library = worker_library(scope.schema_oid, scope.schema);
	MemoryContextSwitchTo(old);
	dperm_tables_leave(&scope);

	request.charge = dperm_charge_of(&charge->spend, request.order);
	request.delta = dperm_amount_up(charge->spend.delta, DPERM_DELTA_DIGITS);
	memcpy(request.budget, charge->budget, pg_mbcliplen(charge->budget, strlen(charge->budget), sizeof(request.budget) - 1));
	strlcpy(request.function, charge->function, sizeof(request.function));
	if (charge->purpose)
		strlcpy(request.purpose, charge->purpose, sizeof(request.purpose));
	return request;
}

/* Wait until the latch is set, or for some time. */
static void
wait_a_while(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Take one of the places that a role has for its charges, in all databases together, and return the lock: a worker can be made to wait for seconds, by a budget that is
 * locked, and whoever starts many of these must not keep everybody else from charging. An error gives the place back with the transaction's resources.
 */
static LOCKTAG
take_place(void)
{
	Oid			role = GetSessionUserId();
	int			places = Max(max_worker_processes / 4, 1);
	TimestampTz start = GetCurrentTimestamp();
	LOCKTAG		tag;

	for (;;)
	{
		for (int i = 0; i < places; i++)
		{
			SET_LOCKTAG_ADVISORY(tag, InvalidOid, role, i, PLACE_CLASS);
			if (LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL)
				return tag;
		}
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), SLOT_MS))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("could not charge the budget: too many charges by role \"%s\" at the same time", GetUserNameFromId(role, false)),
					 errdetail("At most %d can be under way for a role, a quarter of max_worker_processes.", places),
					 errhint("Its other charges may be waiting for a budget that an open transaction has changed. Try again when that has ended.")));
		wait_a_while(PAUSE_MS);
	}
}

/* Start the worker. When all slots are taken, one may be free in a moment: other debits take milliseconds. */
static BackgroundWorkerHandle *
start_worker(const char *library, dsm_handle memory)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_main_arg = UInt32GetDatum(memory),
		.bgw_notify_pid = MyProcPid
	};
	TimestampTz start = GetCurrentTimestamp();
	BackgroundWorkerHandle *handle;

	if (strlen(library) >= sizeof(worker.bgw_library_name))
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("the path of the dperm library is too long for a background worker: \"%s\"", library)));
	strlcpy(worker.bgw_library_name, library, sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "dperm_debit_worker_main", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "dperm debit", BGW_MAXLEN);
	snprintf(worker.bgw_name, BGW_MAXLEN, "dperm debit for PID %d", MyProcPid);
	while (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), SLOT_MS))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("could not charge the budget: no background worker is free"),
					 errhint("You may need to increase max_worker_processes, which should be more than max_parallel_workers.")));
		wait_a_while(PAUSE_MS);
	}
	return handle;
}

/* Wait for the answer of the worker. */
static void
await_answer(DpermDebitRequest *request, BackgroundWorkerHandle *handle)
{
	TimestampTz start = GetCurrentTimestamp();

	while (pg_atomic_read_u32(&request->answered) == 0)
	{
		pid_t		pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(handle, &pid);

		/* it may have answered and ended in between */
		if (status == BGWH_STOPPED && pg_atomic_read_u32(&request->answered) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("the background worker that charges the budget ended without an answer"),
					 errdetail("The charge may have been committed or not; no row has been read."),
					 errhint("See the server log, and dp_ledger.")));
		if (status == BGWH_NOT_YET_STARTED && TimestampDifferenceExceeds(start, GetCurrentTimestamp(), START_MS))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("could not charge the budget: the background worker did not start"),
					 errhint("See the server log.")));
		if (pg_atomic_read_u32(&request->answered) == 0)
			wait_a_while(status == BGWH_NOT_YET_STARTED ? PAUSE_MS * 10 : PAUSE_MS * 100);
	}
	pg_read_barrier();
}

/* Raise what the worker has found. */
static void
check_answer(const DpermDebitRequest *request)
{
	if (request->sqlstate != 0)
		ereport(ERROR,
				(errcode(request->sqlstate),
				 errmsg_internal("%s", request->message),
				 request->detail[0] ? errdetail_internal("%s", request->detail) : 0,
				 request->hint[0] ? errhint("%s", request->hint) : 0));
}

/* Spend, or raise. */
void
dperm_debit(const DpermCharge *charge)
{
	DpermDebitRequest asked;
	DpermDebitRequest *request;
	DpermDebitRequest answer;
	BackgroundWorkerHandle *handle;
	dsm_segment *segment;
	char	   *library;
	LOCKTAG		place;

	check_spend(&charge->spend);
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot charge a budget during recovery"),
				 errhint("Connect to the primary server.")));
	asked = prepare_request(charge, &library);
	place = take_place();

	/* an error detaches the memory with the transaction's resources */
	segment = dsm_create(sizeof(DpermDebitRequest), 0);
	request = dsm_segment_address(segment);
	*request = asked;
	pg_atomic_init_u32(&request->answered, 0);
	handle = start_worker(library, dsm_segment_handle(segment));
	PG_TRY();
	{
		await_answer(request, handle);
	}
	PG_CATCH();
	{
		/* nobody waits for it any more; what it has committed stays */
		TerminateBackgroundWorker(handle);
		PG_RE_THROW();
	}
	PG_END_TRY();
	answer = *request;
	dsm_detach(segment);
	pfree(handle);
	(void) LockRelease(&place, ExclusiveLock, false);
	check_answer(&answer);
}

/* Why a charge would be refused, or NULL; within a scope. */
static const char *
find_refusal(const DpermBudget *budget, DpermPayerFault fault, const DpermSpend *spend, const DpermFilterSums *spent)
{
	if (spend->neighbours != budget->neighbours)
		return "The budget has other neighbours.";
	if (budget->has_unit && spend->unit != budget->unit)
		return "The budget has another unit of privacy.";
	if (fault == DPERM_PAYER_NO_GRANT)
		return "You have no grant of the budget.";
	if (fault == DPERM_PAYER_NO_ROOM)
		return "Your grant has too little left.";
	if (!(budget->filter.order > 1) && spend->delta > 0)
		return "The budget has no delta.";
	if (!dperm_filter_allows(&budget->filter, spent))
		return "The budget has too little left.";
	return NULL;
}

/* What a payer can spend of a budget in a single pure release. */
static DpermAmount
left_for(const DpermBudget *budget, const DpermFilterSums *spent, const DpermPayer *payer)
{
	DpermAmount left = dperm_filter_left(&budget->filter, spent);

	return payer->limited && dperm_amount_compare(payer->left, left) < 0 ? payer->left : left;
}

/* What it would take. */
DpermQuote
dperm_debit_preview(const DpermCharge *charge)
{
	DpermQuote	quote = {.allowed = false};
	DpermAmount claimed = dperm_amount_up(charge->spend.delta, DPERM_DELTA_DIGITS);
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	DpermPayerFault fault;
	DpermFilterSums taken;
	DpermFilterSums spent;

	check_spend(&charge->spend);
	dperm_tables_enter_reading(&scope);
	budget = dperm_budget_get(&scope, charge->budget, false);
	taken = dperm_charge_of(&charge->spend, budget->filter.order);
	spent = dperm_filter_add(&budget->spent, &taken);
	fault = dperm_payer_find(&scope, budget, charge->relation, charge->role, taken.epsilon, claimed, false, &payer);
	quote.refusal = find_refusal(budget, fault, &charge->spend, &spent);
	quote.allowed = quote.refusal == NULL;
	dperm_amount_print(taken.epsilon, quote.epsilon);
	dperm_amount_print(taken.delta, quote.delta);
	strlcpy(quote.left, "0", sizeof(quote.left));
	strlcpy(quote.left_after, "0", sizeof(quote.left_after));
	if (fault != DPERM_PAYER_NO_GRANT)
		dperm_amount_print(left_for(budget, &budget->spent, &payer), quote.left);
	if (quote.allowed)
	{
		payer.left = dperm_amount_less(payer.left, taken.epsilon);
		dperm_amount_print(left_for(budget, &spent, &payer), quote.left_after);
	}
	dperm_tables_leave(&scope);
	return quote;
}

/* What keeps everybody from spending on a relation. */
typedef enum Hindrance
{
	NOT_HINDERED,
	HINDERED_BY_BUDGET,			/* it is not the one that the relation is registered with: one of the same name need not be */
	HINDERED_BY_OWNER			/* the relation has come to belong to another role */
} Hindrance;

/* Find it, in the newest state, as registrations are. */
static Hindrance
find_hindrance(DpermTablesScope *scope, const DpermBudget *budget, Oid relation)
{
	Oid			types[] = {OIDOID, TEXTOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation), CStringGetTextDatum(budget->id), ObjectIdGetDatum(dperm_tables_relation_owner(relation))};
	uint64		found;
	bool		owned;

	PushActiveSnapshot(GetLatestSnapshot());
	found = dperm_tables_execute(psprintf("SELECT pg_catalog.bool_and(owner OPERATOR(pg_catalog.=) $3) FROM %s.dp_protected_relations WHERE relation = $1 AND budget IS NOT NULL"
										  " HAVING count(*) = 1 AND bool_and(budget_id = $2::uuid)", scope->schema), lengthof(types), types, values, NULL, true);
	PopActiveSnapshot();
	if (found != 1)
		return HINDERED_BY_BUDGET;
	owned = strcmp(dperm_tables_value(0, 1), "t") == 0;
	return owned ? NOT_HINDERED : HINDERED_BY_OWNER;
}

/* May the role spend at all? */
static bool
may_spend(const char *name, Oid relation, Oid role, Hindrance *hindrance)
{
	DpermAmount nothing = {0, 0};
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	bool		permitted;

	dperm_tables_enter_reading(&scope);
	budget = dperm_budget_find(&scope, name, false);
	*hindrance = budget == NULL ? HINDERED_BY_BUDGET : OidIsValid(relation) ? find_hindrance(&scope, budget, relation) : NOT_HINDERED;
	permitted = *hindrance == NOT_HINDERED && dperm_payer_find(&scope, budget, relation, role, nothing, nothing, false, &payer) != DPERM_PAYER_NO_GRANT;
	dperm_tables_leave(&scope);
	return permitted;
}

/* May the role spend from the budget of a relation? Raises if nobody may. */
bool
dperm_debit_permitted(const char *budget, Oid relation, Oid role)
{
	Hindrance	hindrance;
	bool		permitted = may_spend(budget, relation, role, &hindrance);

	if (hindrance == HINDERED_BY_BUDGET)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" is protected, and its budget \"%s\" is missing", get_rel_name(relation), budget),
				 errdetail("The budget has not been restored with the relation, or is another one of this name, or the registration is of a relation of this name and another owner, or there are two of them."),
				 errhint("The owner of the relation has to protect it anew: dp_protect.")));
	if (hindrance == HINDERED_BY_OWNER)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("protected relation \"%s\" has another owner than when it was protected", get_rel_name(relation)),
				 errdetail("Its budget is \"%s\", which another role has chosen.", budget),
				 errhint("Its owner has to protect it anew, with dp_protect, or call dp_unprotect.")));
	return permitted;
}

/* The same without an error. */
bool
dperm_debit_may_spend(const char *budget, Oid relation, Oid role)
{
	Hindrance	hindrance;

	return may_spend(budget, relation, role, &hindrance);
}

/* dp_budget_charge(budget, epsilon, delta, purpose): for a release that dperm does not make */
Datum
dp_budget_charge(PG_FUNCTION_ARGS)
{
	DpermCharge charge = {
		.budget = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED),
		.role = GetUserId(),
		.function = "dp_budget_charge",
		.purpose = dperm_arguments_text(fcinfo, "purpose"),
		.spend = {.bound = true}
	};
	Datum		value;

	if (!dperm_arguments_get(fcinfo, "epsilon", FLOAT8OID, &value))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null")));
	charge.spend.epsilon = DatumGetFloat8(value);
	if (dperm_arguments_get(fcinfo, "delta", FLOAT8OID, &value))
		charge.spend.delta = DatumGetFloat8(value);
	if (charge.purpose && strlen(charge.purpose) >= DPERM_DEBIT_TEXT)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("purpose must have less than %d bytes", DPERM_DEBIT_TEXT)));
	dperm_debit(&charge);
	PG_RETURN_VOID();
}
