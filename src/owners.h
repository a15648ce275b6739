/*
 * owners.h: whose functions run with the rights of a relation's owner.
 */
#ifndef DPERM_OWNERS_H
#define DPERM_OWNERS_H

#include "nodes/parsenodes.h"

#include "run_as.h"

/*
 * Raise for an analysed query that is to run with the rights of a relation's owner on behalf of a caller, and calls what the caller may have
 * a hand in. Functions of our extension may run, and those of PostgreSQL that depend on their arguments alone, and on settings that have fixed values. So may functions in C of a superuser, and SQL functions of the
 * owner or a superuser whose body PostgreSQL has parsed when they were created: then all that they call is checked in the same way. What any
 * other function does depends on what the session did before. SQL functions with a body in quotes are for
 * callers, and sessions, that have the owner's rights anyway, if they are marked IMMUTABLE. PL/pgSQL and other languages, which keep what rows made them plan, are for nobody, but in indexes and such, which
 * no row gets to. For nobody may a function read a table: what is computed of a row
 * depends on that row alone. Nor may a function be in SQL that PostgreSQL calls without an expression that shows it, as in aggregates and operator families: it cannot be put in line, and leaves in the session what a row made it do. Those that
 * expressions show are found when the query has been planned: inlined.h. For all others, too, no function but PostgreSQL's own and ours may run while the session has
 * temporary objects, which they could find in place of what they mean.
 *
 * Not all that runs stands in a query. PostgreSQL adds default arguments, negators and commutators of operators, and casts; all of these are looked at. The
 * functions found so are all that may run: dperm_run_as_shield refuses any other.
 */
extern DpermCallees dperm_owners_check(Oid extension, Query *tree, Oid relation, Oid owner, Oid caller);

/* Have the caller and the session user the rights of an owner? For nobody else are errors shown, and functions run whose work is not known. */
extern bool dperm_owners_trust(Oid owner, Oid caller);

/* When a relation is protected, raise for a function that reads a table, and warn of what would be refused whenever somebody without the owner's rights uses it, and these columns, by number. */
extern void dperm_owners_warn(Oid extension, Oid relation, Oid owner, List *columns);

#endif							/* DPERM_OWNERS_H */
