/*
 * message.c: what a process that reads protected rows may say.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"

#include "message.h"

static bool muted;
static bool silent;				/* at this moment */

void
dperm_message_mute(void)
{
	muted = true;
	dperm_message_private();
}

void
dperm_message_public(void)
{
	if (muted)
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

void
dperm_message_progress(const char *format,...)
{
	StringInfoData text;
	int			needed;

	initStringInfo(&text);
	do
	{
		va_list		arguments;

		va_start(arguments, format);
		needed = appendStringInfoVA(&text, format, arguments);
		va_end(arguments);
		if (needed > 0)
			enlargeStringInfo(&text, needed);
	} while (needed > 0);
	dperm_message_public();
	ereport(INFO, (errmsg_internal("dperm: %s", text.data)));
	dperm_message_private();
	pfree(text.data);
}
