/*
 * registry_sync.c: the event trigger that keeps registrations of protected relations up to date.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"

#include "guard.h"
#include "registry.h"

PG_FUNCTION_INFO_V1(dp_registry_sync);

/* Where the numbers of the columns of a relation are right: not in a copy of the database. */
#define PLACE_SQL(relation) "($1 OPERATOR(pg_catalog.||) " relation "::pg_catalog.oid::pg_catalog.text)"

/* The relations of a command: those that it names, their children, and the tables of a type. */
#define TOUCHED_SQL \
	"WITH RECURSIVE touched (oid) AS (%2$s UNION SELECT n.oid FROM touched AS t, LATERAL (" \
	"SELECT i.inhrelid AS oid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) t.oid " \
	"UNION ALL SELECT p.oid FROM pg_catalog.pg_class AS c, pg_catalog.pg_class AS p WHERE c.oid OPERATOR(pg_catalog.=) t.oid " \
	"AND c.relkind OPERATOR(pg_catalog.=) 'c' AND p.reloftype OPERATOR(pg_catalog.=) c.reltype) AS n) "

/* The relation that a command names, before it is done; InvalidOid if there is none. Rights are the command's own business. */
static Oid
named_relation(Node *command)
{
	RangeVar   *name = NULL;

	if (IsA(command, AlterTableStmt))
		name = ((AlterTableStmt *) command)->relation;
	else if (IsA(command, RenameStmt))
		name = ((RenameStmt *) command)->relation;
	else if (IsA(command, AlterObjectSchemaStmt))
		name = ((AlterObjectSchemaStmt *) command)->relation;
	return name ? RangeVarGetRelid(name, NoLock, true) : InvalidOid;
}

/*
 * dp_registry_sync(): after a command that drops or alters something, and before one that may rename a column that is known by its name
 * alone. What has been dropped is removed wherever it is. Names and numbers are mended for the relations of the command alone, which it has locked anyway: a row
 * of another relation would stay locked until this transaction ends, and whoever alters that relation would wait. This
 * also mends what a restored dump, or a time with disabled event triggers, has left behind. It writes nothing if nothing has changed.
 */
Datum
dp_registry_sync(PG_FUNCTION_ARGS)
{
	static const char *const dropped[] = {
		"DELETE FROM %1$s.dp_protected_relations WHERE relation OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT r.relation::pg_catalog.oid FROM %1$s.dp_protected_relations AS r "
		"WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid OPERATOR(pg_catalog.=) r.relation) FOR UPDATE SKIP LOCKED))",
		"DELETE FROM %1$s.dp_protected_columns WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT c.ctid FROM %1$s.dp_protected_columns AS c "
		"WHERE NOT EXISTS (SELECT FROM %1$s.dp_protected_relations AS r, "
		"pg_catalog.pg_attribute AS a WHERE r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped "
		"AND CASE WHEN r.place OPERATOR(pg_catalog.=) " PLACE_SQL("r.relation") " "
		"THEN a.attnum OPERATOR(pg_catalog.=) c.number ELSE a.attname OPERATOR(pg_catalog.=) c.name END) FOR UPDATE SKIP LOCKED))"
	};

	/* numbers before the place that says they are right */
	static const char *const altered[] = {
		TOUCHED_SQL
		"UPDATE %1$s.dp_protected_columns AS c SET name = a.attname FROM touched, %1$s.dp_protected_relations AS r, "
		"pg_catalog.pg_attribute AS a WHERE c.relation OPERATOR(pg_catalog.=) touched.oid AND r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND r.place OPERATOR(pg_catalog.=) " PLACE_SQL("r.relation") " "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attnum OPERATOR(pg_catalog.=) c.number "
		"AND a.attname OPERATOR(pg_catalog.<>) c.name",
		TOUCHED_SQL
		"UPDATE %1$s.dp_protected_columns AS c SET number = a.attnum FROM touched, %1$s.dp_protected_relations AS r, "
		"pg_catalog.pg_attribute AS a WHERE c.relation OPERATOR(pg_catalog.=) touched.oid AND r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND r.place OPERATOR(pg_catalog.<>) " PLACE_SQL("r.relation") " "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attname OPERATOR(pg_catalog.=) c.name "
		"AND a.attnum OPERATOR(pg_catalog.<>) c.number",
		TOUCHED_SQL
		"UPDATE %1$s.dp_protected_relations AS r SET place = " PLACE_SQL("r.relation") " FROM touched "
		"WHERE r.relation OPERATOR(pg_catalog.=) touched.oid AND r.place OPERATOR(pg_catalog.<>) " PLACE_SQL("r.relation")
	};
	EventTriggerData *event;
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {dperm_registry_place(), ObjectIdGetDatum(InvalidOid)};
	const char *named = NULL;
	DpermBudgetScope scope;
	bool		any;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("dp_registry_sync can only be called by an event trigger")));
	event = (EventTriggerData *) fcinfo->context;
	if (strcmp(event->event, "ddl_command_start") == 0)
	{
		/* in the search path of the caller */
		values[1] = ObjectIdGetDatum(named_relation(event->parsetree));
		named = "SELECT $2";
	}
	else if (strcmp(event->event, "ddl_command_end") == 0)
		named = "SELECT e.objid FROM pg_catalog.pg_event_trigger_ddl_commands() AS e WHERE e.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass";
	if (!dperm_budget_try_enter(&scope))
		PG_RETURN_NULL();

	/* most databases protect nothing, and drop and alter a lot */
	any = dperm_budget_query(&scope, "SELECT FROM %s.dp_protected_relations LIMIT 1", 0, NULL, NULL, NULL) > 0;
	for (int i = 0; any && named == NULL && i < lengthof(dropped); i++)
		(void) dperm_budget_execute(psprintf(dropped[i], scope.schema), 1, types, values, NULL, false);
	for (int i = 0; any && named && i < lengthof(altered); i++)
		(void) dperm_budget_execute(psprintf(altered[i], scope.schema, named), lengthof(types), types, values, NULL, false);
	if (named)
		dperm_guard_orphans(&scope);
	dperm_budget_leave(&scope);
	PG_RETURN_NULL();
}
