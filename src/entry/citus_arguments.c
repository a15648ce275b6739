/*
 * citus_arguments.c: rows that Citus gathers for an aggregate.
 *
 * Citus cannot split dp_logreg, dp_svm and dp_linreg. Unless the query groups by the
 * distribution column, so that each server has whole groups, it asks the
 * servers for all arguments of the call, row by row, and calls the aggregate
 * here. Then even a constant is a column. Its original expression is in the
 * query for the servers, which the plan node of Citus contains.
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"

#include "entry/citus_arguments.h"

/*
 * The name of a plan of Citus, and how the query for the servers begins in its
 * text form: the first one belongs to the job at its beginning.
 */
#define CITUS_PLAN "DistributedPlan"
#define CITUS_QUERY " :jobQuery {QUERY "

/* Columns that replace Vars of one kind. */
typedef struct Replacement
{
	int			varno;
	List	   *columns;
} Replacement;

/* Replace them. */
static Node *
replace_columns(Node *node, void *arg)
{
	Replacement *replacement = arg;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return var->varno == replacement->varno && var->varattno > 0 &&
					   var->varattno <= list_length(replacement->columns) ?
				   copyObject(list_nth(replacement->columns, var->varattno - 1)) :
				   copyObject(node);
	}
	return expression_tree_mutator(node, replace_columns, arg);
}

/*
 * The expressions of a target list, with Vars of one kind replaced by columns.
 */
static List *
replaced_list(List *targets, int varno, List *columns)
{
	Replacement replacement = {.varno = varno, .columns = columns};
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, targets)
		result = lappend(
			result, replace_columns((Node *) lfirst_node(TargetEntry, cell)->expr, &replacement));
	return result;
}

/*
 * The end of a node that begins with a brace, in a text form; NULL if there is
 * none. Braces in names and strings are escaped.
 */
static const char *
end_of_node(const char *text)
{
	int			depth = 0;

	for (; *text; text++)
	{
		if (*text == '\\' && text[1])
			text++;
		else if (*text == '{')
			depth++;
		else if (*text == '}' && --depth == 0)
			return text + 1;
	}
	return NULL;
}

/*
 * The query that Citus sends to the servers; NULL if it is not known. The
 * structs of Citus differ between versions, their text forms hardly do.
 */
static Query *
query_there(const CustomScan *scan)
{
	char	   *text = nodeToString(linitial(scan->custom_private));
	const char *begin = strstr(text, CITUS_QUERY);
	const char *end;

	if (begin == NULL)
		return NULL;
	begin = strchr(begin, '{');
	end = end_of_node(begin);
	return end ? (Query *) stringToNode(pnstrdup(begin, end - begin)) : NULL;
}

/* Is this a plan node of Citus that fetches rows from servers? */
static bool
is_citus_scan(const Plan *plan)
{
	List	   *private = IsA(plan, CustomScan) ? ((const CustomScan *) plan)->custom_private : NIL;

	return list_length(private) == 1 && IsA(linitial(private), ExtensibleNode) &&
		strcmp(((ExtensibleNode *) linitial(private))->extnodename, CITUS_PLAN) == 0;
}

/* What the servers compute for the columns of a node of Citus. */
static List *
scan_columns(const CustomScan *scan)
{
	Query	   *query = query_there(scan);
	List	   *sent = NIL;
	ListCell   *cell;

	if (query == NULL)
		return NIL;
	foreach(cell, query->targetList)
		if (!lfirst_node(TargetEntry, cell)->resjunk)
			sent = lappend(sent, lfirst_node(TargetEntry, cell)->expr);

	/* what arrives, by position, and what the node makes of it */
	if (list_length(sent) != list_length(scan->custom_scan_tlist))
		return NIL;
	foreach(cell, scan->custom_scan_tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(expr, Var) || ((Var *) expr)->varattno != foreach_current_index(cell) + 1)
			return NIL;
	}
	return replaced_list(scan->scan.plan.targetlist, INDEX_VAR, sent);
}

/* The same for a plan with one input that does not change rows. */
static bool
plan_columns(const Plan *plan, List **columns)
{
	if (plan == NULL)
		return false;
	if (is_citus_scan(plan))
	{
		*columns = scan_columns((const CustomScan *) plan);
		return true;
	}
	if ((!IsA(plan, Sort) && !IsA(plan, IncrementalSort) && !IsA(plan, Material) &&
		 !IsA(plan, Result)) ||
		!plan_columns(plan->lefttree, columns))
		return false;
	if (*columns != NIL)
		*columns = replaced_list(plan->targetlist, OUTER_VAR, *columns);
	return true;
}

/* For the input of a node. */
bool
dperm_citus_arguments_columns(const Plan *node, List **columns)
{
	*columns = NIL;
	return plan_columns(node->lefttree, columns);
}

/* For an expression over it. */
Node *
dperm_citus_arguments_expression(Node *expression, List *columns)
{
	Replacement replacement = {.varno = OUTER_VAR, .columns = columns};

	return replace_columns(expression, &replacement);
}

/*
 * Does an expression contain anything that can differ between rows or servers?
 */
static bool
has_variable(Node *node, void *groups)
{
	if (node == NULL)
		return false;
	if (list_member(groups, node))
		return false;
	if (IsA(node, Var) || IsA(node, SubLink) || IsA(node, SubPlan) ||
		(IsA(node, Param) && ((Param *) node)->paramkind != PARAM_EXTERN))
		return true;
	return expression_tree_walker(node, has_variable, groups);
}

/*
 * The same, including functions that are not immutable: which server has a row
 * depends on the row.
 */
bool
dperm_citus_arguments_varies(Node *expression, List *groups)
{
	return contain_mutable_functions(expression) || has_variable(expression, groups);
}
