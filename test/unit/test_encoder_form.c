/*
 * test_encoder_form.c: the binary form of an encoder, exact and against hostile
 * bytes.
 */
#include "unit/sample_encoder.h"

#include "core/base/bytes.h"
#include "core/base/core.h"

static SampleEncoder sampled;

/* Read some bytes, in memory that does not grow with what is in them; NULL if they are valid. */
static const char *
read_form(const void *in, size_t len, DpermEncoder *out)
{
	DpermText	copy = sample_copy(in, len);
	size_t		before = test_host_allocated;
	const char *why = dperm_encoder_form_read(copy, out);

	CHECK(test_host_allocated - before <= SAMPLE_ALLOCATED(len));
	return why;
}

/* Write an encoder to a buffer of its own size, or to this one. */
static DpermText
write_form(const DpermEncoder *enc, unsigned char *form)
{
	DpermText	written = dperm_encoder_form_write(enc);

	if (form)
		memcpy(form, written.bytes, (size_t) written.len);
	return written;
}

static size_t
form_size(const DpermEncoder *enc)
{
	return (size_t) write_form(enc, NULL).len;
}

/* Why an encoder does not survive its own form; "" if it does. */
static const char *
why_not(const DpermEncoder *enc)
{
	DpermText	form = dperm_encoder_form_write(enc);
	DpermEncoder out;
	const char *why = read_form(form.bytes, (size_t) form.len, &out);

	if (why == NULL && !same_encoder(enc, &out))
		why = "it comes back as another";
	return why ? why : "";
}

TEST(round_trips)
{
	TestRandom	state = 1;

	for (int round = 0; round < 20000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		DpermText	form = dperm_encoder_form_write(enc);
		DpermText	again;
		DpermEncoder out;

		CHECK(read_form(form.bytes, (size_t) form.len, &out) == NULL);
		CHECK(same_encoder(enc, &out));
		again = dperm_encoder_form_write(&out);
		CHECK(same_text(&form, &again));
		test_host_release();
	}
}

/* The bytes themselves, so that a change of the form is detected. */
TEST(is_the_documented_form)
{
	static const unsigned char expected[] =
	"\0\0\0\5"
	"\0\0\0\1" "n" "\0" "\0\0\0\0\0\0\0\0" "\x3f\xf0\0\0\0\0\0\0" "\0" "\1" "\1"
	"\0\0\0\2" "cc" "\3" "\0\0\0\2" "\0\0\0\0" "\0\0\0\1" "x"
	"\0\0\0\1" "v" "\4" "\0\0\1\0" "\0" "\x40\0\0\0\0\0\0\0"
	"\0\0\0\1" "a" "\4" "\0\0\1\0" "\1" "\1" "\0\0\0\0\0\0\0\0" "\x3f\xf0\0\0\0\0\0\0" "\0"
	"\0\0\0\1" "b" "\4" "\0\0\0\2" "\1" "\2" "\0\0\0\0\0\0\0\0" "\x3f\xf0\0\0\0\0\0\0"
	"\0\0\0\0\0\0\0\0" "\x40\0\0\0\0\0\0\0" "\0"
	"\1"
	"\1" "\2" "\x3f\xe0\0\0\0\0\0\0" "\0\0\0\12" "\xff\xff\xff\xff\xff\xff\xff\xfe";
	DpermText	categories[2] = {sample_literal(""), sample_literal("x")};
	DpermBlock	blocks[5] = {
		{.kind = DPERM_BLOCK_NUMBER, .column = sample_literal("n"), .count = 1,
		.low = -0.0, .high = 1, .norm = 5, .log = true},
		{.kind = DPERM_BLOCK_CATEGORY, .column = sample_literal("cc"), .count = 2,
		.categories = categories},
		{.kind = DPERM_BLOCK_VECTOR, .column = sample_literal("v"), .count = 256, .norm = 2},
		{.kind = DPERM_BLOCK_BOX, .column = sample_literal("a"), .count = 256, .high = 1},
		{.kind = DPERM_BLOCK_BOX, .column = sample_literal("b"), .count = 2,
		.bounds = (double[]) {0, 1, -0.0, 2}}
	};
	DpermEncoder enc = {.block_count = 5, .blocks = blocks, .intercept = true,
		.kernel = {DPERM_KERNEL_LAPLACIAN, 0.5, 10, -2}};
	unsigned char form[sizeof(expected)];

	CHECK(form_size(&enc) == sizeof(expected) - 1);
	write_form(&enc, form);
	CHECK(memcmp(form, expected, sizeof(expected) - 1) == 0);
}

/* Bounds are written as they are given: once, or for each element. */
TEST(writes_ranges)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_BOX, .column = sample_literal("b"), .count = 2,
		.bounds = (double[]) {0, 1, 0, 2}};
	DpermEncoder enc = {.block_count = 1, .blocks = &block};
	DpermEncoder out;
	unsigned char form[64];
	size_t		size = form_size(&enc);

	CHECK(size == 4 + 5 + 1 + 4 + 2 + 32 + 1 + 2);
	write_form(&enc, form);
	CHECK(read_form(form, size, &out) == NULL);
	for (int ranges = 0; ranges < 5; ranges++)
	{
		form[15] = (unsigned char) ranges;
		CHECK((read_form(form, size, &out) == NULL) == (ranges == 2));
	}
	form[15] = 2;
	for (int dimension = 0; dimension < 5; dimension++)
	{
		form[13] = (unsigned char) dimension;
		CHECK((read_form(form, size, &out) == NULL) == (dimension == 2));
	}
	block.bounds = NULL;
	block.high = 1;
	CHECK(form_size(&enc) == size - 16);
	write_form(&enc, form);
	CHECK(read_form(form, size - 16, &out) == NULL);
	CHECK(out.blocks[0].bounds == NULL && out.blocks[0].low == 0 && out.blocks[0].high == 1);
	CHECK(out.blocks[0].count == 2);
	block.column.len = 0;
	CHECK_TEXT(why_not(&enc), "a feature has no column");
}

/* Knots are their number, or a list. */
TEST(lists_knots)
{
	static const unsigned char even[] = "\0\0\0\1" "\0\0\0\1" "t" "\1"
	"\0\0\0\0\0\0\0\0" "\x40\0\0\0\0\0\0\0" "\1" "\0" "\0\0\0\3" "\0" "\0";
	static const unsigned char listed[] = "\0\0\0\1" "\0\0\0\1" "t" "\1"
	"\0\0\0\0\0\0\0\0" "\x40\0\0\0\0\0\0\0" "\1" "\1" "\0\0\0\3"
	"\0\0\0\0\0\0\0\0" "\x3f\xe0\0\0\0\0\0\0" "\x40\0\0\0\0\0\0\0" "\0" "\0";
	DpermBlock	block = {.kind = DPERM_BLOCK_TIME, .column = sample_literal("t"), .count = 3,
		.high = 2, .knots = (double[]) {0, 0.5, 2}};
	DpermEncoder enc = {.block_count = 1, .blocks = &block};
	DpermEncoder out;
	unsigned char form[sizeof(listed)];

	CHECK(form_size(&enc) == sizeof(listed) - 1);
	write_form(&enc, form);
	CHECK(memcmp(form, listed, sizeof(listed) - 1) == 0);
	CHECK(read_form(form, sizeof(listed) - 1, &out) == NULL && out.blocks[0].knots[1] == 0.5);
	block.knots = NULL;
	CHECK(dperm_encoder_knot(&block, 1) == 1);
	CHECK(form_size(&enc) == sizeof(even) - 1);
	write_form(&enc, form);
	CHECK(memcmp(form, even, sizeof(even) - 1) == 0);
	for (int nesting = 2; nesting >= 0; nesting--)
	{
		form[sizeof(even) - 1 - 7] = (unsigned char) nesting;
		CHECK((read_form(form, sizeof(even) - 1, &out) == NULL) == (nesting == 0));
	}
	CHECK(read_form(form, sizeof(even) - 1, &out) == NULL);
	CHECK(out.blocks[0].knots == NULL && out.blocks[0].count == 3);
}

/* The same for a vector; one whose elements have different ranges has no list. */
TEST(lists_knots_of_vectors)
{
	static const unsigned char even[] = "\0\0\0\1" "\0\0\0\1" "v" "\4" "\0\0\0\2" "\1" "\1"
	"\0\0\0\0\0\0\0\0" "\x40\0\0\0\0\0\0\0" "\1" "\0" "\0\0\0\3" "\0" "\0";
	DpermBlock	block = {.kind = DPERM_BLOCK_BOX, .column = sample_literal("v"), .count = 6,
		.each = 3, .high = 2, .knots = (double[]) {0, 0.5, 2}};
	DpermEncoder enc = {.block_count = 1, .blocks = &block};
	DpermEncoder out;
	unsigned char form[sizeof(even) + 24];

	CHECK(form_size(&enc) == sizeof(even) - 1 + 24);
	write_form(&enc, form);
	CHECK(read_form(form, sizeof(even) - 1 + 24, &out) == NULL);
	CHECK(out.blocks[0].count == 6 && out.blocks[0].each == 3 && out.blocks[0].knots[1] == 0.5);
	block.knots = NULL;
	CHECK(form_size(&enc) == sizeof(even) - 1);
	write_form(&enc, form);
	CHECK(memcmp(form, even, sizeof(even) - 1) == 0);
	for (int knots = 0; knots < 5; knots++)
	{
		form[sizeof(even) - 4] = (unsigned char) knots;
		CHECK((read_form(form, sizeof(even) - 1, &out) == NULL) == (knots > 1));
		CHECK(knots < 2 || (out.blocks[0].count == 2 * knots && out.blocks[0].each == knots));
	}
	block.bounds = (double[]) {0, 2, 0, 3};
	block.high = 0;
	CHECK_TEXT(why_not(&enc), "");
	block.knots = (double[]) {0, 1, 2};
	CHECK_TEXT(dperm_encoder_fault(&enc),
			   "the knots of a number do not begin and end at its bounds");
	block = (DpermBlock) {.kind = DPERM_BLOCK_BOX, .column = sample_literal("v"), .high = 1,
		.count = 5000, .each = 2500};
	CHECK_TEXT(why_not(&enc), "");
	block.count = 7500;
	CHECK_TEXT(why_not(&enc), "dimension is out of range");
	block.count = 5;
	block.each = 2;
	CHECK(dperm_encoder_fault(&enc) != NULL);
}

/* The maximum number of coordinates and of blocks. */
TEST(holds_the_largest_encoder)
{
	static double bounds[2 * DPERM_DIM_MAX];
	static DpermBlock blocks[DPERM_DIM_MAX];
	static char names[DPERM_DIM_MAX][8];
	DpermBlock	block = {.kind = DPERM_BLOCK_BOX, .column = sample_literal("b"),
		.count = DPERM_DIM_MAX, .bounds = bounds};
	DpermEncoder one = {.block_count = 1, .blocks = &block};
	DpermEncoder many = {.block_count = DPERM_DIM_MAX, .blocks = blocks};

	for (int i = 0; i < DPERM_DIM_MAX; i++)
	{
		bounds[2 * i] = -i;
		bounds[2 * i + 1] = 1;
		sprintf(names[i], "%d", i);
		blocks[i] = (DpermBlock) {.kind = DPERM_BLOCK_BOX, .column = sample_literal(names[i]),
			.count = 1, .low = -i, .high = 1};
	}
	CHECK_TEXT(why_not(&one), "");
	CHECK_TEXT(why_not(&many), "");
}

/* Only the full length decodes. */
TEST(refuses_other_lengths)
{
	TestRandom	state = 2;

	for (int round = 0; round < 100; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		unsigned char form[4096] = {0};
		size_t		size = (size_t) write_form(enc, form).len;
		DpermEncoder out;

		for (size_t cut = 0; cut <= size + 8; cut++)
			CHECK((read_form(form, cut, &out) == NULL) == (cut == size));
		test_host_release();
	}
}

/*
 * Whatever a byte is changed to: refused, or a valid encoder in canonical form.
 */
TEST(survives_flipped_bytes)
{
	TestRandom	state = 3;

	for (int round = 0; round < 100; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		unsigned char form[4096];
		size_t		size = form_size(enc);
		DpermEncoder out;

		for (size_t i = 0; i < size; i++)
			for (int bit = 0; bit <= 8; bit++)
			{
				test_host_release();
				write_form(enc, form);
				form[i] ^= (unsigned char) (bit < 8 ? 1 << bit : 0xff);
				if (read_form(form, size, &out) != NULL)
					continue;
				CHECK(dperm_encoder_fault(&out) == NULL);
				CHECK(form_size(&out) == size);
				CHECK(memcmp(form, dperm_encoder_form_write(&out).bytes, size) == 0);
			}
	}
}

TEST(checks_names)
{
	DpermText	categories[3] = {sample_literal("x"), sample_literal("y"), sample_literal("")};
	DpermBlock	blocks[3] = {
		{.kind = DPERM_BLOCK_FLAG, .column = sample_literal("a"), .count = 1},
		{.kind = DPERM_BLOCK_CATEGORY, .column = sample_literal("b"), .count = 3,
		.categories = categories},
		{.kind = DPERM_BLOCK_VECTOR, .column = sample_literal("ab"), .count = 2, .norm = 1}
	};
	DpermEncoder enc = {.block_count = 3, .blocks = blocks};

	CHECK_TEXT(why_not(&enc), "");
	categories[2] = sample_literal("x");
	CHECK_TEXT(why_not(&enc), "");	/* the first counts */
	categories[2] = (DpermText) {"x\0", 2};
	CHECK_TEXT(why_not(&enc), "a text contains a zero byte");
	categories[2] = sample_literal("X");
	CHECK_TEXT(why_not(&enc), "");
	blocks[2].column = sample_literal("a");
	CHECK_TEXT(why_not(&enc), "a column occurs twice");
	blocks[2].column = (DpermText) {"a\0b", 3};
	CHECK_TEXT(why_not(&enc), "a text contains a zero byte");
	blocks[2].column = sample_literal("");
	CHECK_TEXT(why_not(&enc), "a feature has no column");
	enc.block_count = 2;
	CHECK_TEXT(why_not(&enc), "");
	enc.block_count = 1;
	enc.blocks = &blocks[2];
	CHECK_TEXT(why_not(&enc), "");	/* a single vector need not be a column */
	blocks[2].kind = DPERM_BLOCK_FLAG;
	blocks[2].count = 1;
	blocks[2].norm = 0;
	CHECK_TEXT(why_not(&enc), "a feature has no column");
	blocks[1].count = 0;
	enc.blocks = &blocks[1];
	CHECK_TEXT(why_not(&enc), "dimension is out of range");
}

/* A duplicate among the maximum number of names is found wherever it is. */
TEST(finds_doubles_among_many)
{
	static DpermText texts[DPERM_DIM_MAX];
	static DpermBlock blocks[DPERM_DIM_MAX];
	static char names[DPERM_DIM_MAX][8];
	TestRandom	state = 4;
	DpermEncoder many = {.block_count = DPERM_DIM_MAX, .blocks = blocks};

	for (int i = 0; i < DPERM_DIM_MAX; i++)
	{
		sprintf(names[i], "%d", i);
		texts[i] = sample_literal(names[i]);
		blocks[i] = (DpermBlock) {.kind = DPERM_BLOCK_FLAG, .column = texts[i], .count = 1};
	}
	CHECK_TEXT(why_not(&many), "");
	for (int round = 0; round < 20; round++)
	{
		int			i = test_below(&state, DPERM_DIM_MAX);
		int			j = (i + 1 + test_below(&state, DPERM_DIM_MAX - 1)) % DPERM_DIM_MAX;
		DpermText	kept = texts[i];

		texts[i] = blocks[i].column = texts[j];
		CHECK_TEXT(why_not(&many), "a column occurs twice");
		texts[i] = blocks[i].column = kept;
	}
}

/* Counts are not trusted: nothing is allocated for more than the input can hold. */
TEST(trusts_no_count)
{
	TestRandom	state = 5;

	for (int round = 0; round < 200; round++)
	{
		DpermText	form = dperm_encoder_form_write(sample_encoder(&state, &sampled));
		unsigned char *bytes = (unsigned char *) form.bytes;
		DpermEncoder out;

		for (int at = 0; at + 4 <= form.len; at++)
			for (int count = 0; count < 3; count++)
			{
				unsigned char kept[4];

				memcpy(kept, bytes + at, 4);
				memcpy(bytes + at, count == 0 ? "\xff\xff\xff\xff" : count == 1 ? "\0\0\x13\x88" :
					   "\x7f\xff\xff\xff", 4);
				(void) read_form(bytes, (size_t) form.len, &out);
				memcpy(bytes + at, kept, 4);
			}
		CHECK(read_form(bytes, (size_t) form.len, &out) == NULL);
		test_host_release();
	}
}

/* The reader stops for good at the end, and reads zeros from there on. */
TEST(reads_no_byte_too_many)
{
	static const unsigned char bytes[9] = {0x80, 1, 2, 3, 4, 5, 6, 7, 8};

	for (size_t len = 0; len <= sizeof(bytes); len++)
	{
		DpermBytes whole = {bytes, len, false};
		DpermBytes r = {bytes, len, false};

		CHECK(dperm_bytes_get_int(&r, 8) == (len < 8 ? 0 : UINT64_C(0x8001020304050607)));
		CHECK(r.bad == (len < 8));
		CHECK(dperm_bytes_get_int(&r, 1) == (len < 9 ? 0 : 8));
		CHECK(r.bad == (len < 9));
		CHECK(r.left == (len < 8 ? len : 0));
		CHECK(dperm_bytes_get(&whole, len) == bytes && !whole.bad && whole.left == 0);
		CHECK(dperm_bytes_get(&whole, SIZE_MAX) == NULL && whole.bad);
		CHECK(dperm_bytes_get(&whole, 0) == NULL);
	}
}
