/*
 * label_domain.c: what the domain of a label says: its bounds, its classes, or
 * which value is positive.
 *
 * A mistake that a list of values or a type shows is refused here, before
 * anything is charged. Any other is charged.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "base/message.h"
#include "column/domains.h"
#include "column/label.h"
#include "core/base/classes.h"
#include "core/base/core.h"

/* Bytes of a domain in a message. */
#define DOMAIN_SHOWN 300

/* Values that a domain lists, as the column shows them (core/base/classes.h). */
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
			 dperm_domain_types_is_integer(column->base))
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
 * Raise for a positive value, or a class, that the type of the label does not
 * have: one that is more precise than its type modifier allows, or that is no
 * number. label is as it is read otherwise.
 */
static void
check_type(const DpermLabel *label, const DpermColumn *column, const DpermLabels *labels)
{
	const char *value;
	int			count = dperm_label_listed(labels, &value);

	for (int i = 1; i <= count; i++, value += strlen(value) + 1)
		if (dperm_label_read_text(label, value, column->typmod) != i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" cannot be \"%s\"", column->name,
							dperm_message_clip(value, DPERM_LABEL_VALUE_SHOWN)),
					 errdetail("Its type is %s.",
							   format_type_with_typemod(column->base, column->typmod)),
					 dperm_label_hint(label)));
}

/*
 * Raise for a positive value, or a class, that is not in the list or the range of
 * the domain, if there is one.
 */
static void
check_listed(const DpermLabel *label, const DpermColumn *column, const Values *values,
			 const DpermLabels *labels)
{
	const char *value;
	int			count = dperm_label_listed(labels, &value);
	bool	   *found = palloc0(sizeof(bool) * (count + 1));

	/* without a list there is nothing to look for, and what is read is a sign */
	for (int i = 1; count > 0 && i <= values->count; i++)
		found[(int) Max(dperm_label_read_text(label, value_at(values, i), -1), 0)] = true;
	for (int i = 1; i <= count; i++, value += strlen(value) + 1)
	{
		double		number = has_range(column) ? strtod(value, NULL) : 0;

		if (values->count > 0 ? !found[i] : has_range(column) &&
			!(number >= column->block.low && number <= column->block.high))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s \"%s\" is not in the domain of label \"%s\"",
							labels->kind == DPERM_LABEL_SEVERAL ? "class" : "positive value",
							dperm_message_clip(value, DPERM_LABEL_VALUE_SHOWN), column->name),
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
	check_listed(&label, column, &values, &labels);
}

/* Raise for a domain of the caller that is not that of the prior. */
static _Noreturn void
refuse_other_domain(const DpermColumn *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the domain of label \"%s\" differs from that of the prior", column->name),
			 errhint("Omit it to use that of the prior.")));
}

/* How to read numbers: bounds that are not specified are those of the domain. */
static void
init_number(DpermLabel *label, const DpermColumn *column, DpermLabels *labels)
{
	bool		specified = labels->low < labels->high;

	if (specified && column->from == DPERM_DOMAIN_GIVEN &&
		(labels->low != column->block.low || labels->high != column->block.high))
		refuse_other_domain(column);
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
is_any_number(const DpermColumn *column, const Values *values, bool protected)
{
	bool		two = values->count == 2;
	double		one = two ? strtod(value_at(values, 1), NULL) : 0;
	double		other = two ? strtod(value_at(values, 2), NULL) : 0;
	DpermBlockKind kind;

	if (!dperm_domain_types_kind(column->base, &kind) || kind != DPERM_BLOCK_NUMBER)
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
	positive = dperm_label_read_text(label, value_at(values, 1), -1) > 0 ? 1 : 2;
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
	if (labels->kind == DPERM_LABEL_SEVERAL && column->from == DPERM_DOMAIN_GIVEN &&
		(values.count != labels->class_count ||
		 !dperm_classes_same(values.bytes.data, labels->classes, values.count)))
		refuse_other_domain(column);
	choose_several(&values, may_be_several, labels);
	if (labels->kind == DPERM_LABEL_NUMBER)
	{
		init_number(label, column, labels);
		return false;
	}
	dperm_label_init(label, column->type, labels);
	check_type(label, column, labels);
	check_listed(label, column, &values, labels);
	if (labels->kind == DPERM_LABEL_TWO && !labels->positive)
		any_number = is_any_number(column, &values, protected);
	if (labels->kind == DPERM_LABEL_TWO)
		name_two(label, &values, labels);
	return any_number;
}

/* The same for labels of a type that are no column: of enums, the type is the domain. */
void
dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
							 DpermLabels *labels)
{
	DpermColumn column = {.type = type,
						  .base = getBaseType(type),
						  .typmod = -1,
						  .block = {.kind = DPERM_BLOCK_CATEGORY}};
	Values		values;

	if (get_typtype(column.base) == TYPTYPE_ENUM)
		dperm_domains_declared(InvalidOid, &column, 0);
	values = listed_values(&column);
	choose_several(&values, may_be_several, labels);
	dperm_label_init(label, type, labels);
	if (labels->kind == DPERM_LABEL_TWO)
		name_two(label, &values, labels);
}
