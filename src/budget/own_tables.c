/*
 * own_tables.c: statements over the extension's tables.
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
#include "catalog/pg_class.h"
#include "catalog/pg_event_trigger.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/known_tree.h"
#include "budget/own_tables.h"
#include "relation/relation.h"

/*
 * The schema of the extension, InvalidOid if it is not installed in this
 * database, or not committed.
 */
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
	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(catalog, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return schema;
}

/* The number of the top-level transaction, regardless of subtransactions. */
static LocalTransactionId
top_transaction(void)
{
#if PG_VERSION_NUM >= 170000
	return MyProc->vxid.lxid;
#else
	return MyProc->lxid;
#endif
}

/* The triggers that our script creates, and the functions of the same names. */
static struct
{
	const char *name;
	int16		events;
	Oid			function;		/* as found in this transaction */
	LocalTransactionId transaction;
} our_triggers[] = {
	{"dperm_table_guard",
	 TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE},
	{"dperm_ledger_guard", TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE},
	{"dperm_replica_guard",
	 TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_ROW}};

/* Is a function the one of this trigger of ours? */
static bool
is_our_function(int which, Oid function, Oid extension)
{
	const char *name;

	if (our_triggers[which].function == function &&
		our_triggers[which].transaction == top_transaction())
		return true;
	name = get_func_name(function);
	if (name == NULL || strcmp(name, our_triggers[which].name) != 0 ||
		getExtensionOfObject(ProcedureRelationId, function) != extension)
		return false;
	our_triggers[which].function = function;
	our_triggers[which].transaction = top_transaction();
	return true;
}

/*
 * Is a trigger one that our script has created? Another trigger with the same
 * function could have a condition, which may be any code, or skip rows.
 */
static bool
is_ours(const Trigger *trigger, Oid extension)
{
	for (int i = 0; i < lengthof(our_triggers); i++)
		if (strcmp(trigger->tgname, our_triggers[i].name) == 0)
			return is_our_function(i, trigger->tgfoid, extension) &&
				   trigger->tgtype == (our_triggers[i].events | TRIGGER_TYPE_BEFORE) &&
				   trigger->tgqual == NULL && trigger->tgnattr == 0 && trigger->tgnargs == 0 &&
				   !trigger->tgisinternal && !trigger->tgdeferrable;
	return false;
}

/*
 * What is wrong with the triggers of one of our tables: the name of a trigger
 * that is not ours, or, with *idle, that of one of ours that would not fire.
 * NULL if nothing is wrong.
 */
static const char *
trigger_fault(Relation relation, Oid extension, bool *idle)
{
	bool		guarded = false;
	bool		appended =
		strncmp(RelationGetRelationName(relation), "dp_ledger_", strlen("dp_ledger_")) != 0;

	/* a copy: looking at a trigger may read the relation's entry in the cache anew */
	TriggerDesc *triggers = CopyTriggerDesc(relation->trigdesc);

	*idle = false;
	for (int i = 0; triggers && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (!is_ours(trigger, extension))
			return pstrdup(trigger->tgname);

		/*
		 * pg_restore --disable-triggers leaves them enabled, but not ENABLE
		 * ALWAYS
		 */
		if (trigger->tgenabled == TRIGGER_FIRES_ALWAYS ||
			trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN)
		{
			guarded |= strcmp(trigger->tgname, "dperm_table_guard") == 0;
			appended |= strcmp(trigger->tgname, "dperm_ledger_guard") == 0;
		}
	}
	*idle = !(guarded && appended);
	return !*idle ? NULL : guarded ? "dperm_ledger_guard" : "dperm_table_guard";
}

/*
 * Are all triggers ours, and would ours fire? Adding rules, policies or indexes
 * requires more than a privilege.
 */
static bool
check_triggers(Relation relation, Oid extension, int level)
{
	bool		idle;
	const char *table = RelationGetRelationName(relation);
	const char *trigger = trigger_fault(relation, extension, &idle);

	if (trigger && idle)
		ereport(level,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("trigger \"%s\" on table \"%s\" is disabled or missing", trigger, table),
				 errhint("A superuser must enable it: ALTER TABLE %s ENABLE ALWAYS TRIGGER %s.",
						 quote_qualified_identifier(
							 get_namespace_name(RelationGetNamespace(relation)), table),
						 trigger)));
	else if (trigger)
		ereport(level,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("trigger \"%s\" on table \"%s\" does not belong to extension "
						"dperm", trigger, table),
				 errhint("A superuser must drop it, and should revoke all privileges on the "
						 "table.")));
	return trigger == NULL;
}

/* The same for all our tables. */
static bool
is_guarded(Oid schema, Oid extension, int level)
{
	static const char *const tables[] = {"dp_budget_accounts",	   "dp_budget_grants",
										 "dp_ledger_entries",	   "dp_ledger_releases",
										 "dp_protected_relations", "dp_protected_columns"};
	bool		guarded = true;

	for (int i = 0; guarded && i < lengthof(tables); i++)
	{
		Oid			table = get_relname_relid(tables[i], schema);
		Relation	relation =
			OidIsValid(table) ?
				table_open(table, RecoveryInProgress() ? AccessShareLock : RowExclusiveLock) :
				NULL;

		if (relation == NULL)
			continue;
		guarded = check_triggers(relation, extension, level);

		/*
		 * keep the lock, so that no trigger is created before the end of the
		 * transaction. We have no foreign keys, whose triggers would be
		 * internal.
		 */
		table_close(relation, NoLock);
	}
	return guarded;
}

/*
 * Raise an error if a table of ours has a trigger that is not ours; for NULL,
 * if any of them has.
 */
void
dperm_own_tables_check_triggers(Relation table)
{
	Oid			extension = get_extension_oid("dperm", false);

	if (table)
		(void) check_triggers(table, extension, ERROR);
	else
		(void) is_guarded(extension_schema(extension), extension, ERROR);
}

/* Find one of our tables, or raise an error. */
Oid
dperm_own_tables_find(const char *name)
{
	Oid			extension = get_extension_oid("dperm", true);
	Oid			schema = extension_schema(extension);
	Oid			table = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;

	if (!OidIsValid(schema))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension dperm is not installed in this database"),
				 errhint("Run CREATE EXTENSION dperm and commit.")));
	if (!OidIsValid(table) || getExtensionOfObject(RelationRelationId, table) != extension)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension dperm in this database is incomplete"),
				 errdetail("It has no table \"%s\".", name)));
	return table;
}

/*
 * The open scopes, and the (sub)transaction of the outermost one: an error ends
 * both.
 *
 * Our statements refer to our tables by name, and run as the owner of the
 * extension, who is a superuser. Whoever owns the schema can rename it at any
 * moment and provide other tables under the same names. So each statement is
 * checked after parse analysis, which may happen again between its preparation
 * and its execution: all relations in it have to be ours or PostgreSQL's.
 */
static struct
{
	int			depth;
	LocalTransactionId transaction;
	SubTransactionId sub;
	Oid			extension;
}			open_scope;

static post_parse_analyze_hook_type previous_hook;

/*
 * Is a scope open? This includes subtransactions that began within it, as in an
 * exception block of PL/pgSQL.
 */
static bool
is_open(void)
{
	return open_scope.depth > 0 && open_scope.transaction == top_transaction() &&
		   SubTransactionIsActive(open_scope.sub);
}

/* Is a function neither ours nor PostgreSQL's? */
static bool
is_foreign_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId &&
		   getExtensionOfObject(ProcedureRelationId, function) != open_scope.extension;
}

/* Raise an error for a statement with any other relation or function. */
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
					 errmsg("table \"%s\" does not belong to extension "
							"dperm", get_rel_name(relation)),
					 errdetail("The schema of the extension has been renamed, or a trigger on one "
							   "of its tables runs commands."),
					 errhint("Make a superuser the owner of the schema, revoke all privileges on "
							 "the tables of the extension, and try again.")));
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
				 errmsg("a function in a statement over the tables of dperm does not belong to "
						"extension dperm")));
	return expression_tree_walker(node, check_relations, context);
}

#if PG_VERSION_NUM >= 190000
typedef const JumbleState Jumble;
#else
typedef JumbleState Jumble;
#endif

/* Parse analysis hook. */
static void
statement_analysed(ParseState *state, Query *query, Jumble *jumble)
{
	if (previous_hook)
		previous_hook(state, query, jumble);
	if (!is_open())
		return;
	dperm_known_tree_check((Node *) query, ExtensionRelationId, open_scope.extension);
	(void) check_relations((Node *) query, NULL);
}

/* Install the hook when the library is loaded. */
void
dperm_own_tables_init(void)
{
	previous_hook = post_parse_analyze_hook;
	post_parse_analyze_hook = statement_analysed;
}

/* The event triggers that our script creates, disabled. */
static const char *const our_event_triggers[] = {"dperm_owners_drop", "dperm_registry_drop",
											 "dperm_registry_before", "dperm_registry_alter"};

/* Is an event trigger disabled? */
static bool
is_disabled(const char *name)
{
	HeapTuple	tuple = SearchSysCache1(EVENTTRIGGERNAME, CStringGetDatum(name));
	bool		disabled = HeapTupleIsValid(tuple) &&
		((Form_pg_event_trigger) GETSTRUCT(tuple))->evtenabled == TRIGGER_DISABLED;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return disabled;
}

/*
 * From the first budget or protected relation on, DDL commands are tracked.
 * Before that, no command depends on dperm, not even on its library being
 * installed.
 */
void
dperm_own_tables_follow_commands(void)
{
	Oid			user;
	int			security;

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(dperm_relation_owner(dperm_own_tables_find("dp_budget_accounts")),
						   security | SECURITY_LOCAL_USERID_CHANGE);
	for (int i = 0; i < lengthof(our_event_triggers); i++)
	{
		AlterEventTrigStmt *statement;

		if (!is_disabled(our_event_triggers[i]))
			continue;

		/* the first transaction enables them, and others wait for it to end */
		LockRelationOid(EventTriggerRelationId, ShareUpdateExclusiveLock);
		if (!is_disabled(our_event_triggers[i]))
			continue;
		statement = makeNode(AlterEventTrigStmt);
		statement->trigname = pstrdup(our_event_triggers[i]);
		statement->tgenabled = TRIGGER_FIRES_ON_ORIGIN;
		(void) AlterEventTrigger(statement);
	}
	SetUserIdAndSecContext(user, security);
}

/* Can the owner of our tables access them? */
bool
dperm_own_tables_reachable(void)
{
	Oid			schema = extension_schema(get_extension_oid("dperm", true));
	Oid			owner = OidIsValid(schema) ?
					dperm_relation_owner(get_relname_relid("dp_budget_accounts", schema)) :
					InvalidOid;
	AclResult	result;

	if (!OidIsValid(owner))
		return true;
	result = object_aclcheck(NamespaceRelationId, schema, owner, ACL_USAGE);
	if (result != ACLCHECK_OK)
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\", which owns the tables of dperm, cannot use their schema",
						GetUserNameFromId(owner, false)),
				 errdetail("Budgets and protection cannot be changed, and changes of protected "
						   "relations are not tracked."),
				 errhint("GRANT USAGE ON SCHEMA %s "
						 "TO %s.",
						 quote_identifier(get_namespace_name(schema)),
						 quote_identifier(GetUserNameFromId(owner, false)))));
	return result == ACLCHECK_OK;
}

/*
 * Open a scope if all triggers are ours; with level 0, regardless of triggers.
 */
static bool
open_at(DpermTablesScope *scope, int level)
{
	Oid			accounts = dperm_own_tables_find("dp_budget_accounts");
	Oid			extension = get_extension_oid("dperm", false);
	Oid			schema = get_rel_namespace(accounts);

	if (level != 0 && !is_guarded(schema, extension, level))
		return false;
	scope->schema_oid = schema;
	scope->caller = CurrentMemoryContext;
	scope->schema = pstrdup(quote_identifier(get_namespace_name(schema)));
	GetUserIdAndSecContext(&scope->user, &scope->security);
	SetUserIdAndSecContext(dperm_relation_owner(accounts),
						   scope->security | SECURITY_LOCAL_USERID_CHANGE);
	scope->settings = NewGUCNestLevel();
	(void) set_config_option("search_path",
							 "pg_catalog, "
							 "pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	scope->depth = is_open() ? open_scope.depth : 0;
	if (scope->depth == 0)
	{
		open_scope.transaction = top_transaction();
		open_scope.sub = GetCurrentSubTransactionId();
	}
	open_scope.depth = scope->depth + 1;
	open_scope.extension = extension;
	return true;
}

void
dperm_own_tables_enter(DpermTablesScope *scope)
{
	(void) open_at(scope, ERROR);
}

bool
dperm_own_tables_try_enter(DpermTablesScope *scope)
{
	return open_at(scope, WARNING);
}

void
dperm_own_tables_enter_reading(DpermTablesScope *scope)
{
	(void) open_at(scope, 0);
}

/* Close a scope. */
void
dperm_own_tables_leave(DpermTablesScope *scope)
{
	open_scope.depth = scope->depth;
	SPI_finish();
	AtEOXact_GUC(false, scope->settings);
	SetUserIdAndSecContext(scope->user, scope->security);
}

/*
 * Run a statement over our tables within a scope; returns the number of rows.
 * All statements come through here.
 */
uint64
dperm_own_tables_execute(const char *statement, int count, Oid *types, Datum *values,
						 const char *nulls, bool read_only)
{
	int			result = SPI_execute_with_args(statement, count, types, values, nulls,
											   read_only, 0);

	if (result < 0)
		elog(ERROR, "a statement over the tables of dperm "
					"failed: %s", SPI_result_code_string(result));
	return SPI_processed;
}

/* Run a query in which %s is our schema; returns the number of rows. */
uint64
dperm_own_tables_query(DpermTablesScope *scope, const char *query, int count, Oid *types,
					   Datum *values, const char *nulls)
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
	(void) dperm_own_tables_execute(text.data, count, types, values, nulls, false);
	pfree(text.data);
	return SPI_processed;
}

/* A column of a row of the last query as text, NULL for NULL. */
char *
dperm_own_tables_value(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/* A column that is an OID. */
Oid
dperm_own_tables_oid(uint64 row, int column)
{
	bool		isnull;

	return DatumGetObjectId(
		SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull));
}

/* A column of OIDs. */
List *
dperm_own_tables_oids(uint64 count, int column)
{
	List	   *result = NIL;

	for (uint64 i = 0; i < count; i++)
		result = lappend_oid(result, dperm_own_tables_oid(i, column));
	return result;
}

/* An amount as an argument of a query. */
Datum
dperm_own_tables_numeric(DpermAmount amount)
{
	char		text[DPERM_AMOUNT_TEXT];

	dperm_amount_print(amount, text);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}
