/*
 * portion.c: which portion of a table a row belongs to.
 * Trusted.
 */
#include "core/privacy/portion.h"

#include <string.h>

static inline uint64_t
rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* Load a little-endian 64-bit word. */
static uint64_t
load(const unsigned char *at)
{
	uint64_t	word = 0;

	for (int i = 7; i >= 0; i--)
		word = word << 8 | at[i];
	return word;
}

/* One round over the four words of the state. */
static void
sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* Absorb one word into the state. */
static void
absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

/* SipHash-2-4. */
uint64_t
dperm_portion_siphash(const unsigned char *key, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t	k0 = load(key);
	uint64_t	k1 = load(key + 8);
	uint64_t	v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
	k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
	unsigned char last[8] = {0};

	for (size_t i = 0; i + 8 <= len; i += 8)
		absorb(v, load(at + i));
	if (len % 8 > 0)
		memcpy(last, at + len - len % 8, len % 8);
	last[7] = (unsigned char) len;
	absorb(v, load(last));
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* From 0 to portions - 1: the high half of hash times portions, 32 bits of the hash. */
int
dperm_portion(const unsigned char *key, const void *identity, size_t len, int portions)
{
	uint64_t	hash = dperm_portion_siphash(key, identity, len) >> 32;

	return (int) (hash * (uint64_t) portions >> 32);
}
