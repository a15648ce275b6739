/*
 * domain_json.c: read domains from JSON, and write them in the same forms.
 *
 *   number        [0, 120], {"range": [0, 120]}, {"range": [0, 120], "knots": 8},
 *                 {"knots": [0, 10, 50, 120]}, {"range": [0, 1000000], "scale": "log"}
 *   date, time    ["2015-01-01", "2025-12-31"], ["08:00", "18:00"], {"range": ...}
 *   boolean       [false, true]
 *   category      ["A", "B"], {"categories": ["A", "B"]}; the long form also for integers
 *   vector        {"dimension": 128, "norm": 1}, {"dimension": 8, "range": [0, 1]},
 *                 {"range": [[0, 1], [-5, 5]]}; with a range also knots, as a number
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "column/datum_values.h"
#include "column/domain_json.h"
#include "column/domain_types.h"
#include "core/base/limits.h"
#include "core/encode/encoder.h"
#include "core/encode/knots.h"

/* The keys of the long form. */
enum
{
	RANGE,
	CATEGORIES,
	KNOTS,
	SCALE,
	DIMENSION,
	NORM,
	KEYS
};

static const char *const key_names[KEYS] = {
	"range", "categories", "knots", "scale", "dimension", "norm"
};

#define HAS(key) (1u << (key))

/* A domain in its long form: NULL for keys that it does not have. */
typedef struct Form
{
	JsonbValue *values[KEYS];
} Form;

/* An example domain of a vector with bounds, for hints. */
static const char box_example[] = "{\"dimension\": 8, \"range\": [0, 1]}";

/* What domains look like, by kind: their keys, in words, and an example for hints. */
static const struct
{
	uint32		keys;
	const char *must;
	const char *example;
}			forms[] = {
	[DPERM_BLOCK_NUMBER] = {HAS(RANGE) | HAS(KNOTS) | HAS(SCALE) | HAS(CATEGORIES),
	"[low, high], {\"range\": [low, high]}, {\"range\": [low, high], \"scale\": \"log\"} or "
	"{\"categories\": [...]}", "[0, 120]"},
	[DPERM_BLOCK_TIME] = {HAS(RANGE) | HAS(KNOTS),
	"[low, high] or {\"range\": [low, high]}", "[\"2015-01-01\", \"2025-12-31\"]"},
	[DPERM_BLOCK_FLAG] = {0, "[false, true], or omitted", "[false, true]"},
	[DPERM_BLOCK_CATEGORY] = {HAS(CATEGORIES),
	"a list of strings or {\"categories\": [...]}", "[\"A\", \"B\"]"},
	[DPERM_BLOCK_VECTOR] = {HAS(DIMENSION) | HAS(NORM) | HAS(RANGE) | HAS(KNOTS),
	"an object with a dimension and either a norm, which is 1 by default, or a range",
	"{\"dimension\": 128, \"norm\": 1}"}
};

/* The kind of domains that a column has; a vector may have got a range by now. */
static DpermBlockKind
kind_of(const DpermColumn *column)
{
	return column->block.kind == DPERM_BLOCK_BOX ? DPERM_BLOCK_VECTOR : column->block.kind;
}

/* An example domain of a column. */
static const char *
usual_example(const DpermColumn *column)
{
	return column->base == TIMEOID ? "[\"08:00\", \"18:00\"]" : forms[kind_of(column)].example;
}

/* An example of a domains argument for one column. */
static char *
example(const DpermColumn *column, const char *domain)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	escape_json(&json, column->name);
	appendStringInfo(&json, ": %s}", domain);
	return quote_literal_cstr(json.data);
}

/* An example domain for this column. */
char *
dperm_domain_json_example(const DpermColumn *column)
{
	return example(column, usual_example(column));
}

/*
 * Raise the error for an invalid domain: "the domain of column x must be ..."
 */
static _Noreturn void
refuse(const DpermColumn *column, const char *must, const char *domain)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the domain of column \"%s\" of type %s must be %s", column->name,
					format_type_be(column->type), must),
			 errhint("For example: domains => %s.", example(column, domain))));
}

/* The same, with the usual example. */
static _Noreturn void
refuse_usual(const DpermColumn *column, const char *must)
{
	refuse(column, must, usual_example(column));
}

/* Raise the error for a domain of another form. */
static _Noreturn void
refuse_form(const DpermColumn *column)
{
	refuse_usual(column, forms[kind_of(column)].must);
}

/* The array in a JSON value, or NULL. */
static JsonbContainer *
list_in(JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data) &&
		!JsonContainerIsScalar(value->val.binary.data) ? value->val.binary.data : NULL;
}

/* A JSON number as a double; infinite if out of range. */
static double
number_in(JsonbValue *value)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value->val.numeric)));
}

/* Add the column to errors of a type's input function. */
static void
add_context(void *arg)
{
	errcontext("domain of column \"%s\"", (const char *) arg);
}

/* Call the input function of a column's base type. */
static Datum
base_input(const DpermColumn *column, char *text)
{
	ErrorContextCallback context = {
		.previous = error_context_stack,
		.callback = add_context,
		.arg = column->name
	};
	Oid			input,
				ioparam;
	Datum		value;

	getTypeInputInfo(column->base, &input, &ioparam);
	error_context_stack = &context;
	value = OidInputFunctionCall(input, text, ioparam, column->typmod);
	error_context_stack = context.previous;
	return value;
}

/* A bound or a knot: times are strings; false if it is of another type. */
static bool
read_position(const DpermColumn *column, JsonbValue *value, double *out)
{
	bool		time = column->block.kind == DPERM_BLOCK_TIME;

	if (value->type != (time ? jbvString : jbvNumeric))
		return false;
	if (!time)
		*out = number_in(value);
	else
		(void) dperm_domain_types_number(column->base,
										 base_input(column, pnstrdup(value->val.string.val,
																	 value->val.string.len)),
										 out);
	return true;
}

/* A pair of bounds, in order; of is how an error message begins. */
static void
read_bounds(const DpermColumn *column, JsonbContainer *pair, const char *of, const char *domain,
			double *low, double *high)
{
	bool		time = column->block.kind == DPERM_BLOCK_TIME;
	const char *what = column->base == TIMEOID ? "times" : "dates";
	const char *must = psprintf("%s%s, the lower one first", of,
								time ? psprintf("two %s as strings", what) : "two numbers");
	double		bounds[2];

	if (pair == NULL || JsonContainerSize(pair) != 2)
		refuse(column, must, domain);
	for (int i = 0; i < 2; i++)
	{
		if (!read_position(column, getIthJsonbValueFromContainer(pair, i), &bounds[i]))
			refuse(column, must, domain);
		if (!(fabs(bounds[i]) <= DPERM_BOUND_MAX))
			refuse(column, psprintf("%s%s", of, time ? psprintf("two finite %s", what) :
									"two numbers between -1e300 and 1e300"), domain);
	}
	if (!dperm_block_are_bounds(bounds[0], bounds[1]))
		refuse(column, must, domain);
	*low = bounds[0];
	*high = bounds[1];
}

/* One category, as the output function of the type writes it. */
static DpermText
read_category(const DpermColumn *column, JsonbValue *value)
{
	char	   *spelling;

	if (value->type == jbvNumeric)
		spelling = DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
	else
		spelling = pnstrdup(value->val.string.val, value->val.string.len);
	return dperm_domain_types_text(column->base, base_input(column, spelling));
}

/*
 * A list of categories; numbers only where the column holds numbers, and only if
 * equal ones have the same text.
 */
static void
read_categories(DpermColumn *column, JsonbContainer *list)
{
	bool		numbers = column->block.kind == DPERM_BLOCK_NUMBER;
	const char *domain = numbers ? "{\"categories\": [1, 2, 3]}" : usual_example(column);
	int			count = list == NULL ? 0 : JsonContainerSize(list);
	DpermText  *texts;

	if (column->base == FLOAT4OID || column->base == FLOAT8OID ||
		(column->base == NUMERICOID && column->typmod < 0))
		refuse_usual(column, "two numbers: only integers and numeric with a scale can be "
							 "categories");
	if (count == 0)
		refuse(column, list ? "a list of at least one category" : "a list of categories", domain);
	if (count > DPERM_DIM_MAX)
		refuse(column, psprintf("a list of at most %d categories", DPERM_DIM_MAX), domain);
	texts = palloc(count * sizeof(DpermText));
	for (int i = 0; i < count; i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(list, i);

		if (value->type != jbvString && !(numbers && value->type == jbvNumeric))
			refuse(column, numbers ? "a list of numbers" : "a list of strings", domain);
		texts[i] = read_category(column, value);
		if (texts[i].len > DPERM_VALUE_MAX - VARHDRSZ)
			refuse(column, psprintf("a list of categories of at most %d bytes",
									DPERM_VALUE_MAX - VARHDRSZ), domain);
		for (int j = 0; j < i; j++)
			if (dperm_block_same_text(&texts[j], &texts[i]))
				refuse(column, psprintf("a list of different categories, but \"%.*s\" appears "
										"twice",
										texts[i].len, texts[i].bytes), domain);
		CHECK_FOR_INTERRUPTS();
	}
	column->block.kind = DPERM_BLOCK_CATEGORY;
	column->block.count = count;
	column->block.categories = texts;
}

/* Raise the error for invalid knots. */
static _Noreturn void
refuse_knots(const DpermColumn *column, const char *must)
{
	bool		number = dperm_block_is_number(&column->block);

	refuse(column, must, number ? psprintf("{\"range\": %s, \"knots\": 8}", usual_example(column)) :
		   "{\"dimension\": 8, \"range\": [0, 1], \"knots\": 4}");
}

/*
 * A list of knots: they begin and end at the range, if there is one. Returns
 * their number.
 */
static int
read_knot_list(const DpermColumn *column, JsonbContainer *list, bool ranged, DpermBlock *block)
{
	int			count = JsonContainerSize(list);
	bool		time = column->block.kind == DPERM_BLOCK_TIME;
	double	   *knots;

	if (count < 2 || count > DPERM_DIM_MAX)
		refuse_knots(column, psprintf("an object with a list of 2 to %d knots", DPERM_DIM_MAX));
	knots = palloc(sizeof(double) * count);
	for (int i = 0; i < count; i++)
	{
		if (!read_position(column, getIthJsonbValueFromContainer(list, i), &knots[i]))
			refuse_knots(column, psprintf("an object whose knots are a number or a list of %s",
										  time ? "strings" : "numbers"));
		if (i > 0 && !dperm_block_are_bounds(knots[i - 1], knots[i]))
			refuse_knots(column, "an object whose knots are in ascending order, and between "
						 "-1e300 and 1e300");
	}
	if (ranged && (block->bounds || knots[0] != block->low || knots[count - 1] != block->high))
		refuse_knots(column, "an object whose list of knots begins and ends at its range");
	block->low = knots[0];
	block->high = knots[count - 1];
	block->bounds = NULL;
	block->knots = knots;
	block->log = false;
	return count;
}

/*
 * The knots of a number, or of each element of a vector: how many, or a list of
 * positions, which is a range by itself. ranged: does the domain have a range?
 * known: does the block have one, from wherever? Returns their number.
 */
static int
read_knots(const DpermColumn *column, JsonbValue *value, bool ranged, bool known,
		   DpermBlock *block)
{
	double		count;

	if (list_in(value))
		return read_knot_list(column, list_in(value), ranged, block);
	if (!known)
		refuse_knots(column, "an object with a range, or with a list of knots");
	count = value->type == jbvNumeric ? number_in(value) : 0;
	if (!(count >= 1 && count <= DPERM_DIM_MAX) || count != floor(count))
		refuse_knots(column, psprintf("an object whose knots are a list, or a whole number "
									  "between 1 and %d", DPERM_DIM_MAX));
	block->knots = NULL;
	return (int) count;
}

/* The scale of a number; known: does it have a range, from wherever? */
static void
read_scale(const DpermColumn *column, JsonbValue *value, bool known, DpermBlock *block)
{
	static const char *of = "{\"range\": [0, 1000000], \"scale\": \"log\"}";
	const char *name = value->type == jbvString ?
		pnstrdup(value->val.string.val, value->val.string.len) : "";

	block->log = strcmp(name, "log") == 0;
	if (!block->log && strcmp(name, "linear") != 0)
		refuse(column, "an object whose scale is \"log\" or \"linear\"", of);
	if (!known)
		refuse(column, "an object with a range", of);
	if (block->log && block->knots)
		refuse(column, "an object with a scale or with a list of knots", of);
	if (dperm_block_scaled(block, block->low) == dperm_block_scaled(block, block->high))
		refuse(column, "an object with a wider range", of);
}

/*
 * The domain of a number or a time: a range, knots, a scale. What it does not say
 * is as before, or without a range as the range is.
 */
static void
read_number(DpermColumn *column, const Form *form)
{
	JsonbValue *range = form->values[RANGE];
	JsonbValue *knots = form->values[KNOTS];
	bool		known = range || dperm_column_known(column);
	DpermBlock *block = &column->block;

	if (range)
	{
		read_bounds(column, list_in(range), "", usual_example(column), &block->low, &block->high);
		block->knots = NULL;
		block->count = 1;
		block->log = false;
		column->knotted = false;
	}
	if (knots)
	{
		block->count = read_knots(column, knots, range != NULL, known, block);
		column->knotted = true;
	}
	if (form->values[SCALE])
		read_scale(column, form->values[SCALE], known || knots, block);
	dperm_knots_settle(block);
}

/*
 * The range of a vector's elements: [low, high] of all of them, or a list of
 * such pairs, one for each.
 */
static void
read_vector_range(DpermColumn *column, JsonbValue *value, DpermBlock *block)
{
	static const char *of = "an object with a range of ";
	JsonbContainer *list = list_in(value);
	int			count = list == NULL ? 0 : JsonContainerSize(list);
	double	   *bounds;

	if (count == 0 || list_in(getIthJsonbValueFromContainer(list, 0)) == NULL)
	{
		read_bounds(column, list, of, box_example, &block->low, &block->high);
		return;
	}
	if (count > DPERM_DIM_MAX)
		refuse(column, psprintf("an object with at most %d ranges", DPERM_DIM_MAX), box_example);
	bounds = palloc(sizeof(double) * 2 * count);
	for (int i = 0; i < count; i++)
		read_bounds(column, list_in(getIthJsonbValueFromContainer(list, i)), "an object whose "
			"ranges are all ",
					"{\"range\": [[0, 1], [-5, 5]]}", &bounds[2 * i], &bounds[2 * i + 1]);
	block->bounds = bounds;
	block->count = count;
	dperm_encoder_box_settle(block);
}

/*
 * Raise an error unless the dimension is that of the ranges of a block, if each
 * coordinate has one, and the declared one, if it is not 0; and unless the norm
 * is valid.
 */
static void
check_vector(DpermColumn *column, const DpermBlock *block, double dimension, int declared)
{
	bool		range = block->kind == DPERM_BLOCK_BOX;

	if (!(dimension >= 1 && dimension <= DPERM_DIM_MAX) || dimension != floor(dimension))
		refuse(column, psprintf("an object with a dimension between 1 and %d", DPERM_DIM_MAX),
			   range ? box_example : forms[DPERM_BLOCK_VECTOR].example);
	if (block->count > 0 && dimension != block->count)
		refuse(column, psprintf("an object with as many ranges as its dimension: %g, "
								"not %d", dimension, block->count),
			   "{\"range\": [[0, 1], [-5, 5]]}");
	if (declared > 0 && dimension != declared)
		refuse(column, psprintf("of dimension %d, as declared in the catalog", declared),
			   psprintf("{\"dimension\": "
						"%d, %s}", declared, range ? "\"range\": [0, 1]" : "\"norm\": 1"));
	if (!range && !(block->norm >= DPERM_NORM_MIN && block->norm <= DPERM_NORM_MAX))
		refuse_usual(column, psprintf("an object with a norm between %g and %g", DPERM_NORM_MIN,
									  DPERM_NORM_MAX));
}

/*
 * A vector: a dimension, which the catalog may know already, and a norm or a
 * range. With knots there is a range: its own, that of a list of knots, or that of
 * the catalog.
 */
static void
read_vector(DpermColumn *column, const Form *form)
{
	JsonbValue *range = form->values[RANGE];
	JsonbValue *knots = form->values[KNOTS];
	JsonbValue *given = form->values[DIMENSION];
	JsonbValue *norm = form->values[NORM];
	bool		known = dperm_column_known(column);
	bool		ranged = range || (known && column->block.kind == DPERM_BLOCK_BOX);
	int			declared = known ? dperm_block_elements(&column->block) : 0;
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .column = column->block.column, .norm = 1};
	double		dimension;
	int			each = 1;

	if (range || knots)
	{
		block.kind = DPERM_BLOCK_BOX;
		block.norm = 0;
	}
	if (range)
		read_vector_range(column, range, &block);
	else if (knots && ranged)
	{
		block.low = column->block.low;
		block.high = column->block.high;
		block.bounds = column->block.bounds;
	}
	if (knots)
		each = read_knots(column, knots, range != NULL, ranged, &block);
	if ((given && given->type != jbvNumeric) ||
		(norm && (range || knots || norm->type != jbvNumeric)))
		refuse_form(column);
	dimension = given ? number_in(given) : block.count > 0 ? block.count : declared;
	if (norm)
		block.norm = number_in(norm);
	check_vector(column, &block, dimension, declared);
	block.count = (int) dimension * each;
	block.each = each > 1 ? each : 0;
	dperm_knots_settle(&block);
	column->block = block;
	column->knotted = knots != NULL;
}

/* [false, true], as dp_domains shows it; a boolean has no other domain. */
static void
check_flag(const DpermColumn *column, JsonbContainer *pair)
{
	JsonbValue *values[2];

	if (pair == NULL || JsonContainerSize(pair) != 2)
		refuse_form(column);
	for (int i = 0; i < 2; i++)
		values[i] = getIthJsonbValueFromContainer(pair, i);
	if (values[0]->type != jbvBool || values[1]->type != jbvBool ||
		values[0]->val.boolean == values[1]->val.boolean)
		refuse_form(column);
}

/* The long form of a domain: a list has categories, or is a range. */
static Form
read_form(const DpermColumn *column, JsonbValue *value)
{
	DpermBlockKind kind = kind_of(column);
	JsonbContainer *object = value->type == jbvBinary ? value->val.binary.data : NULL;
	Form		form = {0};
	uint32		keys = 0;

	if (object == NULL || !JsonContainerIsObject(object))
	{
		if (kind == DPERM_BLOCK_VECTOR)
			refuse_form(column);
		form.values[kind == DPERM_BLOCK_CATEGORY ? CATEGORIES : RANGE] = value;
		return form;
	}
	for (int key = 0; key < KEYS; key++)
	{
		form.values[key] = getKeyJsonValueFromContainer(object, key_names[key],
														strlen(key_names[key]), NULL);
		keys |= form.values[key] ? HAS(key) : 0;
	}
	/* categories stand alone, and only a vector may be as the catalog says */
	if (pg_popcount32(keys) != JsonContainerSize(object) || (keys & ~forms[kind].keys) != 0 ||
		(form.values[CATEGORIES] && keys != HAS(CATEGORIES)) ||
		(keys == 0 && kind != DPERM_BLOCK_VECTOR))
		refuse_form(column);
	return form;
}

/* Set a column's domain from the caller's JSON. */
void
dperm_domain_json_parse(DpermColumn *column, JsonbValue *value)
{
	if (!dperm_column_usable(column))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of type %s cannot be a feature, so it cannot have a domain",
						column->name, format_type_be(column->type)),
				 errhint("Convert it in a view, for example to text or to a number.")));
	if (column->block.kind == DPERM_BLOCK_FLAG)
		check_flag(column, list_in(value));
	else
	{
		Form		form = read_form(column, value);

		if (kind_of(column) == DPERM_BLOCK_VECTOR)
			read_vector(column, &form);
		else if (form.values[CATEGORIES])
			read_categories(column, list_in(form.values[CATEGORIES]));
		else
			read_number(column, &form);
	}
	column->from = DPERM_DOMAIN_GIVEN;
	column->origin = "argument";
	column->lack = NULL;
}

/* A time; a bound at the end of the range may have been rounded beyond it. */
static Timestamp
time_within(double usecs)
{
	return usecs <= (double) MIN_TIMESTAMP ? MIN_TIMESTAMP :
		usecs >= (double) END_TIMESTAMP ? END_TIMESTAMP - 1 : (Timestamp) usecs;
}

/* A bound of a time column, independent of the session's DateStyle. */
static void
print_time(StringInfo out, Oid base, double days)
{
	char		buf[MAXDATELEN + 1];
	Datum		value;

	if (base == DATEOID)
		value = DateADTGetDatum((DateADT) days);
	else if (base == TIMEOID)
		value = TimeADTGetDatum((TimeADT) rint(days * (double) USECS_PER_DAY));
	else
		value = TimestampGetDatum(time_within(rint(days * (double) USECS_PER_DAY)));
	JsonEncodeDateTime(buf, value, base, NULL);
	escape_json(out, buf);
}

/* The categories, as a list of strings. */
static void
print_categories(StringInfo out, const DpermBlock *block)
{
	appendStringInfoChar(out, '[');
	for (int i = 0; i < block->count; i++)
	{
		if (i > 0)
			appendStringInfoString(out, ", ");
		escape_json(out, pnstrdup(block->categories[i].bytes, block->categories[i].len));
	}
	appendStringInfoChar(out, ']');
}

/* Some positions, as a list. */
static void
print_positions(StringInfo out, const DpermColumn *column, const double *positions, int count)
{
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(out, i == 0 ? "[" : ", ");
		if (column->block.kind == DPERM_BLOCK_TIME)
			print_time(out, column->base, positions[i]);
		else
			appendStringInfoString(out, double_to_shortest_decimal(positions[i]));
	}
	appendStringInfoChar(out, ']');
}

/* The range of a number or a time, or those of the elements of a vector. */
static void
print_range(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	int			count = block->bounds ? dperm_block_elements(block) : 1;

	for (int i = 0; i < count; i++)
	{
		double		range[] = {dperm_block_low(block, i), dperm_block_high(block, i)};

		appendStringInfoString(out, i > 0 ? ", " : block->bounds ? "[" : "");
		print_positions(out, column, range, 2);
	}
	appendStringInfoString(out, block->bounds ? "]" : "");
}

/* The same in its long form, with the knots if they are specified, and the scale. */
static void
print_long_range(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;

	appendStringInfoString(out, "\"range\": ");
	print_range(out, column);
	if (column->knotted)
		appendStringInfoString(out, ", \"knots\": ");
	if (column->knotted && block->knots)
		print_positions(out, column, block->knots, dperm_block_knots(block));
	else if (column->knotted)
		appendStringInfo(out, "%d", dperm_block_knots(block));
	if (block->log)
		appendStringInfoString(out, ", \"scale\": \"log\"");
	appendStringInfoChar(out, '}');
}

/* Append a known domain. */
void
dperm_domain_json_print(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	DpermBlockKind kind = block->kind;

	switch (kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			if (!column->knotted && !block->log)
				print_range(out, column);
			else
			{
				appendStringInfoChar(out, '{');
				print_long_range(out, column);
			}
			break;
		case DPERM_BLOCK_FLAG:
			appendStringInfoString(out, "[false, true]");
			break;
		case DPERM_BLOCK_CATEGORY:
			(void) dperm_domain_types_kind(column->base, &kind);
			if (kind == DPERM_BLOCK_NUMBER)
				appendStringInfoString(out, "{\"categories\": ");
			print_categories(out, block);
			if (kind == DPERM_BLOCK_NUMBER)
				appendStringInfoChar(out, '}');
			break;
		case DPERM_BLOCK_VECTOR:
			appendStringInfo(out, "{\"dimension\": %d, \"norm\": %s}", block->count,
							 double_to_shortest_decimal(block->norm));
			break;
		case DPERM_BLOCK_BOX:
			appendStringInfo(out, "{\"dimension\": %d, ", dperm_block_elements(block));
			print_long_range(out, column);
			break;
	}
}

/* The least width of a range, from 0 on or above, that a logarithmic scale is proposed for. */
#define WIDE 10000

/*
 * What may suit a column better than its domain: categories for integers whose values
 * a constraint lists, a scale for a wide range. Returns whether there is anything.
 */
static bool
propose(StringInfo out, const DpermColumn *column)
{
	DpermColumn other = *column;
	const DpermBlock *block = &column->block;

	if (block->kind != DPERM_BLOCK_NUMBER)
		return false;
	if (dperm_domain_types_is_integer(column->base) && column->from == DPERM_DOMAIN_DECLARED &&
		column->value_count > 2)
	{
		other.block.kind = DPERM_BLOCK_CATEGORY;
		other.block.count = column->value_count;
		other.block.categories = column->values;
	}
	else if (block->low >= 0 && block->high - block->low >= WIDE && !column->knotted)
		other.block.log = true;
	if (other.block.kind == block->kind && other.block.log == block->log)
		return false;
	dperm_domain_json_print(out, &other);
	return true;
}

/* Append the form of a domain. */
bool
dperm_domain_json_template(StringInfo out, const DpermColumn *column)
{
	DpermBlockKind kind = column->block.kind;

	if (dperm_column_known(column))
		return propose(out, column);
	/* a list must not have a value twice, and a dimension is a number */
	if (kind == DPERM_BLOCK_NUMBER && column->block.low >= 0 && isfinite(column->block.low) &&
		column->block.high == INFINITY)
		appendStringInfo(out, "{\"range\": [%s, \"high\"], \"scale\": \"log\"}",
						 double_to_shortest_decimal(column->block.low));
	else
		appendStringInfoString(out, kind == DPERM_BLOCK_CATEGORY ? "[\"value\", \"value\"]" :
							   kind == DPERM_BLOCK_VECTOR ?
							   "{\"dimension\": \"number\", \"norm\": 1}" :
							   dperm_domain_types_is_integer(column->base) ?
							   "{\"range\": [\"low\", \"high\"], "
							   "\"categories\": [\"value\", \"value\"]}" :
							   "[\"low\", \"high\"]");
	return true;
}
