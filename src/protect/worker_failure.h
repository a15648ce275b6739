/*
 * worker_failure.h: what is said of a call on a protected relation that failed.
 */
#ifndef DPERM_WORKER_FAILURE_H
#define DPERM_WORKER_FAILURE_H

/* The class of an error that may tell of rows, in words that do not. */
extern const char *dperm_worker_failure_class(int code);

/* Raise the error of a class. */
extern void dperm_worker_failure_raise_class(const char *class, bool charged);

/*
 * Raise an error from before the charge as it is. If a lock was not available,
 * or the timeout in seconds has passed (0: it has not), say what to do.
 */
extern void dperm_worker_failure_raise_uncharged(ErrorData *error, int timeout);

/* Log where an error was raised, but nothing that a row may have put into it. */
extern void dperm_worker_failure_log(const ErrorData *error, Oid relation, const char *what);

#endif							/* DPERM_WORKER_FAILURE_H */
