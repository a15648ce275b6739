/*
 * view.c: what a view shows of its table.
 *
 * A view that is offered shows expressions over one row of one table, and they
 * depend on that row alone: they run no code but PostgreSQL's own, which reads
 * no table, no catalog and no setting. Nothing of this is proved. There is a
 * list of what an expression may consist of, and one walker that refuses
 * everything else, also what a later version of PostgreSQL will add.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/known_tree.h"
#include "column/domains.h"
#include "protect/view.h"
#include "relation/relation.h"

#define OTHERWISE "a stored generated column, a column that a trigger fills, or a materialized " \
	"view with the unit"
#define FORM_HINT "A view has the form SELECT expressions FROM table WHERE condition. For " \
	"anything else use " OTHERWISE "."
#define VALUE_HINT "Expressions consist of columns, constants, and functions and types of " \
	"PostgreSQL. For anything else use " OTHERWISE "."
#define ENUM_HINT "Enums can be compared by =, <> and IN."
#define STABLE_HINT "Use AT TIME ZONE 'UTC' for times, and casts and || for text. Otherwise " \
	"use " OTHERWISE "."

/* Whose expressions are checked. */
typedef struct Walk
{
	Oid			relation;		/* the view or the table that has them */
	Oid			owner;			/* of it */
	int			varno;			/* of the table */
	Oid			body;			/* the built-in function whose body is checked, or InvalidOid */
	Bitmapset  *parameters;		/* its parameters, as far as they have been seen */
} Walk;

static bool check_expression(Node *node, void *context);
static const char *surplus(const Query *query);

/* Raise an error for a relation. */
static void
refuse(const Walk *walk, const char *has, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s \"%s\" cannot be %s: it %s",
					get_rel_relkind(walk->relation) == RELKIND_VIEW ? "view" : "table",
					get_rel_name(walk->relation),
					get_rel_relkind(walk->relation) == RELKIND_VIEW ? "offered" : "protected",
					has),
			 errhint("%s", hint)));
}

/*
 * The built-in base types that expressions use. Not among them are those that
 * stand for objects of the catalog, those of the system, ranges, whose
 * functions are found in the catalog, and xml, which a library reads.
 */
static bool
is_base(Oid type)
{
	static const Oid types[] = {
		BOOLOID, INT2OID, INT4OID, INT8OID, FLOAT4OID, FLOAT8OID, NUMERICOID, CASHOID,
		CHAROID, NAMEOID, TEXTOID, BPCHAROID, VARCHAROID, BYTEAOID, BITOID, VARBITOID, UUIDOID,
		DATEOID, TIMEOID, TIMETZOID, TIMESTAMPOID, TIMESTAMPTZOID, INTERVALOID,
		JSONOID, JSONBOID, JSONPATHOID, TSVECTOROID, TSQUERYOID,
		POINTOID, LSEGOID, PATHOID, BOXOID, POLYGONOID, LINEOID, CIRCLEOID,
		INETOID, CIDROID, MACADDROID, MACADDR8OID};

	for (int i = 0; i < lengthof(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

/* Is a type one of these, or an array of one? */
static bool
is_builtin(Oid type)
{
	return is_base(type) || is_base(get_element_type(type));
}

/* Is a type an enum of a role, or an array of one? */
static bool
is_own_enum(Oid type, Oid owner)
{
	Oid			element = get_element_type(type);
	HeapTuple	tuple;
	bool		result;

	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(OidIsValid(element) ? element : type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	result = ((Form_pg_type) GETSTRUCT(tuple))->typtype == TYPTYPE_ENUM &&
		((Form_pg_type) GETSTRUCT(tuple))->typowner == owner;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Base types of PostgreSQL, enums and base types of extensions, which only
 * superusers create, can be read; and so can arrays of them and domains over
 * them.
 */
void
dperm_view_check_type(const char *column, Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_base_element_type(base);
	Oid			single = OidIsValid(element) ? getBaseType(element) : base;
	char		kind = get_typtype(single);

	if (!is_base(single) && kind != TYPTYPE_ENUM &&
		!(kind == TYPTYPE_BASE && single >= FirstNormalObjectId))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of type %s cannot be used in a protected relation", column,
						format_type_be(type)),
				 errhint("Use a stored generated column of another type, such as text.")));
}

/* Raise an error for the type of a value. */
static void
check_type(Oid type, const Walk *walk)
{
	if (!is_builtin(type) && !is_own_enum(type, walk->owner))
		refuse(walk, psprintf("computes with values of type %s", format_type_be(type)),
			   VALUE_HINT);
}

/* Raise an error for a collation that can change. */
static void
check_collation(Oid collation, const Walk *walk)
{
	HeapTuple	tuple;
	Oid			schema;

	if (!OidIsValid(collation))
		return;
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	schema = ((Form_pg_collation) GETSTRUCT(tuple))->collnamespace;
	ReleaseSysCache(tuple);
	if (schema != PG_CATALOG_NAMESPACE)
		refuse(walk, psprintf("uses collation \"%s\"", get_collation_name(collation)),
			   "Use a collation of PostgreSQL, as in COLLATE \"C\".");
}

/*
 * May a function be declared with a type? Of the polymorphic ones, those whose
 * actual type is checked.
 */
static bool
is_declarable(Oid type)
{
	switch (type)
	{
		case ANYELEMENTOID:
		case ANYARRAYOID:
		case ANYNONARRAYOID:
		case ANYCOMPATIBLEOID:
		case ANYCOMPATIBLEARRAYOID:
		case ANYCOMPATIBLENONARRAYOID:
			return true;
		default:
			return is_builtin(type);
	}
}

/*
 * Why must a function not be called? NULL if it may be. The input and output
 * functions of types take and return what no other may. The hint is changed if
 * there is a better one.
 */
static const char *
function_fault(Form_pg_proc form, bool is_io, const char **hint)
{
	if (form->oid >= FirstUnpinnedObjectId)
		return "is not PostgreSQL's own";
	if (form->prokind != PROKIND_FUNCTION || form->proretset)
		return "is for several rows";
	if (form->provolatile != PROVOLATILE_IMMUTABLE)
	{
		*hint = STABLE_HINT;
		return "is not IMMUTABLE";
	}
	if (form->prolang != INTERNALlanguageId && form->prolang != SQLlanguageId)
		return "is in another language";
	/* these ask a library, too */
	if (form->oid == F_XML_IS_WELL_FORMED_CONTENT || form->oid == F_XML_IS_WELL_FORMED_DOCUMENT)
		return "reads XML";
	/* all that they compare are two numbers, which stand for the labels */
	if (is_io || form->oid == F_ENUM_EQ || form->oid == F_ENUM_NE)
		return NULL;
	if (!is_declarable(form->prorettype))
		return psprintf("returns type %s", format_type_be(form->prorettype));
	for (int i = 0; i < form->pronargs; i++)
		if (!is_declarable(form->proargtypes.values[i]))
		{
			if (form->proargtypes.values[i] == ANYENUMOID)
				*hint = ENUM_HINT;
			return psprintf("takes type %s", format_type_be(form->proargtypes.values[i]));
		}
	return NULL;
}

/*
 * Check the body of a built-in function that is written in SQL. It is one
 * expression, in which each argument appears once: so the planner always puts
 * it in the place of the call, and nothing is planned while rows are read.
 */
static void
check_body(Oid function, HeapTuple tuple, const Walk *walk)
{
	Walk		within = *walk;
	bool		isnull;
	Datum		body = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &isnull);
	Node	   *tree = isnull ? NULL :
		dperm_known_tree_read(TextDatumGetCString(body), ProcedureRelationId, function);

	check_stack_depth();
	if (tree == NULL || !IsA(tree, Query) || surplus((Query *) tree) ||
		((Query *) tree)->jointree->fromlist || ((Query *) tree)->jointree->quals)
		refuse(walk, psprintf("calls function %s, which is more than an expression",
							  format_procedure(function)), VALUE_HINT);
	within.body = function;
	within.parameters = NULL;
	(void) check_expression((Node *) ((Query *) tree)->targetList, &within);
}

/* Raise an error for a function that must not be called. */
static void
check_function(Oid function, bool is_io, const Walk *walk)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	const char *hint = VALUE_HINT;
	const char *fault;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	fault = function_fault((Form_pg_proc) GETSTRUCT(tuple), is_io, &hint);
	if (fault)
		refuse(walk, psprintf("calls function %s, which %s", format_procedure(function), fault),
			   hint);
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId)
		check_body(function, tuple, walk);
	ReleaseSysCache(tuple);
}

/*
 * Raise an error for a call. Enums are compared for equality alone: for all
 * other functions the catalog is read.
 */
static void
check_call(Oid function, Oid collation, List *arguments, const Walk *walk)
{
	ListCell   *cell;

	check_function(function, false, walk);
	check_collation(collation, walk);
	foreach(cell, arguments)
		if (function != F_ENUM_EQ && function != F_ENUM_NE &&
			is_own_enum(exprType(lfirst(cell)), walk->owner))
			refuse(walk, psprintf("calls function %s for an enum", format_procedure(function)),
				   ENUM_HINT);
}

/*
 * Raise an error for an operator. The planner may use its negator or its
 * commutator in its place, and one of PostgreSQL's operators that has none can
 * be given one.
 */
static void
check_operator(Oid operator, Oid collation, List *arguments, const Walk *walk)
{
	if (operator >= FirstUnpinnedObjectId)
		refuse(walk, psprintf("has operator %s, which is not PostgreSQL's own",
							  format_operator(operator)), VALUE_HINT);
	if (get_negator(operator) >= FirstUnpinnedObjectId ||
		get_commutator(operator) >= FirstUnpinnedObjectId)
		refuse(walk, psprintf("has operator %s, whose negator or commutator is not PostgreSQL's "
							  "own", format_operator(operator)), VALUE_HINT);
	check_call(get_opcode(operator), collation, arguments, walk);
}

/* Raise an error for a cast by way of text. */
static void
check_via_text(const CoerceViaIO *cast, const Walk *walk)
{
	Oid			function,
				parameter;
	bool		varlena;

	getTypeOutputInfo(exprType((Node *) cast->arg), &function, &varlena);
	check_function(function, true, walk);
	getTypeInputInfo(cast->resulttype, &function, &parameter);
	check_function(function, true, walk);
}

/* Raise an error for what is not a column of the table. */
static void
check_column(const Var *var, const Walk *walk)
{
	if (var->varattno < 0)
		refuse(walk, "has a system column", VALUE_HINT);
	if (var->varattno == 0)
		refuse(walk, "has a whole row", VALUE_HINT);
	if (var->varno != walk->varno || var->varlevelsup != 0)
		refuse(walk, "has a column of another relation", FORM_HINT);
}

/* Is a node a column of the table, whatever its type? */
static bool
is_column(Node *node, const Walk *walk)
{
	if (!IsA(node, Var))
		return false;
	check_column((Var *) node, walk);
	return true;
}

/* What an expression has, in words, if the walker does not know it. */
static const char *
describe(Node *node)
{
	switch (nodeTag(node))
	{
		case T_SubLink:
			return "has a subquery";
		case T_Aggref:
		case T_GroupingFunc:
			return "has an aggregate";
		case T_WindowFunc:
			return "has a window function";
		case T_CoerceToDomain:
			return psprintf("has a cast to domain %s", format_type_be(exprType(node)));
		case T_RowExpr:
		case T_RowCompareExpr:
		case T_FieldSelect:
		case T_ConvertRowtypeExpr:
			return "has a row value";
		case T_SQLValueFunction:
			return "depends on the time or the role of the call";
		case T_NamedArgExpr:
			return "names an argument of a function";
		case T_XmlExpr:
			return "has an XML expression";
		default:
			return "has an expression that is not supported";
	}
}

/*
 * The walker: raises an error for an expression that is not on the list. It
 * visits each node before its parts; check_type is for what computes a value of
 * its own.
 */
static bool
check_expression(Node *node, void *context)
{
	Walk	   *walk = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
			break;
		case T_TargetEntry:
			if (is_column((Node *) ((TargetEntry *) node)->expr, walk))
				return false;
			break;
		case T_NullTest:
			/* no value is looked at */
			if (((NullTest *) node)->argisrow)
				refuse(walk, "has a row value", VALUE_HINT);
			if (is_column((Node *) ((NullTest *) node)->arg, walk))
				return false;
			break;
		case T_RelabelType:
			/* a column that has a domain, as its base type */
			check_type(((RelabelType *) node)->resulttype, walk);
			if (is_column((Node *) ((RelabelType *) node)->arg, walk) &&
				getBaseType(exprType((Node *) ((RelabelType *) node)->arg)) ==
					((RelabelType *) node)->resulttype)
				return false;
			break;
		case T_Var:
			check_column((Var *) node, walk);
			check_type(((Var *) node)->vartype, walk);
			break;
		case T_Param:
			if (!OidIsValid(walk->body))
				refuse(walk, describe(node), VALUE_HINT);
			if (bms_is_member(((Param *) node)->paramid, walk->parameters))
				refuse(walk, psprintf("calls function %s, which uses an argument twice",
									  format_procedure(walk->body)), VALUE_HINT);
			walk->parameters = bms_add_member(walk->parameters, ((Param *) node)->paramid);
			check_type(((Param *) node)->paramtype, walk);
			break;
		case T_FuncExpr:
			check_call(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->inputcollid,
					   ((FuncExpr *) node)->args, walk);
			check_type(((FuncExpr *) node)->funcresulttype, walk);
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			check_operator(((OpExpr *) node)->opno, ((OpExpr *) node)->inputcollid,
						   ((OpExpr *) node)->args, walk);
			check_type(((OpExpr *) node)->opresulttype, walk);
			break;
		case T_ScalarArrayOpExpr:
			check_operator(((ScalarArrayOpExpr *) node)->opno,
						   ((ScalarArrayOpExpr *) node)->inputcollid,
						   ((ScalarArrayOpExpr *) node)->args, walk);
			break;
		case T_MinMaxExpr:
			check_collation(((MinMaxExpr *) node)->inputcollid, walk);
			if (!is_base(((MinMaxExpr *) node)->minmaxtype))
				refuse(walk, psprintf("has GREATEST or LEAST of type %s",
									  format_type_be(((MinMaxExpr *) node)->minmaxtype)),
					   VALUE_HINT);
			break;
		case T_CoerceViaIO:
			check_type(((CoerceViaIO *) node)->resulttype, walk);
			check_via_text((CoerceViaIO *) node, walk);
			break;
		case T_SubscriptingRef:
			check_type(((SubscriptingRef *) node)->refcontainertype, walk);
			check_type(exprType(node), walk);
			break;
		case T_CollateExpr:
			check_collation(((CollateExpr *) node)->collOid, walk);
			break;
		case T_Const:
		case T_CaseExpr:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_ArrayExpr:
		case T_ArrayCoerceExpr:
			check_type(exprType(node), walk);
			break;
		case T_BoolExpr:
		case T_BooleanTest:
		case T_CaseWhen:
			break;
		default:
			refuse(walk, describe(node), VALUE_HINT);
	}
	return expression_tree_walker(node, check_expression, context);
}

/* What a query has besides expressions, a table and a condition; NULL if nothing. */
static const char *
surplus(const Query *query)
{
	Query	   *plain = makeNode(Query);

	if (query->setOperations)
		return "has UNION, INTERSECT or EXCEPT";
	if (query->cteList)
		return "has WITH";
	if (query->hasAggs || query->groupClause || query->groupingSets || query->havingQual)
		return "has GROUP BY or an aggregate";
	if (query->hasWindowFuncs || query->windowClause)
		return "has a window function";
	if (query->hasTargetSRFs)
		return "calls a function that returns a set";
	if (query->distinctClause)
		return "has DISTINCT";
	if (query->sortClause)
		return "has ORDER BY";
	if (query->limitOffset || query->limitCount)
		return "has LIMIT or OFFSET";
	if (query->rowMarks)
		return "has FOR UPDATE or FOR SHARE";

	/* all other fields are as in a new query, also those that are not known yet */
	plain->commandType = CMD_SELECT;
	plain->querySource = query->querySource;
	plain->canSetTag = query->canSetTag;
	plain->isReturn = query->isReturn;
	plain->hasSubLinks = query->hasSubLinks;	/* the walker names them */
	plain->rtable = query->rtable;
#if PG_VERSION_NUM >= 160000
	plain->rteperminfos = query->rteperminfos;
#endif
	plain->jointree = query->jointree;
	plain->targetList = query->targetList;
	plain->stmt_location = query->stmt_location;
	plain->stmt_len = query->stmt_len;
	return equal(plain, query) ? NULL : "has a clause that is not supported";
}

/* The table in FROM; raises an error for anything else. */
static RangeTblEntry *
find_table(const Query *query, Walk *walk)
{
	RangeTblEntry *entry;

	if (list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		refuse(walk, query->jointree->fromlist ? "has a join" : "has no table", FORM_HINT);
	walk->varno = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	entry = list_nth_node(RangeTblEntry, query->rtable, walk->varno - 1);
	if (entry->rtekind != RTE_RELATION ||
		(entry->relkind != RELKIND_RELATION && entry->relkind != RELKIND_PARTITIONED_TABLE &&
		 entry->relkind != RELKIND_FOREIGN_TABLE && entry->relkind != RELKIND_MATVIEW))
		refuse(walk, entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_VIEW ?
			   "reads a view" : "reads something other than a table", FORM_HINT);
	if (!entry->inh)
		refuse(walk, "has FROM ONLY", FORM_HINT);
	if (entry->tablesample)
		refuse(walk, "has TABLESAMPLE", FORM_HINT);
	if (entry->securityQuals)
		refuse(walk, "has a clause that is not supported", FORM_HINT);
	return entry;
}

DpermView *
dperm_view_read(Oid view)
{
	DpermView  *result = palloc0(sizeof(*result));
	Relation	relation = table_open(view, AccessShareLock);
	Walk		walk = {.relation = view, .owner = relation->rd_rel->relowner};
	Query	   *query = dperm_domains_view_query(relation);
	const char *fault;
	ListCell   *cell;

	if (query == NULL)
		elog(ERROR, "relation %u is not a view", view);
	if (RelationHasSecurityInvoker(relation))
		refuse(&walk, "has security_invoker",
			   "A view that is offered is read with the rights of its owner.");
	if ((fault = surplus(query)) != NULL)
		refuse(&walk, fault, FORM_HINT);
	result->table = find_table(query, &walk)->relid;
	(void) check_expression((Node *) query->targetList, &walk);
	(void) check_expression(query->jointree->quals, &walk);

	result->targets = copyObject(query->targetList);
	result->condition = copyObject(query->jointree->quals);
	ChangeVarNodes((Node *) result->targets, walk.varno, 1, 0);
	ChangeVarNodes(result->condition, walk.varno, 1, 0);
	foreach(cell, result->targets)
		if (lfirst_node(TargetEntry, cell)->resjunk)
			refuse(&walk, "has a column that is not shown", FORM_HINT);
	table_close(relation, NoLock);
	return result;
}

AttrNumber
dperm_view_column(const DpermView *view, AttrNumber number)
{
	Node	   *node = (Node *) list_nth_node(TargetEntry, view->targets, number - 1)->expr;

	return IsA(node, Var) ? ((Var *) node)->varattno : 0;
}

/* The owner of a function or an operator; InvalidOid for anything else. */
static Oid
owner_of(Oid class, Oid object)
{
	int			cache = class == ProcedureRelationId ? PROCOID : OPEROID;
	HeapTuple	tuple;
	Oid			owner;

	if (class != ProcedureRelationId && class != OperatorRelationId)
		return InvalidOid;
	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for object %u of catalog %u", object, class);
	owner = class == ProcedureRelationId ? ((Form_pg_proc) GETSTRUCT(tuple))->proowner :
		((Form_pg_operator) GETSTRUCT(tuple))->oprowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* A table whose planning is checked. */
typedef struct Planned
{
	Oid			table;
	ObjectAddresses *visited;
} Planned;

/*
 * Raise an error for a function or operator that the planner may call, and for
 * what these depend on: PostgreSQL puts the bodies of functions in SQL in the
 * place of calls.
 */
static void
check_planned(Oid class, Oid object, void *context)
{
	Planned    *planned = context;
	Oid			owner = object < FirstNormalObjectId ? InvalidOid : owner_of(class, object);
	ObjectAddress address;

	ObjectAddressSet(address, class, object);
	if (!OidIsValid(owner) || object_address_present(&address, planned->visited))
		return;
	add_exact_object_address(&address, planned->visited);
	check_stack_depth();
	if (!superuser_arg(owner))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" cannot be protected: an index, its statistics or its "
						"partition key use %s %s, whose owner is not a superuser",
						get_rel_name(planned->table),
						class == ProcedureRelationId ? "function" : "operator",
						class == ProcedureRelationId ? format_procedure(object) :
						format_operator(object)),
				 errhint("The planner would run it. Use a stored generated column and an index "
						 "of that, or functions of PostgreSQL.")));
	dperm_row_sources_dependencies(class, object, check_planned, planned);
}

/* Check virtual generated columns: they are computed when they are read. */
static void
check_virtual(Relation relation)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	TupleDesc	desc = RelationGetDescr(relation);
	Walk		walk = {
		.relation = RelationGetRelid(relation), .owner = relation->rd_rel->relowner, .varno = 1
	};

	for (int i = 0; desc->constr && i < desc->constr->num_defval; i++)
	{
		AttrDefault *def = &desc->constr->defval[i];

		if (TupleDescAttr(desc, def->adnum - 1)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
			(void) check_expression(dperm_known_tree_read(def->adbin, RelationRelationId,
														  walk.relation), &walk);
	}
#endif
}

void
dperm_view_check_table(Oid table, List *children)
{
	Planned		planned = {.visited = new_object_addresses()};
	ListCell   *cell,
			   *object;

	foreach(cell, list_append_unique_oid(list_copy(children), table))
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		/* its owner can create an index after this check */
		if (!has_privs_of_role(relation->rd_rel->relowner, dperm_relation_owner(table)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("table \"%s\" cannot be protected: its part \"%s\" belongs to "
							"another role", get_rel_name(table), get_rel_name(lfirst_oid(cell))),
					 errhint("Use ALTER TABLE ... OWNER TO.")));
		check_virtual(relation);
		planned.table = lfirst_oid(cell);
		/* the functions that a table itself depends on are in its partition key */
		dperm_row_sources_dependencies(RelationRelationId, planned.table, check_planned, &planned);
		foreach(object, RelationGetIndexList(relation))
			dperm_row_sources_dependencies(RelationRelationId, lfirst_oid(object), check_planned,
										   &planned);
		foreach(object, RelationGetStatExtList(relation))
			dperm_row_sources_dependencies(StatisticExtRelationId, lfirst_oid(object),
										   check_planned, &planned);
		table_close(relation, NoLock);
	}
	free_object_addresses(planned.visited);
}
