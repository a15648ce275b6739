/*
 * query_check.c: what a query over a source may not contain.
 *
 * All passes of a call have to see the same rows: a snapshot does that for tables, but a view may
 * compute something new each time. And no function may stand in for one of ours.
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "source.h"

/* Is there a window function that depends on an order that is not given, such as row_number()? */
static bool
numbers_rows(Node *node, void *query)
{
	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc) && !((WindowFunc *) node)->winagg)
	{
		ListCell   *cell;

		foreach(cell, ((Query *) query)->windowClause)
		{
			WindowClause *window = lfirst_node(WindowClause, cell);

			if (window->winref == ((WindowFunc *) node)->winref && window->orderClause == NIL)
				return true;
		}
	}
	return expression_tree_walker(node, numbers_rows, query);
}

/* Does a LIMIT or OFFSET leave out rows? LIMIT ALL is a null. */
static bool
is_limit(Node *limit)
{
	return limit != NULL && !(IsA(limit, Const) && ((Const *) limit)->constisnull);
}

/* What may make rows change between two scans under one snapshot. */
static bool
is_unstable(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		return rte->tablesample != NULL && rte->tablesample->repeatable == NULL;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		if ((is_limit(query->limitCount) || is_limit(query->limitOffset) ||
			 query->hasDistinctOn) &&
			query->sortClause == NIL)
			return true;
		if (query->hasWindowFuncs && numbers_rows((Node *) query->targetList, query))
			return true;
		return query_tree_walker(query, is_unstable, context, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, is_unstable, context);
}

/*
 * Our queries call our functions by name. Somebody who may create functions in our schema could offer
 * ones that fit better; they would run with the caller's rights.
 */
static void
check_ours(Oid function, const DpermSource *source)
{
	static const char *const ours[] = {"dp_bin", "dp_bounded", "dp_decision", "dp_label",
	"dp_moments_agg", "dp_moments_vector_agg", "dp_portion", "dp_predict", "dp_text"};
	Oid			extension = getExtensionOfObject(TypeRelationId, source->moments_type);
	char	   *name;

	if (get_func_namespace(function) != source->extension_schema)
		return;
	name = get_func_name(function);
	for (int i = 0; i < lengthof(ours); i++)
		if (strcmp(name, ours[i]) == 0 &&
			getExtensionOfObject(ProcedureRelationId, function) != extension)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_FUNCTION),
					 errmsg("function %s stands in the way of dperm's own",
							format_procedure(function)),
					 errhint("Drop it, and revoke CREATE on the schema of the extension.")));
}

/* Check every function of a query. */
static bool
check_functions(Node *node, void *source)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		check_ours(((Aggref *) node)->aggfnoid, source);
	if (IsA(node, FuncExpr))
		check_ours(((FuncExpr *) node)->funcid, source);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_functions, source, 0);
	return expression_tree_walker(node, check_functions, source);
}

/* Raise for a query that is not fit to be a pass. */
void
dperm_check_query(const DpermSource *source, Query *tree)
{
	if (contain_volatile_functions((Node *) tree))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("source uses volatile functions, so that its rows change from pass to pass"),
				 errhint("Store the rows first, for example in a materialized view.")));
	if (is_unstable((Node *) tree, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("source picks or numbers rows in no order, so that they may change from pass to pass"),
				 errhint("Add ORDER BY to LIMIT, DISTINCT ON and window functions, REPEATABLE to TABLESAMPLE, or store the rows first, for example in a materialized view.")));
	check_functions((Node *) tree, (void *) source);
}
