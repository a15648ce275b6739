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
 * From here on an expression of the relation is evaluated, or no longer. Names
 * in the bodies of functions, which are looked up now, are found in pg_catalog
 * alone.
 */
extern void dperm_worker_rules_evaluates(bool now);

/* The signal that ends the call: a cancel, or a timeout. */
extern void dperm_worker_rules_stop(SIGNAL_ARGS);

/*
 * An expression has been evaluated, and may have failed with an error: raise if
 * there was such a signal meanwhile.
 */
extern void dperm_worker_rules_interrupt(ErrorData *error);

/* It was the end of a trial. */
extern void dperm_worker_rules_forgive(void);

/*
 * Is an error about the text of a function: its syntax, a name that is not found
 * or that must not be used? Then no row is to blame for it.
 */
extern bool dperm_worker_rules_faulty(const ErrorData *error);

/* Raise an error from before the charge again; in full, if it is about a name. */
extern _Noreturn void dperm_worker_rules_raise(ErrorData *error);

/* Keep the first error of a row, for the log; and tell it, or NULL. */
extern void dperm_worker_rules_keep(ErrorData *error);
extern const ErrorData *dperm_worker_rules_caught(void);

#endif							/* DPERM_WORKER_RULES_H */
