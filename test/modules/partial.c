/*
 * partial.c: aggregates run in parts, not by the executor, as Citus runs them
 * on its workers.
 *
 * A part calls the transition function of an aggregate for the values of a
 * record: without an expression from which a function could find out the types
 * of its arguments. Its state is sent as text or in binary. Such states are
 * received, possibly by another server, and combined. For tests; see
 * test/t/015_partial.pl.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(partial_step);
PG_FUNCTION_INFO_V1(partial_text);
PG_FUNCTION_INFO_V1(partial_binary);
PG_FUNCTION_INFO_V1(combined_text_step);
PG_FUNCTION_INFO_V1(combined_binary_step);
PG_FUNCTION_INFO_V1(call_untyped);

/* An aggregate under way. */
typedef struct Part
{
	MemoryContext context;		/* of the state */
	bool		told;			/* may the functions know that they are called by an aggregate? */
	Oid			type;			/* of the state */
	int16		length;
	FmgrInfo	step;
	FmgrInfo	combine;
	Datum		state;
	bool		empty;			/* is the state NULL? */
} Part;

/* The part under way, or a new one. */
static Part *
get_part(FunctionCallInfo fcinfo)
{
	MemoryContext context;
	HeapTuple	tuple;
	Form_pg_aggregate form;
	Part	   *part;
	bool		by_value;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "not called by an aggregate");
	if (!PG_ARGISNULL(0))
		return (Part *) PG_GETARG_POINTER(0);
	tuple = SearchSysCache1(AGGFNOID, PG_GETARG_DATUM(1));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "not an aggregate");
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	part = MemoryContextAllocZero(context, sizeof(*part));
	part->context = context;
	part->told = PG_GETARG_BOOL(2);
	part->type = form->aggtranstype;
	get_typlenbyval(part->type, &part->length, &by_value);
	if (by_value)
		elog(ERROR, "the state is passed by value");
	fmgr_info_cxt(form->aggtransfn, &part->step, context);
	fmgr_info_cxt(form->aggcombinefn, &part->combine, context);
	part->empty = true;
	ReleaseSysCache(tuple);
	return part;
}

/* Call a function of the aggregate, whose first argument is the state. */
static void
advance(Part *part, FmgrInfo *function, FunctionCallInfo inner, FunctionCallInfo outer, int count)
{
	Datum		result;

	InitFunctionCallInfoData(*inner, function, count, InvalidOid, part->told ? outer->context : NULL, NULL);
	inner->args[0].value = part->state;
	inner->args[0].isnull = part->empty;
	result = FunctionCallInvoke(inner);
	if (inner->isnull)
		elog(ERROR, "the state is NULL");

	/*
	 * a state in our memory stays where it is; any other is copied, which makes
	 * it flat
	 */
	if (part->empty || DatumGetPointer(result) != DatumGetPointer(part->state))
	{
		if (!(DatumIsReadWriteExpandedObject(result, false, part->length) &&
			  MemoryContextGetParent(DatumGetEOHP(result)->eoh_context) == part->context))
		{
			MemoryContext caller = MemoryContextSwitchTo(part->context);

			result = datumCopy(result, false, part->length);
			MemoryContextSwitchTo(caller);
		}
		part->state = result;
	}
	part->empty = false;
}

/*
 * The values of a record as arguments of a call, from a position on; returns
 * their number.
 */
static int
take_record(HeapTupleHeader record, FunctionCallInfo inner, int first)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(record), HeapTupleHeaderGetTypMod(record));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};
	int			count = desc->natts;
	Datum		values[FUNC_MAX_ARGS];
	bool		nulls[FUNC_MAX_ARGS];

	if (first + count > FUNC_MAX_ARGS)
		elog(ERROR, "too many arguments");
	heap_deform_tuple(&tuple, desc, values, nulls);
	ReleaseTupleDesc(desc);
	for (int i = 0; i < count; i++)
	{
		inner->args[first + i].value = values[i];
		inner->args[first + i].isnull = nulls[i];
	}
	return count;
}

/* partial_step(internal, aggregate oid, told boolean, arguments record) */
Datum
partial_step(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	Part	   *part = get_part(fcinfo);
	int			count = take_record(PG_GETARG_HEAPTUPLEHEADER(3), inner, 1);

	advance(part, &part->step, inner, fcinfo, 1 + count);
	PG_RETURN_POINTER(part);
}

/* The state as text. */
Datum
partial_text(PG_FUNCTION_ARGS)
{
	Part	   *part = PG_ARGISNULL(0) ? NULL : (Part *) PG_GETARG_POINTER(0);
	Oid			output;
	bool		varlena;

	if (part == NULL || part->empty)
		PG_RETURN_NULL();
	getTypeOutputInfo(part->type, &output, &varlena);
	PG_RETURN_TEXT_P(cstring_to_text(OidOutputFunctionCall(output, MakeExpandedObjectReadOnly(part->state, false, part->length))));
}

/* The state in binary. */
Datum
partial_binary(PG_FUNCTION_ARGS)
{
	Part	   *part = PG_ARGISNULL(0) ? NULL : (Part *) PG_GETARG_POINTER(0);
	Oid			send;
	bool		varlena;

	if (part == NULL || part->empty)
		PG_RETURN_NULL();
	getTypeBinaryOutputInfo(part->type, &send, &varlena);
	PG_RETURN_BYTEA_P(OidSendFunctionCall(send, MakeExpandedObjectReadOnly(part->state, false, part->length)));
}

/* Combine with a state of another part. */
static void
take_state(Part *part, Datum state, FunctionCallInfo outer)
{
	LOCAL_FCINFO(inner, 2);

	if (part->empty && part->combine.fn_strict)
	{
		MemoryContext caller = MemoryContextSwitchTo(part->context);

		part->state = datumCopy(state, false, part->length);
		part->empty = false;
		MemoryContextSwitchTo(caller);
		return;
	}
	inner->args[1].value = state;
	inner->args[1].isnull = false;
	advance(part, &part->combine, inner, outer, 2);
}

/* combined_text_step(internal, aggregate oid, told boolean, state text) */
Datum
combined_text_step(PG_FUNCTION_ARGS)
{
	Part	   *part = get_part(fcinfo);
	Oid			input,
				param;

	if (PG_ARGISNULL(3))
		PG_RETURN_POINTER(part);
	getTypeInputInfo(part->type, &input, &param);
	take_state(part, OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(3)), param, -1), fcinfo);
	PG_RETURN_POINTER(part);
}

/* combined_binary_step(internal, aggregate oid, told boolean, state bytea) */
Datum
combined_binary_step(PG_FUNCTION_ARGS)
{
	Part	   *part = get_part(fcinfo);
	bytea	   *bytes;
	StringInfoData buffer;
	Oid			receive,
				param;

	if (PG_ARGISNULL(3))
		PG_RETURN_POINTER(part);
	bytes = PG_GETARG_BYTEA_PP(3);
	initStringInfo(&buffer);
	appendBinaryStringInfo(&buffer, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	getTypeBinaryInputInfo(part->type, &receive, &param);
	take_state(part, OidReceiveFunctionCall(receive, &buffer, param, -1), fcinfo);
	PG_RETURN_POINTER(part);
}

/*
 * call_untyped(function oid, arguments record): call a function that returns a
 * bytea, without the types of its arguments
 */
Datum
call_untyped(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	int			count = take_record(PG_GETARG_HEAPTUPLEHEADER(1), inner, 0);
	FmgrInfo	function;
	Datum		result;

	fmgr_info(PG_GETARG_OID(0), &function);
	InitFunctionCallInfoData(*inner, &function, count, InvalidOid, NULL, NULL);
	result = FunctionCallInvoke(inner);
	if (inner->isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result);
}
