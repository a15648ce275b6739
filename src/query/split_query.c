/*
 * split_query.c: a query, split into stored columns and expressions over them.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

#include "protect/worker_rules.h"
#include "query/split_query.h"
#include "relation/row_sources.h"

/*
 * The only relation in FROM; 0 for a query that does more than show its rows.
 */
static int
only_relation(const Query *query)
{
	if (query->hasAggs || query->hasSubLinks || list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return 0;
	return linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
}

/* Can a query, down to its table, be split? */
static bool
is_fit(Query *query)
{
	int			relation = only_relation(query);
	RangeTblEntry *entry = relation > 0 ? rt_fetch(relation, query->rtable) : NULL;

	return entry && (entry->rtekind == RTE_RELATION ||
					 (entry->rtekind == RTE_SUBQUERY && is_fit(entry->subquery)));
}

/*
 * Have the executor check the rights on the relations of a query with those of
 * its subquery, as if the planner had merged the two.
 */
static void
merge_relations(Query *subquery, RangeTblEntry *entry, Query *query)
{
	entry->subquery = NULL;
#if PG_VERSION_NUM >= 160000
	CombineRangeTables(&subquery->rtable, &subquery->rteperminfos, query->rtable,
					   query->rteperminfos);
#else
	subquery->rtable = list_concat(subquery->rtable, query->rtable);
#endif
}

/* Remove the policies and the WHERE clause from a query, and return them. */
static List *
take_conditions(Query *query, RangeTblEntry *entry)
{
	List	   *conditions = entry->securityQuals;

	if (query->jointree->quals)
		conditions = lappend(conditions, query->jointree->quals);
	entry->securityQuals = NIL;
	query->jointree->quals = NULL;
	return conditions;
}

/* Replace columns of a relation by the expressions in a target list. */
static List *
expand_columns(List *expressions, int relation, RangeTblEntry *entry, List *targets)
{
	return (List *) ReplaceVarsFromTargetList((Node *) expressions, relation, 0, entry, targets,
#if PG_VERSION_NUM >= 180000
											  0,
#endif
											  REPLACEVARS_CHANGE_VARNO, relation, NULL);
}

/*
 * Hide how a whole row is built. The planner would replace IS NULL and IS NOT
 * NULL of a row by a test of each column. But dropped columns are NULL in a
 * row, and only the executor ignores them.
 */
static Node *
hide_rows(Node *node, void *type)
{
	ConvertRowtypeExpr *hidden;

	if (node == NULL)
		return NULL;
	if (!IsA(node, RowExpr) || ((RowExpr *) node)->row_typeid != *(Oid *) type)
		return expression_tree_mutator(node, hide_rows, type);
	hidden = makeNode(ConvertRowtypeExpr);
	hidden->arg = (Expr *) expression_tree_mutator(node, hide_rows, type);
	hidden->resulttype = *(Oid *) type;
	hidden->convertformat = COERCE_IMPLICIT_CAST;
	hidden->location = -1;
	return (Node *) hidden;
}

/*
 * Expressions over the stored columns of a table: whole rows and virtual
 * generated columns are built from these.
 */
static List *
expand_table(List *expressions, int relation, RangeTblEntry *entry)
{
	Relation	table = table_open(entry->relid, NoLock);
	TupleDesc	desc = RelationGetDescr(table);
	List	   *columns = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped)
			columns = lappend(columns,
							  makeTargetEntry((Expr *) makeVar(relation, i + 1, column->atttypid,
															   column->atttypmod,
															   column->attcollation, 0),
											  i + 1, NULL, false));
	}
	expressions = expand_columns(expressions, relation, entry, columns);
	expressions = (List *) hide_rows((Node *) expressions, &desc->tdtypeid);
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	expressions =
		(List *) expand_generated_columns_in_expr((Node *) expressions, table, relation);
#endif
	table_close(table, NoLock);
	return expressions;
}

/* Replace the columns of the table by those of the query, by position. */
static Node *
place_columns(Node *node, void *columns)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Var  *column = (Var *) node;
		int			place = 1;
		ListCell   *cell;

		foreach(cell, (List *) columns)
		{
			if (equal(lfirst(cell), node))
				break;
			place++;
		}
		return (Node *) makeVar(1, place, column->vartype, column->vartypmod, column->varcollid, 0);
	}
	return expression_tree_mutator(node, place_columns, columns);
}

/* Columns as the target list of a query. */
static List *
show_columns(const List *columns)
{
	List	   *targets = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		int			place = list_length(targets) + 1;

		targets = lappend(targets, makeTargetEntry(lfirst(cell), place, psprintf("c%d", place),
												   false));
	}
	return targets;
}

/* Does a target list contain more than columns? */
static bool
shows_more(const List *targets)
{
	ListCell   *cell;

	foreach(cell, targets)
		if (!IsA(lfirst_node(TargetEntry, cell)->expr, Var))
			return true;
	return false;
}

/* Is a function not a built-in one? */
static bool
is_others(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

/*
 * Does an expression run code that is not built in? It may leave something
 * behind, such as a setting or a cursor. So may a constraint of a type.
 */
static bool
runs_others(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return dperm_row_sources_type(node) >= FirstNormalObjectId ||
		check_functions_in_node(node, is_others, context) ||
		expression_tree_walker(node, runs_others, context);
}

/*
 * Simplify expressions over the columns. Functions are inlined, and called if
 * their arguments are constants, under the rules for rows.
 */
static List *
simplify(List *expressions, List *columns)
{
	List	   *result;

	dperm_worker_rules_evaluates(true);
	result = (List *) expression_planner((Expr *) place_columns((Node *) expressions, columns));
	dperm_worker_rules_evaluates(false);
	return result;
}

bool
dperm_split_query(Query *tree, DpermSplitQuery *split)
{
	Query	   *query = copyObject(tree);
	Query	   *subquery;
	List	   *targets = query->targetList;
	List	   *conditions = NIL,
			   *columns = NIL;
	RangeTblEntry *entry;
	ListCell   *cell;
	int			relation;

	if (!is_fit(query))
		return false;
	for (;;)
	{
		relation = only_relation(query);
		entry = rt_fetch(relation, query->rtable);
		conditions = list_concat(take_conditions(query, entry), conditions);
		if (entry->rtekind == RTE_RELATION)
			break;
		subquery = entry->subquery;
		targets = expand_columns(targets, relation, entry, subquery->targetList);
		conditions = expand_columns(conditions, relation, entry, subquery->targetList);
		merge_relations(subquery, entry, query);
		query = subquery;
	}
	targets = expand_table(targets, relation, entry);
	conditions = expand_table(conditions, relation, entry);
	if (conditions == NIL && !shows_more(targets))
		return false;
	foreach(cell, pull_var_clause((Node *) list_make2(targets, conditions), 0))
		columns = list_append_unique(columns, lfirst(cell));
	query->targetList = show_columns(columns);
	split->columns = query;
	split->targets = simplify(targets, columns);
	split->conditions = simplify(conditions, columns);
	split->leaves_traces =
		runs_others((Node *) split->targets, NULL) || runs_others((Node *) split->conditions, NULL);
	return true;
}
