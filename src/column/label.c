/*
 * label.c: read the value of a label column.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/class_list.h"
#include "base/compat.h"
#include "column/domains.h"
#include "column/label.h"
#include "column/label_value.h"
#include "column/reader.h"

PG_FUNCTION_INFO_V1(dperm_label);
PG_FUNCTION_INFO_V1(dperm_label_class);
PG_FUNCTION_INFO_V1(dperm_label_number);

/* How a type is read as a number; raises an error if it is none. */
static DpermReaderKind
number_reader(Oid type)
{
	DpermBlockKind kind;

	if (!dperm_domain_types_kind(getBaseType(type), &kind) || kind != DPERM_BLOCK_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the label of a regression cannot be of type %s", format_type_be(type)),
				 errhint("Use a number, or convert the label in a view.")));
	return dperm_reader_kind(type, DPERM_BLOCK_NUMBER);
}

/* Prepare to read numbers. */
static void
init_number(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	label->reader = number_reader(type);
	if (!dperm_block_are_bounds(labels->low, labels->high))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bounds of the label are not known"),
				 errhint("Specify them as an option of the aggregate, as in '{\"bounds\": [0, "
						 "120]}'.")));
	label->low = labels->low;
	label->high = labels->high;
}

/* Prepare to read two classes. */
static void
init_two(DpermLabel *label, Oid type, const char *positive)
{
	label->textual = dperm_label_value_is_textual(label->type);
	label->padded = label->type == BPCHAROID;
	label->compare = positive != NULL;
	dperm_label_value_check_type(type);
	if (!positive)
	{
		if (label->textual || get_typtype(label->type) == TYPTYPE_ENUM)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a label of type %s requires a positive value", format_type_be(type)),
					 errhint("Specify the value of the positive class, as in positive => 'yes'; "
							 "or, for a logistic regression of several classes, all of them, as "
							 "in domains => '{\"kind\": [\"a\", \"b\", \"c\"]}'.")));
		return;
	}
	if (strlen(positive) > DPERM_VALUE_MAX - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("positive is longer than %d bytes", DPERM_VALUE_MAX - VARHDRSZ),
				 errhint("Longer values are ignored; shorten them in a view.")));
	if (label->textual)
	{
		label->bytes = pstrdup(positive);
		label->bytes_len = dperm_category_length(label->padded, positive, strlen(positive));
	}
	else
		label->value = dperm_label_value(label->type, positive, -1, "positive");
}

/* Prepare to read several classes. */
static void
init_several(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	dperm_label_value_check_type(type);
	if (label->type == BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a label of type %s has two classes", format_type_be(type)),
				 errhint("Omit classes.")));
	label->classes = dperm_label_classes_make(label->type, labels);
}

/* Prepare to read labels of a type. */
void
dperm_label_init(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	memset(label, 0, sizeof(*label));
	label->kind = labels->kind;
	label->type = getBaseType(type);
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number(label, type, labels);
	else if (labels->kind == DPERM_LABEL_SEVERAL)
		init_several(label, type, labels);
	else
		init_two(label, type, labels->positive);
}

/* Prepare to read the numbers of classes. */
void
dperm_label_init_numbered(DpermLabel *label, int class_count)
{
	memset(label, 0, sizeof(*label));
	label->kind = DPERM_LABEL_SEVERAL;
	label->type = FLOAT8OID;
	label->class_count = class_count;
}

/* Raise an error if a type is not that of the labels. */
void
dperm_label_check(const DpermLabel *label, Oid type)
{
	if (getBaseType(type) != label->type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the label has changed its type since the call began")));
}

/* +1 or -1. */
static inline int
sign_of(bool positive)
{
	return positive ? 1 : -1;
}

/*
 * The sign of a number, 0 for NaN; with a positive value, whether the number
 * equals it.
 */
static int
number_sign(const DpermLabel *label, double value, double positive)
{
	if (isnan(value))
		return 0;
	return sign_of(label->compare ? value == positive : value > 0);
}

/* The same for numeric, which may be outside the range of doubles. */
static int
numeric_label_sign(const DpermLabel *label, Numeric value)
{
	Datum		other;
	int			order;

	if (numeric_is_nan(value))
		return 0;
	other = label->compare ? label->value :
		DirectFunctionCall1(int4_numeric, Int32GetDatum(0));
	order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(value), other));
	return sign_of(label->compare ? order == 0 : order > 0);
}

/* The sign of a text: is it the positive value? */
static int
text_sign(const DpermLabel *label, struct varlena *value)
{
	const char *bytes = VARDATA_ANY(value);
	int			len = dperm_category_length(label->padded, bytes, VARSIZE_ANY_EXHDR(value));

	return sign_of(len == label->bytes_len && memcmp(bytes, label->bytes, len) == 0);
}

/* The same for integers, exactly. */
static int
integer_sign(const DpermLabel *label, int64 value, int64 positive)
{
	return sign_of(label->compare ? value == positive : value > 0);
}

/* A number, whatever its type. NaN if it is too large to be one. */
static double
number_of_datum(DpermReaderKind kind, Datum value)
{
	return kind == DPERM_READ_NUMERIC && dperm_reader_too_large(value, false) ?
			   NAN :
			   dperm_reader_number(kind, value);
}

/* Of two classes: -1 or +1, or 0 for no label. */
static int
read_sign(const DpermLabel *label, Datum value)
{
	int			sign;

	if (label->textual || label->type == NUMERICOID)
	{
		struct varlena *flat;

		/*
		 * a text that is too large is not the positive value; no number is that
		 * large
		 */
		if (dperm_reader_too_large(value, false))
			return label->textual ? -1 : 0;
		flat = PG_DETOAST_DATUM_PACKED(value);

		if (label->textual)
			sign = text_sign(label, flat);
		else
			sign = numeric_label_sign(label, DatumGetNumeric(PointerGetDatum(flat)));
		if ((Pointer) flat != DatumGetPointer(value))
			pfree(flat);
		return sign;
	}
	switch (label->type)
	{
		case BOOLOID:
			return sign_of(label->compare ?
						   DatumGetBool(value) == DatumGetBool(label->value) :
						   DatumGetBool(value));
		case INT2OID:
			return integer_sign(label, DatumGetInt16(value), DatumGetInt16(label->value));
		case INT4OID:
			return integer_sign(label, DatumGetInt32(value), DatumGetInt32(label->value));
		case INT8OID:
			return integer_sign(label, DatumGetInt64(value),
								label->compare ? DatumGetInt64(label->value) : 0);
		case FLOAT4OID:
			return number_sign(label, DatumGetFloat4(value), DatumGetFloat4(label->value));
		case FLOAT8OID:
			return number_sign(label, DatumGetFloat8(value),
							   label->compare ? DatumGetFloat8(label->value) : 0);
		default:				/* an enum */
			return sign_of(DatumGetObjectId(value) == DatumGetObjectId(label->value));
	}
}

/* The label as a row holds it. */
double
dperm_label_read(const DpermLabel *label, Datum value, bool isnull)
{
	double		number;

	if (isnull)
		return dperm_label_kind_none(label->kind);
	if (label->kind == DPERM_LABEL_TWO)
		return read_sign(label, value);
	if (label->kind == DPERM_LABEL_SEVERAL)
		return label->classes ? dperm_label_classes_find(label->classes, value) :
								dperm_label_numbered(DatumGetFloat8(value), label->class_count);
	number = number_of_datum(label->reader, value);
	return isnan(number) ? dperm_label_kind_none(label->kind) :
						   dperm_block_between(number, label->low, label->high);
}

/* What dperm_label and dperm_label_class keep between rows. */
typedef struct LabelCache
{
	MemoryContext context;		/* of all below */
	struct varlena *domain;		/* what the reader was built for; NULL for none */
	DpermLabel	label;
} LabelCache;

/* Is the cached reader for this positive value, or these classes? */
static bool
same_domain(const LabelCache *cache, FunctionCallInfo fcinfo)
{
	struct varlena *now;

	if (PG_ARGISNULL(1) || cache->domain == NULL)
		return PG_ARGISNULL(1) && cache->domain == NULL;
	now = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
	return VARSIZE_ANY_EXHDR(now) == VARSIZE_ANY_EXHDR(cache->domain) &&
		memcmp(VARDATA_ANY(now), VARDATA_ANY(cache->domain), VARSIZE_ANY_EXHDR(now)) == 0;
}

/* The domain that the second argument is. */
static DpermLabels
labels_of(DpermLabelKind kind, struct varlena *domain)
{
	DpermLabels labels = {.kind = kind};

	if (kind == DPERM_LABEL_TWO)
		labels.positive = domain ? text_to_cstring((text *) domain) : NULL;
	else if (domain == NULL)
		elog(ERROR, "a label has no classes");
	else
		dperm_class_list_take(&labels, (ArrayType *) domain);
	return labels;
}

/*
 * The reader for the arguments of a call, rebuilt only for a different positive
 * value, or other classes.
 */
static const DpermLabel *
cached_label(FunctionCallInfo fcinfo, DpermLabelKind kind)
{
	LabelCache *cache = fcinfo->flinfo->fn_extra;
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	MemoryContext context,
				caller;
	DpermLabels labels;

	if (cache && same_domain(cache, fcinfo))
		return &cache->label;
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of a label");
	if (cache)
	{
		fcinfo->flinfo->fn_extra = NULL;
		MemoryContextDelete(cache->context);
	}
	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dperm_label",
									ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(context);
	cache = palloc0(sizeof(*cache));
	cache->context = context;
	if (!PG_ARGISNULL(1))
		cache->domain = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(1));
	labels = labels_of(kind, cache->domain);
	dperm_label_init(&cache->label, type, &labels);
	MemoryContextSwitchTo(caller);
	fcinfo->flinfo->fn_extra = cache;
	return &cache->label;
}

/*
 * dperm_label(value "any", positive text): a label as a boolean, NULL for none.
 * Training passes call it for label columns that are not plain booleans.
 */
Datum
dperm_label(PG_FUNCTION_ARGS)
{
	const DpermLabel *label = cached_label(fcinfo, DPERM_LABEL_TWO);
	double		sign = dperm_label_read(label, PG_GETARG_DATUM(0), PG_ARGISNULL(0));

	if (!dperm_label_has(label, sign))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sign > 0);
}

/*
 * dperm_label_class(value "any", classes text[]): the number of a label's class,
 * as a number of double precision, NULL for none.
 */
Datum
dperm_label_class(PG_FUNCTION_ARGS)
{
	const DpermLabel *label = cached_label(fcinfo, DPERM_LABEL_SEVERAL);
	double		number = dperm_label_read(label, PG_GETARG_DATUM(0), PG_ARGISNULL(0));

	if (!dperm_label_has(label, number))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(number);
}

/*
 * dperm_label_number(value "any"): a label as a number of double precision,
 * NULL for none. Its bounds are in the request of the pass. STRICT.
 */
Datum
dperm_label_number(PG_FUNCTION_ARGS)
{
	DpermReaderKind *kind = fcinfo->flinfo->fn_extra;
	double		number;

	if (kind == NULL)
	{
		kind = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(*kind));
		*kind = number_reader(get_fn_expr_argtype(fcinfo->flinfo, 0));
		fcinfo->flinfo->fn_extra = kind;
	}
	number = number_of_datum(*kind, PG_GETARG_DATUM(0));
	if (isnan(number))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(number);
}
