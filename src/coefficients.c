/*
 * coefficients.c: dp_coefficients, the weights of a model by column.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "model_type.h"

PG_FUNCTION_INFO_V1(dp_coefficients);

/* An empty result set of the function's row type, materialised. */
static Tuplestorestate *
begin_result(FunctionCallInfo fcinfo, TupleDesc *desc)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller;
	Tuplestorestate *store;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		!(result->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	if (get_call_result_type(fcinfo, NULL, desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	store = tuplestore_begin_heap(true, false, work_mem);
	result->returnMode = SFRM_Materialize;
	result->setResult = store;
	result->setDesc = *desc = CreateTupleDescCopy(*desc);
	MemoryContextSwitchTo(caller);
	return store;
}

/* A text datum of some bytes. */
static Datum
text_datum(const DpermText *text)
{
	return PointerGetDatum(cstring_to_text_with_len(text->bytes, text->len));
}

/* dp_coefficients(model): (position, column_name, value, weight) for each coordinate. */
Datum
dp_coefficients(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_open(PG_GETARG_DATUM(0));
	const DpermEncoder *encoder = &model->encoder;
	TupleDesc	desc;
	Tuplestorestate *store = begin_result(fcinfo, &desc);

	for (int i = 0; i < dperm_encoder_dim(encoder); i++)
	{
		DpermCoordinate at;
		Datum		values[4] = {Int32GetDatum(i + 1), 0, 0, Float8GetDatum(model->weights[i])};
		bool		nulls[4] = {false, true, true, false};

		if (!dperm_encoder_coordinate(encoder, i, &at))
			elog(ERROR, "coordinate %d is out of range", i);
		if (at.intercept)
		{
			values[2] = CStringGetTextDatum("intercept");
			nulls[2] = false;
		}
		else if (at.kernel)
		{
			/* a kernel mixes all columns */
			values[2] = CStringGetTextDatum(psprintf("kernel feature %d", at.within + 1));
			nulls[2] = false;
		}
		else
		{
			if (at.block->column.len > 0)
			{
				values[1] = text_datum(&at.block->column);
				nulls[1] = false;
			}
			if (at.block->kind == DPERM_BLOCK_CATEGORY)
			{
				values[2] = text_datum(&at.block->categories[at.within]);
				nulls[2] = false;
			}
			else if (at.block->kind == DPERM_BLOCK_VECTOR)
			{
				values[2] = CStringGetTextDatum(psprintf("[%d]", at.within + 1));
				nulls[2] = false;
			}
		}
		tuplestore_putvalues(store, desc, values, nulls);
	}
	return (Datum) 0;
}
