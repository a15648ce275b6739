/*
 * allowed_code.c: whose functions run with the rights of a relation's owner.
 *
 * A walk through all that PostgreSQL may call for a query. Functions lead to
 * types and operators, and these to functions.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
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

#include "base/known_tree.h"
#include "column/domains.h"
#include "protect/allowed_builtins.h"
#include "protect/allowed_code.h"
#include "protect/locks.h"
#include "protect/worker_rules.h"
#include "relation/row_sources.h"

/* Whose functions may run, and what has been seen. */
typedef struct Walk
{
	Oid			extension;		/* ours */
	Oid			relation;
	Oid			owner;			/* of the relation */
	/* the function whose body is checked, InvalidOid for the query itself */
	Oid			within;
	int			level;			/* of messages: ERROR, or WARNING where nothing runs yet */
	bool		planned;		/* has the planner done its work? */
	ObjectAddresses *visited;	/* functions, types and views already checked */
} Walk;

static bool check_function(Oid function, void *walk);
static bool check_node(Node *node, void *walk);
static void check_text(Datum expression, bool isnull, Oid class, Oid object, Walk *walk);
static void check_type(Oid type, Walk *walk);

/* Is an object seen for the first time? */
static bool
is_new(Walk *walk, Oid class, Oid object)
{
	ObjectAddress address;

	ObjectAddressSet(address, class, object);
	if (object_address_present(&address, walk->visited))
		return false;
	add_exact_object_address(&address, walk->visited);
	check_stack_depth();
	return true;
}

/*
 * The functions behind an operator. The planner may use its negator or its
 * commutator instead.
 */
static void
check_operator(Oid operator, Walk *walk)
{
	if (!OidIsValid(operator) || !is_new(walk, OperatorRelationId, operator))
		return;
	if (OidIsValid(get_opcode(operator)))
		(void) check_function(get_opcode(operator), walk);
	if (operator < FirstNormalObjectId)
		return;
	check_operator(get_negator(operator), walk);
	check_operator(get_commutator(operator), walk);
}

/* The functions that a range type is made with. */
static void
check_range(Oid class, Oid object, void *walk)
{
	if (class == ProcedureRelationId)
		(void) check_function(object, walk);
}

/* The functions in the constraints of a domain. */
static void
check_constraints(Oid type, Walk *walk)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value =
			heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &isnull);

		check_text(value, isnull, TypeRelationId, type, walk);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Does a type belong to neither the owner nor a superuser? */
static bool
is_strange(Oid type, const Walk *walk)
{
	HeapTuple	tuple;
	Oid			owner;

	if (type < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	owner = ((Form_pg_type) GETSTRUCT(tuple))->typowner;
	ReleaseSysCache(tuple);
	return owner != walk->owner && !superuser_arg(owner);
}

/*
 * Raise an error for a type of another role, which can add constraints and
 * casts to it at any time.
 */
static void
check_type_owner(Oid type, Walk *walk)
{
	if (is_strange(type, walk))
		ereport(walk->level,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("type %s does not belong to the owner of protected relation "
						"\"%s\"", format_type_be(type),
						get_rel_name(walk->relation)),
				 errdetail("The owner of the type could have functions run with the rights of the "
						   "relation's owner."),
				 errhint("The owner of the relation or a superuser must own the type.")));
}

/*
 * The functions of casts from and to a type. Some built-in functions look for a
 * cast when they are called: those that convert anything to text or JSON.
 */
static void
check_casts(Oid type, Walk *walk)
{
	Relation	catalog = table_open(CastRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_cast form = (Form_pg_cast) GETSTRUCT(tuple);

		/*
		 * whoever owns one of the types can create a cast; values of another
		 * role's type are refused anyway
		 */
		if ((form->castsource == type || form->casttarget == type) && OidIsValid(form->castfunc) &&
			!is_strange(form->castsource, walk) && !is_strange(form->casttarget, walk))
			(void) check_function(form->castfunc, walk);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * Raise an error for a type whose values stand for an object of the catalog:
 * they are read and written as names, which can change at any time.
 */
static void
refuse_names(Oid type, Walk *walk)
{
	if (dperm_allowed_builtins_names_object(type))
		ereport(walk->level,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("values of type %s behind protected relation \"%s\" depend on names in "
						"the catalog", format_type_be(type), get_rel_name(walk->relation)),
				 errdetail("What is computed from a row may depend only on that row."),
				 errhint("Compare an OID with a constant, as in tableoid = 'part'::regclass.")));
}

/* The types of the columns of a composite type. */
static void
check_column_list(Oid relation, Walk *walk)
{
	Relation	composite;
	TupleDesc	desc;

	dperm_locks_hold_type(relation);
	composite = relation_open(relation, AccessShareLock);
	desc = RelationGetDescr(composite);
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			check_type(TupleDescAttr(desc, i)->atttypid, walk);
	relation_close(composite, NoLock);
}

/* The base type and the constraints of a domain. */
static void
check_domain(Oid type, Walk *walk)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			base;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	base = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
	ReleaseSysCache(tuple);
	check_constraints(type, walk);
	check_type(base, walk);
}

/* The owner, casts and constraints of a type that is not built in. */
static void
check_others_type(Oid type, Walk *walk)
{
	check_type_owner(type, walk);
	check_casts(type, walk);
	if (get_typtype(type) == TYPTYPE_RANGE)
		dperm_row_sources_dependencies(TypeRelationId, type, check_range, walk);
	else if (get_typtype(type) == TYPTYPE_DOMAIN)
		check_domain(type, walk);
}

/*
 * The functions that values of a type are made with, beyond those of the type
 * itself: casts and constraints of domains, also within arrays, records and
 * ranges, whose built-in input functions call the others. Comparison is up to
 * operator classes, which only superusers can create, just like types with
 * functions in C.
 */
static void
check_type(Oid type, Walk *walk)
{
	if (!OidIsValid(type) || !is_new(walk, TypeRelationId, type))
		return;
	refuse_names(type, walk);
	check_type(get_element_type(type), walk);
	check_type(get_range_subtype(type), walk);
	check_type(get_multirange_range(type), walk);
	if (type >= FirstNormalObjectId)
		check_others_type(type, walk);
	if (get_typtype(type) == TYPTYPE_COMPOSITE)
		check_column_list(get_typ_typrelid(type), walk);
}

/*
 * Raise an error for a function that reads a table, or may read one. What it
 * finds there are other rows, so a single person or row could affect all rows
 * that the function is called for. This is an error for every caller, and also
 * when a relation is protected.
 */
static void
refuse_reader(Oid function, const char *what, const Walk *walk)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s, which protected relation \"%s\" "
					"calls, %s", format_procedure(function), get_rel_name(walk->relation), what),
			 errdetail("What is computed from a row may depend only on that row."),
			 errhint("Functions must take the values of the row as arguments, read no table, view "
					 "or catalog, and call nothing volatile.")));
}

/*
 * Raise an error for a function that cannot be inspected and is not marked as
 * depending only on its arguments.
 */
static void
refuse_opaque(Oid function, Walk *walk)
{
	ereport(walk->level,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s, which protected relation \"%s\" calls, is not "
					"IMMUTABLE", format_procedure(function), get_rel_name(walk->relation)),
			 errdetail("What is computed from a row may depend only on that row."),
			 errhint("Mark the function IMMUTABLE if it does, or write it in SQL with RETURN or "
					 "BEGIN ATOMIC, so that it can be checked.")));
}

/* Raise an error for a function of another role; false if that is a warning. */
static bool
check_trust(Oid function, Walk *walk)
{
	if (dperm_worker_rules_function(function, walk->owner, walk->extension))
		return true;
	ereport(walk->level,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("function %s does not belong to the owner of protected relation \"%s\"",
					format_procedure(function), get_rel_name(walk->relation)),
			 errdetail("It would run with the owner's rights."),
			 errhint("The owner of the relation or a superuser must own the function.")));
	return false;
}

/*
 * What an aggregate uses besides its functions: the type of its state is not a
 * dependency.
 */
static void
check_aggregate(Oid aggregate, Walk *walk)
{
	HeapTuple	tuple;
	Form_pg_aggregate form;

	(void) dperm_row_sources_aggregate(aggregate, check_function, walk);
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	check_type(form->aggtranstype, walk);
	check_type(form->aggmtranstype, walk);
	check_operator(form->aggsortop, walk);
	ReleaseSysCache(tuple);
}

/*
 * Check what a function of the owner or of a superuser runs. If it cannot be
 * inspected, its volatility is believed.
 */
static void
check_body(Oid function, HeapTuple tuple, Walk *walk)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	bool		isnull;
	Datum		body = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &isnull);

	if (form->prokind == PROKIND_AGGREGATE)
		check_aggregate(function, walk);
	else if (form->prolang == SQLlanguageId && !isnull)
	{
		Oid			before = walk->within;

		walk->within = function;
		check_text(body, isnull, ProcedureRelationId, function, walk);
		walk->within = before;
	}
	else if (form->provolatile != PROVOLATILE_IMMUTABLE)
		refuse_opaque(function, walk);
}

/* An expression of an object, which the catalog stores as text. */
static void
check_text(Datum expression, bool isnull, Oid class, Oid object, Walk *walk)
{
	if (!isnull)
		(void) check_node(dperm_known_tree_read(TextDatumGetCString(expression), class, object),
						  walk);
}

/*
 * What the planner adds to a call and no query shows: default arguments, and
 * casts to the result and argument types.
 */
static void
check_signature(HeapTuple tuple, Walk *walk)
{
	bool		isnull;
	Datum		defaults = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			count = get_func_arg_info(tuple, &types, &names, &modes);

	check_text(defaults, isnull, ProcedureRelationId,
			   ((Form_pg_proc) GETSTRUCT(tuple))->oid, walk);
	check_type(((Form_pg_proc) GETSTRUCT(tuple))->prorettype, walk);
	for (int i = 0; i < count; i++)
		check_type(types[i], walk);
}

/*
 * Raise an error for a function of PostgreSQL or of this extension that must
 * not be called; for others, their volatility is believed.
 */
static void
check_fault(Oid function, const char *fault, const Walk *walk)
{
	if (fault && OidIsValid(walk->within))
		refuse_reader(walk->within, psprintf("calls function %s, "
											 "which %s", format_procedure(function), fault), walk);
	else if (fault)
		refuse_reader(function, fault, walk);
}

/* Raise an error for a function that must not run with the owner's rights. */
static bool
check_function(Oid function, void *context)
{
	Walk *walk = context;
	HeapTuple	tuple;

	if (function < FirstNormalObjectId)
	{
		check_fault(function, dperm_allowed_builtins_fault(function), walk);
		return false;
	}
	if (getExtensionOfObject(ProcedureRelationId, function) == walk->extension)
	{
		check_fault(function,
					func_volatile(function) == PROVOLATILE_VOLATILE ? "is volatile" : NULL, walk);
		return false;
	}
	if (!is_new(walk, ProcedureRelationId, function))
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	if (check_trust(function, walk))
		check_body(function, tuple, walk);
	check_signature(tuple, walk);
	ReleaseSysCache(tuple);
	return false;
}

/*
 * Is a function a built-in one that makes values of a type given as an
 * argument? In a cast, the type is known.
 */
static bool
takes_type(Oid function)
{
	return function == F_ARRAY_IN || function == F_DOMAIN_IN || function == F_RANGE_IN ||
		   function == F_MULTIRANGE_IN || function == F_RECORD_IN || function == F_ENUM_IN;
}

/*
 * What else PostgreSQL calls for an expression or clause, apart from its
 * functions.
 */
static void
check_calls(Node *node, Walk *walk)
{
	ListCell   *cell;

	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			check_operator(((OpExpr *) node)->opno, walk);
			break;
		case T_ScalarArrayOpExpr:
			check_operator(((ScalarArrayOpExpr *) node)->opno, walk);
			break;
		case T_RowCompareExpr:
			foreach(cell, ((RowCompareExpr *) node)->opnos)
				check_operator(lfirst_oid(cell), walk);
			break;
		case T_SortGroupClause:
			check_operator(((SortGroupClause *) node)->eqop, walk);
			check_operator(((SortGroupClause *) node)->sortop, walk);
			break;
		case T_FuncExpr:
			if (takes_type(((FuncExpr *) node)->funcid))
				refuse_reader(((FuncExpr *) node)->funcid, "makes values of a type that its "
					"arguments name", walk);
			break;
		default:
			break;
	}
}

/*
 * Generated columns that are computed when read. Stored ones are like any other
 * column. Those of children are computed as the table says.
 */
static void
check_virtual(Oid oid, Walk *walk)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	Relation	table = table_open(oid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(table);

	for (int i = 0; desc->constr && i < desc->constr->num_defval; i++)
	{
		AttrDefault *def = &desc->constr->defval[i];

		if (TupleDescAttr(desc, def->adnum - 1)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
			(void) check_node(dperm_known_tree_read(def->adbin, RelationRelationId, oid), walk);
	}
	table_close(table, NoLock);
#endif
}

/*
 * A function that an expression of a table depends on, and the functions that
 * it depends on in turn. They are never called for rows, so only their owner
 * matters. Objects checked this way are recorded as visited with subobject 1,
 * so that they are still checked where rows are involved.
 */
static void
check_planned(Oid class, Oid object, void *walk)
{
	ObjectAddress address = {.classId = class, .objectId = object, .objectSubId = 1};

	if (object < FirstNormalObjectId ||
		(class != ProcedureRelationId && class != OperatorRelationId) ||
		object_address_present(&address, ((Walk *) walk)->visited))
		return;
	add_exact_object_address(&address, ((Walk *) walk)->visited);
	check_stack_depth();
	if (class == ProcedureRelationId)
		(void) check_trust(object, walk);
	dperm_row_sources_dependencies(class, object, check_planned, walk);
}

/*
 * A table with its partitions and children. The planner simplifies the
 * expressions of indexes, of extended statistics and of partition keys, also
 * those of parents.
 */
static void
check_table(Oid table, Walk *walk)
{
	ListCell   *cell,
			   *object;

	foreach(cell, dperm_row_sources_parents(table))
		dperm_row_sources_dependencies(RelationRelationId, lfirst_oid(cell), check_planned, walk);
	foreach(cell, find_all_inheritors(table, AccessShareLock, NULL))
	{
		Relation	relation = table_open(lfirst_oid(cell), AccessShareLock);

		dperm_row_sources_dependencies(RelationRelationId, lfirst_oid(cell), check_planned, walk);
		foreach(object, RelationGetIndexList(relation))
			dperm_row_sources_dependencies(RelationRelationId, lfirst_oid(object), check_planned,
										   walk);
		foreach(object, RelationGetStatExtList(relation))
			dperm_row_sources_dependencies(StatisticExtRelationId, lfirst_oid(object),
										   check_planned, walk);
		table_close(relation, NoLock);
	}
}

/* The query of a view that has not been expanded, when it is protected. */
static void
check_view(Oid view, Walk *walk)
{
	Relation	relation;

	if (!is_new(walk, RelationRelationId, view))
		return;
	relation = table_open(view, AccessShareLock);
	(void) check_node((Node *) dperm_domains_view_query(relation), walk);
	table_close(relation, NoLock);
}

/*
 * Check what a query reads: tables with their partitions and children, and
 * views.
 */
static void
check_entry(const RangeTblEntry *entry, Walk *walk)
{
	if (entry->rtekind != RTE_RELATION)
		return;
	if (OidIsValid(walk->within))
		refuse_reader(walk->within, psprintf("reads relation "
											 "\"%s\"", get_rel_name(entry->relid)), walk);
	if (entry->relkind == RELKIND_VIEW)
	{
		check_view(entry->relid, walk);
		return;
	}
	check_virtual(entry->relid, walk);
	if (!walk->planned)
		check_table(entry->relid, walk);
}

/*
 * The types of a list of columns, whose values a function may read from text.
 */
static void
check_types(List *types, Walk *walk)
{
	ListCell   *cell;

	foreach(cell, types)
		check_type(lfirst_oid(cell), walk);
}

/*
 * Is a node a constant that stands for an object but is used as an OID, as in
 * tableoid = 'part'::regclass?
 */
static bool
is_number(Node *node)
{
	return IsA(node, RelabelType) && ((RelabelType *) node)->resulttype == OIDOID &&
		   IsA(((RelabelType *) node)->arg, Const) &&
		   ((Const *) ((RelabelType *) node)->arg)->consttype < FirstNormalObjectId;
}

/*
 * Check every function of a query, including those behind operators, casts and
 * policies.
 */
static bool
check_node(Node *node, void *walk)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		check_entry((RangeTblEntry *) node, walk);
		return false;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		/*
		 * triggers, rules and defaults are not checked: only the body of a
		 * function can contain such a statement
		 */
		if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
			ereport(((Walk *) walk)->level,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("a function that protected relation \"%s\" calls does more than read",
							get_rel_name(((Walk *) walk)->relation)),
					 errdetail("It would run with the owner's rights.")));
		return query_tree_walker(query, check_node, walk,
								 QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
	}
	if (IsA(node, TableFunc))
		check_types(((TableFunc *) node)->coltypes, walk);
	if (IsA(node, RangeTblFunction))
		check_types(((RangeTblFunction *) node)->funccoltypes, walk);
	if (is_number(node))
		return false;
	check_type(dperm_row_sources_type(node), walk);
	check_calls(node, walk);
	(void) check_functions_in_node(node, check_function, walk);
	return expression_tree_walker(node, check_node, walk);
}

/*
 * Raise an error for a query whose functions must not run with the owner's
 * rights.
 */
void
dperm_allowed_code_check(Oid extension, Node *tree, Oid relation, Oid owner, bool planned)
{
	Walk walk = {.extension = extension,
				 .relation = relation,
				 .owner = owner,
				 .level = ERROR,
				 .planned = planned,
				 .visited = new_object_addresses()};

	(void) check_node(tree, &walk);
	free_object_addresses(walk.visited);
}

/* Warn of what would be refused. */
void
dperm_allowed_code_warn(Oid extension, Oid relation, Oid owner, List *columns)
{
	Walk walk = {.extension = extension,
				 .relation = relation,
				 .owner = owner,
				 .level = WARNING,
				 .visited = new_object_addresses()};
	RangeTblEntry entry = {.type = T_RangeTblEntry,
						   .rtekind = RTE_RELATION,
						   .relid = relation,
						   .relkind = get_rel_relkind(relation)};
	ListCell   *cell;

	check_entry(&entry, &walk);
	foreach(cell, columns)
		check_type(get_atttype(relation, lfirst_int(cell)), &walk);
	free_object_addresses(walk.visited);
}
