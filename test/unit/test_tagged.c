/*
 * test_tagged.c: tagged rows, exact and against hostile bytes.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/encode/tagged.h"
#include "unit/sample_tagged.h"

static unsigned char bytes[SAMPLE_TAGGED_BYTES];

/* Equal in every bit, NaN and the signs of zeros included. */
static bool
same_bits(const double *a, const double *b, int count)
{
	return count == 0 || memcmp(a, b, sizeof(double) * (size_t) count) == 0;
}

TEST(round_trips)
{
	TestRandom	state = 1;

	for (int round = 0; round < 20000; round++)
	{
		DpermTagged values[SAMPLE_TAGGED_VALUES];
		double		elements[SAMPLE_TAGGED_VALUES][SAMPLE_TAGGED_COUNT];
		int			count = (int) test_below(&state, SAMPLE_TAGGED_VALUES + 1);
		unsigned char *end = bytes;
		DpermBytes	row = {bytes, 0, false};
		DpermTagged value;

		for (int i = 0; i < count; i++)
			end = sample_value(&state, &values[i], elements[i], end);
		row.left = (size_t) (end - bytes);
		for (int i = 0; i < count; i++)
		{
			double		read[SAMPLE_TAGGED_COUNT];

			CHECK(dperm_tagged_get(&row, &value));
			CHECK(value.kind == values[i].kind && value.single == values[i].single && value.present == values[i].present && value.encoding == values[i].encoding);
			CHECK(same_bits(&value.number, &values[i].number, 1));
			CHECK(value.count == values[i].count);
			if (value.kind == DPERM_BLOCK_CATEGORY)
				CHECK(value.count == 0 || memcmp(value.bytes, elements[i], (size_t) value.count) == 0);
			else if (value.count > 0)
			{
				dperm_tagged_elements(&value, read);
				CHECK(same_bits(read, elements[i], value.count));
			}
		}
		CHECK(row.left == 0 && !dperm_tagged_get(&row, &value));
	}
}

/* The bytes are the same on every machine. */
TEST(is_as_documented)
{
	static const unsigned char expected[] = {
		1, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0,	/* 1.5 */
		2, 0xc0, 0, 0, 0, 0, 0, 0, 0,	/* two days before 2000 */
		3, 1, 3, 0, 0x83,
		4, 6, 0, 0, 0, 2, 'a', 'b', 0x84, 6,
		5, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0,
		6, 0, 0, 0, 2, 0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0};
	double		zero[] = {-0.0};
	double		ones[] = {1, -1};
	unsigned char *at = bytes;

	const DpermTagged values[] = {
		{.kind = DPERM_BLOCK_NUMBER, .present = true, .number = 1.5},
		{.kind = DPERM_BLOCK_TIME, .present = true, .number = -2},
		{.kind = DPERM_BLOCK_FLAG, .present = true, .number = 1},
		{.kind = DPERM_BLOCK_FLAG, .present = true, .number = -1},
		{.kind = DPERM_BLOCK_FLAG, .encoding = 6},
		{.kind = DPERM_BLOCK_CATEGORY, .present = true, .encoding = 6, .count = 2, .bytes = (const unsigned char *) "ab"},
		{.kind = DPERM_BLOCK_CATEGORY, .encoding = 6},
		{.kind = DPERM_BLOCK_VECTOR, .present = true, .count = 1},
		{.kind = DPERM_BLOCK_VECTOR, .single = true, .present = true, .count = 2}};

	for (int i = 0; i < 9; i++)
		at = dperm_tagged_put(at, &values[i], i == 7 ? zero : ones);
	CHECK((size_t) (at - bytes) == sizeof(expected));
	CHECK(memcmp(bytes, expected, sizeof(expected)) == 0);
}

/*
 * Does a row of these bytes begin with a value? In memory that ends where they
 * do, for the sanitizer.
 */
static bool
is_value(const void *start, size_t size)
{
	unsigned char *copy = malloc(size > 0 ? size : 1);
	DpermBytes	row = {copy, size, false};
	DpermTagged value;
	bool		result;

	memcpy(copy, start, size);
	result = dperm_tagged_get(&row, &value);
	free(copy);
	return result;
}

/*
 * A value that is cut off, wherever, is refused; so are unknown tags, other
 * flags, and lengths beyond the end.
 */
TEST(refuses_damage)
{
	TestRandom	state = 2;

	for (int round = 0; round < 2000; round++)
	{
		DpermTagged value;
		double		elements[SAMPLE_TAGGED_COUNT];
		size_t		size = (size_t) (sample_value(&state, &value, elements, bytes) - bytes);

		CHECK(is_value(bytes, size));
		for (size_t cut = 0; cut < size; cut++)
			CHECK(!is_value(bytes, cut));
	}
	CHECK(!is_value("\0\0\0\0\0\0\0\0\0\0\0", 11) && !is_value("\7\0\0\0\0\0\0\0\0\0\0", 11));
	CHECK(!is_value("\200", 1) && !is_value("\207", 1) && !is_value("\3\2", 2));
	CHECK(!is_value("\5\377\377\377\377\0\0\0\0\0\0\0\0", 13));
	CHECK(!is_value("\5\40\0\0\0\0\0\0\0\0\0\0\0", 13));	/* a length of 0 in 32 bits */
	CHECK(!is_value("\4\6\200\0\0\0a", 7));
}

/* A column is read only by a block of its own kind. */
TEST(fits_blocks)
{
	for (int kind = DPERM_BLOCK_NUMBER; kind <= DPERM_BLOCK_BOX; kind++)
		for (int of = DPERM_BLOCK_NUMBER; of <= DPERM_BLOCK_VECTOR; of++)
			CHECK(dperm_tagged_fits((DpermBlockKind) of, (DpermBlockKind) kind) ==
				  (of == kind || (of == DPERM_BLOCK_VECTOR && kind == DPERM_BLOCK_BOX)));
}
