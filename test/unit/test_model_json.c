/*
 * test_model_json.c: the text form of a model, exact and against hostile input.
 */
#include "core/base/core.h"
#include "unit/sample_model.h"

#define JSON_MAX 16384

static const char *const plain_text =
"{\"format\": 1, \"loss\": \"logistic\", \"kind\": \"logistic regression\","
" \"epsilon\": 1, \"delta\": 0, \"neighbours\": \"replace\", \"unit\": \"row\", \"private\": true, \"rows\": 1000,"
" \"method\": \"objective\", \"analysis\": \"sharp\", \"lambda\": 0.01,"
" \"lambda_effective\": 0.02, \"budget\": {\"slack\": 0.0625, \"noise\": 0.875,"
" \"release\": 0.0625}, \"noise\": \"ball\", \"noise_scale\": 2.5, \"grid\": 9.094947017729282e-13,"
" \"release_scale\": 12345,"
" \"features\": [{\"type\": \"vector\", \"dimension\": 1, \"norm\": 1}], \"intercept\": true, \"dimension\": 2,"
" \"weights\": [0.25, -1.5], \"guarantee\": \"";

/* Read a text, in memory that does not grow with what is in it; NULL if it is a valid model. */
static const char *
read_json(const char *in, size_t len, DpermModel *out)
{
	DpermTree	tree;
	size_t		before = test_host_allocated;
	const char *why;

	if (!dperm_tree_parse(sample_copy(in, len), &tree))
		return "it is not JSON";
	why = dperm_model_parse(&tree, out);
	CHECK(test_host_allocated - before <= SAMPLE_ALLOCATED(len));
	return why;
}

/* The text of a model, into a buffer of this size. */
static size_t
print_json(const DpermModel *m, char *text, size_t room)
{
	DpermText	printed = dperm_model_print(m);

	CHECK((size_t) printed.len < room && strlen(printed.bytes) == (size_t) printed.len);
	memcpy(text, printed.bytes, (size_t) printed.len + 1);
	return (size_t) printed.len;
}

TEST(round_trips_json)
{
	TestRandom	state = 2;

	for (int round = 0; round < 1000; round++)
	{
		SampleModel room;
		char		text[JSON_MAX];
		char		again_text[JSON_MAX];
		DpermModel	m = sample_model(&state, &room);
		DpermModel	again;
		size_t		len = print_json(&m, text, sizeof(text));

		CHECK(len < sizeof(text));
		CHECK(strlen(text) == len);
		CHECK(read_json(text, len, &again) == NULL);
		CHECK(same_model(&m, &again));
		print_json(&again, again_text, sizeof(again_text));
		CHECK_TEXT(again_text, text);
		test_host_release();
	}
}

/* Only the full length decodes. */
TEST(refuses_other_lengths)
{
	TestRandom	state = 3;
	SampleModel room;
	char		text[JSON_MAX];
	DpermModel	m = sample_model(&state, &room);
	DpermModel	out;
	size_t		len = print_json(&m, text, sizeof(text));

	for (size_t cut = 0; cut < len; cut++)
		CHECK(read_json(text, cut, &out) != NULL);
	text[len] = 'x';
	CHECK(read_json(text, len + 1, &out) != NULL);
	text[len] = ' ';
	CHECK(read_json(text, len + 1, &out) == NULL);
}

/* Whatever one character is changed to: refused, or a valid model. */
TEST(survives_flipped_characters)
{
	static const char bytes[] = "\"\\{}[]:,.-+eE0159 atnIu/\n\x80\xff";
	TestRandom	state = 5;
	SampleModel room;
	char		text[JSON_MAX];
	char		again_text[JSON_MAX];
	DpermModel	m = sample_model(&state, &room);
	DpermModel	out;
	DpermModel	again;
	const char *why;
	size_t		len = print_json(&m, text, sizeof(text));

	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < sizeof(bytes); k++)
		{
			char		kept = text[i];

			text[i] = bytes[k]; /* the last one is zero */
			why = read_json(text, len, &out);
			text[i] = kept;
			if (why != NULL)
				continue;
			CHECK(dperm_model_fault(&out) == NULL);
			print_json(&out, again_text, sizeof(again_text));
			CHECK(read_json(again_text, strlen(again_text), &again) == NULL);
			CHECK(same_model(&out, &again));
			test_host_release();
		}
}

/*
 * Why the text of a model is refused with the first occurrence of one string
 * replaced.
 */
static const char *
why_not_edited(const DpermModel *m, const char *from, const char *to)
{
	static char text[JSON_MAX];
	DpermModel	out;
	char		original[JSON_MAX];
	char	   *at;
	const char *why;

	print_json(m, original, sizeof(original));
	at = strstr(original, from);
	if (at == NULL)
		return "the string to replace is not there";
	snprintf(text, sizeof(text), "%.*s%s%s", (int) (at - original), original, to,
			 at + strlen(from));
	why = read_json(text, strlen(text), &out);
	return why ? why : "";
}

/*
 * What happens when a part of the text of a model is replaced; ' stands for ".
 */
typedef struct Edit
{
	const char *from;
	const char *to;
	const char *why;			/* it is refused; empty if it is not */
} Edit;

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* The text with double quotes. */
static const char *
quoted(const char *text, char *out)
{
	for (char *at = strcpy(out, text); (at = strchr(at, '\'')) != NULL;)
		*at = '"';
	return out;
}

/* Each edit by itself. */
static void
check_edits(DpermModel m, const Edit *edits, int count)
{
	for (int i = 0; i < count; i++)
	{
		char		from[300],
					to[300],
					why[300];
		int			complaints = test_complaints;

		CHECK_TEXT(why_not_edited(&m, quoted(edits[i].from, from), quoted(edits[i].to, to)),
				   quoted(edits[i].why, why));
		if (test_complaints > complaints)
			fprintf(stderr, "with %s for %s\n", to, from);
	}
}

TEST(prints_in_a_stable_order)
{
	DpermModel	m = plain_model();
	char		text[JSON_MAX];

	print_json(&m, text, sizeof(text));
	CHECK(strncmp(text, plain_text, strlen(plain_text)) == 0);
}

/* Persons are counted in place of rows, under their own name. */
TEST(prints_persons)
{
	static const Edit of_persons[] = {
		{"'persons'", "'rows'", "key 'persons' is missing"},
		{"'persons': 1000", "'persons': 1000, 'rows': 1000", "it has an unknown key"},
		{"'persons': 1000, ", "", "key 'persons' is missing"},
		{"'persons': 1000", "'persons': 0", "the number of persons is out of range"},
		{"'sharp'", "'paper'", "the analysis of the paper supports rows, not persons"},
		{"'unit': 'person'", "'unit': 'row'", "key 'rows' is missing"}
	};
	static const Edit of_rows[] = {
		{"'unit': 'row'", "'unit': 'household'", "key 'unit' has an unknown value"},
		{"'rows': 1000", "'rows': 1000, 'persons': 1000", "it has an unknown key"}
	};
	DpermModel	m = plain_model();
	char		text[JSON_MAX];

	m.claim.unit = DPERM_UNIT_PERSON;
	print_json(&m, text, sizeof(text));
	CHECK(strstr(text, "\"neighbours\": \"replace\", \"unit\": \"person\", \"private\": true, \"persons\": 1000, \"method\"") != NULL);
	CHECK(strstr(text, "\"rows\"") == NULL);
	check_edits(m, of_persons, COUNT(of_persons));
	check_edits(plain_model(), of_rows, COUNT(of_rows));
}

TEST(explains_hostile_texts)
{
	static const Edit edits[] = {
		{"'format': 1", "'format': 0",
		"this version of dperm does not support the format of the model"},
		{"'format': 1", "'format': 2, 'columns': []",
		"this version of dperm does not support the format of the model"},
		{"'format': 1, ", "", "key 'format' is missing"},
		{"'format': 1", "'format': '1'", "key 'format' must be a number"},
		{"'format': 1", "'format': 1, 'format': 1", ""},
		{"'rows': 1000", "'rows': 1000, 'rows': 1000", ""},
		{"'rows': 1000", "'rows': 1000, 'r\\u006fws': 1", ""},
		{"'rows': 1000", "'rows': 1e3", "key 'rows' must be an integer"},
		{"'rows': 1000, ", "", "key 'rows' is missing"},
		{"'rows': 1000", "'rows': 99999999999999999999", "key 'rows' must be an integer"},
		{"'rows'", "'Rows'", "key 'rows' is missing"},
		{"'kind': 'logistic regression', ", "", ""},
		{"'logistic regression'", "'support vector machine'",
		"key 'kind' contradicts other keys"},
		{"'logistic regression'", "'tree'", "key 'kind' has an unknown value"},
		{"'loss': 'logistic'", "'loss': 'hinge'", "key 'loss' has an unknown value"},
		{"'loss': 'logistic'", "'loss': 'huber'", "key 'kind' contradicts other keys"},
		{"'private'", "'h': 0, 'private'", "it has an unknown key"},
		{"'private': true", "'private': false", "key 'private' contradicts other keys"},
		{"'private': true", "'private': 1", "key 'private' must be true or false"},
		{"'epsilon': 1", "'epsilon': 'infinity'", "key 'epsilon' must be a number"},
		{"'epsilon': 1", "'epsilon': NaN", "it is not JSON"},
		{"'epsilon': 1", "'epsilon': null", "key 'epsilon' must be a number"},
		{"'delta': 0", "'delta': 0.1", ""},
		{"'delta': 0", "'delta': 1", "delta is out of range"},
		{"'delta': 0", "'delta': -1e-6", "delta is out of range"},
		{"'delta': 0", "'delta': 1e-20", "delta is out of range"},
		{"'delta': 0", "'delta': '0'", "key 'delta' must be a number"},
		{"'replace'", "'remove'", ""},
		{"'delta': 0, ", "", ""},
		{"'replace'", "'add-remove'", "key 'neighbours' has an unknown value"},
		{"'row'", "'column'", "key 'unit' has an unknown value"},
		{"'rows': 1000", "'rows': 1000, 'label': 3", "key 'label' must be a string"},
		{"'rows': 1000", "'rows': 1000, 'label': 'y', 'positive': ''", ""},
		{"'objective'", "'subjective'", "key 'method' has an unknown value"},
		{"'sharp'", "''", "key 'analysis' has an unknown value"},
		{"'slack': 0.0625, ", "", "key 'slack' of 'budget' is missing"},
		{"'weights'", "'ledger': {'entry': 7, 'budget': 'b'}, 'weights'", ""},
		{"'weights'", "'ledger': {'entry': 7, 'entry': 7}, 'weights'",
		"key 'budget' of 'ledger' is missing"},
		{"'weights'", "'ledger': {'entry': 7, 'id': 7}, 'weights'",
		"key 'budget' of 'ledger' is missing"},
		{"'weights'", "'ledger': {'entry': 7}, 'weights'",
		"key 'budget' of 'ledger' is missing"},
		{"'weights'", "'ledger': {'entry': 0, 'budget': ''}, 'weights'",
		"the entry of the ledger is out of range"},
		{"'weights'", "'ledger': 7, 'weights'", "key 'ledger' must be an object"},
		{"'slack'", "'noise'", "key 'slack' of 'budget' is missing"},
		{"'slack'", "'slacks'", "key 'slack' of 'budget' is missing"},
		{"{'slack': 0.0625, 'noise': 0.875, 'release': 0.0625}", "[]",
		"key 'budget' must be an object"},
		{"'dimension': 2", "'dimension': 4294967298", "key 'dimension' contradicts other keys"},
		{"'dimension': 2, ", "", ""},
		{"'dimension': 1", "'dimension': 4294967297", "key 'dimension' of 'features' is out of range"},
		{"'dimension': 2", "'dimension': 3", "key 'dimension' contradicts other keys"},
		{"'intercept': true", "'intercept': 'true'", "key 'intercept' must be true or false"},
		{"[0.25, -1.5]", "[0.25]", "key 'weights' has too few or too many elements"},
		{"[0.25, -1.5]", "[1, 2, 3, 4, 5]", "key 'weights' has too few or too many elements"},
		{"[0.25, -1.5]", "[0.25, '-1.5']", "an element of 'weights' must be a number"},
		{"[0.25, -1.5]", "[0.25, 1e999]", "an element of 'weights' is out of range"},
		{"[0.25, -1.5]", "[0.25, -1.5", "it is not JSON"},
		{"[0.25, -1.5]", "[[[[[[[[[[[[[[[[[[[[[[[[[[[", "it is not JSON"},
		{"'guarantee': '", "'guarantee': 'Nonsense. ", ""},
		{"'guarantee': '", "'guarantee': 1, 'x': '", "key 'guarantee' must be a string"}
	};

	check_edits(plain_model(), edits, COUNT(edits));
}

TEST(prints_classes)
{
	static const Edit edits[] = {
		{"'classes': ['no', 'yes', 'who \\'knows\\'?'], ", "", "key 'classes' is missing"},
		{"'no', ", "", "key 'weights' has too few or too many elements"},
		{"'no', 'yes', 'who \\'knows\\'?'", "", "key 'weights' has too few or too many elements"},
		{"'no', ", "'no', 'maybe', ", "key 'weights' has too few or too many elements"},
		{"'no'", "'yes'", "a class is there twice"},
		{"'no'", "'y\\u0065s'", "a class is there twice"},
		{"'no'", "''", ""},
		{"'no'", "1", "an element of 'classes' must be a string"},
		{"'no'", "['no']", "an element of 'classes' must be a string"},
		{"'no'", "null", "an element of 'classes' must be a string"},
		{"'no'", "tru", "it is not JSON"},
		{"'no'", "'n\\u0000'", "it is not JSON"},
		{"'classes': [", "'classes': [], 'c': [", "key 'weights' has too few or too many elements"},
		{"'classes': [", "'classes': 'no', 'c': [", "key 'classes' must be an array"},
		{"'classes': [", "'classes': {}, 'c': [", "key 'classes' must be an array"},
		{"'classes': [", "'classes': [], 'classes': [", ""},
		{"'softmax'", "'logistic'", "there must be two classes with this loss"},
		{"'softmax'", "'log_cosh', 'h': 0.5, 'bounds': [0, 1]", "key 'kind' contradicts other keys"},
		{"'classes'", "'positive': 'no', 'classes'", "positive is not expected"},
		{"'classes'", "'bounds': [0, 1], 'classes'", "it has an unknown key"},
		{"'classes'", "'h': 1, 'classes'", "it has an unknown key"},
		{"[[0.25, -1.5], [0, 3], [0.5, 1]]", "[0.25, -1.5, 0, 3, 0.5, 1]",
		"key 'weights' has too few or too many elements"},
		{"[[0.25, -1.5], [0, 3], [0.5, 1]]", "[]",
		"key 'weights' has too few or too many elements"},
		{"[[0.25, -1.5], [0, 3], [0.5, 1]]", "[[], [], []]", "an element of 'weights' has too few or too many elements"},
		{"[[0.25, -1.5], [0, 3], [0.5, 1]]", "[[0.25], [0], [1]]", "an element of 'weights' has too few or too many elements"},
		{"[0, 3]", "[0]", "an element of 'weights' has too few or too many elements"},
		{"[0, 3]", "[0, 3, 5]", "an element of 'weights' has too few or too many elements"},
		{"[0, 3]", "0, 3", "key 'weights' has too few or too many elements"},
		{"[0, 3]", "[0, [3]]", "an element of 'weights' must be a number"},
		{"[0.25, -1.5]", "[[0.25, -1.5]]", "an element of 'weights' has too few or too many elements"},
		{"[0.25, -1.5], ", "", "key 'weights' has too few or too many elements"},
		{"[0.25, -1.5]", "1, [0.25, -1.5]", "key 'weights' has too few or too many elements"},
		{"[0.25, -1.5]", "[0.25, -1.5", "it is not JSON"}
	};
	static const Edit of_plain[] = {
		{"[0.25, -1.5]", "[[0.25, -1.5]]", "key 'weights' has too few or too many elements"},
		{"'method'", "'classes': [], 'method'", "there must be two classes with this loss"},
		{"'method'", "'classes': ['no'], 'method'", "there must be two classes with this loss"},
		{"'method'", "'classes': ['no', 'yes'], 'method'", ""},
		{"'method'", "'classes': ['no', 'yes', 'maybe'], 'method'", "there must be two classes with this loss"},
		{"'method'", "'classes': ['no', 'no'], 'method'", "a class is there twice"},
		{"'method'", "'classes': 'no', 'method'", "key 'classes' must be an array"},
		{"'logistic', ", "'softmax', 'classes': ['a', 'b', 'c'], ",
		"key 'weights' has too few or too many elements"}
	};
	DpermModel	m = several_model();
	DpermModel	out;
	char		text[JSON_MAX];

	print_json(&m, text, sizeof(text));
	CHECK(strstr(text, "{\"format\": 1, \"loss\": \"softmax\", \"kind\": \"logistic regression\", \"epsilon\": 1,") == text);
	CHECK(strstr(text, "\"rows\": 1000, \"classes\": [\"no\", \"yes\", \"who \\\"knows\\\"?\"], \"method\"") != NULL);
	CHECK(strstr(text, "\"dimension\": 2,") != NULL);
	CHECK(strstr(text, "\"weights\": [[0.25, -1.5], [0, 3], [0.5, 1]], \"guarantee\"") != NULL);
	CHECK(read_json(text, strlen(text), &out) == NULL && same_model(&m, &out));
	check_edits(m, edits, COUNT(edits));
	check_edits(plain_model(), of_plain, COUNT(of_plain));
	m = named_model();
	print_json(&m, text, sizeof(text));
	CHECK(strstr(text, "\"rows\": 1000, \"classes\": [\"no\", \"yes\"], \"method\"") != NULL);
	CHECK(strstr(text, "\"weights\": [0.25, -1.5], \"guarantee\"") != NULL);
	CHECK(read_json(text, strlen(text), &out) == NULL && same_model(&m, &out));
	m.has_positive = true;
	m.positive = sample_literal("yes");
	print_json(&m, text, sizeof(text));
	CHECK(strstr(text, "\"positive\": \"yes\", \"classes\": [\"no\", \"yes\"], \"method\"") != NULL);
}

/* Every kind of feature, a kernel, and names that need escapes. */
static const char *const columns_text =
"\"features\": [{\"column\": \"age\", \"type\": \"number\", \"low\": 0, \"high\": 120},"
" {\"column\": \"admitted\", \"type\": \"time\", \"low\": -3652.5, \"high\": 9131},"
" {\"column\": \"smo\\\"k\\\\er\", \"type\": \"boolean\"},"
" {\"column\": \"diagnosis\", \"type\": \"category\","
" \"values\": [\"A\", \"\", \"tab\\u0009\\u000a\", \"\xc3\xa4\x7f\xff/'\"]},"
" {\"column\": \"embedding\", \"type\": \"vector\", \"dimension\": 128, \"norm\": 1},"
" {\"column\": \"cube\", \"type\": \"vector\", \"dimension\": 3000, \"range\": [0, 0.5]},"
" {\"column\": \"box\", \"type\": \"vector\", \"dimension\": 2, \"range\": [[0, 9], [-5.5, 5]]}],"
" \"intercept\": true,"
" \"kernel\": {\"name\": \"gaussian\", \"gamma\": 0.5, \"features\": 20,"
" \"seed\": -9223372036854775808}, \"dimension\": 21, \"weights\": [0,";

/* The model of columns_text. */
static DpermModel
columns_model(void)
{
	static const double weights[21];
	static DpermText values[4];
	static DpermBlock blocks[7];
	static const double bounds[4] = {0, 9, -5.5, 5};
	DpermModel	m = plain_model();

	values[0] = sample_literal("A");
	values[1] = sample_literal("");
	values[2] = sample_literal("tab\t\n");
	values[3] = sample_literal("\xc3\xa4\x7f\xff/'");
	blocks[0] = (DpermBlock) {.kind = DPERM_BLOCK_NUMBER, .column = sample_literal("age"),
		.low = 0, .high = 120, .count = 1};
	blocks[1] = (DpermBlock) {.kind = DPERM_BLOCK_TIME, .column = sample_literal("admitted"),
		.low = -3652.5, .high = 9131, .count = 1};
	blocks[2] = (DpermBlock) {.kind = DPERM_BLOCK_FLAG,
		.column = sample_literal("smo\"k\\er"), .count = 1};
	blocks[3] = (DpermBlock) {.kind = DPERM_BLOCK_CATEGORY,
		.column = sample_literal("diagnosis"), .count = 4, .categories = values};
	blocks[4] = (DpermBlock) {.kind = DPERM_BLOCK_VECTOR, .column = sample_literal("embedding"),
		.count = 128, .norm = 1};
	blocks[5] = (DpermBlock) {.kind = DPERM_BLOCK_BOX, .column = sample_literal("cube"),
		.count = 3000, .low = 0, .high = 0.5};
	blocks[6] = (DpermBlock) {.kind = DPERM_BLOCK_BOX, .column = sample_literal("box"),
		.count = 2, .bounds = bounds};
	m.encoder = (DpermEncoder) {.block_count = 7, .blocks = blocks, .intercept = true,
		.kernel = {DPERM_KERNEL_GAUSSIAN, 0.5, 20, INT64_MIN}};
	m.weights = weights;
	return m;
}

TEST(prints_columns_and_kernel)
{
	DpermModel	m = columns_model();
	DpermModel	again;
	char		text[JSON_MAX];
	char		spelt[JSON_MAX];
	size_t		len = print_json(&m, text, sizeof(text));
	char	   *at;

	CHECK(strstr(text, columns_text) != NULL);
	CHECK(read_json(text, len, &again) == NULL);
	CHECK(same_model(&m, &again));

	/* a range for each coordinate, also if they are equal */
	at = strstr(text, "[[0, 9], [-5.5, 5]]");
	snprintf(spelt, sizeof(spelt), "%.*s[[0, 9], [0e3, 9.0]]%s", (int) (at - text), text, at + 19);
	CHECK(read_json(spelt, strlen(spelt), &again) == NULL);
	CHECK(again.encoder.blocks[6].bounds[2] == 0 && again.encoder.blocks[6].bounds[3] == 9);

	/* other escapes for the same characters */
	at = strstr(text, "tab\\u0009");
	snprintf(spelt, sizeof(spelt), "%.*s\\u0074ab\\t%s", (int) (at - text), text, at + 9);
	CHECK(read_json(spelt, strlen(spelt), &again) == NULL);
	CHECK(same_model(&m, &again));
}

/* Ranges of columns_model(), and why others are refused. */
#define ALL "[0, 0.5]"
#define LIST "[[0, 9], [-5.5, 5]]"
#define ORDER "the bounds of a number are out of order"

TEST(explains_hostile_ranges)
{
	static const Edit edits[] = {
		{ALL, "[-1, 0.5]", ""},
		{ALL, "[0.5, 0]", ORDER},
		{ALL, "[0, 0]", ORDER},
		{ALL, "[0]", "key 'range' of 'features' has too few or too many elements"},
		{ALL, "[0, 1, 2]", "key 'range' of 'features' has too few or too many elements"},
		{ALL, "[0, [1]]", "an element of 'range' must be a number"},
		{ALL, "[null, 1]", "an element of 'range' must be a number"},
		{ALL, "['0', 1]", "an element of 'range' must be a number"},
		{ALL, "[[0, 1], 2]", "key 'range' of 'features' has too few or too many elements"},
		{ALL, "0", "key 'range' of 'features' must be an array"},
		{ALL, "{}", "key 'range' of 'features' must be an array"},
		{ALL, "[]", "key 'range' of 'features' has too few or too many elements"},
		{ALL, "[[0, 1]]", "key 'range' of 'features' has too few or too many elements"},
		{LIST, "[[0, 9], [5, -5.5]]", ORDER},
		{LIST, "[[0, 9]]", "key 'range' of 'features' has too few or too many elements"},
		{LIST, "[[0, 9], [0, 9], [0, 9]]", "key 'range' of 'features' has too few or too many elements"},
		{LIST, "[[0, 9], []]", "an element of 'range' has too few or too many elements"},
		{LIST, "[[0, 9], [1, 2, 3]]", "an element of 'range' has too few or too many elements"},
		{LIST, "[[0, 9], [1, 2e400]]", "an element of 'range' is out of range"},
		{"'dimension': 2, ", "", "key 'dimension' of 'features' is missing"},
		{"'dimension': 2,", "'dimension': 0,", "an element of 'range' must be a number"},
		{", 'range': [0, 0.5]", "", "key 'norm' of 'features' is missing"},
		{", 'range': [0, 0.5]", ", 'low': 0", "key 'norm' of 'features' is missing"},
		{ALL, "[0, 1], 'norm': 1", "an element of 'features' has an unknown key"},
		{"'boolean'", "'boolean', 'range': [0, 1]",
		"an element of 'features' has an unknown key"},
		{"'dimension': 3000", "'dimension': 5001", "key 'dimension' of 'features' is out of range"},
		{"'dimension': 3000", "'dimension': 5000", "the dimension is out of range"},
		{"'column': 'cube', ", "", "a feature has no column"}
	};

	check_edits(columns_model(), edits, COUNT(edits));
}

TEST(explains_hostile_features)
{
	static const Edit of_plain[] = {
		{"{'type'", "{'column': '', 'type'", ""},
		{"'features': [{'type': 'vector', 'dimension': 1, 'norm': 1}]", "'features': []",
		"the number of features is out of range"},
		{"'features': [{'type': 'vector', 'dimension': 1, 'norm': 1}]", "'features': [{'type': 'category', 'column': 'c', 'values': []}]",
		"dimension is out of range"}
	};
	static const Edit of_columns[] = {
		{"age", "age", ""},
		{"'column': 'age', ", "", "a feature has no column"},
		{"'age'", "''", "a feature has no column"},
		{"'age'", "null", "key 'column' of 'features' must be a string"},
		{"'age'", "'a\\u0000'", "it is not JSON"},
		{"'age'", "'admitted'", "a column occurs twice"},
		{"'age'", "'admi\\u0074ted'", "a column occurs twice"},
		{"'type': 'number', ", "", "key 'type' of 'features' is missing"},
		{"'number'", "'numeric'", "key 'type' of 'features' has an unknown value"},
		{"'number'", "1", "key 'type' of 'features' must be a string"},
		{", 'low': 0", "", "key 'low' of 'features' is missing"},
		{"'low': 0", "'low': '0'", "key 'low' of 'features' must be a number"},
		{"'low': 0", "'low': 120", "the bounds of a number are out of order"},
		{"'low': 0", "'low': 0, 'low': 0", ""},
		{"'low': 0", "'low': 0, 'mid': 0", "an element of 'features' has an unknown key"},
		{"'low': 0", "'low': 0, 'norm': 1",
		"an element of 'features' has an unknown key"},
		{"'boolean'", "'boolean', 'values': []",
		"an element of 'features' has an unknown key"},
		{"'A'", "1", "an element of 'values' must be a string"},
		{"['A', ", "[], 'x': ['A', ", "an element of 'features' has an unknown key"},
		{"'A', ", "'A', 'B', {'C': tru}, ", "it is not JSON"},
		{"'dimension': 128", "'dimension': 0", "dimension is out of range"},
		{"'dimension': 128", "'dimension': 1e2", "key 'dimension' of 'features' must be an integer"},
		{"'norm': 1", "'norm': 0", "norm is out of range"},
		{"'features': [", "'features': [1, ", "an element of 'features' must be an object"},
		{"'features': [", "'features': [], 'f': [", "the number of features is out of range"},
		{"'gaussian'", "'linear'", "kernel parameters require a kernel"},
		{"'name': 'gaussian', ", "", "key 'name' of 'kernel' is missing"},
		{"'gamma': 0.5", "'gamma': 0", "gamma is out of range"},
		{"'features': 20", "'features': 4294967316",
		"key 'features' of 'kernel' is out of range"},
		{"'seed': -9223372036854775808", "'seed': 0.5",
		"key 'seed' of 'kernel' must be an integer"},
		{"'kernel': {", "'kernel': 1, 'k': {", "key 'kernel' must be an object"}
	};

	check_edits(plain_model(), of_plain, COUNT(of_plain));
	check_edits(columns_model(), of_columns, COUNT(of_columns));
}

/* The maximum number of names. */
TEST(holds_the_most_names)
{
	static char text[DPERM_DIM_MAX * 48];
	size_t		len;
	DpermModel	out;

	for (int each = 0; each < 2; each++)
	{
		len = (size_t) sprintf(text, "{\"format\":1,\"loss\":\"logistic\",\"epsilon\":1,\"rows\":1,"
							   "\"method\":\"output\",\"analysis\":\"sharp\",\"lambda\":1,"
							   "\"lambda_effective\":1,\"budget\":{\"slack\":0,\"noise\":0.5,"
							   "\"release\":0.1},\"noise_scale\":1,\"grid\":1,\"release_scale\":1,"
							   "\"intercept\":false,\"features\":[");
		if (each == 0)
			for (int i = 0; i < DPERM_DIM_MAX; i++)
				len += (size_t) sprintf(text + len, "%s{\"column\":\"%x\",\"type\":\"boolean\"}",
										i ? "," : "", i);
		else
			for (int i = 0; i < DPERM_DIM_MAX; i++)
				len += (size_t) sprintf(text + len, "%s\"%x\"", i ? "," :
										"{\"column\":\"x\",\"type\":\"category\",\"values\":[", i);
		len += (size_t) sprintf(text + len, "%s],\"weights\":[0", each ? "]}" : "");
		for (int i = 1; i < DPERM_DIM_MAX; i++)
			len += (size_t) sprintf(text + len, ",0");
		len += (size_t) sprintf(text + len, "]}");
		CHECK(len < sizeof(text));
		CHECK(read_json(text, len, &out) == NULL);
	}
}

/* The keys as jsonb orders them, with its spacing and its numbers. */
TEST(reads_any_order)
{
	static const char *const text =
	"{\"h\": 0.5, \"grid\": 0.000000000000909494701772928237915039062500,"
	"\n\"rows\":7, \"loss\": \"huber\", \"budget\": {\"noise\": 0.5, \"slack\": 0,"
	" \"release\": 0.25}, \"format\": 1, \"lambda\": 0, \"method\": \"output\", \"epsilon\": 0.75,"
	" \"weights\": [-0.0, 1e-300], \"analysis\": \"paper\", \"features\": [{\"norm\": 3, \"type\": \"vector\","
	" \"dimension\": 2}], \"dimension\": 2, \"intercept\": false,"
	" \"noise_scale\": 1e2, \"release_scale\": 1,"
	" \"lambda_effective\": 1}\t";
	DpermModel	m;

	CHECK(read_json(text, strlen(text), &m) == NULL);
	CHECK(m.loss.kind == DPERM_LOSS_HUBER && m.loss.h == 0.5);
	CHECK(m.grid == 0x1p-40 && m.encoder.blocks[0].norm == 3.0 && m.rows == 7);
	CHECK(m.method == DPERM_METHOD_OUTPUT && m.analysis == DPERM_ANALYSIS_PAPER);
	CHECK(m.weights[1] == 1e-300);
}

/* The largest model that is allowed, and one weight more. */
TEST(holds_the_largest_dimension)
{
	static double weights[DPERM_DIM_MAX];
	static char text[DPERM_DIM_MAX * 30 + JSON_MAX];
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = DPERM_DIM_MAX - 1, .norm = 1.0};
	DpermModel	m = plain_model();
	DpermModel	out;
	size_t		len;

	for (int i = 0; i < DPERM_DIM_MAX; i++)
		weights[i] = -1.0 / (i + 3);
	m.weights = weights;
	m.encoder.blocks = &block;
	len = print_json(&m, text, sizeof(text));
	CHECK(len < sizeof(text));
	CHECK(read_json(text, len, &out) == NULL);
	CHECK(same_model(&m, &out));
	memmove(strstr(text, "\"weights\": [") + 14, strstr(text, "\"weights\": [") + 12,
			len - 12 - (size_t) (strstr(text, "\"weights\": [") - text));
	memcpy(strstr(text, "\"weights\": [") + 12, "0,", 2);
	CHECK_TEXT(read_json(text, len + 2, &out),
			   "key \"weights\" has too few or too many elements");
}

/* As many classes as there may be, and one more. */
TEST(holds_the_largest_list_of_classes)
{
	static double weights[2 * (DPERM_CLASSES_MAX + 1)];
	static char values[DPERM_CLASSES_MAX * 8];
	static char text[DPERM_CLASSES_MAX * 60 + JSON_MAX];
	DpermModel	m = plain_model();
	DpermModel	out;
	size_t		len;

	for (int more = 0; more < 2; more++)
	{
		m.weights = weights;
		m.classes = (DpermText) {values, 0};
		m.loss = (DpermLoss) {.kind = DPERM_LOSS_SOFTMAX, .classes = DPERM_CLASSES_MAX + more};
		for (int i = 0; i < m.loss.classes; i++)
			m.classes.len += sprintf(values + m.classes.len, "%d", i) + 1;
		len = print_json(&m, text, sizeof(text));
		CHECK(len < sizeof(text));
		if (more)
			CHECK_TEXT(read_json(text, len, &out), "the number of classes must be between 3 and 128");
		else
			CHECK(read_json(text, len, &out) == NULL && same_model(&m, &out));
	}
}
