/*
 * test_digest.c: digests of different rows differ, whichever bits differ, and
 * are evenly distributed.
 */
#include "unit/test.h"

#include <string.h>

#include "core/base/bytes.h"

#define ROWS 200000
#define WORDS 12

static uint64_t keys[2 * WORDS + 3];

/* The digest of a row under a seed. */
static uint64_t
digest_of(uint64_t seed, const double *row, size_t count)
{
	dperm_digest_keys(seed, WORDS, keys);
	return dperm_digest(keys, row, count, NULL, 0);
}

/*
 * Rows that differ in a bit, in the order of their numbers, or in their number
 * of elements have different digests.
 */
TEST(tells_rows_apart)
{
	TestRandom	state = 1;
	double		row[9];
	uint64_t	digest;

	for (int round = 0; round < 200; round++)
	{
		uint64_t	seed = (uint64_t) test_below(&state, 1000000) << 20 | (uint64_t) test_below(&state, 1000000);

		for (int i = 0; i < 9; i++)
			row[i] = test_uniform(&state) - 0.5;
		digest = digest_of(seed, row, 9);
		CHECK(digest_of(seed, row, 9) == digest);
		CHECK(digest_of(seed + 1, row, 9) != digest);
		CHECK(digest_of(seed, row, 8) != digest);
		for (int i = 0; i < 9; i++)
			for (int bit = 0; bit < 64; bit++)
			{
				uint64_t	word;
				double		was = row[i];

				memcpy(&word, &row[i], sizeof(word));
				word ^= UINT64_C(1) << bit;
				memcpy(&row[i], &word, sizeof(word));
				CHECK(digest_of(seed, row, 9) != digest);
				row[i] = was;
			}
		for (int i = 0; i < 9; i++)
			for (int j = 0; j < i; j++)
			{
				double		swap = row[i];

				row[i] = row[j];
				row[j] = swap;
				CHECK(digest_of(seed, row, 9) != digest);
				row[j] = row[i];
				row[i] = swap;
			}
	}
}

/*
 * The same for sums: two rows that exchange a number, or their labels, do not
 * cancel out.
 */
TEST(sums_tell_sets_apart)
{
	TestRandom	state = 2;

	for (int round = 0; round < 20000; round++)
	{
		uint64_t	seed = 1 + (uint64_t) test_below(&state, 1 << 30) * 4099;
		double		a[5], b[5], c[5], d[5];

		for (int i = 0; i < 5; i++)
		{
			a[i] = c[i] = test_below(&state, 3);
			b[i] = d[i] = test_below(&state, 3) + 3;
		}
		c[round % 5] = b[round % 5];
		d[round % 5] = a[round % 5];
		CHECK(digest_of(seed, a, 5) + digest_of(seed, b, 5) != digest_of(seed, c, 5) + digest_of(seed, d, 5));
		for (int i = 0; i < 5; i++)
		{
			c[i] = -a[i];
			d[i] = -b[i];
		}
		CHECK(digest_of(seed, a, 5) + digest_of(seed, b, 5) != digest_of(seed, c, 5) + digest_of(seed, b, 5) || a[0] + a[1] + a[2] + a[3] + a[4] == 0);
		CHECK(digest_of(seed, a, 5) + digest_of(seed, d, 5) != digest_of(seed, c, 5) + digest_of(seed, b, 5) || a[0] + a[1] + a[2] + a[3] + a[4] == 0);
	}
}

/*
 * A row in two pieces gives the digest of the row; and changes of words that
 * would cancel out in a chain of multiplications do not cancel out here.
 */
TEST(holds_against_differences)
{
	TestRandom	state = 3;

	for (int round = 0; round < 20000; round++)
	{
		uint64_t	seed = 1 + (uint64_t) test_below(&state, 1 << 30) * 4099;
		double		row[10];
		double		other[10];
		uint64_t	word;
		int			i = round % 5;

		for (int k = 0; k < 10; k++)
			other[k] = row[k] = test_uniform(&state);
		dperm_digest_keys(seed, WORDS, keys);
		CHECK(dperm_digest(keys, row, 10, NULL, 0) == dperm_digest(keys, row, (size_t) (round % 11), row + round % 11, (size_t) (10 - round % 11)));
		other[i] = -other[i];
		memcpy(&word, &other[i + 4], sizeof(word));
		word ^= UINT64_C(0x8000000080000000);
		memcpy(&other[i + 4], &word, sizeof(word));
		CHECK(dperm_digest(keys, row, 10, NULL, 0) != dperm_digest(keys, other, 10, NULL, 0));
		for (int k = 0; k < 10; k++)
			other[k] = row[k] == 0 ? 1 : -row[k];
		CHECK(dperm_digest(keys, row, 10, NULL, 0) != dperm_digest(keys, other, 10, NULL, 0));
	}
}

/*
 * Over rows that hold small numbers, every bit of the digest is set half of the
 * time.
 */
TEST(is_even)
{
	int			set[64] = {0};

	for (int i = 0; i < ROWS; i++)
	{
		double		row[3] = {i % 100, i / 100, 1};
		uint64_t	digest = digest_of(12345, row, 3);

		for (int bit = 0; bit < 64; bit++)
			set[bit] += (int) (digest >> bit & 1);
	}
	for (int bit = 0; bit < 64; bit++)
		CHECK(set[bit] > ROWS / 2 - 1500 && set[bit] < ROWS / 2 + 1500);
}
