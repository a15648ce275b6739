/*
 * arguments.c: the arguments of a call, by their names in the SQL declaration.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/arguments.h"
#include "base/message.h"
#include "core/base/names.h"

/*
 * The input arguments of a function, from the catalog; cached by the call site.
 */
typedef struct Signature
{
	int			count;
	char	  **names;
	Oid		   *types;
} Signature;

/* Read the signature of a function. */
static Signature *
read_signature(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Signature  *signature = palloc0(sizeof(*signature));
	char	   *modes;
	int			count;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	count = get_func_arg_info(tuple, &signature->types, &signature->names, &modes);
	ReleaseSysCache(tuple);
	if (signature->names == NULL)
		elog(ERROR, "the arguments of function %u have no names", function);

	/* OUT arguments come last */
	while (signature->count < count &&
		   (modes == NULL || modes[signature->count] == PROARGMODE_IN))
		signature->count++;
	return signature;
}

/* The signature of a call. */
static const Signature *
signature_of(FunctionCallInfo fcinfo)
{
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = read_signature(fcinfo->flinfo->fn_oid);
		MemoryContextSwitchTo(caller);
	}
	return fcinfo->flinfo->fn_extra;
}

/* The position of an argument, -1 if it is NULL or not declared. */
static int
find_argument(FunctionCallInfo fcinfo, const char *name)
{
	const Signature *signature = signature_of(fcinfo);
	int			at = dperm_find_name((const char *const *) signature->names,
									 Min(signature->count, PG_NARGS()), name);

	return at < 0 || PG_ARGISNULL(at) ? -1 : at;
}

/*
 * The value of an argument that is declared with this type, or with one of our
 * own types if that is InvalidOid; false if it is NULL or not declared.
 */
bool
dperm_arguments_get(FunctionCallInfo fcinfo, const char *name, Oid type, Datum *value)
{
	int			at = find_argument(fcinfo, name);

	if (at < 0)
		return false;
	if (OidIsValid(type) && signature_of(fcinfo)->types[at] != type)
		elog(ERROR, "argument \"%s\" is not declared with type %u", name, type);
	*value = PG_GETARG_DATUM(at);
	return true;
}

/* The value of an argument that must not be NULL, with a hint for the error. */
Datum
dperm_arguments_required(FunctionCallInfo fcinfo, const char *name, Oid type, const char *hint)
{
	Datum		value = (Datum) 0;

	if (!dperm_arguments_get(fcinfo, name, type, &value))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name),
				 errhint("%s", hint)));
	return value;
}

/* A text argument, NULL if it is NULL. */
char *
dperm_arguments_text(FunctionCallInfo fcinfo, const char *name)
{
	Datum		value;

	return dperm_arguments_get(fcinfo, name, TEXTOID, &value) ? TextDatumGetCString(value) : NULL;
}

/* A text argument that must not be NULL. */
char *
dperm_arguments_required_text(FunctionCallInfo fcinfo, const char *name, const char *hint)
{
	return TextDatumGetCString(dperm_arguments_required(fcinfo, name, TEXTOID, hint));
}

/* A jsonb argument, NULL if it is NULL. */
Jsonb *
dperm_arguments_jsonb(FunctionCallInfo fcinfo, const char *name)
{
	Datum		value;

	return dperm_arguments_get(fcinfo, name, JSONBOID, &value) ? DatumGetJsonbP(value) : NULL;
}

/* The text form of a value. */
static char *
text_of(Datum value, Oid type)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/* Is the text form of a value JSON? An infinite number's is not. */
static bool
is_json(Datum value, Oid type)
{
	return type == FLOAT8OID ? isfinite(DatumGetFloat8(value)) :
							   type == INT4OID || type == INT8OID || type == JSONBOID;
}

/*
 * The arguments that are not NULL as an object, but for those of some names. A
 * value whose text has more bytes than limit is cut.
 */
Jsonb *
dperm_arguments_json(FunctionCallInfo fcinfo, const char *const *except, int count, int limit)
{
	const Signature *signature = signature_of(fcinfo);
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < Min(signature->count, PG_NARGS()); i++)
	{
		char	   *text;

		if (PG_ARGISNULL(i) || dperm_find_name(except, count, signature->names[i]) >= 0)
			continue;
		text = text_of(PG_GETARG_DATUM(i), signature->types[i]);
		appendStringInfoChar(&json, json.len == 0 ? '{' : ',');
		escape_json(&json, signature->names[i]);
		appendStringInfoChar(&json, ':');
		if (strlen(text) <= (size_t) limit && is_json(PG_GETARG_DATUM(i), signature->types[i]))
			appendStringInfoString(&json, text);
		else
			escape_json(&json, dperm_message_clip(text, limit));
	}
	appendStringInfoString(&json, json.len == 0 ? "{}" : "}");
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
}

/* Is this a type of strings? */
static bool
is_string_type(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(getBaseType(type), &category, &preferred);
	return category == TYPCATEGORY_STRING;
}

/* The elements of an array in its text form, which has at least one. */
static char **
array_names(const char *argument, char *form, int *count)
{
	Datum		array = OidInputFunctionCall(F_ARRAY_IN, form, TEXTOID, -1);
	Datum	   *names;
	bool	   *nulls;
	char	  **result;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls,
					  count);
	if (*count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must name at least one column", argument),
				 strcmp(argument, "features") != 0 ? 0 :
				 errhint("Use NULL for all columns that have a domain.")));
	result = palloc(sizeof(char *) * *count);
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain nulls", argument)));
		result[i] = TextDatumGetCString(names[i]);
	}
	return result;
}

/*
 * The names in an argument of any type that is a string or an array of strings.
 * A string in braces is read as an array, so that the literal '{x}' means the
 * same either way. NULL if the argument is NULL.
 */
char **
dperm_arguments_names(FunctionCallInfo fcinfo, const char *name, int *count)
{
	int			at = find_argument(fcinfo, name);
	Oid			type;
	Oid			element;
	char	   *text;
	char	  **single;

	*count = 0;
	if (at < 0)
		return NULL;
	type = get_fn_expr_argtype(fcinfo->flinfo, at);
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of argument \"%s\"", name);
	element = get_base_element_type(type);
	if (!is_string_type(OidIsValid(element) ? element : type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s cannot be of type %s", name, format_type_be(type)),
				 errhint("Name one column, as in %s => 'x', or several, as in %s => ARRAY['a', "
						 "'b'].",
						 name, name)));
	text = text_of(PG_GETARG_DATUM(at), type);
	if (OidIsValid(element) || (text[0] == '{' && text[strlen(text) - 1] == '}'))
		return array_names(name, text, count);
	single = palloc(sizeof(char *));
	*single = text;
	*count = 1;
	return single;
}
