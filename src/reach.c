/*
 * reach.c: the tables that relations read from, also through views, materialized views and functions.
 *
 * The catalog knows what a view or a materialized view was made from, and so it is with SQL functions
 * whose body it has parsed. What any other function reads nobody knows.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "reach.h"

/* What has been found so far. */
typedef struct Reach
{
	List	   *tables;
	ObjectAddresses *visited;
} Reach;

static void visit(Reach *reach, Oid class, Oid object);

/* Visit all that an object depends on. */
static void
follow(Reach *reach, Oid class, Oid object)
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

		visit(reach, depend->refclassid, depend->refobjid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Visit the definition of a view or a materialized view. */
static void
follow_rules(Reach *reach, Oid relation)
{
	Relation	catalog = table_open(RewriteRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_rewrite_ev_class, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relation));
	scan = systable_beginscan(catalog, RewriteRelRulenameIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		follow(reach, RewriteRelationId, ((Form_pg_rewrite) GETSTRUCT(tuple))->oid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* A relation: a table with its partitions and children, or what is behind a view. */
static void
visit_relation(Reach *reach, Oid relation)
{
	switch (get_rel_relkind(relation))
	{
		case RELKIND_VIEW:
			follow_rules(reach, relation);
			break;
		case RELKIND_MATVIEW:
			reach->tables = list_append_unique_oid(reach->tables, relation);
			follow_rules(reach, relation);
			break;
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
			reach->tables = list_concat_unique_oid(reach->tables,
												   find_all_inheritors(relation, AccessShareLock, NULL));
			break;
		default:
			break;
	}
}

/* A function: refused if it may read tables, and nobody knows which. */
static void
visit_function(Reach *reach, Oid function)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		parsed;

	if (function < FirstNormalObjectId)
		return;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	(void) SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &parsed);
	parsed = !parsed;			/* it said whether it is null */
	if (form->provolatile != PROVOLATILE_IMMUTABLE && !parsed &&
		form->prolang != INTERNALlanguageId && form->prolang != ClanguageId)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s may read any table, so source and holdout may overlap",
						format_procedure(function)),
				 errhint("Store the rows in a table, or write the function in SQL with BEGIN ATOMIC, so that what it reads is known.")));
	ReleaseSysCache(tuple);
	follow(reach, ProcedureRelationId, function);
}

/* Visit an object, once. */
static void
visit(Reach *reach, Oid class, Oid object)
{
	ObjectAddress address;

	ObjectAddressSet(address, class, object);
	if (object_address_present(&address, reach->visited))
		return;
	add_exact_object_address(&address, reach->visited);
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (class == RelationRelationId)
		visit_relation(reach, object);
	else if (class == ProcedureRelationId)
		visit_function(reach, object);
	else if (class == OperatorRelationId)
		follow(reach, class, object);
}

/* The tables behind some relations. */
List *
dperm_reach_tables(List *relations)
{
	Reach		reach = {NIL, new_object_addresses()};
	ListCell   *cell;

	foreach(cell, relations)
		visit(&reach, RelationRelationId, lfirst_oid(cell));
	free_object_addresses(reach.visited);
	return reach.tables;
}
