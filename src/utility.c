/*
 * utility.c: the commands of a session that Citus hands on to workers, or that it runs by itself.
 *
 * Citus reads shards in transactions on the workers, under the login of the role that reads, and keeps them open until the transaction here ends. With
 * citus.propagate_set_commands, which anybody may set, SET LOCAL, SET TRANSACTION and RESET are sent to all of them, whoever they belong to, and to those that are opened later: not the
 * command alone, but the whole string that it is part of, with all that stands behind it. Nothing else that a client has written is sent to transactions of another login: savepoints have
 * numbers there, and COMMIT and the calls for the cluster's clock are Citus' own; SET CONSTRAINTS and DISCARD are not sent at all.
 *
 * Worse, for some commands over tables and types, which anybody can give who may create something in a schema, Citus opens such transactions as a superuser. So only superusers may
 * have settings handed on, in sessions that have loaded us: docs/distributed.md asks for that in all of them.
 *
 * For Citus a transaction ends with COMMIT or ROLLBACK. PREPARE TRANSACTION leaves its connections as they are, and pointers to what has been freed.
 *
 * So we have to see SET before Citus does. The hook that is set last runs first, and Citus refuses to be loaded if there is one already.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/portal.h"

#include "utility.h"

/* The setting by which Citus hands on settings, and the value by which it does not. */
#define PROPAGATE "citus.propagate_set_commands"
#define PROPAGATE_NOTHING "none"

/* How the names of sessions begin that the servers of a cluster have with each other. */
#define CITUS_NAMES "citus_"

/* What holds until the next COMMIT or ROLLBACK of a top transaction. */
static struct
{
	bool		unknown;		/* the library was loaded in the middle of a transaction */
	bool		handed_on;		/* there was a setting that Citus may hand on */
	bool		refused;		/* there must be none from now on */
}			state;

/* Was the library loaded before the first command of the session? */
static bool preloaded;

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

	if (state.refused)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("settings cannot be changed by SET or RESET after a protected relation that Citus has distributed was used in the same transaction"),
				 errdetail("Citus can hand them on to the workers."),
				 errhint("Commit or roll back first.")));

	/* Citus looks at it before the command takes effect, too */
	propagate = GetConfigOption(PROPAGATE, true, false);
	if (propagate == NULL || strcmp(propagate, PROPAGATE_NOTHING) == 0)
		return;
	if (!superuser() && OidIsValid(get_extension_oid("dperm", true)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers can change settings while %s is \"%s\"", PROPAGATE, propagate),
				 errdetail("Citus hands them on over connections of superusers, with all that stands in the same string, if it has some open. Rows of protected relations could be read so."),
				 errhint("Use SELECT set_config('%s', '%s', false), or a new session.", PROPAGATE, PROPAGATE_NOTHING)));
	state.handed_on = true;
}

/* A command is about to run. */
static void
command_given(PlannedStmt *statement, const char *text, bool read_only, ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment,
			  DestReceiver *receiver, QueryCompletion *completion)
{
	if (IsA(statement->utilityStmt, VariableSetStmt))
		note_setting();
	if (running.depth == 0)
		running.sent = context == PROCESS_UTILITY_TOPLEVEL;
	running.depth++;
	PG_TRY();
	{
		(previous_hook ? previous_hook : standard_ProcessUtility) (statement, text, read_only, context, params, environment, receiver, completion);
	}
	PG_FINALLY();
	{
		running.depth--;
	}
	PG_END_TRY();
}

/* A transaction ends, or is prepared. */
static void
transaction_ends(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_PREPARE && state.refused)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a transaction that has used a protected relation that Citus has distributed cannot be prepared"),
				 errhint("Commit it, or roll it back.")));
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
		memset(&state, 0, sizeof(state));
}

/* When the library is loaded. */
void
dperm_utility_init(void)
{
	/* as libraries that are preloaded are not; a session may have prepared a transaction before, which leaves its traces */
	state.unknown = IsTransactionState();
	preloaded = debug_query_string == NULL;
	RegisterXactCallback(transaction_ends, NULL);
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = command_given;
}

/* What is known about settings of this transaction. One that a subtransaction has set counts until the end. */
DpermHandedOn
dperm_utility_handed_on(void)
{
	if (state.handed_on)
		return DPERM_HANDED_ON_SOME;
	return state.unknown ? DPERM_HANDED_ON_UNKNOWN : DPERM_HANDED_ON_NONE;
}

/* Refuse settings until the transaction ends. */
void
dperm_utility_refuse_settings(void)
{
	state.refused = true;
}

/* Have we seen all commands? */
bool
dperm_utility_sees_all(void)
{
	return preloaded;
}

/* Are the commands of this session, by its name, those of another server of a cluster? */
bool
dperm_utility_is_from_citus(void)
{
	return application_name && strncmp(application_name, CITUS_NAMES, strlen(CITUS_NAMES)) == 0;
}

/* A command as it was sent: Citus adds the schema where a name has none. */
static Node *
as_sent(Node *command, Node *sent)
{
	Node	   *copy = copyObject(command);
	ListCell   *name,
			   *sent_name;

	if (IsA(copy, RenameStmt) && IsA(sent, RenameStmt) && ((RenameStmt *) copy)->relation &&
		((RenameStmt *) sent)->relation && ((RenameStmt *) sent)->relation->schemaname == NULL)
		((RenameStmt *) copy)->relation->schemaname = NULL;
	if (IsA(copy, DropStmt) && IsA(sent, DropStmt) && list_length(((DropStmt *) copy)->objects) == list_length(((DropStmt *) sent)->objects))
		forboth(name, ((DropStmt *) copy)->objects, sent_name, ((DropStmt *) sent)->objects)
			if (IsA(lfirst(name), List) && IsA(lfirst(sent_name), List) && list_length(lfirst(sent_name)) == 1 && list_length(lfirst(name)) > 1)
				lfirst(name) = list_make1(llast(lfirst(name)));
	return copy;
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
	return sent->utilityStmt && equal(sent->utilityStmt, as_sent(command, sent->utilityStmt));
}
