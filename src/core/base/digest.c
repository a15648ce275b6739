/*
 * digest.c: a number that tells rows from other rows.
 */
#include "core/base/digest.h"

#include <string.h>

/* Chains that are under way at once: each is one multiplication after the other. */
#define LANES 4

/* Mix a word: both steps can be undone, so that nothing is lost, and every bit reaches the upper half. */
static uint64_t
mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* The number of a row. */
uint64_t
dperm_digest(uint64_t seed, const double *row, size_t count)
{
	uint64_t	lanes[LANES];
	uint64_t	hash = seed;

	for (int k = 0; k < LANES; k++)
		lanes[k] = mix(seed, (uint64_t) k + 1);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	word;

		memcpy(&word, &row[i], sizeof(word));
		lanes[i % LANES] = mix(lanes[i % LANES], word);
	}
	for (int k = 0; k < LANES; k++)
		hash = mix(mix(hash, lanes[k]), seed >> 7);
	return hash;
}
