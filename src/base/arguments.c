/*
 * arguments.c: the arguments of a call, by their names in the SQL declaration. Plain.
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

#include "base/base.h"

/*
 * The input arguments of a function, from the catalog; cached by the call site.
 */
typedef struct Signature
{
	int			count;
	char	  **names;
	Oid		   *types;
} Signature;

/* The signature of a call. */
static const Signature *
signature_of(FunctionCallInfo fcinfo)
{
	Signature  *signature = fcinfo->flinfo->fn_extra;
	MemoryContext caller;
	HeapTuple	tuple;
	char	   *modes;
	int			count;

	if (signature)
		return signature;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	signature = palloc0(sizeof(*signature));
	count = get_func_arg_info(tuple, &signature->types, &signature->names, &modes);
	MemoryContextSwitchTo(caller);
	ReleaseSysCache(tuple);

	/* OUT arguments come last */
	while (signature->count < count && signature->names &&
		   (modes == NULL || modes[signature->count] == PROARGMODE_IN))
		signature->count++;
	return fcinfo->flinfo->fn_extra = signature;
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

/*
 * The arguments that are not NULL as an object, but for those of some names. A
 * value whose text has more bytes than limit is cut. Numbers are finite.
 */
Jsonb *
dperm_arguments_json(FunctionCallInfo fcinfo, const char *const *except, int count, int limit)
{
	const Signature *signature = signature_of(fcinfo);
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < Min(signature->count, PG_NARGS()); i++)
	{
		Oid			type = signature->types[i];
		char	   *text;

		if (PG_ARGISNULL(i) || dperm_find_name(except, count, signature->names[i]) >= 0)
			continue;
		text = dperm_host_output(PG_GETARG_DATUM(i), type);
		appendStringInfoChar(&json, json.len == 0 ? '{' : ',');
		escape_json(&json, signature->names[i]);
		appendStringInfoChar(&json, ':');
		if (strlen(text) <= (size_t) limit &&
			(type == FLOAT8OID || type == INT4OID || type == INT8OID || type == JSONBOID))
			appendStringInfoString(&json, text);
		else
			escape_json(&json, dperm_message_clip(text, limit));
	}
	appendStringInfoString(&json, json.len == 0 ? "{}" : "}");
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
}

/*
 * The names in an argument of any type, by its text form: a single name, or an
 * array, as is what is in braces; so the literal '{x}' means the same either way.
 * NULL if the argument is NULL.
 */
char **
dperm_arguments_names(FunctionCallInfo fcinfo, const char *name, int *count)
{
	int			at = find_argument(fcinfo, name);
	Oid			type;
	Datum		array;
	Datum	   *names;
	bool	   *nulls;
	char	   *form;
	char	  **result;

	*count = 0;
	if (at < 0)
		return NULL;
	type = get_fn_expr_argtype(fcinfo->flinfo, at);
	form = dperm_host_output(PG_GETARG_DATUM(at), type);
	if (!OidIsValid(get_base_element_type(type)) &&
		(form[0] != '{' || form[strlen(form) - 1] != '}'))
	{
		*count = 1;
		result = palloc(sizeof(char *));
		*result = form;
		return result;
	}
	array = OidInputFunctionCall(F_ARRAY_IN, form, TEXTOID, -1);
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls,
					  count);
	if (*count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must name at least one column", name),
				 strcmp(name, "features") != 0 ? 0 :
				 errhint("Use NULL for all columns that have a domain.")));
	result = palloc(sizeof(char *) * *count);
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain nulls", name)));
		result[i] = TextDatumGetCString(names[i]);
	}
	return result;
}
