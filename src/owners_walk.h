/*
 * owners_walk.h: a walk through all that PostgreSQL may call for a query; within owners.c, owners_types.c and owners_builtin.c.
 */
#ifndef DPERM_OWNERS_WALK_H
#define DPERM_OWNERS_WALK_H

#include "catalog/dependency.h"
#include "nodes/pg_list.h"

/* Whose functions may run, and whether there are some of the owner's own. */
typedef struct DpermOwners
{
	Oid			extension;		/* ours */
	Oid			relation;
	Oid			owner;			/* of the relation */
	bool		trusted;		/* does the caller have the owner's rights, and the session, too? */
	Oid			own;			/* a function of theirs */
	bool		aside;			/* is what is looked at only possibly called? */
	List	   *functions;		/* all that have been checked */
	List	   *unseen;			/* expressions for rows that no plan shows: constraints of domains */
	Oid			within;			/* the function whose body is looked at, InvalidOid for the query itself */
	int			level;			/* of messages: ERROR, or WARNING where nothing runs yet */
	bool		warned;			/* has there been one? */
	bool		planned;		/* is what is looked at called by the planner alone, and for no row? */
	ObjectAddresses *visited;	/* functions, types and views that have been checked */
	ObjectAddresses *visited_elsewhere; /* if planned where rows get, else where they do not */
} DpermOwners;

/* Is an object seen for the first time? */
extern bool dperm_owners_is_new(DpermOwners *owners, Oid class, Oid object);

/* Raise for a function that must not run with the owner's rights; false, for check_functions_in_node. */
extern bool dperm_owners_function(Oid function, void *owners);

/* The same for one that PostgreSQL looks up and calls by itself: for such a function there is no expression to put its body into. */
extern bool dperm_owners_support(Oid function, void *owners);

/* The level of a message that is about to be raised. */
extern int	dperm_owners_level(DpermOwners *owners);

/* Is a type one that stands for an object of the catalog, or has the name of one: regclass, regconfig, regdictionary and such, or aclitem? */
extern bool dperm_owners_builtin_names_object(Oid type);

/* Raise for a type whose values PostgreSQL reads from text by way of the catalog, where no function shows it. */
extern void dperm_owners_types_refuse_names(Oid type, Oid part, DpermOwners *owners);

/* What keeps a function in C, be it of PostgreSQL or of an extension, from being called for rows; NULL if nothing does. */
extern const char *dperm_owners_builtin_compiled_fault(Oid function);

/* What keeps a function of PostgreSQL from being called for rows, or only by the planner; NULL if nothing does. */
extern const char *dperm_owners_builtin_fault(Oid function, bool rows);

/* An expression that the catalog has as text. */
extern void dperm_owners_text(Datum expression, bool isnull, DpermOwners *owners);

/* The functions of a type, an operator, or an operator family, if it is not InvalidOid. */
extern void dperm_owners_types_check(Oid type, DpermOwners *owners);
extern void dperm_owners_types_operator(Oid operator, DpermOwners *owners);
extern void dperm_owners_types_family(Oid family, DpermOwners *owners);

#endif							/* DPERM_OWNERS_WALK_H */
