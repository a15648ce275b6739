/*
 * compat.c: databases whose extension is older than this library.
 *
 * A new library serves all databases at once; the SQL objects of each are updated later, by ALTER EXTENSION. Until then,
 * models can be read and applied, but nothing is trained or evaluated. What older scripts name must exist, or these versions could
 * not be installed, restored from a dump and updated.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "compat.h"

/* of 0.1.0 */
PG_FUNCTION_INFO_V1(dp_bin);
PG_FUNCTION_INFO_V1(dp_fit_final);
PG_FUNCTION_INFO_V1(dp_logreg_train_array);
PG_FUNCTION_INFO_V1(dp_logreg_tune_array);
PG_FUNCTION_INFO_V1(dp_svm_train_array);
PG_FUNCTION_INFO_V1(dp_svm_tune_array);

/* The error of everything here. */
static void
raise_outdated(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("extension dperm in this database is older than the installed library"),
			 errhint("Run ALTER EXTENSION dperm UPDATE.")));
}

/* Raise an error if the functions in our schema are those of an older version: dp_bounded had two arguments in 0.1.0. */
void
dperm_compat_check(Oid schema)
{
	Oid			arguments[] = {ANYELEMENTOID};

	if (!SearchSysCacheExists3(PROCNAMEARGSNSP, CStringGetDatum("dp_bounded"),
							   PointerGetDatum(buildoidvector(arguments, lengthof(arguments))),
							   ObjectIdGetDatum(schema)))
		raise_outdated();
}

/*
 * The final function of the aggregates, which were marked parallel safe and not shareable: a plan could have trained a
 * group several times. The one of 0.2.0 has another name, so that no aggregate with the old marks can call it.
 */
Datum
dp_fit_final(PG_FUNCTION_ARGS)
{
	raise_outdated();
	PG_RETURN_NULL();
}

/* The bins of dp_roc, which counts in a pass now. */
Datum
dp_bin(PG_FUNCTION_ARGS)
{
	raise_outdated();
	PG_RETURN_NULL();
}

/* The training functions had a second version, for text[]. */
Datum
dp_logreg_train_array(PG_FUNCTION_ARGS)
{
	raise_outdated();
	PG_RETURN_NULL();
}

Datum
dp_logreg_tune_array(PG_FUNCTION_ARGS)
{
	raise_outdated();
	PG_RETURN_NULL();
}

Datum
dp_svm_train_array(PG_FUNCTION_ARGS)
{
	raise_outdated();
	PG_RETURN_NULL();
}

Datum
dp_svm_tune_array(PG_FUNCTION_ARGS)
{
	raise_outdated();
	PG_RETURN_NULL();
}
