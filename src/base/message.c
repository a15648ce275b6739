/*
 * message.c: which messages a process that reads protected rows may send. Trusted.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "base/base.h"

static DpermMessages allowed = DPERM_MESSAGES_ALL;
static bool public = true;		/* may the next error be passed on? */

/* A notice that waits, or is about to be sent. */
typedef struct Notice
{
	int			level;
	char	   *message;
	char	   *detail;
	char	   *hint;
} Notice;

static List *waiting;

void
dperm_message_allow(DpermMessages messages)
{
	allowed = messages;
	public = messages == DPERM_MESSAGES_ALL;
	whereToSendOutput = public ? DestRemote : DestNone;
}

/* The next error may be passed on as it is. */
void
dperm_message_public(void)
{
	public = allowed != DPERM_MESSAGES_NONE;
}

/* Or not, as before. */
void
dperm_message_private(void)
{
	public = allowed == DPERM_MESSAGES_ALL;
}

/* May an error that was raised now be passed on as it is? */
bool
dperm_message_is_public(void)
{
	return public;
}

/* Send the notices that wait. */
void
dperm_message_tell_waiting(void)
{
	List	   *notices = waiting;
	ListCell   *cell;

	waiting = NIL;
	foreach(cell, notices)
	{
		const Notice *notice = lfirst(cell);

		ereport(notice->level,
				(errmsg("%s", notice->message),
				 notice->detail ? errdetail("%s", notice->detail) : 0,
				 notice->hint ? errhint("%s", notice->hint) : 0));
	}
}

/*
 * Send a notice or a warning that depends only on arguments, the catalog and the
 * number of units. detail and hint may be NULL. Unless all messages are sent, it
 * waits.
 */
void
dperm_message_tell(int level, const char *message, const char *detail, const char *hint)
{
	MemoryContext caller = CurrentMemoryContext;
	Notice	   *notice;

	if (allowed != DPERM_MESSAGES_ALL)
		MemoryContextSwitchTo(TopMemoryContext);
	notice = palloc(sizeof(*notice));
	*notice = (Notice) {
		level, pstrdup(message), detail ? pstrdup(detail) : NULL, hint ? pstrdup(hint) : NULL
	};
	waiting = lappend(waiting, notice);
	MemoryContextSwitchTo(caller);
	if (allowed == DPERM_MESSAGES_ALL)
		dperm_message_tell_waiting();
}

/*
 * In PG_CATCH, given the memory context of before: the message of an error that
 * a value has caused, which ends here. Any other error is thrown on.
 */
char *
dperm_message_data_error(MemoryContext context)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
		PG_RE_THROW();
	FlushErrorState();
	return error->message;
}

/* A text in at most so many bytes, of which the last ones are "..." if it is cut. */
char *
dperm_message_clip(const char *text, int bytes)
{
	int			len = (int) strlen(text);

	if (len <= bytes)
		return pstrdup(text);
	return psprintf("%.*s...", pg_mbcliplen(text, len, bytes - (int) strlen("...")), text);
}
