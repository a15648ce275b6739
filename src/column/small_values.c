/*
 * small_values.c: dperm_text and dperm_bounded, which exclude large values from
 * a pass.
 *
 * A value that is too large to be useful must not exhaust memory: the error
 * would reveal that it exists. The limit is the same constant for every call;
 * see datum_values.h.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "column/datum_values.h"

PG_FUNCTION_INFO_V1(dperm_text);
PG_FUNCTION_INFO_V1(dperm_bounded);

/* What is known about the type of a value, looked up once. */
typedef struct ValueType
{
	bool		varlena;
	bool		is_array;
	FmgrInfo	output;			/* dperm_text */
} ValueType;

/* The type of the argument. */
static ValueType *
value_type(FunctionCallInfo fcinfo)
{
	ValueType  *result = fcinfo->flinfo->fn_extra;

	if (result == NULL)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
		Oid			function;
		bool		is_varlena;

		if (!OidIsValid(type))
			elog(ERROR, "could not determine the type of a value");
		result = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(*result));
		result->varlena = get_typlen(type) == -1;
		result->is_array = OidIsValid(get_element_type(getBaseType(type)));
		getTypeOutputInfo(type, &function, &is_varlena);
		fmgr_info_cxt(function, &result->output, fcinfo->flinfo->fn_mcxt);
		fcinfo->flinfo->fn_extra = result;
	}
	return result;
}

/* Is the argument too large to be read? */
static bool
is_too_large(FunctionCallInfo fcinfo, const ValueType *type)
{
	return type->varlena && dperm_datum_values_too_large(PG_GETARG_DATUM(0), type->is_array);
}

/*
 * dperm_text(value "any"): the output of its type as text, or NULL. A cast to
 * text may differ.
 */
Datum
dperm_text(PG_FUNCTION_ARGS)
{
	ValueType  *type = value_type(fcinfo);

	if (is_too_large(fcinfo, type))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(OutputFunctionCall(&type->output, PG_GETARG_DATUM(0))));
}

/* dperm_bounded(value anyelement): the value, or NULL if it is too large. */
Datum
dperm_bounded(PG_FUNCTION_ARGS)
{
	if (is_too_large(fcinfo, value_type(fcinfo)))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
