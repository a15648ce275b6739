/*
 * known_tree.c: does a query consist of what this version of dperm knows?
 * Trusted.
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

#include "base/base.h"

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
	static const NodeTag known[] = {
		/* expressions */
		T_Var, T_Const, T_Param, T_Aggref, T_GroupingFunc, T_WindowFunc, T_SubscriptingRef,
		T_FuncExpr, T_NamedArgExpr, T_OpExpr, T_DistinctExpr, T_NullIfExpr, T_ScalarArrayOpExpr,
		T_BoolExpr, T_SubLink, T_FieldSelect, T_RelabelType, T_CoerceViaIO, T_ArrayCoerceExpr,
		T_ConvertRowtypeExpr, T_CollateExpr, T_CaseExpr, T_CaseWhen, T_CaseTestExpr, T_ArrayExpr,
		T_RowExpr, T_RowCompareExpr, T_CoalesceExpr, T_MinMaxExpr, T_SQLValueFunction, T_XmlExpr,
		T_NullTest, T_BooleanTest, T_CoerceToDomain, T_CoerceToDomainValue,
#if PG_VERSION_NUM >= 160000
		T_JsonValueExpr, T_JsonConstructorExpr, T_JsonIsPredicate,
#endif
#if PG_VERSION_NUM >= 170000
		T_JsonExpr, T_JsonBehavior,
#endif
		/* clauses */
		T_List, T_TargetEntry, T_SortGroupClause, T_RangeTblRef, T_JoinExpr, T_FromExpr,
		T_SetOperationStmt, T_CommonTableExpr, T_CTESearchClause, T_CTECycleClause,
		T_RangeTblFunction, T_TableFunc, T_TableSampleClause
	};

	for (size_t i = 0; i < lengthof(known); i++)
		if (nodeTag(node) == known[i])
			return true;
	return false;
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
