/* worker_rules.h: what a process that reads protected rows may do. */
#ifndef DPERM_WORKER_RULES_H
#define DPERM_WORKER_RULES_H

#include "postgres.h"

/*
 * Does a function belong to PostgreSQL, to an extension (InvalidOid: none), to
 * the owner or to a superuser?
 */
extern bool dperm_worker_rules_function(Oid function, Oid owner, Oid extension);

/*
 * From now on this process
 *
 * - runs no function of another role, wherever it is called from: an error is
 *   raised when PostgreSQL looks one up. So nothing that the check of the query
 *   did not see, or that has been created since, gets the rights of the owner:
 *   the body of a function, an expression of an index or a partition key, an
 *   operator class;
 * - uses no parallel workers;
 * - plans without statistics, which are computed from rows.
 */
extern void dperm_worker_rules_only(Oid owner);

/*
 * Is an expression of the relation evaluated from here on? Names in the bodies
 * of functions, which are looked up now, are then found only in pg_catalog.
 */
extern void dperm_worker_rules_evaluates(bool now);

/* The signal that ends the call: a cancel, or a timeout. */
extern void dperm_worker_rules_stop(SIGNAL_ARGS);

/*
 * Call this after an expression has been evaluated: raises an error if that
 * signal has arrived in the meantime.
 */
extern void dperm_worker_rules_interrupt(void);

/* Rethrow an error from before the charge, in full if it is about a name. */
extern _Noreturn void dperm_worker_rules_raise(ErrorData *error);

/* Keep the first error of a row, for the log; and get it, or NULL. */
extern void dperm_worker_rules_keep(ErrorData *error);
extern const ErrorData *dperm_worker_rules_caught(void);

#endif							/* DPERM_WORKER_RULES_H */
