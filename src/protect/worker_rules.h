/*
 * worker_rules.h: what a process that reads protected rows may do at all.
 */
#ifndef DPERM_WORKER_RULES_H
#define DPERM_WORKER_RULES_H

#include "postgres.h"

/*
 * Is a function PostgreSQL's own, an extension's (InvalidOid: of none), the
 * owner's or a superuser's?
 */
extern bool dperm_worker_rules_function(Oid function, Oid owner, Oid extension);

/*
 * From now on this process
 *
 * - runs no function of anybody else, wherever it is called from: raises where
 *   PostgreSQL looks one up. So nothing that a check of the query did not see,
 *   or that has been made since, gets the rights of the owner: the body of a
 *   function, an expression of an index or a partition key, an operator class;
 * - has no other process work for it;
 * - plans without statistics, which are made of rows.
 */
extern void dperm_worker_rules_only(Oid owner);

/*
 * Then, on demand: are names looked for in trusted schemas alone? Others do not
 * exist.
 */
extern void dperm_worker_rules_schemas_only(bool only);

#endif							/* DPERM_WORKER_RULES_H */
