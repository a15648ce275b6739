/*
 * location.c: where the rows of a relation are, and what roles can do on the
 * servers of a Citus cluster.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "nodes/readfuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "relation/relation.h"

/*
 * A catalog of Citus, in a schema that only superusers can write to, and the
 * indexed column by which its rows are found.
 */
typedef struct CitusCatalog
{
	const char *name,
			   *column,
			   *index;
	RegProcedure equals;
} CitusCatalog;

static const CitusCatalog citus_tables = {
	"pg_dist_partition", "logicalrelid", "pg_dist_partition_logical_relid_index", F_OIDEQ
};
static const CitusCatalog shards_of_table = {
	"pg_dist_shard", "logicalrelid", "pg_dist_shard_logicalrelid_index", F_OIDEQ
};
static const CitusCatalog shards_by_number = {
	"pg_dist_shard", "shardid", "pg_dist_shard_shardid_index", F_INT8EQ
};

/* which server of the cluster this is: one row */
static const CitusCatalog citus_server = {"pg_dist_local_group"};

/*
 * The rows of a catalog in which its column has a value, or all rows if it has
 * none; NIL if there is no such catalog.
 */
static List *
citus_rows(const CitusCatalog *catalog, Datum value)
{
	Oid			relation = get_relname_relid(catalog->name, PG_CATALOG_NAMESPACE);
	Oid			index;
	List	   *rows = NIL;
	Relation	table;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(relation))
		return NIL;
	table = table_open(relation, AccessShareLock);
	if (catalog->column)
		ScanKeyInit(&key, get_attnum(relation, catalog->column), BTEqualStrategyNumber,
					catalog->equals, value);
	index = catalog->index ? get_relname_relid(catalog->index, PG_CATALOG_NAMESPACE) : InvalidOid;
	scan = systable_beginscan(table, index, OidIsValid(index), NULL, catalog->column ? 1 : 0, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		rows = lappend(rows, DatumGetHeapTupleHeader(
						   heap_copy_tuple_as_datum(tuple, RelationGetDescr(table))));
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return rows;
}

/* Does this database have Citus? */
static bool
has_citus(void)
{
	return OidIsValid(get_relname_relid(citus_tables.name, PG_CATALOG_NAMESPACE));
}

/* The name of a shard; a long one ends with a hash. */
static char *
shard_name(const char *table, int64 shard)
{
	char	   *number = psprintf("_" INT64_FORMAT, shard);
	int			length = strlen(table);
	int			room = NAMEDATALEN - (int) strlen(number);

	if (length < room)
		return psprintf("%s%s", table, number);
	return psprintf("%.*s_%.8x%s", pg_mbcliplen(table, length, room - 10), table,
					DatumGetUInt32(hash_any((const unsigned char *) table, length)), number);
}

/*
 * The shard of a row of Citus and the table that it belongs to; false if it is
 * not on this server. Anyone can give a table the name of a shard: a real one
 * has the owner of its table.
 */
static bool
find_shard(HeapTupleHeader row, Oid *shard, Oid *table)
{
	bool		isnull;
	int64		number = DatumGetInt64(GetAttributeByName(row, "shardid", &isnull));
	char	   *name;

	*table = DatumGetObjectId(GetAttributeByName(row, "logicalrelid", &isnull));
	name = get_rel_name(*table);
	if (name == NULL)
		return false;
	*shard = get_relname_relid(shard_name(name, number), get_rel_namespace(*table));
	return OidIsValid(*shard) && dperm_relation_owner(*shard) == dperm_relation_owner(*table);
}

/*
 * The tables on this server that are Citus shards of the relations; and, if
 * there are shards among the relations, the tables that they belong to.
 */
List *
dperm_location_shards(List *relations)
{
	List	   *found = NIL;
	ListCell   *cell,
			   *row;

	foreach(cell, relations)
	{
		Oid			relation = lfirst_oid(cell);
		char	   *name = get_rel_name(relation);
		char	   *end = name ? strrchr(name, '_') : NULL;
		Oid			shard,
					table;

		foreach(row, citus_rows(&shards_of_table, ObjectIdGetDatum(relation)))
			if (find_shard(lfirst(row), &shard, &table))
				found = lappend_oid(found, shard);

		/* the name of a shard ends with its number */
		if (end)
			foreach(row, citus_rows(&shards_by_number, Int64GetDatum(strtoll(end + 1, NULL, 10))))
				if (find_shard(lfirst(row), &shard, &table) && shard == relation &&
					!list_member_oid(relations, table))
					found = lappend_oid(found, table);
	}
	return found;
}

/*
 * The relations that a relation reads, if a Citus table is among them, else NIL.
 * The rows of a materialized view are local, whatever they were computed from.
 */
static List *
read_on_citus(Oid relation)
{
	List	   *relations;
	ListCell   *cell;

	if (!has_citus() ||
		get_rel_relkind(relation) == RELKIND_MATVIEW)
		return NIL;
	relations = dperm_relation_sources(relation);
	foreach(cell, relations)
		if (citus_rows(&citus_tables, ObjectIdGetDatum(lfirst_oid(cell))) != NIL)
			return relations;
	return NIL;
}

/*
 * Is a relation a Citus table that keeps all rows with the same value of a
 * column on one server? That holds for the distribution column, and if all rows
 * are on one server.
 */
bool
dperm_location_keeps_together(Oid relation, AttrNumber column)
{
	List	   *rows = get_rel_relkind(relation) == RELKIND_FOREIGN_TABLE ? NIL :
		citus_rows(&citus_tables, ObjectIdGetDatum(relation));
	bool		isnull;
	char		method;
	Datum		key;
	Node	   *var;

	if (rows == NIL)
		return false;

	/* h: by the hash of a column; n: all rows on one server, or on each server */
	method = DatumGetChar(GetAttributeByName(linitial(rows), "partmethod", &isnull));
	if (isnull || method != 'h')
		return !isnull && method == 'n';
	key = GetAttributeByName(linitial(rows), "partkey", &isnull);
	var = isnull ? NULL : stringToNode(TextDatumGetCString(key));
	return var && IsA(var, Var) && ((Var *) var)->varattno == column;
}

/*
 * Raise an error on a worker of a Citus cluster. Only the coordinator knows
 * what is protected: on a worker, the rows of a protected relation would be
 * like any others.
 */
void
dperm_location_check_coordinator(void)
{
	List	   *rows = citus_rows(&citus_server, (Datum) 0);
	bool		isnull;

	if (rows != NIL && DatumGetInt32(GetAttributeByName(linitial(rows), "groupid", &isnull)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this server is a worker of a Citus cluster"),
				 errhint("Connect to the coordinator: it knows what is protected, and keeps the "
						 "budgets.")));
}

/*
 * For a protected relation: is it on a Citus cluster? Raises an error if a role
 * without the owner's rights can replace its shards, which are read with the rights
 * of the owner: whoever owns its schema can drop shards on a worker and create views
 * of the same names. CREATE on the schema is not enough for that: the names of
 * shards are taken. Partitions belong to the owner (dperm_view_check_table).
 */
bool
dperm_location_protected_on_citus(Oid relation)
{
	List	   *relations = read_on_citus(relation);
	Oid			owner = dperm_relation_owner(relation);
	ListCell   *cell;

	foreach(cell, relations)
	{
		Oid			schema = get_rel_namespace(lfirst_oid(cell));
		Oid			holder = dperm_relation_oid_of(NamespaceRelationId, schema,
												   Anum_pg_namespace_nspowner);

		if (holder == ROLE_PG_DATABASE_OWNER)
			holder = dperm_relation_oid_of(DatabaseRelationId, MyDatabaseId,
										   Anum_pg_database_datdba);
		if (!has_privs_of_role(holder, owner))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("schema \"%s\" of protected table \"%s\" belongs to role \"%s\"",
							get_namespace_name(schema), get_rel_name(lfirst_oid(cell)),
							GetUserNameFromId(holder, false)),
					 errhint("It must belong to the table's owner, \"%s\", to a superuser or to a "
							 "role with the owner's rights: whoever owns it can replace shards.",
							 GetUserNameFromId(owner, false))));
	}
	return relations != NIL;
}

/*
 * Warn about what a relation is exposed to that is protected in a database with
 * Citus: roles that create objects, which Citus creates on the workers as a
 * superuser; and the statistics that sessions of its owner collect there.
 */
void
dperm_location_warn(Oid relation)
{
	if (!has_citus())
		return;
	ereport(WARNING,
			(errmsg("roles that can create objects can have Citus run commands as a superuser on "
					"the workers"),
			 errdetail("Roles that can log in to the workers see which locks sessions of the "
					   "table's owner hold there."),
			 errhint("Analysts must not have CREATE on any schema or on the database, and must not "
					 "be able to log in to the workers.")));
	if (read_on_citus(relation) != NIL)
		ereport(WARNING,
				(errmsg("statistics on the workers show how many long values a call on \"%s\" "
						"reads, unless track_counts is off for its owner",
						get_rel_name(relation)),
				 errdetail("Workers read shards in sessions of the table's owner."),
				 errhint("A superuser should run: ALTER ROLE %s SET track_counts = off",
						 quote_identifier(GetUserNameFromId(dperm_relation_owner(relation),
															false)))));
}

/*
 * The connection timeout. It must be shorter than that of everything before a
 * charge, or a server that does not respond would look like a lock that is not
 * granted.
 */
#define CONNECT_TIMEOUT_MS "5000"

/*
 * Raise an error unless the owner, whose login is used to read protected
 * tables, can connect to every server of the cluster that may have shards. Citus
 * keeps the connections for later use. To be called in a worker before the
 * charge, so that nothing is charged if a server is down.
 */
void
dperm_location_connect(Oid owner)
{
	char	   *server = NULL;
	MemoryContext context = CurrentMemoryContext;
	int			settings = NewGUCNestLevel();
	Oid			user;
	int			security;

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(owner,
						   security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	(void) set_config_option("citus.node_connection_timeout", CONNECT_TIMEOUT_MS, PGC_SUSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();

	/* CASE makes sure that no other connection is tried */
	if (SPI_execute("SELECT pg_catalog.concat(n.nodename, ':', n.nodeport) FROM "
					"pg_catalog.pg_dist_node AS n"
					" WHERE CASE WHEN n.isactive AND n.groupid OPERATOR(pg_catalog.<>) 0 AND "
					"n.noderole::pg_catalog.text OPERATOR(pg_catalog.=) 'primary'"
					" THEN NOT pg_catalog.citus_check_connection_to_node(n.nodename, n.nodeport) "
					"ELSE false END LIMIT 1",
					false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the servers of the cluster");
	if (SPI_processed > 0)
		server = MemoryContextStrdup(context,
									 SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1));
	SPI_finish();
	AtEOXact_GUC(false, settings);
	SetUserIdAndSecContext(user, security);
	if (server)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not connect to server %s of the cluster as role "
						"\"%s\"", server, GetUserNameFromId(owner, false)),
				 errdetail("Protected tables are read with the login of their owner. Nothing has "
						   "been charged."),
				 errhint("The server must be running, and the role needs LOGIN and an entry in its "
						 "pg_hba.conf.")));
}

/*
 * Is a relation a foreign table of postgres_fdw whose server options list
 * dperm?
 */
static bool
is_on_server(Oid relation)
{
	ForeignServer *server;
	ListCell   *cell;

	if (get_rel_relkind(relation) != RELKIND_FOREIGN_TABLE)
		return false;
	server = GetForeignServer(GetForeignTable(relation)->serverid);
	if (strcmp(GetForeignDataWrapper(server->fdwid)->fdwname, "postgres_fdw") != 0)
		return false;
	foreach(cell, server->options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		List	   *names;
		ListCell   *name;

		if (strcmp(option->defname, "extensions") == 0 &&
			SplitIdentifierString(pstrdup(defGetString(option)), ',', &names))
			foreach(name, names)
				if (strcmp(lfirst(name), "dperm") == 0)
					return true;
	}
	return false;
}

/*
 * Does a relation have columns that are computed when they are read? Read
 * through its parent, the parent's expressions apply, otherwise its own.
 */
static bool
has_computed_columns(Oid relation)
{
#if PG_VERSION_NUM >= 180000
	Relation	table = table_open(relation, NoLock);
	TupleConstr *constraints = RelationGetDescr(table)->constr;
	bool		result = constraints && constraints->has_generated_virtual;

	table_close(table, NoLock);
	return result;
#else
	return false;
#endif
}

/*
 * The leaf partitions of a table, if some of them are on other servers and a
 * query may read all of them in place of the table: the caller may read them,
 * and rows look the same either way. Else NIL.
 */
static List *
foreign_parts(Oid relation)
{
	List	   *parts = NIL;
	bool		on_server = false;
	ListCell   *cell;

	if (get_rel_relkind(relation) != RELKIND_PARTITIONED_TABLE)
		return NIL;
	foreach(cell, find_all_inheritors(relation, AccessShareLock, NULL))
	{
		Oid			part = lfirst_oid(cell);

		if (check_enable_rls(part, InvalidOid, true) != RLS_NONE || has_computed_columns(part) ||
			object_aclcheck(NamespaceRelationId, get_rel_namespace(part), GetUserId(),
							ACL_USAGE) != ACLCHECK_OK ||
			pg_class_aclcheck(part, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return NIL;
		if (get_rel_relkind(part) == RELKIND_PARTITIONED_TABLE)
			continue;
		on_server = on_server || is_on_server(part);
		parts = lappend_oid(parts, part);
	}
	return on_server ? parts : NIL;
}

/*
 * Where the rows of a relation are, according to the catalog; *parts is set to
 * the partitions for DPERM_LOCATION_PARTS, each of which the caller may read if
 * they may read the relation.
 */
DpermLocation
dperm_location_find(Oid relation, List **parts)
{
	*parts = NIL;
	if (is_on_server(relation))
		return DPERM_LOCATION_SERVER;
	*parts = foreign_parts(relation);
	if (*parts != NIL)
		return DPERM_LOCATION_PARTS;
	return read_on_citus(relation) != NIL ? DPERM_LOCATION_CITUS : DPERM_LOCATION_HERE;
}
