/*
 * population.c: whose rows count in a protected relation.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "column/domains.h"
#include "protect/population.h"
#include "relation/relation.h"
#include "relation/row_sources.h"

/*
 * Raise an error for a view that cannot be protected; what is the clause to
 * blame.
 */
static void
refuse_view(Oid view, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("view \"%s\" cannot be protected: it has %s", get_rel_name(view), what),
			 errhint("Protect the table, or store the rows in a table: a protected view shows "
					 "columns and expressions of one table, and may have a WHERE clause.")));
}

/*
 * Does an expression contain a system column? The location of a row and when it
 * was written depend on other rows; its partition does not.
 */
static bool
has_system_column(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varattno < 0 &&
		((Var *) node)->varattno != TableOidAttributeNumber)
		return true;
	return expression_tree_walker(node, has_system_column, context);
}

/* What a view has beyond the columns and a filter of one relation, or NULL. */
static const char *
beyond_one_table(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->setOperations)
		return "UNION, INTERSECT or EXCEPT";
	if (query->cteList)
		return "WITH";
	if (query->hasAggs || query->groupClause || query->groupingSets || query->havingQual)
		return "GROUP BY or aggregates";
	if (query->hasWindowFuncs)
		return "window functions";
	if (query->hasTargetSRFs)
		return "functions that return sets";
	if (query->hasSubLinks)
		return "subqueries";
	if (query->distinctClause)
		return "DISTINCT";
	if (query->sortClause)
		return "ORDER BY";
	if (query->limitCount || query->limitOffset)
		return "LIMIT or OFFSET";
	if (query->rowMarks)
		return "row locks";
	if (list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return "more than one table, or none";
	if (has_system_column((Node *) query->targetList, NULL) ||
		has_system_column(query->jointree->quals, NULL))
		return "system columns other than tableoid";
	return NULL;
}

/* The only relation in the FROM clause of a view. */
static RangeTblEntry *
only_table(Oid view, Query *query)
{
	const char *what = query ? beyond_one_table(query) : "no definition";
	RangeTblEntry *entry;

	if (what)
		refuse_view(view, what);
	entry = list_nth_node(RangeTblEntry, query->rtable,
						  linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex - 1);
	if (entry->rtekind != RTE_RELATION)
		refuse_view(view, "something other than a table in FROM");
	if (entry->tablesample)
		refuse_view(view, "TABLESAMPLE");
	return entry;
}

/* The column behind a column of a view. */
static AttrNumber
column_behind(Oid view, Query *query, AttrNumber number)
{
	Node	   *node = (Node *) list_nth_node(TargetEntry, query->targetList, number - 1)->expr;

	if (!IsA(node, Var) || ((Var *) node)->varlevelsup != 0 || ((Var *) node)->varattno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of view \"%s\" cannot be "
						"the unit", get_attname(view, number, false), get_rel_name(view)),
				 errhint("The unit of a view must be a column of the table behind it, not an "
						 "expression.")));
	return ((Var *) node)->varattno;
}

/*
 * Is a function other than the built-in ones that depend only on their
 * arguments or on settings?
 */
static bool
is_foreign(Oid function, void *context)
{
	return function >= FirstNormalObjectId || func_volatile(function) == PROVOLATILE_VOLATILE ||
		   dperm_row_sources_by_name(function);
}

/*
 * Does an expression call such functions? Types of others have casts, which
 * built-in functions may find.
 */
static bool
calls_foreign(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (dperm_row_sources_type(node) >= FirstNormalObjectId)
		return true;
	return check_functions_in_node(node, is_foreign, context) ||
		   expression_tree_walker(node, calls_foreign, context);
}

/* Does a list contain more than columns and built-in functions of them? */
static bool
shows_foreign(const List *targets)
{
	ListCell   *cell;

	foreach(cell, targets)
	{
		Node	   *shown = (Node *) lfirst_node(TargetEntry, cell)->expr;

		if (!(IsA(shown, Var) && ((Var *) shown)->varattno > 0) && calls_foreign(shown, NULL))
			return true;
	}
	return false;
}

/* The table behind a relation that shows it row by row. */
Oid
dperm_population_behind(Relation relation, AttrNumber unit, AttrNumber *behind)
{
	bool		stored = relation->rd_rel->relkind == RELKIND_MATVIEW;
	Query	   *query = dperm_domains_view_query(relation);
	RangeTblEntry *entry;
	Node	   *shown;

	if (query == NULL || beyond_one_table(query) || unit > list_length(query->targetList))
		return InvalidOid;
	entry = list_nth_node(RangeTblEntry, query->rtable,
						  linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex - 1);
	if (entry->rtekind != RTE_RELATION || entry->tablesample)
		return InvalidOid;

	/*
	 * what is stored was computed by views, functions and policies as they were
	 * at that time, and its number of rows is public
	 */
	if (stored && (get_rel_relkind(entry->relid) == RELKIND_VIEW ||
				   dperm_row_sources_has_policies(entry->relid) || query->jointree->quals ||
				   shows_foreign(query->targetList)))
		return InvalidOid;
	shown =
		unit > 0 ? (Node *) list_nth_node(TargetEntry, query->targetList, unit - 1)->expr : NULL;
	if (shown &&
		(!IsA(shown, Var) || ((Var *) shown)->varlevelsup != 0 || ((Var *) shown)->varattno <= 0))
		return InvalidOid;
	*behind = shown ? ((Var *) shown)->varattno : 0;
	return entry->relid;
}

/* Raise an error for a table with policies that apply to its owner. */
static void
check_policies(Relation relation)
{
	if (relation->rd_rel->relrowsecurity && relation->rd_rel->relforcerowsecurity)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" cannot be protected: its policies apply to its "
						"owner", RelationGetRelationName(relation)),
				 errdetail("Rows are read with the rights of the owner."),
				 errhint("Use ALTER TABLE %s NO FORCE ROW LEVEL SECURITY.",
						 quote_identifier(RelationGetRelationName(relation)))));
}

/*
 * Does a table have columns that are computed when read? A row for which that
 * fails is left out.
 */
static bool
is_computed(Relation table)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	TupleConstr *constraints = RelationGetDescr(table)->constr;

	return constraints && constraints->has_generated_virtual;
#else
	return false;
#endif
}

/* Raise an error for a unit that is computed when read: that may fail. */
static void
check_stored(Relation table, AttrNumber unit)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	if (unit > 0 && TupleDescAttr(RelationGetDescr(table), unit - 1)->attgenerated ==
						ATTRIBUTE_GENERATED_VIRTUAL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of table \"%s\" cannot be the unit: it is a virtual "
						"generated column",
						get_attname(RelationGetRelid(table), unit, false),
						RelationGetRelationName(table)),
				 errhint("Use a stored column.")));
#endif
}

/* A query that returns the units of a table, or just one row for each. */
static char *
show_units(Oid table, AttrNumber unit, bool inherited)
{
	return psprintf("SELECT %s FROM %s%s AS t",
					unit ? psprintf("t.%s", quote_identifier(get_attname(table, unit, false))) : "",
					inherited ? "" : "ONLY ", dperm_relation_name(table));
}

/* The query that counts the rows behind a view, or NULL. */
char *
dperm_population_query(Oid oid, AttrNumber unit, Oid *table)
{
	Relation	relation = relation_open(oid, AccessShareLock);
	char	   *result = NULL;

	check_stack_depth();
	check_policies(relation);
	if (table)
		*table = oid;
	if (relation->rd_rel->relkind == RELKIND_VIEW)
	{
		Query	   *query = dperm_domains_view_query(relation);
		RangeTblEntry *entry = only_table(oid, query);
		AttrNumber	behind = unit ? column_behind(oid, query, unit) : 0;

		result = dperm_population_query(entry->relid, behind, table);
		if (get_rel_relkind(entry->relid) != RELKIND_VIEW)
			result = show_units(entry->relid, behind, entry->inh);
	}
	else
	{
		check_stored(relation, unit);
		if (is_computed(relation))
			result = show_units(oid, unit, true);
	}
	relation_close(relation, AccessShareLock);
	return result;
}

/* Warn of a number of rows that is public. */
void
dperm_population_warn(Oid relation, bool has_unit)
{
	if (has_superclass(relation))
		ereport(WARNING,
				(errmsg("the number of %s in \"%s\", which is a part of another table, is "
						"public", has_unit ? "persons" : "rows", get_rel_name(relation)),
				 errhint("If membership in this part is private, protect that table and a view of "
						 "it with a WHERE clause.")));
}
