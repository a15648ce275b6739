/*
 * label.c: read the value of a label column; the classes of a model by name.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "base/message.h"
#include "column/domains.h"
#include "column/label.h"
#include "column/reader.h"
#include "core/base/classes.h"

PG_FUNCTION_INFO_V1(dperm_label);
PG_FUNCTION_INFO_V1(dperm_label_class);
PG_FUNCTION_INFO_V1(dperm_label_number);

/* Bytes of the names of classes in a message. */
#define NAMES_SHOWN 200

/* A value that has no class, and no label. */
#define NO_CLASS (-1)

/* A value, so that equal ones have equal bytes. */
typedef struct Key
{
	DpermText	text;			/* bits, or those of a text or of a numeric as text */
	int64		bits;			/* of a number; the OID of an enum */
	int			sign;			/* is a number above zero, or a boolean true? */
} Key;

/*
 * Is a type stored and compared as text? Raises an error for one that cannot be
 * a label of classes.
 */
static bool
is_textual(Oid type)
{
	Oid			base = getBaseType(type);
	DpermBlockKind kind;

	if (base != NAMEOID && dperm_domain_types_is_text(base))
		return true;
	if (get_typtype(base) != TYPTYPE_ENUM &&
		(!dperm_domain_types_kind(base, &kind) ||
		 (kind != DPERM_BLOCK_NUMBER && kind != DPERM_BLOCK_FLAG)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a label cannot be of type %s", format_type_be(type)),
				 errhint("Use a boolean, a number, text or an enum, or convert the label in a "
						 "view.")));
	return false;
}

/* Make the key of a double; false for NaN. */
static bool
set_real(Key *key, double value)
{
	value += 0.0;				/* -0 equals 0 */
	memcpy(&key->bits, &value, sizeof(value));
	key->sign = value > 0;
	return !isnan(value);
}

/* Make the key of a value that is not too large, nor toasted; false for NaN. */
static bool
set_key(Key *key, const DpermLabel *label, Datum value)
{
	*key = (Key) {.text = {(char *) &key->bits, sizeof(key->bits)}};
	if (label->textual)
	{
		key->text.bytes = VARDATA_ANY(DatumGetPointer(value));
		key->text.len = dperm_category_length(label->type == BPCHAROID, key->text.bytes,
											  VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
		return true;
	}
	switch (label->type)
	{
		case FLOAT4OID:
			return set_real(key, DatumGetFloat4(value));
		case FLOAT8OID:
			return set_real(key, DatumGetFloat8(value));
		case NUMERICOID:
			key->text.bytes = numeric_normalize(DatumGetNumeric(value));
			key->text.len = strlen(key->text.bytes);
			key->sign = key->text.bytes[0] != '-' && strcmp(key->text.bytes, "0") != 0;
			return strcmp(key->text.bytes, "NaN") != 0;
		case BOOLOID:
			key->bits = DatumGetBool(value);
			break;
		case INT2OID:
			key->bits = DatumGetInt16(value);
			break;
		case INT4OID:
			key->bits = DatumGetInt32(value);
			break;
		case INT8OID:
			key->bits = DatumGetInt64(value);
			break;
		default:				/* an enum */
			key->bits = DatumGetObjectId(value);
	}
	key->sign = key->bits > 0;
	return true;
}

/* The class of a value: its number, 0 if it is none of them, or NO_CLASS. */
static int
find_class(const DpermLabel *label, Datum value)
{
	bool		stored = label->textual || label->type == NUMERICOID;
	Key			key;

	/* a text that is too large is another value; no number is that large */
	if (label->textual && dperm_reader_too_large(value, false))
		return 0;
	if (stored)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	if (!set_key(&key, label, value))
		return NO_CLASS;
	if (!label->listed)
		return key.sign;
	return dperm_reader_find(&label->values, key.text.bytes, key.text.len) + 1;
}

/* A hint about the values of classes, for ereport(). */
int
dperm_label_hint(const DpermLabel *label)
{
	return label->kind == DPERM_LABEL_SEVERAL ?
		errhint("classes must be values of the label column, as text.") :
		errhint("positive must be one of the values of the label column, as text.");
}

/* A value as a datum, with a type modifier, or -1. */
static Datum
value_of(const DpermLabel *label, const char *text, int32 typmod)
{
	Datum		value;
	char	   *why;

	if (!dperm_domain_types_input(label->type, typmod, text, &value, &why))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", why),
				 dperm_label_hint(label)));
	return value;
}

/* Prepare to find values among classes. */
static void
init_listed(DpermLabel *label, const char *classes, int count)
{
	Key		   *keys = palloc(sizeof(Key) * count);
	DpermText  *texts = palloc(sizeof(DpermText) * count);
	const char *class = classes;

	for (int i = 0; i < count; i++, class += strlen(class) + 1)
	{
		/* a class may be NaN, which no value that is looked for is */
		(void) set_key(&keys[i], label, label->textual ? CStringGetTextDatum(class) :
					   value_of(label, class, -1));
		texts[i] = keys[i].text;
	}
	label->listed = true;
	label->values = dperm_reader_index(texts, count);
	for (int i = 0; i < count; i++)
		if (dperm_reader_find(&label->values, texts[i].bytes, texts[i].len) != i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("class \"%s\" appears twice",
							dperm_message_clip(dperm_classes_value(classes, i + 1),
											   DPERM_LABEL_VALUE_SHOWN))));
}

/* Prepare to read classes. */
static void
init_classes(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	const char *classes;
	int			count = dperm_label_listed(labels, &classes);

	label->textual = is_textual(type);
	if (labels->kind == DPERM_LABEL_SEVERAL && label->type == BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a label of type %s has two classes", format_type_be(type)),
				 errhint("Omit classes.")));
	if (labels->positive && strlen(labels->positive) > DPERM_VALUE_MAX - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("positive is longer than %d bytes", DPERM_VALUE_MAX - VARHDRSZ),
				 errhint("Longer values are ignored; shorten them in a view.")));
	if (classes == NULL && (label->textual || get_typtype(label->type) == TYPTYPE_ENUM))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a label of type %s requires a positive value", format_type_be(type)),
				 errhint("Specify the value of the positive class, as in positive => 'yes'; "
						 "or, for a logistic regression of several classes, all of them, as "
						 "in domains => '{\"kind\": [\"a\", \"b\", \"c\"]}'.")));
	if (classes)
		init_listed(label, classes, count);
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
				 errhint("Specify them as an option of the aggregate, as in '{\"bounds\": [0, "
						 "120]}'.")));
	label->low = labels->low;
	label->high = labels->high;
}

/*
 * Prepare to read labels of a type; raises an error for a type that cannot be a
 * label of this kind, for a text without a positive value, for a positive value
 * or a class that the type does not accept, and for a number without bounds.
 */
void
dperm_label_init(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	*label = (DpermLabel) {.kind = labels->kind, .type = getBaseType(type)};
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number(label, type, labels);
	else
		init_classes(label, type, labels);
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

/* The label as a row holds it; may allocate in the current memory context. */
double
dperm_label_read(const DpermLabel *label, Datum value, bool isnull)
{
	double		number;
	int			class;

	if (isnull)
		return dperm_label_kind_none(label->kind);
	if (label->kind == DPERM_LABEL_NUMBER)
	{
		number = dperm_reader_number(label->reader, value);
		return isnan(number) ? dperm_label_kind_none(label->kind) :
							   dperm_block_between(number, label->low, label->high);
	}
	class = find_class(label, value);
	if (class == NO_CLASS)
		return 0;
	return label->kind == DPERM_LABEL_SEVERAL ? class : class > 0 ? 1 : -1;
}

/*
 * The label of a value as text, with a type modifier, or -1; raises an error for
 * one that the type does not accept.
 */
double
dperm_label_read_text(const DpermLabel *label, const char *text, int32 typmod)
{
	return dperm_label_read(label, value_of(label, text, typmod), false);
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
	if (PG_ARGISNULL(1) || cache->domain == NULL)
		return PG_ARGISNULL(1) && cache->domain == NULL;
	return datum_image_eq(PG_GETARG_DATUM(1), PointerGetDatum(cache->domain), false, -1);
}

/* The domain that the second argument is. */
static DpermLabels
labels_of(DpermLabelKind kind, struct varlena *domain)
{
	DpermLabels labels = {.kind = kind};
	StringInfoData classes;
	Datum	   *elements;

	if (kind == DPERM_LABEL_TWO)
	{
		labels.positive = domain ? text_to_cstring((text *) domain) : NULL;
		return labels;
	}
	if (domain == NULL)
		elog(ERROR, "a label has no classes");
	deconstruct_array((ArrayType *) domain, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  &labels.class_count);
	initStringInfo(&classes);
	for (int i = 0; i < labels.class_count; i++)
	{
		char	   *class = TextDatumGetCString(elements[i]);

		appendBinaryStringInfo(&classes, class, strlen(class) + 1);
	}
	labels.classes = classes.data;
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
	number = dperm_reader_number(*kind, PG_GETARG_DATUM(0));
	if (isnan(number))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(number);
}

/* The name of a class. */
const char *
dperm_label_class_name(const DpermModel *model, int number)
{
	return dperm_classes_value(model->classes.bytes, number);
}

/* The names of all classes, or the first of them if they are long. */
static char *
class_names(const DpermModel *model)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 1; i <= dperm_model_names(model) && list.len <= NAMES_SHOWN; i++)
		appendStringInfo(&list, "%s\"%s\"", i > 1 ? ", " : "", dperm_label_class_name(model, i));
	return dperm_message_clip(list.data, NAMES_SHOWN);
}

/*
 * The number of a class of a model by its name, from 1 on. A model of several
 * classes needs a name; any other has one set of weights, number 1, and needs
 * NULL.
 */
int
dperm_label_choose_class(const DpermModel *model, const char *name)
{
	bool		several = dperm_model_label(model) == DPERM_LABEL_SEVERAL;
	int			number = 1;

	if (!several && name)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a class can only be specified for a model of several classes"),
				 errhint("Omit class.")));
	if (several && name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the model has several classes"),
				 errdetail("They are %s.", class_names(model)),
				 errhint("Specify one of them, as in class => '%s'.",
						 dperm_message_clip(dperm_label_class_name(model, 1), NAMES_SHOWN))));
	if (several)
		number = dperm_classes_find(model->classes.bytes, model->loss.classes, name);
	if (number == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the model has no class \"%s\"", dperm_message_clip(name, NAMES_SHOWN)),
				 errdetail("Its classes are %s.", class_names(model))));
	return number;
}
