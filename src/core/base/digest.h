/*
 * digest.h: a number that tells rows from other rows.
 *
 * Numbers of several rows add up, modulo 2^64, in any order. With a seed that nobody knows beforehand, a set of rows that has changed has the same
 * sum with a probability of about 2^-64.
 */
#ifndef DPERM_DIGEST_H
#define DPERM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* The number of a row of count doubles: of their bits, so that a zero and its negative differ. */
extern uint64_t dperm_digest(uint64_t seed, const double *row, size_t count);

#endif							/* DPERM_DIGEST_H */
