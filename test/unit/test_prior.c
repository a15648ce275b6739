/*
 * test_prior.c: what a model says about its prior: how that is read, in both
 * forms of a model, and what is refused.
 */
#define TEST_OWN_MAIN
#include "core/base/limits.h"
#include "core/model/prior.h"
#include "unit/sample_model.h"

#define FAULT "prior is not in the form that this version of dperm writes"

static void *memory;

static const char *const paid_text = "{\"norm\": 3.25, \"private\": true, \"epsilon\": 1, \"delta\": 1e-6, "
"\"neighbours\": \"remove\", \"unit\": \"person\", \"source\": \"public.january\", "
"\"ledger\": {\"budget\": \"b\", \"entry\": 17}}";
static const char *const public_text = "{\"norm\": 0, \"private\": false, \"epsilon\": \"Infinity\", \"delta\": 0, "
"\"neighbours\": \"replace\", \"unit\": \"row\"}";

/*
 * What is wrong with a text, "" if nothing; read from a copy that ends where
 * its memory ends.
 */
static const char *
why_not(const char *text, DpermPrior *out)
{
	size_t		len = strlen(text);
	char	   *copy = malloc(len > 0 ? len : 1);
	DpermText	exact = {copy, (int) len};
	const char *why;

	memcpy(copy, text, len);
	why = dperm_prior_read(&exact, out);
	out->source = (DpermText) {NULL, out->source.len};
	free(copy);
	return why ? why : "";
}

/* The same for a text with the first occurrence of one string replaced. */
static const char *
why_not_edited(const char *text, const char *from, const char *to)
{
	static char edited[4096];
	const char *at = strstr(text, from);
	DpermPrior	out;

	if (at == NULL)
		return "the string to replace is not there";
	snprintf(edited, sizeof(edited), "%.*s%s%s", (int) (at - text), text, to, at + strlen(from));
	return why_not(edited, &out);
}

TEST(reads_a_prior)
{
	DpermPrior	out;

	CHECK_TEXT(why_not(paid_text, &out), "");
	CHECK(out.norm == 3.25 && out.private && out.claim.epsilon == 1 && out.claim.delta == 1e-6);
	CHECK(out.claim.neighbours == DPERM_NEIGHBOURS_REMOVE && out.claim.unit == DPERM_UNIT_PERSON);
	CHECK(out.entry == 17 && out.source.len == 14);
	CHECK_TEXT(why_not(public_text, &out), "");
	CHECK(!out.private && isinf(out.claim.epsilon) && out.entry == 0 && out.source.len == 0);
	CHECK_TEXT(why_not_edited(paid_text, "\"private\": true", "\"private\": false"), "");
	CHECK_TEXT(why_not_edited(paid_text, "\"epsilon\": 1", "\"epsilon\": 1e300"), "");
}

TEST(refuses_what_is_not_a_prior)
{
	static const char *const edits[][2] = {
		{"{\"norm\": 3.25, ", "{"}, {"3.25", "-1"}, {"3.25", "1.1e6"}, {"3.25", "\"Infinity\""},
		{"3.25", "3.25, \"norm\": 3.25"}, {"true", "1"}, {"true", "\"true\""}, {"\"private\": true, ", ""},
		{"\"epsilon\": 1", "\"epsilon\": 0"}, {"\"epsilon\": 1", "\"epsilon\": -1"},
		{"\"epsilon\": 1", "\"epsilon\": \"infinity\""}, {"\"epsilon\": 1", "\"epsilon\": \"Infinity\""},
		{"1e-6", "1"}, {"1e-6", "-1e-6"}, {"1e-6", "null"}, {"\"remove\"", "\"add\""}, {"\"remove\"", "1"},
		{"\"person\"", "\"rows\""}, {"\"public.january\"", "[]"}, {"\"public.january\"", "\"public.january"},
		{"17", "0"}, {"17", "-1"}, {"17", "1.5"}, {"\"budget\": \"b\", ", ""}, {"\"entry\": 17", "\"entry\": 17, \"entry\": 17"},
		{", \"entry\": 17", ""}, {"\"b\"", "1"}, {"\"source\"", "\"sauce\""}, {"}}", "}} "}, {"}}", "}"}, {"{\"norm\"", " {\"norm\""}
	};
	DpermPrior	out;
	char		cut[400];

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++)
		CHECK_TEXT(why_not_edited(paid_text, edits[i][0], edits[i][1]), FAULT);
	CHECK_TEXT(why_not_edited(public_text, "false", "true"), FAULT);
	CHECK_TEXT(why_not_edited(public_text, "\"delta\": 0", "\"delta\": 0.5"), FAULT);
	for (size_t len = 0; len < strlen(paid_text); len++)
	{
		snprintf(cut, sizeof(cut), "%.*s", (int) len, paid_text);
		CHECK_TEXT(why_not(cut, &out), FAULT);
	}
	CHECK_TEXT(why_not("{}", &out), FAULT);
	CHECK_TEXT(why_not("[]", &out), FAULT);
}

/* The bound is one, whatever the weights are. */
TEST(bounds_the_norm_of_weights)
{
	TestRandom	state = 81;
	static double weights[DPERM_DIM_MAX];

	for (int round = 0; round < 300; round++)
	{
		int			dim = 1 + (int) (test_uniform(&state) * (round % 10 ? 20 : DPERM_DIM_MAX - 1));
		double		scale = pow(10, -320 * test_uniform(&state) + 4);
		long double sum = 0;

		for (int i = 0; i < dim; i++)
		{
			weights[i] = scale * (test_uniform(&state) - 0.5);
			sum += (long double) weights[i] * weights[i];
		}
		CHECK(dperm_prior_norm(weights, dim) >= sqrtl(sum));
		CHECK(dperm_prior_norm(weights, dim) <= sqrtl(sum) * (1 + 2e-9L) + 2e-150L);
	}
	weights[0] = 1e200;
	CHECK(isinf(dperm_prior_norm(weights, 2)));
	weights[0] = NAN;
	CHECK(!(dperm_prior_norm(weights, 1) <= DPERM_PRIOR_NORM_MAX));
	weights[0] = -1.1e6;
	CHECK(isinf(dperm_prior_norm(weights, 1)));
}

/* Both forms keep it, and the guarantee tells whether it is private. */
TEST(is_part_of_a_model)
{
	const char *const texts[] = {paid_text, public_text};
	static unsigned char form[4096];
	static char text[8192];
	DpermModel	m = plain_model();
	DpermModel	back;
	const char *why;

	for (int i = 0; i < 2; i++)
	{
		DpermArena	arena = {memory, dperm_model_arena_size(sizeof(text))};
		size_t		len;

		m.prior = (DpermText) {texts[i], (int) strlen(texts[i])};
		CHECK(dperm_model_check(&m, &why) == DPERM_OK);
		len = dperm_model_binary_size(&m);
		dperm_model_binary_write(&m, form);
		CHECK(dperm_model_binary_read(form, len, &arena, &back, &why) == DPERM_OK);
		CHECK(back.prior.len == m.prior.len && memcmp(back.prior.bytes, m.prior.bytes, (size_t) m.prior.len) == 0);
		arena = (DpermArena) {memory, dperm_model_arena_size(sizeof(text))};
		len = dperm_model_print(&m, text, sizeof(text));
		CHECK(dperm_model_parse(text, len, &arena, &back, &why) == DPERM_OK);
		CHECK(back.prior.len == m.prior.len && memcmp(back.prior.bytes, m.prior.bytes, (size_t) m.prior.len) == 0);
		CHECK((strstr(text, "the prior is NOT PRIVATE") != NULL) == (i == 1));
		CHECK((strstr(text, "trained on public.january with epsilon = 1 ") != NULL) == (i == 0));
	}
	m.prior.len--;
	CHECK(dperm_model_check(&m, &why) != DPERM_OK);
	CHECK_TEXT(why, FAULT);
	m.prior.len = DPERM_PRIOR_MAX + 1;
	CHECK(dperm_model_check(&m, &why) != DPERM_OK);
	CHECK_TEXT(why, "prior is too long");
}

int
main(void)
{
	int			failed;

	memory = malloc(dperm_model_arena_size(8192));
	failed = test_main();
	free(memory);
	return failed;
}
