/*
 * portion.h: which portion of a table a row belongs to.
 * Trusted.
 *
 * A keyed hash (SipHash-2-4, Aumasson and Bernstein 2012) of the identity of
 * the row. The key consists of fresh random bits for each call, so the
 * assignment is independent of everything in the table; it never looks at the
 * contents of a row.
 */
#ifndef DPERM_PORTION_H
#define DPERM_PORTION_H

#include <stddef.h>
#include <stdint.h>

#define DPERM_PORTION_KEY 16	/* bytes */

/* The hash of some bytes. */
extern uint64_t dperm_portion_siphash(const unsigned char *key, const void *bytes, size_t len);

/* From 0 to portions - 1. */
extern int	dperm_portion(const unsigned char *key, const void *identity, size_t len,
						  int portions);

#endif							/* DPERM_PORTION_H */
