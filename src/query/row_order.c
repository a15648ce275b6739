/*
 * row_order.c: does the result of a query depend on the order in which rows are
 * read?
 *
 * That order may differ from scan to scan: parallel workers share a table
 * dynamically, and a scan may join another one in progress. So whatever picks,
 * numbers or concatenates rows is accepted only if its ORDER BY leaves no ties,
 * which a primary key proves.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "query/identity.h"
#include "query/row_order.h"

/* Is each of the clauses "some" also in the other list? */
static bool
covers(List *clauses, List *some)
{
	ListCell   *cell,
			   *other;

	foreach(cell, some)
	{
		bool		found = false;

		foreach(other, clauses)
			found = found || lfirst_node(SortGroupClause, other)->tleSortGroupRef ==
				lfirst_node(SortGroupClause, cell)->tleSortGroupRef;
		if (!found)
			return false;
	}
	return true;
}

/*
 * What clauses sort or group by; a grouping column is replaced by its
 * expression.
 */
static List *
expressions(Query *query, List *clauses, List *targets)
{
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		Node	   *node = get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), targets);

#if PG_VERSION_NUM >= 180000
		if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
		{
			RangeTblEntry *rte = rt_fetch(((Var *) node)->varno, query->rtable);

			if (rte->rtekind == RTE_GROUP)
				node = list_nth(rte->groupexprs, ((Var *) node)->varattno - 1);
		}
#endif
		result = lappend(result, node);
	}
	return result;
}

static bool rows_differ(Query *query, List *keys);

/*
 * Do the rows of a view or a subquery in FROM differ in those expressions that
 * are columns of it?
 */
static bool
subquery_differs(Query *subquery, int index, List *keys)
{
	List	   *behind = NIL;
	ListCell   *cell;

	if (subquery->groupClause != NIL || subquery->groupingSets != NIL || subquery->hasAggs ||
		subquery->havingQual != NULL)
		return false;
	foreach(cell, keys)
	{
		Var		   *key = lfirst(cell);

		if (IsA(key, Var) && key->varno == index && key->varlevelsup == 0 && key->varattno > 0)
			behind = lappend(behind, list_nth_node(TargetEntry, subquery->targetList,
												   key->varattno - 1)->expr);
	}
	return rows_differ(subquery, behind);
}

/* Do the primary keys hold for the rows of the snapshot? */
static bool
are_settled(List *constraints)
{
	ListCell   *cell;

	foreach(cell, constraints)
		if (!dperm_identity_key_holds(lfirst_oid(cell)))
			return false;
	return true;
}

/*
 * Do the expressions contain the primary key of a table? Inheritance does not
 * keep keys unique.
 */
static bool
has_key(Query *query, int index, List *keys)
{
	RangeTblEntry *rte = rt_fetch(index, query->rtable);
	List	   *constraints = NIL;

	if (rte->rtekind == RTE_SUBQUERY)
		return subquery_differs(rte->subquery, index, keys);
	return rte->rtekind == RTE_RELATION &&
		(rte->relkind == RELKIND_PARTITIONED_TABLE ||
		 (rte->relkind == RELKIND_RELATION && !(rte->inh && has_subclass(rte->relid)))) &&
		check_functional_grouping(rte->relid, index, 0, keys, &constraints) &&
		are_settled(constraints);
}

/* Do the expressions contain the primary keys of all tables in FROM? */
static bool
from_has_keys(Query *query, Node *from, List *keys)
{
	ListCell   *cell;

	switch (nodeTag(from))
	{
		case T_RangeTblRef:
			return has_key(query, ((RangeTblRef *) from)->rtindex, keys);
		case T_JoinExpr:
			return from_has_keys(query, ((JoinExpr *) from)->larg, keys) &&
				from_has_keys(query, ((JoinExpr *) from)->rarg, keys);
		case T_FromExpr:
			foreach(cell, ((FromExpr *) from)->fromlist)
				if (!from_has_keys(query, lfirst(cell), keys))
					return false;
			return true;
		default:
			return false;
	}
}

/* Do the rows before grouping differ in the expressions? */
static bool
rows_differ(Query *query, List *keys)
{
	return query->setOperations == NULL && !query->hasTargetSRFs &&
		from_has_keys(query, (Node *) query->jointree, keys);
}

/*
 * Do the rows of a query, after grouping, differ in what the clauses sort by?
 */
static bool
no_ties(Query *query, List *clauses)
{
	if (query->setOperations != NULL || query->hasTargetSRFs || query->groupingSets != NIL)
		return false;
	if (query->groupClause != NIL || query->hasAggs || query->havingQual != NULL)
		return covers(clauses, query->groupClause);
	return rows_differ(query, expressions(query, clauses, query->targetList));
}

/* Is a function a built-in one with one of these names? */
static bool
is_builtin(Oid function, const char *const *names, int count)
{
	char	   *name;

	if (function >= FirstNormalObjectId || (name = get_func_name(function)) == NULL)
		return false;
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/*
 * Is the result of an aggregate the same in any order of its rows? For sums of
 * floats it is not.
 */
static bool
in_any_order(Oid aggregate)
{
	static const char *const always[] = {"count", "min", "max", "bool_and", "bool_or", "every",
	"bit_and", "bit_or", "bit_xor"};
	static const char *const exact[] = {"sum", "avg", "stddev", "stddev_pop", "stddev_samp",
	"variance", "var_pop", "var_samp"};
	Oid		   *types;
	int			count;

	if (is_builtin(aggregate, always, lengthof(always)))
		return true;
	if (!is_builtin(aggregate, exact, lengthof(exact)))
		return false;
	(void) get_func_signature(aggregate, &types, &count);
	return count == 1 && types[0] != FLOAT4OID && types[0] != FLOAT8OID;
}

/* Does an aggregate depend on the order of its rows? */
static bool
aggregate_depends(Query *query, Aggref *call, Oid extension)
{
	List	   *keys;
	ListCell   *cell;
	bool		sorted = true;

	/*
	 * ours do not depend on it; if it is sorted by all of its arguments, ties
	 * are equal
	 */
	if (in_any_order(call->aggfnoid) || call->aggdistinct != NIL ||
		(OidIsValid(extension) &&
		 getExtensionOfObject(ProcedureRelationId, call->aggfnoid) == extension))
		return false;
	foreach(cell, call->args)
	{
		TargetEntry *argument = lfirst_node(TargetEntry, cell);

		if (!argument->resjunk && !IsA(argument->expr, Const))
			sorted = sorted && argument->ressortgroupref != 0 &&
				get_sortgroupref_clause_noerr(argument->ressortgroupref, call->aggorder) != NULL;
	}
	if (sorted && (call->aggorder != NIL || call->args == NIL))
		return false;
	if (call->aggorder == NIL || call->agglevelsup > 0 || query->groupingSets != NIL)
		return true;
	keys = list_concat(expressions(query, call->aggorder, call->args),
					   expressions(query, query->groupClause, query->targetList));
	return !rows_differ(query, keys);
}

/*
 * Does a window function depend on the order of rows beyond the ORDER BY of its
 * window?
 */
static bool
window_depends(Query *query, WindowFunc *call)
{
	static const char *const by_peers[] = {"rank", "dense_rank", "percent_rank", "cume_dist"};
	WindowClause *window = NULL;
	ListCell   *cell;

	foreach(cell, query->windowClause)
		if (lfirst_node(WindowClause, cell)->winref == call->winref)
			window = lfirst(cell);
	if (window == NULL)
		return true;
	if (call->winagg ? in_any_order(call->winfnoid) && !(window->frameOptions & FRAMEOPTION_ROWS) :
		is_builtin(call->winfnoid, by_peers, lengthof(by_peers)))
		return false;
	return !no_ties(query, list_concat_copy(window->partitionClause, window->orderClause));
}

/* Does a LIMIT skip rows? LIMIT ALL is NULL. */
static bool
is_limit(Node *limit)
{
	return limit != NULL && !(IsA(limit, Const) && ((Const *) limit)->constisnull);
}

/*
 * Does an OFFSET? OFFSET 0, which has a cast, is for the planner. Nothing else is
 * evaluated here, since that might call a function of the caller.
 */
static bool
is_offset(Node *offset)
{
	Const	   *number;

	if (!is_limit(offset))
		return false;
	if (IsA(offset, FuncExpr) && ((FuncExpr *) offset)->funcid == F_INT8_INT4)
		offset = linitial(((FuncExpr *) offset)->args);
	if (!IsA(offset, Const))
		return true;
	number = (Const *) offset;
	return !number->constisnull && (number->consttype == INT4OID ?
									DatumGetInt32(number->constvalue) != 0 :
									number->consttype != INT8OID ||
									DatumGetInt64(number->constvalue) != 0);
}

/* Does a query pick rows that its order does not determine? */
static bool
picks_rows(Query *query)
{
	ListCell   *cell;

	if (query->hasDistinctOn &&
		!no_ties(query, list_concat_copy(query->sortClause, query->distinctClause)))
		return true;

	if (!are_settled(query->constraintDeps))
		return true;

	/*
	 * GROUP BY a key picks the rest of its row, which may exist twice in a
	 * parent of other tables
	 */
	if (query->constraintDeps != NIL)
		foreach(cell, query->rtable)
		{
			RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

			if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_RELATION && rte->inh &&
				has_subclass(rte->relid))
				return true;
		}
	if (!is_limit(query->limitCount) && !is_offset(query->limitOffset))
		return false;
	if (query->limitOption == LIMIT_OPTION_WITH_TIES && !is_offset(query->limitOffset))
		return false;
	if (query->distinctClause != NIL && !query->hasDistinctOn &&
		covers(query->sortClause, query->distinctClause))
		return false;
	return !no_ties(query, query->sortClause);
}

/* What the walker knows. */
typedef struct OrderContext
{
	Query	   *query;
	Oid			extension;		/* dperm */
} OrderContext;

/* Look for what depends on order. */
static bool
depends(Node *node, void *arg)
{
	OrderContext *context = arg;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		OrderContext inner = {(Query *) node, context->extension};

		return picks_rows(inner.query) || query_tree_walker(inner.query, depends, &inner, 0);
	}
	if (IsA(node, Aggref) &&
		aggregate_depends(context->query, (Aggref *) node, context->extension))
		return true;
	if (IsA(node, WindowFunc) && window_depends(context->query, (WindowFunc *) node))
		return true;
	return expression_tree_walker(node, depends, arg);
}

/* Does a query depend on the order in which rows are read? */
bool
dperm_row_order_matters(Query *query, Oid extension)
{
	OrderContext context = {query, extension};

	return depends((Node *) query, &context);
}
