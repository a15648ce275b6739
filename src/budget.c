/*
 * budget.c: budgets and their ledger, as our own tables have them.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "postmaster/bgworker.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "budget.h"

/* The schema of the extension, InvalidOid if there is none in this database, or none that is committed. */
static Oid
extension_schema(Oid extension)
{
	Oid			schema = InvalidOid;
	Relation	catalog;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	if (!OidIsValid(extension))
		return InvalidOid;
	catalog = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
	scan = systable_beginscan(catalog, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return schema;
}

/* The owner of a relation, InvalidOid if it is gone. */
Oid
dperm_budget_relation_owner(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* Is a trigger one that our script has made? Another one of the same function could have a condition, which is anybody's code, or skip rows. */
static bool
is_ours(const Trigger *trigger, Oid extension)
{
	static const struct
	{
		const char *name;
		int16		events;
	}			known[] = {
		{"dp_table_guard", TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE},
		{"dp_ledger_guard", TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE}
	};

	for (int i = 0; i < lengthof(known); i++)
		if (strcmp(trigger->tgname, known[i].name) == 0)
		{
			const char *function = get_func_name(trigger->tgfoid);

			return function && strcmp(function, known[i].name) == 0 &&
				getExtensionOfObject(ProcedureRelationId, trigger->tgfoid) == extension &&
				trigger->tgtype == (known[i].events | TRIGGER_TYPE_BEFORE) && trigger->tgqual == NULL && trigger->tgnattr == 0 &&
				trigger->tgnargs == 0 && !trigger->tgisinternal && !trigger->tgdeferrable;
		}
	return false;
}

/* What is wrong with the triggers of a table of ours: the name of one that is not ours; or that of one of ours that would not fire, in *idle. NULL if nothing is. */
static const char *
trigger_fault(Oid table, Oid extension, bool ledger, bool *idle)
{
	Relation	relation;
	const char *found = NULL;
	bool		guarded = false;
	bool		appended = !ledger;

	*idle = false;
	if (!OidIsValid(table))
		return NULL;

	/* kept, so that none is made before the end of the transaction. We have no foreign keys, whose triggers are the server's own. */
	relation = table_open(table, RecoveryInProgress() ? AccessShareLock : RowExclusiveLock);
	for (int i = 0; relation->trigdesc && i < relation->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &relation->trigdesc->triggers[i];

		if (!is_ours(trigger, extension))
			found = pstrdup(trigger->tgname);

		/* pg_restore --disable-triggers leaves them enabled, but not always */
		else if (trigger->tgenabled == TRIGGER_FIRES_ALWAYS || trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN)
		{
			guarded |= strcmp(trigger->tgname, "dp_table_guard") == 0;
			appended |= strcmp(trigger->tgname, "dp_ledger_guard") == 0;
		}
	}
	table_close(relation, NoLock);
	*idle = found == NULL && !(guarded && appended);
	return *idle ? guarded ? "dp_ledger_guard" : "dp_table_guard" : found;
}

/* Are all triggers ours, and would ours fire? Rules, policies and indexes take more than a privilege. */
static bool
is_guarded(Oid schema, Oid extension, int level)
{
	static const char *const tables[] = {"dp_budget_accounts", "dp_budget_grants", "dp_ledger_entries", "dp_protected_relations", "dp_protected_columns"};

	for (int i = 0; i < lengthof(tables); i++)
	{
		bool		idle;
		const char *trigger = trigger_fault(get_relname_relid(tables[i], schema), extension, strcmp(tables[i], "dp_ledger_entries") == 0, &idle);

		if (trigger == NULL)
			continue;
		if (idle)
			ereport(level,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("trigger \"%s\" on table \"%s\" is disabled, or missing", trigger, tables[i]),
					 errhint("A superuser has to enable it: ALTER TABLE %s ENABLE ALWAYS TRIGGER %s.",
							 quote_qualified_identifier(get_namespace_name(schema), tables[i]), trigger)));
		else
			ereport(level,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("trigger \"%s\" on table \"%s\" is not one of extension dperm", trigger, tables[i]),
					 errhint("A superuser has to drop it, and should revoke all privileges on the table.")));
		return false;
	}
	return true;
}

/*
 * The scopes that are open, and the (sub)transaction of the outermost: an error ends both.
 *
 * Our statements name our tables, as the owner of the extension, who is a superuser. Whoever owns the schema can rename it, at any moment, and offer
 * other tables under the same names. So each statement is looked at when it has been analysed, which may happen again between its
 * preparation and its execution: all relations in it have to be ours, or PostgreSQL's.
 */
static struct
{
	int			depth;
	LocalTransactionId transaction;
	SubTransactionId sub;
	Oid			extension;
}			open_scope;

static post_parse_analyze_hook_type previous_hook;

/* The number of the top transaction, whatever subtransactions there are. */
#if PG_VERSION_NUM >= 170000
#define TRANSACTION_NUMBER (MyProc->vxid.lxid)
#else
#define TRANSACTION_NUMBER (MyProc->lxid)
#endif

/* Is a scope open? Also in a subtransaction that began within it, as an exception block of PL/pgSQL does. */
static bool
is_open(void)
{
	return open_scope.depth > 0 && open_scope.transaction == TRANSACTION_NUMBER && SubTransactionIsActive(open_scope.sub);
}

/* Is a function neither ours nor PostgreSQL's? */
static bool
is_foreign_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId && getExtensionOfObject(ProcedureRelationId, function) != open_scope.extension;
}

/* Raise for a statement of another relation, or with another function. */
static bool
check_relations(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		Oid			relation = ((RangeTblEntry *) node)->relid;

		if (((RangeTblEntry *) node)->rtekind == RTE_RELATION && relation >= FirstNormalObjectId &&
			getExtensionOfObject(RelationRelationId, relation) != open_scope.extension)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("table \"%s\" is not one of extension dperm", get_rel_name(relation)),
					 errdetail("The schema of the extension has been renamed, or a trigger on one of its tables runs commands."),
					 errhint("Let a superuser own the schema, revoke all privileges on the tables of the extension, and try again.")));
		return false;
	}
	if (IsA(node, Query))
	{
		if (((Query *) node)->commandType == CMD_UTILITY)
			elog(ERROR, "a command within a statement over budgets");
		return query_tree_walker((Query *) node, check_relations, context, QTW_EXAMINE_RTES_BEFORE);
	}
	if (check_functions_in_node(node, is_foreign_function, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a function in a statement over the tables of dperm is not one of extension dperm")));
	return expression_tree_walker(node, check_relations, context);
}

/* A statement has been analysed. */
static void
statement_analysed(ParseState *state, Query *query, JumbleState *jumble)
{
	if (previous_hook)
		previous_hook(state, query, jumble);
	if (is_open())
		(void) check_relations((Node *) query, NULL);
}

/* Called by each library of ours. The second one that is loaded into a process finds this function in the first one. */
void
dperm_budget_init(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	previous_hook = post_parse_analyze_hook;
	post_parse_analyze_hook = statement_analysed;
}

/* Can their owner reach our tables? */
bool
dperm_budget_reachable(void)
{
	Oid			schema = extension_schema(get_extension_oid("dperm", true));
	Oid			owner = OidIsValid(schema) ? dperm_budget_relation_owner(get_relname_relid("dp_budget_accounts", schema)) : InvalidOid;
	AclResult	result;

	if (!OidIsValid(owner))
		return true;
#if PG_VERSION_NUM >= 160000
	result = object_aclcheck(NamespaceRelationId, schema, owner, ACL_USAGE);
#else
	result = pg_namespace_aclcheck(schema, owner, ACL_USAGE);
#endif
	if (result != ACLCHECK_OK)
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\", who owns the tables of dperm, cannot use their schema", GetUserNameFromId(owner, false)),
				 errdetail("Protected relations cannot be used, and changes of them are not followed."),
				 errhint("GRANT USAGE ON SCHEMA %s TO %s.", quote_identifier(get_namespace_name(schema)), quote_identifier(GetUserNameFromId(owner, false)))));
	return result == ACLCHECK_OK;
}

/* Begin, if all triggers are ours; with a level of 0, whatever triggers there are. */
static bool
open_at(DpermBudgetScope *scope, int level)
{
	Oid			extension = get_extension_oid("dperm", true);
	Oid			schema = extension_schema(extension);
	Oid			owner;

	if (!OidIsValid(schema))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension dperm is not installed in this database"),
				 errhint("Run CREATE EXTENSION dperm, and commit.")));
	owner = dperm_budget_relation_owner(get_relname_relid("dp_budget_accounts", schema));
	if (!OidIsValid(owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension dperm in this database is older than the installed library"),
				 errhint("Run ALTER EXTENSION dperm UPDATE.")));
	if (level != 0 && !is_guarded(schema, extension, level))
		return false;
	scope->schema_oid = schema;
	scope->caller = CurrentMemoryContext;
	scope->schema = pstrdup(quote_identifier(get_namespace_name(schema)));
	GetUserIdAndSecContext(&scope->user, &scope->security);
	SetUserIdAndSecContext(owner, scope->security | SECURITY_LOCAL_USERID_CHANGE);
	scope->settings = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	scope->depth = is_open() ? open_scope.depth : 0;
	if (scope->depth == 0)
	{
		open_scope.transaction = TRANSACTION_NUMBER;
		open_scope.sub = GetCurrentSubTransactionId();
	}
	open_scope.depth = scope->depth + 1;
	open_scope.extension = extension;
	return true;
}

void
dperm_budget_enter(DpermBudgetScope *scope)
{
	(void) open_at(scope, ERROR);
}

bool
dperm_budget_try_enter(DpermBudgetScope *scope)
{
	return open_at(scope, WARNING);
}

void
dperm_budget_enter_reading(DpermBudgetScope *scope)
{
	(void) open_at(scope, 0);
}

/* End. */
void
dperm_budget_leave(DpermBudgetScope *scope)
{
	open_scope.depth = scope->depth;
	SPI_finish();
	AtEOXact_GUC(false, scope->settings);
	SetUserIdAndSecContext(scope->user, scope->security);
}

/* Run a statement over our tables, within a scope; the number of rows. All of them come through here. */
uint64
dperm_budget_execute(const char *statement, int count, Oid *types, Datum *values, const char *nulls, bool read_only)
{
	int			result = SPI_execute_with_args(statement, count, types, values, nulls, read_only, 0);

	if (result < 0)
		elog(ERROR, "a statement over the tables of dperm failed: %s", SPI_result_code_string(result));
	return SPI_processed;
}

/* Run a query whose %s is our schema; the number of rows. */
uint64
dperm_budget_query(DpermBudgetScope *scope, const char *query, int count, Oid *types, Datum *values, const char *nulls)
{
	StringInfoData text;
	const char *at;

	initStringInfo(&text);
	while ((at = strstr(query, "%s")) != NULL)
	{
		appendBinaryStringInfo(&text, query, at - query);
		appendStringInfoString(&text, scope->schema);
		query = at + 2;
	}
	appendStringInfoString(&text, query);
	(void) dperm_budget_execute(text.data, count, types, values, nulls, false);
	pfree(text.data);
	return SPI_processed;
}

/* A column of a row of the last query as text, NULL for NULL. */
char *
dperm_budget_value(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/* A column that is an OID. */
Oid
dperm_budget_oid(uint64 row, int column)
{
	bool		isnull;

	return DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull));
}

/* A column that is an amount. */
DpermAmount
dperm_budget_amount(uint64 row, int column)
{
	char	   *text = dperm_budget_value(row, column);
	DpermAmount amount;

	if (text == NULL || !dperm_amount_read(text, &amount))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid amount \"%s\" in the table of budgets", text ? text : "NULL")));
	return amount;
}

/* An amount as an argument of a query. */
Datum
dperm_budget_numeric(DpermAmount amount)
{
	char		text[DPERM_AMOUNT_TEXT];

	dperm_amount_print(amount, text);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* A budget that there is not. The worker does not see what the session has not committed. */
static void
raise_no_budget(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("budget \"%s\" does not exist", name),
			 errhint(MyBgworkerEntry ? "One that this transaction has made has to be committed before it is charged." :
					 "dp_budgets lists budgets; dp_budget_create makes one.")));
}

/* A word of the table. */
static int
parse_word(const char *word, int (*parse) (const char *name))
{
	int			found = parse(word);

	if (found < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid word \"%s\" in the table of budgets", word)));
	return found;
}

#define BUDGET_SQL \
	"SELECT owner::oid, epsilon, delta, renyi_order, neighbours, unit, spent_epsilon, spent_delta, spent_divergence, spent_direct, since, id, budget" \
	" FROM %s.dp_budget_accounts WHERE "
#define BY_NAME_SQL BUDGET_SQL "budget OPERATOR(pg_catalog.=) $1 ORDER BY created, id LIMIT 1"
#define BY_ID_SQL BUDGET_SQL "id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid"

/* Read the budget that a query finds by a name or an id, or return NULL. */
static DpermBudget *
fetch_budget(DpermBudgetScope *scope, const char *query, const char *key)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(key)};
	DpermBudget *budget;
	char	   *unit;
	bool		isnull;

	if (dperm_budget_query(scope, query, 1, types, values, NULL) == 0)
		return NULL;
	budget = palloc0(sizeof(DpermBudget));
	budget->name = dperm_budget_value(0, 13);
	budget->id = dperm_budget_value(0, 12);
	budget->owner = dperm_budget_oid(0, 1);
	budget->filter.epsilon = dperm_budget_amount(0, 2);
	budget->filter.delta = dperm_budget_amount(0, 3);
	budget->filter.order = DatumGetFloat8(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 4, &isnull));
	budget->neighbours = (DpermNeighbours) parse_word(dperm_budget_value(0, 5), dperm_claim_neighbours_parse);
	unit = dperm_budget_value(0, 6);
	budget->has_unit = unit != NULL;
	if (unit)
		budget->unit = (DpermUnit) parse_word(unit, dperm_claim_unit_parse);
	budget->spent.epsilon = dperm_budget_amount(0, 7);
	budget->spent.delta = dperm_budget_amount(0, 8);
	budget->spent.divergence = dperm_budget_amount(0, 9);
	budget->spent.direct = dperm_budget_amount(0, 10);
	budget->since = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 11, &isnull));
	return budget;
}

/* Read a budget. */
DpermBudget *
dperm_budget_find(DpermBudgetScope *scope, const char *name, bool lock)
{
	return fetch_budget(scope, lock ? BY_NAME_SQL " FOR UPDATE" : BY_NAME_SQL, name);
}

/* Read a budget, or raise. */
DpermBudget *
dperm_budget_get(DpermBudgetScope *scope, const char *name, bool lock)
{
	DpermBudget *budget = dperm_budget_find(scope, name, lock);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* Read a budget by its id, or raise. */
DpermBudget *
dperm_budget_get_by_id(DpermBudgetScope *scope, const char *id, const char *name, bool lock)
{
	DpermBudget *budget = fetch_budget(scope, lock ? BY_ID_SQL " FOR UPDATE" : BY_ID_SQL, id);

	if (budget == NULL)
		raise_no_budget(name);
	return budget;
}

/* The owner and its members; superusers are members of all roles. */
void
dperm_budget_check_owner(const DpermBudget *budget, Oid role)
{
	if (!has_privs_of_role(role, budget->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of budget \"%s\"", budget->name)));
}

/* A budget of the role's own, locked. Nobody else gets as far as the lock, which could make the owner wait. */
DpermBudget *
dperm_budget_get_own(DpermBudgetScope *scope, const char *name, Oid role)
{
	DpermBudget *budget;

	dperm_budget_check_owner(dperm_budget_get(scope, name, false), role);
	budget = dperm_budget_get(scope, name, true);
	dperm_budget_check_owner(budget, role);
	return budget;
}

/* Settle the unit. */
void
dperm_budget_settle_unit(DpermBudgetScope *scope, DpermBudget *budget, DpermUnit unit)
{
	Oid			types[] = {TEXTOID, TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id), CStringGetTextDatum(dperm_claim_unit_name(unit))};

	if (budget->has_unit && budget->unit != unit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("budget \"%s\" counts %ss, not %ss", budget->name, dperm_claim_unit_name(budget->unit), dperm_claim_unit_name(unit)),
				 errhint("All relations that charge a budget have the same unit of privacy. Create another budget for this one.")));
	if (budget->has_unit)
		return;
	if (dperm_budget_query(scope, "UPDATE %s.dp_budget_accounts SET unit = $2 WHERE id = $1::uuid", 2, types, values, NULL) != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
	budget->has_unit = true;
	budget->unit = unit;
}

/* The name of a role, or its OID if it is gone. */
static const char *
role_name(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return name ? name : psprintf("%u", role);
}

/* The number of the next line, in the newest state, whatever the snapshot of the transaction is. */
int64
dperm_budget_next_entry(DpermBudgetScope *scope, const char *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget)};
	bool		isnull;

	PushActiveSnapshot(GetLatestSnapshot());
	(void) dperm_budget_execute(psprintf("SELECT coalesce(max(entry), 0) + 1 FROM %s.dp_ledger_entries WHERE budget = $1", scope->schema), 1, types, values, NULL, true);
	PopActiveSnapshot();
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

/* A text for the ledger, cut between characters if it is too long. */
static const char *
clip_details(const char *text)
{
	int			len = strlen(text);

	if (len <= DPERM_BUDGET_DETAILS)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, len, DPERM_BUDGET_DETAILS - (int) strlen("...")), text);
}

/* Append a line. Whoever does holds a lock on the budget's row, so that numbers have no gaps. */
void
dperm_budget_append(DpermBudgetScope *scope, const DpermBudgetLine *line)
{
	Oid			types[] = {TEXTOID, TEXTOID, NAMEOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID, TEXTOID, INT8OID, TEXTOID};
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types) + 1];
	const char *texts[] = {line->budget, line->act, NULL, line->function, line->relation, line->neighbours, line->unit, NULL, NULL, NULL, NULL, NULL, line->details ? clip_details(line->details) : NULL, NULL, line->id};

	StaticAssertStmt(lengthof(texts) == lengthof(types), "a text for each argument");
	for (int i = 0; i < lengthof(types); i++)
	{
		nulls[i] = texts[i] ? ' ' : 'n';
		values[i] = texts[i] ? CStringGetTextDatum(texts[i]) : (Datum) 0;
	}
	nulls[lengthof(types)] = '\0';
	values[2] = DirectFunctionCall1(namein, CStringGetDatum(role_name(line->role)));
	nulls[2] = ' ';
	if (line->epsilon)
	{
		values[7] = dperm_budget_numeric(*line->epsilon);
		nulls[7] = ' ';
	}
	if (line->delta)
	{
		values[8] = dperm_budget_numeric(*line->delta);
		nulls[8] = ' ';
	}
	if (line->charge)
	{
		values[9] = dperm_budget_numeric(line->charge->divergence);
		values[10] = dperm_budget_numeric(line->charge->direct);
		nulls[9] = nulls[10] = ' ';
	}
	if (line->left)
	{
		values[11] = dperm_budget_numeric(*line->left);
		nulls[11] = ' ';
	}
	values[13] = Int64GetDatum(dperm_budget_next_entry(scope, line->budget));
	nulls[13] = ' ';
	if (dperm_budget_query(scope,
						   "INSERT INTO %s.dp_ledger_entries (budget_id, budget, entry, act, role, function, relation, neighbours, unit, epsilon, delta, divergence, direct, epsilon_left, details)"
						   " SELECT coalesce($15::uuid, (SELECT a.id FROM %s.dp_budget_accounts AS a WHERE a.budget = $1 ORDER BY a.created, a.id LIMIT 1)),"
						   " $1, $14, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13",
						   lengthof(types), types, values, nulls) != 1)
		elog(ERROR, "could not write to the ledger of budget \"%s\"", line->budget);
}

/* An act of management that has no amounts. */
void
dperm_budget_note(DpermBudgetScope *scope, const char *budget, const char *act, Oid role, const char *relation, const char *details)
{
	DpermBudgetLine line = {.budget = budget, .act = act, .role = role, .relation = relation, .details = details};

	dperm_budget_append(scope, &line);
}
