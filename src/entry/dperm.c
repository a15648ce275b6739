/*
 * dperm.c: the library.
 */
#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error dperm needs PostgreSQL 15 or later
#endif

#include "fmgr.h"

#include "base/host.h"
#include "entry/functions.h"
#include "protect/call.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

/* The functions that a worker may be asked to run. */
static const DpermFunction *const functions[] = {
	&dperm_train_functions[0], &dperm_train_functions[1], &dperm_train_functions[2],
	&dperm_tune_functions[0], &dperm_tune_functions[1], &dperm_tune_functions[2],
	&dperm_evaluate_functions[0], &dperm_evaluate_functions[1],
	&dperm_charge_function
};

/* Called once per backend, when the library is loaded. */
void
_PG_init(void)
{
	dperm_host_settings();
	dperm_worker_knows(functions, lengthof(functions));
}
