/*
 * own_tables.c: statements over the extension's tables.
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_event_trigger.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "budget/own_tables.h"
#include "relation/relation.h"

PG_FUNCTION_INFO_V1(dperm_follow_commands);

/*
 * Find one of our tables, or raise an error. Nobody but a superuser creates
 * anything in our schema; but without the extension, it may be anybody's.
 */
Oid
dperm_own_tables_find(const char *name)
{
	Oid			schema = get_namespace_oid("dperm", true);
	Oid			table = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
	Oid			extension = OidIsValid(table) ?
		getExtensionOfObject(RelationRelationId, table) : InvalidOid;

	if (!OidIsValid(extension) || extension != get_extension_oid("dperm", true))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension dperm is not installed in this database"),
				 errhint("Run CREATE EXTENSION dperm and commit.")));
	return table;
}

/* The event triggers that our script creates, disabled. */
static const char *const our_event_triggers[] = {"dperm_owners_drop", "dperm_registry_drop",
												 "dperm_registry_alter"};

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

/* The trigger of our tables that does so: a restore inserts rows without us. */
Datum
dperm_follow_commands(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "dperm_follow_commands: not called by trigger manager");
	dperm_own_tables_follow_commands();
	return PointerGetDatum(NULL);
}

/* Open a scope. */
void
dperm_own_tables_enter(DpermTablesScope *scope)
{
	scope->caller = CurrentMemoryContext;
	scope->owner = dperm_relation_owner(dperm_own_tables_find("dp_budget_accounts"));
	GetUserIdAndSecContext(&scope->user, &scope->security);
	SetUserIdAndSecContext(scope->owner, scope->security | SECURITY_LOCAL_USERID_CHANGE);
	scope->settings = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
}

/* Close a scope. */
void
dperm_own_tables_leave(DpermTablesScope *scope)
{
	SPI_finish();
	AtEOXact_GUC(false, scope->settings);
	SetUserIdAndSecContext(scope->user, scope->security);
}

/*
 * Run a statement over our tables; returns the number of rows. All statements
 * come through here.
 */
uint64
dperm_own_tables_query(DpermTablesScope *scope, const char *query, int count, Oid *types,
					   Datum *values, const char *nulls)
{
	int			result;

	if (GetUserId() != scope->owner)
		elog(ERROR, "a statement over the tables of dperm outside of its scope");
	result = SPI_execute_with_args(query, count, types, values, nulls, false, 0);
	if (result < 0)
		elog(ERROR, "a statement over the tables of dperm "
					"failed: %s", SPI_result_code_string(result));
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
