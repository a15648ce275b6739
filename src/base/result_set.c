/*
 * result_set.c: functions that return rows.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"

#include "base/result_set.h"

/* More than any function of ours returns. */
#define ROWS_MEMORY_KB (64 * 1024)

/* An empty result set of the function's row type, materialised. */
Tuplestorestate *
dperm_result_set_begin(FunctionCallInfo fcinfo, TupleDesc *desc)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller;
	Tuplestorestate *store;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		!(result->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set"),
				 errhint("Call it in FROM.")));
	if (get_call_result_type(fcinfo, NULL, desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);

	/*
	 * all rows are in memory, some 30 MB at most: a worker reads them again in
	 * another transaction, and temp_file_limit must not cost what was paid for
	 */
	store = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false,
								  ROWS_MEMORY_KB);
	result->returnMode = SFRM_Materialize;
	result->setResult = store;
	result->setDesc = *desc = CreateTupleDescCopy(*desc);
	MemoryContextSwitchTo(caller);
	return store;
}

/* Add a row. */
void
dperm_result_set_put(Tuplestorestate *store, TupleDesc desc, const NullableDatum *row)
{
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	for (int i = 0; i < desc->natts; i++)
	{
		values[i] = row[i].value;
		nulls[i] = row[i].isnull;
	}
	tuplestore_putvalues(store, desc, values, nulls);
	pfree(values);
	pfree(nulls);
}

/* A text, or NULL. */
NullableDatum
dperm_result_set_text(const char *text)
{
	return (NullableDatum) {text ? CStringGetTextDatum(text) : 0, text == NULL};
}

/* A number, or NULL. */
NullableDatum
dperm_result_set_number(double number)
{
	return (NullableDatum) {Float8GetDatum(number), isnan(number)};
}
