/*
 * test_said.c: what a model says of its tuning and its prior: both forms keep it,
 * whatever it is, and words follow from the few keys that are used.
 */
#include "core/base/core.h"
#include "unit/sample_model.h"

static const char *const tuning_text = "{\"way\": \"private\", \"selection\": \"exponential\","
" \"rows\": 5000, \"portions\": 3, \"candidates\": [{\"lambda\": 0.01}, {\"lambda\": 0.1}], \"chosen\": {\"lambda\": 0.2}}";
static const char *const paid_text = "{\"norm\": 3.25, \"private\": true, \"epsilon\": 1, \"delta\": 1e-6, "
"\"neighbours\": \"remove\", \"unit\": \"person\", \"source\": \"public.january\", "
"\"ledger\": {\"budget\": \"b\", \"entry\": 17}}";
static const char *const public_text = "{\"norm\": 0, \"private\": false, \"epsilon\": \"Infinity\", \"delta\": 0, "
"\"neighbours\": \"replace\", \"unit\": \"row\"}";

/* The text with the first occurrence of one string replaced. */
static DpermText
edited(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char	   *out = test_host_keep(strlen(text) + strlen(to) + 1);

	CHECK(at != NULL);
	sprintf(out, "%.*s%s%s", (int) (at - text), text, to, at + strlen(from));
	return sample_literal(out);
}

/* Do both forms of a model keep all of it? */
static bool
survives(const DpermModel *m)
{
	DpermText	bytes = dperm_model_write(m);
	DpermText	text = dperm_model_print(m);
	DpermText	again;
	DpermModel	out;
	DpermTree	tree;
	bool		same;

	same = dperm_model_receive(bytes, &out) == NULL && same_model(&out, m);
	again = dperm_model_print(m);
	same = same && same_text(&text, &again);
	return same && dperm_tree_parse(text, &tree) && dperm_model_parse(&tree, &out) == NULL && same_model(&out, m);
}

/* The guarantee of a model with this tuning and prior. */
static const char *
words(const char *tuning, const char *prior)
{
	DpermModel	m = plain_model();

	m.tuning = tuning ? sample_literal(tuning) : m.tuning;
	m.prior = prior ? sample_literal(prior) : m.prior;
	CHECK(dperm_model_fault(&m) == NULL && survives(&m));
	return dperm_model_guarantee(&m).bytes;
}

TEST(tells_how_it_was_tuned)
{
	CHECK(strstr(words(tuning_text, NULL), "chosen privately among 2 candidates: a table of 5000 rows was divided at random into"
				 " 3 portions, one for each candidate to be trained on and one to count their mistakes, by which one was"
				 " chosen with the exponential rule.") != NULL);
	CHECK(strstr(words(edited(tuning_text, "exponential", "permute_and_flip").bytes, NULL), "with the permute-and-flip rule.") != NULL);
	CHECK(strstr(words(NULL, NULL), "candidates") == NULL);
}

/* Anybody can write the text of a model; what it does not say in order is not told. */
TEST(tells_nothing_of_another_tuning)
{
	static const char *const edits[][2] = {
		{"\"exponential\"", "\"best\""}, {"\"exponential\"", "null"}, {"\"selection\": \"exponential\", ", ""},
		{"\"portions\": 3", "\"portions\": 3.5"}, {"\"portions\": 3", "\"portions\": \"3\""}, {"\"portions\": 3, ", ""},
		{"\"rows\"", "\"Rows\""}
	};

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++)
	{
		const char *text = words(edited(tuning_text, edits[i][0], edits[i][1]).bytes, NULL);

		CHECK(strstr(text, "were chosen privately") == NULL || (i == 6 && strstr(text, "a table of 1000 rows")));
		CHECK(strstr(text, "which of the candidates was chosen") != NULL);
	}
	CHECK(strstr(words("{}", "{}"), "were chosen privately") == NULL);
}

TEST(counts_the_units_of_all_portions)
{
	DpermModel	m = plain_model();

	CHECK(dperm_model_units(&m) == 1000);
	m.tuning = sample_literal(tuning_text);
	CHECK(dperm_model_units(&m) == 5000);
	m.claim.unit = DPERM_UNIT_PERSON;
	CHECK(dperm_model_units(&m) == 1000);
	m.tuning = edited(tuning_text, "rows", "persons");
	CHECK(dperm_model_units(&m) == 5000);
}

/* Whatever is sampled comes back, with odd JSON in it. */
TEST(keeps_any_tuning)
{
	TestRandom	state = 1;
	char		room[SAMPLE_TUNING];

	for (int i = 0; i < 1000; i++)
	{
		DpermModel	m = plain_model();

		m.claim.unit = (DpermUnit) test_below(&state, 2);
		m.rows = 1 + (int64_t) (test_random(&state) % (uint64_t) DPERM_ROWS_MAX);
		m.tuning = sample_tuning(&state, m.claim.unit, m.rows, room);
		CHECK(survives(&m));
		CHECK(dperm_model_units(&m) >= m.rows);
		CHECK(strstr(dperm_model_guarantee(&m).bytes, "were chosen privately among") != NULL);
		test_host_release();
	}
}

/* As long as it may be, and longer. */
TEST(keeps_a_long_tuning)
{
	for (int more = 0; more < 2; more++)
	{
		DpermModel	m = plain_model();
		char	   *text = test_host_keep(DPERM_MODEL_TUNING_MAX + 2);

		memset(text, 'x', DPERM_MODEL_TUNING_MAX + 1);
		memcpy(text, "{\"a\": \"", 7);
		strcpy(text + DPERM_MODEL_TUNING_MAX + more - 2, "\"}");
		m.tuning = sample_literal(text);
		CHECK(survives(&m) == !more);
		test_host_release();
	}
}

TEST(tells_of_its_prior)
{
	const char *text = words(NULL, paid_text);

	CHECK(strstr(text, "a model that was trained on public.january with epsilon = 1 and delta = 1e-06, and which has a guarantee of its own. ") != NULL);
	CHECK(strstr(text, "both have a cost, but not for the same neighbours") != NULL);
	CHECK(strstr(words(NULL, edited(paid_text, "\"private\": true", "\"private\": false").bytes), "; a prior behind it is NOT PRIVATE. ") != NULL);
	CHECK(strstr(words(NULL, edited(edited(paid_text, "remove", "replace").bytes, "person", "row").bytes), "the costs of both add up") != NULL);
	text = words(NULL, public_text);
	CHECK(strstr(text, "without noise (epsilon = Infinity): the prior is NOT PRIVATE") != NULL);
	/* no name that would need an escape is in the paragraph */
	text = words(NULL, edited(paid_text, "public.january", "a \\\"b\\\"").bytes);
	CHECK(strstr(text, "that was trained with epsilon = 1 ") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);
}

/* A prior that does not say what it promises, promises nothing. */
TEST(trusts_no_other_prior)
{
	static const char *const edits[][2] = {
		{"\"epsilon\": 1, ", ""}, {"\"epsilon\": 1", "\"epsilon\": \"1\""}, {"\"epsilon\": 1", "\"epsilon\": \"Infinity\""},
		{"1e-6", "null"}, {"\"remove\"", "\"add\""}, {"\"person\"", "1"}
	};
	static const char *const unsaid[][2] = {
		{"\"private\": true, ", ""}, {"true", "1"}, {"true", "\"true\""}, {"true", "null"}, {"true", "false"}
	};
	DpermModel	m = plain_model();

	CHECK(dperm_model_prior_is_private(&m));
	m.prior = sample_literal(paid_text);
	CHECK(dperm_model_prior_is_private(&m));
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++)
		CHECK(strstr(words(NULL, edited(paid_text, edits[i][0], edits[i][1]).bytes), "the prior is NOT PRIVATE") != NULL);
	for (size_t i = 0; i < sizeof(unsaid) / sizeof(unsaid[0]); i++)
	{
		m.prior = edited(paid_text, unsaid[i][0], unsaid[i][1]);
		CHECK(!dperm_model_prior_is_private(&m));
		CHECK(strstr(words(NULL, m.prior.bytes), "a prior behind it is NOT PRIVATE") != NULL);
	}
	CHECK(strstr(words(NULL, "{}"), "the prior is NOT PRIVATE") != NULL);
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
		CHECK(dperm_model_norm(weights, dim) >= sqrtl(sum));
		CHECK(dperm_model_norm(weights, dim) <= sqrtl(sum) * (1 + 2e-9L) + 2e-150L);
	}
	weights[0] = 1e200;
	CHECK(isinf(dperm_model_norm(weights, 2)));
	weights[0] = NAN;
	CHECK(!(dperm_model_norm(weights, 1) <= DPERM_PRIOR_NORM_MAX));
	weights[0] = -1.1e6;
	CHECK(isinf(dperm_model_norm(weights, 1)));
}
