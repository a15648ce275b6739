/*
 * train_args.c: reading the arguments of the training functions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "train_args.h"

/* A text argument, NULL if it is NULL. */
char *
dperm_text_arg(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* A text argument that must be there. */
char *
dperm_required_text_arg(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name),
				 errhint("source is a table or view, label one of its columns.")));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Options out of the arguments; NULL stands for the default. Not settled yet. */
void
dperm_train_options(FunctionCallInfo fcinfo, bool svm, DpermOptions *options)
{
	char	   *text;

	if (PG_ARGISNULL(DPERM_ARG_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null"),
				 errhint("Common values lie between 0.1 and 10; 'Infinity' trains without privacy.")));
	dperm_options_init(options, svm, PG_GETARG_FLOAT8(DPERM_ARG_EPSILON));
	if (!PG_ARGISNULL(DPERM_ARG_LAMBDA))
		dperm_options_set_lambda(options, PG_GETARG_FLOAT8(DPERM_ARG_LAMBDA));
	if ((text = dperm_text_arg(fcinfo, DPERM_ARG_METHOD)) != NULL)
		dperm_options_set_method(options, text);
	if ((text = dperm_text_arg(fcinfo, DPERM_ARG_ANALYSIS)) != NULL)
		dperm_options_set_analysis(options, text);
	options->positive = dperm_text_arg(fcinfo, DPERM_ARG_POSITIVE);
	if (!PG_ARGISNULL(DPERM_ARG_INTERCEPT))
		options->intercept = PG_GETARG_BOOL(DPERM_ARG_INTERCEPT);
	if (!PG_ARGISNULL(DPERM_ARG_NORM))
		dperm_options_set_norm(options, PG_GETARG_FLOAT8(DPERM_ARG_NORM));
	if (!PG_ARGISNULL(DPERM_ARG_DIMENSION))
		dperm_options_set_dimension(options, PG_GETARG_INT32(DPERM_ARG_DIMENSION));
	if ((text = dperm_text_arg(fcinfo, DPERM_ARG_KERNEL)) != NULL)
		dperm_options_set_kernel(options, text);
	if (!PG_ARGISNULL(DPERM_ARG_GAMMA))
		dperm_options_set_gamma(options, PG_GETARG_FLOAT8(DPERM_ARG_GAMMA));
	if (!PG_ARGISNULL(DPERM_ARG_KERNEL_FEATURES))
		dperm_options_set_kernel_features(options, PG_GETARG_INT32(DPERM_ARG_KERNEL_FEATURES));
	if (!PG_ARGISNULL(DPERM_ARG_KERNEL_SEED))
		dperm_options_set_kernel_seed(options, PG_GETARG_INT64(DPERM_ARG_KERNEL_SEED));
	if (svm)
	{
		if ((text = dperm_text_arg(fcinfo, DPERM_ARG_LOSS)) != NULL)
			dperm_options_set_loss(options, text);
		if (!PG_ARGISNULL(DPERM_ARG_H))
			dperm_options_set_h(options, PG_GETARG_FLOAT8(DPERM_ARG_H));
	}
}

/*
 * The feature columns, NULL for all that have a domain. features is text or text[]; a text in
 * braces is read as an array, so that the quoted form '{x}' means the same either way.
 */
char **
dperm_train_features(FunctionCallInfo fcinfo, bool as_array, int *count)
{
	Datum	   *names;
	bool	   *nulls;
	char	  **result;
	Datum		array = PG_GETARG_DATUM(DPERM_ARG_FEATURES);

	*count = 0;
	if (PG_ARGISNULL(DPERM_ARG_FEATURES))
		return NULL;
	if (!as_array)
	{
		char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(DPERM_ARG_FEATURES));
		size_t		len = strlen(name);

		if (len < 2 || name[0] != '{' || name[len - 1] != '}')
		{
			result = palloc(sizeof(char *));
			result[0] = name;
			*count = 1;
			return result;
		}
		array = OidInputFunctionCall(F_ARRAY_IN, name, TEXTOID, -1);
	}
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, &nulls, count);
	if (*count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features must name at least one column"),
				 errhint("NULL stands for all columns that have a domain.")));
	result = palloc(sizeof(char *) * *count);
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("features must not contain nulls")));
		result[i] = TextDatumGetCString(names[i]);
	}
	return result;
}
