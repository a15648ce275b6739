/*
 * call_message.c: a call as bytes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "base/arguments.h"
#include "protect/call_message.h"

/* The size of the shared memory for arguments of a given size. */
Size
dperm_call_message_size(Size arguments)
{
	return MAXALIGN(sizeof(DpermCallHeader)) + MAXALIGN(arguments) + DPERM_QUEUE;
}

/* Where the arguments are. */
char *
dperm_call_message_arguments(DpermCallHeader *header)
{
	return (char *) header + MAXALIGN(sizeof(DpermCallHeader));
}

/* Where the queue is. */
shm_mq *
dperm_call_message_queue(DpermCallHeader *header)
{
	return (shm_mq *) (dperm_call_message_arguments(header) + MAXALIGN(header->arguments));
}

DpermCallState
dperm_call_message_state(DpermCallHeader *header)
{
	DpermCallState state = (DpermCallState) pg_atomic_read_u32(&header->state);

	pg_read_barrier();			/* what it says is read after it */
	return state;
}

bool
dperm_call_message_advance(DpermCallHeader *header, DpermCallState from, DpermCallState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&header->state, &expected, to);
}

/*
 * Does an argument take names as a string of any type, or as an array of them?
 */
static bool
takes_names(Oid declared)
{
	return get_typtype(declared) == TYPTYPE_PSEUDO;
}

/* The names of columns in such an argument, as an array of text. */
static Datum
names_array(FunctionCallInfo fcinfo, int at)
{
	int			count;
	char	  **names = dperm_arguments_names_at(fcinfo, at, "features", &count);
	Datum	   *texts = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		texts[i] = CStringGetTextDatum(names[i]);
	return PointerGetDatum(construct_array(texts, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Append an argument. */
static void
write_argument(StringInfo bytes, FunctionCallInfo fcinfo, int at, Oid declared)
{
	bool		isnull = PG_ARGISNULL(at);
	Datum		value = isnull ? (Datum) 0 : PG_GETARG_DATUM(at);
	Oid			type = declared;
	int16		length;
	bool		byval;
	char	   *end;

	if (takes_names(declared))
	{
		type = TEXTARRAYOID;
		if (!isnull)
			value = names_array(fcinfo, at);
	}
	get_typlenbyval(type, &length, &byval);
	if (!isnull && length == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	appendBinaryStringInfo(bytes, (char *) &type, sizeof(type));
	enlargeStringInfo(bytes, (int) datumEstimateSpace(value, isnull, byval, length));
	end = bytes->data + bytes->len;
	datumSerialize(value, isnull, byval, length, &end);
	bytes->len = end - bytes->data;
}

/* The arguments of a call. */
void
dperm_call_message_write(StringInfo bytes, FunctionCallInfo fcinfo)
{
	Oid		   *types;
	int			count;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	if (count != PG_NARGS())
		elog(ERROR, "function %u is called with %d arguments", fcinfo->flinfo->fn_oid, PG_NARGS());
	for (int i = 0; i < count; i++)
		write_argument(bytes, fcinfo, i, types[i]);
}

/* A call. Its expression tells the types of its arguments. */
FunctionCallInfo
dperm_call_message_read(const DpermCallHeader *header, const char *bytes)
{
	Oid		   *types;
	int			count;
	Oid			result = get_func_signature(header->function, &types, &count);
	FunctionCallInfo fcinfo = palloc0(SizeForFunctionCallInfo(count));
	FmgrInfo   *function = palloc0(sizeof(*function));
	char	   *at = (char *) bytes;
	List	   *arguments = NIL;

	fmgr_info(header->function, function);
	InitFunctionCallInfoData(*fcinfo, function, count, header->collation, NULL, NULL);
	for (int i = 0; i < count; i++)
	{
		Oid			type;
		int16		length;
		bool		byval;

		memcpy(&type, at, sizeof(type));
		at += sizeof(type);
		get_typlenbyval(type, &length, &byval);
		fcinfo->args[i].value = datumRestore(&at, &fcinfo->args[i].isnull);
		arguments =
			lappend(arguments, makeConst(type, -1, InvalidOid, length, fcinfo->args[i].value,
										 fcinfo->args[i].isnull, byval));
	}
	fmgr_info_set_expr((Node *) makeFuncExpr(header->function, result, arguments, InvalidOid,
											 header->collation, COERCE_EXPLICIT_CALL),
					   function);
	return fcinfo;
}
