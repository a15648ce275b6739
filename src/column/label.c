/*
 * label.c: read the value of a label column; what the domain of a label says: its
 * bounds, its classes, or which value is positive; and the classes of a model by name.
 * Trusted.
 *
 * A mistake that a list of values or a type shows is refused here, before anything is
 * charged. Any other is charged.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "column/column.h"

PG_FUNCTION_INFO_V1(dperm_label);

/* Bytes of a value, of the names of classes, and of a domain in a message. */
#define VALUE_SHOWN 100
#define NAMES_SHOWN 200
#define DOMAIN_SHOWN 300

/* A value that has no class, and no label. */
#define NO_CLASS (-1)

/* A value, so that equal ones have equal bytes. */
typedef struct Key
{
	DpermText	text;			/* those of a text, or of number */
	double		number;			/* or a boolean, or the OID of an enum */
} Key;

/* Are values stored and compared as texts? */
static bool
is_textual(const DpermLabel *label)
{
	return label->reader == DPERM_READ_TEXT || label->reader == DPERM_READ_BPCHAR;
}

/* Make the key of a value that is not too large, nor toasted if it is a text; false for NaN. */
static bool
set_key(Key *key, const DpermLabel *label, Datum value)
{
	if (is_textual(label))
	{
		key->number = 0;
		key->text.bytes = VARDATA_ANY(DatumGetPointer(value));
		key->text.len = dperm_category_length(label->type == BPCHAROID, key->text.bytes,
											  VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
		return true;
	}
	key->number = label->reader == DPERM_READ_ENUM ? DatumGetObjectId(value) :
		dperm_reader_number(label->reader, value) + 0.0;	/* -0 equals 0 */
	/* a numeric that is too small for a double has its sign */
	if (key->number == 0 && label->reader == DPERM_READ_NUMERIC)
		key->number = DBL_TRUE_MIN *
			DatumGetFloat8(DirectFunctionCall1(numeric_float8,
											   DirectFunctionCall1(numeric_sign, value)));
	key->text = (DpermText) {(char *) &key->number, sizeof(key->number)};
	return !isnan(key->number);
}

/* The class of a value: its number, 0 if it is none of them, or NO_CLASS. */
static int
find_class(const DpermLabel *label, Datum value)
{
	Key			key;

	if (is_textual(label))
	{
		/* a text that is too large is another value */
		if (dperm_reader_too_large(value, false))
			return 0;
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	}
	if (!set_key(&key, label, value))
		return NO_CLASS;
	if (!label->listed)
		return key.number > 0;
	return dperm_reader_find(label->values, key.text.bytes, key.text.len) + 1;
}

/* A hint about the values of classes, for ereport(). */
static int
value_hint(const DpermLabel *label)
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

	if (!dperm_column_input(label->type, typmod, text, &value, &why))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", why),
				 value_hint(label)));
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
		(void) set_key(&keys[i], label, is_textual(label) ? CStringGetTextDatum(class) :
					   value_of(label, class, -1));
		texts[i] = keys[i].text;
	}
	label->listed = true;
	label->values = dperm_reader_index(texts, count);
	for (int i = 0; i < count; i++)
		if (dperm_reader_find(label->values, texts[i].bytes, texts[i].len) != i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("class \"%s\" appears twice",
							dperm_message_clip(dperm_classes_value(classes, i + 1),
											   VALUE_SHOWN))));
}

/* The classes that values are compared with, and how many they are (core/base/core.h). */
static int
classes_of(const DpermLabels *labels, const char **classes)
{
	bool		several = labels->kind == DPERM_LABEL_SEVERAL;

	*classes = several ? labels->classes : labels->positive;
	return several ? labels->class_count : *classes != NULL;
}

/* Prepare to read classes. */
static void
init_classes(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	DpermBlockKind kind = dperm_reader_kind_block(label->reader);
	const char *classes;
	int			count = classes_of(labels, &classes);

	if (label->reader == DPERM_READ_NONE || label->reader == DPERM_READ_OUTPUT ||
		(kind != DPERM_BLOCK_CATEGORY && kind != DPERM_BLOCK_NUMBER && kind != DPERM_BLOCK_FLAG))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a label cannot be of type %s", format_type_be(type)),
				 errhint("Use a boolean, a number, text or an enum, or convert the label in a "
						 "view.")));
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
	if (classes == NULL && kind == DPERM_BLOCK_CATEGORY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a label of type %s requires a positive value", format_type_be(type)),
				 errhint("Specify the value of the positive class, as in positive => 'yes'; "
						 "or, for a logistic regression of several classes, all of them, as "
						 "in domains => '{\"kind\": [\"a\", \"b\", \"c\"]}'.")));
	if (classes)
		init_listed(label, classes, count);
}

/* Prepare to read numbers. */
static void
init_number(DpermLabel *label, Oid type, const DpermLabels *labels)
{
	if (label->reader == DPERM_READ_NONE ||
		dperm_reader_kind_block(label->reader) != DPERM_BLOCK_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the label of a regression cannot be of type %s", format_type_be(type)),
				 errhint("Use a number, or convert the label in a view.")));
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
	*label = (DpermLabel) {
		.kind = labels->kind, .type = getBaseType(type), .reader = dperm_reader_kind_natural(type)
	};
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number(label, type, labels);
	else
		init_classes(label, type, labels);
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
							   2 * dperm_block_share(number, label->low, label->high) - 1;
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
static double
read_text(const DpermLabel *label, const char *text, int32 typmod)
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
		classes_of(labels, &classes);
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

/* Values that a domain lists, as the column shows them (core/base/core.h). */
typedef struct Values
{
	StringInfoData bytes;
	int			count;			/* 0: it lists none */
} Values;

/* Add a value to a list. */
static void
add_value(Values *values, const char *value)
{
	appendBinaryStringInfo(&values->bytes, value, strlen(value) + 1);
	values->count++;
}

/* The value with a number, from 1 on. */
static const char *
value_at(const Values *values, int number)
{
	return dperm_classes_value(values->bytes.data, number);
}

/* Is the domain of a column known as a range? */
static bool
has_range(const DpermColumn *column)
{
	return dperm_column_known(column) && column->block.kind == DPERM_BLOCK_NUMBER;
}

/*
 * The values that the domain of a column lists. A boolean and a range of two
 * integers are a list, too.
 */
static Values
listed_values(const DpermColumn *column)
{
	bool		categories = dperm_column_known(column) &&
		column->block.kind == DPERM_BLOCK_CATEGORY;
	const DpermText *texts = categories ? column->block.categories : column->values;
	int			count = categories ? column->block.count : column->value_count;
	double		low = column->block.low;
	double		high = column->block.high;
	Values		values = {.count = 0};

	initStringInfo(&values.bytes);
	for (int i = 0; i < count; i++)
	{
		char	   *text = pnstrdup(texts[i].bytes, texts[i].len);
		double		number = categories ? 0 : strtod(text, NULL);

		/* bounds of an argument or a registration may leave some of the catalog's numbers */
		if (!categories && dperm_column_known(column) && (number < low || number > high))
			continue;
		/* lists have numbers of single precision as doubles */
		add_value(&values, column->base == FLOAT4OID ?
				  float_to_shortest_decimal((float) number) : text);
	}
	if (column->base == BOOLOID)
	{
		add_value(&values, "false");
		add_value(&values, "true");
	}
	else if (count == 0 && has_range(column) && high - low == 1 &&
			 dperm_column_is_integer(column->base))
	{
		add_value(&values, psprintf("%.0f", low));
		add_value(&values, psprintf("%.0f", high));
	}
	return values;
}

/* The domain, for people. */
static char *
shown(const DpermColumn *column, const Values *values)
{
	StringInfoData list;

	if (values->count == 0)
		return psprintf("from %g to %g", column->block.low, column->block.high);
	initStringInfo(&list);
	for (int i = 1; i <= values->count && list.len <= DOMAIN_SHOWN; i++)
	{
		appendStringInfoString(&list, i == 1 ? "[" : ", ");
		escape_json(&list, value_at(values, i));
	}
	appendStringInfoChar(&list, ']');
	return dperm_message_clip(list.data, DOMAIN_SHOWN);
}

/*
 * Raise for a positive value, or a class, that the label cannot have: one that is more
 * precise than the type of the column allows, or that is not in the list or the range
 * of its domain, if there is one.
 */
static void
check_values(const DpermLabel *label, const DpermColumn *column, const Values *values,
			 const DpermLabels *labels)
{
	const char *value;
	int			count = classes_of(labels, &value);
	bool	   *found = palloc0(sizeof(bool) * (count + 1));

	/* without a list there is nothing to look for, and what is read is a sign */
	if (count > 0)
		for (int i = 1; i <= values->count; i++)
			found[(int) Max(read_text(label, value_at(values, i), -1), 0)] = true;
	for (int i = 1; i <= count; i++, value += strlen(value) + 1)
	{
		double		number = has_range(column) ? strtod(value, NULL) : 0;
		char	   *shown_value = dperm_message_clip(value, VALUE_SHOWN);

		if (read_text(label, value, column->typmod) != i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" cannot be \"%s\"", column->name, shown_value),
					 errdetail("Its type is %s.",
							   format_type_with_typemod(column->base, column->typmod)),
					 value_hint(label)));
		if (values->count > 0 ? !found[i] : has_range(column) &&
			!(number >= column->block.low && number <= column->block.high))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s \"%s\" is not in the domain of label \"%s\"",
							labels->kind == DPERM_LABEL_SEVERAL ? "class" : "positive value",
							shown_value, column->name),
					 errhint("Use a value of the domain, which is %s.", shown(column, values))));
	}
}

/* Raise for categories that the caller gives a label if its domain does not have them. */
void
dperm_label_domain_check(const DpermColumn *column, const DpermBlock *categories)
{
	DpermColumn given = *column;
	DpermLabels labels = {.kind = DPERM_LABEL_SEVERAL};
	DpermLabel	label;
	Values		classes,
				values = listed_values(column);

	given.block = *categories;
	given.from = DPERM_DOMAIN_GIVEN;
	classes = listed_values(&given);
	labels.classes = classes.bytes.data;
	labels.class_count = classes.count;
	dperm_label_init(&label, column->type, &labels);
	check_values(&label, column, &values, &labels);
}

/* How to read numbers: bounds that are not specified are those of the domain. */
static void
init_number_of(DpermLabel *label, const DpermColumn *column, DpermLabels *labels)
{
	bool		specified = labels->low < labels->high;

	if (!specified && has_range(column))
	{
		labels->low = column->block.low;
		labels->high = column->block.high;
	}
	else if (!specified && column->block.kind == DPERM_BLOCK_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bounds of label \"%s\" are not known", column->name),
				 errdetail("They are never read from rows."),
				 errhint("Specify them, as in domains => %s, or declare them, as in CHECK "
						 "(%s BETWEEN 0 AND 120).", dperm_domain_json_example(column),
						 quote_identifier(column->name))));
	dperm_label_init(label, column->type, labels);
}

/*
 * Is a label without a positive value a number that nothing is known about? One
 * that may be any but 0 and 1, or -1 and 1, by its domain, is refused.
 */
static bool
is_any_number(const DpermLabel *label, const DpermColumn *column, const Values *values,
			  bool protected)
{
	bool		two = values->count == 2;
	double		one = two ? strtod(value_at(values, 1), NULL) : 0;
	double		other = two ? strtod(value_at(values, 2), NULL) : 0;

	if (dperm_reader_kind_block(label->reader) != DPERM_BLOCK_NUMBER)
		return false;
	if (!protected && !dperm_column_known(column))
		return true;
	if (Max(one, other) != 1 || (Min(one, other) != 0 && Min(one, other) != -1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" of type %s requires a positive value, unless its domain "
						"allows only 0 and 1, or -1 and 1",
						column->name, format_type_be(column->type)),
				 errhint("Specify the value of the positive class, as in positive => '1'; for a "
						 "quantity, use dp_linreg_train().")));
	return false;
}

/* The names of two classes, if the domain has them: that of the negative one first. */
static void
name_two(const DpermLabel *label, const Values *values, DpermLabels *labels)
{
	Values		names = {.count = 0};
	int			positive;

	if (values->count != 2)
		return;
	positive = read_text(label, value_at(values, 1), -1) > 0 ? 1 : 2;
	initStringInfo(&names.bytes);
	add_value(&names, value_at(values, 3 - positive));
	add_value(&names, value_at(values, positive));
	if (names.bytes.len > DPERM_CLASSES_BYTES)
		return;
	labels->classes = names.bytes.data;
	labels->class_count = names.count;
}

/* Raise for a list that cannot be that of several classes. */
static void
check_several(const DpermLabels *labels)
{
	int			count = labels->class_count;

	if (count < DPERM_CLASSES_MIN || count > DPERM_CLASSES_MAX ||
		dperm_classes_size(labels->classes, count) > DPERM_CLASSES_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes must be %d to %d values, of %d bytes together at most",
						DPERM_CLASSES_MIN, DPERM_CLASSES_MAX,
						DPERM_CLASSES_BYTES - DPERM_CLASSES_MAX),
				 errhint("For two classes, specify the positive one, as in positive => 'yes'. Rare "
						 "values need no class of their own: rows with a label that is not listed "
						 "add nothing.")));
}

/*
 * A domain that lists more than two values is that of several classes, unless
 * the caller names the positive one.
 */
static void
choose_several(const Values *values, bool may_be_several, DpermLabels *labels)
{
	if (may_be_several && labels->kind == DPERM_LABEL_TWO && !labels->positive &&
		values->count >= DPERM_CLASSES_MIN)
	{
		labels->kind = DPERM_LABEL_SEVERAL;
		labels->classes = values->bytes.data;
		labels->class_count = values->count;
	}
	if (labels->kind == DPERM_LABEL_SEVERAL)
		check_several(labels);
}

/*
 * How to read the labels of a column, as dperm_label_init() does. Here it is
 * decided whether labels are of two classes or of several, if they may be of
 * several: they are, if the domain lists more than two values and none of them
 * is the positive one. Bounds, classes and names of two classes that labels does
 * not have are set to those of the domain.
 *
 * Raises, too, for a positive value or a class that is not in the list of the
 * domain, if there is one, and for a list of a single value. A number of two
 * classes without a positive value must be 0 or 1, or -1 or 1, by its domain: an
 * amount of money would train "above 0". Only if it has no domain, and its
 * relation is not protected, it may be any; then true is returned.
 */
bool
dperm_label_domain_init(DpermLabel *label, const DpermColumn *column, bool may_be_several,
						bool protected, DpermLabels *labels)
{
	Values		values = listed_values(column);
	bool		any_number = false;

	if (values.count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain of label \"%s\" has a single value", column->name),
				 errhint("Use a label that has two values or more.")));
	choose_several(&values, may_be_several, labels);
	if (labels->kind == DPERM_LABEL_NUMBER)
	{
		init_number_of(label, column, labels);
		return false;
	}
	dperm_label_init(label, column->type, labels);
	check_values(label, column, &values, labels);
	if (labels->kind == DPERM_LABEL_TWO && !labels->positive)
		any_number = is_any_number(label, column, &values, protected);
	if (labels->kind == DPERM_LABEL_TWO)
		name_two(label, &values, labels);
	return any_number;
}

/* The same for labels of a type that are no column: of enums, the type is the domain. */
void
dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
							 DpermLabels *labels)
{
	DpermColumn column = {.name = "label",
						  .type = type,
						  .base = getBaseType(type),
						  .typmod = -1,
						  .block = {.kind = DPERM_BLOCK_CATEGORY}};

	if (get_typtype(column.base) == TYPTYPE_ENUM)
		dperm_domains_declared(InvalidOid, &column, 0);
	(void) dperm_label_domain_init(label, &column, may_be_several, false, labels);
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
