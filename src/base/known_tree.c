/*
 * known_tree.c: does a query consist of what this version of dperm knows?
 *
 * What reads a query decides by it which tables, columns and units are behind a
 * relation, and whose code runs. A clause that it has never heard of could hide
 * any of these, as GRAPH_TABLE does in PostgreSQL 19. So every query and
 * expression that comes from the catalog, the parser or the rewriter passes
 * here first, and what is not on the lists is refused, on all versions. They are
 * queries that read, so clauses of INSERT, UPDATE and MERGE are not on them.
 */
#include "postgres.h"

#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"

#include "base/known_tree.h"

/* Is a relation of a kind that is known? */
bool
dperm_known_tree_relation(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE ||
		   relkind == RELKIND_FOREIGN_TABLE || relkind == RELKIND_VIEW ||
		   relkind == RELKIND_MATVIEW || relkind == RELKIND_SEQUENCE ||
		   relkind == RELKIND_INDEX || relkind == RELKIND_PARTITIONED_INDEX ||
		   relkind == RELKIND_TOASTVALUE || relkind == RELKIND_COMPOSITE_TYPE;
}

/* Is an entry of a range table of a kind that is known? */
static bool
is_known_entry(const RangeTblEntry *entry)
{
	switch (entry->rtekind)
	{
		case RTE_RELATION:
		case RTE_SUBQUERY:
		case RTE_JOIN:
		case RTE_FUNCTION:
		case RTE_TABLEFUNC:
		case RTE_VALUES:
		case RTE_CTE:
#if PG_VERSION_NUM >= 180000
		case RTE_GROUP:
#endif
			break;
		default:
			return false;
	}
	/* what the rewriter has put in the place of a relation may have its kind */
	return entry->relkind == '\0' || dperm_known_tree_relation(entry->relkind);
}

/* Is a node, apart from a query and its range table, of a kind that is known? */
static bool
is_known_node(const Node *node)
{
	switch (nodeTag(node))
	{
			/* expressions */
		case T_Var:
		case T_Const:
		case T_Param:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_SubscriptingRef:
		case T_FuncExpr:
		case T_NamedArgExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_SubLink:
		case T_FieldSelect:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_RowCompareExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_SQLValueFunction:
		case T_XmlExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CoerceToDomain:
		case T_CoerceToDomainValue:
#if PG_VERSION_NUM >= 160000
		case T_JsonValueExpr:
		case T_JsonConstructorExpr:
		case T_JsonIsPredicate:
#endif
#if PG_VERSION_NUM >= 170000
		case T_JsonExpr:
		case T_JsonBehavior:
#endif
			/* clauses */
		case T_List:
		case T_TargetEntry:
		case T_SortGroupClause:
		case T_RangeTblRef:
		case T_JoinExpr:
		case T_FromExpr:
		case T_SetOperationStmt:
		case T_CommonTableExpr:
		case T_CTESearchClause:
		case T_CTECycleClause:
		case T_RangeTblFunction:
		case T_TableFunc:
		case T_TableSampleClause:
			return true;
		default:
			return false;
	}
}

/* Is there anything that is not known? */
static bool
has_unknown(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_unknown, context, QTW_EXAMINE_RTES_BEFORE);
	if (IsA(node, RangeTblEntry))
		return !is_known_entry((RangeTblEntry *) node); /* its parts are visited after it */
	return !is_known_node(node) || expression_tree_walker(node, has_unknown, context);
}

/* Raise an error for a query or an expression of an object that contains anything else. */
void
dperm_known_tree_check(Node *tree, Oid class, Oid object)
{
	ObjectAddress address;

	if (!has_unknown(tree, NULL))
		return;
	ObjectAddressSet(address, class, object);
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s contains a clause that dperm does not support",
					getObjectDescription(&address, false)),
			 errhint("Property graphs are not supported, for example. Store the rows in a "
					 "table.")));
}

/* Read one that the catalog stores as text, and check it. */
Node *
dperm_known_tree_read(const char *text, Oid class, Oid object)
{
	Node	   *tree = stringToNode(text);

	dperm_known_tree_check(tree, class, object);
	return tree;
}
