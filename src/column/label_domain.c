/*
 * label_domain.c: the domain of a label column: its bounds, its classes, or its
 * positive value.
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

#include "base/class_list.h"
#include "base/message.h"
#include "column/domain_json.h"
#include "column/domain_types.h"
#include "column/domains.h"
#include "column/label_domain.h"
#include "column/label_value.h"
#include "core/base/classes.h"
#include "core/loss/loss.h"

/* Bytes of a domain in a message. */
#define DOMAIN_SHOWN 300

/* The values that a domain lists, as classes are named. */
typedef struct Values
{
	char	  **each;
	int			count;			/* 0: it lists none */
} Values;

/* A value of a label as a datum. */
static Datum
datum_of(const DpermLabel *label, const char *text, int32 typmod)
{
	return dperm_label_value(label->type, text, typmod,
							 label->kind == DPERM_LABEL_SEVERAL ? "classes" : "positive");
}

/* The values that the domain of a column lists. */
static Values
listed_values(const DpermColumn *column)
{
	bool		categories = dperm_column_known(column) &&
		column->block.kind == DPERM_BLOCK_CATEGORY;
	const DpermText *texts = categories ? column->block.categories : column->values;
	int			count = categories ? column->block.count : column->value_count;
	Values		values = {palloc(sizeof(char *) * Max(count, 1)), 0};

	for (int i = 0; i < count; i++)
	{
		char	   *text = pnstrdup(texts[i].bytes, texts[i].len);
		double		number = categories ? 0 : strtod(text, NULL);

		/* bounds of an argument or a registration may leave some of the catalog's numbers */
		if (!categories && dperm_column_known(column) &&
			(number < column->block.low || number > column->block.high))
			continue;
		/* lists have numbers of single precision as doubles */
		values.each[values.count++] =
			column->base == FLOAT4OID ? float_to_shortest_decimal((float) number) : text;
	}
	return values;
}

/* A list for people. */
static char *
shown(const Values *values)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < values->count && list.len <= DOMAIN_SHOWN; i++)
	{
		appendStringInfoString(&list, i == 0 ? "" : ", ");
		escape_json(&list, values->each[i]);
	}
	return dperm_message_clip(psprintf("[%s]", list.data), DOMAIN_SHOWN);
}

/*
 * Raise for a positive value, or a class, that the type of the label does not
 * have: one that is more precise than its type modifier allows, or that is no
 * number. label is as it is read otherwise.
 */
static void
check_value(const DpermLabel *label, const DpermColumn *column, const char *value, double expected)
{
	if (dperm_label_read(label, datum_of(label, value, column->typmod), false) != expected)
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

/* The class of a value of the list, from 1 on, which is the positive one of two. */
static int
class_of(const DpermLabel *label, const DpermLabels *labels, const char *value)
{
	/* a value of an enum that is not committed yet cannot be read */
	if (get_typtype(label->type) != TYPTYPE_ENUM)
		return (int) dperm_label_read(label, datum_of(label, value, -1), false);
	return labels->kind == DPERM_LABEL_SEVERAL ?
		dperm_classes_find(labels->classes, labels->class_count, value) :
		strcmp(labels->positive, value) == 0;
}

/*
 * Raise for a positive value, or a class, that is not in the list or the range of
 * the domain, if there is one.
 */
static void
check_listed(const DpermLabel *label, const DpermColumn *column, const Values *values,
			 const DpermLabels *labels)
{
	bool		several = labels->kind == DPERM_LABEL_SEVERAL;
	int			count = several ? labels->class_count : 1;
	bool		range = dperm_column_known(column) && column->block.kind == DPERM_BLOCK_NUMBER;
	bool	   *found = palloc0(sizeof(bool) * (count + 1));

	for (int i = 0; i < values->count; i++)
		found[Max(class_of(label, labels, values->each[i]), 0)] = true;
	for (int i = 1; i <= count && (values->count > 0 || range); i++)
	{
		const char *value =
			several ? dperm_classes_value(labels->classes, i) : labels->positive;
		double		number = range ? strtod(value, NULL) : 0;

		if (values->count > 0 ? !found[i] :
			!(number >= column->block.low && number <= column->block.high))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s \"%s\" is not in the domain of label \"%s\"",
							several ? "class" : "positive value",
							dperm_message_clip(value, DPERM_LABEL_VALUE_SHOWN), column->name),
					 errhint("Use a value of the domain, which is %s.",
							 values->count > 0 ? shown(values) :
							 psprintf("from %g to %g", column->block.low, column->block.high))));
	}
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
init_number_label(DpermLabel *label, const DpermColumn *column, DpermLabels *labels)
{
	bool		known = dperm_column_known(column) && column->block.kind == DPERM_BLOCK_NUMBER;
	bool		specified = labels->low < labels->high;

	if (specified && dperm_column_given(column) &&
		(labels->low != column->block.low || labels->high != column->block.high))
		refuse_other_domain(column);
	if (!specified && known)
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

/* Are 0 and 1, or -1 and 1, the only numbers of a label? */
static bool
has_two_numbers(const DpermColumn *column, const Values *values)
{
	double		one,
				other;

	if (values->count == 0)
		return dperm_domain_types_is_integer(column->base) &&
			dperm_column_known(column) && column->block.low == 0 && column->block.high == 1;
	one = strtod(values->each[0], NULL);
	other = strtod(values->each[values->count - 1], NULL);
	return values->count == 2 && Max(one, other) == 1 &&
		(Min(one, other) == 0 || Min(one, other) == -1);
}

/*
 * How to read labels of two classes. Returns whether they are numbers that
 * nothing is known about.
 */
static bool
init_two_label(DpermLabel *label, const DpermColumn *column, const Values *values, bool protected,
			   const DpermLabels *labels)
{
	DpermBlockKind kind;

	dperm_label_init(label, column->type, labels);
	if (labels->positive)
	{
		check_value(label, column, labels->positive, 1);
		check_listed(label, column, values, labels);
		return false;
	}
	if (!dperm_domain_types_kind(column->base, &kind) || kind != DPERM_BLOCK_NUMBER)
		return false;
	if (!protected && !dperm_column_known(column))
		return true;
	if (!has_two_numbers(column, values))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" of type %s requires a positive value, unless its domain "
						"allows only 0 and 1, or -1 and 1",
						column->name, format_type_be(column->type)),
				 errhint("Specify the value of the positive class, as in positive => '1'; for a "
						 "quantity, use dp_linreg_train().")));
	return false;
}

/*
 * A domain that lists more than two values is that of several classes, unless
 * the caller names the positive one.
 */
static void
choose_several(const Values *values, DpermLabels *labels)
{
	if (labels->kind == DPERM_LABEL_TWO && !labels->positive && values->count >= DPERM_CLASSES_MIN)
		dperm_class_list_set(labels, values->each, values->count);
}

/* Does a domain list the classes of labels, in their order? */
static bool
same_classes(const Values *values, const DpermLabels *labels)
{
	bool		same = values->count == labels->class_count;

	for (int i = 0; same && i < values->count; i++)
		same = strcmp(values->each[i], dperm_classes_value(labels->classes, i + 1)) == 0;
	return same;
}

/* How to read labels of several classes. */
static void
init_several_label(DpermLabel *label, const DpermColumn *column, const Values *values,
				   const DpermLabels *labels)
{
	const char *class = labels->classes;

	dperm_label_init(label, column->type, labels);
	for (int i = 1; i <= labels->class_count; i++, class += strlen(class) + 1)
		check_value(label, column, class, i);
	check_listed(label, column, values, labels);
}

/* How to read the labels of a column. */
bool
dperm_label_domain_init(DpermLabel *label, const DpermColumn *column, bool may_be_several,
						bool protected, DpermLabels *labels)
{
	Values		values = listed_values(column);

	if (values.count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain of label \"%s\" has a single value", column->name),
				 errhint("Use a label that has two values or more.")));
	if (labels->kind == DPERM_LABEL_SEVERAL && dperm_column_given(column) &&
		!same_classes(&values, labels))
		refuse_other_domain(column);
	if (may_be_several)
		choose_several(&values, labels);
	if (labels->kind == DPERM_LABEL_TWO)
		return init_two_label(label, column, &values, protected, labels);
	if (labels->kind == DPERM_LABEL_NUMBER)
		init_number_label(label, column, labels);
	else
		init_several_label(label, column, &values, labels);
	return false;
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

	if (may_be_several && get_typtype(column.base) == TYPTYPE_ENUM)
	{
		Values		values;

		dperm_domains_of_type(&column);
		values = listed_values(&column);
		choose_several(&values, labels);
	}
	dperm_label_init(label, type, labels);
}
