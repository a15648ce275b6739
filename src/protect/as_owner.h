/*
 * as_owner.h: queries that send nothing to the client, and that may run with
 * the rights of a relation's owner.
 */
#ifndef DPERM_AS_OWNER_H
#define DPERM_AS_OWNER_H

#include "miscadmin.h"

/* The user and settings to restore. */
typedef struct DpermRunAs
{
	Oid			user;
	int			security;
	int			settings;
	bool		restricted;		/* is what functions set undone at the end? */
} DpermRunAs;

/*
 * From here on, messages and plans are kept from the client. With an owner (not
 * InvalidOid), names are looked up with the rights of that role, in a
 * security-restricted operation and only in pg_catalog. An error undoes this
 * with its (sub)transaction.
 */
extern void dperm_as_owner_begin(DpermRunAs *before, Oid owner);
extern void dperm_as_owner_end(DpermRunAs *before);

#endif							/* DPERM_AS_OWNER_H */
