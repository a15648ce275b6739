/*
 * dperm.c: the library.
 */
#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error dperm needs PostgreSQL 15 or later
#endif

#include "fmgr.h"

#include "base/settings.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

/* Called once per backend, when the library is loaded. */
void
_PG_init(void)
{
	dperm_settings_init();
}
