/*
 * row_sources.c: the relations that share rows with a relation: what views,
 * materialized views and policies read, partitions and children, and their
 * parents.
 *
 * The catalog records what the rule of a view, or a policy, depends on. What a
 * function reads is not followed.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "base/known_tree.h"
#include "relation/relation.h"

/* Everything that an object depends on. */
void
dperm_row_sources_dependencies(Oid class, Oid object,
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

/* Add the parents of a table, and their parents: its rows are also theirs. */
static List *
add_parents(List *relations, Oid table)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	check_stack_depth();
	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			parent = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent;

		if (!list_member_oid(relations, parent))
			relations = add_parents(lappend_oid(relations, parent), parent);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return relations;
}

/* A table with its partitions and children, and all parents of these. */
List *
dperm_row_sources_family(Oid table)
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
	Relation	catalog = table_open(class, AccessShareLock);
	List	   *relations = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, home, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(catalog, index, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		object = heap_getattr(tuple, oid, RelationGetDescr(catalog), &isnull);

		dperm_row_sources_dependencies(class, DatumGetObjectId(object), add_relation, &relations);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return relations;
}

/* The relations that a view or a materialized view reads. */
static List *
read_by_view(Oid view)
{
	return read_by_attached(view, RewriteRelationId, RewriteRelRulenameIndexId,
							Anum_pg_rewrite_ev_class, Anum_pg_rewrite_oid);
}

/* What a query over a relation reads. */
List *
dperm_row_sources_read(Oid relation)
{
	List	   *relations = list_make1_oid(relation);
	ListCell   *cell;

	if (get_rel_relkind(relation) != RELKIND_VIEW)
		return dperm_row_sources_family(relation);
	foreach(cell, read_by_view(relation))
		relations = list_concat_unique_oid(relations, dperm_row_sources_family(lfirst_oid(cell)));
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
			relations = dperm_row_sources_family(relation);
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

/* Everything that a relation shares rows with. */
List *
dperm_row_sources_relations(Oid relation)
{
	List	   *relations = list_make1_oid(relation);

	for (int i = 0; i < list_length(relations); i++)
	{
		CHECK_FOR_INTERRUPTS();
		relations = list_concat_unique_oid(relations, read_by(list_nth_oid(relations, i)));
	}
	return relations;
}
