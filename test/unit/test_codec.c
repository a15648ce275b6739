/*
 * test_codec.c: fields as bytes and as JSON, in and out; and the JSON of tests, on
 * what it must accept and what it must refuse.
 */
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/base/codec.h"
#include "core/base/core.h"
#include "host.h"

/* Is the text one JSON value? It is copied to the byte, for the sanitizer. */
static bool
valid_bytes(const char *text, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	DpermTree	tree;
	bool		result;

	memcpy(copy, text, len);
	result = dperm_tree_parse((DpermText) {copy, (int) len}, &tree);
	free(copy);
	test_host_release();
	return result;
}

/* As valid_bytes for a C string. */
static bool
valid(const char *text)
{
	return valid_bytes(text, strlen(text));
}

TEST(takes_the_standard)
{
	static const char *const good[] = {
		"null", "true", "false", " \t\r\n 0 ", "-0", "-0.0", "1e5", "1E+5", "1e-05", "10.25e2",
		"1e400", "\"\"", "\"a\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u00e9\"",
		"\"\\uD834\\uDD1E\"", "\"\xc3\xa9\"", "[]", "[ ]", "{}", "{ }", "[1,2 , 3]",
		"{\"a\":1,\"b\":[{}]}", "{\"\":0}",
		"\"\x7f\"", "{\"a\":1,\"a\":2}"
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!valid(good[i]))
			test_complain(__FILE__, __LINE__, good[i]);
}

TEST(refuses_everything_else)
{
	static const char *const bad[] = {
		"", " ", "nul", "nulll", "True", "NaN", "Infinity", "-Infinity", "+1", "01", "-01", ".5",
		"1.", "1.e5", "1e", "1e+", "0x10", "1_000", "--1", "-", "1 2", "[1,]", "[,1]", "[1 2]",
		"[1;2]", "[", "]", "[1", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}",
		"{1:1}", "{'a':1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "\"", "\"a", "\"\\\"", "\"\\x41\"",
		"\"\\u12\"", "\"\\u123g\"", "\"\\u0000\"", "\"\\uD834\"", "\"\\uD834\\u0041\"",
		"\"\\uDD1E\"", "\"\\uD834\\", "\"tab\tin\"", "\"line\nfeed\"", "[1]]", "{}{}",
		"[1}", "{\"a\":1]", "/* c */ 1", "\xef\xbb\xbf" "1",
		"\"\x01\"", "[\"a\",", "\v1"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (valid(bad[i]))
			test_complain(__FILE__, __LINE__, bad[i]);
	CHECK(!valid_bytes("\"a\0b\"", 5));
	CHECK(!valid_bytes("1\0", 2));
}

/*
 * Every prefix of an object is broken; the reader says so and stays in bounds.
 */
TEST(refuses_every_prefix)
{
	const char *text = "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\"], \"b\": {\"c\": null, \"d\": true}}";
	size_t		len = strlen(text);

	CHECK(valid_bytes(text, len));
	for (size_t cut = 0; cut < len; cut++)
		CHECK(!valid_bytes(text, cut));
}

TEST(survives_any_byte)
{
	const char *text = "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\"], \"b\": {\"c\": null, \"d\": true}}";
	char		copy[128];
	size_t		len = strlen(text);
	int			taken = 0;

	for (size_t i = 0; i < len; i++)
		for (int byte = 0; byte < 256; byte++)
		{
			memcpy(copy, text, len);
			copy[i] = (char) byte;
			taken += valid_bytes(copy, len);
		}
	CHECK(taken > 0);
}

/* A codec that reads a text, which must be JSON. */
static DpermCodec
reading(const char *text)
{
	DpermCodec	c = {.form = DPERM_CODEC_READ_JSON};

	if (!dperm_tree_parse((DpermText) {text, (int) strlen(text)}, &c.root))
		test_complain(__FILE__, __LINE__, text);
	return c;
}

/* Read one number; NAN if it is refused. */
static double
number(const char *text)
{
	DpermCodec	c = reading(text);
	double		value;

	dperm_codec_number(&c, NULL, &value);
	return c.why ? NAN : value;
}

TEST(reads_numbers)
{
	char		digits[1000];

	CHECK(number("0.1") == 0.1);
	CHECK(number("-1e-05") == -1e-5);
	CHECK(number("1.7976931348623157e308") == DBL_MAX);
	CHECK(number("4.9406564584124654e-324") == 4.9406564584124654e-324);
	CHECK(number("\"Infinity\"") == INFINITY);
	CHECK(number("0e-400") == 0);
	CHECK(isnan(number("1e-400")));
	CHECK(isnan(number("1e309")));
	CHECK(isnan(number("-1e400")));
	CHECK(isnan(number("\"1\"")) && isnan(number("\"infinity\"")) && isnan(number("null")) && isnan(number("[1]")));

	/* As jsonb prints the smallest numbers: without an exponent. */
	snprintf(digits, sizeof(digits), "%.340f", 2.2250738585072014e-308);
	CHECK(number(digits) == 2.2250738585072014e-308);
}

/* Read one integer; *fits says whether it was accepted. */
static int64_t
integer(const char *text, bool *fits)
{
	DpermCodec	c = reading(text);
	int64_t		value = -7;

	dperm_codec_integer(&c, NULL, &value);
	*fits = c.why == NULL;
	return value;
}

TEST(reads_integers)
{
	static const char *const bad[] = {"9223372036854775808", "-9223372036854775809", "1.0", "1e3",
		"99999999999999999999999", "true", "\"1\"", "\"Infinity\"", "[]"};
	bool		fits;

	CHECK(integer("9223372036854775807", &fits) == INT64_MAX && fits);
	CHECK(integer("-9223372036854775808", &fits) == INT64_MIN && fits);
	CHECK(integer("0", &fits) == 0 && fits);
	CHECK(integer("-0", &fits) == 0 && fits);
	CHECK(integer("9007199254740993", &fits) == INT64_C(9007199254740993) && fits);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		(void) integer(bad[i], &fits);
		CHECK(!fits);
	}
}

/* A struct with a field of every kind, and its visitor. */
typedef struct Everything
{
	double		number;
	int64_t		integer;
	int			count;
	bool		flag;
	int			name;
	DpermText	text;
	DpermText	object;
	int			lists;
	int			length;
	const double *numbers;
	bool		some;
	double		low;
	double		high;
} Everything;

static const char *
name_of(int number)
{
	return number == 0 ? "zero" : number == 1 ? "one" : "two";
}

static void
visit(DpermCodec *c, Everything *e)
{
	dperm_codec_object(c, NULL);
	dperm_codec_number(c, "number", &e->number);
	dperm_codec_integer(c, "integer", &e->integer);
	e->count = dperm_codec_count(c, "count", e->count);
	e->flag = dperm_codec_flag(c, "flag", e->flag);
	e->name = dperm_codec_name(c, "name", e->name, name_of, 3);
	if (dperm_codec_has(c, "text", e->text.len > 0))
		dperm_codec_text(c, "text", &e->text);
	dperm_codec_object_text(c, "object", &e->object);
	e->lists = dperm_codec_nesting(c, "numbers", e->lists > 0 ? 2 : 1) == 2 ? 3 : 0;
	e->length = dperm_codec_count(c, "length", e->length);
	e->numbers = dperm_codec_numbers(c, "numbers", e->numbers, e->lists, e->length);
	e->some = dperm_codec_some(c, "pair", e->some);
	if (e->some)
		dperm_codec_pair(c, "pair", &e->low, &e->high);
	if (dperm_codec_says(c, "said") && !dperm_codec_flag(c, "said", true))
		dperm_codec_complain(c, "said", "is false");
	dperm_codec_end(c);
}

static DpermText
literal(const char *text)
{
	return (DpermText) {text, (int) strlen(text)};
}

static bool
same(DpermText a, DpermText b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, (size_t) a.len) == 0);
}

/* Is everything there again after it was written and read in a form? */
static bool
comes_back(const Everything *e, bool bytes)
{
	DpermCodec	out = {.form = bytes ? DPERM_CODEC_WRITE_BYTES : DPERM_CODEC_WRITE_JSON};
	DpermCodec	in;
	Everything	copy = *e;
	Everything	again = {0};
	bool		good;

	visit(&out, &copy);
	if (bytes)
		in = dperm_codec_read(out.out.bytes, out.out.len);
	else
		in = reading(out.out.bytes);
	visit(&in, &again);
	good = dperm_codec_end_of_bytes(&in) == NULL && again.number == e->number && again.integer == e->integer &&
		again.count == e->count && again.flag == e->flag && again.name == e->name &&
		same(again.text, e->text) && same(again.object, e->object) && again.lists == e->lists &&
		again.length == e->length && again.some == e->some && again.low == e->low && again.high == e->high;
	for (int i = 0; good && i < (e->lists > 0 ? e->lists : 1) * e->length; i++)
		good = again.numbers[i] == e->numbers[i];
	return good;
}

static const double six[6] = {0, -0.0, 1e-310, DBL_MAX, -1.5, 1.0 / 3};

TEST(every_field_comes_back)
{
	char		text[256];
	Everything	e = {.number = 0.1, .integer = INT64_MIN, .count = DPERM_DIM_MAX, .flag = true, .name = 2,
		.text = {text, 255}, .object = literal("{\"a\": [1, {}]}"), .length = 6, .numbers = six,
		.some = true, .low = -INFINITY, .high = 2};

	for (int i = 0; i < 255; i++)
		text[i] = (char) (i + 1);
	for (int way = 0; way < 2; way++)
	{
		e.low = way == 0 ? -1 : 1;	/* JSON has no negative infinity */
		CHECK(comes_back(&e, way));
		e.number = INFINITY;
		e.lists = 3;
		e.length = 2;
		CHECK(comes_back(&e, way));
		e = (Everything) {.object = literal("{}"), .numbers = six};
		CHECK(comes_back(&e, way));
		e = (Everything) {.number = -DBL_TRUE_MIN, .integer = INT64_MAX, .object = literal("{}"), .text = {text, 3}, .length = 6, .numbers = six,
			.some = true};
		CHECK(comes_back(&e, way));
		test_host_release();
	}
}

/* What is wrong with a text, of which ' stands for ". */
static const char *
why_not(const char *from, const char *to)
{
	static const char *const good = "{'number': 1, 'integer': 1, 'count': 1, 'flag': true, 'name': 'one', 'text': '', "
		"'object': {}, 'numbers': [[1, 2], [3, 4], [5, 6]], 'length': 2, 'pair': [1, 2], 'said': true}";
	static char text[1000];
	const char *at = strstr(good, from);
	Everything	e = {0};
	DpermCodec	c;

	snprintf(text, sizeof(text), "%.*s%s%s", (int) (at - good), good, to, at + strlen(from));
	for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
		*quote = '"';
	c = reading(text);
	visit(&c, &e);
	return c.why ? c.why : "";
}

TEST(names_what_is_wrong)
{
	CHECK_TEXT(why_not("{", "{"), "");
	CHECK_TEXT(why_not("'number': 1, ", ""), "key \"number\" is missing");
	CHECK_TEXT(why_not("'number': 1", "'number': true"), "key \"number\" must be a number");
	CHECK_TEXT(why_not("'number': 1", "'number': 1e999"), "key \"number\" is out of range");
	CHECK_TEXT(why_not("'integer': 1", "'integer': 1.5"), "key \"integer\" must be an integer");
	CHECK_TEXT(why_not("'count': 1", "'count': 5001"), "key \"count\" is out of range");
	CHECK_TEXT(why_not("'count': 1", "'count': -1"), "key \"count\" is out of range");
	CHECK_TEXT(why_not("'flag': true", "'flag': 1"), "key \"flag\" must be true or false");
	CHECK_TEXT(why_not("'one'", "'on'"), "key \"name\" has an unknown value");
	CHECK_TEXT(why_not("'one'", "1"), "key \"name\" must be a string");
	CHECK_TEXT(why_not("'text': ''", "'text': []"), "key \"text\" must be a string");
	CHECK_TEXT(why_not("'text': '', ", ""), "");
	CHECK_TEXT(why_not("'object': {}", "'object': []"), "key \"object\" must be an object");
	CHECK_TEXT(why_not("[5, 6]]", "[5]]"), "an element of \"numbers\" has too few or too many elements");
	CHECK_TEXT(why_not(", [5, 6]]", "]"), "key \"numbers\" has too few or too many elements");
	CHECK_TEXT(why_not("[5, 6]]", "[5, null]]"), "an element of \"numbers\" must be a number");
	CHECK_TEXT(why_not("[5, 6]]", "5]"), "an element of \"numbers\" must be an array");
	CHECK_TEXT(why_not("'length': 2", "'length': 5000"), "key \"numbers\" has too many elements");
	CHECK_TEXT(why_not("'pair': [1, 2]", "'pair': null"), "key \"pair\" must be an array");
	CHECK_TEXT(why_not("'pair': [1, 2], ", ""), "");
	CHECK_TEXT(why_not("'said': true", "'said': false"), "key \"said\" is false");
	CHECK_TEXT(why_not(", 'said': true", ""), "");
	CHECK_TEXT(why_not("'said': true", "'say': true"), "it has an unknown key");
	CHECK_TEXT(why_not("'said': true", "'said': true, 'flag': false"), "");	/* the last one counts */
}

/* Every length but the whole one is refused, and reads no byte too many. */
TEST(refuses_other_lengths)
{
	Everything	e = {.count = 7, .text = literal("text"), .object = literal("{}"), .lists = 3, .length = 2,
		.numbers = six, .some = true};
	DpermCodec	out = {.form = DPERM_CODEC_WRITE_BYTES};

	visit(&out, &e);
	for (size_t len = 0; len <= out.out.len + 1; len++)
	{
		char	   *copy = test_host_keep(len);
		DpermCodec	in = dperm_codec_read(memcpy(copy, out.out.bytes, len <= out.out.len ? len : 0), len);
		Everything	again = {0};

		if (len > out.out.len)
			memcpy(copy, out.out.bytes, out.out.len);
		visit(&in, &again);
		CHECK_TEXT(dperm_codec_end_of_bytes(&in) ? in.why : "", len < out.out.len ? "it ends too early" :
				   len > out.out.len ? "there is data after its end" : "");
	}
	test_host_release();
}

/* The shortest digits that read back. */
TEST(writes_short_numbers)
{
	static const struct
	{
		double		number;
		const char *text;
	}			cases[] = {{0.1, "0.1"}, {-0.0, "0"}, {1e-9, "1e-09"}, {1.0 / 3, "0.3333333333333333"}, {5e-324, "4.94065645841247e-324"}, {DBL_MAX, "1.7976931348623157e+308"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		DpermOut	out = {NULL, 0, 0};

		dperm_codec_put_double(&out, cases[i].number);
		CHECK_TEXT(out.bytes, cases[i].text);
		CHECK(strtod(out.bytes, NULL) == cases[i].number);
	}
}
