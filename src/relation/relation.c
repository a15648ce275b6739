/*
 * relation.c: names, owners and sizes of relations, and the relations that share
 * rows with one: what views, materialized views and policies read, partitions and
 * children, and their parents; where the rows of a relation are, and what roles can do
 * on the servers of a Citus cluster. Trusted.
 *
 * The catalog records what the rule of a view, or a policy, depends on. What a
 * function reads is not followed.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "nodes/readfuncs.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/base.h"
#include "base/compat.h"
#include "relation/relation.h"

#define SOURCE_HINT \
	"Write the name as in FROM: 'table', 'schema.table', or '\"Mixed Case\"' with double quotes."

/* Add a hint to any error in looking up source. */
static void
source_hint(void *arg)
{
	errhint(SOURCE_HINT);
}

/* Parse a name as in FROM. */
static RangeVar *
parse_name(const char *name)
{
	List	   *parts;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts) || parts == NIL ||
		list_length(parts) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("\"%s\" is not the name of a relation", name)));
	for (int i = 0; i < list_length(parts); i++)
		list_nth_cell(parts, i)->ptr_value = makeString(list_nth(parts, i));
	return makeRangeVarFromNameList(parts);
}

/* Look up and lock a relation by a name as in FROM; InvalidOid if there is none and missing_ok. */
Oid
dperm_relation_look_up(const char *name, LOCKMODE lock, bool missing_ok)
{
	ErrorContextCallback hint = {
		.previous = error_context_stack,
		.callback = source_hint
	};
	Oid			relation;

	error_context_stack = &hint;
	relation = RangeVarGetRelidExtended(parse_name(name), lock, missing_ok ? RVR_MISSING_OK : 0,
										NULL, NULL);
	error_context_stack = hint.previous;
	return relation;
}

/*
 * The name of a relation, qualified and quoted. Raises an error for one that the
 * caller has dropped meanwhile.
 */
char *
dperm_relation_name(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = get_namespace_name(get_rel_namespace(relation));

	if (name == NULL || schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("a relation has been dropped while it was used")));
	return quote_qualified_identifier(schema, name);
}

/* An OID that the catalog has of an object, InvalidOid if that has been dropped. */
Oid
dperm_relation_oid_of(Oid class, Oid object, AttrNumber attribute)
{
	int			cache = get_object_catcache_oid(class);
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	bool		isnull;
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	result = DatumGetObjectId(SysCacheGetAttr(cache, tuple, attribute, &isnull));
	ReleaseSysCache(tuple);
	return result;
}

/* The owner of a relation, InvalidOid if it has been dropped. */
Oid
dperm_relation_owner(Oid relation)
{
	return dperm_relation_oid_of(RelationRelationId, relation, Anum_pg_class_relowner);
}

/*
 * How many rows the catalog estimates that a plain table has, which everybody
 * can read there; 0 if it does not know, or for any other relation.
 */
int64
dperm_relation_estimated_rows(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	int64		rows = 0;

	if (!HeapTupleIsValid(tuple))
		return rows;
	if (((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION &&
		!((Form_pg_class) GETSTRUCT(tuple))->relhassubclass)
		rows = (int64) Min(Max(((Form_pg_class) GETSTRUCT(tuple))->reltuples, 0), 1e18);
	ReleaseSysCache(tuple);
	return rows;
}

/* Call a function for each object that an object depends on, according to the catalog. */
void
dperm_relation_dependencies(Oid class, Oid object,
							   void (*each)(Oid class, Oid object, void *arg), void *arg)
{
	Relation	catalog = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(class));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(object));
	scan = systable_beginscan(catalog, DependDependerIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);

		/* not those of its columns, as on their types */
		if (depend->objsubid == 0)
			each(depend->refclassid, depend->refobjid, arg);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * The OIDs in a column of a catalog, from the rows in which its column key, the
 * first of an index, has a value.
 */
List *
dperm_relation_oids(Oid catalog, Oid index, AttrNumber key, Oid value, AttrNumber column)
{
	Relation	table = table_open(catalog, AccessShareLock);
	List	   *oids = NIL;
	ScanKeyData condition;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull;

	ScanKeyInit(&condition, key, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
	scan = systable_beginscan(table, index, true, NULL, 1, &condition);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		oids = lappend_oid(oids, DatumGetObjectId(heap_getattr(tuple, column,
															   RelationGetDescr(table), &isnull)));
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return oids;
}

/* Add the parents of a table, and their parents: its rows are also theirs. */
static List *
add_parents(List *relations, Oid table)
{
	ListCell   *cell;

	check_stack_depth();
	foreach(cell, dperm_relation_oids(InheritsRelationId, InheritsRelidSeqnoIndexId,
									  Anum_pg_inherits_inhrelid, table,
									  Anum_pg_inherits_inhparent))
		if (!list_member_oid(relations, lfirst_oid(cell)))
			relations = add_parents(lappend_oid(relations, lfirst_oid(cell)), lfirst_oid(cell));
	return relations;
}

/* A table with its partitions and children, and all parents of these. */
List *
dperm_relation_family(Oid table)
{
	List	   *children = find_all_inheritors(table, NoLock, NULL);
	List	   *family = list_copy(children);
	ListCell   *cell;

	foreach(cell, children)
		family = add_parents(family, lfirst_oid(cell));
	return family;
}

/* Add a relation that a view depends on. */
static void
add_relation(Oid class, Oid object, void *relations)
{
	if (class == RelationRelationId)
		*(List **) relations = list_append_unique_oid(*(List **) relations, object);
}

/* The relations that what is attached to one reads: its rules or its policies. */
static List *
read_by_attached(Oid relation, Oid class, Oid index, AttrNumber home, AttrNumber oid)
{
	List	   *relations = NIL;
	ListCell   *cell;

	foreach(cell, dperm_relation_oids(class, index, home, relation, oid))
		dperm_relation_dependencies(class, lfirst_oid(cell), add_relation, &relations);
	return relations;
}

/* The relations that a view or a materialized view reads. */
static List *
read_by_view(Oid view)
{
	return read_by_attached(view, RewriteRelationId, RewriteRelRulenameIndexId,
							Anum_pg_rewrite_ev_class, Anum_pg_rewrite_oid);
}

/*
 * What a query over a protected relation may read: the family of a table; a view
 * and that of its table. The rows of a materialized view are its own.
 */
List *
dperm_relation_reads(Oid relation)
{
	List	   *relations = list_make1_oid(relation);
	ListCell   *cell;

	if (get_rel_relkind(relation) != RELKIND_VIEW)
		return dperm_relation_family(relation);
	foreach(cell, read_by_view(relation))
		relations = list_concat_unique_oid(relations, dperm_relation_family(lfirst_oid(cell)));
	return relations;
}

/* The relations behind a relation that share rows with it. */
static List *
read_by(Oid relation)
{
	char		kind = get_rel_relkind(relation);
	List	   *relations = NIL;

	switch (kind)
	{
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
			return read_by_view(relation);
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
			relations = dperm_relation_family(relation);
			/* policies decide which of its rows can be seen */
			if (check_enable_rls(relation, InvalidOid, true) != RLS_NONE)
				relations = list_concat(relations,
										read_by_attached(relation, PolicyRelationId,
														 PolicyPolrelidPolnameIndexId,
														 Anum_pg_policy_polrelid,
														 Anum_pg_policy_oid));
			return relations;
		default:
			/* one that has just been dropped has no kind */
			if (kind != '\0' && !dperm_known_tree_relation(kind))
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("relation \"%s\" is of a kind that dperm does not support",
								get_rel_name(relation)),
						 errhint("Property graphs are not supported, for example. Store the rows "
								 "in a table.")));
			return relations;
	}
}

/*
 * The relation itself and everything it shares rows with, as far as the catalog
 * knows.
 */
List *
dperm_relation_sources(Oid relation)
{
	List	   *relations = list_make1_oid(relation);

	for (int i = 0; i < list_length(relations); i++)
	{
		CHECK_FOR_INTERRUPTS();
		relations = list_concat_unique_oid(relations, read_by(list_nth_oid(relations, i)));
	}
	return relations;
}

/* ------------------------------------------------------------- locations */

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
