/*
 * label.c: read the value of a label column; the classes of a model by name.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
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

/*
 * The domain of labels of a type, as bytes for dperm_label: kind, the encoding of
 * its texts, the type if it is the same on all servers (numbers of all types are
 * read alike), bounds, values.
 */
bytea *
dperm_label_domain_bytes(const DpermLabels *labels, Oid type)
{
	const char *classes = NULL;
	int			count = labels->kind == DPERM_LABEL_NUMBER ? 0 :
		dperm_label_listed(labels, &classes);
	size_t		size = dperm_classes_size(classes, count);
	StringInfoData bytes;

	pq_begintypsend(&bytes);
	pq_sendbyte(&bytes, labels->kind);
	pq_sendbyte(&bytes, dperm_reader_encoding(classes, (int) size));
	pq_sendint32(&bytes, labels->kind == DPERM_LABEL_NUMBER ? InvalidOid :
				 dperm_reader_common_type(type));
	pq_sendfloat8(&bytes, labels->low);
	pq_sendfloat8(&bytes, labels->high);
	pq_sendint32(&bytes, count);
	pq_sendbytes(&bytes, classes, (int) size);
	return pq_endtypsend(&bytes);
}

/* The reader of labels of a type for a domain that anybody can have written. */
static void
init_from_bytes(DpermLabel *label, Oid type, bytea *domain)
{
	DpermLabels labels = {0};
	StringInfoData in;
	int			encoding;
	Oid			expected;
	int			count;
	char	   *classes;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(domain), VARSIZE_ANY_EXHDR(domain));
	labels.kind = (DpermLabelKind) pq_getmsgbyte(&in);
	encoding = pq_getmsgbyte(&in);
	expected = pq_getmsgint(&in, 4);
	labels.low = pq_getmsgfloat8(&in);
	labels.high = pq_getmsgfloat8(&in);
	count = (int) pq_getmsgint(&in, 4);
	classes = in.data + in.cursor;
	if (labels.kind > DPERM_LABEL_SEVERAL || count < 0 ||
		!dperm_reader_text_fits(classes, in.len - in.cursor, encoding) ||
		(labels.kind == DPERM_LABEL_SEVERAL ?
		 dperm_classes_fault(classes, in.len - in.cursor, count) != NULL :
		 count > (labels.kind == DPERM_LABEL_TWO) ||
		 (size_t) (in.len - in.cursor) != (count ? strlen(classes) + 1 : 0)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid domain of labels")));
	dperm_reader_check_encoding(encoding);
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of a label");
	if (OidIsValid(expected) && expected != getBaseType(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the columns of a pass do not match its request"),
				 errhint("The columns of a foreign table must have the types that they have on "
						 "its server.")));
	if (labels.kind == DPERM_LABEL_SEVERAL)
		labels.classes = classes;
	else if (count > 0)
		labels.positive = classes;
	labels.class_count = count;
	dperm_label_init(label, type, &labels);
}

/* What dperm_label keeps between rows. */
typedef struct LabelCache
{
	MemoryContext context;		/* of all below */
	bytea	   *domain;			/* what the reader was built for */
	DpermLabel	label;
} LabelCache;

/*
 * dperm_label(value "any", domain bytea): a label as rows have it, NULL for none.
 * Its type is known, whatever server calls it. The reader is rebuilt only for
 * another domain. It is declared as immutable, as functions sent to foreign
 * servers must be, although what an enum means is in the catalog: nothing is
 * computed before there is a row.
 */
Datum
dperm_label(PG_FUNCTION_ARGS)
{
	LabelCache *cache = fcinfo->flinfo->fn_extra;
	MemoryContext caller;
	double		label;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (cache == NULL ||
		!datum_image_eq(PG_GETARG_DATUM(1), PointerGetDatum(cache->domain), false, -1))
	{
		MemoryContext context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dperm_label",
													  ALLOCSET_SMALL_SIZES);

		fcinfo->flinfo->fn_extra = NULL;
		if (cache)
			MemoryContextDelete(cache->context);
		caller = MemoryContextSwitchTo(context);
		cache = palloc0(sizeof(*cache));
		cache->context = context;
		cache->domain = PG_GETARG_BYTEA_P_COPY(1);
		init_from_bytes(&cache->label, get_fn_expr_argtype(fcinfo->flinfo, 0), cache->domain);
		MemoryContextSwitchTo(caller);
		fcinfo->flinfo->fn_extra = cache;
	}
	label = dperm_label_read(&cache->label, PG_GETARG_DATUM(0), PG_ARGISNULL(0));
	if (!dperm_label_has(&cache->label, label))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(label);
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
