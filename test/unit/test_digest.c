/*
 * test_digest.c: digests tell rows apart, whichever bits differ, and are even.
 */
#include "unit/test.h"

#include <string.h>

#include "core/base/digest.h"

#define ROWS 200000

/* Rows that differ in a bit, in the order of their numbers, or in their length have other digests. */
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
		digest = dperm_digest(seed, row, 9);
		CHECK(dperm_digest(seed, row, 9) == digest);
		CHECK(dperm_digest(seed + 1, row, 9) != digest);
		CHECK(dperm_digest(seed, row, 8) != digest);
		for (int i = 0; i < 9; i++)
			for (int bit = 0; bit < 64; bit++)
			{
				uint64_t	word;
				double		was = row[i];

				memcpy(&word, &row[i], sizeof(word));
				word ^= UINT64_C(1) << bit;
				memcpy(&row[i], &word, sizeof(word));
				CHECK(dperm_digest(seed, row, 9) != digest);
				row[i] = was;
			}
		for (int i = 0; i < 9; i++)
			for (int j = 0; j < i; j++)
			{
				double		swap = row[i];

				row[i] = row[j];
				row[j] = swap;
				CHECK(dperm_digest(seed, row, 9) != digest);
				row[j] = row[i];
				row[i] = swap;
			}
	}
}

/* The same for sums: two rows that exchange a number, or their labels, do not cancel out. */
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
		CHECK(dperm_digest(seed, a, 5) + dperm_digest(seed, b, 5) != dperm_digest(seed, c, 5) + dperm_digest(seed, d, 5));
		for (int i = 0; i < 5; i++)
		{
			c[i] = -a[i];
			d[i] = -b[i];
		}
		CHECK(dperm_digest(seed, a, 5) + dperm_digest(seed, b, 5) != dperm_digest(seed, c, 5) + dperm_digest(seed, b, 5) || a[0] + a[1] + a[2] + a[3] + a[4] == 0);
		CHECK(dperm_digest(seed, a, 5) + dperm_digest(seed, d, 5) != dperm_digest(seed, c, 5) + dperm_digest(seed, b, 5) || a[0] + a[1] + a[2] + a[3] + a[4] == 0);
	}
}

/* Every bit of the digests of rows that hold small numbers is set in half of them. */
TEST(is_even)
{
	int			set[64] = {0};

	for (int i = 0; i < ROWS; i++)
	{
		double		row[3] = {i % 100, i / 100, 1};
		uint64_t	digest = dperm_digest(12345, row, 3);

		for (int bit = 0; bit < 64; bit++)
			set[bit] += (int) (digest >> bit & 1);
	}
	for (int bit = 0; bit < 64; bit++)
		CHECK(set[bit] > ROWS / 2 - 1500 && set[bit] < ROWS / 2 + 1500);
}

int
main(void)
{
	RUN(tells_rows_apart);
	RUN(sums_tell_sets_apart);
	RUN(is_even);
	return test_report();
}
