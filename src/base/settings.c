/*
 * settings.c: the settings of dperm.
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "base/settings.h"

int			dperm_cache_memory = 256 * 1024;
int			dperm_call_timeout;
int			dperm_pull_memory = 16 * 1024;

/* Define the settings when the library is loaded. */
void
dperm_settings_init(void)
{
	DefineCustomIntVariable("dperm.cache_memory",
							"Sets the maximum memory that training uses to keep the rows it has "
							"read.",
							"If the rows do not fit, training keeps a smaller, rounded form of "
							"them or of a sample in this memory or in 48 MB, whichever is more, "
							"and reads the rows again in further passes: from the table or, if it "
							"may be read only once, from a temporary file.",
							&dperm_cache_memory,
							256 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.pull_memory",
							"Sets the maximum size of rows that training fetches from other "
							"servers.",
							"The size is that of the rows in memory. If there are more rows, "
							"passes run on the servers that have them, if possible.",
							&dperm_pull_memory,
							16 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.call_timeout",
							"Sets the maximum duration of a call on a protected relation.",
							"A call that takes longer fails, but has been charged. 0 disables the "
							"timeout.",
							&dperm_call_timeout,
							0, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
	MarkGUCPrefixReserved("dperm");
}
