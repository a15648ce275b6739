/*
 * worker_failure.c: errors of a call on a protected relation, as the caller
 * sees them.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "protect/kept_release.h"
#include "protect/worker_failure.h"

/*
 * Log where an error was raised, without anything that a row may have
 * contributed.
 */
void
dperm_worker_failure_log(const ErrorData *error, Oid relation, const char *what)
{
	SetConfigOption("log_min_messages", "log", PGC_SUSET, PGC_S_OVERRIDE);
	ereport(LOG, (errmsg("%s protected relation %u failed: SQLSTATE %s, raised by %s in "
						 "%s, line %d",
						 what, relation, unpack_sql_state(error->sqlerrcode),
						 error->funcname ? error->funcname : "?",
						 error->filename ? error->filename : "?", error->lineno)));
	SetConfigOption("log_min_messages", "fatal", PGC_SUSET, PGC_S_OVERRIDE);
}

/* The class of an error, in words that reveal nothing about rows. */
const char *
dperm_worker_failure_class(int code, bool public)
{
	int			category = ERRCODE_TO_CATEGORY(code);

	if (category == ERRCODE_OPERATOR_INTERVENTION)
		return DPERM_FAILURE_CANCELLED;
	if (category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_SYSTEM_ERROR)
		return DPERM_FAILURE_RESOURCES;
	if (!public)
		return DPERM_FAILURE_READ;
	return category == ERRCODE_DATA_EXCEPTION ? DPERM_FAILURE_ARGUMENTS : DPERM_FAILURE_CHANGED;
}

/* After the charge: is an error of a class passed on as it is? */
bool
dperm_worker_failure_is_whole(int code, const char *class)
{
	if (code == ERRCODE_LOCK_NOT_AVAILABLE)
		return false;			/* it does not say what was changed */
	return strcmp(class, DPERM_FAILURE_ARGUMENTS) == 0 || strcmp(class, DPERM_FAILURE_CHANGED) == 0;
}

/* After the charge, the session adds that it has been charged. */
void
dperm_worker_failure_raise_class(const char *class, bool charged)
{
	bool		cancelled = strcmp(class, DPERM_FAILURE_CANCELLED) == 0;
	bool		resources = strcmp(class, DPERM_FAILURE_RESOURCES) == 0;

	ereport(ERROR,
			(errcode(cancelled ? ERRCODE_QUERY_CANCELED :
					 resources ? ERRCODE_INSUFFICIENT_RESOURCES :
								 ERRCODE_EXTERNAL_ROUTINE_INVOCATION_EXCEPTION),
			 cancelled ? errmsg("the call was cancelled") :
			 resources ? errmsg("the server had too few resources to read the protected relation") :
						 errmsg("the protected relation could not be read"),
			 charged ? 0 : errdetail("Nothing has been charged."),
			 cancelled ? 0 : errhint("See the server log for the cause.")));
}

void
dperm_worker_failure_raise_uncharged(ErrorData *error, int timeout)
{
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not lock the budget or the protected relation in time"),
				 errdetail("Nothing has been charged."),
				 errhint("Commit or roll back the transaction that has changed the budget, its "
						 "grants or the relation, which may be this one, and try again.")));
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 timeout > 0 ? errmsg("could not check the call within %d seconds", timeout) :
							   errmsg("the call was cancelled"),
				 errdetail("Nothing has been charged.")));
	ReThrowError(error);
}
