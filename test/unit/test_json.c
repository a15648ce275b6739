/*
 * test_json.c: the JSON reader, on what it must accept and what it must refuse.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/json.h"

/* Is the text one JSON value? It is copied to the byte, for the sanitizer. */
static bool
valid_bytes(const char *text, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	DpermJson	r;
	bool		result;

	memcpy(copy, text, len);
	dperm_json_open(&r, copy, len);
	dperm_json_skip(&r);
	result = dperm_json_close(&r);
	if (result != (r.why == NULL))
		abort();
	free(copy);
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
		"{\"a\":1,\"b\":[{}]}", "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]", "{\"\":0}",
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
		"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", "[1}", "{\"a\":1]", "/* c */ 1", "\xef\xbb\xbf" "1",
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

TEST(nests_only_so_deep)
{
	static char deep[200000];

	memset(deep, '[', sizeof(deep));
	CHECK(!valid_bytes(deep, sizeof(deep)));
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = "{\"a\":"[i % 5];
	CHECK(!valid_bytes(deep, sizeof(deep)));
}

/* Read one number; NAN if the reader refuses it. */
static double
number(const char *text)
{
	DpermJson	r;
	double		value = NAN;

	dperm_json_open(&r, text, strlen(text));
	if (!dperm_json_number(&r, &value) || !dperm_json_close(&r))
		return NAN;
	return value;
}

TEST(reads_numbers)
{
	char		digits[DPERM_JSON_NUMBER_MAX + 3];

	CHECK(number("0.1") == 0.1);
	CHECK(number("-1e-05") == -1e-5);
	CHECK(number("1.7976931348623157e308") == 1.7976931348623157e308);
	CHECK(number("4.9406564584124654e-324") == 4.9406564584124654e-324);
	CHECK(number("1e-400") == 0.0);
	CHECK(isnan(number("1e309")));
	CHECK(isnan(number("-1e400")));
	CHECK(isnan(number("\"1\"")));

	/* As jsonb prints the smallest numbers: without an exponent. */
	snprintf(digits, sizeof(digits), "%.340f", 2.2250738585072014e-308);
	CHECK(number(digits) == 2.2250738585072014e-308);

	memset(digits, '1', sizeof(digits));
	digits[1] = '.';
	digits[DPERM_JSON_NUMBER_MAX] = '\0';
	CHECK_NEAR(number(digits), 1.0 + 1.0 / 9.0, 1e-15);
	digits[DPERM_JSON_NUMBER_MAX] = '1';
	digits[DPERM_JSON_NUMBER_MAX + 1] = '\0';
	CHECK(isnan(number(digits)));
}

/* Read one integer; *fits says whether the reader accepted it. */
static int64_t
integer(const char *text, bool *fits)
{
	DpermJson	r;
	int64_t		value = -7;

	dperm_json_open(&r, text, strlen(text));
	*fits = dperm_json_integer(&r, &value) && dperm_json_close(&r);
	return value;
}

TEST(reads_integers)
{
	static const char *const bad[] = {"9223372036854775808", "-9223372036854775809", "1.0", "1e3",
		"99999999999999999999999", "true", "\"1\"", "-", "00"};
	bool		fits;

	CHECK(integer("9223372036854775807", &fits) == INT64_MAX && fits);
	CHECK(integer("-9223372036854775808", &fits) == INT64_MIN && fits);
	CHECK(integer("0", &fits) == 0 && fits);
	CHECK(integer("-0", &fits) == 0 && fits);
	CHECK(integer("9007199254740993", &fits) == INT64_C(9007199254740993) && fits);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		CHECK(integer(bad[i], &fits) == -7);
		CHECK(!fits);
	}
}

TEST(unescapes_strings)
{
	const char *text = "\"a\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\"";
	DpermJson	r;
	char		out[64];

	dperm_json_open(&r, text, strlen(text));
	CHECK(dperm_json_string(&r, out, sizeof(out)) && dperm_json_close(&r));
	CHECK_TEXT(out, "aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");

	/*
	 * What does not fit is cut off, and the reader continues after the string.
	 */
	dperm_json_open(&r, "[\"abcdef\", 1]", 13);
	CHECK(dperm_json_array(&r) && dperm_json_element(&r));
	CHECK(dperm_json_string(&r, out, 4));
	CHECK_TEXT(out, "abc");
	CHECK(dperm_json_element(&r));
}

TEST(stops_for_good)
{
	const char *text = "{\"a\": 1, \"b\": true}";
	DpermJson	r;
	char		key[8];
	bool		flag = false;
	double		value = 5.0;

	dperm_json_open(&r, text, strlen(text));
	CHECK(dperm_json_object(&r));
	CHECK(dperm_json_key(&r, key, sizeof(key)));
	CHECK_TEXT(key, "a");
	CHECK(dperm_json_peek(&r) == DPERM_JSON_NUMBER);
	CHECK(!dperm_json_bool(&r, &flag));
	CHECK(r.mistyped);
	CHECK_TEXT(r.why, "a boolean is expected");
	CHECK(dperm_json_peek(&r) == DPERM_JSON_BAD);
	CHECK(!dperm_json_number(&r, &value) && value == 5.0);
	CHECK(!dperm_json_key(&r, key, sizeof(key)));
	CHECK(!dperm_json_skip(&r));
	CHECK(!dperm_json_close(&r));
	CHECK_TEXT(r.why, "a boolean is expected");
}

/*
 * A caller that asks for keys inside an array, or leaves early, gets an error.
 */
TEST(refuses_misuse)
{
	DpermJson	r;
	char		key[8];

	dperm_json_open(&r, "[1]", 3);
	CHECK(dperm_json_array(&r));
	CHECK(!dperm_json_key(&r, key, sizeof(key)));
	CHECK(r.why != NULL);

	dperm_json_open(&r, "[1]", 3);
	CHECK(dperm_json_array(&r));
	CHECK(!dperm_json_close(&r));

	dperm_json_open(&r, "1", 1);
	CHECK(!dperm_json_element(&r));
}
