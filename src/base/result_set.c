/*
 * result_set.c: functions that return rows.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"

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
