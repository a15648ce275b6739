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
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "base/class_list.h"
#include "base/message.h"
#include "column/domain_catalog.h"
#include "column/domain_types.h"
#include "column/label_domain.h"
#include "column/label_value.h"
#include "column/possible.h"
#include "core/base/classes.h"
#include "core/loss/loss.h"

/* Bytes of a domain in a message. */
#define DOMAIN_SHOWN 300

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
classes_of_list(const DpermLabel *label, const DpermColumn *column, const DpermPossible *possible)
{
	Classes		classes = {false, false};

	/*
	 * as they are read: a numeric may have more digits than the list, and a
	 * label of an enum that is not committed cannot be read
	 */
	if (label->compare && !label->bytes)
	{
		classes.positive = dperm_possible_has(possible, column, label->value);
		classes.negative = possible->count > classes.positive;
		return classes;
	}
	for (int i = 0; i < possible->count; i++)
	{
		char	   *text = pnstrdup(possible->texts[i].bytes, possible->texts[i].len);
		double		sign = dperm_label_read(label, datum_of(label, text, -1), false);

		classes.positive |= sign > 0;
		classes.negative |= sign < 0;
	}
	return classes;
}

/* The classes of the numbers of a range. */
static Classes
classes_of_range(const DpermLabel *label, const DpermColumn *column, const DpermPossible *possible)
{
	if (!label->compare)
		return (Classes) {.negative = possible->above ? possible->low < 0 : possible->low <= 0,
						  .positive = possible->high > 0};
	return (Classes) {.negative = possible->low < possible->high ||
								  fabs(possible->low) >= DPERM_POSSIBLE_EXACT,
					  .positive = dperm_possible_has(possible, column, label->value)};
}

/* A range for people; one bound may be missing. */
static char *
range_shown(const DpermPossible *possible)
{
	char	   *low = double_to_shortest_decimal(possible->low);
	char	   *high = double_to_shortest_decimal(possible->high);
	const char *from = possible->above ? "above" : "from";

	if (possible->low > possible->high)
		return "empty";
	if (isinf(possible->low))
		return psprintf("all numbers %s %s", possible->below ? "below" : "up to", high);
	if (isinf(possible->high))
		return psprintf("all numbers %s %s", from, low);
	return possible->above || possible->below ?
		psprintf("all numbers %s %s to %s%s", from, low, possible->below ? "below " : "", high) :
		psprintf("[%s, %s]", low, high);
}

/* Values for people: a list, or a range. */
static char *
shown(const DpermPossible *possible)
{
	StringInfoData values;

	if (!possible->listed)
		return range_shown(possible);
	initStringInfo(&values);
	for (int i = 0; i < possible->count && values.len <= DOMAIN_SHOWN; i++)
	{
		appendStringInfoString(&values, i == 0 ? "" : ", ");
		escape_json(&values, pnstrdup(possible->texts[i].bytes, possible->texts[i].len));
	}
	return dperm_message_clip(psprintf("[%s]", values.data), DOMAIN_SHOWN);
}

/* Raise for a positive value, or a class, that is not in the domain. */
static _Noreturn void
refuse_value(const DpermColumn *column, const DpermPossible *possible, const char *value,
			 const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" is not in the domain of label \"%s\"", what,
					dperm_message_clip(value, DPERM_LABEL_VALUE_SHOWN), column->name),
			 errhint("Use a value of the domain, which is %s.", shown(possible))));
}

/* Raise for a value that is none of an enum, which cannot read it. */
static void
check_enum_label(const DpermColumn *column, const DpermPossible *possible, const char *value,
				 const char *what)
{
	for (int i = 0; i < possible->count; i++)
		if (strcmp(possible->texts[i].bytes, value) == 0)
			return;
	if (possible->listed && get_typtype(column->base) == TYPTYPE_ENUM)
		refuse_value(column, possible, value, what);
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
	const DpermPossible *possible = &column->possible;
	double		low,
				high;
	const char *type;

	/* numbers beyond a domain that is stated are clamped, too */
	dperm_possible_ends(possible, &low, &high);
	if (Min(Max(low, labels->low), labels->high) < Min(Max(high, labels->low), labels->high))
		return;
	type = format_type_with_typemod(column->base, column->typmod);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("label \"%s\" is the same number in all rows that its domain allows",
					column->name),
			 possible->constrained ?
			 errdetail("The type is %s, the domain is %s, and labels are clamped to the bounds "
					   "[%.15g, %.15g].", type, shown(possible), labels->low, labels->high) :
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
init_two_label(DpermLabel *label, const DpermColumn *column, const DpermPossible *possible,
			   const DpermLabels *labels)
{
	const char *positive = labels->positive;
	Classes		classes = {true, true};
	double		least,
				largest;

	if (positive)
		check_enum_label(column, possible, positive, "positive value");
	dperm_label_init(label, column->type, labels);
	if (positive)
		check_value(label, column, positive, 1);
	if (possible->listed)
		classes = classes_of_list(label, column, possible);
	else if (possible->numbers)
		classes = classes_of_range(label, column, possible);
	if (positive && !classes.positive)
		refuse_value(column, possible, positive, "positive value");
	if (classes.negative && classes.positive)
		return;
	dperm_possible_ends(possible, &least, &largest);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("label \"%s\" is %s in all rows that its domain allows", column->name,
					classes.positive ? "positive" : "negative"),
			 positive || !possible->numbers ? errdetail("The domain is %s.", shown(possible)) :
			 errdetail("A number above 0 is positive, and the domain is %s.", shown(possible)),
			 positive || !possible->numbers || least >= largest ?
			 errhint("Use a label that has two values.") :
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
 * A domain that lists more than two values that rows can have is that of several
 * classes, unless the caller names the positive one.
 */
static void
choose_several(const DpermColumn *column, const DpermPossible *possible, DpermLabels *labels)
{
	int			count;
	const DpermText *list = listed_values(column, &count);
	char	  **values;
	int			left = 0;

	if (labels->kind != DPERM_LABEL_TWO || labels->positive || count < DPERM_CLASSES_MIN)
		return;
	values = palloc(sizeof(char *) * count);
	for (int i = 0; i < count; i++)
		if (dperm_possible_allows(possible, column, &list[i]))
			values[left++] = class_name(column, &list[i]);
	if (left >= DPERM_CLASSES_MIN)
		dperm_class_list_set(labels, values, left);
}

/* How to read labels of several classes; raises for a class that is not in the domain. */
static void
init_several_label(DpermLabel *label, const DpermColumn *column, const DpermPossible *possible,
				   const DpermLabels *labels)
{
	const char *class = labels->classes;

	for (int i = 0; i < labels->class_count; i++, class += strlen(class) + 1)
		check_enum_label(column, possible, class, "class");
	dperm_label_init(label, column->type, labels);
	class = labels->classes;
	for (int i = 1; i <= labels->class_count; i++, class += strlen(class) + 1)
	{
		check_value(label, column, class, i);
		if (!dperm_possible_has(possible, column, datum_of(label, class, -1)))
			refuse_value(column, possible, class, "class");
	}
}

/* How to read the labels of a column. */
void
dperm_label_domain_init(DpermLabel *label, const DpermColumn *column, bool may_be_several,
						DpermLabels *labels)
{
	DpermPossible possible = dperm_possible_stated(column);

	if (may_be_several)
		choose_several(column, &possible, labels);
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number_label(label, column, labels);
	else if (labels->kind == DPERM_LABEL_SEVERAL)
		init_several_label(label, column, &possible, labels);
	else
		init_two_label(label, column, &possible, labels);
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
		choose_several(&column, &column.possible, labels);
	}
	dperm_label_init(label, type, labels);
}
