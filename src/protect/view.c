/*
 * view.c: what a view shows of its table. Trusted.
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
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/base.h"
#include "protect/protect.h"
#include "relation/relation.h"

#define OTHERWISE "For anything else use a stored generated column, a column that a trigger " \
	"fills, or a materialized view with the unit."
#define VALUE_HINT "Expressions consist of columns, constants, and functions of PostgreSQL that " \
	"are IMMUTABLE: use AT TIME ZONE 'UTC' for times, casts and || for text, and =, <> or IN " \
	"for enums. " OTHERWISE

/* Whose expressions are checked. */
typedef struct Walk
{
	Oid			relation;		/* the view or the table that has them */
	Oid			owner;			/* of it */
	int			varno;			/* of the table */
} Walk;

/* Raise an error for a relation. */
static void
refuse_relation(Oid relation, const char *reason, const char *hint)
{
	bool		is_view = get_rel_relkind(relation) == RELKIND_VIEW;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s \"%s\" cannot be %s: %s", is_view ? "view" : "table",
					get_rel_name(relation), is_view ? "offered" : "protected", reason),
			 errhint("%s", hint)));
}

/* Raise an error for what a relation has. */
static void
refuse(const Walk *walk, const char *has, const char *hint)
{
	refuse_relation(walk->relation, psprintf("it %s", has), hint);
}

/* Is an OID in a list? */
static bool
is_among(Oid object, const Oid *list, int count)
{
	for (int i = 0; i < count; i++)
		if (list[i] == object)
			return true;
	return false;
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

	return is_among(type, types, lengthof(types));
}

/*
 * The built-in functions that are written in SQL and used here: each of them is
 * one expression of others on the list, in which each argument appears once. So
 * the planner always puts it in the place of the call, and nothing is planned
 * while rows are read.
 */
static bool
is_inlined(Oid function)
{
	static const Oid functions[] = {
		F_ROUND_NUMERIC, F_TRUNC_NUMERIC, F_LOG_NUMERIC, F_LOG10_NUMERIC,
		F_LPAD_TEXT_INT4, F_RPAD_TEXT_INT4, F_SUBSTRING_TEXT_TEXT_TEXT,
		F_BIT_LENGTH_TEXT, F_BIT_LENGTH_BYTEA, F_BIT_LENGTH_BIT,
		F_DATE_PART_TEXT_DATE, F_INTEGER_PL_DATE, F_TIMEDATE_PL, F_TIMETZDATE_PL,
		F_INTERVAL_PL_DATE, F_INTERVAL_PL_TIME, F_INTERVAL_PL_TIMETZ, F_INTERVAL_PL_TIMESTAMP,
		F_INT8PL_INET, F_PATH_CONTAIN_PT, F_POLYGON_CIRCLE};

	return is_among(function, functions, lengthof(functions));
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
	Oid			single = OidIsValid(element) ? element : type;

	return get_typtype(single) == TYPTYPE_ENUM &&
		dperm_relation_oid_of(TypeRelationId, single, Anum_pg_type_typowner) == owner;
}

/*
 * Raise an error for a column that must not be read for others: values of some
 * types make PostgreSQL look up in the catalog what the value of a row stands
 * for. Base types of PostgreSQL, enums and base types of extensions, which only
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
	if (OidIsValid(collation) &&
		dperm_relation_oid_of(CollationRelationId, collation, Anum_pg_collation_collnamespace) !=
			PG_CATALOG_NAMESPACE)
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
	return type == ANYELEMENTOID || type == ANYARRAYOID || type == ANYNONARRAYOID ||
		type == ANYCOMPATIBLEOID || type == ANYCOMPATIBLEARRAYOID ||
		type == ANYCOMPATIBLENONARRAYOID || is_builtin(type);
}

/*
 * May a function be called? The input and output functions of types take and
 * return what no other may. Enums are compared for equality alone, as two numbers,
 * which stand for the labels: for all other functions the catalog is read.
 */
static bool
is_callable(Form_pg_proc form, bool is_io, bool takes_enums)
{
	bool		declarable = is_declarable(form->prorettype);

	for (int i = 0; i < form->pronargs; i++)
		declarable &= is_declarable(form->proargtypes.values[i]);
	return form->oid < FirstUnpinnedObjectId &&
		form->prokind == PROKIND_FUNCTION && !form->proretset &&
		form->provolatile == PROVOLATILE_IMMUTABLE &&
		(form->prolang == INTERNALlanguageId || is_inlined(form->oid)) &&
	/* these ask a library, too */
		form->oid != F_XML_IS_WELL_FORMED_CONTENT &&
		form->oid != F_XML_IS_WELL_FORMED_DOCUMENT &&
		((declarable && !takes_enums) || is_io || form->oid == F_ENUM_EQ || form->oid == F_ENUM_NE);
}

/* Raise an error for a function that must not be called. */
static void
check_function(Oid function, bool is_io, bool takes_enums, const Walk *walk)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	if (!is_callable((Form_pg_proc) GETSTRUCT(tuple), is_io, takes_enums))
		refuse(walk, psprintf("calls function %s", format_procedure(function)), VALUE_HINT);
	ReleaseSysCache(tuple);
}

/* Raise an error for a call. */
static void
check_call(Oid function, List *arguments, const Walk *walk)
{
	bool		takes_enums = false;
	ListCell   *cell;

	foreach(cell, arguments)
		takes_enums |= is_own_enum(exprType(lfirst(cell)), walk->owner);
	check_function(function, false, takes_enums, walk);
}

/*
 * Raise an error for an operator. The planner may use its negator or its
 * commutator in its place, and one of PostgreSQL's operators that has none can
 * be given one.
 */
static void
check_operator(Oid operator, List *arguments, const Walk *walk)
{
	if (operator >= FirstUnpinnedObjectId || get_negator(operator) >= FirstUnpinnedObjectId ||
		get_commutator(operator) >= FirstUnpinnedObjectId)
		refuse(walk, psprintf("has operator %s, which is not PostgreSQL's own, or whose negator "
							  "or commutator is not", format_operator(operator)), VALUE_HINT);
	check_call(get_opcode(operator), arguments, walk);
}

/* Raise an error for a cast by way of text. */
static void
check_via_text(const CoerceViaIO *cast, const Walk *walk)
{
	Oid			function,
				parameter;
	bool		varlena;

	getTypeOutputInfo(exprType((Node *) cast->arg), &function, &varlena);
	check_function(function, true, false, walk);
	getTypeInputInfo(cast->resulttype, &function, &parameter);
	check_function(function, true, false, walk);
}

/* Is a node a column of the table, whatever its type? Raises an error for any other Var. */
static bool
is_column(Node *node, const Walk *walk)
{
	Var		   *var = (Var *) node;

	if (!IsA(node, Var))
		return false;
	if (var->varattno <= 0 || var->varno != walk->varno || var->varlevelsup != 0)
		refuse(walk, "has a system column, a whole row or a column of another relation",
			   VALUE_HINT);
	return true;
}

/*
 * The walker: raises an error for an expression that is not on the list. It
 * visits each node before its parts. Of a column that is shown as it is, or only
 * compared with NULL, no value is looked at: it may have any type.
 */
static bool
check_expression(Node *node, void *context)
{
	Walk	   *walk = context;
	char	   *kind;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_TargetEntry:
			return !is_column((Node *) ((TargetEntry *) node)->expr, walk) &&
				expression_tree_walker(node, check_expression, context);
		case T_List:
		case T_CaseWhen:
			return expression_tree_walker(node, check_expression, context);
		case T_NullTest:
			if (is_column((Node *) ((NullTest *) node)->arg, walk) &&
				!((NullTest *) node)->argisrow)
				return false;
			break;
		case T_RelabelType:
			/* a column that has a domain, as its base type */
			check_type(exprType(node), walk);
			if (is_column((Node *) ((RelabelType *) node)->arg, walk) &&
				getBaseType(exprType((Node *) ((RelabelType *) node)->arg)) == exprType(node))
				return false;
			break;
		case T_Var:
			(void) is_column(node, walk);
			break;
		case T_FuncExpr:
			check_call(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args, walk);
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			check_operator(((OpExpr *) node)->opno, ((OpExpr *) node)->args, walk);
			break;
		case T_ScalarArrayOpExpr:
			check_operator(((ScalarArrayOpExpr *) node)->opno,
						   ((ScalarArrayOpExpr *) node)->args, walk);
			break;
		case T_MinMaxExpr:
			if (!is_base(exprType(node)))
				refuse(walk, psprintf("has GREATEST or LEAST of type %s",
									  format_type_be(exprType(node))), VALUE_HINT);
			break;
		case T_CoerceViaIO:
			check_via_text((CoerceViaIO *) node, walk);
			break;
		case T_SubscriptingRef:
			check_type(((SubscriptingRef *) node)->refcontainertype, walk);
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
		case T_BoolExpr:
		case T_BooleanTest:
			break;
		default:
			kind = nodeToString(node) + 1;
			refuse(walk, psprintf("has an expression that is not supported: %.*s",
								  (int) strcspn(kind, " "), kind), VALUE_HINT);
	}
	check_type(exprType(node), walk);
	check_collation(exprInputCollation(node), walk);
	return expression_tree_walker(node, check_expression, context);
}

/* Has a query nothing but expressions, a table and a condition? */
static bool
is_plain(const Query *query)
{
	Query	   *plain = makeNode(Query);

	/* all other fields are as in a new query, also those that are not known yet */
	plain->commandType = CMD_SELECT;
	plain->querySource = query->querySource;
	plain->canSetTag = query->canSetTag;
	plain->hasSubLinks = query->hasSubLinks;	/* the walker refuses them */
	plain->rtable = query->rtable;
#if PG_VERSION_NUM >= 160000
	plain->rteperminfos = query->rteperminfos;
#endif
	plain->jointree = query->jointree;
	plain->targetList = query->targetList;
	plain->stmt_location = query->stmt_location;
	plain->stmt_len = query->stmt_len;
	return equal(plain, query);
}

/* The table in FROM, with its children; NULL for anything else. */
static RangeTblEntry *
find_table(const Query *query, Walk *walk)
{
	Node	   *from = list_length(query->jointree->fromlist) == 1 ?
		linitial(query->jointree->fromlist) : NULL;
	RangeTblEntry *entry;

	if (from == NULL || !IsA(from, RangeTblRef))
		return NULL;
	walk->varno = ((RangeTblRef *) from)->rtindex;
	entry = list_nth_node(RangeTblEntry, query->rtable, walk->varno - 1);
	return entry->rtekind == RTE_RELATION && entry->inh && entry->tablesample == NULL &&
		entry->securityQuals == NIL &&
		(entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_PARTITIONED_TABLE ||
		 entry->relkind == RELKIND_FOREIGN_TABLE || entry->relkind == RELKIND_MATVIEW) ?
		entry : NULL;
}

/*
 * Read the definition of a view, which is locked. Raises an error for a view
 * that cannot be offered: the message names what it has, the hint says what
 * works.
 */
DpermView *
dperm_view_read(Oid view)
{
	DpermView  *result = palloc0(sizeof(*result));
	Relation	relation = table_open(view, AccessShareLock);
	Walk		walk = {.relation = view, .owner = relation->rd_rel->relowner};
	Query	   *query = dperm_domains_view_query(relation);
	RangeTblEntry *table;

	if (query == NULL)
		elog(ERROR, "relation %u is not a view", view);
	if (RelationHasSecurityInvoker(relation))
		refuse(&walk, "has security_invoker",
			   "A view that is offered is read with the rights of its owner.");
	table = find_table(query, &walk);
	if (table == NULL || !is_plain(query))
		refuse(&walk, "is not of the form SELECT expressions FROM table WHERE condition",
			   OTHERWISE);
	(void) check_expression((Node *) query->targetList, &walk);
	(void) check_expression(query->jointree->quals, &walk);

	result->table = table->relid;
	result->targets = copyObject(query->targetList);
	result->condition = copyObject(query->jointree->quals);
	ChangeVarNodes((Node *) result->targets, walk.varno, 1, 0);
	ChangeVarNodes(result->condition, walk.varno, 1, 0);
	table_close(relation, NoLock);
	return result;
}

/* The column of the table that a column of the view shows unchanged; 0 for an expression. */
AttrNumber
dperm_view_column(const DpermView *view, AttrNumber number)
{
	Node	   *node = (Node *) list_nth_node(TargetEntry, view->targets, number - 1)->expr;

	return IsA(node, Var) ? ((Var *) node)->varattno : 0;
}

/* Raise an error for a function or operator that the planner may call and PostgreSQL has not. */
static void
check_planned(Oid class, Oid object, void *table)
{
	ObjectAddress address = {.classId = class, .objectId = object};

	/* the constraints of a domain are planned with any cast to it, and may be anybody's */
	if (object >= FirstNormalObjectId &&
		(class == ProcedureRelationId || class == OperatorRelationId ||
		 (class == TypeRelationId && get_typtype(object) == TYPTYPE_DOMAIN)))
		refuse_relation(*(Oid *) table, psprintf("an index, its statistics or its partition key "
												 "use %s, which is not PostgreSQL's own",
												 getObjectDescription(&address, false)),
						"The planner would run it. Use a stored generated column and an index "
						"of that.");
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

	if (desc->constr == NULL)
		return;
	for (int i = 0; i < desc->constr->num_defval; i++)
	{
		AttrDefault *def = &desc->constr->defval[i];

		if (TupleDescAttr(desc, def->adnum - 1)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
			(void) check_expression(stringToNode(def->adbin), &walk);
	}
#endif
}

/*
 * Raise an error for a table that must not be read for others: its policies
 * apply to its owner, or its planning or reading would run code that is not
 * PostgreSQL's own: functions and operators in expressions and predicates of
 * indexes, in extended statistics, in partition keys and in virtual generated
 * columns of the table and of its partitions and children. All of these belong to
 * its owner, or to a role with the owner's rights.
 */
void
dperm_view_check_table(Oid table)
{
	Oid			owner = dperm_relation_owner(table);
	ListCell   *cell,
			   *object;

	LockRelationOid(table, AccessShareLock);
	if (pg_class_aclcheck(table, owner, ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(table)),
					   get_rel_name(table));
	foreach(cell, find_all_inheritors(table, AccessShareLock, NULL))
	{
		Oid			part = lfirst_oid(cell);
		Relation	relation = table_open(part, NoLock);

		if (part == table && relation->rd_rel->relrowsecurity &&
			relation->rd_rel->relforcerowsecurity)
			refuse_relation(table, "its policies apply to its owner",
							psprintf("Rows are read with the rights of the owner: use ALTER TABLE "
									 "%s NO FORCE ROW LEVEL SECURITY.",
									 quote_identifier(get_rel_name(table))));
		/* its owner can create an index after this check */
		if (!has_privs_of_role(relation->rd_rel->relowner, owner))
			refuse_relation(table, psprintf("its part \"%s\" belongs to another role",
											get_rel_name(part)),
							"Use ALTER TABLE ... OWNER TO.");
		check_virtual(relation);
		/* the functions that a table itself depends on are in its partition key */
		dperm_relation_dependencies(RelationRelationId, part, check_planned, &part);
		foreach(object, RelationGetIndexList(relation))
			dperm_relation_dependencies(RelationRelationId, lfirst_oid(object), check_planned,
										&part);
		foreach(object, RelationGetStatExtList(relation))
			dperm_relation_dependencies(StatisticExtRelationId, lfirst_oid(object),
										check_planned, &part);
		table_close(relation, NoLock);
	}
}
