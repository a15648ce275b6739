/*
 * owners.c: whose functions run with the rights of a relation's owner.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "domains.h"
#include "inlined.h"
#include "owners.h"
#include "owners_walk.h"
#include "reach.h"

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

/* The level of a message that is about to be raised. */
int
dperm_owners_level(DpermOwners *owners)
{
	owners->warned = true;
	return owners->level;
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
			 errhint("What is computed of a row may depend on that row alone: functions get its values as arguments, read no table, view or catalog, depend neither on the session nor on its settings, and call nothing volatile.")));
}

/*
 * Raise for a function in PL/pgSQL or another such language. It keeps in the session what it has compiled and planned, which can tell what branch some row took; and our hooks
 * do not see all that it calls.
 */
static void
refuse_language(Oid function, Oid language, DpermOwners *owners)
{
	ereport(dperm_owners_level(owners),
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s, which protected relation \"%s\" calls, is in language %s", format_procedure(function), get_rel_name(owners->relation), get_language_name(language, false)),
			 errhint("Write it in SQL with RETURN or BEGIN ATOMIC, or keep its result in a column of the table.")));
}

/* What an aggregate is made of, beside its functions: the type of the state is no dependency. */
static void
check_aggregate(Oid aggregate, DpermOwners *owners)
{
	HeapTuple	tuple;
	Form_pg_aggregate form;

	(void) dperm_reach_aggregate(aggregate, dperm_owners_support, owners);
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	dperm_owners_types_check(form->aggtranstype, owners);
	dperm_owners_types_check(form->aggmtranstype, owners);
	dperm_owners_types_operator(form->aggsortop, owners);
	ReleaseSysCache(tuple);
}

/* Check what a function of the owner or of a superuser runs; raise if nobody knows. */
static void
check_body(Oid function, HeapTuple tuple, DpermOwners *owners)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	bool		compiled = form->prolang == ClanguageId || form->prolang == INTERNALlanguageId;
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

	/* the planner calls it for constants alone: those who have the owner's rights may have it in an index */
	else if (!compiled && form->prolang != SQLlanguageId && !owners->planned)
		refuse_language(function, form->prolang, owners);

	else if (compiled && !owners->planned && dperm_owners_builtin_compiled_fault(function))
		refuse_reader(function, dperm_owners_builtin_compiled_fault(function), owners);

	/* what returns rows and is not IMMUTABLE has them from somewhere */
	else if (form->provolatile != PROVOLATILE_IMMUTABLE && (compiled ? form->proretset : owners->trusted))
		refuse_reader(function, "may read any table", owners);
	else if ((!compiled || !superuser_arg(form->proowner)) && !owners->trusted)
		ereport(dperm_owners_level(owners),
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s cannot run with the rights of the owner of protected relation \"%s\"",
						format_procedure(function), get_rel_name(owners->relation)),
				 errhint("What it does can depend on what this session did before. The owner has to write it in SQL with RETURN or BEGIN ATOMIC, and so the functions that it calls; or keep its result in a column of the table.")));
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
	DpermOwners	   *owners = context;
	HeapTuple	tuple;
	Oid			owner;

	/* what initdb has made belongs to PostgreSQL; an administrator who gives it away gives away the server */
	if (function < FirstNormalObjectId)
	{
		check_fault(function, dperm_owners_builtin_fault(function, !owners->planned), owners);
		return false;
	}
	if (getExtensionOfObject(ProcedureRelationId, function) == owners->extension)
	{
		check_fault(function, func_volatile(function) == PROVOLATILE_VOLATILE ? "is volatile" : NULL, owners);
		owners->functions = lappend_oid(owners->functions, function);
		return false;
	}
	if (!owners->aside)
		owners->own = function;
	if (!dperm_owners_is_new(owners, ProcedureRelationId, function))
		return false;
	owners->functions = lappend_oid(owners->functions, function);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	if (owner != owners->owner && !superuser_arg(owner))
		ereport(dperm_owners_level(owners),
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s does not belong to the owner of protected relation \"%s\"",
						format_procedure(function), get_rel_name(owners->relation)),
				 errhint("It would run with the owner's rights. The owner of the relation, or a superuser, has to own the function.")));
	else
		check_body(function, tuple, owners);
	check_signature(tuple, owners);
	ReleaseSysCache(tuple);
	return false;
}

/* Raise for a function that PostgreSQL calls by itself, if it must not run, or is in SQL. */
bool
dperm_owners_support(Oid function, void *context)
{
	DpermOwners *owners = context;

	if (!owners->planned && dperm_inlined_is_sql(function))
		dperm_inlined_refuse_support(dperm_owners_level(owners), function, owners->relation);
	return dperm_owners_function(function, owners);
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
		case T_WindowClause:
			if (OidIsValid(((WindowClause *) node)->startInRangeFunc))
				(void) dperm_owners_support(((WindowClause *) node)->startInRangeFunc, owners);
			if (OidIsValid(((WindowClause *) node)->endInRangeFunc))
				(void) dperm_owners_support(((WindowClause *) node)->endInRangeFunc, owners);
			break;
		case T_FuncExpr:
			if (takes_type(((FuncExpr *) node)->funcid))
				refuse_reader(((FuncExpr *) node)->funcid, "makes values of a type that its arguments name", owners);
			break;
		case T_SQLValueFunction:
			if (((SQLValueFunction *) node)->op == SVFOP_SESSION_USER)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("protected relation \"%s\" uses SESSION_USER", get_rel_name(owners->relation)),
						 errhint("What is computed of a row may depend on that row alone, and not on the session. CURRENT_USER is the owner of the relation.")));
			break;
#if PG_VERSION_NUM >= 170000
		case T_JsonExpr:
			dperm_owners_types_refuse_names(exprType(node), exprType(node), owners);
			break;
#endif
		default:
			break;
	}
}

/* An expression of a row of the catalog. */
static void
check_attribute(int cache, Oid key, AttrNumber attribute, DpermOwners *owners)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(key));
	Datum		value;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return;
	value = SysCacheGetAttr(cache, tuple, attribute, &isnull);
	dperm_owners_text(value, isnull, owners);
	ReleaseSysCache(tuple);
}

/* The key of a partitioned table: its expressions, and how its values are compared or hashed. PostgreSQL does so when it looks for partitions. */
static void
check_partition_key(Oid table, DpermOwners *owners)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(table));
	Form_pg_partitioned_table form;
	oidvector  *classes;
	Datum		value;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_partitioned_table) GETSTRUCT(tuple);
	for (int i = 0; i < form->partnatts; i++)
		if (form->partattrs.values[i] > 0)
			dperm_owners_types_check(get_atttype(table, form->partattrs.values[i]), owners);
	value = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partclass, &isnull);
	classes = isnull ? NULL : (oidvector *) DatumGetPointer(value);
	for (int i = 0; classes && i < classes->dim1; i++)
		dperm_owners_types_family(get_opclass_family(classes->values[i]), owners);
	value = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, &isnull);
	dperm_owners_text(value, isnull, owners);
	ReleaseSysCache(tuple);
}

/*
 * The functions that the planner may call for a table: it simplifies the expressions of indexes, of extended statistics and of the partition
 * key, which can call functions of whoever made them. They are taken from the catalog: the relation cache has simplified them already.
 */
static void
check_planned(Relation table, DpermOwners *owners)
{
	ListCell   *cell;

	check_partition_key(RelationGetRelid(table), owners);
	foreach(cell, RelationGetIndexList(table))
	{
		check_attribute(INDEXRELID, lfirst_oid(cell), Anum_pg_index_indexprs, owners);
		check_attribute(INDEXRELID, lfirst_oid(cell), Anum_pg_index_indpred, owners);
	}
	foreach(cell, RelationGetStatExtList(table))
		check_attribute(STATEXTOID, lfirst_oid(cell), Anum_pg_statistic_ext_stxexprs, owners);
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

/* Begin, or end, to look at what is only planned with. No row gets there; so what has been seen there has not been seen where rows do. */
static void
switch_planned(DpermOwners *owners)
{
	ObjectAddresses *visited = owners->visited;

	owners->visited = owners->visited_elsewhere;
	owners->visited_elsewhere = visited;
	owners->planned = !owners->planned;
}

/* A table with its partitions and children. */
static void
check_table(Oid table, DpermOwners *owners)
{
	ListCell   *cell;

	/* what a partition may hold, its parents' keys tell */
	switch_planned(owners);
	foreach(cell, dperm_reach_parents(table))
		check_partition_key(lfirst_oid(cell), owners);
	switch_planned(owners);
	foreach(cell, find_all_inheritors(table, AccessShareLock, NULL))
	{
		Relation	relation = table_open(lfirst_oid(cell), AccessShareLock);

		switch_planned(owners);
		check_planned(relation, owners);
		switch_planned(owners);
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
	{
		dperm_owners_types_refuse_names(lfirst_oid(cell), lfirst_oid(cell), owners);
		dperm_owners_types_check(lfirst_oid(cell), owners);
	}
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
			ereport(dperm_owners_level(owners),
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
	dperm_owners_types_check(dperm_reach_type(node), owners);
	check_calls(node, owners);
	(void) check_functions_in_node(node, dperm_owners_function, owners);
	return expression_tree_walker(node, check_owners, owners);
}

/* Has the caller the owner's rights? And the session, whose past a function of the owner's that it calls knows nothing of? */
bool
dperm_owners_trust(Oid owner, Oid caller)
{
	return has_privs_of_role(GetSessionUserId(), owner) && has_privs_of_role(caller, owner);
}

/* Raise for a query whose functions must not run with the owner's rights. */
DpermCallees
dperm_owners_check(Oid extension, Query *tree, Oid relation, Oid owner, Oid caller)
{
	DpermOwners		owners = {.extension = extension, .relation = relation, .owner = owner, .level = ERROR, .visited = new_object_addresses(),
	.visited_elsewhere = new_object_addresses(), .trusted = dperm_owners_trust(owner, caller)};
	Oid			namespace,
				toast_namespace;

	(void) check_owners((Node *) tree, &owners);
	free_object_addresses(owners.visited);
	free_object_addresses(owners.visited_elsewhere);
	GetTempNamespaceState(&namespace, &toast_namespace);
	if (OidIsValid(owners.own) && OidIsValid(namespace) && !owners.trusted)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("protected relation \"%s\" calls function %s, which might find temporary objects of this session",
						get_rel_name(relation), format_procedure(owners.own)),
				 errhint("Start a new session, and create no temporary objects in it.")));
	return (DpermCallees) {.limited = !owners.trusted, .functions = owners.functions, .unseen = owners.unseen};
}

/* Warn of what would be refused. */
void
dperm_owners_warn(Oid extension, Oid relation, Oid owner, List *columns)
{
	DpermOwners		owners = {.extension = extension, .relation = relation, .owner = owner, .level = WARNING, .visited = new_object_addresses(),
	.visited_elsewhere = new_object_addresses()};
	RangeTblEntry entry = {.type = T_RangeTblEntry, .rtekind = RTE_RELATION, .relid = relation, .relkind = get_rel_relkind(relation)};

	ListCell   *cell;

	check_entry(&entry, &owners);
	foreach(cell, columns)
		dperm_owners_types_check(get_atttype(relation, lfirst_int(cell)), &owners);
	free_object_addresses(owners.visited);
	free_object_addresses(owners.visited_elsewhere);

	/* the planner calls functions: not if there are some that must not run */
	if (entry.relkind == RELKIND_VIEW && !owners.warned)
		dperm_inlined_warn(relation, owner, owners.unseen);
}
