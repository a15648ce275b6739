/*
 * bytes.h: read and write big-endian numbers in byte strings; a digest of rows.
 * Trusted.
 *
 * The writers return the position after what they wrote, and rely on the caller
 * for enough room. The reader trusts nothing: past the end, and for a double
 * that no writer produces, it sets bad permanently and returns zeros. The
 * doubles are IEEE 754.
 */
#ifndef DPERM_BYTES_H
#define DPERM_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Mix the bits of a word. It is a bijection, so nothing is lost: the finaliser of
 * SplitMix64 (Steele, Lea and Flood 2014).
 */
static inline uint64_t
dperm_bytes_mix(uint64_t word)
{
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

/* Write the low bytes of value, most significant first. */
static inline unsigned char *
dperm_bytes_put_int(unsigned char *at, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*at++ = (unsigned char) (value >> (8 * i));
	return at;
}

/* The bits of a double, and back. */
static inline uint64_t
dperm_bytes_bits(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double
dperm_bytes_double(uint64_t bits)
{
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * Write a double; negative zero becomes zero, so that equal values have equal
 * bytes.
 */
static inline unsigned char *
dperm_bytes_put_double(unsigned char *at, double value)
{
	if (value == 0.0)
		value = 0.0;
	return dperm_bytes_put_int(at, dperm_bytes_bits(value), 8);
}

/* Write bytes unchanged; they may be NULL if len is 0. */
static inline unsigned char *
dperm_bytes_put(unsigned char *at, const void *bytes, size_t len)
{
	if (len > 0)
		memcpy(at, bytes, len);
	return at + len;
}

typedef struct DpermBytes
{
	const unsigned char *at;
	size_t		left;
	bool		bad;
} DpermBytes;

/* The next len bytes, or NULL. */
static inline const unsigned char *
dperm_bytes_get(DpermBytes *r, size_t len)
{
	const unsigned char *at = r->at;

	if (r->bad || len > r->left)
	{
		r->bad = true;
		return NULL;
	}
	r->at += len;
	r->left -= len;
	return at;
}

/* Read what dperm_bytes_put_int wrote. */
static inline uint64_t
dperm_bytes_load(const unsigned char *at, int bytes)
{
	uint64_t	value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static inline uint64_t
dperm_bytes_get_int(DpermBytes *r, int bytes)
{
	const unsigned char *at = dperm_bytes_get(r, (size_t) bytes);

	return at ? dperm_bytes_load(at, bytes) : 0;
}

/* Read what dperm_bytes_put_double wrote, which is never a negative zero. */
static inline double
dperm_bytes_get_double(DpermBytes *r)
{
	uint64_t	bits = dperm_bytes_get_int(r, 8);
	double		value = dperm_bytes_double(bits);

	if (value == 0.0 && bits != 0)
		r->bad = true;
	return value;
}

/*
 * a hash that tells whether two sets of rows are the same.
 *
 * The digest of several rows is the sum of their digests modulo 2^64, in any
 * order. That of a row is a strongly universal hash of its words, with keys
 * drawn for the call, so that two different rows collide with probability 2^-64
 * whatever they contain. It is then mixed, so that changes do not cancel out
 * when rows exchange values.
 */

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

#endif							/* DPERM_BYTES_H */
