/*
 * owners.c: whose functions run with the rights of a relation's owner.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "domains.h"
#include "owners.h"
#include "reach.h"

/* Whose functions may run, and whether there are some of the owner's own. */
typedef struct Owners
{
	Oid			extension;		/* ours */
	Oid			relation;
	Oid			owner;			/* of the relation */
	bool		trusted;		/* does the caller have the owner's rights, and the session, too? */
	Oid			own;			/* a function of theirs */
	bool		aside;			/* is what is looked at only possibly called? */
	List	   *functions;		/* all that have been checked */
	Oid			within;			/* the function whose body is looked at, InvalidOid for the query itself */
	int			level;			/* of messages: ERROR, or WARNING where nothing runs yet */
	ObjectAddresses *visited;	/* functions, types and views that have been checked */
} Owners;

static bool check_owners(Node *node, void *owners);
static bool check_owner(Oid function, void *context);
static void check_dependencies(Oid class, Oid object, Owners *owners);
static void check_type(Oid type, Owners *owners);
static void check_operator(Oid operator, Owners *owners);

/* Is an object seen for the first time? */
static bool
is_new(Owners *owners, Oid class, Oid object)
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
refuse_reader(Oid function, const char *what, const Owners *owners)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s, which protected relation \"%s\" calls, %s", format_procedure(function), get_rel_name(owners->relation), what),
			 errhint("What is computed of a row may depend on that row alone: functions get its values as arguments, read no table, view or catalog, and call nothing volatile.")));
}

/* What an aggregate is made of. Functions of PostgreSQL are no dependencies, and neither is the type of the state. */
static void
check_aggregate(Oid aggregate, Owners *owners)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	{
		Oid			functions[] = {form->aggtransfn, form->aggfinalfn, form->aggcombinefn, form->aggserialfn, form->aggdeserialfn,
		form->aggmtransfn, form->aggminvtransfn, form->aggmfinalfn};

		for (int i = 0; i < lengthof(functions); i++)
			if (OidIsValid(functions[i]))
				(void) check_owner(functions[i], owners);
	}
	check_type(form->aggtranstype, owners);
	check_type(form->aggmtranstype, owners);
	check_operator(form->aggsortop, owners);
	ReleaseSysCache(tuple);
}

/* Check what a function of the owner or of a superuser runs; raise if nobody knows. */
static void
check_body(Oid function, HeapTuple tuple, Owners *owners)
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

	/* what returns rows and is not IMMUTABLE has them from somewhere */
	else if (form->provolatile != PROVOLATILE_IMMUTABLE && (compiled ? form->proretset : owners->trusted))
		refuse_reader(function, "may read any table", owners);
	else if ((!compiled || !superuser_arg(form->proowner)) && !owners->trusted)
		ereport(owners->level,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s cannot run with the rights of the owner of protected relation \"%s\"",
						format_procedure(function), get_rel_name(owners->relation)),
				 errhint("What it does can depend on what this session did before. The owner has to write it in SQL with RETURN or BEGIN ATOMIC, and so the functions that it calls.")));
}

/* An expression that the catalog has as text. */
static void
check_text(Datum expression, bool isnull, Owners *owners)
{
	if (!isnull)
		(void) check_owners(stringToNode(TextDatumGetCString(expression)), owners);
}

/* What the planner adds to a call, which no query shows: default arguments, and casts to the types that a function returns and takes. */
static void
check_signature(HeapTuple tuple, Owners *owners)
{
	bool		isnull;
	Datum		defaults = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			count = get_func_arg_info(tuple, &types, &names, &modes);

	check_text(defaults, isnull, owners);
	check_type(((Form_pg_proc) GETSTRUCT(tuple))->prorettype, owners);
	for (int i = 0; i < count; i++)
		check_type(types[i], owners);
}

/* Raise for a function that must not run with the owner's rights. */
static bool
check_owner(Oid function, void *context)
{
	Owners	   *owners = context;
	HeapTuple	tuple;
	Oid			owner;

	if (dperm_reach_by_name(function))
		refuse_reader(function, "may read any table", owners);

	/* those of the query itself are refused; of others the mark is believed, as it is of the function that calls them */
	if (OidIsValid(owners->within) && func_volatile(function) == PROVOLATILE_VOLATILE &&
		(function < FirstNormalObjectId || getExtensionOfObject(ProcedureRelationId, function) == owners->extension))
		refuse_reader(owners->within, psprintf("calls volatile function %s", format_procedure(function)), owners);

	/* what initdb has made belongs to PostgreSQL; an administrator who gives it away gives away the server */
	if (function < FirstNormalObjectId)
		return false;
	if (getExtensionOfObject(ProcedureRelationId, function) == owners->extension)
	{
		owners->functions = lappend_oid(owners->functions, function);
		return false;
	}
	if (!owners->aside)
		owners->own = function;
	if (!is_new(owners, ProcedureRelationId, function))
		return false;
	owners->functions = lappend_oid(owners->functions, function);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	if (owner != owners->owner && !superuser_arg(owner))
		ereport(owners->level,
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

/* The functions of an operator family: how values are compared and hashed, wherever PostgreSQL does so. */
static void
check_family(Oid family, Owners *owners)
{
	bool		before = owners->aside;
	CatCList   *functions;
	CatCList   *operators;

	if (family < FirstNormalObjectId || !is_new(owners, OperatorFamilyRelationId, family))
		return;
	owners->aside = true;
	functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	for (int i = 0; i < functions->n_members; i++)
		(void) check_owner(((Form_pg_amproc) GETSTRUCT(&functions->members[i]->tuple))->amproc, owners);
	ReleaseSysCacheList(functions);
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	for (int i = 0; i < operators->n_members; i++)
		check_operator(((Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple))->amopopr, owners);
	ReleaseSysCacheList(operators);
	owners->aside = before;
}

/* The functions behind an operator. The planner may put its negator or its commutator in its place, and hash or compare by a family that it is in. */
static void
check_operator(Oid operator, Owners *owners)
{
	HeapTuple	tuple;
	Form_pg_operator form;
	CatCList   *members;

	if (!OidIsValid(operator) || !is_new(owners, OperatorRelationId, operator))
		return;
	members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	for (int i = 0; i < members->n_members; i++)
		check_family(((Form_pg_amop) GETSTRUCT(&members->members[i]->tuple))->amopfamily, owners);
	ReleaseSysCacheList(members);
	if (operator < FirstNormalObjectId)
		return;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	{
		Oid			functions[] = {form->oprcode, form->oprrest, form->oprjoin};

		for (int i = 0; i < lengthof(functions); i++)
			if (OidIsValid(functions[i]))
				(void) check_owner(functions[i], owners);
	}
	check_operator(form->oprnegate, owners);
	check_operator(form->oprcom, owners);
	ReleaseSysCache(tuple);
}

/* Is a function one of PostgreSQL's own that make values of a type which an argument names? In a cast the type is known. */
static bool
takes_type(Oid function)
{
	return function == F_ARRAY_IN || function == F_DOMAIN_IN || function == F_RANGE_IN || function == F_MULTIRANGE_IN || function == F_RECORD_IN || function == F_ENUM_IN;
}

/* What else PostgreSQL calls for an expression or clause; its functions are looked at with all others. */
static void
check_calls(Node *node, Owners *owners)
{
	ListCell   *cell;

	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			check_operator(((OpExpr *) node)->opno, owners);
			break;
		case T_ScalarArrayOpExpr:
			check_operator(((ScalarArrayOpExpr *) node)->opno, owners);
			break;
		case T_RowCompareExpr:
			foreach(cell, ((RowCompareExpr *) node)->opnos)
				check_operator(lfirst_oid(cell), owners);
			break;
		case T_SortGroupClause:
			check_operator(((SortGroupClause *) node)->eqop, owners);
			check_operator(((SortGroupClause *) node)->sortop, owners);
			break;
		case T_WindowClause:
			if (OidIsValid(((WindowClause *) node)->startInRangeFunc))
				(void) check_owner(((WindowClause *) node)->startInRangeFunc, owners);
			if (OidIsValid(((WindowClause *) node)->endInRangeFunc))
				(void) check_owner(((WindowClause *) node)->endInRangeFunc, owners);
			break;
		case T_FuncExpr:
			if (takes_type(((FuncExpr *) node)->funcid))
				refuse_reader(((FuncExpr *) node)->funcid, "makes values of a type that its arguments name", owners);
			break;
		default:
			break;
	}
}

/* An object that another depends on. */
static void
check_dependency(Oid class, Oid object, void *owners)
{
	if (class == ProcedureRelationId)
		(void) check_owner(object, owners);
	else if (class == OperatorRelationId)
		check_operator(object, owners);
	else if (class == TypeRelationId)
		check_type(object, owners);
	else if (class == OperatorClassRelationId)
		check_family(get_opclass_family(object), owners);
}

/* The functions that an object depends on, also those behind operators. */
static void
check_dependencies(Oid class, Oid object, Owners *owners)
{
	dperm_reach_dependencies(class, object, check_dependency, owners);
}

/* An expression of a row of the catalog. */
static void
check_attribute(int cache, Oid key, AttrNumber attribute, Owners *owners)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(key));
	Datum		value;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return;
	value = SysCacheGetAttr(cache, tuple, attribute, &isnull);
	check_text(value, isnull, owners);
	ReleaseSysCache(tuple);
}

/* The key of a partitioned table: its expressions, and how its values are compared or hashed. PostgreSQL does so when it looks for partitions. */
static void
check_partition_key(Oid table, Owners *owners)
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
			check_type(get_atttype(table, form->partattrs.values[i]), owners);
	value = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partclass, &isnull);
	classes = isnull ? NULL : (oidvector *) DatumGetPointer(value);
	for (int i = 0; classes && i < classes->dim1; i++)
		check_family(get_opclass_family(classes->values[i]), owners);
	value = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, &isnull);
	check_text(value, isnull, owners);
	ReleaseSysCache(tuple);
}

/*
 * The functions that the planner may call for a table: it simplifies the expressions of indexes, of extended statistics and of the partition
 * key, which can call functions of whoever made them. They are taken from the catalog: the relation cache has simplified them already.
 */
static void
check_table(Oid table, Owners *owners)
{
	Relation	relation = table_open(table, AccessShareLock);
	ListCell   *cell;

	check_partition_key(table, owners);
	foreach(cell, RelationGetIndexList(relation))
	{
		check_attribute(INDEXRELID, lfirst_oid(cell), Anum_pg_index_indexprs, owners);
		check_attribute(INDEXRELID, lfirst_oid(cell), Anum_pg_index_indpred, owners);
	}
	foreach(cell, RelationGetStatExtList(relation))
		check_attribute(STATEXTOID, lfirst_oid(cell), Anum_pg_statistic_ext_stxexprs, owners);
	table_close(relation, NoLock);
}

/* The query of a view that has not been expanded: when it is protected. */
static void
check_view(Oid view, Owners *owners)
{
	Relation	relation;

	if (!is_new(owners, RelationRelationId, view))
		return;
	relation = table_open(view, AccessShareLock);
	(void) check_owners((Node *) dperm_domains_view_query(relation), owners);
	table_close(relation, NoLock);
}

/* The same for what is read: tables with their partitions and children, and views. */
static void
check_entry(const RangeTblEntry *entry, Owners *owners)
{
	ListCell   *cell;

	if (entry->rtekind != RTE_RELATION)
		return;
	if (OidIsValid(owners->within))
		refuse_reader(owners->within, psprintf("reads relation \"%s\"", get_rel_name(entry->relid)), owners);
	if (entry->relkind == RELKIND_VIEW)
		check_view(entry->relid, owners);
	else
	{
		/* what a partition may hold, its parents' keys tell */
		foreach(cell, dperm_reach_parents(entry->relid))
			check_partition_key(lfirst_oid(cell), owners);
		foreach(cell, find_all_inheritors(entry->relid, AccessShareLock, NULL))
			check_table(lfirst_oid(cell), owners);
	}
}

/* The functions in the constraints of a domain. */
static void
check_constraints(Oid type, Owners *owners)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &isnull);

		check_text(value, isnull, owners);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* How values of a type are compared and hashed by default. PostgreSQL does so in GREATEST, in arrays and in records, and keeps the functions for the session. */
static void
check_ordering(Oid type, Owners *owners)
{
	Oid			methods[] = {BTREE_AM_OID, HASH_AM_OID};

	for (int i = 0; i < lengthof(methods); i++)
	{
		Oid			class = GetDefaultOpClass(type, methods[i]);

		if (OidIsValid(class))
			check_family(get_opclass_family(class), owners);
	}
}

/* The functions for a type in any operator family, also in one of PostgreSQL. */
static void
check_members(Oid type, Owners *owners)
{
	Relation	catalog = table_open(AccessMethodProcedureRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	bool		before = owners->aside;
	HeapTuple	tuple;

	owners->aside = true;
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_amproc form = (Form_pg_amproc) GETSTRUCT(tuple);

		if (form->amproclefttype == type || form->amprocrighttype == type)
			(void) check_owner(form->amproc, owners);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	catalog = table_open(AccessMethodOperatorRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(tuple);

		if (form->amoplefttype == type || form->amoprighttype == type)
			check_operator(form->amopopr, owners);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	owners->aside = before;
}

/* Is a type somebody else's? */
static bool
is_strange(Oid type, const Owners *owners)
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
	return owner != owners->owner && !superuser_arg(owner);
}

/* Raise for a type of somebody else, who can give it constraints and casts at any moment. */
static void
check_type_owner(Oid type, const Owners *owners)
{
	if (is_strange(type, owners))
		ereport(owners->level,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("type %s does not belong to the owner of protected relation \"%s\"", format_type_be(type),
						get_rel_name(owners->relation)),
				 errhint("Its owner could have functions run with the rights of the relation's owner. The owner of the relation, or a superuser, has to own the type.")));
}

/* The casts from and to a type. Some functions of PostgreSQL look for one when they are called: those that make text or JSON of anything. */
static void
check_casts(Oid type, Owners *owners)
{
	Relation	catalog = table_open(CastRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	bool		before = owners->aside;
	HeapTuple	tuple;

	owners->aside = true;
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_cast form = (Form_pg_cast) GETSTRUCT(tuple);

		/* whoever owns one of the types can make a cast; values of a stranger's type are refused anyway */
		if ((form->castsource == type || form->casttarget == type) && OidIsValid(form->castfunc) &&
			!is_strange(form->castsource, owners) && !is_strange(form->casttarget, owners))
			(void) check_owner(form->castfunc, owners);
	}
	owners->aside = before;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* The types of the columns of a composite type. */
static void
check_column_list(Oid relation, Owners *owners)
{
	Relation	composite = relation_open(relation, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(composite);

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			check_type(TupleDescAttr(desc, i)->atttypid, owners);
	relation_close(composite, NoLock);
}

/*
 * The functions that values of a type are made and compared with, beyond those of the type itself: casts, operator families, and constraints of domains, also within arrays, records and
 * ranges, whose input is a function of PostgreSQL that calls the others.
 */
static void
check_type(Oid type, Owners *owners)
{
	Oid			parts[] = {get_element_type(type), get_range_subtype(type), get_multirange_range(type)};

	if (!OidIsValid(type) || !is_new(owners, TypeRelationId, type))
		return;
	check_ordering(type, owners);
	if (type >= FirstNormalObjectId)
	{
		check_type_owner(type, owners);
		check_dependencies(TypeRelationId, type, owners);
		check_casts(type, owners);
		check_members(type, owners);
	}
	for (int i = 0; i < lengthof(parts); i++)
		check_type(parts[i], owners);
	if (type < FirstNormalObjectId)
		return;
	if (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Oid			base;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		base = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
		check_constraints(type, owners);
		check_type(base, owners);
	}
	else if (get_typtype(type) == TYPTYPE_COMPOSITE)
		check_column_list(get_typ_typrelid(type), owners);
}

/* Types of a list. */
static void
check_types(List *types, Owners *owners)
{
	ListCell   *cell;

	foreach(cell, types)
		check_type(lfirst_oid(cell), owners);
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
			ereport(((Owners *) owners)->level,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("a function that protected relation \"%s\" calls does not only read",
							get_rel_name(((Owners *) owners)->relation)),
					 errhint("It would run with the owner's rights.")));
		return query_tree_walker(query, check_owners, owners, QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
	}
	if (IsA(node, TableFunc))
		check_types(((TableFunc *) node)->coltypes, owners);
	if (IsA(node, RangeTblFunction))
		check_types(((RangeTblFunction *) node)->funccoltypes, owners);
	check_type(dperm_reach_type(node), owners);
	check_calls(node, owners);
	(void) check_functions_in_node(node, check_owner, owners);
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
	Owners		owners = {.extension = extension, .relation = relation, .owner = owner, .level = ERROR, .visited = new_object_addresses(),
	.trusted = dperm_owners_trust(owner, caller)};
	Oid			namespace,
				toast_namespace;

	(void) check_owners((Node *) tree, &owners);
	free_object_addresses(owners.visited);
	GetTempNamespaceState(&namespace, &toast_namespace);
	if (OidIsValid(owners.own) && OidIsValid(namespace) && !owners.trusted)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("protected relation \"%s\" calls function %s, which might find temporary objects of this session",
						get_rel_name(relation), format_procedure(owners.own)),
				 errhint("Start a new session, and create no temporary objects in it.")));
	return (DpermCallees) {.limited = !owners.trusted, .functions = owners.functions};
}

/* Warn of what would be refused. */
void
dperm_owners_warn(Oid extension, Oid relation, Oid owner, List *columns)
{
	Owners		owners = {.extension = extension, .relation = relation, .owner = owner, .level = WARNING, .visited = new_object_addresses()};
	RangeTblEntry entry = {.type = T_RangeTblEntry, .rtekind = RTE_RELATION, .relid = relation, .relkind = get_rel_relkind(relation)};

	ListCell   *cell;

	check_entry(&entry, &owners);
	foreach(cell, columns)
		check_type(get_atttype(relation, lfirst_int(cell)), &owners);
	free_object_addresses(owners.visited);
}
