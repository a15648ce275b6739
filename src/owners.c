/*
 * owners.c: whose functions run with the rights of a relation's owner.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "domains.h"
#include "owners.h"
#include "owners_walk.h"
#include "reach.h"
#include "trusted.h"

static bool check_owners(Node *node, void *owners);

/* Is an object seen for the first time? */
bool
dperm_owners_is_new(DpermOwners *owners, Oid class, Oid object)
{
	ObjectAddress address;

	ObjectAddressSet(address, class, object);
	if (object_address_present(&address, owners->visited))
		return false;
	add_exact_object_address(&address, owners->visited);
	check_stack_depth();
	return true;
}

/*
 * Raise for a function that reads a table, or may read any. What it finds there are rows of others, so that a single person, or row, would have a hand in all rows
 * that the function is called for. This is so whoever calls, and when a relation is protected.
 */
static void
refuse_reader(Oid function, const char *what, const DpermOwners *owners)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s, which protected relation \"%s\" calls, %s", format_procedure(function), get_rel_name(owners->relation), what),
			 errhint("What is computed of a row may depend on that row alone: functions get its values as arguments, read no table, view or catalog, and call nothing volatile.")));
}

/* Raise for a function that nobody can look into, and that is not said to depend on its arguments alone. */
static void
refuse_opaque(Oid function, DpermOwners *owners)
{
	ereport(owners->level,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s, which protected relation \"%s\" calls, is not IMMUTABLE", format_procedure(function), get_rel_name(owners->relation)),
			 errhint("What is computed of a row may depend on that row alone. If it does, mark the function IMMUTABLE; or write it in SQL with RETURN or BEGIN ATOMIC, which can be looked into.")));
}

/* Raise for a function of somebody else; false if that is a warning. */
static bool
check_trust(Oid function, DpermOwners *owners)
{
	if (dperm_trusted_function(function, owners->owner, owners->extension))
		return true;
	ereport(owners->level,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("function %s does not belong to the owner of protected relation \"%s\"",
					format_procedure(function), get_rel_name(owners->relation)),
			 errhint("It would run with the owner's rights. The owner of the relation, or a superuser, has to own the function.")));
	return false;
}

/* What an aggregate is made of, beside its functions: the type of the state is no dependency. */
static void
check_aggregate(Oid aggregate, DpermOwners *owners)
{
	HeapTuple	tuple;
	Form_pg_aggregate form;

	(void) dperm_reach_aggregate(aggregate, dperm_owners_function, owners);
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	dperm_owners_types_check(form->aggtranstype, owners);
	dperm_owners_types_check(form->aggmtranstype, owners);
	dperm_owners_types_operator(form->aggsortop, owners);
	ReleaseSysCache(tuple);
}

/* Check what a function of the owner or of a superuser runs. The mark of one that cannot be looked into is believed. */
static void
check_body(Oid function, HeapTuple tuple, DpermOwners *owners)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	bool		isnull;
	Datum		body = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &isnull);

	if (form->prokind == PROKIND_AGGREGATE)
		check_aggregate(function, owners);
	else if (form->prolang == SQLlanguageId && !isnull)
	{
		Oid			before = owners->within;

		owners->within = function;
		(void) check_owners(stringToNode(TextDatumGetCString(body)), owners);
		owners->within = before;
	}
	else if (form->provolatile != PROVOLATILE_IMMUTABLE)
		refuse_opaque(function, owners);
	else if (owners->level == WARNING && function >= FirstNormalObjectId && !dperm_trusted_schema(form->pronamespace, owners->owner))
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("other roles can create objects in schema \"%s\" of function %s, which protected relation \"%s\" calls",
						get_namespace_name(form->pronamespace), format_procedure(function), get_rel_name(owners->relation)),
				 errdetail("What the function names there is not found when rows are read."),
				 errhint("REVOKE CREATE ON SCHEMA %s FROM them, or move the function and what it calls to another schema.", quote_identifier(get_namespace_name(form->pronamespace)))));
}

/* An expression that the catalog has as text. */
void
dperm_owners_text(Datum expression, bool isnull, DpermOwners *owners)
{
	if (!isnull)
		(void) check_owners(stringToNode(TextDatumGetCString(expression)), owners);
}

/* What the planner adds to a call, which no query shows: default arguments, and casts to the types that a function returns and takes. */
static void
check_signature(HeapTuple tuple, DpermOwners *owners)
{
	bool		isnull;
	Datum		defaults = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			count = get_func_arg_info(tuple, &types, &names, &modes);

	dperm_owners_text(defaults, isnull, owners);
	dperm_owners_types_check(((Form_pg_proc) GETSTRUCT(tuple))->prorettype, owners);
	for (int i = 0; i < count; i++)
		dperm_owners_types_check(types[i], owners);
}

/* Raise for a function of PostgreSQL or of our own that has a fault; of others the mark is believed. */
static void
check_fault(Oid function, const char *fault, const DpermOwners *owners)
{
	if (fault && OidIsValid(owners->within))
		refuse_reader(owners->within, psprintf("calls function %s, which %s", format_procedure(function), fault), owners);
	else if (fault)
		refuse_reader(function, fault, owners);
}

/* Raise for a function that must not run with the owner's rights. */
bool
dperm_owners_function(Oid function, void *context)
{
	DpermOwners *owners = context;
	HeapTuple	tuple;

	if (function < FirstNormalObjectId)
	{
		check_fault(function, dperm_owners_builtin_fault(function), owners);
		return false;
	}
	if (getExtensionOfObject(ProcedureRelationId, function) == owners->extension)
	{
		check_fault(function, func_volatile(function) == PROVOLATILE_VOLATILE ? "is volatile" : NULL, owners);
		return false;
	}
	if (!dperm_owners_is_new(owners, ProcedureRelationId, function))
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	if (check_trust(function, owners))
		check_body(function, tuple, owners);
	check_signature(tuple, owners);
	ReleaseSysCache(tuple);
	return false;
}

/* Is a function one of PostgreSQL's own that make values of a type which an argument names? In a cast the type is known. */
static bool
takes_type(Oid function)
{
	return function == F_ARRAY_IN || function == F_DOMAIN_IN || function == F_RANGE_IN || function == F_MULTIRANGE_IN || function == F_RECORD_IN || function == F_ENUM_IN;
}

/* What else PostgreSQL calls for an expression or clause; its functions are looked at with all others. */
static void
check_calls(Node *node, DpermOwners *owners)
{
	ListCell   *cell;

	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			dperm_owners_types_operator(((OpExpr *) node)->opno, owners);
			break;
		case T_ScalarArrayOpExpr:
			dperm_owners_types_operator(((ScalarArrayOpExpr *) node)->opno, owners);
			break;
		case T_RowCompareExpr:
			foreach(cell, ((RowCompareExpr *) node)->opnos)
				dperm_owners_types_operator(lfirst_oid(cell), owners);
			break;
		case T_SortGroupClause:
			dperm_owners_types_operator(((SortGroupClause *) node)->eqop, owners);
			dperm_owners_types_operator(((SortGroupClause *) node)->sortop, owners);
			break;
		case T_FuncExpr:
			if (takes_type(((FuncExpr *) node)->funcid))
				refuse_reader(((FuncExpr *) node)->funcid, "makes values of a type that its arguments name", owners);
			break;
		default:
			break;
	}
}

/* Generated columns that are computed when they are read. Those that are stored are columns as any other. */
static void
check_virtual(Relation table, DpermOwners *owners)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	TupleDesc	desc = RelationGetDescr(table);

	for (int i = 0; desc->constr && i < desc->constr->num_defval; i++)
	{
		AttrDefault *def = &desc->constr->defval[i];

		if (TupleDescAttr(desc, def->adnum - 1)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
			(void) check_owners(stringToNode(def->adbin), owners);
	}
#endif
}

/*
 * A function that an expression of a table depends on, and those that this one does. No row gets there, so nothing but their owner matters. What has been looked at in this
 * way has the number 1 among the visited, so that it is looked at again where rows do get; what has been looked at there is not looked at here.
 */
static void
check_planned(Oid class, Oid object, void *owners)
{
	ObjectAddress address = {.classId = class, .objectId = object, .objectSubId = 1};

	if (object < FirstNormalObjectId || (class != ProcedureRelationId && class != OperatorRelationId) ||
		object_address_present(&address, ((DpermOwners *) owners)->visited))
		return;
	add_exact_object_address(&address, ((DpermOwners *) owners)->visited);
	check_stack_depth();
	if (class == ProcedureRelationId)
		(void) check_trust(object, owners);
	dperm_reach_dependencies(class, object, check_planned, owners);
}

/* A table with its partitions and children. The planner simplifies the expressions of indexes, of extended statistics and of partition keys, also those of parents. */
static void
check_table(Oid table, DpermOwners *owners)
{
	ListCell   *cell,
			   *object;

	foreach(cell, dperm_reach_parents(table))
		dperm_reach_dependencies(RelationRelationId, lfirst_oid(cell), check_planned, owners);
	foreach(cell, find_all_inheritors(table, AccessShareLock, NULL))
	{
		Relation	relation = table_open(lfirst_oid(cell), AccessShareLock);

		dperm_reach_dependencies(RelationRelationId, lfirst_oid(cell), check_planned, owners);
		foreach(object, RelationGetIndexList(relation))
			dperm_reach_dependencies(RelationRelationId, lfirst_oid(object), check_planned, owners);
		foreach(object, RelationGetStatExtList(relation))
			dperm_reach_dependencies(StatisticExtRelationId, lfirst_oid(object), check_planned, owners);
		check_virtual(relation, owners);
		table_close(relation, NoLock);
	}
}

/* The query of a view that has not been expanded: when it is protected. */
static void
check_view(Oid view, DpermOwners *owners)
{
	Relation	relation;

	if (!dperm_owners_is_new(owners, RelationRelationId, view))
		return;
	relation = table_open(view, AccessShareLock);
	(void) check_owners((Node *) dperm_domains_view_query(relation), owners);
	table_close(relation, NoLock);
}

/* The same for what is read: tables with their partitions and children, and views. */
static void
check_entry(const RangeTblEntry *entry, DpermOwners *owners)
{
	if (entry->rtekind != RTE_RELATION)
		return;
	if (OidIsValid(owners->within))
		refuse_reader(owners->within, psprintf("reads relation \"%s\"", get_rel_name(entry->relid)), owners);
	if (entry->relkind == RELKIND_VIEW)
		check_view(entry->relid, owners);
	else
		check_table(entry->relid, owners);
}

/* Types of a list of columns, whose values a function may read from text. */
static void
check_types(List *types, DpermOwners *owners)
{
	ListCell   *cell;

	foreach(cell, types)
		dperm_owners_types_check(lfirst_oid(cell), owners);
}

/* Is a node a constant that stands for an object, but is taken as its number: as in tableoid = 'part'::regclass? */
static bool
is_number(Node *node)
{
	return IsA(node, RelabelType) && ((RelabelType *) node)->resulttype == OIDOID && IsA(((RelabelType *) node)->arg, Const) &&
		((Const *) ((RelabelType *) node)->arg)->consttype < FirstNormalObjectId;
}

/* Check the owner of every function of a query: also behind operators, casts and policies. */
static bool
check_owners(Node *node, void *owners)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		check_entry((RangeTblEntry *) node, owners);
		return false;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		/* triggers, rules and defaults are not looked at: only the body of a function can have such a statement */
		if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
			ereport(((DpermOwners *) owners)->level,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("a function that protected relation \"%s\" calls does not only read",
							get_rel_name(((DpermOwners *) owners)->relation)),
					 errhint("It would run with the owner's rights.")));
		return query_tree_walker(query, check_owners, owners, QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
	}
	if (IsA(node, TableFunc))
		check_types(((TableFunc *) node)->coltypes, owners);
	if (IsA(node, RangeTblFunction))
		check_types(((RangeTblFunction *) node)->funccoltypes, owners);
	if (is_number(node))
		return false;
	dperm_owners_types_check(dperm_reach_type(node), owners);
	check_calls(node, owners);
	(void) check_functions_in_node(node, dperm_owners_function, owners);
	return expression_tree_walker(node, check_owners, owners);
}

/* Raise for a query whose functions must not run with the owner's rights. */
void
dperm_owners_check(Oid extension, Query *tree, Oid relation, Oid owner)
{
	DpermOwners owners = {.extension = extension, .relation = relation, .owner = owner, .level = ERROR, .visited = new_object_addresses()};

	(void) check_owners((Node *) tree, &owners);
	free_object_addresses(owners.visited);
}

/* Warn of what would be refused. */
void
dperm_owners_warn(Oid extension, Oid relation, Oid owner, List *columns)
{
	DpermOwners owners = {.extension = extension, .relation = relation, .owner = owner, .level = WARNING, .visited = new_object_addresses()};
	RangeTblEntry entry = {.type = T_RangeTblEntry, .rtekind = RTE_RELATION, .relid = relation, .relkind = get_rel_relkind(relation)};
	ListCell   *cell;

	check_entry(&entry, &owners);
	foreach(cell, columns)
		dperm_owners_types_check(get_atttype(relation, lfirst_int(cell)), &owners);
	free_object_addresses(owners.visited);
}
