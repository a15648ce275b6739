/*
 * message.c: which messages a process that reads protected rows may send.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "base/message.h"

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

void
dperm_message_public(void)
{
	public = allowed != DPERM_MESSAGES_NONE;
}

void
dperm_message_private(void)
{
	public = allowed == DPERM_MESSAGES_ALL;
}

bool
dperm_message_is_public(void)
{
	return public;
}

/* Send a notice. */
static void
send_notice(const Notice *notice)
{
	ereport(notice->level,
			(errmsg("%s", notice->message),
			 notice->detail ? errdetail("%s", notice->detail) : 0,
			 notice->hint ? errhint("%s", notice->hint) : 0));
}

/* A copy of a text that may be NULL. */
static char *
copy_of(const char *text)
{
	return text ? pstrdup(text) : NULL;
}

void
dperm_message_tell(int level, const char *message, const char *detail, const char *hint)
{
	Notice		notice = {level, (char *) message, (char *) detail, (char *) hint};
	MemoryContext before;
	Notice	   *copy;

	if (allowed == DPERM_MESSAGES_ALL)
	{
		send_notice(&notice);
		return;
	}
	before = MemoryContextSwitchTo(TopMemoryContext);
	copy = palloc(sizeof(*copy));
	*copy = (Notice) {level, copy_of(message), copy_of(detail), copy_of(hint)};
	waiting = lappend(waiting, copy);
	MemoryContextSwitchTo(before);
}

void
dperm_message_tell_waiting(void)
{
	ListCell   *cell;

	foreach(cell, waiting)
		send_notice(lfirst(cell));
	waiting = NIL;
}

/* The message of an error that a value has caused. */
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

char *
dperm_message_clip(const char *text, int bytes)
{
	int			len = (int) strlen(text);

	if (len <= bytes)
		return pstrdup(text);
	return psprintf("%.*s...", pg_mbcliplen(text, len, bytes - (int) strlen("...")), text);
}
