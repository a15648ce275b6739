/*
 * label_domain.c: the domain of a label column: its bounds, its classes, or
 * whether it allows both of two.
 *
 * What public knowledge can refuse is refused before anything is charged: a
 * model of one class alone is worth nothing.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/class_list.h"
#include "base/message.h"
#include "column/domain_catalog.h"
#include "column/domain_print.h"
#include "column/domain_types.h"
#include "column/label_domain.h"
#include "column/label_value.h"
#include "column/reader.h"
#include "core/base/classes.h"
#include "core/loss/loss.h"

/* Bytes of a domain in a message. */
#define DOMAIN_SHOWN 300

/* From here on, different numbers may be the same as doubles. */
#define EXACT_MAX 9007199254740992.0

/* Which classes a domain allows. */
typedef struct Classes
{
	bool		negative;
	bool		positive;
} Classes;

/* A value of a label as a datum. */
static Datum
datum_of(const DpermLabel *label, const char *text, int32 typmod)
{
	return dperm_label_value(label->type, text, typmod,
							 label->kind == DPERM_LABEL_SEVERAL ? "classes" : "positive");
}

/* The values that the domain of a column lists; *count is 0 if it lists none. */
static const DpermText *
listed_values(const DpermColumn *column, int *count)
{
	bool		listed = column->known && column->block.kind == DPERM_BLOCK_CATEGORY;

	*count = listed ? column->block.count : column->value_count;
	return listed ? column->block.categories : column->values;
}

/* The classes of a list of values. */
static Classes
classes_of_list(const DpermLabel *label, const DpermText *values, int count)
{
	Classes		classes = {false, false};

	for (int i = 0; i < count; i++)
	{
		char	   *text = pnstrdup(values[i].bytes, values[i].len);
		double		sign = dperm_label_read(label, datum_of(label, text, -1), false);

		classes.positive |= sign > 0;
		classes.negative |= sign < 0;
	}
	return classes;
}

/* The numbers that a type has within the bounds of a column. */
typedef struct Range
{
	DpermReaderKind kind;		/* of the type */
	double		low;
	double		high;
	bool		above;			/* is the lower bound excluded? */
	bool		below;
} Range;

static Range
range_of(const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	DpermReaderKind kind = dperm_reader_kind(column->type, DPERM_BLOCK_NUMBER);
	bool		declared = dperm_column_is_confined(column);
	double		least,
				largest;
	Range		range = {.kind = kind,
		.low = declared ? block->low : -INFINITY,
		.high = declared ? block->high : INFINITY};

	if (kind == DPERM_READ_INT2 || kind == DPERM_READ_INT4 || kind == DPERM_READ_INT8)
	{
		range.low = column->above ? floor(range.low) + 1 : ceil(range.low);
		range.high = column->below ? ceil(range.high) - 1 : floor(range.high);
	}
	if (kind == DPERM_READ_FLOAT4)
	{
		range.low = (float) range.low;
		range.high = (float) range.high;
	}
	dperm_domain_types_limits(column->base, column->typmod, &least, &largest);
	range.low = Max(range.low, least);
	range.high = Min(range.high, largest);

	/* a bound that has been rounded may be a value */
	range.above = column->above && range.low == block->low;
	range.below = column->below && range.high == block->high;
	return range;
}

/* Is a value in a range? */
static bool
range_has(const Range *range, Datum datum)
{
	double		value = dperm_reader_number(range->kind, datum);
	bool		exact = fabs(value) < EXACT_MAX;

	return (range->above && exact ? value > range->low : value >= range->low) &&
		   (range->below && exact ? value < range->high : value <= range->high);
}

/* The classes of the numbers within the bounds of a column. */
static Classes
classes_of_range(const DpermLabel *label, const DpermColumn *column)
{
	Range		range = range_of(column);

	if (!label->compare)
		return (Classes) {.negative = range.above ? range.low < 0 : range.low <= 0,
						  .positive = range.high > 0};
	return (Classes) {.negative = range.low < range.high || fabs(range.low) >= EXACT_MAX,
					  .positive = range_has(&range, label->value)};
}

/* The classes of a list of numbers; those that a type rounds are rounded. */
static Classes
classes_of_values(const DpermLabel *label, const DpermColumn *column)
{
	DpermReaderKind kind = dperm_reader_kind(label->type, DPERM_BLOCK_NUMBER);
	double		wanted = label->compare ? dperm_reader_number(kind, label->value) : 0;
	Classes		classes = {false, false};

	for (int i = 0; i < column->value_count; i++)
	{
		double		value = strtod(column->values[i].bytes, NULL);
		bool		positive;

		if (kind == DPERM_READ_FLOAT4)
			value = (float) value;
		positive = label->compare ? value == wanted : value > 0;
		classes.positive |= positive;
		classes.negative |= !positive;
	}
	return classes;
}

/* The classes of a column of numbers. */
static Classes
classes_of_numbers(const DpermLabel *label, const DpermColumn *column)
{
	Classes		range = classes_of_range(label, column);
	Classes		list;

	if (column->value_count == 0)
		return range;
	list = classes_of_values(label, column);
	return (Classes) {.negative = range.negative && list.negative,
					  .positive = range.positive && list.positive};
}

/* The domain of a column, for people; one bound alone is not a JSON domain. */
static char *
domain_shown(const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	StringInfoData domain;

	if (column->bounded && !column->known && !isfinite(block->high))
		return psprintf("all numbers %s %.15g", column->above ? "above" : "from", block->low);
	if (column->bounded && !column->known && !isfinite(block->low))
		return psprintf("all numbers %s %.15g", column->below ? "below" : "up to", block->high);
	initStringInfo(&domain);
	for (int i = 0; i < column->value_count; i++)
		appendStringInfo(&domain, "%s%s", i == 0 ? "[" : ", ", column->values[i].bytes);
	if (column->value_count > 0)
		appendStringInfoChar(&domain, ']');
	else
		dperm_domain_print(&domain, column);
	if (column->value_count == 0 && (column->above || column->below))
		appendStringInfo(&domain, " without its %s",
						 !column->below ? "lower bound" :
						 !column->above ? "upper bound" : "bounds");
	return dperm_message_clip(domain.data, DOMAIN_SHOWN);
}

/* Raise for a positive value, or a class, that is not in the domain. */
static _Noreturn void
refuse_value(const DpermColumn *column, const char *value, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" is not in the domain of label \"%s\"", what,
					dperm_message_clip(value, DPERM_LABEL_VALUE_SHOWN), column->name),
			 errhint("Use a value of the domain, which is %s.", domain_shown(column))));
}

/* Raise for a value that is none of an enum, which cannot read it. */
static void
check_enum_label(const DpermColumn *column, const char *value, const char *what)
{
	const DpermBlock *block = &column->block;

	for (int i = 0; i < block->count; i++)
		if (strcmp(block->categories[i].bytes, value) == 0)
			return;
	refuse_value(column, value, what);
}

/* Is a value longer than the type modifier of its column allows? */
static bool
is_too_long(const DpermColumn *column, const char *value)
{
	bool		limited = (column->base == VARCHAROID || column->base == BPCHAROID) &&
		column->typmod >= (int32) VARHDRSZ;
	int			len = dperm_category_length(column->base == BPCHAROID, value, strlen(value));

	return limited && pg_mbstrlen_with_len(value, len) > column->typmod - (int32) VARHDRSZ;
}

/*
 * Raise for a positive value, or a class, that the type of the label does not
 * have: one that is longer or more precise than its type modifier allows, or
 * that is no number. label is as it is read otherwise.
 */
static void
check_value(const DpermLabel *label, const DpermColumn *column, const char *value, double expected)
{
	if (is_too_long(column, value) ||
		dperm_label_read(label, datum_of(label, value, column->typmod), false) != expected)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" cannot be \"%s\"", column->name,
						dperm_message_clip(value, DPERM_LABEL_VALUE_SHOWN)),
				 errdetail("Its type is %s.",
						   format_type_with_typemod(column->base, column->typmod)),
				 label->kind == DPERM_LABEL_SEVERAL ?
				 errhint("classes must be values of the label column, as text.") :
				 errhint("positive must be one of the values of the label column, as text.")));
}

/*
 * Raise an error if all numbers that a column can have are the same between the
 * bounds, which they are clamped to.
 */
static void
check_numbers(const DpermColumn *column, const DpermLabels *labels)
{
	int			count;
	const DpermText *values = listed_values(column, &count);
	double		low = INFINITY;
	double		high = -INFINITY;
	const char *type;

	for (int i = 0; i < count; i++)
	{
		double		value = strtod(pnstrdup(values[i].bytes, values[i].len), NULL);

		if (isnan(value))
			continue;
		low = Min(low, value);
		high = Max(high, value);
	}
	if (count == 0 || column->loose)
	{
		Range		range = range_of(column);

		low = range.low;
		high = range.high;
	}
	if (Min(Max(low, labels->low), labels->high) < Min(Max(high, labels->low), labels->high))
		return;
	type = format_type_with_typemod(column->base, column->typmod);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("label \"%s\" is the same number in all rows that its domain allows",
					column->name),
			 column->known || column->bounded ?
			 errdetail("The type is %s, the domain is %s, and labels are clamped to the bounds "
					   "[%.15g, %.15g].", type, domain_shown(column), labels->low, labels->high) :
			 errdetail("The type is %s, and labels are clamped to the bounds [%.15g, %.15g].",
					   type, labels->low, labels->high),
			 errhint("Use a label that has several values between the bounds.")));
}

/* How to read numbers: bounds that are not specified are those of the domain. */
static void
init_number_label(DpermLabel *label, const DpermColumn *column, DpermLabels *labels)
{
	bool		known = column->known && column->block.kind == DPERM_BLOCK_NUMBER;
	bool		specified = labels->low < labels->high;

	if (specified && column->given &&
		(labels->low != column->block.low || labels->high != column->block.high))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bounds of label \"%s\" are specified twice", column->name),
				 errhint("Omit either bounds or the domain of the label.")));
	if (!specified && known)
	{
		labels->low = column->block.low;
		labels->high = column->block.high;
	}
	else if (!specified && column->usable && column->block.kind == DPERM_BLOCK_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bounds of label \"%s\" are not known", column->name),
				 errdetail("They are never read from rows."),
				 errhint("Specify them, as in bounds => '{0,120}', or declare them, as in CHECK "
						 "(%s BETWEEN 0 AND 120).", quote_identifier(column->name))));
	dperm_label_init(label, column->type, labels);
	check_numbers(column, labels);
}

/* How to read labels that may have both classes. */
static void
init_two_label(DpermLabel *label, const DpermColumn *column, const DpermLabels *labels)
{
	const char *positive = labels->positive;
	bool		listed = column->known && !column->loose &&
						 column->block.kind == DPERM_BLOCK_CATEGORY;
	Classes		classes = {true, true};

	if (listed && positive && get_typtype(column->base) == TYPTYPE_ENUM)
		check_enum_label(column, positive, "positive value");
	dperm_label_init(label, column->type, labels);
	if (positive)
		check_value(label, column, positive, 1);
	if (listed)
		classes = classes_of_list(label, column->block.categories, column->block.count);
	else if (dperm_column_is_confined(column) && column->block.kind == DPERM_BLOCK_NUMBER)
		classes = classes_of_numbers(label, column);
	if (positive && !classes.positive)
		refuse_value(column, positive, "positive value");
	if (classes.negative && classes.positive)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("label \"%s\" is %s in all rows that its domain allows", column->name,
					classes.positive ? "positive" : "negative"),
			 positive ? errdetail("The domain is %s.", domain_shown(column)) :
			 errdetail("A number above 0 is positive, and the domain is %s.",
					   domain_shown(column)),
			 positive ? errhint("Use a label that has two values.") :
			 errhint("Specify a value of the domain for the positive class, in positive.")));
}

/*
 * A value of a list, as its class is named: as the column shows it. Lists have
 * numbers of single precision as doubles.
 */
static char *
class_name(const DpermColumn *column, const DpermText *value)
{
	char	   *text = pnstrdup(value->bytes, value->len);

	return column->base == FLOAT4OID ? float_to_shortest_decimal((float) strtod(text, NULL)) : text;
}

/*
 * A domain that lists more than two values is that of several classes, unless
 * the caller names the positive one.
 */
static void
choose_several(const DpermColumn *column, DpermLabels *labels)
{
	int			count;
	const DpermText *list = listed_values(column, &count);
	char	  **values;

	if (labels->kind != DPERM_LABEL_TWO || labels->positive || count < DPERM_CLASSES_MIN)
		return;
	values = palloc(sizeof(char *) * count);
	for (int i = 0; i < count; i++)
		values[i] = class_name(column, &list[i]);
	dperm_class_list_set(labels, values, count);
}

/* Raise for a class that is not in the domain of a column. */
static void
check_classes(const DpermLabel *label, const DpermColumn *column, const DpermLabels *labels)
{
	int			count;
	const DpermText *list = listed_values(column, &count);
	bool	   *allowed = palloc0(sizeof(bool) * (labels->class_count + 1));
	bool		ranged =
		dperm_column_is_confined(column) && column->block.kind == DPERM_BLOCK_NUMBER;
	const char *class = labels->classes;
	Range		range;

	for (int i = 0; i < count; i++)
	{
		Datum		value = datum_of(label, pnstrdup(list[i].bytes, list[i].len), -1);

		allowed[(int) dperm_label_read(label, value, false)] = true;
	}
	if (ranged)
		range = range_of(column);
	for (int i = 1; i <= labels->class_count; i++, class += strlen(class) + 1)
		if ((count > 0 && !column->loose && !allowed[i]) ||
			(ranged && !range_has(&range, datum_of(label, class, -1))))
			refuse_value(column, class, "class");
}

/* How to read labels of several classes. */
static void
init_several_label(DpermLabel *label, const DpermColumn *column, const DpermLabels *labels)
{
	bool		of_enum = column->known && get_typtype(column->base) == TYPTYPE_ENUM;
	const char *class = labels->classes;

	for (int i = 0; of_enum && i < labels->class_count; i++, class += strlen(class) + 1)
		check_enum_label(column, class, "class");
	dperm_label_init(label, column->type, labels);
	class = labels->classes;
	for (int i = 1; i <= labels->class_count; i++, class += strlen(class) + 1)
		check_value(label, column, class, i);
	check_classes(label, column, labels);
}

/* How to read the labels of a column. */
void
dperm_label_domain_init(DpermLabel *label, const DpermColumn *column, bool may_be_several,
						DpermLabels *labels)
{
	if (may_be_several)
		choose_several(column, labels);
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number_label(label, column, labels);
	else if (labels->kind == DPERM_LABEL_SEVERAL)
		init_several_label(label, column, labels);
	else
		init_two_label(label, column, labels);
}

/* How to read labels that are no column. */
void
dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
							 DpermLabels *labels)
{
	DpermColumn column = {.type = type,
						  .base = getBaseType(type),
						  .typmod = -1,
						  .block = {.kind = DPERM_BLOCK_CATEGORY}};
	List	   *cache = NIL;

	if (may_be_several && get_typtype(column.base) == TYPTYPE_ENUM)
	{
		dperm_domain_catalog_read(&cache, InvalidOid, &column);
		choose_several(&column, labels);
	}
	dperm_label_init(label, type, labels);
}
