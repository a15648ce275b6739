/*
 * digest.h: a number that tells rows from other rows.
 *
 * Numbers of several rows add up, modulo 2^64, in any order. The number of a
 * row is a strongly universal hash of its words by keys that are drawn for the
 * call, so that two rows share it with a probability of 2^-64 whatever they
 * hold, and then mixed, so that those of rows which exchange values do not
 * cancel out.
 */
#ifndef DPERM_DIGEST_H
#define DPERM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* How many keys rows of so many words need. */
static inline size_t
dperm_digest_room(size_t words)
{
	return 2 * words + 3;
}

/* Make the keys from a seed that nobody knows. */
extern void dperm_digest_keys(uint64_t seed, size_t words, uint64_t *keys);

/*
 * The number of a row of two pieces, no more words together than there are keys
 * for: of their bits, so that a zero and its negative differ.
 */
extern uint64_t dperm_digest(const uint64_t *keys, const double *row, size_t count,
							 const double *rest, size_t rest_count);

#endif							/* DPERM_DIGEST_H */
