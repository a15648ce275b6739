/*
 * test_portion.c: SipHash against test vectors from OpenSSL and the paper, and
 * portions of equal size.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/privacy/portion.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define P_MIN 1e-4				/* keys are fixed, so the outcome does not depend on chance */
#define ROWS 60000

/* The hash of the bytes 0, 1, 2, ... under the key 0, 1, 2, ... 15. */
static const struct
{
	size_t		len;
	uint64_t	hash;
}			vectors[] = {
	{0, UINT64_C(0x726fdb47dd0e0e31)},
	{1, UINT64_C(0x74f839c593dc67fd)},
	{2, UINT64_C(0x0d6c8009d9a94f5a)},
	{3, UINT64_C(0x85676696d7fb7e2d)},
	{4, UINT64_C(0xcf2794e0277187b7)},
	{7, UINT64_C(0xab0200f58b01d137)},
	{8, UINT64_C(0x93f5f5799a932462)},
	{9, UINT64_C(0x9e0082df0ba9e4b0)},
	{12, UINT64_C(0x751e8fbc860ee5fb)},
	{15, UINT64_C(0xa129ca6149be45e5)},	/* appendix A of the paper */
	{16, UINT64_C(0x3f2acc7f57c29bdb)},
	{17, UINT64_C(0x699ae9f52cbe4794)},
	{31, UINT64_C(0x32d892fad841c342)},
	{63, UINT64_C(0x958a324ceb064572)}
};

/* A key from a stream. */
static void
make_key(uint64_t *state, unsigned char *key)
{
	for (int i = 0; i < DPERM_PORTION_KEY; i += 8)
	{
		uint64_t	word = test_splitmix(state);

		memcpy(key + i, &word, 8);
	}
}

/* The portion of a row by its place in a table. */
static int
portion_at(const unsigned char *key, int portions, int row)
{
	uint32_t	place[3] = {16384, (uint32_t) row / 100, (uint32_t) row % 100 + 1};

	return dperm_portion(key, place, sizeof(place), portions);
}

/* P-value that a table of counts is uniform. */
static double
even_p(const int64_t *counts, int cells)
{
	double		law[65 * 65];
	int64_t		total = 0;

	for (int i = 0; i < cells; i++)
	{
		law[i] = 1.0 / cells;
		total += counts[i];
	}
	return counts_fit_p(counts, law, cells, total);
}

TEST(is_siphash_2_4)
{
	unsigned char key[16];
	unsigned char backward[16];
	unsigned char bytes[300];

	for (int i = 0; i < 300; i++)
		bytes[i] = (unsigned char) i;
	for (int i = 0; i < 16; i++)
	{
		key[i] = (unsigned char) i;
		backward[i] = (unsigned char) (0x11 * (15 - i));
	}
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
	{
		/* a copy that begins anywhere and ends where its memory ends */
		char	   *copy = malloc(vectors[i].len + 1);

		memcpy(copy + 1, bytes, vectors[i].len);
		CHECK(dperm_portion_siphash(key, copy + 1, vectors[i].len) == vectors[i].hash);
		free(copy);
	}
	CHECK(dperm_portion_siphash(backward, bytes, 300) == UINT64_C(0x8f0f1c8a2c60f3e6));
}

TEST(stays_within_bounds)
{
	uint64_t	state = 1;
	unsigned char key[16];

	make_key(&state, key);
	for (int portions = 1; portions <= 65; portions++)
	{
		int			least = portions,
					most = -1;

		for (int row = 0; row < 5000; row++)
		{
			int			portion = portion_at(key, portions, row);

			least = portion < least ? portion : least;
			most = portion > most ? portion : most;
		}
		CHECK(least == 0 && most == portions - 1);
	}
	for (int row = 0; row < 5000; row++)
	{
		int			portion = portion_at(key, INT32_MAX, row);

		CHECK(portion >= 0 && portion < INT32_MAX);
	}
}

TEST(portions_are_even)
{
	static const int portions[] = {2, 3, 6, 7, 64, 65};
	uint64_t	state = 2;

	for (int round = 0; round < 5; round++)
		for (size_t i = 0; i < sizeof(portions) / sizeof(portions[0]); i++)
		{
			unsigned char key[16];
			int64_t		by_place[65] = {0};
			int64_t		by_text[65] = {0};

			make_key(&state, key);
			for (int row = 0; row < ROWS; row++)
			{
				char		text[16];
				int			len = snprintf(text, sizeof(text), "%d", row);

				by_place[portion_at(key, portions[i], row)]++;
				by_text[dperm_portion(key, text, (size_t) len, portions[i])]++;
			}
			CHECK(even_p(by_place, portions[i]) > P_MIN);
			CHECK(even_p(by_text, portions[i]) > P_MIN);
		}
}

/*
 * Under another key, even one that differs in one bit, a row can be in any
 * portion.
 */
TEST(keys_are_independent)
{
	uint64_t	state = 3;

	for (int bit = 0; bit < 128; bit += 9)
	{
		unsigned char key[16];
		unsigned char other[16];
		int64_t		counts[49] = {0};

		make_key(&state, key);
		memcpy(other, key, 16);
		if (bit % 2)
			other[bit / 8] ^= (unsigned char) (1 << bit % 8);
		else
			make_key(&state, other);
		for (int row = 0; row < ROWS; row++)
			counts[7 * portion_at(key, 7, row) + portion_at(other, 7, row)]++;
		CHECK(even_p(counts, 49) > P_MIN);
	}
}

/*
 * Over keys: each row is equally likely in every portion, and two rows are
 * independent.
 */
TEST(rows_are_independent)
{
	static const int pairs[][2] = {{0, 1}, {0, 100}, {5, 4999}, {99, 100}, {0, 256}};
	uint64_t	state = 4;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
	{
		int64_t		counts[36] = {0};

		for (int k = 0; k < ROWS; k++)
		{
			unsigned char key[16];

			make_key(&state, key);
			counts[6 * portion_at(key, 6, pairs[i][0]) + portion_at(key, 6, pairs[i][1])]++;
		}
		CHECK(even_p(counts, 36) > P_MIN);
	}
}

/* Every byte of an identity and its length count. */
TEST(identity_counts)
{
	unsigned char key[16] = {7};
	unsigned char bytes[40] = {0};
	uint64_t	plain = dperm_portion_siphash(key, bytes, 24);

	for (int bit = 0; bit < 8 * 24; bit++)
	{
		bytes[bit / 8] ^= (unsigned char) (1 << bit % 8);
		CHECK(dperm_portion_siphash(key, bytes, 24) != plain);
		bytes[bit / 8] ^= (unsigned char) (1 << bit % 8);
	}
	for (size_t len = 0; len < 40; len++)
		CHECK((dperm_portion_siphash(key, bytes, len) == plain) == (len == 24));
	for (int bit = 0; bit < 128; bit++)
	{
		key[bit / 8] ^= (unsigned char) (1 << bit % 8);
		CHECK(dperm_portion_siphash(key, bytes, 24) != plain);
		key[bit / 8] ^= (unsigned char) (1 << bit % 8);
	}
}
