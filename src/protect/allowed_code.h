/*
 * allowed_code.h: whose functions run with the rights of a relation's owner.
 */
#ifndef DPERM_ALLOWED_CODE_H
#define DPERM_ALLOWED_CODE_H

#include "nodes/parsenodes.h"

/*
 * Raise an error for an analysed query, or a list of such and of expressions,
 * that is to run with the rights of a relation's owner, and calls what somebody
 * else could have a hand in, or what looks at more than a row. Functions of our
 * extension may run, and those of PostgreSQL that depend on their arguments,
 * and on the server's settings. So may functions of the owner or of a
 * superuser: those whose body PostgreSQL has parsed when they were created if
 * all that they call is allowed, too; of any other the mark is believed, which
 * has to be IMMUTABLE. No function may read a table: what is computed of a row
 * depends on that row alone.
 *
 * Not all that runs stands in a query. PostgreSQL adds default arguments,
 * negators and commutators of operators, casts, and expressions of indexes;
 * these are looked at. The last are the planner's: if a query has been planned,
 * its tables do not matter any more, nor what has become a part of them. What
 * is left, in bodies that cannot be inspected and in operator classes, is
 * refused when it is to run: see worker_rules.h.
 */
extern void dperm_allowed_code_check(Oid extension, Node *tree, Oid relation, Oid owner,
									 bool planned);

/*
 * When a relation is protected, raise for a function that reads a table, and
 * warn of what would be refused whenever somebody uses it, and these columns,
 * by number.
 */
extern void dperm_allowed_code_warn(Oid extension, Oid relation, Oid owner, List *columns);

#endif							/* DPERM_ALLOWED_CODE_H */
