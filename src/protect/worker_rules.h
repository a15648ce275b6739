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
 * While rows are read, a function whose body names things that are looked up
 * when it runs does not fail: its value is NULL then. The first error is kept
 * for the log.
 */
extern void dperm_worker_rules_reading(bool now);
extern const ErrorData *dperm_worker_rules_caught(void);

#endif							/* DPERM_WORKER_RULES_H */
