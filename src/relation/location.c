/*
 * location.c: where the rows of a relation are.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "nodes/readfuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "relation/cluster.h"
#include "relation/location.h"
#include "relation/relation.h"
#include "relation/row_sources.h"

/*
 * The catalog of Citus that lists its tables, and the column with their OIDs.
 */
#define CITUS_TABLES "pg_dist_partition"
#define CITUS_RELATION "logicalrelid"

/* How a table is distributed, and by which column: the text of a Var. */
#define CITUS_METHOD "partmethod"
#define CITUS_METHOD_HASH 'h'
#define CITUS_METHOD_NONE 'n'	/* all rows on one server, or on each server */
#define CITUS_KEY "partkey"

/* The shards of a table, by their numbers. */
#define CITUS_SHARDS "pg_dist_shard"
#define CITUS_SHARD "shardid"

/* Which server of the cluster this is. */
#define CITUS_GROUP_TABLE "pg_dist_local_group"
#define CITUS_GROUP "groupid"

/* Called for a row of a Citus catalog; returns false to stop. */
typedef bool (*CitusVisitor) (Relation table, HeapTuple tuple, void *arg);

/*
 * Visit the rows of a Citus catalog, or only those whose column is a given OID;
 * none if there is no such catalog. It is in a schema that only superusers can
 * write to.
 */
static void
visit_citus(const char *name, const char *column, Oid oid, CitusVisitor visitor, void *arg)
{
	Oid			relation = get_relname_relid(name, PG_CATALOG_NAMESPACE);
	AttrNumber	number =
		OidIsValid(relation) && column ? get_attnum(relation, column) : InvalidAttrNumber;
	Relation	table;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(relation) || (column && number == InvalidAttrNumber))
		return;
	table = table_open(relation, AccessShareLock);
	if (column)
		ScanKeyInit(&key, number, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(oid));
	scan = systable_beginscan(table, InvalidOid, false, NULL, column ? 1 : 0, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)) && visitor(table, tuple, arg))
		;
	systable_endscan(scan);
	table_close(table, AccessShareLock);
}

/* A column of such a row by name; NULL if there is none. */
static Datum
citus_value(Relation table, HeapTuple tuple, const char *column, bool *isnull)
{
	AttrNumber	number = get_attnum(RelationGetRelid(table), column);

	*isnull = true;
	return number == InvalidAttrNumber ?
			   (Datum) 0 :
			   heap_getattr(tuple, number, RelationGetDescr(table), isnull);
}

/* Note that there is a row. */
static bool
note_row(Relation table, HeapTuple tuple, void *found)
{
	*(bool *) found = true;
	return false;
}

/* Does this database have Citus? */
bool
dperm_location_has_citus(void)
{
	return OidIsValid(get_relname_relid(CITUS_TABLES, PG_CATALOG_NAMESPACE));
}

/*
 * Some relations, sorted; the numbers at the end of their names, sorted; and
 * the shards that Citus reports.
 */
typedef struct Shards
{
	Oid		   *relations;
	int64	   *numbers;
	int			count,
				numbered;
	List	   *found;
} Shards;

/* Comparison function for sorting numbers. */
static int
compare_numbers(const void *a, const void *b)
{
	int64		first = *(const int64 *) a;
	int64		second = *(const int64 *) b;

	return first < second ? -1 : first > second;
}

/* Does the name of a relation look like that of a shard? */
static bool
ends_with_number(Oid relation, int64 *number)
{
	const char *name = get_rel_name(relation);
	const char *separator = name ? strrchr(name, '_') : NULL;
	char	   *end;

	if (separator == NULL || separator[1] < '0' || separator[1] > '9')
		return false;
	errno = 0;
	*number = strtoll(separator + 1, &end, 10);
	return *end == '\0' && errno == 0;
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

/* Is a relation one of these? */
static bool
is_among(const Shards *shards, Oid relation)
{
	return bsearch(&relation, shards->relations, shards->count, sizeof(Oid), oid_cmp) != NULL;
}

/* Note a shard that is one of the relations, or a shard of one of them. */
static bool
note_shard(Relation table, HeapTuple tuple, void *arg)
{
	Shards	   *shards = arg;
	bool		no_relation,
				no_number;
	Oid			relation = DatumGetObjectId(citus_value(table, tuple, CITUS_RELATION,
														&no_relation));
	Datum		value = citus_value(table, tuple, CITUS_SHARD, &no_number);
	int64		number = no_number ? 0 : DatumGetInt64(value);
	bool		ours;
	char	   *name;
	Oid			shard;

	if (no_relation || no_number)
		return true;
	ours = is_among(shards, relation);

	/* most belong to other tables */
	if (!ours &&
		bsearch(&number, shards->numbers, shards->numbered, sizeof(int64), compare_numbers) == NULL)
		return true;
	name = get_rel_name(relation);
	shard = name ? get_relname_relid(shard_name(name, number), get_rel_namespace(relation)) :
				   InvalidOid;

	/*
	 * anyone can give a table such a name; a real shard has the owner of its
	 * table
	 */
	if (OidIsValid(shard) && dperm_relation_owner(shard) != dperm_relation_owner(relation))
		return true;
	if (OidIsValid(shard) && ours)
		shards->found = lappend_oid(shards->found, shard);
	else if (OidIsValid(shard) && is_among(shards, shard))
		shards->found = lappend_oid(shards->found, relation);
	return true;
}

/*
 * The shards of relations on this server, and the relations that shards belong
 * to.
 */
List *
dperm_location_shards(List *relations)
{
	int			count = Max(list_length(relations), 1);
	Shards		shards = {.relations = palloc(sizeof(Oid) * count),
					 .numbers = palloc(sizeof(int64) * count)};
	ListCell   *cell;

	if (!dperm_location_has_citus())
		return NIL;
	foreach(cell, relations)
	{
		shards.relations[shards.count++] = lfirst_oid(cell);
		shards.numbered += ends_with_number(lfirst_oid(cell), &shards.numbers[shards.numbered]);
	}
	qsort(shards.relations, shards.count, sizeof(Oid), oid_cmp);
	qsort(shards.numbers, shards.numbered, sizeof(int64), compare_numbers);
	visit_citus(CITUS_SHARDS, NULL, InvalidOid, note_shard, &shards);
	return shards.found;
}

/*
 * Does a relation read a Citus table? The rows of a materialized view are
 * local, whatever they were computed from.
 */
static bool
is_on_citus(Oid relation)
{
	bool		found = false;
	ListCell   *cell;

	if (!dperm_location_has_citus() || get_rel_relkind(relation) == RELKIND_MATVIEW)
		return false;
	foreach(cell, dperm_row_sources_relations(relation))
		if (!found)
			visit_citus(CITUS_TABLES, CITUS_RELATION, lfirst_oid(cell), note_row, &found);
	return found;
}

/*
 * A column, and whether rows that share a value of it are on the same server.
 */
typedef struct Together
{
	AttrNumber	column;
	bool		kept;
} Together;

/* Note whether the distribution of a table keeps such rows together. */
static bool
note_together(Relation table, HeapTuple tuple, void *arg)
{
	Together   *together = arg;
	bool		no_method,
				no_key;
	Datum		method = citus_value(table, tuple, CITUS_METHOD, &no_method);
	Datum		key = citus_value(table, tuple, CITUS_KEY, &no_key);

	if (!no_method && DatumGetChar(method) == CITUS_METHOD_NONE)
		together->kept = true;
	else if (!no_method && DatumGetChar(method) == CITUS_METHOD_HASH && !no_key)
	{
		Node	   *var = stringToNode(TextDatumGetCString(key));

		together->kept = IsA(var, Var) && ((Var *) var)->varattno == together->column;
	}
	return false;
}

/*
 * Is a relation a Citus table that keeps rows with the same value of a column
 * on one server?
 */
bool
dperm_location_keeps_together(Oid relation, AttrNumber column)
{
	char		kind = get_rel_relkind(relation);
	Together	together = {.column = column};

	if (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE)
		visit_citus(CITUS_TABLES, CITUS_RELATION, relation, note_together, &together);
	return together.kept;
}

/* Note which server of the cluster this is. */
static bool
note_group(Relation table, HeapTuple tuple, void *group)
{
	bool		isnull;
	Datum		value = citus_value(table, tuple, CITUS_GROUP, &isnull);

	*(int32 *) group = isnull ? 0 : DatumGetInt32(value);
	return false;
}

/* Raise an error on a worker. */
void
dperm_location_check_coordinator(void)
{
	int32		group = 0;			/* the coordinator, or no cluster */

	visit_citus(CITUS_GROUP_TABLE, NULL, InvalidOid, note_group, &group);
	if (group != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this server is a worker of a Citus cluster"),
				 errhint("Connect to the coordinator: it knows what is protected, and keeps the "
						 "budgets.")));
}

/* Is a protected relation on a cluster? */
bool
dperm_location_protected_on_citus(Oid relation)
{
	ListCell   *cell;

	if (!is_on_citus(relation))
		return false;
	foreach(cell, dperm_row_sources_relations(relation))
		dperm_cluster_check_holders(lfirst_oid(cell), dperm_relation_owner(relation));
	return true;
}

/* Does a list of names, as in a server option, contain one? */
static bool
lists_name(const char *names, const char *name)
{
	List	   *list;
	ListCell   *cell;

	if (!SplitIdentifierString(pstrdup(names), ',', &list))
		return false;
	foreach(cell, list)
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	return false;
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

		if (strcmp(option->defname, "extensions") == 0)
			return lists_name(defGetString(option), "dperm");
	}
	return false;
}

/* May the caller read a relation directly? */
static bool
may_name(Oid relation)
{
	Oid			schema = get_rel_namespace(relation);

	if (object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		return false;
	return pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
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

		if (dperm_row_sources_has_policies(part) || has_computed_columns(part) || !may_name(part))
			return NIL;
		if (get_rel_relkind(part) == RELKIND_PARTITIONED_TABLE)
			continue;
		on_server = on_server || is_on_server(part);
		parts = lappend_oid(parts, part);
	}
	return on_server ? parts : NIL;
}

/* Where the rows of a relation are. */
DpermLocation
dperm_location_find(Oid relation, List **parts)
{
	*parts = NIL;
	if (is_on_server(relation))
		return DPERM_LOCATION_SERVER;
	*parts = foreign_parts(relation);
	if (*parts != NIL)
		return DPERM_LOCATION_PARTS;
	return is_on_citus(relation) ? DPERM_LOCATION_CITUS : DPERM_LOCATION_HERE;
}
