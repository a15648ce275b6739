/*
 * aggregate_plan.c: how a call of dp_logreg, dp_svm or dp_linreg is planned.
 *
 * What a query says once may be computed several times: the planner copies a
 * subquery for each use of its column, and the parser copies an operand of
 * BETWEEN. Every copy would release another model of the same rows. And
 * parameters could be computed from rows, so that an error, or the number of
 * weights, reveals what a row contains.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"

#include "entry/aggregate_plan.h"
#include "entry/citus_arguments.h"
#include "protect/protection.h"

/*
 * The number of grouping sets that the node computes, in all of its phases; 0
 * or 1 if they do not overlap.
 */
static int
grouping_sets(const Agg *agg)
{
	int			count = list_length(agg->groupingSets);
	ListCell   *cell;

	foreach(cell, agg->chain)
		count += list_length(lfirst_node(Agg, cell)->groupingSets);
	return count;
}

/*
 * Does an expression over the input of a node contain a column that it does not
 * group by?
 */
static bool
has_ungrouped_column(Node *expression, void *node)
{
	const Agg  *agg = node;

	if (expression == NULL)
		return false;
	if (IsA(expression, Var))
	{
		for (int i = 0; i < agg->numCols; i++)
			if (agg->grpColIdx[i] == ((Var *) expression)->varattno)
				return false;
		return true;
	}
	return expression_tree_walker(expression, has_ungrouped_column, node);
}

/*
 * Does an expression contain a copy of a call? Calls from a stored view have no
 * location.
 */
static bool
has_copy(Node *expression, void *original)
{
	const Aggref *call = original;

	if (expression == NULL)
		return false;
	if (IsA(expression, Aggref))
	{
		Aggref	   *other = (Aggref *) expression;

		return other->aggfnoid == call->aggfnoid && other->location == call->location &&
			(call->location >= 0 || equal(other->args, call->args));
	}
	return expression_tree_walker(expression, has_copy, original);
}

/* Does a plan contain a copy of a call? */
static bool
plan_has_copy(Plan *plan, const Aggref *call)
{
	List	   *children = NIL;
	ListCell   *cell;

	if (plan == NULL)
		return false;
	check_stack_depth();
	if (IsA(plan, Agg) && (has_copy((Node *) plan->targetlist, (void *) call) ||
						   has_copy((Node *) plan->qual, (void *) call)))
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
 * In how many parts of a statement is a call? Within one part it can be in
 * several nodes with disjoint groups, one for each partition.
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

/*
 * The tables of a statement. If Citus has planned it, only the range table
 * names them.
 */
static List *
statement_tables(const PlannedStmt *statement)
{
	List	   *tables = list_copy(statement->relationOids);
	ListCell   *cell;

	foreach(cell, statement->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_RELATION)
			tables = list_append_unique_oid(tables, lfirst_node(RangeTblEntry, cell)->relid);
	return tables;
}

/*
 * The grouping expressions of a node, as servers of Citus compute them for the
 * columns of its input.
 */
static List *
gathered_groups(const Agg *agg, List *columns)
{
	List	   *groups = NIL;

	for (int i = 0; i < agg->numCols; i++)
		groups = lappend(groups, list_nth(columns, agg->grpColIdx[i] - 1));
	return groups;
}

/*
 * Raise an error unless the parameters of a call are the same for all rows of a
 * group, whatever the rows contain.
 */
static void
check_parameters(Agg *agg, const Aggref *call, int first_parameter)
{
	List	   *columns;
	bool		gathered = dperm_citus_arguments_columns(&agg->plan, &columns);
	List	   *groups = columns ? gathered_groups(agg, columns) : NIL;
	ListCell   *cell;

	if (gathered && columns == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot read how this version of Citus has "
						"planned the query"),
				 errhint("Use dp_logreg_train, dp_svm_train or dp_linreg_train, or group by the "
						 "distribution column.")));
	foreach(cell, call->args)
	{
		TargetEntry *argument = lfirst_node(TargetEntry, cell);
		Node	   *expression = (Node *) argument->expr;

		/* what rows are sorted by is not an argument */
		if (argument->resjunk || foreach_current_index(cell) < first_parameter)
			continue;
		if (gathered ? dperm_citus_arguments_varies(
						   dperm_citus_arguments_expression(expression, columns), groups) :
					   has_ungrouped_column(expression, agg))
			ereport(ERROR,
					(errcode(ERRCODE_GROUPING_ERROR),
					 errmsg("epsilon, lambda and options of dp_logreg, dp_svm and dp_linreg must "
							"be constants or depend on columns of GROUP BY"),
					 gathered ?
					 errhint("They are parameters of the model, which Citus computes with the "
							 "rows, so they cannot contain subqueries or functions that are not "
							 "immutable.") :
					 errhint("They are parameters of the model, not values of rows.")));
	}
}

/* An argument as written in the statement. */
Node *
dperm_aggregate_plan_argument(const AggState *node, const Aggref *call, int number)
{
	Node	   *expression = (Node *) list_nth_node(TargetEntry, call->args, number)->expr;
	List	   *columns;

	return dperm_citus_arguments_columns(node->ss.ps.plan, &columns) && columns ?
			   dperm_citus_arguments_expression(expression, columns) :
			   expression;
}

/* A call, and what servers of Citus compute for the columns of its input. */
typedef struct Gathered
{
	const Aggref *call;
	List	   *columns;
} Gathered;

/* Are two expressions over the input the same for the servers? */
static bool
same_there(const Gathered *gathered, void *a, void *b)
{
	return equal(dperm_citus_arguments_expression(a, gathered->columns),
				 dperm_citus_arguments_expression(b, gathered->columns));
}

/*
 * Does an expression contain a call a second time? PostgreSQL computes equal
 * calls of one node once. Citus has separate columns for the arguments of each,
 * so PostgreSQL does not see that they are equal.
 */
static bool
has_twin(Node *expression, void *arg)
{
	Gathered   *gathered = arg;

	if (expression == NULL)
		return false;
	if (IsA(expression, Aggref))
	{
		Aggref	   *other = (Aggref *) expression;
		const Aggref *call = gathered->call;

		return other->aggno != call->aggno && other->aggfnoid == call->aggfnoid &&
			   equal(other->aggorder, call->aggorder) &&
			   same_there(gathered, other->args, call->args) &&
			   same_there(gathered, other->aggfilter, call->aggfilter);
	}
	return expression_tree_walker(expression, has_twin, arg);
}

/* Does a node contain a call twice? */
static bool
node_has_twin(const Agg *agg, const Aggref *call)
{
	Gathered	gathered = {.call = call};

	return dperm_citus_arguments_columns(&agg->plan, &gathered.columns) &&
		   (has_twin((Node *) agg->plan.targetlist, &gathered) ||
			has_twin((Node *) agg->plan.qual, &gathered));
}

/* Check a call. */
void
dperm_aggregate_plan_check(AggState *node, const Aggref *call, int first_parameter)
{
	Agg		   *agg = castNode(Agg, node->ss.ps.plan);

	dperm_protection_check_query(statement_tables(node->ss.ps.state->es_plannedstmt));
	if (call->aggdistinct != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used with DISTINCT"),
				 errhint("The number of rows is public, but the number of distinct rows depends on "
						 "private values.")));
	if (grouping_sets(agg) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used with ROLLUP, CUBE or "
						"several grouping sets"),
				 errdetail("A row would belong to several groups, each of which costs epsilon."),
				 errhint("Use GROUP BY, or one query for each grouping set.")));
	check_parameters(agg, call, first_parameter);
	if (count_copies(node->ss.ps.state->es_plannedstmt, call) > 1 || node_has_twin(agg, call))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be computed more than once in a "
						"query"),
				 errdetail("There are several copies of one call in the plan."),
				 errhint("Compute the models once, in WITH ... AS MATERIALIZED, or store them in a "
						 "table.")));
}
