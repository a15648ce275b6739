/*
 * test_model.c: what a valid model is, its binary form, and the guarantee in
 * words.
 */
#include "core/base/core.h"
#include "unit/sample_model.h"

#define GUARANTEE_MAX 8192

/* Read some bytes, in memory that does not grow with what is in them; NULL if they are valid. */
static const char *
read_binary(const void *in, size_t len, DpermModel *out)
{
	DpermText	copy = sample_copy(in, len);
	size_t		before = test_host_allocated;
	const char *why = dperm_model_receive(copy, out);
	DpermModel	opened;

	CHECK(test_host_allocated - before <= SAMPLE_ALLOCATED(len));
	/* whoever trusts the bytes reads the same */
	if (why == NULL)
		CHECK(dperm_model_open(copy, &opened) == NULL && same_model(&opened, out));
	return why;
}

/* Why the model that breaks one rule is refused; "" if it is not. */
static const char *
why_not(const DpermModel *m)
{
	const char *why = dperm_model_fault(m);

	return why ? why : "";
}

/* The bytes of a model, which may be changed. */
static unsigned char *
write_binary(const DpermModel *m, size_t *size)
{
	DpermText	form = dperm_model_write(m);

	*size = (size_t) form.len;
	return (unsigned char *) form.bytes;
}

TEST(round_trips_binary)
{
	TestRandom	state = 1;

	for (int round = 0; round < 5000; round++)
	{
		SampleModel room;
		DpermModel	m = sample_model(&state, &room);
		DpermModel	again;
		DpermText	form = dperm_model_write(&m);
		DpermText	again_form;

		CHECK(dperm_model_fault(&m) == NULL);
		CHECK(read_binary(form.bytes, (size_t) form.len, &again) == NULL);
		CHECK(same_model(&m, &again));
		for (int i = 0; i < dperm_model_weights(&m); i++)
			CHECK(!(again.weights[i] == 0.0 && signbit(again.weights[i])));
		again_form = dperm_model_write(&again);
		CHECK(same_text(&form, &again_form));
		test_host_release();
	}
}

/* The bytes themselves, so that a change of the form is detected. */
TEST(is_the_form_of_this_format)
{
	static const char expected[] =
	"DPRM" "\0\2" "\0" "\x3f\xf0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0" "\0"
	"\0\0\0\0\0\0\3\xe8" "\0\0\0\1" "t" "\0\0\0\1" "y" "\0" "\0" "\0" "\0"
	"\x3f\x84\x7a\xe1\x47\xae\x14\x7b" "\x3f\x94\x7a\xe1\x47\xae\x14\x7b"
	"\x3f\xb0\0\0\0\0\0\0" "\x3f\xec\0\0\0\0\0\0" "\x3f\xb0\0\0\0\0\0\0"
	"\0" "\x40\x04\0\0\0\0\0\0" "\x3d\x70\0\0\0\0\0\0" "\0\0\0\0\0\0\x30\x39"
	"\0\0\0\1" "\0\0\0\0" "\4" "\0\0\0\1" "\0" "\x3f\xf0\0\0\0\0\0\0" "\1" "\0"
	"\x3f\xd0\0\0\0\0\0\0" "\xbf\xf8\0\0\0\0\0\0" "\0\0\0\2" "{}" "\0\0\0\0"
	"\1" "\0\0\0\1" "b" "\0\0\0\0\0\0\0\7";
	DpermModel	m = plain_model();
	DpermText	form;

	m.source = sample_literal("t");
	m.label = sample_literal("y");
	m.tuning = sample_literal("{}");
	m.budget = sample_literal("b");
	m.entry = 7;
	form = dperm_model_write(&m);
	CHECK(form.len == (int) sizeof(expected) - 1 && memcmp(form.bytes, expected, sizeof(expected) - 1) == 0);
}

/* Only the full length decodes. */
TEST(refuses_other_lengths)
{
	TestRandom	state = 3;

	for (int round = 0; round < 10; round++)
	{
		SampleModel room;
		DpermModel	m = sample_model(&state, &room);
		DpermModel	out;
		DpermText	form = dperm_model_write(&m);
		char		longer[16384] = {0};

		CHECK(form.len + 8 < (int) sizeof(longer));
		memcpy(longer, form.bytes, (size_t) form.len);
		for (int cut = 0; cut <= form.len + 8; cut++)
			CHECK((read_binary(longer, (size_t) cut, &out) == NULL) == (cut == form.len));
		test_host_release();
	}
}

/* The largest model that is allowed, and one weight more. */
TEST(holds_the_largest_dimension)
{
	static double weights[DPERM_DIM_MAX + 1];
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = DPERM_DIM_MAX - 1, .norm = 1.0};
	DpermModel	m = plain_model();
	DpermModel	out;
	unsigned char *form;
	size_t		size;

	m.weights = weights;
	m.encoder.blocks = &block;
	form = write_binary(&m, &size);
	CHECK(read_binary(form, size, &out) == NULL);
	CHECK(dperm_encoder_dim(&out.encoder) == DPERM_DIM_MAX);
	block.count = DPERM_DIM_MAX;
	CHECK_TEXT(why_not(&m), "the dimension is out of range");
	form = write_binary(&m, &size);
	CHECK_TEXT(read_binary(form, size, &out), "the dimension is out of range");
	m.encoder.intercept = false;	/* without an intercept they fit */
	form = write_binary(&m, &size);
	CHECK(read_binary(form, size, &out) == NULL);
}

/* The maximum number of names, and long ones. */
TEST(holds_the_most_names)
{
	static double weights[DPERM_DIM_MAX];
	static DpermBlock blocks[DPERM_DIM_MAX];
	static DpermText categories[DPERM_DIM_MAX];
	static char names[DPERM_DIM_MAX][8];
	DpermModel	m = plain_model();
	DpermModel	out;

	for (int each = 0; each < 3; each++)
	{
		int			count = each == 2 ? 1 : DPERM_DIM_MAX;
		unsigned char *form;
		size_t		size;

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
		form = write_binary(&m, &size);
		CHECK(read_binary(form, size, &out) == NULL);
		CHECK(same_model(&m, &out));
	}
	test_host_release();
}

/* Counts are not trusted: nothing is allocated for more than the input can hold. */
TEST(trusts_no_count)
{
	TestRandom	state = 6;

	for (int round = 0; round < 20; round++)
	{
		SampleModel room;
		DpermModel	m = sample_model(&state, &room);
		DpermModel	out;
		size_t		size;
		unsigned char *form = write_binary(&m, &size);

		for (size_t at = 6; at + 4 <= size; at++)
			for (int count = 0; count < 3; count++)
			{
				unsigned char kept[4];

				memcpy(kept, form + at, 4);
				memcpy(form + at, count == 0 ? "\xff\xff\xff\xff" : count == 1 ? "\0\0\x13\x88" :
					   "\x7f\xff\xff\xff", 4);
				(void) read_binary(form, size, &out);
				memcpy(form + at, kept, 4);
			}
		test_host_release();
	}
}

/*
 * Whatever a byte is changed to: refused, or a valid model in canonical form.
 */
TEST(survives_flipped_bytes)
{
	TestRandom	state = 4;
	SampleModel room;
	DpermModel	out;

	for (int round = 0; round < 20; round++)
	{
		DpermModel	m = sample_model(&state, &room);
		size_t		size;
		unsigned char *form = write_binary(&m, &size);

		for (size_t i = 0; i < size; i++)
			for (int bit = 0; bit <= 8; bit++)
			{
				unsigned char change = (unsigned char) (bit < 8 ? 1 << bit : 0xff);
				DpermText	again;

				form[i] ^= change;
				if (read_binary(form, size, &out) == NULL)
				{
					CHECK(i >= 6);	/* neither magic nor format may change */
					CHECK(dperm_model_fault(&out) == NULL);
					again = dperm_model_write(&out);
					CHECK((size_t) again.len == size && memcmp(form, again.bytes, size) == 0);
				}
				form[i] ^= change;
			}
		test_host_release();
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
	CHECK_BROKEN(m.source = sample_literal("public.sick"), "");
	CHECK_BROKEN((m.source = sample_literal("b"), m.source.len = (1 << 18) + 1), "a name is too long");
	CHECK_BROKEN(m.positive = sample_literal("yes"), "positive is not expected");
	CHECK_BROKEN((m.positive = sample_literal("yes"), m.has_positive = true), "");
	CHECK_BROKEN(m.tuning = sample_literal(tuned), "");
	CHECK_BROKEN((m.tuning = sample_literal("{}"), m.tuning.len = (1 << 20) + 1), "tuning is too long");
	CHECK_BROKEN((m.prior = sample_literal("{}"), m.prior.len = (1 << 16) + 1), "prior is too long");
	CHECK_BROKEN((m.budget = sample_literal("b"), m.entry = 1), "");
	CHECK_BROKEN((m.budget = sample_literal("b"), m.entry = -1), "the entry of the ledger is out of range");
	CHECK_BROKEN(m.budget = sample_literal("b"), "the entry of the ledger is out of range");
	CHECK_BROKEN(m.entry = 1, "the entry of the ledger is out of range");
	CHECK_BROKEN((m.budget = sample_literal("b"), m.budget.len = (1 << 18) + 1, m.entry = 1), "a name is too long");
	CHECK_BROKEN(m.claim.unit = DPERM_UNIT_PERSON, "");
	CHECK_BROKEN((m.claim.unit = DPERM_UNIT_PERSON, m.analysis = DPERM_ANALYSIS_PAPER),
				 "the analysis of the paper supports rows, not persons");
}

/* Where some fields of a model are that has neither a source nor a label. */
#define AT_LOSS 6
#define AT_NEIGHBOURS 23
#define AT_UNIT 24
#define AT_CLASSES 42
#define AFTER_WEIGHTS 9

TEST(refuses_non_canonical_binary)
{
	static const char unsupported[] = "this version of dperm does not support the format of the model";
	static const char *const no_objects[] = {"[]", "{", " {}", "{} ", "1", "null", "\"{}\"", "{}{}", "{\"a\": }"};
	DpermModel	m = plain_model();
	DpermModel	out;
	size_t		size;
	unsigned char *form = write_binary(&m, &size);
	unsigned char *weights = form + size - AFTER_WEIGHTS - 16;

	form[AT_UNIT] = 2;
	CHECK_TEXT(read_binary(form, size, &out), "key \"unit\" has an unknown value");
	form[AT_UNIT] = 0;
	form[AT_NEIGHBOURS] = 9;
	CHECK_TEXT(read_binary(form, size, &out), "key \"neighbours\" has an unknown value");
	form[AT_NEIGHBOURS] = 0;
	form[AT_CLASSES] = 2;		/* a flag that is neither 0 nor 1 */
	CHECK_TEXT(read_binary(form, size, &out), "it is not in canonical form");
	form[AT_CLASSES] = 0;
	CHECK_TEXT(read_binary(form, size - 1, &out), "it ends too early");
	CHECK_TEXT(read_binary(form, size + 10, &out), "there is data after its end");

	memset(weights, 0, 8);
	CHECK(read_binary(form, size, &out) == NULL);
	weights[0] = 0x80;			/* a negative zero */
	CHECK_TEXT(read_binary(form, size, &out), "it is not in canonical form");
	weights[0] = 0;

	for (int format = 1; format < 0x10000; format++)
	{
		DpermText	bytes = {(const char *) form, (int) size};

		form[4] = (unsigned char) (format >> 8);
		form[5] = (unsigned char) format;
		CHECK(dperm_model_format(bytes) == format);
		if (format != DPERM_MODEL_BINARY)
			CHECK_TEXT(read_binary(form, size, &out), unsupported);
	}
	/* whatever else another format has, and however short it is */
	CHECK_TEXT(read_binary(form, 6, &out), unsupported);
	form[0] = 'd';
	CHECK_TEXT(read_binary(form, size, &out), "it does not begin with the header of a model");
	CHECK(dperm_model_format((DpermText) {(const char *) form, (int) size}) == 0);

	/* what is printed as it is, is an object */
	for (size_t i = 0; i < sizeof(no_objects) / sizeof(no_objects[0]); i++)
		for (int prior = 0; prior < 2; prior++)
		{
			m.tuning = sample_literal(prior ? "{}" : no_objects[i]);
			m.prior = sample_literal(prior ? no_objects[i] : "{}");
			form = write_binary(&m, &size);
			CHECK(read_binary(form, size, &out) != NULL);
		}
	test_host_release();
}

/* Several classes are a list behind the label. */
TEST(refuses_hostile_classes)
{
	DpermModel	m = several_model();
	DpermModel	out;
	size_t		size;
	unsigned char *form = write_binary(&m, &size);
	unsigned char *classes = form + AT_CLASSES;

	CHECK(memcmp(classes, "\0\0\0\3" "\0\0\0\2no" "\0\0\0\3yes" "\0\0\0\14who \"knows\"?", 33) == 0);
	CHECK(read_binary(form, size, &out) == NULL && same_model(&m, &out));
	/* every number of classes, and every length of one */
	for (int count = 0; count < 0x10000; count++)
	{
		classes[2] = (unsigned char) (count >> 8);
		classes[3] = (unsigned char) count;
		CHECK((read_binary(form, size, &out) == NULL) == (count == 3));
	}
	form = write_binary(&m, &size);
	classes = form + AT_CLASSES;
	for (int len = 0; len < 1 << 16; len++)
	{
		DpermText	copy = sample_copy(form, size);
		unsigned char *bytes = (unsigned char *) copy.bytes + AT_CLASSES;

		bytes[6] = (unsigned char) (len >> 8);
		bytes[7] = (unsigned char) len;
		CHECK((dperm_model_receive(copy, &out) == NULL) == (len == 2));
	}
	memset(classes + 4, 0xff, 4);
	CHECK_TEXT(read_binary(form, size, &out), "it ends too early");
	/* a zero byte would make two of one; and another loss has none */
	form = write_binary(&m, &size);
	form[AT_CLASSES + 9] = 0;
	CHECK_TEXT(read_binary(form, size, &out), "a text contains a zero byte");
	form[AT_CLASSES + 9] = 'o';
	form[AT_LOSS] = DPERM_LOSS_LOGISTIC;
	CHECK(read_binary(form, size, &out) != NULL);
	test_host_release();
}

/* So are the names of two, if they are known. */
TEST(refuses_hostile_names)
{
	DpermModel	m = named_model();
	DpermModel	out;
	size_t		size;
	unsigned char *form = write_binary(&m, &size);
	unsigned char *names = form + AT_CLASSES;

	CHECK(memcmp(names, "\1" "\0\0\0\2" "\0\0\0\2no" "\0\0\0\3yes", 18) == 0);
	CHECK(read_binary(form, size, &out) == NULL && same_model(&m, &out));
	for (int count = 0; count < 0x10000; count++)
	{
		names[3] = (unsigned char) (count >> 8);
		names[4] = (unsigned char) count;
		CHECK((read_binary(form, size, &out) == NULL) == (count == 2));
	}
	names[3] = 0;
	names[4] = 2;
	for (int len = 0; len < 1 << 8; len++)
	{
		names[8] = (unsigned char) len;
		CHECK((read_binary(form, size, &out) == NULL) == (len == 2));
	}
	names[8] = 2;
	memcpy(names + 5, "\0\0\0\5noyes\0\0\0\0", 13);	/* one of them is empty */
	CHECK(read_binary(form, size, &out) == NULL && out.classes.len == 7);
	test_host_release();
}

/* As many classes as there may be, with values as long as they may be. */
TEST(holds_the_largest_list_of_classes)
{
	static double weights[2 * (DPERM_CLASSES_MAX + 1)];
	static char values[131001];
	DpermModel	m = plain_model();
	DpermModel	out;
	unsigned char *form;
	size_t		size;

	m.weights = weights;
	m.classes.bytes = values;
	m.loss = (DpermLoss) {.kind = DPERM_LOSS_SOFTMAX, .classes = DPERM_CLASSES_MAX};
	for (int i = 0; i < m.loss.classes; i++)
		m.classes.len += sprintf(values + m.classes.len, "%0*d", i == 0 ? 131000 - 52 * (m.loss.classes - 1) - 1 : 51, i) + 1;
	CHECK(m.classes.len == 131000);
	CHECK_TEXT(why_not(&m), "");
	form = write_binary(&m, &size);
	CHECK(read_binary(form, size, &out) == NULL && same_model(&m, &out));
	m.classes.len += 1;
	CHECK_TEXT(why_not(&m), "the list of classes is too long");
	m.classes.len -= 1;
	m.loss.classes++;
	CHECK_TEXT(why_not(&m), "the number of classes must be between 3 and 128");
	form = write_binary(&m, &size);
	CHECK_TEXT(read_binary(form, size, &out), "the number of classes must be between 3 and 128");
	m.classes.len = 0;
	for (int i = 0; i < m.loss.classes; i++)
		m.classes.len += sprintf(values + m.classes.len, "%d", i) + 1;
	form = write_binary(&m, &size);
	CHECK_TEXT(read_binary(form, size, &out), "the number of classes must be between 3 and 128");
}

/* The guarantee of a model. */
static void
words_of(const DpermModel *m, char *text, size_t room)
{
	DpermText	words = dperm_model_guarantee(m);

	CHECK((size_t) words.len < room && strlen(words.bytes) == (size_t) words.len);
	memcpy(text, words.bytes, (size_t) words.len + 1);
}

/* How delta, neighbours and a choice change it. */
TEST(states_the_guarantee_of_persons)
{
	static const char tuned[] = "{\"way\": \"private\", \"selection\": \"exponential\", \"persons\": 3000,"
	" \"portions\": 3, \"chosen\": {}, \"candidates\": [{}, {}]}";
	DpermModel	m = plain_model();
	char		text[8192];

	m.claim.unit = DPERM_UNIT_PERSON;
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "was trained on the rows of 1000 persons with") != NULL);
	CHECK(strstr(text, "A person is all rows that share a value of the unit column: together they weigh as much as one row."
				 " Neighbours are two tables with the same number of persons that differ in all rows of one person (replace);"
				 " the number of persons is public, the number of rows is not.") != NULL);
	CHECK(strstr(text, "as it would have been with any other rows of that person. ") != NULL);
	CHECK(strstr(text, "further release about the same persons adds") != NULL);
	m.claim.neighbours = DPERM_NEIGHBOURS_REMOVE;
	m.rows = 1;
	m.tuning = sample_literal(tuned);
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "was trained on the rows of 1 person with") != NULL);
	CHECK(strstr(text, "who has no labelled row in one of them (remove)") != NULL);
	CHECK(strstr(text, "a table of 3000 persons was divided") != NULL && strstr(text, "covers all persons of that table") != NULL);
	m.claim = (DpermClaim) {.unit = DPERM_UNIT_PERSON, .epsilon = INFINITY};
	words_of(&m, text, sizeof(text));
	CHECK(strncmp(text, "NOT PRIVATE.", 12) == 0 && strstr(text, "the rows of 1 person without noise") != NULL);
}

/* Their number is in it, and not their values, which may need escapes. */
TEST(states_the_guarantee_of_classes)
{
	DpermModel	m = several_model();
	char		text[GUARANTEE_MAX];

	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "This logistic regression (softmax loss, 3 classes) was trained on 1000 rows") == text);
	CHECK(strstr(text, "The label is one of 3 classes: their list is public, not read from rows, and a row with any other"
				 " label is counted, but adds nothing. ") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);
	m = number_model();
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "The label is a number between 17 and 90: these bounds are public, and values outside of them were"
				 " clamped. ") != NULL);
	m = plain_model();
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "The label") == NULL);
}

TEST(states_other_guarantees)
{
	DpermModel	m = plain_model();
	char		text[GUARANTEE_MAX];

	m.claim.neighbours = DPERM_NEIGHBOURS_REMOVE;
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "with epsilon-differential privacy: epsilon = 1 and delta = 0, up to a probability below 2^-65") != NULL);
	CHECK(strstr(text, "with one row removed: an empty row, without a label and without features, is in its place (remove);"
				 " the number of rows is the same, and public.") != NULL);
	CHECK(strstr(text, "with it as without it, or without it as with it. ") != NULL);
	CHECK(strstr(text, "replace") == NULL);

	m.claim.delta = 1e-6;
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "with (epsilon, delta)-differential privacy: epsilon = 1 and delta = 1e-06, which includes a"
				 " probability below 2^-64") != NULL);
	CHECK(strstr(text, "without it as with it, apart from a further probability of at most delta. ") != NULL);
	CHECK(strstr(text, "with the sharp analysis and Gaussian noise. Epsilon is split") != NULL);
	CHECK(strstr(text, "adds its own epsilon and delta to these.") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);

	m.claim.neighbours = DPERM_NEIGHBOURS_REPLACE;
	m.tuning = sample_literal(tuned);
	words_of(&m, text, sizeof(text));
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

	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "This logistic regression (logistic loss) was trained on 1000 rows") == text);
	CHECK(strstr(text, "epsilon = 1 and delta = 0, up to a probability below 2^-65") != NULL);
	CHECK(strstr(text, "differ in one row (replace); the number of rows is public") != NULL);
	CHECK(strstr(text, "Gaussian") == NULL && strstr(text, "removed") == NULL);
	CHECK(strstr(text, "objective perturbation, with the sharp analysis") != NULL);
	CHECK(strstr(text, "The dimension of the vectors, 1, was declared.") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);

	CHECK(strstr(text, "domain") == NULL && strstr(text, "kernel") == NULL);

	m.encoder.kernel = (DpermKernel) {DPERM_KERNEL_MATERN, 0.5, 20, -3};
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "mapped to 20 random features of the matern kernel (gamma = 0.5), which"
				 " come from the public seed -3 and not from rows.") != NULL);

	m.encoder.blocks = columns;
	m.encoder.block_count = 2;
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "The domains of the columns (bounds, categories, dimensions) are public: they"
				 " were declared, not read from rows. The rows were") != NULL);
	m.encoder.block_count = 1;
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "not read from rows. The rows were") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);	/* whatever the columns are called */

	CHECK(strstr(text, "candidate") == NULL);
	m.tuning = sample_literal(tuned);
	words_of(&m, text, sizeof(text));
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
	words_of(&m, text, sizeof(text));
	CHECK(strstr(text, "NOT PRIVATE. This support vector machine (smooth_hinge loss, h = 0.1)")
		  == text);
	CHECK(strstr(text, "delta") == NULL);
}
