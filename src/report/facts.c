/*
 * facts.c: facts that a report is given as JSON.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "report/facts.h"

/* A scalar, array or object as text; NULL for null. */
static char *
value_text(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			return NULL;
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		case jbvBinary:
			return JsonbToCString(NULL, value->val.binary.data, value->val.binary.len);
		default:
			return NULL;
	}
}

/* A finite number, also one that is written as a string. */
static bool
value_number(const JsonbValue *value, double *out)
{
	char	   *text = value->type == jbvNumeric || value->type == jbvString ?
		value_text(value) : NULL;
	char	   *end;

	if (text == NULL)
		return false;
	*out = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(*out);
}

/* The value of a key of what may be an object. */
static JsonbValue *
member_value(JsonbContainer *object, const char *key)
{
	return object && JsonContainerIsObject(object) ?
		getKeyJsonValueFromContainer(object, key, strlen(key), NULL) : NULL;
}

/* The value of an element of what may be an array. */
static JsonbValue *
element_value(JsonbContainer *array, int i)
{
	CHECK_FOR_INTERRUPTS();
	return i < dperm_facts_count(array) ? getIthJsonbValueFromContainer(array, i) : NULL;
}

/* A member as text. */
char *
dperm_facts_text(JsonbContainer *object, const char *key)
{
	JsonbValue *value = member_value(object, key);

	return value ? value_text(value) : NULL;
}

/* Is a member this text? */
bool
dperm_facts_is(JsonbContainer *object, const char *key, const char *text)
{
	char	   *found = dperm_facts_text(object, key);

	return found && strcmp(found, text) == 0;
}

/* A member as a number. */
bool
dperm_facts_number(JsonbContainer *object, const char *key, double *out)
{
	JsonbValue *value = member_value(object, key);

	return value && value_number(value, out);
}

/* A member that is an array or an object. */
JsonbContainer *
dperm_facts_member(JsonbContainer *object, const char *key)
{
	JsonbValue *value = member_value(object, key);

	return value && value->type == jbvBinary ? value->val.binary.data : NULL;
}

/* The size of an array. */
int
dperm_facts_count(JsonbContainer *array)
{
	return array && JsonContainerIsArray(array) && !JsonContainerIsScalar(array) ?
		(int) JsonContainerSize(array) : 0;
}

/* An element that is an object. */
JsonbContainer *
dperm_facts_object(JsonbContainer *array, int i)
{
	JsonbValue *value = element_value(array, i);

	return value && value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data) ?
		value->val.binary.data : NULL;
}

/* An element that is a number. */
bool
dperm_facts_element(JsonbContainer *array, int i, double *out)
{
	JsonbValue *value = element_value(array, i);

	return value && value_number(value, out);
}

/* An object by one of its members. */
JsonbContainer *
dperm_facts_find(JsonbContainer *array, const char *key, const char *text)
{
	for (int i = 0; i < dperm_facts_count(array); i++)
	{
		JsonbContainer *object = dperm_facts_object(array, i);

		if (dperm_facts_is(object, key, text))
			return object;
	}
	return NULL;
}
