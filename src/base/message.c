/*
 * message.c: which messages a process that reads protected rows may send.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"

#include "base/message.h"

static bool muted;
static bool silent;				/* right now */
static bool sealed;				/* while a row is evaluated */

/*
 * A subtransaction is rolled back: an error that was raised in a public section
 * has been caught, and what follows is not public.
 */
static void
error_caught(SubXactEvent event, SubTransactionId sub, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		dperm_message_private();
}

void
dperm_message_mute(void)
{
	muted = true;
	RegisterSubXactCallback(error_caught, NULL);
	dperm_message_private();
}

void
dperm_message_unmute(void)
{
	dperm_message_public();
	muted = false;
	UnregisterSubXactCallback(error_caught, NULL);
}

void
dperm_message_seal(bool now)
{
	sealed = now;
}

void
dperm_message_public(void)
{
	if (muted && !sealed)
	{
		silent = false;
		whereToSendOutput = DestRemote;
	}
}

void
dperm_message_private(void)
{
	if (muted)
	{
		silent = true;
		whereToSendOutput = DestNone;
	}
}

bool
dperm_message_is_public(void)
{
	return !silent;
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
