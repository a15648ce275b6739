/*
 * utility.c: the commands of a session that Citus hands on to workers, or that it runs by itself.
 *
 * Citus reads shards in transactions on the workers, under the login of the role that reads, and keeps them open until the transaction here ends. With
 * citus.propagate_set_commands, which anybody may set, SET LOCAL, SET TRANSACTION and RESET are sent to all of them, whoever they belong to, and to those that are opened later: not the
 * command alone, but the whole string that it is part of, with all that stands behind it. Nothing else that a client has written is sent to transactions of another login: savepoints have
 * numbers there, and COMMIT, PREPARE and the calls for the cluster's clock are Citus' own; SET CONSTRAINTS and DISCARD are not sent at all.
 *
 * So we have to see SET before Citus does. The hook that is set last runs first, and Citus refuses to be loaded if there is one already.
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/portal.h"

#include "transaction.h"
#include "utility.h"

/* The setting by which Citus hands on settings, and the value by which it does not. */
#define PROPAGATE "citus.propagate_set_commands"
#define PROPAGATE_NOTHING "none"

/* How the names of sessions begin that the servers of a cluster have with each other. */
#define CITUS_NAMES "citus_"

/* Transactions by their numbers, InvalidLocalTransactionId for none. */
static struct
{
	LocalTransactionId loaded;	/* in which the library was loaded: what came before is not known */
	LocalTransactionId handed_on;	/* the last one with a setting that Citus may hand on */
	LocalTransactionId refused; /* the last one in which there must be none from now on */
}			transactions;

/* The commands that are running, one within the other, as far as we have seen them begin. */
static struct
{
	int			depth;
	bool		sent;			/* has the client sent the outermost? */
}			running;

static ProcessUtility_hook_type previous_hook;

/* SET or RESET is about to run. */
static void
note_setting(void)
{
	const char *propagate;

	if (transactions.refused == DPERM_TRANSACTION_NUMBER && LocalTransactionIdIsValid(transactions.refused))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("settings cannot be changed by SET or RESET after a protected relation that Citus has distributed was used in the same transaction"),
				 errdetail("Citus can hand them on to the workers."),
				 errhint("Commit or roll back first.")));

	/* Citus looks at it before the command takes effect, too */
	propagate = GetConfigOption(PROPAGATE, true, false);
	if (propagate && strcmp(propagate, PROPAGATE_NOTHING) != 0)
		transactions.handed_on = DPERM_TRANSACTION_NUMBER;
}

/* A command is about to run. */
static void
command_given(PlannedStmt *statement, const char *text, bool read_only, ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment,
			  DestReceiver *receiver, QueryCompletion *completion)
{
	ProcessUtility_hook_type next = previous_hook ? previous_hook : standard_ProcessUtility;

	if (IsA(statement->utilityStmt, VariableSetStmt))
		note_setting();
	if (running.depth == 0)
		running.sent = context == PROCESS_UTILITY_TOPLEVEL;
	running.depth++;
	PG_TRY();
	{
		next(statement, text, read_only, context, params, environment, receiver, completion);
	}
	PG_FINALLY();
	{
		running.depth--;
	}
	PG_END_TRY();
}

/* When the library is loaded. */
void
dperm_utility_init(void)
{
	/* the postmaster is in no transaction */
	transactions.loaded = MyProc ? DPERM_TRANSACTION_NUMBER : InvalidLocalTransactionId;
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = command_given;
}

/* What is known about settings of this transaction. One that a subtransaction has set counts until the end. */
DpermHandedOn
dperm_utility_handed_on(void)
{
	if (transactions.handed_on == DPERM_TRANSACTION_NUMBER)
		return DPERM_HANDED_ON_SOME;
	return transactions.loaded == DPERM_TRANSACTION_NUMBER ? DPERM_HANDED_ON_UNKNOWN : DPERM_HANDED_ON_NONE;
}

/* Refuse settings until the transaction ends. */
void
dperm_utility_refuse_settings(void)
{
	transactions.refused = DPERM_TRANSACTION_NUMBER;
}

/* Are the commands of this session, by its name, those of another server of a cluster? */
bool
dperm_utility_is_from_citus(void)
{
	return application_name && strncmp(application_name, CITUS_NAMES, strlen(CITUS_NAMES)) == 0;
}

/* Is a command the one that the client has sent? */
bool
dperm_utility_is_own(Node *command)
{
	PlannedStmt *sent;

	if (dperm_utility_is_from_citus())
		return false;
	if (running.depth > 0)
		return running.depth == 1 && running.sent;

	/* its event trigger has loaded the library */
	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		return false;
	sent = linitial_node(PlannedStmt, ActivePortal->stmts);
	return sent->utilityStmt && equal(sent->utilityStmt, command);
}
