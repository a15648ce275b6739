/*
 * owners_walk.h: a walk through all that PostgreSQL may call for a query; within owners.c, owners_types.c and owners_builtin.c.
 */
#ifndef DPERM_OWNERS_WALK_H
#define DPERM_OWNERS_WALK_H

#include "catalog/dependency.h"
#include "nodes/pg_list.h"

/* Whose functions may run. */
typedef struct DpermOwners
{
	Oid			extension;		/* ours */
	Oid			relation;
	Oid			owner;			/* of the relation */
	Oid			within;			/* the function whose body is looked at, InvalidOid for the query itself */
	int			level;			/* of messages: ERROR, or WARNING where nothing runs yet */
	ObjectAddresses *visited;	/* functions, types and views that have been checked */
} DpermOwners;

/* Is an object seen for the first time? */
extern bool dperm_owners_is_new(DpermOwners *owners, Oid class, Oid object);

/* Raise for a function that must not run with the owner's rights; false, for check_functions_in_node. */
extern bool dperm_owners_function(Oid function, void *owners);

/* Is a type one that stands for an object of the catalog, or has the name of one: regclass, regconfig, regdictionary and such, or aclitem? */
extern bool dperm_owners_builtin_names_object(Oid type);

/* What keeps a function of PostgreSQL from being called for rows; NULL if nothing does. */
extern const char *dperm_owners_builtin_fault(Oid function);

/* An expression that the catalog has as text. */
extern void dperm_owners_text(Datum expression, bool isnull, DpermOwners *owners);

/* The functions of a type, or of an operator, if it is not InvalidOid. */
extern void dperm_owners_types_check(Oid type, DpermOwners *owners);
extern void dperm_owners_types_operator(Oid operator, DpermOwners *owners);

#endif							/* DPERM_OWNERS_WALK_H */
