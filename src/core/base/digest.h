/*
 * digest.h: a hash that tells whether two sets of rows are the same.
 *
 * The digest of several rows is the sum of their digests modulo 2^64, in any
 * order. That of a row is a strongly universal hash of its words, with keys
 * drawn for the call, so that two different rows collide with probability 2^-64
 * whatever they contain. It is then mixed, so that changes do not cancel out
 * when rows exchange values.
 */
#ifndef DPERM_DIGEST_H
#define DPERM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* How many keys are needed for rows of this many words. */
static inline size_t
dperm_digest_room(size_t words)
{
	return 2 * words + 3;
}

/* Derive the keys from a secret seed. */
extern void dperm_digest_keys(uint64_t seed, size_t words, uint64_t *keys);

/*
 * The digest of a row that is given in two pieces, which together have no more
 * words than there are keys for. It is computed from the bits, so zero and
 * negative zero differ.
 */
extern uint64_t dperm_digest(const uint64_t *keys, const double *row, size_t count,
							 const double *rest, size_t rest_count);

#endif							/* DPERM_DIGEST_H */
