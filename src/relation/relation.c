/*
 * relation.c: names, owners and sizes of relations, and the relations that share
 * rows with one: what views, materialized views and policies read, partitions and
 * children, and their parents.
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
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/known_tree.h"
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
