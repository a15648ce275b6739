/*
 * registry_events.c: the event trigger that keeps registrations of protected
 * relations up to date.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/portal.h"

#include "entry/dropped_roles.h"
#include "protect/kept_unit_rows.h"
#include "protect/registry.h"
#include "relation/cluster.h"
#include "relation/location.h"
#include "relation/relation.h"

PG_FUNCTION_INFO_V1(dperm_registry_sync);

/*
 * Prefix of the application names of connections between servers of a cluster.
 */
#define CITUS_NAMES "citus_"

/* What an event has touched. */
#define COMMANDS_SQL(function) \
	"SELECT e.objid FROM pg_catalog." function "() AS e WHERE e.classid OPERATOR(pg_catalog.=) " \
											   "'pg_catalog.pg_class'::pg_catalog.regclass"
#define DROPPED_SQL COMMANDS_SQL("pg_event_trigger_dropped_objects")
#define ALTERED_SQL COMMANDS_SQL("pg_event_trigger_ddl_commands")

/*
 * Relations that have become children of others whose units are kept for
 * budgets: unkept (child, parent, number, is_unit, kept_by), for those that
 * have none of their own.
 */
#define UNKEPT_SQL(relations) \
	"parents (child, parent) AS (SELECT i.inhrelid, i.inhparent FROM pg_catalog.pg_inherits AS i " \
	"WHERE i.inhrelid OPERATOR(pg_catalog.=) ANY (" relations ") " \
	"UNION SELECT p.child, i.inhparent FROM parents AS p, pg_catalog.pg_inherits AS i WHERE " \
	"i.inhrelid OPERATOR(pg_catalog.=) p.parent), " \
	"unkept AS (SELECT DISTINCT ON (p.child, c.kept_by) p.child, p.parent, c.number, c.is_unit, " \
	"c.kept_by FROM parents AS p, dperm.dp_protected_columns AS c " \
	"WHERE c.relation OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT parent FROM parents)) AND " \
	"c.relation OPERATOR(pg_catalog.=) p.parent AND c.kept_by IS NOT NULL " \
	"AND NOT EXISTS (SELECT FROM dperm.dp_protected_columns AS k WHERE k.relation " \
	"OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT child FROM parents)) " \
	"AND k.relation OPERATOR(pg_catalog.=) p.child AND k.kept_by OPERATOR(pg_catalog.=) " \
	"c.kept_by)) "

/* The same for the relations of a command and their children. */
#define CHILDREN_SQL \
	"WITH RECURSIVE touched (oid) AS (" ALTERED_SQL " UNION SELECT i.inhrelid FROM touched AS t, " \
	"pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) t.oid), " \
	UNKEPT_SQL("ARRAY(SELECT oid FROM touched)") "SELECT u.child FROM unkept AS u"

/* The registered relations that a command has dropped. */
#define GONE_SQL \
	"SELECT r.relation::pg_catalog.oid FROM dperm.dp_protected_relations AS r WHERE r.relation " \
	"OPERATOR(pg_catalog.=) ANY (ARRAY(" DROPPED_SQL ")) " \
	"UNION SELECT c.relation::pg_catalog.oid FROM dperm.dp_protected_columns AS c WHERE " \
	"c.relation OPERATOR(pg_catalog.=) ANY (ARRAY(" DROPPED_SQL "))"

/*
 * Relations that were dropped while event triggers were disabled, or in a
 * transaction that did not see the registration.
 */
#define LOST_SQL \
	" UNION SELECT r.relation::pg_catalog.oid FROM dperm.dp_protected_relations AS r WHERE " \
	"r.pending IS NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid " \
	"OPERATOR(pg_catalog.=) r.relation)" \
	" UNION SELECT c.relation::pg_catalog.oid FROM dperm.dp_protected_columns AS c WHERE " \
	"c.pending IS NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid " \
	"OPERATOR(pg_catalog.=) c.relation)"

/* Is a registration pending? That is rare. */
static bool
any_pending(DpermTablesScope *scope)
{
	return dperm_own_tables_query(scope, "SELECT FROM dperm.dp_protected_relations WHERE pending "
										 "IS NOT NULL UNION ALL SELECT FROM "
										 "dperm.dp_protected_columns WHERE pending IS NOT "
										 "NULL LIMIT 1",
							  0, NULL, NULL, NULL) > 0;
}

/* A copy of a list in the memory context of the caller of a scope. */
static List *
kept_list(DpermTablesScope *scope, List *list)
{
	MemoryContext spi = MemoryContextSwitchTo(scope->caller);

	list = list_copy(list);
	MemoryContextSwitchTo(spi);
	return list;
}

/*
 * The relations that a command has created, renamed or given to another owner,
 * and that pending registrations wait for: those restored before their
 * relations.
 */
static List *
awaited_relations(DpermTablesScope *scope)
{
	uint64		count =
		any_pending(scope) ? dperm_own_tables_query(scope, ALTERED_SQL, 0, NULL, NULL, NULL) : 0;

	return kept_list(scope, dperm_registry_awaited(scope, dperm_own_tables_oids(count, 1)));
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
	count = dperm_own_tables_query(&scope, "SELECT FROM dperm.dp_protected_relations UNION ALL "
										   "SELECT FROM dperm.dp_protected_columns "
										   "LIMIT 1", 0, NULL, NULL, NULL);
	if (count > 0)
		count = dperm_own_tables_execute(!drop ? CHILDREN_SQL :
										 has_privs_of_role(scope.user, GetUserId()) ?
											 GONE_SQL LOST_SQL :
											 GONE_SQL,
										 0, NULL, NULL, NULL, false);
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

/*
 * The relation that a command names, before it is executed; InvalidOid if there
 * is none. Privileges are checked by the command itself.
 */
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

/* The relations that a query returns, within a scope. */
static List *
found_relations(const char *sql, Oid argument)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(argument)};

	return dperm_own_tables_oids(
		dperm_own_tables_execute(sql, lengthof(types), types, values, NULL, true), 1);
}

/* The schema that a command renames; InvalidOid for other commands. */
static Oid
renamed_schema(Node *command)
{
	const RenameStmt *rename = (const RenameStmt *) command;

	return IsA(command, RenameStmt) && rename->renameType == OBJECT_SCHEMA ?
			   get_namespace_oid(rename->subname, true) :
			   InvalidOid;
}

/*
 * The extension whose objects a command moves; InvalidOid for other commands.
 */
static Oid
moved_extension(Node *command)
{
	const AlterObjectSchemaStmt *move = (const AlterObjectSchemaStmt *) command;

	return IsA(command, AlterObjectSchemaStmt) && move->objectType == OBJECT_EXTENSION ?
			   get_extension_oid(strVal(move->object), true) :
			   InvalidOid;
}

/*
 * Before relations, or columns of them, get other names or owners: make pending
 * registrations with the present ones refer to them. Most do already, but there
 * is no event for REASSIGN OWNED. The relations are the one that a command
 * names, with those that inherit from it or have its type, or all of a schema
 * or an extension. Names are looked up as by the command itself. If the caller
 * lacks privileges, the command raises an error, and nothing is done here.
 */
static void
settle_named(Node *command)
{
	Oid			role = GetUserId();
	Oid			relation = named_relation(command);
	Oid			schema = renamed_schema(command);
	Oid			extension = moved_extension(command);
	List	   *awaited = NIL;
	DpermTablesScope scope;
	ListCell   *cell;

	if (OidIsValid(schema) && !has_privs_of_role(role, dperm_cluster_schema_owner(schema)))
		return;
	dperm_own_tables_enter(&scope);
	if (any_pending(&scope))
	{
		if (OidIsValid(schema))
			awaited = found_relations("SELECT c.oid FROM pg_catalog.pg_class AS c WHERE "
									  "c.relnamespace OPERATOR(pg_catalog.=) $1", schema);
		else if (OidIsValid(extension))
			awaited = found_relations("SELECT d.objid FROM pg_catalog.pg_depend AS d WHERE "
									  "d.classid OPERATOR(pg_catalog.=) "
									  "'pg_catalog.pg_class'::pg_catalog.regclass "
									  "AND d.refclassid OPERATOR(pg_catalog.=) "
									  "'pg_catalog.pg_extension'::pg_catalog.regclass AND "
									  "d.refobjid OPERATOR(pg_catalog.=) $1 AND d.deptype "
									  "OPERATOR(pg_catalog.=) 'e'", extension);
		else if (OidIsValid(relation))
			awaited = found_relations("WITH RECURSIVE heirs (oid) AS (SELECT c.oid FROM "
									  "pg_catalog.pg_class AS c, pg_catalog.pg_class AS n WHERE "
									  "n.oid OPERATOR(pg_catalog.=) $1 "
									  "AND (c.oid OPERATOR(pg_catalog.=) n.oid OR (n.relkind "
									  "OPERATOR(pg_catalog.=) 'c' AND c.reloftype "
									  "OPERATOR(pg_catalog.=) n.reltype)) "
									  "UNION SELECT i.inhrelid FROM heirs AS h, "
									  "pg_catalog.pg_inherits AS i WHERE i.inhparent "
									  "OPERATOR(pg_catalog.=) h.oid) SELECT h.oid FROM "
									  "heirs AS h", relation);
		awaited = kept_list(&scope, dperm_registry_awaited(&scope, awaited));
	}
	dperm_own_tables_leave(&scope);
	if (awaited == NIL)
		return;
	dperm_own_tables_enter(&scope);
	foreach(cell, awaited)
		if (OidIsValid(schema) || has_privs_of_role(role, dperm_relation_owner(lfirst_oid(cell))))
			(void) dperm_registry_settle(&scope, lfirst_oid(cell), false);
	dperm_own_tables_leave(&scope);
}

/* A command as it was sent: Citus adds the schema to unqualified names. */
static Node *
as_sent(Node *command, Node *sent)
{
	Node	   *copy = copyObject(command);
	ListCell   *name,
			   *sent_name;

	if (IsA(copy, RenameStmt) && IsA(sent, RenameStmt) && ((RenameStmt *) copy)->relation &&
		((RenameStmt *) sent)->relation && ((RenameStmt *) sent)->relation->schemaname == NULL)
		((RenameStmt *) copy)->relation->schemaname = NULL;
	if (IsA(copy, DropStmt) && IsA(sent, DropStmt) &&
		list_length(((DropStmt *) copy)->objects) == list_length(((DropStmt *) sent)->objects))
		forboth(name, ((DropStmt *) copy)->objects, sent_name, ((DropStmt *) sent)->objects)
			if (IsA(lfirst(name), List) && IsA(lfirst(sent_name), List) &&
				list_length(lfirst(sent_name)) == 1 && list_length(lfirst(name)) > 1)
				lfirst(name) = list_make1(llast(lfirst(name)));
	return copy;
}

/*
 * Is a command the one that the client has sent, not part of another one?
 * Connections between servers of a cluster are known by their application
 * names.
 */
static bool
is_own(Node *command)
{
	PlannedStmt *sent;

	if (application_name && strncmp(application_name, CITUS_NAMES, strlen(CITUS_NAMES)) == 0)
		return false;
	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		return false;
	sent = linitial_node(PlannedStmt, ActivePortal->stmts);
	return sent->utilityStmt && equal(sent->utilityStmt, as_sent(command, sent->utilityStmt));
}

/* Does a command give a relation the name of a shard of Citus? */
static bool
makes_shard(Node *command)
{
	const RenameStmt *rename = (const RenameStmt *) command;
	const char *separator;

	/* names of columns and constraints do not matter */
	if (!IsA(command, RenameStmt) || rename->relation == NULL || rename->subname != NULL)
		return false;
	separator = strrchr(rename->newname, '_');
	return separator && separator[1] &&
		   strspn(separator + 1, "0123456789") == strlen(separator + 1);
}

/*
 * Raise an error if a protected table is about to be replaced by one that would
 * not be protected. SPLIT PARTITION and MERGE PARTITIONS drop the old table.
 * Citus drops it, or makes it a shard of the new one. Both are commands within a
 * command of the user. Functions of users can contain such commands, too.
 */
static void
check_replaced(const EventTriggerData *event)
{
	bool		drop = strcmp(event->event, "sql_drop") == 0;
	bool		before = strcmp(event->event, "ddl_command_start") == 0;
	bool		splits = drop && IsA(event->parsetree, AlterTableStmt);
	Oid			types[] = {drop ? BOOLOID : OIDOID};
	Datum		values[] = {BoolGetDatum(splits)};
	char	   *name = NULL;
	DpermTablesScope scope;

	if (!splits &&
		(!(drop || (before && makes_shard(event->parsetree))) || !dperm_location_has_citus() ||
		 is_own(event->parsetree)))
		return;
	if (before)
		values[0] = ObjectIdGetDatum(named_relation(event->parsetree));
	dperm_own_tables_enter(&scope);
	if (dperm_own_tables_query(&scope, drop ?
						   "SELECT e.object_identity FROM "
						   "pg_catalog.pg_event_trigger_dropped_objects() AS e, "
						   "dperm.dp_protected_relations AS r "
						   "WHERE e.classid OPERATOR(pg_catalog.=) "
						   "'pg_catalog.pg_class'::pg_catalog.regclass AND e.objsubid "
						   "OPERATOR(pg_catalog.=) 0 AND (e.object_type "
						   "OPERATOR(pg_catalog.=) 'table' OR NOT $1) "
						   "AND r.relation OPERATOR(pg_catalog.=) e.objid AND r.budget IS NOT NULL "
						   "ORDER BY 1 LIMIT 1" :
						   "SELECT r.relation::pg_catalog.text FROM dperm.dp_protected_relations "
						   "AS r WHERE r.relation OPERATOR(pg_catalog.=) $1 AND r.budget IS NOT "
						   "NULL LIMIT 1",
						   lengthof(types), types, values, NULL) > 0)
		name = MemoryContextStrdup(scope.caller, dperm_own_tables_value(0, 1));
	dperm_own_tables_leave(&scope);
	if (name)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("protected relation %s cannot be %s within another "
						"command", name, drop ? "dropped" : "renamed like a shard"),
				 splits ? errdetail("Its rows go to another table, which would not be protected.") :
						  errdetail("Citus does so to put another table in its place, which would "
									"not be protected."),
				 errhint("Call dp_unprotect first, and dp_protect afterwards, with the same budget "
						 "and unit.")));
}

/*
 * A new partition or child has the unit of its parent, unless it has its own.
 */
static void
keep_children(DpermTablesScope *scope, ArrayType *relations)
{
	Oid			types[] = {OIDARRAYOID};
	Datum		values[] = {PointerGetDatum(relations)};
	uint64		count = dperm_own_tables_execute(
		"WITH RECURSIVE " UNKEPT_SQL(
			"$1") "SELECT u.child, u.is_unit, u.kept_by, a.attnum FROM unkept AS u LEFT JOIN "
				  "pg_catalog.pg_attribute AS n "
				  "ON n.attrelid OPERATOR(pg_catalog.=) u.parent AND "
				  "n.attnum OPERATOR(pg_catalog.=) u.number AND n.attnum "
				  "OPERATOR(pg_catalog.>) 0 AND NOT n.attisdropped "
				  "LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid "
				  "OPERATOR(pg_catalog.=) u.child AND a.attname "
				  "OPERATOR(pg_catalog.=) n.attname "
				  "AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT "
				  "a.attisdropped",
		lengthof(types), types, values, NULL, false);
	DpermKeptUnit *units = palloc0(sizeof(*units) * Max(count, 1));
	char	  **budgets = palloc(sizeof(char *) * Max(count, 1));

	for (uint64 i = 0; i < count; i++)
	{
		char	   *number = dperm_own_tables_value(i, 4);

		units[i].relation = dperm_own_tables_oid(i, 1);
		units[i].mixed = strcmp(dperm_own_tables_value(i, 2), "t") != 0;
		units[i].unit = number ? (AttrNumber) atoi(number) : 0;
		budgets[i] = dperm_own_tables_value(i, 3);
	}
	for (uint64 i = 0; i < count; i++)
		dperm_kept_unit_rows_add(scope, budgets[i], list_make1(&units[i]));
}

/* Delete the registrations of dropped relations. */
static void
remove_dropped(DpermTablesScope *scope, ArrayType *relations)
{
	static const char *const statements[] = {
		"DELETE FROM dperm.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) ANY "
		"($1) "
		"AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid OPERATOR(pg_catalog.=) "
		"r.relation)",
		"DELETE FROM dperm.dp_protected_columns AS c WHERE c.relation OPERATOR(pg_catalog.=) ANY "
		"($1) AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid "
		"OPERATOR(pg_catalog.=) c.relation)"
	};
	Oid			types[] = {OIDARRAYOID};
	Datum		values[] = {PointerGetDatum(relations)};

	for (int i = 0; i < lengthof(statements); i++)
		(void) dperm_own_tables_query(scope, statements[i], lengthof(types), types, values, NULL);
}

/*
 * dperm_registry_sync(): after a command that drops, creates or alters
 * relations, and before one that renames them. Only the relations of the
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
	check_replaced(event);
	if (strcmp(event->event, "ddl_command_start") == 0)
	{
		settle_named(event->parsetree);
		PG_RETURN_NULL();
	}
	drop = strcmp(event->event, "sql_drop") == 0;
	relations = concerned_relations(drop, &orphans, &awaited);
	if (relations == NULL && !orphans && awaited == NIL)
		PG_RETURN_NULL();
	dperm_own_tables_enter(&scope);
	foreach(cell, awaited)
		(void) dperm_registry_settle(&scope, lfirst_oid(cell), false);
	if (relations && drop)
		remove_dropped(&scope, relations);
	else if (relations)
		keep_children(&scope, relations);
	if (orphans)
		dperm_dropped_roles_orphans(&scope);
	dperm_own_tables_leave(&scope);
	PG_RETURN_NULL();
}
