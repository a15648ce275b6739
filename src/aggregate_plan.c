/*
 * aggregate_plan.c: how a call of dp_logreg or dp_svm is planned.
 *
 * What a query says once may be computed several times: the planner copies a sub-select for each use of its column, the
 * parser one in BETWEEN. Every copy would release another model of the same rows. And parameters could be computed from
 * rows, so that an error, or the number of weights, tells what a row holds.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"

#include "aggregate_plan.h"
#include "protection.h"

/* How many grouping sets does the node compute, in all of its phases? 0 or 1 without overlap. */
static int
grouping_sets(const Agg *agg)
{
	int			count = list_length(agg->groupingSets);
	ListCell   *cell;

	foreach(cell, agg->chain)
		count += list_length(lfirst_node(Agg, cell)->groupingSets);
	return count;
}

/* Does an expression over the input of a node hold a column that it does not group by? */
static bool
has_ungrouped_column(Node *expression, Agg *agg)
{
	if (expression == NULL)
		return false;
	if (IsA(expression, Var))
	{
		for (int i = 0; i < agg->numCols; i++)
			if (agg->grpColIdx[i] == ((Var *) expression)->varattno)
				return false;
		return true;
	}
	return expression_tree_walker(expression, has_ungrouped_column, (void *) agg);
}

/* Is there a copy of a call in an expression? What comes from a stored view has no location. */
static bool
has_copy(Node *expression, Aggref *call)
{
	if (expression == NULL)
		return false;
	if (IsA(expression, Aggref))
	{
		Aggref	   *other = (Aggref *) expression;

		return other->aggfnoid == call->aggfnoid && other->location == call->location &&
			(call->location >= 0 || equal(other->args, call->args));
	}
	return expression_tree_walker(expression, has_copy, (void *) call);
}

/* Is there a copy of a call in a plan? */
static bool
plan_has_copy(Plan *plan, const Aggref *call)
{
	List	   *children = NIL;
	ListCell   *cell;

	if (plan == NULL)
		return false;
	check_stack_depth();
	if (IsA(plan, Agg) &&
		(has_copy((Node *) plan->targetlist, (Aggref *) call) || has_copy((Node *) plan->qual, (Aggref *) call)))
		return true;
	if (IsA(plan, Append))
		children = ((Append *) plan)->appendplans;
	else if (IsA(plan, MergeAppend))
		children = ((MergeAppend *) plan)->mergeplans;
	else if (IsA(plan, CustomScan))
		children = ((CustomScan *) plan)->custom_plans;
	else if (IsA(plan, SubqueryScan) && plan_has_copy(((SubqueryScan *) plan)->subplan, call))
		return true;
	foreach(cell, children)
		if (plan_has_copy(lfirst(cell), call))
			return true;
	return plan_has_copy(plan->lefttree, call) || plan_has_copy(plan->righttree, call);
}

/*
 * In how many parts of a statement is a call? Within one part it can be in several nodes, whose groups are disjoint: one
 * for each partition.
 */
static int
count_copies(const PlannedStmt *statement, const Aggref *call)
{
	int			count = plan_has_copy(statement->planTree, call) ? 1 : 0;
	ListCell   *cell;

	foreach(cell, statement->subplans)
		count += plan_has_copy(lfirst(cell), call) ? 1 : 0;
	return count;
}

/* Check a call. */
void
dperm_aggregate_plan_check(AggState *node, const Aggref *call, int first_parameter)
{
	Agg		   *agg = castNode(Agg, node->ss.ps.plan);
	ListCell   *cell;

	dperm_protection_check_query(node->ss.ps.state->es_plannedstmt->relationOids);
	if (call->aggdistinct != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg and dp_svm cannot be used with DISTINCT"),
				 errhint("The number of rows is public, but the number of distinct rows depends on private values.")));
	if (grouping_sets(agg) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg and dp_svm cannot be used with ROLLUP, CUBE or several grouping sets"),
				 errhint("A row would belong to several groups, each of which costs epsilon. Use GROUP BY, or one query for each grouping set.")));
	foreach(cell, call->args)
	{
		TargetEntry *argument = lfirst_node(TargetEntry, cell);

		/* what rows are sorted by is no argument */
		if (!argument->resjunk && foreach_current_index(cell) >= first_parameter &&
			has_ungrouped_column((Node *) argument->expr, agg))
			ereport(ERROR,
					(errcode(ERRCODE_GROUPING_ERROR),
					 errmsg("epsilon, lambda and options of dp_logreg and dp_svm must be constants or depend on columns of GROUP BY"),
					 errhint("They are parameters of the model, not values of rows.")));
	}
	if (count_copies(node->ss.ps.state->es_plannedstmt, call) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg and dp_svm cannot be computed more than once in a query"),
				 errdetail("The planner has made several copies of one call."),
				 errhint("Compute the models once, in WITH ... AS MATERIALIZED, or store them in a table.")));
}
