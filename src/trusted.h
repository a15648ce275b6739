/*
 * trusted.h: whose functions may run at all in a process that reads protected rows.
 */
#ifndef DPERM_TRUSTED_H
#define DPERM_TRUSTED_H

#include "postgres.h"

/* Is a function PostgreSQL's own, an extension's (InvalidOid: of none), the owner's or a superuser's? */
extern bool dperm_trusted_function(Oid function, Oid owner, Oid extension);

/*
 * From now on this process runs no function of anybody else, wherever it is called from: raises where PostgreSQL looks one up. So nothing that a check of the query
 * did not see, or that has been made since, gets the rights of the owner: the body of a function, an expression of an index or a partition key, an operator class.
 */
extern void dperm_trusted_only(Oid owner);

#endif							/* DPERM_TRUSTED_H */
