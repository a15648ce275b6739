/*
 * registered_behind.c: the registrations behind a column of a relation.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lockdefs.h"
#include "utils/lsyscache.h"

#include "budget/debit.h"
#include "column/domains.h"
#include "protect/protection.h"
#include "protect/registered_behind.h"
#include "relation/row_sources.h"

/* A relation of a family that is registered. */
typedef struct Member
{
	const DpermRegistration *registration;
	bool		whole;			/* does it have all rows of the relation? */
} Member;

/* A relation with its parents and children; a view is alone. */
typedef struct Family
{
	Oid			relation;
	List	   *members;		/* Member */
} Family;

/* Note a registration that was read, or that there is none. */
void
dperm_registered_behind_note(DpermBehindRead *read, Oid relation,
							 const DpermRegistration *registration)
{
	DpermVersion *version = palloc(sizeof(*version));

	version->relation = relation;
	version->version = registration && !registration->waiting ? registration->version :
																InvalidTransactionId;
	read->versions = lappend(read->versions, version);
}

/* Read the registrations of other relations, and add those that there are. */
static void
add_members(DpermBehindRead *read, Family *family, List *relations, bool whole)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		const DpermRegistration *registration;
		Member	   *member;

		if (lfirst_oid(cell) == read->relation)
			continue;
		registration = dperm_registry_find(lfirst_oid(cell));
		if (registration && registration->budget == NULL)
			registration = NULL;	/* no longer protected */
		dperm_registered_behind_note(read, lfirst_oid(cell), registration);
		if (registration == NULL)
			continue;
		member = palloc(sizeof(*member));
		member->registration = registration;
		member->whole = whole;
		family->members = lappend(family->members, member);
	}
}

/* The family of a relation. */
static Family *
family_of(DpermBehindRead *read, Oid relation)
{
	List	   *whole,
			   *parts,
			   *theirs;
	Family	   *family;
	ListCell   *cell;

	foreach(cell, read->families)
		if (((Family *) lfirst(cell))->relation == relation)
			return lfirst(cell);
	whole = lcons_oid(relation, dperm_row_sources_parents(relation));
	parts = find_all_inheritors(relation, NoLock, NULL);
	theirs = list_copy(parts);
	foreach(cell, parts)
		theirs = list_concat_unique_oid(theirs, dperm_row_sources_parents(lfirst_oid(cell)));
	family = palloc0(sizeof(*family));
	family->relation = relation;
	add_members(read, family, whole, true);
	add_members(read, family, list_difference_oid(theirs, whole), false);
	read->families = lappend(read->families, family);
	return family;
}

/*
 * A column as it is registered there. Of a registration that waits for its
 * relation nothing is known, so nothing is open.
 */
static DpermBehind *
make_behind(const Member *member, AttrNumber number)
{
	const DpermColumn there = {.number = number};
	DpermBehind *behind = palloc(sizeof(*behind));

	behind->registration = member->registration;
	behind->number = number;
	behind->whole = member->whole;
	behind->open = !member->registration->waiting &&
		dperm_protection_lists(member->registration, &there);
	return behind;
}

/* The registrations behind a column. */
List *
dperm_registered_behind_find(DpermBehindRead *read, const DpermColumn *column)
{
	Oid			at = read->relation;
	AttrNumber	number = column->number;
	List	   *whole = NIL;
	List	   *parts = NIL;
	ListCell   *cell;

	do
	{
		CHECK_FOR_INTERRUPTS();	/* views may be replaced meanwhile, and show each other */
		foreach(cell, family_of(read, at)->members)
		{
			const Member *member = lfirst(cell);
			Oid			other = member->registration->relation;

			/* parents and children have the same column under the same name */
			AttrNumber	there =
				other == at ? number : get_attnum(other, get_attname(at, number, false));

			if (there <= 0)
				continue;
			if (member->whole)
				whole = lappend(whole, make_behind(member, there));
			else
				parts = lappend(parts, make_behind(member, there));
		}
	} while (at != column->relation && dperm_domains_shown(&at, &number));
	return list_concat(whole, parts);
}
