/*
 * registered_behind.h: the registrations behind a column of a relation.
 *
 * A column of a view may show a column of another relation unchanged, and a
 * table shares columns with its parents and children. Such relations may be
 * protected as well: what is closed in one of them is closed in all.
 */
#ifndef DPERM_REGISTERED_BEHIND_H
#define DPERM_REGISTERED_BEHIND_H

#include "nodes/pg_list.h"

#include "column/domain_column.h"
#include "protect/registry.h"

/* A registration behind a column. */
typedef struct DpermBehind
{
	const DpermRegistration *registration;
	AttrNumber	number;			/* the column there */
	/*
	 * Does its relation have all rows that the column shows? A child has only
	 * some of them.
	 */
	bool		whole;
	bool		open;			/* is the column open there? */
} DpermBehind;

/* The registrations that have been read for the columns of a relation. */
typedef struct DpermBehindRead
{
	Oid			relation;		/* to be set; the rest begins with zeros */
	List	   *families;		/* private */
	List	   *versions;		/* DpermVersion (debit.h), of relations without one, too */
} DpermBehindRead;

/*
 * The registrations behind a column of the relation, from dperm_domains_read(),
 * without that of the relation itself: DpermBehind, the nearest first. A view
 * is followed to what it shows, and then a table to its parents. Last come
 * those that have only some of the rows, and other parents of these.
 */
extern List *dperm_registered_behind_find(DpermBehindRead *read, const DpermColumn *column);

/* Note the version of a registration, which may be NULL, as it was read. */
extern void dperm_registered_behind_note(DpermBehindRead *read, Oid relation,
										 const DpermRegistration *registration);

#endif							/* DPERM_REGISTERED_BEHIND_H */
