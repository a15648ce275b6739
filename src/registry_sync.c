/*
 * registry_sync.c: the event trigger that keeps registrations of protected relations up to date.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/cmdtag.h"
#include "utils/acl.h"
#include "utils/array.h"

#include "guard.h"
#include "location.h"
#include "registry.h"
#include "utility.h"

PG_FUNCTION_INFO_V1(dp_registry_sync);

/* Where the numbers of the columns of a relation are right: not in a copy of the database. */
#define PLACE_SQL(relation) "($1 OPERATOR(pg_catalog.||) " relation "::pg_catalog.oid::pg_catalog.text)"

/* The parents of relations, and their parents, whose units are kept for budgets: units (child, name, is_unit, kept_by), for those that have none of their own. */
#define UNKEPT_SQL(relations, schema) \
	"parents (child, parent) AS (SELECT i.inhrelid, i.inhparent FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid OPERATOR(pg_catalog.=) ANY (" relations ") " \
	"UNION SELECT p.child, i.inhparent FROM parents AS p, pg_catalog.pg_inherits AS i WHERE i.inhrelid OPERATOR(pg_catalog.=) p.parent), " \
	"unkept AS (SELECT DISTINCT ON (p.child, c.kept_by) p.child, c.name, c.is_unit, c.kept_by FROM parents AS p, " schema ".dp_protected_columns AS c " \
	"WHERE c.relation OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT parent FROM parents)) AND c.relation OPERATOR(pg_catalog.=) p.parent AND c.kept_by IS NOT NULL " \
	"AND NOT EXISTS (SELECT FROM " schema ".dp_protected_columns AS k WHERE k.relation OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT child FROM parents)) " \
	"AND k.relation OPERATOR(pg_catalog.=) p.child AND k.kept_by OPERATOR(pg_catalog.=) c.kept_by)) "

/* The registered ones among the relations of a command: those that it names, or has dropped, their children, and the tables of a type; and those that have come to be children of registered ones. */
#define CONCERNED_SQL \
	"WITH RECURSIVE touched (oid) AS (%2$s UNION SELECT n.oid FROM touched AS t, LATERAL (" \
	"SELECT i.inhrelid AS oid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) t.oid " \
	"UNION ALL SELECT p.oid FROM pg_catalog.pg_class AS c, pg_catalog.pg_class AS p WHERE c.oid OPERATOR(pg_catalog.=) t.oid " \
	"AND c.relkind OPERATOR(pg_catalog.=) 'c' AND p.reloftype OPERATOR(pg_catalog.=) c.reltype) AS n), " UNKEPT_SQL("ARRAY(SELECT oid FROM touched)", "%1$s") \
	"SELECT u.child FROM unkept AS u UNION SELECT r.relation::pg_catalog.oid FROM %1$s.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT oid FROM touched))"

/* What was dropped while event triggers were disabled. */
#define LOST_SQL " UNION SELECT r.relation::pg_catalog.oid FROM %1$s.dp_protected_relations AS r WHERE r.pending IS NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid OPERATOR(pg_catalog.=) r.relation)"

/* What an event has touched, as a query over $1, the relation that a command names. */
#define COMMANDS_SQL(function) \
	"SELECT e.objid FROM pg_catalog." function "() AS e WHERE e.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"

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
 * The registered relations that a command concerns, as an array, NULL if there are none. Found without a lock that would stop anybody: most commands concern
 * none, and what they lock stays locked until their transaction ends. In *orphans, is there a budget to give away?
 */
static ArrayType *
concerned_relations(const EventTriggerData *event, bool *orphans)
{
	bool		before = strcmp(event->event, "ddl_command_start") == 0;
	bool		drop = strcmp(event->event, "sql_drop") == 0;
	Oid			types[] = {OIDOID};

	/* in the search path of the caller */
	Datum		values[] = {ObjectIdGetDatum(before ? named_relation(event->parsetree) : InvalidOid)};
	const char *named = before ? "SELECT $1" : drop ? COMMANDS_SQL("pg_event_trigger_dropped_objects") : COMMANDS_SQL("pg_event_trigger_ddl_commands");
	ArrayType  *found = NULL;
	DpermBudgetScope scope;
	uint64		count;

	dperm_budget_enter_reading(&scope);

	/* most databases protect nothing; and only a superuser, or whoever owns our tables, walks through all registrations */
	count = dperm_budget_query(&scope, "SELECT FROM %s.dp_protected_relations LIMIT 1", 0, NULL, NULL, NULL);
	if (count > 0)
		count = dperm_budget_execute(psprintf(drop && has_privs_of_role(scope.user, GetUserId()) ? CONCERNED_SQL LOST_SQL : CONCERNED_SQL, scope.schema, named),
									 lengthof(types), types, values, NULL, false);
	if (count > 0)
	{
		Datum	   *relations = palloc(sizeof(Datum) * count);
		MemoryContext spi;

		for (uint64 i = 0; i < count; i++)
			relations[i] = ObjectIdGetDatum(dperm_budget_oid(i, 1));
		spi = MemoryContextSwitchTo(scope.caller);
		found = construct_array(relations, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
		MemoryContextSwitchTo(spi);
	}
	*orphans = !drop && dperm_guard_has_orphans(&scope);
	dperm_budget_leave(&scope);
	return found;
}

/* Does a command name a relation as Citus names shards? */
static bool
makes_shard(Node *command)
{
	const RenameStmt *rename = (const RenameStmt *) command;
	const char *separator;

	/* the name of a column, or of a constraint, is something else */
	if (!IsA(command, RenameStmt) || rename->relation == NULL || rename->subname != NULL)
		return false;
	separator = strrchr(rename->newname, '_');
	return separator && separator[1] && strspn(separator + 1, "0123456789") == strlen(separator + 1);
}

/*
 * Raise if Citus is about to put another table in the place of a protected one, which would not be protected: it drops the old one, or makes it a shard of the new one. Both are commands
 * within a command of the user. Functions of users can have such commands, too.
 */
static void
check_replaced(const EventTriggerData *event)
{
	bool		drop = strcmp(event->event, "sql_drop") == 0;
	bool		before = strcmp(event->event, "ddl_command_start") == 0;
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(InvalidOid)};
	char	   *name = NULL;
	DpermBudgetScope scope;

	if (!(drop || (before && makes_shard(event->parsetree))) || !dperm_location_has_citus() || dperm_utility_is_own(event->parsetree))
		return;
	if (before)
		values[0] = ObjectIdGetDatum(named_relation(event->parsetree));
	dperm_budget_enter_reading(&scope);
	if (dperm_budget_query(&scope, drop ?
						   "SELECT e.object_identity FROM pg_catalog.pg_event_trigger_dropped_objects() AS e, %s.dp_protected_relations AS r "
						   "WHERE e.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND e.objsubid OPERATOR(pg_catalog.=) 0 "
						   "AND r.relation OPERATOR(pg_catalog.=) e.objid AND r.budget IS NOT NULL ORDER BY 1 LIMIT 1" :
						   "SELECT r.relation::pg_catalog.text FROM %s.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) $1 AND r.budget IS NOT NULL LIMIT 1",
						   drop ? 0 : lengthof(types), types, values, NULL) > 0)
		name = MemoryContextStrdup(scope.caller, dperm_budget_value(0, 1));
	dperm_budget_leave(&scope);
	if (name)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("protected relation %s cannot be %s within another command", name, drop ? "dropped" : "renamed like a shard"),
				 errdetail("Citus does so to put another table in its place, which would not be protected."),
				 errhint("Call dp_unprotect first, and dp_protect afterwards, with the same budget and unit.")));
}

/*
 * A relation has been made, and there may be registrations that were restored before it. It has to be a superuser who makes it, as a restore does: others could
 * have relations of theirs charged to a budget.
 */
static void
settle_created(void)
{
	Oid		   *made;
	uint64		count;
	DpermBudgetScope scope;
	bool		any;

	dperm_budget_enter_reading(&scope);
	any = dperm_budget_query(&scope, "SELECT FROM %s.dp_protected_relations WHERE pending IS NOT NULL LIMIT 1", 0, NULL, NULL, NULL) > 0;
	dperm_budget_leave(&scope);
	if (!any || !dperm_budget_try_enter(&scope))
		return;
	count = dperm_budget_query(&scope, COMMANDS_SQL("pg_event_trigger_ddl_commands"), 0, NULL, NULL, NULL);
	made = palloc(sizeof(Oid) * Max(count, 1));
	for (uint64 i = 0; i < count; i++)
		made[i] = dperm_budget_oid(i, 1);
	for (uint64 i = 0; i < count; i++)
		dperm_registry_settle(&scope, made[i]);
	dperm_budget_leave(&scope);
}

/* What has become a partition or a child has the unit of its parent, unless it has one. */
static void
keep_children(DpermBudgetScope *scope, ArrayType *relations)
{
	Oid			types[] = {OIDARRAYOID};
	Datum		values[] = {PointerGetDatum(relations)};
	uint64		count = dperm_budget_query(scope, "WITH RECURSIVE " UNKEPT_SQL("$1", "%s") "SELECT u.child, u.is_unit, u.kept_by, a.attnum FROM unkept AS u LEFT JOIN pg_catalog.pg_attribute AS a "
										   "ON a.attrelid OPERATOR(pg_catalog.=) u.child AND a.attname OPERATOR(pg_catalog.=) u.name AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped",
										   lengthof(types), types, values, NULL);
	DpermKeptUnit *units = palloc0(sizeof(*units) * Max(count, 1));
	char	  **budgets = palloc(sizeof(char *) * Max(count, 1));

	for (uint64 i = 0; i < count; i++)
	{
		char	   *number = dperm_budget_value(i, 4);

		units[i].relation = dperm_budget_oid(i, 1);
		units[i].mixed = strcmp(dperm_budget_value(i, 2), "t") != 0;
		units[i].unit = number ? (AttrNumber) atoi(number) : 0;
		budgets[i] = dperm_budget_value(i, 3);
	}
	for (uint64 i = 0; i < count; i++)
		dperm_registry_keep(scope, budgets[i], list_make1(&units[i]));
}

/*
 * dp_registry_sync(): after a command that drops or alters something, and before one that may rename a column that is known by its name
 * alone. What has been dropped is removed; names and numbers are mended. All that is done for the relations of the command alone, which it has locked anyway: a row
 * of another relation would stay locked until this transaction ends, and whoever alters that relation would wait. This
 * also mends what a restored dump, or a time with disabled event triggers, has left behind. It writes nothing if nothing has changed.
 */
Datum
dp_registry_sync(PG_FUNCTION_ARGS)
{
	static const char *const dropped[] = {
		"DELETE FROM %s.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) ANY ($2) "
		"AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid OPERATOR(pg_catalog.=) r.relation)",
		"DELETE FROM %s.dp_protected_columns AS c WHERE c.relation OPERATOR(pg_catalog.=) ANY ($2) "
		"AND NOT EXISTS (SELECT FROM %s.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) c.relation AND c.kept_by IS NOT NULL) "
		"AND NOT EXISTS (SELECT FROM %s.dp_protected_relations AS r, "
		"pg_catalog.pg_attribute AS a WHERE r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped "
		"AND CASE WHEN r.place OPERATOR(pg_catalog.=) " PLACE_SQL("r.relation") " "
		"THEN a.attnum OPERATOR(pg_catalog.=) c.number ELSE a.attname OPERATOR(pg_catalog.=) c.name END)",

		/* the unit of a table that is dropped is lost, whatever is called so later */
		"UPDATE %s.dp_protected_columns AS c SET name = '', number = 0 WHERE c.relation OPERATOR(pg_catalog.=) ANY ($2) AND c.kept_by IS NOT NULL AND c.number OPERATOR(pg_catalog.<>) 0 "
		"AND NOT EXISTS (SELECT FROM %s.dp_protected_relations AS r, pg_catalog.pg_attribute AS a WHERE r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped "
		"AND CASE WHEN r.place OPERATOR(pg_catalog.=) " PLACE_SQL("r.relation") " "
		"THEN a.attnum OPERATOR(pg_catalog.=) c.number ELSE a.attname OPERATOR(pg_catalog.=) c.name END)"
	};

	static const char *const altered[] = {
		/* numbers before the place that says they are right */
		"UPDATE %s.dp_protected_columns AS c SET name = a.attname FROM %s.dp_protected_relations AS r, "
		"pg_catalog.pg_attribute AS a WHERE c.relation OPERATOR(pg_catalog.=) ANY ($2) AND r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND r.place OPERATOR(pg_catalog.=) " PLACE_SQL("r.relation") " "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attnum OPERATOR(pg_catalog.=) c.number "
		"AND a.attname OPERATOR(pg_catalog.<>) c.name",
		"UPDATE %s.dp_protected_columns AS c SET number = a.attnum FROM %s.dp_protected_relations AS r, "
		"pg_catalog.pg_attribute AS a WHERE c.relation OPERATOR(pg_catalog.=) ANY ($2) AND r.relation OPERATOR(pg_catalog.=) c.relation "
		"AND r.place OPERATOR(pg_catalog.<>) " PLACE_SQL("r.relation") " "
		"AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attname OPERATOR(pg_catalog.=) c.name "
		"AND a.attnum OPERATOR(pg_catalog.<>) c.number",
		"UPDATE %s.dp_protected_relations AS r SET place = " PLACE_SQL("r.relation") " "
		"WHERE r.relation OPERATOR(pg_catalog.=) ANY ($2) AND r.place OPERATOR(pg_catalog.<>) " PLACE_SQL("r.relation")
	};
	EventTriggerData *event;
	Oid			types[] = {TEXTOID, OIDARRAYOID};
	Datum		values[] = {dperm_registry_place(), (Datum) 0};
	ArrayType  *relations;
	DpermBudgetScope scope;
	bool		drop,
				orphans;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("dp_registry_sync can only be called by an event trigger")));
	event = (EventTriggerData *) fcinfo->context;
	drop = strcmp(event->event, "sql_drop") == 0;
	if (!drop && strncmp(GetCommandTagName(event->tag), "CREATE ", 7) == 0)
	{
		if (superuser())
			settle_created();
		if (event->tag != CMDTAG_CREATE_TABLE && event->tag != CMDTAG_CREATE_FOREIGN_TABLE)
			PG_RETURN_NULL();
	}
	check_replaced(event);
	relations = concerned_relations(event, &orphans);
	if ((relations == NULL && !orphans) || !dperm_budget_try_enter(&scope))
		PG_RETURN_NULL();
	values[1] = PointerGetDatum(relations);
	if (relations && !drop)
		keep_children(&scope, relations);
	for (int i = 0; relations && i < (drop ? lengthof(dropped) : lengthof(altered)); i++)
		(void) dperm_budget_query(&scope, drop ? dropped[i] : altered[i], lengthof(types), types, values, NULL);
	if (orphans)
		dperm_guard_orphans(&scope);
	dperm_budget_leave(&scope);
	PG_RETURN_NULL();
}
