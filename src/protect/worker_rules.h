/* worker_rules.h: what a process that reads protected rows may do. */
#ifndef DPERM_WORKER_RULES_H
#define DPERM_WORKER_RULES_H

#include "postgres.h"

/*
 * From now on this process uses no parallel workers, and plans without
 * statistics, which are computed from rows.
 */
extern void dperm_worker_rules_begin(void);

/* The signal that ends the call: a cancel, or a timeout. */
extern void dperm_worker_rules_stop(SIGNAL_ARGS);

/*
 * Call this after an expression has been evaluated: raises an error if that
 * signal has arrived in the meantime.
 */
extern void dperm_worker_rules_interrupt(void);

/* Keep the first error of a row, for the log; and get it, or NULL. */
extern void dperm_worker_rules_keep(ErrorData *error);
extern const ErrorData *dperm_worker_rules_caught(void);

#endif							/* DPERM_WORKER_RULES_H */
