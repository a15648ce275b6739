/*
 * units.c: do relations that share rows, and a budget, tell persons apart alike?
 *
 * What a budget promises is about persons, each with all of their rows in all relations that charge it. If the same rows are somebody's in one
 * relation and somebody else's in another, there are no such persons. So the unit of a relation is followed to where it comes from: through views and
 * materialized views, and to the columns of the same name of parents and children.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "domains.h"
#include "reach.h"
#include "registry.h"
#include "units.h"

/* Is a list of units one with this relation, and with a column, unless that is 0? */
static bool
has_unit(List *units, Oid relation, AttrNumber unit)
{
	ListCell   *cell;

	foreach(cell, units)
	{
		const DpermKeptUnit *one = lfirst(cell);

		if (one->relation == relation && (unit == 0 || one->unit == unit))
			return true;
	}
	return false;
}

static List *trace(List *units, Oid relation, AttrNumber unit);

/* Add the columns of the same name in some relations. */
static List *
trace_name(List *units, List *relations, const char *name)
{
	ListCell   *cell;

	foreach(cell, relations)
		units = trace(units, lfirst_oid(cell), get_attnum(lfirst_oid(cell), name));
	return units;
}

/* Add a column, and where it comes from. */
static List *
trace(List *units, Oid relation, AttrNumber unit)
{
	DpermKeptUnit *one;
	char	   *name = unit > 0 ? get_attname(relation, unit, true) : NULL;
	Relation	opened;

	check_stack_depth();
	if (name == NULL || has_unit(units, relation, unit) || (opened = try_relation_open(relation, AccessShareLock)) == NULL)
		return units;
	one = palloc(sizeof(*one));
	*one = (DpermKeptUnit) {.relation = relation, .unit = unit};
	units = lappend(units, one);
	if (opened->rd_rel->relkind == RELKIND_VIEW || opened->rd_rel->relkind == RELKIND_MATVIEW)
	{
		Query	   *query = dperm_domains_view_query(opened);

		if (query && !query->setOperations && unit <= list_length(query->targetList))
		{
			TargetEntry *entry = list_nth_node(TargetEntry, query->targetList, unit - 1);

			units = trace(units, entry->resorigtbl, entry->resorigcol);
		}
	}
	else
		units = trace_name(units, list_concat(find_inheritance_children(relation, AccessShareLock), dperm_reach_parents(relation)), name);
	relation_close(opened, NoLock);
	return units;
}

/* Do two traces have a column in common? */
static bool
have_same(List *a, List *b)
{
	ListCell   *cell;

	foreach(cell, a)
		if (has_unit(b, ((DpermKeptUnit *) lfirst(cell))->relation, ((DpermKeptUnit *) lfirst(cell))->unit))
			return true;
	return false;
}

/* Do they have a relation in common? */
static bool
have_shared(List *a, List *b)
{
	ListCell   *cell;

	foreach(cell, a)
		if (has_unit(b, ((DpermKeptUnit *) lfirst(cell))->relation, 0))
			return true;
	return false;
}

/* Raise for units that are not the same. */
void
dperm_units_check(const char *budget, Oid relation, AttrNumber unit, List *kept)
{
	List	   *ours = trace(NIL, relation, unit);
	List	   *reached = dperm_reach_relations(relation);
	ListCell   *cell;

	foreach(cell, kept)
	{
		const DpermKeptUnit *other = lfirst(cell);
		List	   *theirs;

		if (other->relation == relation)
			continue;
		theirs = trace(NIL, other->relation, other->unit);
		if (!have_same(ours, theirs) && (list_member_oid(reached, other->relation) || have_shared(ours, theirs) ||
										 list_member_oid(dperm_reach_relations(other->relation), relation)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("relation \"%s\" shares rows with \"%s\", whose unit in budget \"%s\" is another one",
							get_rel_name(relation), get_rel_name(other->relation), budget),
					 errhint("Use the same column as the unit of both, or another budget: persons that are told apart in two ways cannot share one.")));
	}
}
