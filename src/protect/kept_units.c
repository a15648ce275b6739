/*
 * kept_units.c: do the rows of a table belong to the same persons in all
 * relations that charge a budget?
 *
 * A budget protects persons, each with all of their rows in all relations that
 * charge it. That has no meaning if a row belongs to one person in one relation
 * and to another person in another one, or if a row of one person is made from
 * rows of others. So a relation is traced to the tables whose rows it shows,
 * and its unit to their columns. These are kept with the budget: views come and
 * go and may be replaced, but tables stay.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "column/domains.h"
#include "protect/kept_unit_rows.h"
#include "protect/kept_units.h"
#include "protect/population.h"
#include "relation/row_sources.h"

/* Add a table, unless it is in the list. */
static List *
add_unit(List *units, Oid relation, AttrNumber unit, bool mixed)
{
	DpermKeptUnit *one;
	ListCell   *cell;

	foreach(cell, units)
		if (((DpermKeptUnit *) lfirst(cell))->relation == relation)
			return units;
	one = palloc0(sizeof(*one));
	one->relation = relation;
	one->unit = unit;
	one->mixed = mixed;
	return lappend(units, one);
}

/* The column with this name; 0 if there is none. */
static AttrNumber
column_of(Oid relation, const char *name)
{
	return name ? Max(get_attnum(relation, name), 0) : 0;
}

/*
 * The column of a table that a column of a relation shows, in *number;
 * InvalidOid for an expression.
 */
static Oid
origin_of(Oid relation, AttrNumber *number)
{
	Relation	opened = *number > 0 ? try_relation_open(relation, AccessShareLock) : NULL;
	Oid			origin = InvalidOid;

	check_stack_depth();
	if (opened == NULL)
		return InvalidOid;
	if (opened->rd_rel->relkind == RELKIND_VIEW || opened->rd_rel->relkind == RELKIND_MATVIEW)
	{
		Query	   *query = dperm_domains_view_query(opened);

		if (query && !query->setOperations && *number <= list_length(query->targetList))
		{
			TargetEntry *entry = list_nth_node(TargetEntry, query->targetList, *number - 1);

			*number = entry->resorigcol;
			origin =
				OidIsValid(entry->resorigtbl) ? origin_of(entry->resorigtbl, number) : InvalidOid;
		}
	}
	else
		origin = relation;
	relation_close(opened, NoLock);
	return origin;
}

/* All tables behind a relation that is not made from one table row by row. */
static List *
trace_mixed(List *units, Oid relation, AttrNumber unit)
{
	Oid			origin = origin_of(relation, &unit);
	char	   *name = OidIsValid(origin) ? get_attname(origin, unit, true) : NULL;
	List	   *family = OidIsValid(origin) ?
		find_all_inheritors(origin, AccessShareLock, NULL) : NIL;
	ListCell   *cell;

	foreach(cell, dperm_row_sources_stored(relation))
		if (lfirst_oid(cell) != relation && lfirst_oid(cell) >= FirstNormalObjectId)
			units = add_unit(
				units, lfirst_oid(cell),
				list_member_oid(family, lfirst_oid(cell)) ? column_of(lfirst_oid(cell), name) : 0,
				true);
	return units;
}

/* A table, with its partitions and children. */
static List *
trace_table(List *units, Oid table, AttrNumber unit)
{
	char	   *name = unit > 0 ? get_attname(table, unit, true) : NULL;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(table, AccessShareLock, NULL))
		units = add_unit(units, lfirst_oid(cell), column_of(lfirst_oid(cell), name), false);
	return units;
}

/* The tables whose rows a relation shows. */
List *
dperm_kept_units_trace(Oid relation, AttrNumber unit)
{
	Relation	opened = try_relation_open(relation, AccessShareLock);
	bool		stored;
	List	   *units = NIL;

	check_stack_depth();
	if (opened == NULL)
		return NIL;
	stored = opened->rd_rel->relkind == RELKIND_MATVIEW;
	if (stored || opened->rd_rel->relkind == RELKIND_VIEW)
	{
		AttrNumber	behind;
		Oid			table = dperm_population_behind(opened, unit, &behind);

		if (OidIsValid(table))
			units = dperm_kept_units_trace(table, behind);
		else if (stored)
			units = trace_mixed(add_unit(NIL, relation, unit, false), relation, unit);
	}
	else
		units = trace_table(NIL, relation, unit);
	relation_close(opened, NoLock);
	return units;
}

/* The same with the parents of these tables, which share their rows. */
static List *
with_parents(List *units)
{
	List	   *result = list_copy(units);
	ListCell   *cell,
			   *inner;

	foreach(cell, units)
	{
		const DpermKeptUnit *one = lfirst(cell);
		char	   *name = one->unit ? get_attname(one->relation, one->unit, true) : NULL;

		foreach(inner, dperm_row_sources_parents(one->relation))
			result =
				add_unit(result, lfirst_oid(inner), column_of(lfirst_oid(inner), name), one->mixed);
	}
	return result;
}

#define UNIT_HINT \
	"Before the first charge, call dp_unprotect for the other relations that show these rows, " \
	"and protect all with one unit; afterwards, create another budget."

/* Raise an error for a relation that conflicts with what is kept of a table. */
static void
refuse_unit(const char *budget, Oid relation, const DpermKeptUnit *kept, bool mixed)
{
	char	   *unit = kept->unit ? get_attname(kept->relation, kept->unit, true) : NULL;

	if (kept->mixed != mixed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" cannot share budget \"%s\" with other relations that show "
						"rows of \"%s\"", get_rel_name(relation), budget,
						get_rel_name(kept->relation)),
				 errdetail("A materialized view shares a budget with the table behind it only if "
						   "it shows each row of that table once, in columns and expressions of "
						   "built-in functions, without WHERE."),
				 errhint("Use a view instead.")));
	if (kept->relation == relation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" has another unit in budget "
						"\"%s\"", get_rel_name(relation), budget),
				 unit ? errdetail("Its unit is column \"%s\".", unit) : 0,
				 errhint(UNIT_HINT)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("relation \"%s\" shares rows with \"%s\", whose unit in budget \"%s\" is "
					"another one",
					get_rel_name(relation), get_rel_name(kept->relation), budget),
			 unit ? errdetail("That unit is column \"%s\".", unit) : 0,
			 errhint(UNIT_HINT)));
}

/*
 * Raise an error unless the unit of a relation that is not made row by row can
 * be kept as a column of a table behind it.
 */
static void
check_origin(Oid relation, List *units)
{
	bool		mixed = false;
	ListCell   *cell;

	foreach(cell, units)
	{
		const DpermKeptUnit *one = lfirst(cell);

		if (one->mixed && one->unit)
			return;
		mixed |= one->mixed;
	}
	if (mixed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the unit of relation \"%s\" is not a column of a table behind it",
						get_rel_name(relation)),
				 errhint("Show the column itself, not an expression or a column of a UNION, or "
						 "store the rows in a table.")));
}

/*
 * Raise an error unless the tables behind a relation are kept as they are now.
 */
void
dperm_kept_units_check(const DpermRegistration *ours, List *tables, bool complete)
{
	const char *budget = ours->budget;
	Oid			relation = ours->relation;
	List	   *all = with_parents(tables);
	List	   *relations = NIL;
	List	   *known = NIL;
	List	   *kept;
	ListCell   *cell,
			   *inner;

	if (ours->unit)
		check_origin(relation, tables);
	foreach(cell, all)
		relations = lappend_oid(relations, ((DpermKeptUnit *) lfirst(cell))->relation);
	kept = dperm_kept_unit_rows_find(ours->budget_id, relations);
	foreach(cell, kept)
	{
		const DpermKeptUnit *other = lfirst(cell);

		foreach(inner, all)
		{
			const DpermKeptUnit *one = lfirst(inner);

			if (one->relation == other->relation &&
				(one->unit != other->unit || one->mixed != other->mixed))
				refuse_unit(budget, relation, other, one->mixed);
		}
		if (complete && other->changed)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("rows of relation \"%s\" have been registered by this "
							"transaction", get_rel_name(other->relation)),
					 errhint("Commit first.")));
		known = lappend_oid(known, other->relation);
	}
	foreach(cell, complete ? tables : NIL)
		if (!list_member_oid(known, ((DpermKeptUnit *) lfirst(cell))->relation))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("relation \"%s\" shows rows of \"%s\" that are not "
							"registered", get_rel_name(relation),
							get_rel_name(((DpermKeptUnit *) lfirst(cell))->relation)),
					 errhint("The owner of the relation has to protect it again with "
							 "dp_protect.")));
}
