/*
 * table_rows.c: how the rows of a protected relation are read.
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "protect/protect.h"
#include "query/table_rows.h"
#include "relation/relation.h"

/* A column of a table. */
static Expr *
make_column(Oid table, AttrNumber number)
{
	Oid			type,
				collation;
	int32		typmod;

	get_atttypetypmodcoll(table, number, &type, &typmod, &collation);
	return (Expr *) makeVar(1, number, type, typmod, collation, 0);
}

/* A column of the source, as an expression over columns of its table. */
static Expr *
shown_column(const DpermSource *source, const char *name)
{
	AttrNumber	number = get_attnum(source->relation, name);
	const DpermView *view = source->registration->view;

	return view ? copyObject(list_nth_node(TargetEntry, view->targets, number - 1)->expr) :
		make_column(source->relation, number);
}

/* Add an expression to a row. */
static void
add_target(DpermTableRows *rows, Expr *expression)
{
	int			place = list_length(rows->targets) + 1;

	rows->targets = lappend(rows->targets,
							makeTargetEntry(expression, place, psprintf("c%d", place), false));
}

/* Expressions over the stored columns of a table. */
static List *
expand_generated(List *expressions, Oid table)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	Relation	relation = table_open(table, AccessShareLock);

	expressions = (List *) expand_generated_columns_in_expr((Node *) expressions, relation, 1);
	table_close(relation, NoLock);
#endif
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
			if (((const Var *) lfirst(cell))->varattno == column->varattno)
				break;
			place++;
		}
		return (Node *) makeVar(1, place, column->vartype, column->vartypmod, column->varcollid, 0);
	}
	return expression_tree_mutator(node, place_columns, columns);
}

/* The columns in expressions, each once, in the order in which they appear. */
static List *
columns_in(List *expressions)
{
	List	   *columns = NIL;
	ListCell   *cell,
			   *inner;

	foreach(cell, pull_var_clause((Node *) expressions, 0))
	{
		bool		known = false;

		foreach(inner, columns)
			known |= ((const Var *) lfirst(inner))->varattno ==
				((const Var *) lfirst(cell))->varattno;
		if (!known)
			columns = lappend(columns, lfirst(cell));
	}
	return columns;
}

/*
 * The query of the columns. What has become a part of a table without parts
 * since it was checked is not planned.
 */
static char *
query_of(Oid table, bool has_parts, const List *columns)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT");
	foreach(cell, columns)
		appendStringInfo(&sql, "%s t.%s", cell == list_head(columns) ? "" : ",",
						 quote_identifier(get_attname(table, lfirst_node(Var, cell)->varattno,
													  false)));
	appendStringInfo(&sql, " FROM %s%s AS t", has_parts ? "" : "ONLY ", dperm_relation_name(table));
	return sql.data;
}

/* Is a row more than the columns of the query, in their order? */
static bool
is_computed(const DpermTableRows *rows)
{
	ListCell   *cell;

	foreach(cell, rows->targets)
	{
		const TargetEntry *target = lfirst_node(TargetEntry, cell);

		if (!IsA(target->expr, Var) || ((const Var *) target->expr)->varattno != target->resno)
			return true;
	}
	return rows->conditions != NIL;
}

DpermTableRows *
dperm_table_rows_make(const DpermSource *source)
{
	const DpermRegistration *registration = source->registration;
	Oid			table = registration->table->relation;
	DpermTableRows *rows = palloc0(sizeof(*rows));
	List	   *columns;

	if (source->label_column)
		add_target(rows, shown_column(source, source->label_column));
	for (int i = 0; i < source->block_count; i++)
		add_target(rows, shown_column(source, source->blocks[i].column.bytes));
	if (registration->persons)
		add_target(rows, make_column(table, registration->unit));
	if (registration->view && registration->view->condition)
		rows->conditions = list_make1(copyObject(registration->view->condition));
	rows->targets = expand_generated(rows->targets, table);
	rows->conditions = expand_generated(rows->conditions, table);
	columns = columns_in(list_make2(rows->targets, rows->conditions));
	rows->text = query_of(table, registration->has_parts, columns);
	rows->targets = (List *) place_columns((Node *) rows->targets, columns);
	rows->conditions = (List *) place_columns((Node *) rows->conditions, columns);
	if (registration->persons)
	{
		const Expr *unit = llast_node(TargetEntry, rows->targets)->expr;

		if (!IsA(unit, Var))
			elog(ERROR, "the unit of a protected relation is not a stored column");
		rows->unit = ((const Var *) unit)->varattno;
	}
	rows->computed = is_computed(rows);
	return rows;
}

void
dperm_table_rows_plan(DpermTableRows *rows)
{
	rows->targets = (List *) expression_planner((Expr *) rows->targets);
	rows->conditions = make_ands_implicit(
		expression_planner(make_ands_explicit(rows->conditions)));
}
