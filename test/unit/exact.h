/*
 * exact.h: sums of products of doubles as one long integer, with no rounding at
 * all, the same on machines with and without a wide long double.
 */
#ifndef DPERM_TEST_EXACT_H
#define DPERM_TEST_EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bit 0 is worth 2^-2176; the squares of the smallest doubles are 2^-2148. */
#define EXACT_WORDS 36
#define EXACT_ONE 34			/* the word in which 1 is bit 0 */

typedef struct ExactSum
{
	uint64_t	words[EXACT_WORDS];
} ExactSum;

/* Add bits << shift. */
static inline void
exact_add_shifted(ExactSum *sum, uint64_t bits, int shift)
{
	int			at = shift / 64;
	unsigned __int128 wide = (unsigned __int128) bits << (shift % 64);

	for (unsigned __int128 carry = wide; carry != 0 && at < EXACT_WORDS; at++)
	{
		unsigned __int128 total = (unsigned __int128) sum->words[at] + (uint64_t) carry;

		sum->words[at] = (uint64_t) total;
		carry = (carry >> 64) + (uint64_t) (total >> 64);
	}
}

/* Add |a b|, which is below 2^100. */
static inline void
exact_add_product(ExactSum *sum, double a, double b)
{
	int			exponents[2];
	uint64_t	wholes[2] = {(uint64_t) ldexp(frexp(fabs(a), &exponents[0]), 53),
	(uint64_t) ldexp(frexp(fabs(b), &exponents[1]), 53)};
	unsigned __int128 product = (unsigned __int128) wholes[0] * wholes[1];
	int			shift = 64 * EXACT_ONE + exponents[0] + exponents[1] - 106;

	if (product == 0)
		return;

	/* below 2^-1022 the last bits of a whole are zeros, so nothing is lost */
	while (shift < 0)
	{
		product >>= 1;
		shift++;
	}
	exact_add_shifted(sum, (uint64_t) product, shift);
	exact_add_shifted(sum, (uint64_t) (product >> 64), shift + 64);
}

/* Add x * x, |x| <= 1. */
static inline void
exact_add_square(ExactSum *sum, double x)
{
	exact_add_product(sum, x, x);
}

/* -1, 0 or 1: is a below, at or above b? */
static inline int
exact_compare(const ExactSum *a, const ExactSum *b)
{
	for (int i = EXACT_WORDS - 1; i >= 0; i--)
		if (a->words[i] != b->words[i])
			return a->words[i] > b->words[i] ? 1 : -1;
	return 0;
}

/* A signed number: what is added, and what is subtracted. */
typedef struct ExactNumber
{
	ExactSum	plus;
	ExactSum	minus;
} ExactNumber;

/* Add a b. */
static inline void
exact_number_add(ExactNumber *number, double a, double b)
{
	exact_add_product((a < 0) == (b < 0) ? &number->plus : &number->minus, a, b);
}

/* -1, 0 or 1. */
static inline int
exact_sign(const ExactNumber *number)
{
	return exact_compare(&number->plus, &number->minus);
}

/* Is the sum of the squares of count doubles at most 1? */
static inline bool
exact_in_ball(const double *x, int count)
{
	ExactSum	sum;

	memset(&sum, 0, sizeof(sum));
	for (int i = 0; i < count; i++)
	{
		if (!(fabs(x[i]) <= 1))
			return false;
		exact_add_square(&sum, x[i]);
	}
	if (sum.words[EXACT_ONE + 1] != 0 || sum.words[EXACT_ONE] > 1)
		return false;
	for (int i = 0; sum.words[EXACT_ONE] == 1 && i < EXACT_ONE; i++)
		if (sum.words[i] != 0)
			return false;
	return true;
}

#endif							/* DPERM_TEST_EXACT_H */
