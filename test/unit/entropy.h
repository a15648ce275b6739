/*
 * entropy.h: a random source for tests: the same bits on every machine, and a
 * failure wherever a test wants one.
 */
#ifndef DPERM_TEST_ENTROPY_H
#define DPERM_TEST_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/privacy/counts.h"
#include "core/privacy/draw.h"
#include "host.h"

typedef struct TestEntropy
{
	uint64_t	state;
	int64_t		fills;			/* fills asked for so far */
	int64_t		fail_at;		/* the fill that fails, and all later ones; -1: none */
} TestEntropy;

/* splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t
test_splitmix(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A source for test_entropy_from(). */
static inline bool
test_entropy_fill(void *arg, void *bytes, size_t count)
{
	TestEntropy *source = arg;
	unsigned char *out = bytes;

	if (source->fail_at >= 0 && source->fills++ >= source->fail_at)
		return false;
	for (size_t i = 0; i < count; i += sizeof(uint64_t))
	{
		uint64_t	word = test_splitmix(&source->state);
		size_t		some = count - i < sizeof(word) ? count - i : sizeof(word);

		memcpy(out + i, &word, some);
	}
	return true;
}

/* One without randomness: zero bits. */
static inline bool
test_entropy_zeros(void *arg, void *bytes, size_t count)
{
	(void) arg;
	memset(bytes, 0, count);
	return true;
}

/* Start with these bits. */
static inline void
test_entropy_from(DpermEntropy *e, bool (*fill) (void *arg, void *bytes, size_t count), void *arg)
{
	memset(e, 0, sizeof(*e));
	test_host_random_from(e->pool, fill, arg);
}

/* Start a stream that never fails. */
static inline void
test_entropy_init(DpermEntropy *e, TestEntropy *source, uint64_t seed)
{
	source->state = seed;
	source->fills = 0;
	source->fail_at = -1;
	test_entropy_from(e, test_entropy_fill, source);
}

/* The Laplace noise of counts for a budget. */
static inline DpermCountsNoise
test_laplace(uint64_t budget)
{
	return (DpermCountsNoise) {.budget = budget};
}

#endif							/* DPERM_TEST_ENTROPY_H */
