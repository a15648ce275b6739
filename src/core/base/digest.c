/*
 * digest.c: a hash that tells whether two sets of rows are the same. Trusted.
 */
#include "core/base/bytes.h"

/* Twice the width of a word. */
typedef unsigned __int128 Wide;

/* Derive the keys from the seed. */
void
dperm_digest_keys(uint64_t seed, size_t words, uint64_t *keys)
{
	for (size_t i = 0; i < dperm_digest_room(words); i++)
		keys[i] = dperm_bytes_mix(dperm_bytes_mix(seed) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* The sum of keys (128 bits) times words (64 bits), modulo 2^128. */
static Wide
inner(const uint64_t *keys, const double *row, size_t count)
{
	Wide		sum = 0;

	for (size_t i = 0; i < count; i++)
	{
		uint64_t	word = dperm_bytes_bits(row[i]);

		sum += (Wide) keys[2 * i] * word + ((Wide) (keys[2 * i + 1] * word) << 64);
	}
	return sum;
}

/*
 * The digest of a row. The upper half of the sum is strongly universal (Lemire
 * and Kaser 2014, multilinear).
 */
uint64_t
dperm_digest(const uint64_t *keys, const double *row, size_t count, const double *rest,
			 size_t rest_count)
{
	Wide		sum = ((Wide) keys[0] << 64 | keys[1]) + inner(keys + 3, row, count) +
			   inner(keys + 3 + 2 * count, rest, rest_count);

	return dperm_bytes_mix(dperm_bytes_mix((uint64_t) (sum >> 64)) ^ keys[2]);
}
