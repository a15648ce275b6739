/*
 * test_tuning.c: how a model describes its tuning: how that is read, in both
 * forms of a model, and what is refused.
 */
#define TEST_OWN_MAIN
#include "core/base/limits.h"
#include "unit/sample_model.h"

#define LONGEST (1 << 20)		/* of a tuning in a model */
#define DEPTHS 20
#define FAULT "tuning is not in the form that this version of dperm writes"

static void *memory;

static const char *const private_text = "{\"way\": \"private\", \"selection\": \"exponential\","
" \"rows\": 5000, \"portions\": 3, \"candidates\": [{\"lambda\": 0.01}, {\"lambda\": 0.1}], \"chosen\": {\"lambda\": 0.2}}";

/*
 * What is wrong with a text, "" if nothing; read from a copy that ends where
 * its memory ends.
 */
static const char *
why_not(const char *text, DpermTuning *out)
{
	size_t		len = strlen(text);
	char	   *copy = malloc(len > 0 ? len : 1);
	DpermText	exact = {copy, (int) len};
	const char *why;

	memcpy(copy, text, len);
	why = dperm_tuning_read(&exact, out);
	free(copy);
	return why ? why : "";
}

/* The same for a text with the first occurrence of one string replaced. */
static const char *
why_not_edited(const char *text, const char *from, const char *to)
{
	static char edited[4096];
	const char *at = strstr(text, from);
	DpermTuning out;

	if (at == NULL)
		return "the string to replace is not there";
	snprintf(edited, sizeof(edited), "%.*s%s%s", (int) (at - text), text, to, at + strlen(from));
	return why_not(edited, &out);
}

TEST(reads_what_is_written)
{
	DpermTuning out;

	CHECK_TEXT(why_not(private_text, &out), "");
	CHECK(out.selection == DPERM_SELECT_EXPONENTIAL && out.rows == 5000);
	CHECK(out.portions == 3 && out.candidates == 2);
	CHECK_TEXT(why_not_edited(private_text, "exponential", "permute_and_flip"), "");

	/* as jsonb orders and spells it */
	CHECK_TEXT(why_not("{\"way\": \"private\", \"rows\": 2, \"portions\": 2, \"selection\":"
					   " \"permute_and_flip\", \"chosen\": {}, \"candidates\": [{}]}", &out), "");
	CHECK(out.selection == DPERM_SELECT_PERMUTE_AND_FLIP && out.rows == 2);

	/* persons in place of rows, and never both */
	CHECK(!out.persons);
	CHECK_TEXT(why_not("{\"way\": \"private\", \"persons\": 2, \"portions\": 2, \"selection\":"
					   " \"permute_and_flip\", \"chosen\": {}, \"candidates\": [{}]}", &out), "");
	CHECK(out.persons && out.rows == 2);
	CHECK_TEXT(why_not_edited(private_text, "\"rows\": 5000", "\"rows\": 5000, \"persons\": 5000"), FAULT);
}

TEST(refuses_what_nobody_writes)
{
	static const char *const edits[][2] = {
		{"\"private\"", "\"Private\""},
		{"\"private\"", "\"\""},
		{"\"private\"", "1"},
		{"\"private\"", "\"private with a name that is longer than any\""},
		{"\"way\": \"private\", ", ""},
		{"\"way\": \"private\"", "\"way\": \"private\", \"way\": \"private\""},
		{"\"way\": \"private\"", "\"way\": \"private\", \"w\\u0061y\": \"private\""},
		{"\"way\": \"private\"", "\"way\": \"private\", \"table\": \"t\""},
		{"\"way\": \"private\"", "\"way\": \"private\", \"scores\": [3, 4]"},
		{"\"way\": \"private\"", "\"way\": \"private\", \"mistakes\": 3"},
		{"\"way\": \"private\"", "\"way\": \"private\", \"\": 3"},
		{"\"exponential\"", "\"best\""},
		{"\"exponential\"", "null"},
		{"\"selection\": \"exponential\", ", ""},
		{"5000", "0"},
		{"5000", "-1"},
		{"5000", "8589934593"},	/* 2^33 + 1 */
		{"5000", "99999999999999999999"},
		{"5000", "5e3"},
		{"5000", "5000.0"},
		{"5000", "\"5000\""},
		{"\"rows\": 5000, ", ""},
		{"\"portions\": 3", "\"portions\": 2"},
		{"\"portions\": 3", "\"portions\": 4"},
		{"\"portions\": 3", "\"portions\": 4294967299"},
		{"\"portions\": 3", "\"portions\": -3"},
		{"\"portions\": 3, ", ""},
		{"[{\"lambda\": 0.01}, {\"lambda\": 0.1}]", "[]"},
		{"[{\"lambda\": 0.01}, {\"lambda\": 0.1}]", "{}"},
		{"[{\"lambda\": 0.01}, {\"lambda\": 0.1}]", "2"},
		{"{\"lambda\": 0.01}", "0.01"},
		{"{\"lambda\": 0.01}", "[{\"lambda\": 0.01}]"},
		{"{\"lambda\": 0.01}", "{\"lambda\": 0.01}, {}"},
		{"{\"lambda\": 0.01}", "{\"lambda\": 0.01"},
		{"{\"lambda\": 0.01}", "{\"lambda\": }"},
		{"{\"lambda\": 0.01}", "{\"lambda\": 0.01,}"},
		{"{\"lambda\": 0.01}", "{\"lambda\": \"\n\"}"},
		{"{\"way\"", "[{\"way\""},
		{"{\"way\"", "\"way\""},
		{"{\"way\"", "{\"way\": \"private\"} {\"way\""},
		{", \"chosen\": {\"lambda\": 0.2}", ""},
		{"{\"lambda\": 0.2}", "2"},
		{"{\"lambda\": 0.2}", "[{\"lambda\": 0.2}]"},
		{"{\"lambda\": 0.2}", "{\"lambda\": [0.2]}"},
		{"{\"lambda\": 0.2}", "{\"lambda\": 0.2}, \"chosen\": {}"},
		{"0.2}}", "0.2}"},
		{"0.2}}", "0.2}}}"},
		{"0.2}}", "0.2}} x"}
	};
	DpermTuning out;

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++)
	{
		const char *why = why_not_edited(private_text, edits[i][0], edits[i][1]);

		CHECK_TEXT(why, FAULT);
		if (strcmp(why, FAULT) != 0)
			fprintf(stderr, "edit %zu: %s\n", i, edits[i][1]);
	}
	CHECK_TEXT(why_not("", &out), FAULT);
	CHECK_TEXT(why_not("null", &out), FAULT);
	CHECK_TEXT(why_not("{}", &out), FAULT);
	for (size_t cut = 0; cut < strlen(private_text); cut++)
	{
		DpermText	part = {private_text, (int) cut};

		CHECK(dperm_tuning_read(&part, &out) != NULL);
	}
}

/* The maximum number of candidates, and one more. */
TEST(counts_candidates)
{
	static char text[8192];
	DpermTuning out;

	for (int count = DPERM_CANDIDATES_MAX - 1; count <= DPERM_CANDIDATES_MAX + 1; count++)
	{
		int			len =
			sprintf(text, "{\"way\": \"private\", \"selection\": \"exponential\", \"rows\": 1,"
					" \"portions\": %d, \"chosen\": {\"lambda\": 1}, \"candidates\": [", count + 1);

		for (int i = 0; i < count; i++)
			len += sprintf(text + len, "%s{\"lambda\": %d}", i ? ", " : "", i);
		sprintf(text + len, "]}");
		CHECK_TEXT(why_not(text, &out), count > DPERM_CANDIDATES_MAX ? FAULT : "");
	}
}

/* Whatever is sampled is read back correctly. */
TEST(reads_what_is_sampled)
{
	TestRandom	state = 1;
	char		room[SAMPLE_TUNING];
	DpermTuning out;

	for (int i = 0; i < 5000; i++)
	{
		int64_t		rows = 1 + (int64_t) (test_random(&state) % (uint64_t) DPERM_ROWS_MAX);
		DpermText	text = sample_tuning(&state, (DpermUnit) test_below(&state, 2), rows, room);

		CHECK(text.len < SAMPLE_TUNING);
		CHECK(dperm_tuning_read(&text, &out) == NULL);
		CHECK(out.rows >= rows && out.portions == out.candidates + 1);
	}
}

/* Decode a binary form. */
static const char *
read_form(const unsigned char *form, size_t size, DpermModel *out)
{
	unsigned char *copy = malloc(size);
	DpermArena	arena = sample_arena(&memory, dperm_model_arena_size(size));
	const char *why = NULL;

	memcpy(copy, form, size);
	(void) dperm_model_binary_read(copy, size, &arena, out, &why);
	free(copy);
	return why ? why : "";
}

/* Decode a text. */
static const char *
read_text(const char *text, size_t len, DpermModel *out)
{
	char	   *copy = malloc(len);
	DpermArena	arena = sample_arena(&memory, dperm_model_arena_size(len));
	const char *why = NULL;

	memcpy(copy, text, len);
	(void) dperm_model_parse(copy, len, &arena, out, &why);
	free(copy);
	return why ? why : "";
}

/*
 * What happens to a tuning in a model; the caller provides the memory for the
 * forms.
 */
typedef struct Fate
{
	const char *binary;			/* why the binary form is refused, "" if it is not */
	const char *text;			/* the same of the text */
	bool		same;			/* what was accepted came back the same */
} Fate;

/* Is a model that was read the same in its other form? */
static bool
survives(const DpermModel *m)
{
	size_t		size = dperm_model_binary_size(m);
	size_t		len = dperm_model_print(m, NULL, 0);
	unsigned char *form = malloc(size);
	unsigned char *again = malloc(size);
	char	   *text = malloc(len + 1);
	DpermModel	out;
	bool		same;

	/*
	 * memory holds one model at a time: what m points to is gone after the
	 * first reading
	 */
	dperm_model_binary_write(m, form);
	dperm_model_print(m, text, len + 1);
	same = *read_text(text, len, &out) == '\0' && dperm_model_binary_size(&out) == size;
	if (same)
	{
		dperm_model_binary_write(&out, again);
		same = memcmp(form, again, size) == 0;
	}
	same = same && *read_form(form, size, &out) == '\0' && dperm_model_print(&out, NULL, 0) == len;
	free(form);
	free(again);
	free(text);
	return same;
}

/* Put a tuning into both forms of a plain model, and read them. */
static Fate
fate_of(const char *tuning)
{
	DpermModel	m = plain_model();
	DpermModel	out;
	size_t		size,
				len;
	unsigned char *form;
	char	   *text;
	Fate		fate = {.same = true};

	m.tuning = sample_literal(tuning);
	size = dperm_model_binary_size(&m);
	len = dperm_model_print(&m, NULL, 0);
	form = malloc(size);
	text = malloc(len + 1);
	dperm_model_binary_write(&m, form);
	dperm_model_print(&m, text, len + 1);
	fate.binary = read_form(form, size, &out);
	if (*fate.binary == '\0')
		fate.same = survives(&out);
	fate.text = read_text(text, len, &out);
	if (*fate.text == '\0')
		fate.same = fate.same && survives(&out);
	free(form);
	free(text);
	return fate;
}

/* Accepted in both forms or in none, and the same in both. */
#define CHECK_FATE(tuning, good) \
	do { \
		Fate		fate = fate_of(tuning); \
		CHECK((*fate.binary == '\0') == (good)); \
		CHECK((*fate.text == '\0') == (good)); \
		CHECK(fate.same); \
	} while (0)

/* The beginning of a tuning with one candidate, which follows. */
#define ONE_CANDIDATE "{\"way\": \"private\", \"selection\": \"exponential\", \"rows\": 1000," \
	" \"portions\": 2, \"chosen\": {}, \"candidates\": [{\"a\": "

/*
 * A tuning whose only candidate is nested that many levels below the tuning
 * itself.
 */
static const char *
nested(int levels)
{
	static char text[1024];
	int			len = sprintf(text, ONE_CANDIDATE);

	for (int i = 0; i < levels; i++)
		text[len++] = '[';
	for (int i = 0; i < levels; i++)
		text[len++] = ']';
	sprintf(text + len, "}]}");
	return text;
}

/* A tuning of that many bytes. */
static char *
long_tuning(size_t size)
{
	char	   *text = malloc(size + 1);
	size_t		len = (size_t) sprintf(text, ONE_CANDIDATE "\"");

	memset(text + len, 'x', size - len - 4);
	strcpy(text + size - 4, "\"}]}");
	return text;
}

TEST(both_forms_of_a_model_carry_it)
{
	char	   *text;

	CHECK_FATE(private_text, true);
	CHECK_FATE("{\"way\": \"private\"}", false);
	CHECK_FATE("{}", false);
	CHECK_FATE("[]", false);
	CHECK_FATE("null", false);
	CHECK_FATE("1", false);
	CHECK_FATE("{\"way\": \"private\", \"selection\": \"exponential\", \"rows\": 999, \"portions\": 2,"
			   " \"chosen\": {}, \"candidates\": [{}]}", false);	/* the model has 1000 rows */
	CHECK_FATE("{\"way\": \"private\", \"selection\": \"exponential\", \"rows\": 1000, \"portions\": 2,"
			   " \"chosen\": {}, \"candidates\": [{}]}", true);
	CHECK_FATE("{\"way\": \"private\", \"selection\": \"exponential\", \"persons\": 1000, \"portions\": 2,"
			   " \"chosen\": {}, \"candidates\": [{}]}", false);	/* the model is for rows */

	text = long_tuning(100000);
	CHECK_FATE(text, true);
	free(text);
}

/*
 * The text form has the tuning one level deeper, so nested candidates are in no
 * model.
 */
TEST(nesting_has_the_same_end_in_both_forms)
{
	int			refused = 0;

	for (int levels = 0; levels <= DEPTHS; levels++)
	{
		Fate		fate = fate_of(nested(levels));

		CHECK((*fate.binary == '\0') == (*fate.text == '\0'));
		CHECK(fate.same);
		refused += *fate.text != '\0';
	}
	CHECK(refused == DEPTHS + 1);
}

/*
 * Spaces around the object are not part of it; the binary form is canonical and
 * has none.
 */
TEST(spaces_do_not_make_two_forms)
{
	static const char *const ends[][2] = {{" ", ""}, {"", " "}, {"\n\t", "\r "}};
	char		text[512];

	for (int i = 0; i < 3; i++)
	{
		Fate		fate;

		snprintf(text, sizeof(text), "%s%s%s", ends[i][0], private_text, ends[i][1]);
		fate = fate_of(text);
		CHECK(fate.same);
		CHECK(*fate.text == '\0');
	}
}

/* What is too long for one form is too long for the other. */
TEST(length_has_the_same_end_in_both_forms)
{
	static const size_t sizes[] = {LONGEST, LONGEST + 1, 2 * LONGEST};

	for (int i = 0; i < 3; i++)
	{
		char	   *text = long_tuning(sizes[i]);

		CHECK_FATE(text, sizes[i] <= LONGEST);
		free(text);
	}
}

int
main(void)
{
	int			result = test_main();

	free(memory);
	return result;
}
