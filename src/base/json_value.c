/*
 * json_value.c: values of SQL types as JSON.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "base/json_value.h"

/* Is the text form of a value JSON? An infinite number's is not. */
static bool
is_json(Datum value, Oid type)
{
	return type == FLOAT8OID ? isfinite(DatumGetFloat8(value)) :
							   type == INT4OID || type == INT8OID || type == JSONBOID;
}

/* Append a value. */
void
dperm_json_value_append(StringInfo json, Datum value, bool isnull, Oid type, int limit)
{
	Oid			output;
	bool		is_varlena;
	char	   *text;

	if (isnull || type == BOOLOID)
	{
		appendStringInfoString(json, isnull ? "null" : DatumGetBool(value) ? "true" : "false");
		return;
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	text = OidOutputFunctionCall(output, value);
	if (limit > 0 && strlen(text) > (size_t) limit)
		escape_json(json,
					psprintf("%.*s...", pg_mbcliplen(text, (int) strlen(text), limit), text));
	else if (is_json(value, type))
		appendStringInfoString(json, text);
	else
		escape_json(json, text);
	pfree(text);
}
