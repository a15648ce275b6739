/*
 * arguments.c: the arguments of a call, by their names in the SQL declaration.
 */
#include "postgres.h"

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
#include "base/json_value.h"

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
	Signature  *signature = fcinfo->flinfo->fn_extra;

	if (signature == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		signature = read_signature(fcinfo->flinfo->fn_oid);
		MemoryContextSwitchTo(caller);
		fcinfo->flinfo->fn_extra = signature;
	}
	return signature;
}

/* The position of an argument, -1 if none has this name. */
static int
find_argument(FunctionCallInfo fcinfo, const char *name, Oid *type)
{
	const Signature *signature = signature_of(fcinfo);

	for (int i = 0; i < Min(signature->count, PG_NARGS()); i++)
		if (strcmp(signature->names[i], name) == 0)
		{
			*type = signature->types[i];
			return i;
		}
	return -1;
}

/* The value of an argument; false if it is NULL or not declared. */
bool
dperm_arguments_get(FunctionCallInfo fcinfo, const char *name, Oid type, Datum *value)
{
	Oid			declared;
	int			at = find_argument(fcinfo, name, &declared);

	if (at < 0)
		return false;
	if (OidIsValid(type) && declared != type)
		elog(ERROR, "argument \"%s\" is declared with type %u, not %u", name, declared, type);
	if (PG_ARGISNULL(at))
		return false;
	*value = PG_GETARG_DATUM(at);
	return true;
}

/* A text argument, NULL if it is NULL. */
char *
dperm_arguments_text(FunctionCallInfo fcinfo, const char *name)
{
	Datum		value;

	return dperm_arguments_get(fcinfo, name, TEXTOID, &value) ? TextDatumGetCString(value) : NULL;
}

/* The value of an argument that must not be NULL. */
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

/* Is a name in a list, whose last one is NULL? */
static bool
is_excepted(const char *name, const char *const *list)
{
	while (*list && strcmp(*list, name) != 0)
		list++;
	return *list != NULL;
}

/* The arguments as an object, for the ledger. */
Jsonb *
dperm_arguments_json(FunctionCallInfo fcinfo, const char *const *except, int limit)
{
	const Signature *signature = signature_of(fcinfo);
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < Min(signature->count, PG_NARGS()); i++)
	{
		if (PG_ARGISNULL(i) || is_excepted(signature->names[i], except))
			continue;
		appendStringInfo(&json, "%c", json.len == 0 ? '{' : ',');
		escape_json(&json, signature->names[i]);
		appendStringInfoChar(&json, ':');
		dperm_json_value_append(&json, PG_GETARG_DATUM(i), false, signature->types[i], limit);
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

/* The elements of an array of strings, which has at least one. */
static char **
array_names(const char *argument, Datum datum, Oid element, int *count)
{
	int16		len;
	bool		byval;
	char		align;
	Oid			output;
	bool		is_varlena;
	Datum	   *names;
	bool	   *nulls;
	char	  **result;

	get_typlenbyvalalign(element, &len, &byval, &align);
	getTypeOutputInfo(element, &output, &is_varlena);
	deconstruct_array(DatumGetArrayTypeP(datum), element, len, byval, align, &names, &nulls, count);
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
		result[i] = OidOutputFunctionCall(output, names[i]);
	}
	return result;
}

/* The names in a string: a single name, or an array in braces. */
static char **
string_names(const char *argument, char *text, int *count)
{
	size_t		len = strlen(text);
	char	  **result;

	if (len >= 2 && text[0] == '{' && text[len - 1] == '}')
		return array_names(argument, OidInputFunctionCall(F_ARRAY_IN, text, TEXTOID, -1), TEXTOID,
						   count);
	result = palloc(sizeof(char *));
	result[0] = text;
	*count = 1;
	return result;
}

/* The names in the argument at a position. */
char **
dperm_arguments_names_at(FunctionCallInfo fcinfo, int at, const char *name, int *count)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, at);
	Oid			element;
	Oid			output;
	bool		is_varlena;

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
	if (OidIsValid(element))
		return array_names(name, PG_GETARG_DATUM(at), element, count);
	getTypeOutputInfo(type, &output, &is_varlena);
	return string_names(name, OidOutputFunctionCall(output, PG_GETARG_DATUM(at)), count);
}

/* The names in an argument that is a string or an array of strings. */
char **
dperm_arguments_names(FunctionCallInfo fcinfo, const char *name, int *count)
{
	Oid			declared;
	int			at = find_argument(fcinfo, name, &declared);

	*count = 0;
	if (at < 0 || PG_ARGISNULL(at))
		return NULL;
	return dperm_arguments_names_at(fcinfo, at, name, count);
}
