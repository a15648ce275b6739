/*
 * domain_json.c: read domains from JSON, and write them in the same forms
 * (docs/reference.md, Domains). A list is the short form of an object with one key,
 * and what follows reads objects. Plain.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/numeric.h"

#include "base/base.h"
#include "column/column.h"
#include "core/encode/encoder.h"

/* The keys of the long form, and WHOLE for a domain as a whole. */
typedef enum Key
{
	RANGE,
	CATEGORIES,
	KNOTS,
	SCALE,
	DIMENSION,
	NORM,
	WHOLE
} Key;

#define KEYS WHOLE
#define HAS(key) (1u << (key))

/* Their names, and what a domain must be to have them; %s is what a range consists of. */
static const struct
{
	const char *name;
	const char *must;
}			keys[KEYS] = {
	[RANGE] = {"range", "two %s, the lower one first"},
	[CATEGORIES] = {"categories", "a list of 1 to " CppAsString2(DPERM_DIM_MAX) " %s"},
	[KNOTS] = {"knots", "an object with a range and 1 to " CppAsString2(DPERM_DIM_MAX) " knots, "
		"or with a list of %s in ascending order from one end of the range to the other"},
	[SCALE] = {"scale", "an object with a range that is not too narrow, no list of knots, and a "
		"scale of \"log\" or \"linear\""},
	[DIMENSION] = {"dimension", "an object with a dimension between 1 and "
		CppAsString2(DPERM_DIM_MAX) ", as many as it has ranges"},
	[NORM] = {"norm", "an object with a norm between " CppAsString2(DPERM_NORM_MIN) " and "
		CppAsString2(DPERM_NORM_MAX)}
};

/*
 * What domains look like, by kind: their keys, all of them in words, an example, and
 * one to fill in.
 */
static const struct
{
	uint32		keys;
	const char *must;
	const char *example;
	const char *template;
}			forms[] = {
	[DPERM_BLOCK_NUMBER] = {HAS(RANGE) | HAS(KNOTS) | HAS(SCALE) | HAS(CATEGORIES),
		"[low, high], or an object with a range, knots or a scale, or one with categories",
	"[0, 120]", "[\"low\", \"high\"]"},
	[DPERM_BLOCK_TIME] = {HAS(RANGE) | HAS(KNOTS),
		"[low, high], or an object with a range or knots",
	"[\"2015-01-01\", \"2025-12-31\"]", "[\"low\", \"high\"]"},
	[DPERM_BLOCK_FLAG] = {0, "[false, true], or omitted", "[false, true]", "[false, true]"},
	[DPERM_BLOCK_CATEGORY] = {HAS(CATEGORIES),
		"a list of strings, or an object with categories",
	"[\"A\", \"B\"]", "[\"value\", \"value\"]"},
	[DPERM_BLOCK_VECTOR] = {HAS(DIMENSION) | HAS(NORM) | HAS(RANGE) | HAS(KNOTS),
		"an object with a dimension and a norm, which is 1 by default, or a range or knots",
	"{\"dimension\": 128, \"norm\": 1}", "{\"dimension\": \"number\", \"norm\": 1}"}
};

/* The kind of domains that a column has; a vector may have got a range by now. */
static DpermBlockKind
kind_of(const DpermColumn *column)
{
	return column->block.kind == DPERM_BLOCK_BOX ? DPERM_BLOCK_VECTOR : column->block.kind;
}

/* An example domain for this column, for hints: '{"age": [0, 120]}' as an SQL literal. */
char *
dperm_domain_json_example(const DpermColumn *column)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	escape_json(&json, column->name);
	appendStringInfo(&json, ": %s}", column->base == TIMEOID ? "[\"08:00\", \"18:00\"]" :
					 forms[kind_of(column)].example);
	return quote_literal_cstr(json.data);
}

/* Raise the error for a domain of another form, or for the value of one of its keys. */
static _Noreturn void
refuse(const DpermColumn *column, Key key)
{
	DpermBlockKind kind = kind_of(column);
	bool		box = kind == DPERM_BLOCK_VECTOR && (key == RANGE || key == KNOTS);
	bool		declared = key == DIMENSION && dperm_column_known(column);
	const char *what = key != CATEGORIES ?
		(kind != DPERM_BLOCK_TIME ? "numbers" :
		 column->base == TIMEOID ? "times as strings" : "dates as strings") :
		kind == DPERM_BLOCK_CATEGORY ? "strings" :
		"values, and only integers and numeric with a scale can be categories";
	const char *must = key == WHOLE ? forms[kind].must :
		declared ? psprintf("of dimension %d, as declared in the catalog",
							dperm_block_elements(&column->block)) : psprintf(keys[key].must, what);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the domain of column \"%s\" of type %s must be %s%s", column->name,
					format_type_be(column->type),
					box && key == RANGE ? "an object with a range of " : "", must),
			 declared ? errhint("The dimension can be omitted.") :
			 box ? errhint("For example: {\"dimension\": 8, \"range\": [0, 1]}.") :
			 key == SCALE ? errhint("For example: {\"range\": [0, 1000000], \"scale\": \"log\"}.") :
			 errhint("For example: domains => %s.", dperm_domain_json_example(column))));
}

/* Raise the error for a value that the domain of a column cannot have. */
static _Noreturn void
refuse_value(const DpermColumn *column, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the domain of column \"%s\" of type %s is not valid: %s", column->name,
					format_type_be(column->type), why)));
}

/* The array in a JSON value, or NULL. */
static JsonbContainer *
list_in(JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data) &&
		!JsonContainerIsScalar(value->val.binary.data) ? value->val.binary.data : NULL;
}

/* The number of elements of the array in a JSON value, if it is one. */
static int
list_size(JsonbValue *value)
{
	return list_in(value) ? JsonContainerSize(list_in(value)) : 0;
}

/* A JSON number as a double; infinite if out of range, NaN if it is no number. */
static double
number_in(JsonbValue *value)
{
	return value->type != jbvNumeric ? NAN :
		DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
										   NumericGetDatum(value->val.numeric)));
}

/* A whole number from 1 on. */
static int
read_count(const DpermColumn *column, JsonbValue *value, Key key)
{
	double		count = number_in(value);

	if (!(count >= 1 && count <= DPERM_DIM_MAX) || count != floor(count))
		refuse(column, key);
	return (int) count;
}

/* A string as the type of the column reads it. */
static Datum
read_string(const DpermColumn *column, const char *text)
{
	Datum		value;
	char	   *why;

	if (!dperm_column_input(column->base, column->typmod, text, &value, &why))
		refuse_value(column, why);
	return value;
}

/* Numbers, or times as strings, in ascending order: knots, or a range, which is two of them. */
static double *
read_positions(const DpermColumn *column, JsonbValue *value, Key key)
{
	int			count = list_size(value);
	double	   *positions;

	if (count < 2 || count > (key == RANGE ? 2 : DPERM_DIM_MAX))
		refuse(column, key);
	positions = palloc(sizeof(double) * count);
	for (int i = 0; i < count; i++)
	{
		JsonbValue *one = getIthJsonbValueFromContainer(list_in(value), i);

		if (column->block.kind != DPERM_BLOCK_TIME)
			positions[i] = number_in(one);
		else if (one->type == jbvString)
			(void) dperm_column_number(
				column->base,
				read_string(column, pnstrdup(one->val.string.val, one->val.string.len)),
				&positions[i]);
		else
			refuse(column, key);
		if (i > 0 && !dperm_block_are_bounds(positions[i - 1], positions[i]))
			refuse(column, key);
	}
	return positions;
}

/*
 * A list of categories; numbers only where the column holds numbers, and only if
 * equal ones have the same text.
 */
static void
read_categories(DpermColumn *column, JsonbValue *list)
{
	bool		numbers = column->block.kind == DPERM_BLOCK_NUMBER;
	int			count = list_size(list);
	DpermText  *texts;

	if (column->base == FLOAT4OID || column->base == FLOAT8OID ||
		(column->base == NUMERICOID && column->typmod < 0) || count < 1 || count > DPERM_DIM_MAX)
		refuse(column, CATEGORIES);
	texts = palloc(count * sizeof(DpermText));
	for (int i = 0; i < count; i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(list_in(list), i);
		char	   *given;
		DpermText	text;

		if (numbers && value->type == jbvNumeric)
			given = dperm_host_output(NumericGetDatum(value->val.numeric), NUMERICOID);
		else if (value->type == jbvString)
			given = pnstrdup(value->val.string.val, value->val.string.len);
		else
			refuse(column, CATEGORIES);
		/* as the output function of the type writes it */
		text = dperm_column_text(column->base, read_string(column, given));
		if (text.len > DPERM_VALUE_MAX - VARHDRSZ)
			refuse_value(column, psprintf("a category has more than %d bytes",
										  DPERM_VALUE_MAX - VARHDRSZ));
		if (dperm_column_lists(texts, i, &text))
			refuse_value(column, psprintf("category \"%.*s\" appears twice", text.len,
										  text.bytes));
		texts[i] = text;
		CHECK_FOR_INTERRUPTS();
	}
	column->block.kind = DPERM_BLOCK_CATEGORY;
	column->block.count = count;
	column->block.categories = texts;
}

/*
 * The range of a number, a time, or of all elements of a vector; or a list of such
 * pairs, one for each element.
 */
static void
read_range(const DpermColumn *column, JsonbValue *value, DpermBlock *block)
{
	int			count = list_size(value);
	double	   *bounds;

	block->knots = NULL;
	if (block->kind != DPERM_BLOCK_BOX || count == 0 ||
		list_in(getIthJsonbValueFromContainer(list_in(value), 0)) == NULL)
	{
		bounds = read_positions(column, value, RANGE);
		block->low = bounds[0];
		block->high = bounds[1];
		return;
	}
	if (count > DPERM_DIM_MAX)
		refuse(column, DIMENSION);
	block->bounds = bounds = palloc(sizeof(double) * 2 * count);
	for (int i = 0; i < count; i++)
		memcpy(bounds + 2 * i,
			   read_positions(column, getIthJsonbValueFromContainer(list_in(value), i), RANGE),
			   2 * sizeof(double));
	block->count = count;
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
	int			count = list_size(value);
	double	   *knots;

	if (list_in(value) == NULL)
	{
		if (!known)
			refuse(column, KNOTS);
		block->knots = NULL;
		return read_count(column, value, KNOTS);
	}
	knots = read_positions(column, value, KNOTS);
	if (ranged && (block->bounds || knots[0] != block->low || knots[count - 1] != block->high))
		refuse(column, KNOTS);
	block->low = knots[0];
	block->high = knots[count - 1];
	block->bounds = NULL;
	block->knots = knots;
	block->log = false;
	return count;
}

/* The scale of a number; known: does it have a range, from wherever? */
static void
read_scale(const DpermColumn *column, JsonbValue *value, bool known, DpermBlock *block)
{
	const char *name = value->type == jbvString ?
		pnstrdup(value->val.string.val, value->val.string.len) : "";

	block->log = strcmp(name, "log") == 0;
	if (!known || (!block->log && strcmp(name, "linear") != 0) ||
		(block->log && block->knots) ||
		dperm_block_scaled(block, block->low) == dperm_block_scaled(block, block->high))
		refuse(column, SCALE);
}

/*
 * The domain of a number or a time: a range, knots, a scale; or of a vector: a
 * dimension, which the catalog may know already, and a norm or a range. Knots and a
 * scale need a range: its own, that of a list of knots, or that of the catalog. What
 * is not said without a range is as before.
 */
static void
read_block(DpermColumn *column, JsonbValue **values)
{
	JsonbValue *range = values[RANGE];
	JsonbValue *knots = values[KNOTS];
	JsonbValue *dimension = values[DIMENSION];
	JsonbValue *norm = values[NORM];
	const DpermBlock *before = &column->block;
	bool		vector = kind_of(column) == DPERM_BLOCK_VECTOR;
	int			declared =
		vector && dperm_column_known(column) ? dperm_block_elements(before) : 0;
	DpermBlock	block = {.kind = before->kind, .column = before->column};
	bool		ranged;
	bool		knotted = knots != NULL;
	int			each = 1;

	if (vector)
		block.kind = range || knots ? DPERM_BLOCK_BOX : DPERM_BLOCK_VECTOR;
	ranged = dperm_column_known(column) && before->kind == block.kind;
	if (block.kind == DPERM_BLOCK_VECTOR)
	{
		block.norm = norm ? number_in(norm) : 1;
		if (!(block.norm >= DPERM_NORM_MIN && block.norm <= DPERM_NORM_MAX))
			refuse(column, NORM);
	}
	else if (range)
		read_range(column, range, &block);
	else if (ranged)
	{
		block.low = before->low;
		block.high = before->high;
		block.bounds = before->bounds;
		block.log = before->log;
		if (!knots && !vector)
		{
			each = before->count;
			block.knots = before->knots;
			knotted = column->knotted;
		}
	}
	if (knots)
		each = read_knots(column, knots, range != NULL, range || ranged, &block);
	if (values[SCALE])
		read_scale(column, values[SCALE], range || ranged || knots, &block);
	if (vector)
	{
		int			count = dimension ? read_count(column, dimension, DIMENSION) :
			block.count > 0 ? block.count : declared;

		if (count == 0 || (block.count > 0 && count != block.count) ||
			(declared > 0 && count != declared))
			refuse(column, DIMENSION);
		block.count = count * each;
		block.each = each > 1 ? each : 0;
	}
	else
		block.count = each;
	column->block = block;
	column->knotted = knotted;
}

/*
 * The values of the long form of a domain, NULL for keys that it does not have: a
 * list has categories, or is a range.
 */
static void
read_form(const DpermColumn *column, JsonbValue *value, JsonbValue **values)
{
	DpermBlockKind kind = kind_of(column);
	JsonbContainer *object = value->type == jbvBinary ? value->val.binary.data : NULL;
	uint32		has = 0;

	if (list_in(value) && kind != DPERM_BLOCK_VECTOR)
	{
		values[kind == DPERM_BLOCK_CATEGORY ? CATEGORIES : RANGE] = value;
		return;
	}
	if (object == NULL || !JsonContainerIsObject(object))
		refuse(column, WHOLE);
	for (Key key = 0; key < KEYS; key++)
	{
		values[key] = getKeyJsonValueFromContainer(object, keys[key].name,
												   strlen(keys[key].name), NULL);
		has |= values[key] ? HAS(key) : 0;
	}
	/* categories stand alone, a norm excludes a range, and only a vector needs no key */
	if (pg_popcount32(has) != JsonContainerSize(object) || (has & ~forms[kind].keys) != 0 ||
		(values[CATEGORIES] && has != HAS(CATEGORIES)) ||
		(values[NORM] && (values[RANGE] || values[KNOTS])) ||
		(has == 0 && kind != DPERM_BLOCK_VECTOR))
		refuse(column, WHOLE);
}

/* Set a column's domain from the caller's JSON, or raise an error that names the column. */
void
dperm_domain_json_parse(DpermColumn *column, JsonbValue *value)
{
	JsonbValue *values[KEYS] = {NULL};

	if (column->from == DPERM_DOMAIN_UNUSABLE)
		dperm_domains_missing(column);
	if (column->block.kind == DPERM_BLOCK_FLAG)
	{
		char	   *text = list_in(value) ? JsonbToCString(NULL, list_in(value), 0) : "";

		/* as dp_domains shows it; a boolean has no other domain */
		if (strcmp(text, "[false, true]") != 0 && strcmp(text, "[true, false]") != 0)
			refuse(column, WHOLE);
	}
	else
	{
		read_form(column, value, values);
		if (values[CATEGORIES])
			read_categories(column, values[CATEGORIES]);
		else
			read_block(column, values);
	}
	column->from = DPERM_DOMAIN_GIVEN;
	column->origin = "argument";
	column->lack = NULL;
}

/* Append a key of an object that has been begun. */
static void
print_key(StringInfo out, Key key)
{
	appendStringInfo(out, "%s\"%s\": ", out->data[out->len - 1] == '{' ? "" : ", ",
					 keys[key].name);
}

/* Some positions, as a list. */
static void
print_positions(StringInfo out, const DpermColumn *column, const double *positions, int count)
{
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(out, i == 0 ? "[" : ", ");
		if (column->block.kind == DPERM_BLOCK_TIME)
			escape_json(out, dperm_column_time(column->base, rint(
							positions[i] * (double) USECS_PER_DAY), NULL));
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
		DpermBlock	number = dperm_block_element(block, i);
		double		range[] = {number.low, number.high};

		appendStringInfoString(out, i > 0 ? ", " : block->bounds ? "[" : "");
		print_positions(out, column, range, 2);
	}
	appendStringInfoString(out, block->bounds ? "]" : "");
}

/* The categories, as a list of strings. */
static void
print_categories(StringInfo out, const DpermBlock *block)
{
	for (int i = 0; i < block->count; i++)
	{
		appendStringInfoString(out, i == 0 ? "[" : ", ");
		escape_json(out, pnstrdup(block->categories[i].bytes, block->categories[i].len));
	}
	appendStringInfoChar(out, ']');
}

/* Append a known domain, in its short form if it has one. */
void
dperm_domain_json_print(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	bool		category = block->kind == DPERM_BLOCK_CATEGORY;
	bool		vector = kind_of(column) == DPERM_BLOCK_VECTOR;
	DpermBlockKind kind;
	bool		bare = dperm_column_kind(column->base, &kind) && kind == block->kind &&
		!vector && !column->knotted && !block->log;

	if (block->kind == DPERM_BLOCK_FLAG)
	{
		appendStringInfoString(out, "[false, true]");
		return;
	}
	appendStringInfoString(out, bare ? "" : "{");
	if (vector)
	{
		print_key(out, DIMENSION);
		appendStringInfo(out, "%d", dperm_block_elements(block));
	}
	if (!bare)
		print_key(out, category ? CATEGORIES : block->kind == DPERM_BLOCK_VECTOR ? NORM : RANGE);
	if (category)
		print_categories(out, block);
	else if (block->kind == DPERM_BLOCK_VECTOR)
		appendStringInfoString(out, double_to_shortest_decimal(block->norm));
	else
		print_range(out, column);
	if (column->knotted)
	{
		print_key(out, KNOTS);
		if (block->knots)
			print_positions(out, column, block->knots, dperm_block_knots(block));
		else
			appendStringInfo(out, "%d", dperm_block_knots(block));
	}
	if (block->log)
	{
		print_key(out, SCALE);
		appendStringInfoString(out, "\"log\"");
	}
	appendStringInfoString(out, bare ? "" : "}");
}

/*
 * Append the form of a domain that a column lacks, with words to be replaced: it is no
 * domain as it is, as a list must not have a value twice, and a dimension is a number.
 */
void
dperm_domain_json_template(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	bool		number = block->kind == DPERM_BLOCK_NUMBER;

	if (number && block->low >= 0 && isfinite(block->low) && block->high == INFINITY)
		appendStringInfo(out, "{\"range\": [%s, \"high\"], \"scale\": \"log\"}",
						 double_to_shortest_decimal(block->low));
	else if (number && dperm_column_is_integer(column->base))
		appendStringInfoString(out, "{\"range\": [\"low\", \"high\"], "
							   "\"categories\": [\"value\", \"value\"]}");
	else
		appendStringInfoString(out, forms[block->kind].template);
}
