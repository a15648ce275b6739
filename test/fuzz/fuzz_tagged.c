/*
 * fuzz_tagged.c: whatever bytes are read as a row, its values lie within them
 * and can be written again, to the same bytes.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/sample_tagged.h"

/* Write a value that was read. */
static unsigned char *
write_again(const DpermTagged *value, unsigned char *at)
{
	double	   *elements;

	if (!value->present || value->kind != DPERM_BLOCK_VECTOR)
		return dperm_tagged_put(at, value, NULL);

	/* a buffer that ends where the elements end */
	elements = malloc(sizeof(double) * (size_t) value->count + 1);
	dperm_tagged_elements(value, elements);
	at = dperm_tagged_put(at, value, elements);
	free(elements);
	return at;
}

/* Does a vector of floats hold a NaN? Its bits need not survive. */
static bool
has_nan(const DpermTagged *value)
{
	double		elements[8192];

	if (!value->present || !value->single)
		return false;
	dperm_tagged_elements(value, elements);
	for (int i = 0; i < value->count; i++)
		if (isnan(elements[i]))
			return true;
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *in;
	uint8_t    *again;
	DpermBytes	row;
	DpermTagged value;

	if (size > 8192)
		return 0;

	/* memory that ends where the bytes do */
	in = malloc(size > 0 ? size : 1);
	again = malloc(size > 0 ? size : 1);
	memcpy(in, data, size);
	row = (DpermBytes) {in, size, false};
	while (row.left > 0)
	{
		const uint8_t *start = row.at;
		size_t		length;

		if (!dperm_tagged_get(&row, &value))
			break;
		length = (size_t) (row.at - start);
		FUZZ_REQUIRE(length > 0 && length + row.left + (size_t) (start - in) == size);
		FUZZ_REQUIRE(value.kind >= DPERM_BLOCK_NUMBER && value.kind <= DPERM_BLOCK_VECTOR);
		FUZZ_REQUIRE(value.count >= 0);
		FUZZ_REQUIRE((size_t) (write_again(&value, again) - again) == length);
		FUZZ_REQUIRE(has_nan(&value) || memcmp(again, start, length) == 0);
	}
	free(in);
	free(again);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	TestRandom	state = (TestRandom) index + 1;
	unsigned char *end = out;

	if (index >= 64 || room < SAMPLE_TAGGED_BYTES)
		return 0;
	for (int i = 0; i <= index % SAMPLE_TAGGED_VALUES; i++)
	{
		DpermTagged value;
		double		elements[SAMPLE_TAGGED_COUNT];

		end = sample_value(&state, &value, elements, end);
	}
	return (size_t) (end - out);
}
