/*
 * audit.c: rights are checked only while a query is started, on which extensions
 * such as pgaudit rely. Anything else is an error here. For tests; see
 * test/t/028_audit.pl.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/* How many queries are being started? */
static int	starting;

static void
start(QueryDesc *query, int flags)
{
	starting++;
	PG_TRY();
	{
		standard_ExecutorStart(query, flags);
	}
	PG_FINALLY();
	{
		starting--;
	}
	PG_END_TRY();
}

#if PG_VERSION_NUM >= 160000
static bool
check(List *relations, List *rights, bool raise)
#else
static bool
check(List *relations, bool raise)
#endif
{
	if (starting == 0)
		elog(ERROR, "rights are checked while no query is started");
	return true;
}

/* Install the hooks. */
void
_PG_init(void)
{
	ExecutorStart_hook = start;
	ExecutorCheckPerms_hook = check;
}
