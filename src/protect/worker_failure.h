/*
 * worker_failure.h: errors of a call on a protected relation, as the caller
 * sees them.
 */
#ifndef DPERM_WORKER_FAILURE_H
#define DPERM_WORKER_FAILURE_H

/*
 * The class of an error that may reveal something about rows, in words that do
 * not.
 */
extern const char *dperm_worker_failure_class(int code);

/* Raise the error of a class. */
extern void dperm_worker_failure_raise_class(const char *class, bool charged);

/*
 * Raise an error from before the charge unchanged, except that it says what to
 * do if a lock was not available, or if the timeout in seconds has passed (0:
 * it has not).
 */
extern void dperm_worker_failure_raise_uncharged(ErrorData *error, int timeout);

/*
 * Log where an error was raised, without anything that a row may have
 * contributed.
 */
extern void dperm_worker_failure_log(const ErrorData *error, Oid relation, const char *what);

#endif							/* DPERM_WORKER_FAILURE_H */
