/*
 * class_list.c: lists of several classes, from what the caller specifies.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/class_list.h"
#include "base/message.h"
#include "core/base/classes.h"
#include "core/base/limits.h"
#include "core/loss/loss.h"

/* Bytes of a value in a message. */
#define VALUE_SHOWN 100

/* Raise an error for a number of classes that is out of range. */
static void
check_count(int count)
{
	if (count < DPERM_CLASSES_MIN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes must be at least %d values", DPERM_CLASSES_MIN),
				 errhint("For two classes, specify the positive one, as in positive => 'yes'.")));
	if (count > DPERM_CLASSES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes must be at most %d values", DPERM_CLASSES_MAX),
				 errhint("Rare values need no class of their own: rows with a label that is not "
						 "listed add nothing.")));
}

/* Make labels those of several classes. */
void
dperm_class_list_set(DpermLabels *labels, char **values, int count)
{
	size_t		size = 0;
	char	   *bytes;
	char	   *at;

	check_count(count);
	for (int i = 0; i < count; i++)
		size += strlen(values[i]) + 1;
	if (size > DPERM_CLASSES_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes are longer than %d bytes together", DPERM_CLASSES_BYTES - count),
				 errhint("Shorten them in a view.")));
	at = bytes = palloc(size);
	for (int i = 0; i < count; i++)
	{
		if (dperm_classes_find(bytes, i, values[i]) > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("class \"%s\" appears twice",
							dperm_message_clip(values[i], VALUE_SHOWN))));
		strcpy(at, values[i]);
		at += strlen(values[i]) + 1;
	}
	labels->kind = DPERM_LABEL_SEVERAL;
	labels->classes = bytes;
	labels->class_count = count;
}

/* The same with the elements of an array. */
void
dperm_class_list_take(DpermLabels *labels, ArrayType *array)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	char	  **values;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("classes must be a one-dimensional array")));
	check_count(count);
	values = palloc(sizeof(char *) * count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("classes must not contain nulls"),
					 errhint("Rows without a label add nothing, and have no class.")));
		values[i] = TextDatumGetCString(elements[i]);
	}
	dperm_class_list_set(labels, values, count);
}

/* The classes as an array of text. */
Datum
dperm_class_list_array(const DpermLabels *labels)
{
	Datum	   *elements = palloc(sizeof(Datum) * labels->class_count);
	const char *at = labels->classes;

	for (int i = 0; i < labels->class_count; i++, at += strlen(at) + 1)
		elements[i] = CStringGetTextDatum(at);
	return PointerGetDatum(construct_array(elements, labels->class_count, TEXTOID, -1, false,
										   TYPALIGN_INT));
}
