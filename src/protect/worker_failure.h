/*
 * worker_failure.h: errors of a call on a protected relation, as the caller
 * sees them.
 */
#ifndef DPERM_WORKER_FAILURE_H
#define DPERM_WORKER_FAILURE_H

/*
 * The class of an error, in words that reveal nothing about rows. A public
 * error (message.h) is about the arguments and the number of units, or else
 * about the catalog.
 */
extern const char *dperm_worker_failure_class(int code, bool public);

/* After the charge: is an error of a class passed on as it is? */
extern bool dperm_worker_failure_is_whole(int code, const char *class);

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
