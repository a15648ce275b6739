/*
 * row_sources.c: the tables that relations read from, including through views,
 * materialized views and functions.
 *
 * The catalog records what a view, a materialized view, a policy or an SQL
 * function with a parsed body depends on. What any other function reads is
 * unknown. The catalog records no dependencies on built-in objects, so these
 * are looked for in the parsed definitions.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/known_tree.h"
#include "relation/row_sources.h"

/* What has been found so far. */
typedef struct Reach
{
	List	   *tables;
	List	   *relations;		/* these, views, and the parents of tables */
	ObjectAddresses *visited;
} Reach;

static void visit(Oid class, Oid object, void *context);

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

/* Visit everything that an object depends on. */
static void
follow(Reach *reach, Oid class, Oid object)
{
	dperm_row_sources_dependencies(class, object, visit, reach);
}

/* Does a condition hold for one of the functions of an aggregate? */
bool
dperm_row_sources_aggregate(Oid aggregate, check_function_callback is_such, void *arg)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	bool		result = false;
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	{
		Oid			functions[] = {form->aggtransfn, form->aggfinalfn, form->aggcombinefn,
			form->aggserialfn, form->aggdeserialfn, form->aggmtransfn, form->aggminvtransfn,
			form->aggmfinalfn};

		for (int i = 0; i < lengthof(functions); i++)
			result = result || (OidIsValid(functions[i]) && is_such(functions[i], arg));
	}
	ReleaseSysCache(tuple);
	return result;
}

/* Does a relation have policies? */
bool
dperm_row_sources_has_policies(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relation);
	result = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	ReleaseSysCache(tuple);
	return result;
}

/* The type of an expression. */
Oid
dperm_row_sources_type(Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_Aggref:
		case T_WindowFunc:
		case T_SubscriptingRef:
		case T_FuncExpr:
		case T_OpExpr:
		case T_NullIfExpr:
		case T_SubLink:
		case T_FieldSelect:
		case T_FieldStore:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_CaseExpr:
		case T_CaseTestExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_CoerceToDomain:
		case T_CoerceToDomainValue:
#if PG_VERSION_NUM >= 160000
		case T_JsonConstructorExpr:
#endif
#if PG_VERSION_NUM >= 170000
		case T_JsonExpr:
#endif
			return exprType(node);
		default:
			return InvalidOid;
	}
}

/* Visit a function in a parsed definition. */
static bool
visit_called(Oid function, void *reach)
{
	visit(ProcedureRelationId, function, reach);
	return false;
}

/* Visit the relations and functions in a parsed definition. */
static bool
follow_tree(Node *node, void *reach)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		if (OidIsValid(((RangeTblEntry *) node)->relid))
			visit(RelationRelationId, ((RangeTblEntry *) node)->relid, reach);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, follow_tree, reach, QTW_EXAMINE_RTES_BEFORE);
	(void) check_functions_in_node(node, visit_called, reach);
	return expression_tree_walker(node, follow_tree, reach);
}

/* Visit a parsed definition that the catalog stores as text. */
static void
follow_text(Reach *reach, Oid class, Oid object, Datum definition, bool isnull)
{
	if (!isnull)
		(void) follow_tree(dperm_known_tree_read(TextDatumGetCString(definition), class, object),
						   reach);
}

/*
 * Visit the expressions of what is attached to a relation: its rules or its
 * policies.
 */
static void
follow_attached(Reach *reach, Oid relation, Oid class, Oid index, AttrNumber home, AttrNumber oid,
				AttrNumber expression)
{
	Relation	catalog = table_open(class, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, home, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(catalog, index, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Oid			object =
			DatumGetObjectId(heap_getattr(tuple, oid, RelationGetDescr(catalog), &isnull));
		Datum		value = heap_getattr(tuple, expression, RelationGetDescr(catalog), &isnull);

		follow_text(reach, class, object, value, isnull);
		follow(reach, class, object);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Visit the definition of a view or a materialized view. */
static void
follow_rules(Reach *reach, Oid relation)
{
	follow_attached(reach, relation, RewriteRelationId, RewriteRelRulenameIndexId,
					Anum_pg_rewrite_ev_class, Anum_pg_rewrite_oid, Anum_pg_rewrite_ev_action);
}

/* Visit the policies of a table, if they are enabled. */
static void
follow_policies(Reach *reach, Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		enabled = HeapTupleIsValid(tuple) &&
		((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (enabled)
		follow_attached(reach, relation, PolicyRelationId, PolicyPolrelidPolnameIndexId,
						Anum_pg_policy_polrelid, Anum_pg_policy_oid, Anum_pg_policy_polqual);
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

/*
 * Visit a relation: a table with its partitions and children, or the relations
 * behind a view.
 */
static void
visit_relation(Reach *reach, Oid relation)
{
	char		kind = get_rel_relkind(relation);
	List	   *children;
	ListCell   *cell;

	reach->relations = list_append_unique_oid(reach->relations, relation);
	switch (kind)
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
			children = find_all_inheritors(relation, NoLock, NULL);
			reach->tables = list_concat_unique_oid(reach->tables, children);
			reach->relations = list_concat_unique_oid(reach->relations, children);
			foreach(cell, children)
				reach->relations = add_parents(reach->relations, lfirst_oid(cell));
			follow_policies(reach, relation);
			break;
		default:
			/* one that has just been dropped has no kind */
			if (kind != '\0' && !dperm_known_tree_relation(kind))
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("relation \"%s\" is of a kind that dperm does not support",
								get_rel_name(relation)),
						 errhint("Property graphs are not supported, for example. Store the rows "
								 "in a table.")));
			break;
	}
}

/*
 * Does a built-in function of this name read a table, its statistics or a type,
 * or run a query, given by its arguments?
 */
static bool
reads_by_name(const char *name)
{
	static const char *const names[] = {"table_to_xml",
										"table_to_xmlschema",
										"table_to_xml_and_xmlschema",
										"query_to_xml",
										"query_to_xmlschema",
										"query_to_xml_and_xmlschema",
										"cursor_to_xml",
										"cursor_to_xmlschema",
										"schema_to_xml",
										"schema_to_xmlschema",
										"schema_to_xml_and_xmlschema",
										"database_to_xml",
										"database_to_xmlschema",
										"database_to_xml_and_xmlschema",
										"ts_stat",
										"ts_rewrite",
										"pg_input_is_valid",
										"pg_input_error_info",
										"satisfies_hash_partition"};
	static const char counters[] = "pg_stat_get_";

	if (strncmp(name, counters, strlen(counters)) == 0)
		return true;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Is a function such a built-in function? */
bool
dperm_row_sources_by_name(Oid function)
{
	char	   *name = function < FirstNormalObjectId ? get_func_name(function) : NULL;

	return name && reads_by_name(name);
}

/* Visit a function. */
static void
visit_function(Reach *reach, Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Datum		body;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return;
	body = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &isnull);
	follow_text(reach, ProcedureRelationId, function, body, isnull);
	ReleaseSysCache(tuple);
	if (function >= FirstNormalObjectId)
		follow(reach, ProcedureRelationId, function);
}

/* Visit an object unless it has been visited before. */
static void
visit(Oid class, Oid object, void *context)
{
	Reach	   *reach = context;
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

/* The parents of a table. */
List *
dperm_row_sources_parents(Oid table)
{
	return add_parents(NIL, table);
}

/* Everything behind a relation, as far as the catalog knows it. */
static Reach
reach_from(Oid relation)
{
	Reach		reach = {.visited = new_object_addresses()};

	visit(RelationRelationId, relation, &reach);
	free_object_addresses(reach.visited);
	return reach;
}

/* The tables behind a relation, as far as the catalog knows them. */
List *
dperm_row_sources_stored(Oid relation)
{
	return reach_from(relation).tables;
}

/* The relations behind a relation, as far as the catalog knows them. */
List *
dperm_row_sources_relations(Oid relation)
{
	return reach_from(relation).relations;
}
