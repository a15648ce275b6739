/*
 * label_value.c: values of a label column that arguments name, as text.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "column/domains.h"
#include "column/label_value.h"

/*
 * Is this a number, a boolean or an enum: a type whose values are compared as
 * datums?
 */
static bool
is_plain(Oid type)
{
	DpermBlockKind kind;

	if (dperm_domain_types_kind(type, &kind) &&
		(kind == DPERM_BLOCK_NUMBER || kind == DPERM_BLOCK_FLAG))
		return true;
	return get_typtype(type) == TYPTYPE_ENUM;
}

/* Is this stored and compared as text? */
bool
dperm_label_value_is_textual(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(type, &category, &preferred);
	return category == TYPCATEGORY_STRING && get_typlen(type) == -1;
}

/* Raise an error for a type that cannot be a label of classes. */
void
dperm_label_value_check_type(Oid type)
{
	Oid			base = getBaseType(type);

	if (!dperm_label_value_is_textual(base) && !is_plain(base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a label cannot be of type %s", format_type_be(type)),
				 errhint("Use a boolean, a number, text or an enum, or convert the label in a "
						 "view.")));
}

/* A value that the label's type does not accept is an error in the call. */
static void
value_hint(void *arg)
{
	if (strcmp(arg, "classes") == 0)
		errhint("classes must be values of the label column, as text.");
	else
		errhint("%s must be one of the values of the label column, as text.", (char *) arg);
}

/* A value as a datum. */
Datum
dperm_label_value(Oid type, const char *text, int32 typmod, const char *argument)
{
	ErrorContextCallback hint = {
		.previous = error_context_stack,
		.callback = value_hint,
		.arg = unconstify(char *, argument)
	};
	Oid			input,
				ioparam;
	Datum		value;

	getTypeInputInfo(type, &input, &ioparam);
	error_context_stack = &hint;
	value = OidInputFunctionCall(input, pstrdup(text), ioparam, typmod);
	error_context_stack = hint.previous;
	return value;
}
