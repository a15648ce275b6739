/*
 * bounded.c: dp_text and dp_bounded, which keep large values out of a pass.
 *
 * A value that is too large to be anything but noise must not be able to exhaust memory: the error
 * would tell that it is there.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(dp_text);
PG_FUNCTION_INFO_V1(dp_bounded);

/* dp_text(value "any"): the output of its type as text. A cast may give something else. */
Datum
dp_text(PG_FUNCTION_ARGS)
{
	FmgrInfo   *output = fcinfo->flinfo->fn_extra;

	if (output == NULL)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
		Oid			function;
		bool		varlena;

		if (!OidIsValid(type))
			elog(ERROR, "could not determine the type of a value");
		getTypeOutputInfo(type, &function, &varlena);
		output = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(FmgrInfo));
		fmgr_info_cxt(function, output, fcinfo->flinfo->fn_mcxt);
		fcinfo->flinfo->fn_extra = output;
	}
	PG_RETURN_TEXT_P(cstring_to_text(OutputFunctionCall(output, PG_GETARG_DATUM(0))));
}

/* dp_bounded(value anyelement, bytes): the value, or NULL if it is larger than that. */
Datum
dp_bounded(PG_FUNCTION_ARGS)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of a value");
	if (get_typlen(type) == -1 &&
		toast_raw_datum_size(PG_GETARG_DATUM(0)) > (Size) PG_GETARG_INT32(1))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
