/*
 * label_domain.c: the domain of a label column: its bounds, or whether it
 * allows both classes.
 *
 * What public knowledge can refuse is refused before anything is charged: a
 * model of one class alone is worth nothing.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/message.h"
#include "column/domain_print.h"
#include "column/label_domain.h"
#include "column/reader.h"

/* Bytes of a domain, and of a value, in a message. */
#define DOMAIN_SHOWN 300
#define VALUE_SHOWN 100

/* From here on, different numbers may be the same as doubles. */
#define EXACT_MAX 9007199254740992.0

/* Which classes a domain allows. */
typedef struct Classes
{
	bool		negative;
	bool		positive;
} Classes;

/* The classes of a list of values. */
static Classes
classes_of_list(const DpermLabel *label, const DpermText *values, int count)
{
	Classes		classes = {false, false};

	for (int i = 0; i < count; i++)
	{
		char	   *text = pnstrdup(values[i].bytes, values[i].len);
		double		sign = dperm_label_read(label, dperm_label_value(label, text, -1), false);

		classes.positive |= sign > 0;
		classes.negative |= sign < 0;
	}
	return classes;
}

/* The bounds of the numbers that a column can have, by its type, too. */
static void
bounds_of_range(const DpermColumn *column, double *low, double *high)
{
	DpermReaderKind kind = dperm_reader_kind(column->type, DPERM_BLOCK_NUMBER);
	bool		whole = kind == DPERM_READ_INT2 || kind == DPERM_READ_INT4 ||
						kind == DPERM_READ_INT8;

	*low = column->block.low;
	*high = column->block.high;
	if (whole)
	{
		*low = column->above ? floor(*low) + 1 : ceil(*low);
		*high = column->below ? ceil(*high) - 1 : floor(*high);
	}
	if (kind == DPERM_READ_FLOAT4)
	{
		*low = (float) *low;
		*high = (float) *high;
	}
}

/* The classes of the numbers within the bounds of a column. */
static Classes
classes_of_range(const DpermLabel *label, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	double		low,
				high,
				value;
	bool		above,
				below;

	/* a bound that has been rounded may be a value */
	bounds_of_range(column, &low, &high);
	above = column->above && low == block->low;
	below = column->below && high == block->high;
	if (!label->compare)
		return (Classes) {.negative = above ? low < 0 : low <= 0, .positive = high > 0};
	value = dperm_reader_number(dperm_reader_kind(label->type, DPERM_BLOCK_NUMBER), label->value);
	if (fabs(value) >= EXACT_MAX)
		return (Classes) {.negative = true, .positive = value >= low && value <= high};
	return (Classes) {.negative = low < high,
					  .positive = (above ? value > low : value >= low) &&
						  (below ? value < high : value <= high)};
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
		classes.negative |= !positive || fabs(wanted) >= EXACT_MAX;
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

/* Raise for a positive value that is not in the domain. */
static _Noreturn void
refuse_positive(const DpermColumn *column, const char *positive)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("positive value \"%s\" is not in the domain of label \"%s\"",
					dperm_message_clip(positive, VALUE_SHOWN), column->name),
			 errhint("Use a value of the domain, which is %s.", domain_shown(column))));
}

/* Raise for a positive value that is none of an enum, which cannot read it. */
static void
check_enum_label(const DpermColumn *column, const char *positive)
{
	const DpermBlock *block = &column->block;

	for (int i = 0; i < block->count; i++)
		if (strcmp(block->categories[i].bytes, positive) == 0)
			return;
	refuse_positive(column, positive);
}

/*
 * Raise for a positive value that the type of the label does not have: one that
 * is longer or more precise than its type modifier allows, or that is no
 * number.
 */
static void
check_positive(const DpermLabel *label, const DpermColumn *column, const char *positive)
{
	if (dperm_label_read(label, dperm_label_value(label, positive, column->typmod), false) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" cannot be \"%s\"", column->name,
						dperm_message_clip(positive, VALUE_SHOWN)),
				 errdetail("Its type is %s.",
						   format_type_with_typemod(column->base, column->typmod)),
				 errhint("positive must be one of the values of the label column, as text.")));
}

/*
 * Raise an error if all numbers that a column can have are the same between the
 * bounds, which they are clamped to.
 */
static void
check_numbers(const DpermColumn *column, const DpermLabels *labels)
{
	bool		listed = column->known && column->block.kind == DPERM_BLOCK_CATEGORY;
	const DpermText *values = listed ? column->block.categories : column->values;
	int			count = listed ? column->block.count : column->value_count;
	double		low = INFINITY;
	double		high = -INFINITY;

	if (!listed && !column->known && !column->bounded)
		return;
	for (int i = 0; i < count; i++)
	{
		double		value = strtod(pnstrdup(values[i].bytes, values[i].len), NULL);

		if (isnan(value))
			continue;
		low = Min(low, value);
		high = Max(high, value);
	}
	if (count == 0)
		bounds_of_range(column, &low, &high);
	if (Min(Max(low, labels->low), labels->high) < Min(Max(high, labels->low), labels->high))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("label \"%s\" is the same number in all rows that its domain allows",
					column->name),
			 errdetail("The domain is %s, and labels are clamped to the bounds [%.15g, %.15g].",
					   domain_shown(column), labels->low, labels->high),
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
		check_enum_label(column, positive);
	dperm_label_init(label, column->type, labels);
	if (positive)
		check_positive(label, column, positive);
	if (listed)
		classes = classes_of_list(label, column->block.categories, column->block.count);
	else if ((column->known || column->bounded) && column->block.kind == DPERM_BLOCK_NUMBER)
		classes = classes_of_numbers(label, column);
	if (positive && !classes.positive)
		refuse_positive(column, positive);
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

/* How to read the labels of a column. */
void
dperm_label_domain_init(DpermLabel *label, const DpermColumn *column, DpermLabels *labels)
{
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number_label(label, column, labels);
	else
		init_two_label(label, column, labels);
}
