/*
 * call_message.c: a call as bytes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
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
names_array(FunctionCallInfo fcinfo)
{
	int			count;
	char	  **names = dperm_arguments_names(fcinfo, "features", &count);
	Datum	   *texts = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		texts[i] = CStringGetTextDatum(names[i]);
	return PointerGetDatum(construct_array(texts, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* The arguments of a call. */
ParamListInfo
dperm_call_message_params(FunctionCallInfo fcinfo)
{
	Oid		   *types;
	int			count;
	ParamListInfo params;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	if (count != PG_NARGS())
		elog(ERROR, "function %u is called with %d arguments", fcinfo->flinfo->fn_oid, PG_NARGS());
	params = makeParamList(count);
	for (int i = 0; i < count; i++)
	{
		ParamExternData *param = &params->params[i];

		param->ptype = takes_names(types[i]) ? TEXTARRAYOID : types[i];
		param->isnull = PG_ARGISNULL(i);
		if (!param->isnull)
			param->value = takes_names(types[i]) ? names_array(fcinfo) :
				get_typlen(types[i]) == -1 ?
				PointerGetDatum(PG_DETOAST_DATUM(PG_GETARG_DATUM(i))) : PG_GETARG_DATUM(i);
	}
	return params;
}

/* A call. Its expression tells the types of its arguments. */
FunctionCallInfo
dperm_call_message_read(DpermCallHeader *header)
{
	char	   *bytes = dperm_call_message_arguments(header);
	ParamListInfo params = RestoreParamList(&bytes);
	FunctionCallInfo fcinfo = palloc0(SizeForFunctionCallInfo(params->numParams));
	FmgrInfo   *function = palloc0(sizeof(*function));
	List	   *arguments = NIL;

	fmgr_info(header->function, function);
	InitFunctionCallInfoData(*fcinfo, function, params->numParams, header->collation, NULL, NULL);
	for (int i = 0; i < params->numParams; i++)
	{
		const ParamExternData *param = &params->params[i];
		int16		length;
		bool		byval;

		get_typlenbyval(param->ptype, &length, &byval);
		fcinfo->args[i].value = param->value;
		fcinfo->args[i].isnull = param->isnull;
		arguments = lappend(arguments, makeConst(param->ptype, -1, InvalidOid, length,
												 param->value, param->isnull, byval));
	}
	fmgr_info_set_expr((Node *) makeFuncExpr(header->function, get_func_rettype(header->function),
											 arguments, InvalidOid, header->collation,
											 COERCE_EXPLICIT_CALL),
					   function);
	return fcinfo;
}
