/*
 * test_model_json.c: the text form of a model, exact and against hostile input.
 */
#include "unit/sample_model.h"

#include <stdlib.h>

#define JSON_MAX 8192

static const char *const plain_text =
"{\"format\": 1, \"kind\": \"logistic regression\", \"loss\": \"logistic\", \"private\": true,"
" \"epsilon\": 1, \"delta\": 0, \"neighbours\": \"replace-one\", \"rows\": 1000,"
" \"method\": \"objective\", \"analysis\": \"sharp\", \"lambda\": 0.01,"
" \"lambda_effective\": 0.02, \"budget\": {\"slack\": 0.0625, \"noise\": 0.875,"
" \"release\": 0.0625}, \"noise_scale\": 2.5, \"grid\": 9.094947017729282e-13,"
" \"release_scale\": 12345, \"dimension\": 1, \"dimension_source\": \"declared\","
" \"norm\": 1, \"intercept\": true, \"weights\": [0.25, -1.5], \"guarantee\": \"";

/* Decode a copy that ends where the text ends, for the sanitizer; NULL if it is fine. */
static const char *
read_json(const char *in, size_t len, double *weights, size_t room, DpermModel *out)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	const char *why = NULL;
	DpermStatus status;

	memcpy(copy, in, len);
	status = dperm_model_from_json(copy, len, weights, room, out, &why);
	if ((status == DPERM_OK) != (why == NULL))
		abort();
	free(copy);
	return why;
}

TEST(round_trips_json)
{
	TestRandom	state = 2;

	for (int round = 0; round < 1000; round++)
	{
		double		weights[SAMPLE_DIM_MAX];
		double		again_weights[SAMPLE_DIM_MAX];
		char		text[JSON_MAX];
		char		again_text[JSON_MAX];
		DpermModel	m = sample_model(&state, weights);
		DpermModel	again;
		size_t		len = dperm_model_to_json(&m, text, sizeof(text));

		CHECK(len < sizeof(text));
		CHECK(strlen(text) == len);
		CHECK(read_json(text, len, again_weights, SAMPLE_DIM_MAX, &again) == NULL);
		CHECK(same_model(&m, &again));
		dperm_model_to_json(&again, again_text, sizeof(again_text));
		CHECK_TEXT(again_text, text);
	}
}

/* Nothing but the full length decodes. */
TEST(refuses_other_lengths)
{
	TestRandom	state = 3;
	double		weights[SAMPLE_DIM_MAX];
	double		room[SAMPLE_DIM_MAX];
	char		text[JSON_MAX];
	DpermModel	m = sample_model(&state, weights);
	DpermModel	out;
	size_t		len = dperm_model_to_json(&m, text, sizeof(text));

	for (size_t cut = 0; cut < len; cut++)
		CHECK(read_json(text, cut, room, SAMPLE_DIM_MAX, &out) != NULL);
	text[len] = 'x';
	CHECK(read_json(text, len + 1, room, SAMPLE_DIM_MAX, &out) != NULL);
	text[len] = ' ';
	CHECK(read_json(text, len + 1, room, SAMPLE_DIM_MAX, &out) == NULL);
}

/* Whatever one character is changed to: refused, or a valid model. */
TEST(survives_flipped_characters)
{
	static const char bytes[] = "\"\\{}[]:,.-+eE0159 atnIu/\n\x80\xff";
	TestRandom	state = 5;
	double		weights[SAMPLE_DIM_MAX];
	double		room[SAMPLE_DIM_MAX];
	double		again_room[SAMPLE_DIM_MAX];
	char		text[JSON_MAX];
	char		again_text[JSON_MAX];
	DpermModel	m = sample_model(&state, weights);
	DpermModel	out;
	DpermModel	again;
	const char *why;
	size_t		len = dperm_model_to_json(&m, text, sizeof(text));

	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < sizeof(bytes); k++)
		{
			char		kept = text[i];

			text[i] = bytes[k]; /* the last one is zero */
			why = read_json(text, len, room, SAMPLE_DIM_MAX, &out);
			text[i] = kept;
			if (why != NULL)
				continue;
			CHECK(dperm_model_check(&out, &why) == DPERM_OK);
			dperm_model_to_json(&out, again_text, sizeof(again_text));
			CHECK(read_json(again_text, strlen(again_text), again_room, SAMPLE_DIM_MAX,
							&again) == NULL);
			CHECK(same_model(&out, &again));
		}
}

/* The text of the plain model with the first occurrence of one string replaced. */
static const char *
why_not_text(const char *from, const char *to)
{
	static char text[JSON_MAX];
	DpermModel	m = plain_model();
	DpermModel	out;
	double		room[4];
	char		original[JSON_MAX];
	char	   *at;
	const char *why;

	dperm_model_to_json(&m, original, sizeof(original));
	at = strstr(original, from);
	if (at == NULL)
		return "the string to replace is not there";
	snprintf(text, sizeof(text), "%.*s%s%s", (int) (at - original), original, to,
			 at + strlen(from));
	why = read_json(text, strlen(text), room, 4, &out);
	return why ? why : "";
}

TEST(prints_in_a_stable_order)
{
	DpermModel	m = plain_model();
	char		text[JSON_MAX];

	dperm_model_to_json(&m, text, sizeof(text));
	CHECK(strncmp(text, plain_text, strlen(plain_text)) == 0);
}

TEST(explains_hostile_texts)
{
	CHECK_TEXT(why_not_text("\"format\": 1", "\"format\": 1"), "");
	CHECK_TEXT(why_not_text("\"format\": 1", "\"format\": 2, \"columns\": []"),
			   "the format of the model is unknown to this version of dperm");
	CHECK_TEXT(why_not_text("\"format\": 1, ", ""), "key \"format\" is missing");
	CHECK_TEXT(why_not_text("\"format\": 1", "\"format\": \"1\""),
			   "key \"format\" must be an integer");
	CHECK_TEXT(why_not_text("\"format\": 1", "\"format\": 1, \"format\": 1"),
			   "key \"format\" occurs twice");
	CHECK_TEXT(why_not_text("\"rows\": 1000", "\"rows\": 1000, \"rows\": 1000"),
			   "key \"rows\" occurs twice");
	CHECK_TEXT(why_not_text("\"rows\": 1000", "\"rows\": 1000, \"r\\u006fws\": 1"),
			   "key \"rows\" occurs twice");
	CHECK_TEXT(why_not_text("\"rows\": 1000", "\"rows\": 1e3"), "key \"rows\" must be an integer");
	CHECK_TEXT(why_not_text("\"rows\": 1000, ", ""), "key \"rows\" is missing");
	CHECK_TEXT(why_not_text("\"rows\": 1000", "\"rows\": 99999999999999999999"),
			   "a number is out of range");
	CHECK_TEXT(why_not_text("\"rows\"", "\"Rows\""), "there is an unknown key");
	CHECK_TEXT(why_not_text("\"kind\": \"logistic regression\", ", ""), "");
	CHECK_TEXT(why_not_text("\"logistic regression\"", "\"support vector machine\""),
			   "kind and loss contradict each other");
	CHECK_TEXT(why_not_text("\"logistic regression\"", "\"tree\""), "the kind is unknown");
	CHECK_TEXT(why_not_text("\"loss\": \"logistic\"", "\"loss\": \"hinge\""),
			   "the loss is unknown");
	CHECK_TEXT(why_not_text("\"loss\": \"logistic\"", "\"loss\": \"huber\""),
			   "key \"h\" is missing");
	CHECK_TEXT(why_not_text("\"private\"", "\"h\": 0, \"private\""), "the logistic loss has no h");
	CHECK_TEXT(why_not_text("\"private\": true", "\"private\": false"),
			   "private and epsilon contradict each other");
	CHECK_TEXT(why_not_text("\"private\": true", "\"private\": 1"),
			   "key \"private\" must be a boolean");
	CHECK_TEXT(why_not_text("\"epsilon\": 1", "\"epsilon\": \"infinity\""),
			   "key \"epsilon\" must be a number or \"Infinity\"");
	CHECK_TEXT(why_not_text("\"epsilon\": 1", "\"epsilon\": NaN"), "a value is expected");
	CHECK_TEXT(why_not_text("\"epsilon\": 1", "\"epsilon\": null"),
			   "key \"epsilon\" must be a number or \"Infinity\"");
	CHECK_TEXT(why_not_text("\"delta\": 0", "\"delta\": 0.1"), "delta is not 0");
	CHECK_TEXT(why_not_text("\"delta\": 0, ", ""), "");
	CHECK_TEXT(why_not_text("replace-one", "add-remove"), "neighbours is not replace-one");
	CHECK_TEXT(why_not_text("\"objective\"", "\"subjective\""), "the method is unknown");
	CHECK_TEXT(why_not_text("\"sharp\"", "\"\""), "the analysis is unknown");
	CHECK_TEXT(why_not_text("\"slack\": 0.0625, ", ""),
			   "key \"budget\" must hold slack, noise and release");
	CHECK_TEXT(why_not_text("\"slack\"", "\"noise\""), "key \"budget\" holds a key twice");
	CHECK_TEXT(why_not_text("\"slack\"", "\"slacks\""), "key \"budget\" holds an unknown key");
	CHECK_TEXT(why_not_text("{\"slack\": 0.0625, \"noise\": 0.875, \"release\": 0.0625}", "[]"),
			   "key \"budget\" must be an object of numbers");
	CHECK_TEXT(why_not_text("\"declared\"", "\"guessed\""), "dimension_source is unknown");
	CHECK_TEXT(why_not_text("\"dimension\": 1", "\"dimension\": 4294967297"),
			   "dimension is out of range");
	CHECK_TEXT(why_not_text("\"dimension\": 1", "\"dimension\": 2"),
			   "the number of weights is not the dimension and the intercept");
	CHECK_TEXT(why_not_text("\"intercept\": true", "\"intercept\": \"true\""),
			   "key \"intercept\" must be a boolean");
	CHECK_TEXT(why_not_text("[0.25, -1.5]", "[0.25]"),
			   "the number of weights is not the dimension and the intercept");
	CHECK_TEXT(why_not_text("[0.25, -1.5]", "[1, 2, 3, 4, 5]"), "there are too many weights");
	CHECK_TEXT(why_not_text("[0.25, -1.5]", "[0.25, \"-1.5\"]"),
			   "key \"weights\" must be an array of numbers");
	CHECK_TEXT(why_not_text("[0.25, -1.5]", "[0.25, 1e999]"), "a number is out of range");
	CHECK_TEXT(why_not_text("[0.25, -1.5]", "[0.25, -1.5"),
			   "a comma or a closing bracket is expected");
	CHECK_TEXT(why_not_text("[0.25, -1.5]", "[[[[[[[[[[[[[[[[[[[[[[[[[[["),
			   "the nesting is too deep");
	CHECK_TEXT(why_not_text("\"guarantee\": \"", "\"guarantee\": \"Nonsense. "), "");
	CHECK_TEXT(why_not_text("\"guarantee\": \"", "\"guarantee\": 1, \"x\": \""),
			   "key \"guarantee\" must be a string");
}

/* The keys as jsonb orders them, with its spacing and its numbers. */
TEST(reads_any_order)
{
	static const char *const text =
	"{\"h\": 0.5, \"grid\": 0.000000000000909494701772928237915039062500,"
	"\"norm\": 3,\n\"rows\":7, \"loss\": \"huber\", \"budget\": {\"noise\": 0.5, \"slack\": 0,"
	" \"release\": 0.25}, \"format\": 1, \"lambda\": 0, \"method\": \"output\", \"epsilon\": 0.75,"
	" \"weights\": [-0.0, 1e-300], \"analysis\": \"paper\", \"dimension\": 2, \"intercept\": false,"
	" \"noise_scale\": 1e2, \"release_scale\": 1, \"dimension_source\": \"rows\","
	" \"lambda_effective\": 1}\t";
	double		room[2];
	DpermModel	m;

	CHECK(read_json(text, strlen(text), room, 2, &m) == NULL);
	CHECK(m.loss.kind == DPERM_LOSS_HUBER && m.loss.h == 0.5);
	CHECK(m.grid == 0x1p-40 && m.encoder.norm == 3.0 && m.rows == 7);
	CHECK(m.method == DPERM_METHOD_OUTPUT && m.analysis == DPERM_ANALYSIS_PAPER);
	CHECK(m.dimension_source == DPERM_DIMENSION_ROWS && m.weights[1] == 1e-300);
}

/* As snprintf: the length is the same whatever the room, and nothing is overrun. */
TEST(counts_like_snprintf)
{
	DpermModel	m = plain_model();
	char		full[JSON_MAX];
	char		part[JSON_MAX];
	size_t		len = dperm_model_to_json(&m, full, sizeof(full));

	CHECK(dperm_model_to_json(&m, NULL, 0) == len);
	for (size_t room = 1; room <= len + 1; room++)
	{
		char	   *exact = malloc(room);

		CHECK(dperm_model_to_json(&m, exact, room) == len);
		CHECK(strlen(exact) == room - 1);
		CHECK(memcmp(exact, full, room - 1) == 0);
		free(exact);
	}
	len = dperm_model_guarantee(&m, full, sizeof(full));
	CHECK(dperm_model_guarantee(&m, part, 10) == len);
	CHECK(strlen(part) == 9);
}

/* The largest model there may be, and one weight more. */
TEST(holds_the_largest_dimension)
{
	static double weights[DPERM_DIM_MAX];
	static double room[DPERM_DIM_MAX + 1];
	static char text[DPERM_DIM_MAX * 30 + JSON_MAX];
	DpermModel	m = plain_model();
	DpermModel	out;
	size_t		len;

	for (int i = 0; i < DPERM_DIM_MAX; i++)
		weights[i] = -1.0 / (i + 3);
	m.weights = weights;
	m.encoder.dimension = DPERM_DIM_MAX - 1;
	len = dperm_model_to_json(&m, text, sizeof(text));
	CHECK(len < sizeof(text));
	CHECK(read_json(text, len, room, DPERM_DIM_MAX + 1, &out) == NULL);
	CHECK(same_model(&m, &out));
	memmove(strstr(text, "\"weights\": [") + 14, strstr(text, "\"weights\": [") + 12,
			len - 12 - (size_t) (strstr(text, "\"weights\": [") - text));
	memcpy(strstr(text, "\"weights\": [") + 12, "0,", 2);
	CHECK_TEXT(read_json(text, len + 2, room, DPERM_DIM_MAX + 1, &out),
			   "there are too many weights");
}

int
main(void)
{
	RUN(round_trips_json);
	RUN(refuses_other_lengths);
	RUN(survives_flipped_characters);
	RUN(prints_in_a_stable_order);
	RUN(explains_hostile_texts);
	RUN(reads_any_order);
	RUN(counts_like_snprintf);
	RUN(holds_the_largest_dimension);
	return test_report();
}
