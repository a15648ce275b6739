/*
 * label_classes.c: which of several classes a value of a label column is.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "base/message.h"
#include "column/domains.h"
#include "column/label_classes.h"
#include "column/label_value.h"
#include "column/reader.h"
#include "core/base/classes.h"

/* How values of a type are compared. */
typedef enum Comparison
{
	AS_INTEGERS,				/* and the OIDs of enums */
	AS_DOUBLES,
	AS_NUMERICS,
	AS_TEXTS
} Comparison;

/* A value; the comparison tells which member. */
typedef struct Key
{
	int			number;			/* of the class */
	int			len;			/* of a text */
	union
	{
		int64		integer;
		double		real;
		const char *bytes;		/* of a text, or a numeric */
	}			u;
} Key;

struct DpermLabelClasses
{
	Oid			type;
	Comparison	comparison;
	bool		padded;			/* trailing blanks do not count */
	int			count;
	Key			keys[FLEXIBLE_ARRAY_MEMBER];	/* in ascending order */
};

/* How values of a type are compared. */
static Comparison
comparison_of(Oid type)
{
	if (dperm_label_value_is_textual(type))
		return AS_TEXTS;
	return type == NUMERICOID						 ? AS_NUMERICS :
		   type == FLOAT4OID || type == FLOAT8OID ? AS_DOUBLES :
													AS_INTEGERS;
}

/* An integer, or the OID of an enum value. */
static int64
integer_of(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		default:				/* an enum */
			return DatumGetObjectId(value);
	}
}

/* The key of a value that is not too large; false if it is NaN. */
static bool
key_of(const DpermLabelClasses *classes, Datum value, Key *key)
{
	switch (classes->comparison)
	{
		case AS_INTEGERS:
			key->u.integer = integer_of(classes->type, value);
			return true;
		case AS_DOUBLES:
			key->u.real =
				classes->type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
			return !isnan(key->u.real);
		case AS_NUMERICS:
			key->u.bytes = (const char *) DatumGetNumeric(value);
			return !numeric_is_nan((Numeric) key->u.bytes);
		case AS_TEXTS:
			key->u.bytes = VARDATA_ANY(DatumGetPointer(value));
			key->len = dperm_category_length(classes->padded, key->u.bytes,
											 VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
			return true;
	}
	return false;
}

/* Compare two keys; the order of texts is that of their lengths. */
static int
compare_keys(const void *first, const void *second, void *arg)
{
	const Key  *a = first;
	const Key  *b = second;

	switch (((const DpermLabelClasses *) arg)->comparison)
	{
		case AS_INTEGERS:
			return (a->u.integer > b->u.integer) - (a->u.integer < b->u.integer);
		case AS_DOUBLES:
			return (a->u.real > b->u.real) - (a->u.real < b->u.real);
		case AS_NUMERICS:
			return DatumGetInt32(DirectFunctionCall2(numeric_cmp, PointerGetDatum(a->u.bytes),
													 PointerGetDatum(b->u.bytes)));
		case AS_TEXTS:
			return a->len != b->len ? a->len - b->len : memcmp(a->u.bytes, b->u.bytes, a->len);
	}
	return 0;
}

/* Raise an error for two classes that are the same value. */
static void
check_distinct(const DpermLabelClasses *classes, const DpermLabels *labels)
{
	for (int i = 1; i < classes->count; i++)
	{
		const Key  *a = &classes->keys[i - 1];
		const Key  *b = &classes->keys[i];

		if (compare_keys(a, b, (void *) classes) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("classes \"%s\" and \"%s\" are the same value of type %s",
							dperm_message_clip(dperm_classes_value(labels->classes,
																   Min(a->number, b->number)),
											   DPERM_LABEL_VALUE_SHOWN),
							dperm_message_clip(dperm_classes_value(labels->classes,
																   Max(a->number, b->number)),
											   DPERM_LABEL_VALUE_SHOWN),
							format_type_be(classes->type)),
					 errhint("Specify each class once.")));
	}
}

/* Prepare to find classes. */
DpermLabelClasses *
dperm_label_classes_make(Oid type, const DpermLabels *labels)
{
	int			count = labels->class_count;
	DpermLabelClasses *classes = palloc0(offsetof(DpermLabelClasses, keys) + sizeof(Key) * count);
	const char *text = labels->classes;

	classes->type = type;
	classes->comparison = comparison_of(type);
	classes->padded = type == BPCHAROID;
	classes->count = count;
	for (int i = 0; i < count; i++, text += strlen(text) + 1)
	{
		Key		   *key = &classes->keys[i];

		key->number = i + 1;
		if (classes->comparison == AS_TEXTS)
		{
			key->u.bytes = pstrdup(text);
			key->len = dperm_category_length(classes->padded, text, strlen(text));
		}
		else if (!key_of(classes, dperm_label_value(type, text, -1, "classes"), key))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a class cannot be NaN"),
					 errhint("Rows whose label is NaN have no class.")));
	}
	qsort_arg(classes->keys, count, sizeof(Key), compare_keys, classes);
	check_distinct(classes, labels);
	return classes;
}

/* The number of a key's class. */
static int
find_key(const DpermLabelClasses *classes, const Key *key)
{
	int			low = 0;
	int			high = classes->count;

	while (low < high)
	{
		int			middle = (low + high) / 2;
		int			order = compare_keys(key, &classes->keys[middle], (void *) classes);

		if (order == 0)
			return classes->keys[middle].number;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}

/* The number of a value's class. */
int
dperm_label_classes_find(const DpermLabelClasses *classes, Datum value)
{
	bool		stored = classes->comparison == AS_TEXTS || classes->comparison == AS_NUMERICS;
	Datum		flat = value;
	Key			key;
	int			number = 0;

	/* a value that is too large is no class */
	if (stored && dperm_reader_too_large(value, false))
		return 0;
	if (stored)
		flat = classes->comparison == AS_TEXTS ?
			PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)) :
			PointerGetDatum(PG_DETOAST_DATUM(value));
	if (key_of(classes, flat, &key))
		number = find_key(classes, &key);
	if (stored && DatumGetPointer(flat) != DatumGetPointer(value))
		pfree(DatumGetPointer(flat));
	return number;
}
