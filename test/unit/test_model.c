/*
 * test_model.c: what a valid model is, its binary form, and the guarantee in
 * words.
 */
#define TEST_OWN_MAIN
#include "core/base/limits.h"
#include "unit/sample_model.h"

#define BINARY_MAX SAMPLE_MODEL_BINARY
#define HEADER 147
#define GUARANTEE_MAX 4096

static void *memory;

/*
 * Decode a copy that ends where the bytes end, for the sanitizer; NULL if it is
 * valid.
 */
static const char *
read_binary(const unsigned char *in, size_t len, void **room, DpermModel *out)
{
	unsigned char *copy = malloc(len > 0 ? len : 1);
	DpermArena	arena = sample_arena(room, dperm_model_arena_size(len));
	const char *why = NULL;
	DpermStatus status;

	memcpy(copy, in, len);
	status = dperm_model_binary_read(copy, len, &arena, out, &why);
	if ((status == DPERM_OK) != (why == NULL))
		abort();
	free(copy);					/* the result does not point into it */
	return why;
}

/* Why the model that breaks one rule is refused; "" if it is not. */
static const char *
why_not(const DpermModel *m)
{
	const char *why;

	return dperm_model_check(m, &why) == DPERM_OK ? "" : why;
}

TEST(round_trips_binary)
{
	TestRandom	state = 1;

	for (int round = 0; round < 5000; round++)
	{
		SampleModel room;
		unsigned char form[BINARY_MAX];
		unsigned char again_form[BINARY_MAX];
		DpermModel	m = sample_model(&state, &room);
		DpermModel	again;
		size_t		size = dperm_model_binary_size(&m);
		const char *why;

		CHECK(dperm_model_check(&m, &why) == DPERM_OK);
		CHECK(size <= sizeof(form));
		dperm_model_binary_write(&m, form);
		CHECK(read_binary(form, size, &memory, &again) == NULL);
		CHECK(same_model(&m, &again));
		for (int i = 0; i < dperm_model_weights(&m); i++)
			CHECK(!(again.weights[i] == 0.0 && signbit(again.weights[i])));
		dperm_model_binary_write(&again, again_form);
		CHECK(memcmp(form, again_form, size) == 0);
	}
}

/* Only the full length decodes, or all of it but the tuning. */
TEST(refuses_other_lengths)
{
	TestRandom	state = 3;

	for (int round = 0; round < 10; round++)
	{
		SampleModel room;
		unsigned char form[BINARY_MAX + 8] = {0};
		DpermModel	m = sample_model(&state, &room);
		DpermModel	out;
		size_t		size = dperm_model_binary_size(&m);

		dperm_model_binary_write(&m, form);
		for (size_t cut = 0; cut <= sizeof(form); cut++)
			CHECK((read_binary(form, cut, &memory, &out) == NULL) == (cut == size));
	}
}

/* The largest model that is allowed, and one weight more. */
TEST(holds_the_largest_dimension)
{
	static double weights[DPERM_DIM_MAX + 1];
	static unsigned char form[2 * HEADER + 8 * (DPERM_DIM_MAX + 1)];
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = DPERM_DIM_MAX - 1, .norm = 1.0};
	DpermModel	m = plain_model();
	DpermModel	out;

	m.weights = weights;
	m.encoder.blocks = &block;
	dperm_model_binary_write(&m, form);
	CHECK(read_binary(form, dperm_model_binary_size(&m), &memory, &out) == NULL);
	CHECK(dperm_encoder_dim(&out.encoder) == DPERM_DIM_MAX);
	block.count = DPERM_DIM_MAX;
	CHECK_TEXT(why_not(&m), "the dimension is out of range");
	dperm_model_binary_write(&m, form);
	CHECK_TEXT(read_binary(form, dperm_model_binary_size(&m), &memory, &out),
			   "the dimension is out of range");
	m.encoder.intercept = false;	/* without an intercept they fit */
	dperm_model_binary_write(&m, form);
	CHECK(read_binary(form, dperm_model_binary_size(&m), &memory, &out) == NULL);
}

/* The maximum number of names, and long ones: the arena is never too small. */
TEST(fits_its_arena)
{
	static double weights[DPERM_DIM_MAX];
	static DpermBlock blocks[DPERM_DIM_MAX];
	static DpermText categories[DPERM_DIM_MAX];
	static char names[DPERM_DIM_MAX][8];
	DpermModel	m = plain_model();
	DpermModel	out;
	unsigned char *form;

	for (int each = 0; each < 3; each++)
	{
		int			count = each == 2 ? 1 : DPERM_DIM_MAX;

		for (int i = 0; i < DPERM_DIM_MAX; i++)
		{
			sprintf(names[i], "%x", i);
			categories[i] = sample_literal(names[i]);
			blocks[i] = (DpermBlock) {.kind = each == 0 ? DPERM_BLOCK_FLAG : DPERM_BLOCK_CATEGORY,
				.column = sample_literal(names[i]), .count = each == 2 ? DPERM_DIM_MAX : 1,
			.categories = &categories[each == 2 ? 0 : i]};
		}
		m.encoder = (DpermEncoder) {.block_count = count, .blocks = blocks};
		m.weights = weights;
		CHECK_TEXT(why_not(&m), "");
		form = malloc(dperm_model_binary_size(&m));
		dperm_model_binary_write(&m, form);
		CHECK(read_binary(form, dperm_model_binary_size(&m), &memory, &out) == NULL);
		CHECK(same_model(&m, &out));
		free(form);
	}
}

/* Too little memory gives an error, not a crash. */
TEST(runs_out_of_memory_in_peace)
{
	TestRandom	state = 6;

	for (int round = 0; round < 50; round++)
	{
		SampleModel room;
		unsigned char form[BINARY_MAX];
		DpermModel	m = sample_model(&state, &room);
		DpermModel	out;
		size_t		size = dperm_model_binary_size(&m);
		bool		fitted = false;

		dperm_model_binary_write(&m, form);
		for (size_t left = 0; left <= dperm_model_arena_size(size); left += 8)
		{
			DpermArena	arena = sample_arena(&memory, left);
			const char *why = NULL;
			bool		fits = dperm_model_binary_read(form, size, &arena, &out, &why) == DPERM_OK;

			CHECK(fits || strstr(why, "there is not enough memory for the ") == why ||
				  strcmp(why, "tuning is too long") == 0);
			CHECK(fits || !fitted);
			fitted = fits;
		}
		CHECK(fitted);
	}
}

/*
 * Whatever a byte is changed to: refused, or a valid model in canonical form.
 */
TEST(survives_flipped_bytes)
{
	TestRandom	state = 4;
	SampleModel room;
	unsigned char form[BINARY_MAX];
	unsigned char again[BINARY_MAX];
	DpermModel	out;
	const char *why;

	for (int round = 0; round < 20; round++)
	{
		DpermModel	m = sample_model(&state, &room);
		size_t		size = dperm_model_binary_size(&m);

		for (size_t i = 0; i < size; i++)
			for (int bit = 0; bit <= 8; bit++)
			{
				dperm_model_binary_write(&m, form);
				form[i] ^= (unsigned char) (bit < 8 ? 1 << bit : 0xff);
				if (read_binary(form, size, &memory, &out) != NULL)
					continue;
				CHECK(i >= 6);	/* neither magic nor format may change */
				CHECK(dperm_model_check(&out, &why) == DPERM_OK);
				CHECK(dperm_model_binary_size(&out) == size);
				dperm_model_binary_write(&out, again);
				CHECK(memcmp(form, again, size) == 0);
			}
	}
}

/* One broken field, and what the check must say about it. */
#define CHECK_BROKEN(change, expected) \
	do { \
		DpermModel	m = plain_model(); \
		DpermBlock	block = plain_block; \
		m.encoder.blocks = &block; \
		change; \
		CHECK_TEXT(why_not(&m), expected); \
	} while (0)

/* How a model was tuned. */
static const char *const tuned = "{\"way\": \"private\", \"selection\": \"permute_and_flip\","
" \"rows\": 3000, \"portions\": 3, \"chosen\": {}, \"candidates\": [{\"lambda\": 0.01}, {\"lambda\": 0.1}]}";

/* A model whose label is a number. */
static DpermModel
number_model(void)
{
	DpermModel	m = plain_model();

	m.loss = (DpermLoss) {DPERM_LOSS_LOG_COSH, 0.25};
	m.label_low = 17;
	m.label_high = 90;
	return m;
}

TEST(checks_every_field)
{
	static const double bad_weights[6] = {0.0, NAN};

	CHECK_BROKEN((void) 0, "");
	CHECK_BROKEN(m.loss.kind = (DpermLossKind) DPERM_LOSS_COUNT, "the loss is unknown");
	CHECK_BROKEN(m = number_model(), "");
	CHECK_BROKEN((m = number_model(), m.loss.h = 0.01), "h must be between 0.02 and 1");
	CHECK_BROKEN((m = number_model(), m.label_low = 90), "the bounds of the label are out of range");
	CHECK_BROKEN((m = number_model(), m.label_high = INFINITY), "the bounds of the label are out of range");
	CHECK_BROKEN((m = number_model(), m.label_low = NAN), "the bounds of the label are out of range");
	CHECK_BROKEN((m = number_model(), m.has_positive = true), "positive is not expected");
	CHECK_BROKEN(m.label_low = -1, "bounds are not expected");
	CHECK_BROKEN(m.label_high = 1, "bounds are not expected");
	CHECK_BROKEN(m = several_model(), "");
	CHECK_BROKEN((m = several_model(), m.loss.classes = 0), "the number of classes must be between 3 and 128");
	CHECK_BROKEN((m = several_model(), m.loss.classes = 2), "the number of classes must be between 3 and 128");
	CHECK_BROKEN((m = several_model(), m.loss.classes = INT32_MAX), "the number of classes must be between 3 and 128");
	CHECK_BROKEN((m = several_model(), m.loss.h = 0.5), "this loss has no h");
	CHECK_BROKEN((m = several_model(), m.classes.len--), "the last class has no end");
	CHECK_BROKEN((m = several_model(), m.classes.len = 7), "there are fewer classes");
	CHECK_BROKEN((m = several_model(), m.classes.len = 0), "the last class has no end");
	CHECK_BROKEN((m = several_model(), m.classes = (DpermText) {"a\0b\0c\0d", 8}), "there are more classes");
	CHECK_BROKEN((m = several_model(), m.classes = (DpermText) {"a\0b\0a", 6}), "a class is there twice");
	CHECK_BROKEN((m = several_model(), m.classes.len = 131001), "the list of classes is too long");
	CHECK_BROKEN((m = several_model(), m.has_positive = true), "positive is not expected");
	CHECK_BROKEN((m = several_model(), m.label_high = 1), "bounds are not expected");
	CHECK_BROKEN((m = several_model(), m.encoder.blocks = &block, block.count = DPERM_DIM_MAX / 3), "there are too many weights");
	CHECK_BROKEN((m = several_model(), m.weights = bad_weights), "a weight is not finite");
	CHECK_BROKEN(m = named_model(), "");
	CHECK_BROKEN((m = named_model(), m.loss.kind = DPERM_LOSS_HUBER, m.loss.h = 0.5), "");
	CHECK_BROKEN((m = named_model(), m.classes.len--), "the last class has no end");
	CHECK_BROKEN((m = named_model(), m.classes.len = 3), "there are fewer classes");
	CHECK_BROKEN((m = named_model(), m.classes = (DpermText) {"yes\0yes", 8}), "a class is there twice");
	CHECK_BROKEN((m = number_model(), m.classes = named_model().classes), "classes are not expected");
	CHECK_BROKEN(m.classes = several_model().classes, "there are more classes");
	CHECK_BROKEN(m.loss.classes = 3, "this loss has no classes");
	CHECK_BROKEN(m.loss.h = 0.5, "this loss has no h");
	CHECK_BROKEN((m.loss.kind = DPERM_LOSS_HUBER, m.loss.h = 0.5), "");
	CHECK_BROKEN(m.loss.kind = DPERM_LOSS_HUBER, "h must be between 0.01 and 1");
	CHECK_BROKEN((m.loss.kind = DPERM_LOSS_HUBER, m.loss.h = NAN), "h must be between 0.01 and 1");
	CHECK_BROKEN((m.loss.kind = DPERM_LOSS_SMOOTH_HINGE, m.loss.h = 1.01), "h must be between 0.01 and 1");
	CHECK_BROKEN(m.method = (DpermMethod) 2, "the method is unknown");
	CHECK_BROKEN(m.analysis = (DpermAnalysis) 2, "the analysis is unknown");
	CHECK_BROKEN(m.rows = 0, "the number of rows is out of range");
	CHECK_BROKEN(m.rows = INT64_MIN, "the number of rows is out of range");
	CHECK_BROKEN(m.rows = DPERM_ROWS_MAX + 1, "the number of rows is out of range");
	CHECK_BROKEN(m.lambda = -1e-9, "lambda is out of range");
	CHECK_BROKEN(m.lambda = INFINITY, "lambda is out of range");
	CHECK_BROKEN(m.lambda = 0.0, "");
	CHECK_BROKEN(m.lambda_effective = 0.0, "lambda_effective is out of range");
	CHECK_BROKEN(m.lambda_effective = 0.0099, "lambda_effective is out of range");
	CHECK_BROKEN(m.lambda_effective = NAN, "lambda_effective is out of range");
	CHECK_BROKEN(m.claim.epsilon = 0.0, "epsilon is out of range");
	CHECK_BROKEN(m.claim.epsilon = NAN, "epsilon is out of range");
	CHECK_BROKEN(m.claim.epsilon = -INFINITY, "epsilon is out of range");
	CHECK_BROKEN(m.claim.epsilon = 0.99, "the budget adds up to more than epsilon");
	CHECK_BROKEN(m.claim.epsilon = INFINITY, "a model without privacy cannot have noise or a budget");
	CHECK_BROKEN(m.claim.shares[DPERM_SHARE_SLACK] = -0.1, "a share of the budget is out of range");
	CHECK_BROKEN(m.claim.shares[DPERM_SHARE_SLACK] = 0.0, "");
	CHECK_BROKEN(m.claim.shares[DPERM_SHARE_NOISE] = 0.0, "a share of the budget is out of range");
	CHECK_BROKEN(m.claim.shares[DPERM_SHARE_RELEASE] = NAN, "a share of the budget is out of range");
	CHECK_BROKEN(m.noise_scale = 0.0, "noise_scale is out of range");
	CHECK_BROKEN(m.grid = 0.3, "grid is not a power of two");
	CHECK_BROKEN(m.grid = -0.5, "grid is not a power of two");
	CHECK_BROKEN(m.grid = INFINITY, "grid is not a power of two");
	CHECK_BROKEN(m.release_scale = 0, "release_scale is out of range");
	CHECK_BROKEN(block.count = 0, "dimension is out of range");
	CHECK_BROKEN(block.count = INT32_MAX, "dimension is out of range");
	CHECK_BROKEN(block.count = DPERM_DIM_MAX, "the dimension is out of range");
	CHECK_BROKEN((block.kind = DPERM_BLOCK_FLAG, block.column = sample_literal("x")), "");
	CHECK_BROKEN(block.kind = DPERM_BLOCK_FLAG, "a feature has no column");
	CHECK_BROKEN(m.encoder.block_count = 0, "the number of features is out of range");
	CHECK_BROKEN(m.encoder.kernel.gamma = 1, "kernel parameters require a kernel");
	CHECK_BROKEN(block.norm = 0.0, "norm is out of range");
	CHECK_BROKEN(block.norm = INFINITY, "norm is out of range");
	CHECK_BROKEN(m.weights = bad_weights, "a weight is not finite");
	CHECK_BROKEN(m.claim.delta = 0.1, "");
	CHECK_BROKEN(m.claim.delta = 1e-15, "");
	CHECK_BROKEN(m.claim.delta = 9e-16, "delta is out of range");
	CHECK_BROKEN(m.claim.delta = -1e-6, "delta is out of range");
	CHECK_BROKEN(m.claim.delta = 1, "delta is out of range");
	CHECK_BROKEN(m.claim.delta = NAN, "delta is out of range");
	CHECK_BROKEN(m.claim.delta = INFINITY, "delta is out of range");
	CHECK_BROKEN(m.claim.neighbours = DPERM_NEIGHBOURS_REMOVE, "");
	CHECK_BROKEN(m.claim.neighbours = (DpermNeighbours) 2, "neighbours is unknown");
	CHECK_BROKEN(m.label = sample_literal("sick"), "");
	CHECK_BROKEN((m.label = (DpermText) {"a\0b", 3}), "label or positive contains a zero byte");
	CHECK_BROKEN(m.source = sample_literal("public.sick"), "");
	CHECK_BROKEN((m.source = (DpermText) {"a\0b", 3}), "the source contains a zero byte");
	CHECK_BROKEN((m.source = sample_literal("b"), m.source.len = (1 << 18) + 1), "the source is too long");
	CHECK_BROKEN(m.positive = sample_literal("yes"), "positive is not expected");
	CHECK_BROKEN((m.positive = sample_literal("yes"), m.has_positive = true), "");
	CHECK_BROKEN(m.tuning = sample_literal(tuned), "");
	CHECK_BROKEN((m.tuning = sample_literal(tuned), m.rows = 3001),
				 "tuning has fewer rows than the model");
	CHECK_BROKEN((m.tuning = sample_literal(tuned), m.rows = 3000), "");
	CHECK_BROKEN((m.tuning = sample_literal(tuned), m.tuning.len--),
				 "tuning is not in the form that this version of dperm writes");
	CHECK_BROKEN((m.budget = sample_literal("b"), m.entry = 1), "");
	CHECK_BROKEN((m.budget = sample_literal("b"), m.entry = -1), "the entry of the ledger is out of range");
	CHECK_BROKEN(m.budget = sample_literal("b"), "the entry of the ledger is out of range");
	CHECK_BROKEN(m.entry = 1, "the entry of the ledger is out of range");
	CHECK_BROKEN((m.budget = (DpermText) {"a\0b", 3}, m.entry = 1), "the name of the budget contains a zero byte");
	CHECK_BROKEN((m.budget = sample_literal("b"), m.budget.len = (1 << 18) + 1, m.entry = 1), "the name of the budget is too long");
	CHECK_BROKEN(m.claim.unit = DPERM_UNIT_PERSON, "");
	CHECK_BROKEN((m.claim.unit = DPERM_UNIT_PERSON, m.analysis = DPERM_ANALYSIS_PAPER),
				 "the analysis of the paper supports rows, not persons");
	CHECK_BROKEN((m.claim.unit = DPERM_UNIT_PERSON, m.tuning = sample_literal(tuned)), "tuning and unit contradict each other");
}

TEST(refuses_non_canonical_binary)
{
	DpermModel	m = plain_model();
	DpermModel	out;
	unsigned char form[BINARY_MAX];
	size_t		size = dperm_model_binary_size(&m);
	unsigned char *weights = form + size - 16;

	dperm_model_binary_write(&m, form);
	form[126] = 2;
	CHECK_TEXT(read_binary(form, size, &memory, &out), "it ends before the noise does");
	dperm_model_binary_write(&m, form);
	form[10] = 2;
	CHECK_TEXT(read_binary(form, size, &memory, &out), "unit is unknown");
	dperm_model_binary_write(&m, form);
	form[9] = 9;
	CHECK_TEXT(read_binary(form, size, &memory, &out), "neighbours is unknown");

	dperm_model_binary_write(&m, form);
	memset(weights, 0, 8);
	CHECK(read_binary(form, size, &memory, &out) == NULL);
	weights[0] = 0x80;			/* a negative zero */
	CHECK_TEXT(read_binary(form, size, &memory, &out), "it is not in canonical form");

	dperm_model_binary_write(&m, form);
	for (int format = 0; format < 0x10000; format++)
	{
		form[4] = (unsigned char) (format >> 8);
		form[5] = (unsigned char) format;
		if (format != 1)
			CHECK_TEXT(read_binary(form, size, &memory, &out),
					   "this version of dperm does not support the format of the model");
	}
	/* whatever else a later format has, and however short it is */
	CHECK_TEXT(read_binary(form, 6, &memory, &out),
			   "this version of dperm does not support the format of the model");

	/*
	 * A length of the encoder that overflows 32 bits is not trusted, nor is any
	 * other.
	 */
	dperm_model_binary_write(&m, form);
	memset(form + 11, 0xff, 4);
	CHECK_TEXT(read_binary(form, size, &memory, &out), "it ends before the features do");
	dperm_model_binary_write(&m, form);
	form[14]++;
	CHECK_TEXT(read_binary(form, size, &memory, &out), "the features are not in canonical form");
	dperm_model_binary_write(&m, form);
	CHECK_TEXT(read_binary(form, size - 8, &memory, &out),
			   "it ends before the weights do");

	CHECK_TEXT(read_binary(form, size + 10, &memory, &out), "there is data after the model");
}

/* Several classes are between the encoder and the weights. */
TEST(refuses_hostile_classes)
{
	DpermModel	m = several_model();
	DpermModel	out;
	unsigned char form[BINARY_MAX];
	size_t		size = dperm_model_binary_size(&m);
	unsigned char *classes = form + HEADER + dperm_encoder_form_size(&m.encoder);

	dperm_model_binary_write(&m, form);
	CHECK(size == (size_t) (classes - form) + 6 + 20 + 48);
	CHECK(memcmp(classes, "\0\3\0\0\0\24no\0yes\0who \"knows\"?", 26) == 0);
	CHECK(read_binary(form, size, &memory, &out) == NULL && same_model(&m, &out));
	CHECK_TEXT(read_binary(form, (size_t) (classes - form) + 5, &memory, &out), "it ends before the classes do");
	CHECK_TEXT(read_binary(form, (size_t) (classes - form) + 25, &memory, &out), "it ends too early");
	CHECK_TEXT(read_binary(form, size - 2, &memory, &out), "it ends before the weights do");
	/* every number of classes, and every length */
	for (int count = 0; count < 0x10000; count++)
	{
		classes[0] = (unsigned char) (count >> 8);
		classes[1] = (unsigned char) count;
		CHECK((read_binary(form, size, &memory, &out) == NULL) == (count == 3));
		if (count > DPERM_DIM_MAX / 2)
			CHECK_TEXT(read_binary(form, size, &memory, &out), "there are too many weights");
	}
	dperm_model_binary_write(&m, form);
	for (int len = 0; len < 1 << 18; len++)
	{
		classes[3] = (unsigned char) (len >> 16);
		classes[4] = (unsigned char) (len >> 8);
		classes[5] = (unsigned char) len;
		CHECK((read_binary(form, size, &memory, &out) == NULL) == (len == 20));
	}
	dperm_model_binary_write(&m, form);
	memset(classes + 2, 0xff, 4);
	CHECK_TEXT(read_binary(form, size, &memory, &out), "it ends too early");
	/* another loss has none */
	dperm_model_binary_write(&m, form);
	form[6] = DPERM_LOSS_LOGISTIC;
	CHECK(read_binary(form, size, &memory, &out) != NULL);
}

/* So are the names of two, if they are known. */
TEST(refuses_hostile_names)
{
	DpermModel	m = named_model();
	DpermModel	out;
	unsigned char form[BINARY_MAX];
	size_t		size = dperm_model_binary_size(&m);
	unsigned char *names = form + HEADER + dperm_encoder_form_size(&m.encoder);

	dperm_model_binary_write(&m, form);
	CHECK(memcmp(names, "\0\2\0\0\0\7no\0yes", 13) == 0);
	CHECK(read_binary(form, size, &memory, &out) == NULL && same_model(&m, &out));
	for (int count = 0; count < 0x10000; count++)
	{
		names[0] = (unsigned char) (count >> 8);
		names[1] = (unsigned char) count;
		CHECK((read_binary(form, size, &memory, &out) == NULL) == (count == 2));
	}
	dperm_model_binary_write(&m, form);
	for (int len = 0; len < 1 << 8; len++)
	{
		names[5] = (unsigned char) len;
		CHECK((read_binary(form, size, &memory, &out) == NULL) == (len == 7));
	}
	m = plain_model();
	dperm_model_binary_write(&m, form);
	CHECK(memcmp(names, "\0\0\0\0\0\0", 6) == 0);
	names[1] = 2;
	CHECK_TEXT(read_binary(form, dperm_model_binary_size(&m), &memory, &out), "there must be two classes with this loss");
}

/* As many classes as there may be, with values as long as they may be. */
TEST(holds_the_largest_list_of_classes)
{
	static double weights[2 * (DPERM_CLASSES_MAX + 1)];
	static char values[131001];
	DpermModel	m = plain_model();
	DpermModel	out;
	unsigned char *form;

	m.weights = weights;
	m.classes.bytes = values;
	m.loss = (DpermLoss) {.kind = DPERM_LOSS_SOFTMAX, .classes = DPERM_CLASSES_MAX};
	for (int i = 0; i < m.loss.classes; i++)
		m.classes.len += sprintf(values + m.classes.len, "%0*d", i == 0 ? 131000 - 52 * (m.loss.classes - 1) - 1 : 51, i) + 1;
	CHECK(m.classes.len == 131000);
	CHECK_TEXT(why_not(&m), "");
	form = malloc(dperm_model_binary_size(&m) + 100);
	dperm_model_binary_write(&m, form);
	CHECK(read_binary(form, dperm_model_binary_size(&m), &memory, &out) == NULL && same_model(&m, &out));
	m.classes.len += 1;
	CHECK_TEXT(why_not(&m), "the list of classes is too long");
	m.classes.len -= 1;
	m.loss.classes++;
	CHECK_TEXT(why_not(&m), "the number of classes must be between 3 and 128");
	dperm_model_binary_write(&m, form);
	CHECK_TEXT(read_binary(form, dperm_model_binary_size(&m), &memory, &out), "the number of classes must be between 3 and 128");
	free(form);
}

/* The encoder in its middle is written by dperm_encoder_form_write. */
TEST(holds_the_form_of_the_encoder)
{
	DpermModel	m = plain_model();
	unsigned char form[BINARY_MAX];
	unsigned char encoder[SAMPLE_BINARY];
	size_t		size = dperm_encoder_form_size(&m.encoder);

	dperm_model_binary_write(&m, form);
	dperm_encoder_form_write(&m.encoder, encoder);
	CHECK(form[14] == size && form[13] == 0);
	CHECK(memcmp(form + HEADER, encoder, size) == 0);
	CHECK(dperm_model_binary_size(&m) == HEADER + size + 6 + 16);
}

/* How delta, neighbours and a choice change it. */
TEST(states_the_guarantee_of_persons)
{
	static const char tuned[] = "{\"way\": \"private\", \"selection\": \"exponential\", \"persons\": 3000,"
	" \"portions\": 3, \"chosen\": {}, \"candidates\": [{}, {}]}";
	DpermModel	m = plain_model();
	char		text[8192];

	m.claim.unit = DPERM_UNIT_PERSON;
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "was trained on the rows of 1000 persons with") != NULL);
	CHECK(strstr(text, "A person is all rows that share a value of the unit column: together they weigh as much as one row."
				 " Neighbours are two tables with the same number of persons that differ in all rows of one person (replace);"
				 " the number of persons is public, the number of rows is not.") != NULL);
	CHECK(strstr(text, "as it would have been with any other rows of that person. ") != NULL);
	CHECK(strstr(text, "further release about the same persons adds") != NULL);
	m.claim.neighbours = DPERM_NEIGHBOURS_REMOVE;
	m.rows = 1;
	m.tuning = sample_literal(tuned);
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "was trained on the rows of 1 person with") != NULL);
	CHECK(strstr(text, "who has no labelled row in one of them (remove)") != NULL);
	CHECK(strstr(text, "a table of 3000 persons was divided") != NULL && strstr(text, "covers all persons of that table") != NULL);
	m.claim = (DpermClaim) {.unit = DPERM_UNIT_PERSON, .epsilon = INFINITY};
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strncmp(text, "NOT PRIVATE.", 12) == 0 && strstr(text, "the rows of 1 person without noise") != NULL);
}

/* Their number is in it, and not their values, which may need escapes. */
TEST(states_the_guarantee_of_classes)
{
	DpermModel	m = several_model();
	char		text[GUARANTEE_MAX];

	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "This logistic regression (softmax loss, 3 classes) was trained on 1000 rows") == text);
	CHECK(strstr(text, "The label is one of 3 classes: their list is public, not read from rows, and a row with any other"
				 " label is counted, but adds nothing. ") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);
	m = number_model();
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "The label is a number between 17 and 90: these bounds are public, and values outside of them were"
				 " clamped. ") != NULL);
	m = plain_model();
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "The label") == NULL);
}

TEST(states_other_guarantees)
{
	DpermModel	m = plain_model();
	char		text[GUARANTEE_MAX];

	m.claim.neighbours = DPERM_NEIGHBOURS_REMOVE;
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "with epsilon-differential privacy: epsilon = 1 and delta = 0, up to a probability below 2^-65") != NULL);
	CHECK(strstr(text, "with one row removed: an empty row, without a label and without features, is in its place (remove);"
				 " the number of rows is the same, and public.") != NULL);
	CHECK(strstr(text, "with it as without it, or without it as with it. ") != NULL);
	CHECK(strstr(text, "replace") == NULL);

	m.claim.delta = 1e-6;
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "with (epsilon, delta)-differential privacy: epsilon = 1 and delta = 1e-06, which includes a"
				 " probability below 2^-64") != NULL);
	CHECK(strstr(text, "without it as with it, apart from a further probability of at most delta. ") != NULL);
	CHECK(strstr(text, "with the sharp analysis and Gaussian noise. Epsilon is split") != NULL);
	CHECK(strstr(text, "adds its own epsilon and delta to these.") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);

	m.claim.neighbours = DPERM_NEIGHBOURS_REPLACE;
	m.tuning = sample_literal(tuned);
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "any other content of that row, apart from a further probability of at most delta. ") != NULL);
	CHECK(strstr(text, "The guarantee, with the same epsilon and delta, covers") != NULL);
}

TEST(states_the_guarantee)
{
	DpermBlock	columns[2] = {
		{.kind = DPERM_BLOCK_FLAG, .column = sample_literal("\"\n"), .count = 1},
		{.kind = DPERM_BLOCK_VECTOR, .column = sample_literal("v"), .count = 3, .norm = 1}
	};
	DpermModel	m = plain_model();
	char		text[GUARANTEE_MAX];

	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "This logistic regression (logistic loss) was trained on 1000 rows") == text);
	CHECK(strstr(text, "epsilon = 1 and delta = 0, up to a probability below 2^-65") != NULL);
	CHECK(strstr(text, "differ in one row (replace); the number of rows is public") != NULL);
	CHECK(strstr(text, "Gaussian") == NULL && strstr(text, "removed") == NULL);
	CHECK(strstr(text, "objective perturbation, with the sharp analysis") != NULL);
	CHECK(strstr(text, "The dimension of the vectors, 1, was declared.") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);

	CHECK(strstr(text, "domain") == NULL && strstr(text, "kernel") == NULL);

	m.encoder.kernel = (DpermKernel) {DPERM_KERNEL_MATERN, 0.5, 20, -3};
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "mapped to 20 random features of the matern kernel (gamma = 0.5), which"
				 " come from the public seed -3 and not from rows.") != NULL);

	m.encoder.blocks = columns;
	m.encoder.block_count = 2;
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "The domains of the columns (bounds, categories, dimensions) are public: they"
				 " were declared, not read from rows. The rows were") != NULL);
	m.encoder.block_count = 1;
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "not read from rows. The rows were") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);	/* whatever the columns are called */

	CHECK(strstr(text, "candidate") == NULL);
	m.tuning = sample_literal(tuned);
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "chosen privately among 2 candidates: a table of 3000 rows was divided at"
				 " random into 3 portions") != NULL);
	CHECK(strstr(text, "with the permute-and-flip rule. The guarantee, with the same epsilon,"
				 " covers all rows of that table and the choice; the counts are not released.")
		  != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);

	m.loss.kind = DPERM_LOSS_SMOOTH_HINGE;
	m.loss.h = 0.1;
	m.claim.epsilon = INFINITY;
	m.claim.shares[DPERM_SHARE_SLACK] = m.claim.shares[DPERM_SHARE_NOISE] = m.claim.shares[DPERM_SHARE_RELEASE] = m.noise_scale = m.grid = 0.0;
	m.release_scale = 0;
	m.encoder = plain_model().encoder;
	CHECK_TEXT(why_not(&m), "");
	dperm_model_print_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "NOT PRIVATE. This support vector machine (smooth_hinge loss, h = 0.1)")
		  == text);
	CHECK(strstr(text, "delta") == NULL);
}

int
main(void)
{
	int			result = test_main();

	free(memory);
	return result;
}
