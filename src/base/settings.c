/*
 * settings.c: the settings of dperm.
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "base/settings.h"

int			dperm_aggregate_memory = 256 * 1024;
int			dperm_cache_memory = 256 * 1024;
int			dperm_call_timeout;
int			dperm_pull_memory = 16 * 1024;
bool		dperm_progress = false;
bool		dperm_refuse_noise_share = false;

/* Define them, when the library is loaded. */
void
dperm_settings_init(void)
{
	DefineCustomIntVariable("dperm.aggregate_memory",
							"Memory that dp_logreg() and dp_svm() may use for the rows of one "
							"group.",
							"A group that needs more raises an error. dp_logreg_train() and "
							"dp_svm_train() have no such limit.",
							&dperm_aggregate_memory,
							256 * 1024, 64, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.cache_memory",
							"Memory that training may use to keep the rows it has read.",
							"If the rows do not fit, training keeps a smaller, rounded form of "
							"them or of a sample in this memory or in 48 MB, whichever is more, "
							"and reads the rows again in further passes: from the table or, where "
							"it may be read only once, from a temporary file.",
							&dperm_cache_memory,
							256 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.pull_memory",
							"Size up to which training brings the rows of other servers here.",
							"The size is that of the rows as training keeps them. Passes over more "
							"rows run on the servers that have them, if they can.",
							&dperm_pull_memory,
							16 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.call_timeout",
							"Sets how long a call on a protected relation may read and compute.",
							"It is charged before. 0 turns this off.",
							&dperm_call_timeout,
							0, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("dperm.progress",
							 "Reports the progress of training in messages of level INFO.",
							 "The messages depend only on the number of rows, or not even on that "
							 "where persons are protected, and on the number of candidates.",
							 &dperm_progress,
							 false,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("dperm.refuse_noise_share",
							 "Refuses trainings whose noise would be larger than the weights.",
							 "Of calls that specify the number of rows to expect. Such a call "
							 "costs nothing.",
							 &dperm_refuse_noise_share,
							 false,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("dperm");
#else
	EmitWarningsOnPlaceholders("dperm");
#endif
}
