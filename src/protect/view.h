/*
 * view.h: what a view shows of its table.
 */
#ifndef DPERM_VIEW_H
#define DPERM_VIEW_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

/* What a view shows of its table, as the one walker over its definition found it. */
typedef struct DpermView
{
	Oid			table;
	List	   *targets;		/* TargetEntry, one for each column of the view in order; Vars have
								 * varno 1 and are columns of the table */
	Node	   *condition;		/* the WHERE clause, or NULL; varno 1 */
} DpermView;

/*
 * Read the definition of a view, which is locked. Raises an error for a view
 * that cannot be offered: the message names what it has, the hint says what
 * works.
 */
extern DpermView *dperm_view_read(Oid view);

/* The column of the table that a column of the view shows unchanged; 0 for an expression. */
extern AttrNumber dperm_view_column(const DpermView *view, AttrNumber number);

/*
 * Raise an error for a table whose planning or reading would run code of a role
 * that is not a superuser: functions and operators in expressions and
 * predicates of indexes, in extended statistics, in partition keys and in
 * virtual generated columns of the table and of the relations in the list. All
 * of these belong to its owner, or to a role with the owner's rights. They are
 * locked.
 */
extern void dperm_view_check_table(Oid table, List *children);

/*
 * Raise an error for a column that must not be read for others: values of some
 * types make PostgreSQL look up in the catalog what the value of a row stands
 * for.
 */
extern void dperm_view_check_type(const char *column, Oid type);

#endif							/* DPERM_VIEW_H */
