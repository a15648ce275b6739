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
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "column/datum_values.h"
#include "column/domain_types.h"
#include "column/label.h"
#include "column/reader.h"

PG_FUNCTION_INFO_V1(dperm_label);
PG_FUNCTION_INFO_V1(dperm_label_number);

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
static bool
is_textual(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(type, &category, &preferred);
	return category == TYPCATEGORY_STRING && get_typlen(type) == -1;
}

/*
 * A positive value that the label's type does not accept is an error in the
 * call.
 */
static void
positive_hint(void *arg)
{
	errhint("positive must be one of the values of the label column, as text.");
}

/* A positive value as a datum, with a type modifier, or -1. */
Datum
dperm_label_value(const DpermLabel *label, const char *positive, int32 typmod)
{
	ErrorContextCallback hint = {
		.previous = error_context_stack,
		.callback = positive_hint
	};
	Oid			input,
				ioparam;
	Datum		value;

	getTypeInputInfo(label->type, &input, &ioparam);
	error_context_stack = &hint;
	value = OidInputFunctionCall(input, pstrdup(positive), ioparam, typmod);
	error_context_stack = hint.previous;
	return value;
}

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
				 errhint("Specify them, as in bounds => '{0,120}', or as an option of an "
						 "aggregate, as in '{\"bounds\": [0, 120]}'.")));
	label->low = labels->low;
	label->high = labels->high;
}

/* Prepare to read two classes. */
static void
init_two(DpermLabel *label, Oid type, const char *positive)
{
	label->textual = is_textual(label->type);
	label->padded = label->type == BPCHAROID;
	label->compare = positive != NULL;

	if (!label->textual && !is_plain(label->type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a label cannot be of type %s", format_type_be(type)),
				 errhint("Use a boolean, a number, text or an enum, or convert the label in a "
						 "view.")));
	if (positive && strlen(positive) > DPERM_VALUE_MAX - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("positive is longer than %d bytes", DPERM_VALUE_MAX - VARHDRSZ),
				 errhint("Longer values are ignored; shorten them in a view.")));
	if (!positive)
	{
		if (label->textual || get_typtype(label->type) == TYPTYPE_ENUM)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a label of type %s requires a positive value", format_type_be(type)),
					 errhint("Specify the value of the positive class, as in positive => 'yes'.")));
		return;
	}
	if (label->textual)
	{
		label->bytes = pstrdup(positive);
		label->bytes_len = dperm_category_length(label->padded, positive, strlen(positive));
	}
	else
		label->value = dperm_label_value(label, positive, -1);
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
	else
		init_two(label, type, labels->positive);
}

/* Raise an error if a type is not that of the labels. */
void
dperm_label_check(const DpermLabel *label, Oid type)
{
	if (getBaseType(type) != label->type)
		elog(ERROR, "a query over the rows has a label of another type");
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
	return kind == DPERM_READ_NUMERIC && dperm_datum_values_too_large(value, false) ?
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
		if (dperm_datum_values_too_large(value, false))
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
	number = number_of_datum(label->reader, value);
	return isnan(number) ? dperm_label_kind_none(label->kind) :
						   dperm_block_between(number, label->low, label->high);
}

/* What dperm_label keeps between rows. */
typedef struct LabelCache
{
	MemoryContext context;		/* of all below */
	text	   *positive;		/* what the reader was built for; NULL for none */
	DpermLabel	label;
} LabelCache;

/* Is the cached reader for this positive value? */
static bool
same_positive(const LabelCache *cache, FunctionCallInfo fcinfo)
{
	text	   *now;

	if (PG_ARGISNULL(1) || cache->positive == NULL)
		return PG_ARGISNULL(1) && cache->positive == NULL;
	now = PG_GETARG_TEXT_PP(1);
	return VARSIZE_ANY_EXHDR(now) == VARSIZE_ANY_EXHDR(cache->positive) &&
		memcmp(VARDATA_ANY(now), VARDATA_ANY(cache->positive), VARSIZE_ANY_EXHDR(now)) == 0;
}

/*
 * The reader for the arguments of dperm_label, rebuilt only for a different
 * positive value.
 */
static const DpermLabel *
cached_label(FunctionCallInfo fcinfo)
{
	LabelCache *cache = fcinfo->flinfo->fn_extra;
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	MemoryContext context,
				caller;

	if (cache && same_positive(cache, fcinfo))
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
		cache->positive = PG_GETARG_TEXT_P_COPY(1);
	dperm_label_init(
		&cache->label, type,
		&(DpermLabels) {.positive = cache->positive ? text_to_cstring(cache->positive) : NULL});
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
	const DpermLabel *label = cached_label(fcinfo);
	double		sign = dperm_label_read(label, PG_GETARG_DATUM(0), PG_ARGISNULL(0));

	if (!dperm_label_has(label, sign))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sign > 0);
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
