/*
 * debit_worker.c: the background worker that spends: one transaction, committed and flushed before its session goes on.
 *
 * It sees what is committed, and nothing of the transaction that waits for it. That one may hold locks that it needs: so it never
 * waits for long.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

#include "budget.h"
#include "debit_worker.h"
#include "payer.h"

/* A library of its own: see the Makefile. */
PG_MODULE_MAGIC;

/* How long it waits for a lock, and for everything up to the commit. */
#define LOCK_TIMEOUT_TEXT "3s"
#define TIMEOUT_MS 15000

/* Settings of a database or a role that would change what a debit does. */
static const struct
{
	const char *name;
	const char *value;
}			settings[] = {
	{"application_name", "dperm debit"},
	{"search_path", "pg_catalog, pg_temp"},
	{"synchronous_commit", "on"},
	{"lock_timeout", LOCK_TIMEOUT_TEXT},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"default_transaction_deferrable", "off"},
	{"session_replication_role", "origin"},
	{"exit_on_error", "off"},	/* the session is to hear of errors */
	{"extra_float_digits", "1"}
};

/* Has the relation the registration that the session saw, and the owner who made it? What the session's own transaction did does not count. */
static void
check_registration(DpermTablesScope *scope, const DpermDebitRequest *request, const DpermBudget *budget)
{
	Oid			types[] = {OIDOID, TEXTOID, XIDOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(request->relation), CStringGetTextDatum(budget->id), TransactionIdGetDatum(request->version),
	ObjectIdGetDatum(dperm_tables_relation_owner(request->relation))};

	if (dperm_tables_query(scope, "SELECT FROM %s.dp_protected_relations WHERE relation = $1 AND budget IS NOT NULL HAVING count(*) = 1 AND bool_and(budget_id = $2::uuid AND xmin = $3 AND owner = $4)",
						   lengthof(types), types, values, NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the registration of the protected relation is not committed, or has changed"),
				 errhint("Commit dp_protect before the relation is used, and use it in a transaction that began afterwards.")));
}

/* Is it charged for what the budget counts? */
static void
check_claim(const DpermBudget *budget, const DpermDebitRequest *request)
{
	if (request->order != budget->filter.order)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("budget \"%s\" has changed", budget->name),
				 errhint("Try again.")));
	if (!OidIsValid(request->relation))
		return;
	if (request->neighbours != budget->neighbours)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("budget \"%s\" is for neighbours '%s'", budget->name, dperm_claim_neighbours_name(budget->neighbours)),
				 errhint("Specify neighbours => '%s'.", dperm_claim_neighbours_name(budget->neighbours))));
	if (!budget->has_unit || request->unit != budget->unit)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("budget \"%s\" has another unit of privacy", budget->name),
				 errhint("Protect the relation anew.")));
}

/* An amount, for a message. */
static char *
amount_text(DpermAmount amount)
{
	char	   *text = palloc(DPERM_AMOUNT_TEXT);

	dperm_amount_print(amount, text);
	return text;
}

/* Find who pays, or raise. */
static DpermPayer
find_payer(DpermTablesScope *scope, const DpermBudget *budget, const DpermDebitRequest *request, bool lock)
{
	DpermPayer	payer;

	switch (dperm_payer_find(scope, budget, request->relation, request->role, request->charge.epsilon, request->delta, lock, &payer))
	{
		case DPERM_PAYER_FOUND:
			break;
		case DPERM_PAYER_NO_GRANT:
			dperm_payer_raise(budget);
			break;
		case DPERM_PAYER_NO_ROOM:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the grant of budget \"%s\" to \"%s\" is exhausted", budget->name, GetUserNameFromId(payer.grantee, false)),
					 errdetail("The call costs epsilon %s and delta %s; the grant has %s left.", amount_text(request->charge.epsilon),
							   amount_text(request->delta), payer.limited ? psprintf("epsilon %s", amount_text(payer.left)) : "less delta"),
					 errhint("Use a smaller epsilon, or ask the owner of the budget for a larger grant: dp_grant.")));
			break;
	}
	return payer;
}

/* What is left, for the message and the ledger: of the budget, and of the grant. */
static DpermAmount
left_of(const DpermBudget *budget, const DpermFilterSums *spent)
{
	return dperm_filter_left(&budget->filter, spent);
}

/* Write what has been spent. A grant may have two rows (payer.c), whose sums count. */
static void
write_sums(DpermTablesScope *scope, const DpermBudget *budget, const DpermFilterSums *spent, const DpermPayer *payer, const DpermDebitRequest *request)
{
	Oid			types[] = {TEXTOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID};
	Oid			grant_types[] = {TEXTOID, OIDOID, NUMERICOID, NUMERICOID};
	Datum		values[] = {CStringGetTextDatum(budget->id), dperm_tables_numeric(spent->epsilon), dperm_tables_numeric(spent->delta),
	dperm_tables_numeric(spent->divergence), dperm_tables_numeric(spent->direct)};
	Datum		grant_values[] = {values[0], ObjectIdGetDatum(payer->grantee), dperm_tables_numeric(request->charge.epsilon), dperm_tables_numeric(request->delta)};

	if (dperm_tables_query(scope,
						   "UPDATE %s.dp_budget_accounts SET spent_epsilon = $2, spent_delta = $3, spent_divergence = $4, spent_direct = $5 WHERE id = $1::uuid",
						   lengthof(types), types, values, NULL) != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
	if (OidIsValid(payer->grantee) &&
		dperm_tables_query(scope, "UPDATE %s.dp_budget_grants SET spent_epsilon = spent_epsilon OPERATOR(pg_catalog.+) $3, spent_delta = spent_delta OPERATOR(pg_catalog.+) $4"
						   " WHERE ctid OPERATOR(pg_catalog.=) (SELECT g.ctid FROM %s.dp_budget_grants AS g WHERE g.budget_id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid"
						   " AND g.grantee OPERATOR(pg_catalog.=) $2 ORDER BY g.ctid LIMIT 1)",
						   lengthof(grant_types), grant_types, grant_values, NULL) != 1)
		elog(ERROR, "could not write to the grant of budget \"%s\"", budget->name);
}

/* The name of a relation, for the ledger. */
static char *
relation_name(Oid relation)
{
	char	   *name = OidIsValid(relation) ? get_rel_name(relation) : NULL;

	return name ? quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name) : NULL;
}

/* Check and spend, all in one transaction. */
static void
spend(const DpermDebitRequest *request)
{
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermPayer	payer;
	DpermFilterSums spent;
	DpermAmount left;
	DpermBudgetLine line = {
		.act = "charge",
		.role = request->role,
		.function = request->function,
		.epsilon = &request->charge.epsilon,
		.delta = &request->charge.delta,
		.charge = &request->charge,
		.left = &left,
		.details = request->purpose[0] ? request->purpose : NULL
	};

	dperm_tables_init();
	dperm_tables_enter(&scope);

	/* nobody without a grant gets as far as the lock, which others wait for */
	(void) find_payer(&scope, dperm_budget_get_by_id(&scope, request->budget_id, request->budget, false), request, false);
	budget = dperm_budget_get_by_id(&scope, request->budget_id, request->budget, true);
	if (OidIsValid(request->relation))
		check_registration(&scope, request, budget);
	payer = find_payer(&scope, budget, request, true);
	check_claim(budget, request);
	spent = dperm_filter_add(&budget->spent, &request->charge);
	if (!(budget->filter.order > 1) && request->delta.units + request->delta.parts > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" has no delta", budget->name),
				 errhint("Omit delta, or ask the owner of the budget for one with a delta.")));
	if (!dperm_filter_allows(&budget->filter, &spent))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("budget \"%s\" is exhausted", budget->name),
				 errdetail("The call costs epsilon %s and delta %s; a single release without delta could still have epsilon %s.",
						   amount_text(request->charge.epsilon), amount_text(request->delta), amount_text(left_of(budget, &budget->spent))),
				 errhint("Use a smaller epsilon, or ask the owner of the budget to raise it: dp_budget_alter.")));
	left = left_of(budget, &spent);
	write_sums(&scope, budget, &spent, &payer, request);
	line.budget = budget->name;
	line.id = budget->id;
	line.relation = relation_name(request->relation);
	line.neighbours = dperm_claim_neighbours_name(budget->neighbours);
	if (budget->has_unit)
		line.unit = dperm_claim_unit_name(budget->unit);
	dperm_budget_append(&scope, &line);
	dperm_tables_leave(&scope);
}

/* A part of an error, as much of it as there is room for. */
static void
fill_text(char *to, const char *from)
{
	if (from)
	{
		int			len = pg_mbcliplen(from, strlen(from), DPERM_DEBIT_TEXT - 1);

		memcpy(to, from, len);
		to[len] = '\0';
	}
}

/* Tell the session what went wrong. */
static void
tell_error(DpermDebitRequest *request, const ErrorData *error)
{
	request->sqlstate = error->sqlerrcode;
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE || error->sqlerrcode == ERRCODE_QUERY_CANCELED)
	{
		request->sqlstate = ERRCODE_LOCK_NOT_AVAILABLE;
		fill_text(request->message, psprintf("could not lock budget \"%s\" in time", request->budget));
		fill_text(request->hint, "This or another transaction has changed the budget, its grants or its relations and has not ended yet. Commit or roll back, and try again.");
		return;
	}
	fill_text(request->message, error->message);
	fill_text(request->detail, error->detail);
	fill_text(request->hint, error->hint);
}

/* Spend and commit, or say why not. Errors are for the session to raise; only there are they logged. */
static void
spend_and_commit(DpermDebitRequest *request)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		enable_timeout_after(STATEMENT_TIMEOUT, TIMEOUT_MS);
		PushActiveSnapshot(GetTransactionSnapshot());
		pgstat_report_activity(STATE_RUNNING, "debit of a privacy budget");
		spend(request);
		PopActiveSnapshot();

		/* the commit may have to wait for a standby: for as long as the session does */
		disable_timeout(STATEMENT_TIMEOUT, false);
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		disable_timeout(STATEMENT_TIMEOUT, false);
		AbortCurrentTransaction();
		tell_error(request, error);
	}
	PG_END_TRY();
}

/* The worker. */
void
dperm_debit_worker_main(Datum handle)
{
	dsm_segment *segment;
	DpermDebitRequest *request;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	/* a session that has given up meanwhile takes its memory with it */
	segment = dsm_attach(DatumGetUInt32(handle));
	if (segment == NULL)
		return;
	request = dsm_segment_address(segment);
	BackgroundWorkerInitializeConnectionByOid(request->database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	for (int i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_OVERRIDE);

	spend_and_commit(request);
	pg_write_barrier();
	pg_atomic_write_u32(&request->answered, 1);
	SetLatch(&request->session->procLatch);
	dsm_detach(segment);
}
