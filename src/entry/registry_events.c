/*
 * registry_events.c: the event trigger that keeps registrations of protected
 * relations up to date.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "entry/dropped_roles.h"
#include "protect/registry.h"
#include "relation/relation.h"

PG_FUNCTION_INFO_V1(dperm_registry_sync);

/* What an event has touched. */
#define COMMANDS_SQL(function) \
	"SELECT e.objid FROM " function "() AS e WHERE e.classid = 'pg_class'::regclass"
#define DROPPED_SQL COMMANDS_SQL("pg_event_trigger_dropped_objects")
#define ALTERED_SQL COMMANDS_SQL("pg_event_trigger_ddl_commands")

/* The registered relations that a command has dropped. */
#define GONE_SQL \
	"SELECT r.relation::oid FROM dperm.dp_protected_relations AS r WHERE r.relation = ANY " \
	"(ARRAY(" DROPPED_SQL "))"

/*
 * Relations that were dropped while event triggers were disabled, or in a
 * transaction that did not see the registration.
 */
#define LOST_SQL \
	" UNION SELECT r.relation::oid FROM dperm.dp_protected_relations AS r WHERE r.relation <> 0 " \
	"AND NOT EXISTS (SELECT FROM pg_class AS p WHERE p.oid = r.relation)"

/*
 * The registered tables whose unit a command has renamed. Columns are found by
 * their index: with others of them, a command has nothing to do.
 */
#define RENAMED_SQL \
	"SELECT r.relation::oid FROM dperm.dp_protected_columns AS c, " \
	"dperm.dp_protected_relations AS r, pg_attribute AS a " \
	"WHERE c.relation = ANY (ARRAY(" ALTERED_SQL ")) AND c.is_unit AND r.id = c.registered_by " \
	"AND a.attrelid = r.relation AND a.attnum = c.number AND NOT a.attisdropped " \
	"AND a.attname <> r.unit"

/* A name as in object_name.c. */
#define NAME_SQL(schema, name) \
	"'\"' || replace(" schema ", '\"', '\"\"') || '\".\"' || " \
	"replace(" name ", '\"', '\"\"') || '\"'"

/*
 * Those that a command has created or altered, and that pending registrations
 * wait for. Indexes, sequences and types share the names of relations.
 */
#define AWAITED_SQL \
	"SELECT a.oid FROM (SELECT c.oid, " NAME_SQL("n.nspname", "c.relname") " AS name " \
	"FROM pg_class AS c, pg_namespace AS n WHERE n.oid = c.relnamespace " \
	"AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid = ANY (ARRAY(" ALTERED_SQL "))) AS a " \
	"WHERE EXISTS (SELECT FROM dperm.dp_protected_relations AS r WHERE r.pending = a.name) " \
	"OR EXISTS (SELECT FROM dperm.dp_protected_columns AS p WHERE p.pending = a.name)"

/* Is a registration pending? That is rare. */
static bool
any_pending(DpermTablesScope *scope)
{
	return dperm_own_tables_query(scope,
								  "SELECT FROM dperm.dp_protected_relations "
								  "WHERE pending IS NOT NULL "
								  "UNION ALL SELECT FROM dperm.dp_protected_columns "
								  "WHERE pending IS NOT NULL LIMIT 1", 0, NULL, NULL, NULL) > 0;
}

/*
 * The relations that a command has created, renamed or given to another owner,
 * and that pending registrations wait for: those restored before their
 * relations.
 */
static List *
awaited_relations(DpermTablesScope *scope)
{
	MemoryContext spi;
	List	   *awaited;

	if (!any_pending(scope))
		return NIL;
	awaited = dperm_own_tables_oids(dperm_own_tables_query(scope, AWAITED_SQL, 0, NULL, NULL, NULL),
									1);
	spi = MemoryContextSwitchTo(scope->caller);
	awaited = list_copy(awaited);
	MemoryContextSwitchTo(spi);
	return awaited;
}

/*
 * The relations that something has to be done for, as an array; NULL if there
 * are none. No lock is taken that would block anybody: most commands concern
 * none, and locks are held until the end of the transaction. *orphans: is there
 * a budget to give away? *awaited: those of the relations that pending
 * registrations wait for.
 */
static ArrayType *
concerned_relations(bool drop, bool *orphans, List **awaited)
{
	ArrayType  *found = NULL;
	DpermTablesScope scope;
	uint64		count;

	dperm_own_tables_enter(&scope);

	/*
	 * most databases protect nothing; and only a superuser, or the owner of our
	 * tables, scans all registrations
	 */
	count = dperm_own_tables_query(&scope, "SELECT FROM dperm.dp_protected_relations LIMIT 1",
								   0, NULL, NULL, NULL);
	if (count > 0)
		count = dperm_own_tables_query(&scope, !drop ? RENAMED_SQL :
									   has_privs_of_role(scope.user, GetUserId()) ?
										   GONE_SQL LOST_SQL :
										   GONE_SQL,
									   0, NULL, NULL, NULL);
	if (count > 0)
	{
		Datum	   *relations = palloc(sizeof(Datum) * count);
		MemoryContext spi;

		for (uint64 i = 0; i < count; i++)
			relations[i] = ObjectIdGetDatum(dperm_own_tables_oid(i, 1));
		spi = MemoryContextSwitchTo(scope.caller);
		found = construct_array(relations, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
		MemoryContextSwitchTo(spi);
	}
	*orphans = !drop && dperm_dropped_roles_has_orphans(&scope);
	*awaited = drop ? NIL : awaited_relations(&scope);
	dperm_own_tables_leave(&scope);
	return found;
}

/* A unit has got another name. */
static void
rename_units(DpermTablesScope *scope, ArrayType *relations)
{
	Oid			types[] = {OIDARRAYOID};
	Datum		values[] = {PointerGetDatum(relations)};

	(void) dperm_own_tables_query(
		scope,
		"UPDATE dperm.dp_protected_relations AS r SET unit = a.attname FROM "
		"dperm.dp_protected_columns AS c, pg_attribute AS a WHERE r.relation = ANY ($1) AND "
		"c.registered_by = r.id AND c.is_unit AND a.attrelid = r.relation AND a.attnum = c.number",
		lengthof(types), types, values, NULL);
}

/*
 * End the registrations of dropped relations. Their rows stay, with the name,
 * for which the budget keeps the unit.
 */
static void
end_dropped(DpermTablesScope *scope, ArrayType *relations)
{
	Oid			types[] = {OIDARRAYOID, TEXTOID};
	Datum		values[] = {PointerGetDatum(relations),
							CStringGetTextDatum(GetUserNameFromId(scope->user, false))};

	(void) dperm_own_tables_query(
		scope,
		"DELETE FROM dperm.dp_protected_columns AS c WHERE c.relation = ANY ($1) "
		"AND NOT EXISTS (SELECT FROM pg_class AS p WHERE p.oid = c.relation)",
		lengthof(types), types, values, NULL);
	(void) dperm_own_tables_query(
		scope,
		"UPDATE dperm.dp_protected_relations AS r SET relation_name = '', budget = NULL, "
		"ended = coalesce(r.ended, clock_timestamp()), ended_by = coalesce(r.ended_by, $2::name), "
		"dropped_name = (SELECT " NAME_SQL("e.schema_name", "e.object_name") " "
		"FROM pg_event_trigger_dropped_objects() AS e WHERE e.classid = 'pg_class'::regclass "
		"AND e.objid = r.relation AND e.objsubid = 0) "
		"WHERE r.relation = ANY ($1) AND NOT EXISTS (SELECT FROM pg_class AS p "
		"WHERE p.oid = r.relation)",
		lengthof(types), types, values, NULL);
}

/*
 * dperm_registry_sync(): after a command that drops, creates or alters
 * relations. Only the relations of the
 * command are processed, which it has locked anyway: a row of another relation
 * would stay locked until the end of this transaction, and whoever alters that
 * relation would wait. Columns need no processing: renamed ones keep their
 * numbers, and dropped ones are ignored.
 */
Datum
dperm_registry_sync(PG_FUNCTION_ARGS)
{
	const EventTriggerData *event;
	ArrayType  *relations;
	DpermTablesScope scope;
	List	   *awaited;
	ListCell   *cell;
	bool		drop,
				orphans;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("dperm_registry_sync can only be called by an event trigger")));
	event = (EventTriggerData *) fcinfo->context;
	drop = strcmp(event->event, "sql_drop") == 0;
	relations = concerned_relations(drop, &orphans, &awaited);
	if (relations == NULL && !orphans && awaited == NIL)
		PG_RETURN_NULL();
	dperm_own_tables_enter(&scope);
	foreach(cell, awaited)
		(void) dperm_registry_settle(&scope, lfirst_oid(cell), false);
	if (relations && drop)
		end_dropped(&scope, relations);
	else if (relations)
		rename_units(&scope, relations);
	if (orphans)
		dperm_dropped_roles_orphans(&scope);
	dperm_own_tables_leave(&scope);
	PG_RETURN_NULL();
}
