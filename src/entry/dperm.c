/*
 * dperm.c: the library, and the functions that read rows. Trusted.
 */
#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error dperm needs PostgreSQL 15 or later
#endif

#include "utils/lsyscache.h"

#include "base/base.h"
#include "entry/entry.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(dperm_run);

/* What a worker may be asked to run, by the names of functions in SQL. */
static const DpermFunction functions[] = {
	{"dp_logreg_train", DPERM_LEARNER_LOGREG, dperm_entry_open_training, dperm_entry_run_training},
	{"dp_svm_train", DPERM_LEARNER_SVM, dperm_entry_open_training, dperm_entry_run_training},
	{"dp_linreg_train", DPERM_LEARNER_LINREG, dperm_entry_open_training, dperm_entry_run_training},
	{"dp_logreg_tune", DPERM_LEARNER_LOGREG, dperm_entry_open_tuning, dperm_entry_run_tuning},
	{"dp_svm_tune", DPERM_LEARNER_SVM, dperm_entry_open_tuning, dperm_entry_run_tuning},
	{"dp_linreg_tune", DPERM_LEARNER_LINREG, dperm_entry_open_tuning, dperm_entry_run_tuning},
	{"dp_evaluate", false, dperm_entry_open_measure, dperm_entry_run_measure},
	{"dp_roc", true, dperm_entry_open_measure, dperm_entry_run_measure},
	{"dp_summary", 0, dperm_entry_open_summary, dperm_entry_run_summary},
	{"dp_budget_charge", 0, dperm_entry_open_charge, NULL}
};

/* Called once per backend, when the library is loaded. */
void
_PG_init(void)
{
	dperm_host_settings();
	dperm_worker_knows(functions, lengthof(functions));
}

/* Any of these. */
Datum
dperm_run(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, dperm_worker_function(get_func_name(fcinfo->flinfo->fn_oid)));
}
