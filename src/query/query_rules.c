/*
 * query_rules.c: what a query over a source must not contain.
 *
 * All passes of a call must see the same rows. A snapshot ensures that for
 * tables, but a view may compute something new each time (see also
 * row_order.c). And no function may replace one of ours.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "base/known_tree.h"
#include "query/query_rules.h"
#include "query/row_order.h"

/*
 * Is one of the functions behind an aggregate volatile? The aggregate itself is
 * never marked as volatile.
 */
static bool
is_volatile_aggregate(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	bool		result = false;
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	{
		Oid			functions[] = {form->aggtransfn, form->aggfinalfn, form->aggcombinefn,
			form->aggserialfn, form->aggdeserialfn, form->aggmtransfn, form->aggminvtransfn,
			form->aggmfinalfn};

		for (int i = 0; i < lengthof(functions); i++)
			result = result || (OidIsValid(functions[i]) &&
								func_volatile(functions[i]) == PROVOLATILE_VOLATILE);
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Is there a volatile aggregate? PostgreSQL checks for volatile functions, but
 * not for those behind aggregates.
 */
static bool
has_volatile_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && is_volatile_aggregate(((Aggref *) node)->aggfnoid))
		return true;
	if (IsA(node, WindowFunc) && ((WindowFunc *) node)->winagg &&
		is_volatile_aggregate(((WindowFunc *) node)->winfnoid))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_volatile_aggregate, context, 0);
	return expression_tree_walker(node, has_volatile_aggregate, context);
}

/*
 * Does a query omit an argument whose default is volatile? PostgreSQL only
 * checks what is written.
 */
static bool
has_volatile_default(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid >= FirstNormalObjectId)
	{
		HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(((FuncExpr *) node)->funcid));
		bool		isnull;
		Datum		value;
		Node	   *defaults;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for function %u", ((FuncExpr *) node)->funcid);
		value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);
		isnull = isnull || list_length(((FuncExpr *) node)->args) >=
							   ((Form_pg_proc) GETSTRUCT(tuple))->pronargs;
		defaults = isnull ? NULL :
			dperm_known_tree_read(TextDatumGetCString(value), ProcedureRelationId,
								  ((FuncExpr *) node)->funcid);
		ReleaseSysCache(tuple);
		check_stack_depth();
		if (contain_volatile_functions(defaults) || has_volatile_default(defaults, context))
			return true;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_volatile_default, context, 0);
	return expression_tree_walker(node, has_volatile_default, context);
}

/*
 * What no snapshot keeps stable: a sample, a sequence, locked rows (their
 * newest versions would be read), and the system columns with the transactions
 * that have written a row.
 */
static bool
is_unstable(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		return (rte->tablesample != NULL && rte->tablesample->repeatable == NULL) ||
			(rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_SEQUENCE);
	}
	if (IsA(node, Var))
	{
		AttrNumber	number = ((Var *) node)->varattno;

		return number == MinTransactionIdAttributeNumber || number == MinCommandIdAttributeNumber ||
			number == MaxTransactionIdAttributeNumber || number == MaxCommandIdAttributeNumber;
	}
	if (IsA(node, Query))
		return ((Query *) node)->rowMarks != NIL ||
			query_tree_walker((Query *) node, is_unstable, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, is_unstable, context);
}

/*
 * Our queries call functions of PostgreSQL and our own alone. Another one, as of
 * a cast, would run with the rights of the caller.
 */
static void
check_ours(Oid function, Oid extension)
{
	if (function >= FirstNormalObjectId &&
		getExtensionOfObject(ProcedureRelationId, function) != extension)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FUNCTION),
				 errmsg("function %s conflicts with a function of extension dperm",
						format_procedure(function)),
				 errhint("Drop that function.")));
}

/* Check every function of a query. */
static bool
check_functions(Node *node, void *extension)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		check_ours(((Aggref *) node)->aggfnoid, *(Oid *) extension);
	if (IsA(node, FuncExpr))
		check_ours(((FuncExpr *) node)->funcid, *(Oid *) extension);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_functions, extension, 0);
	return expression_tree_walker(node, check_functions, extension);
}

/* Raise an error for a query that calls a function of somebody else. */
void
dperm_query_rules_text(Oid extension, Query *tree)
{
	(void) check_functions((Node *) tree, &extension);
}

/* Raise an error for a query that cannot be a pass. */
void
dperm_query_rules(Oid extension, Query *tree, bool any_rows)
{
	if (contain_volatile_functions((Node *) tree) || has_volatile_aggregate((Node *) tree, NULL) ||
		has_volatile_default((Node *) tree, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("source uses volatile functions, so its rows can change between passes"),
				 errhint("Store the rows first, for example in a materialized view.")));
	if (is_unstable((Node *) tree, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("source reads data that can change between passes"),
				 errhint("Use TABLESAMPLE with REPEATABLE, and do not use row locks, sequences or "
						 "the columns xmin, xmax, cmin and cmax; or store the rows first, for "
						 "example in a materialized view.")));
	if (!any_rows && dperm_row_order_matters(tree, extension))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("source depends on the order in which rows are read, which can change "
						"between passes"),
				 errhint("LIMIT, DISTINCT ON, window functions and aggregates of lists or "
						 "floating-point numbers need an ORDER BY that contains the primary key; "
						 "if that is newer than this transaction, start another one, or store the "
						 "rows first, for example in a materialized view.")));
}
