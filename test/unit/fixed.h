/*
 * fixed.h: numbers with 192 bits after the point, and the slopes of losses in them:
 * integers alone, to check extended precision with.
 */
#ifndef DPERM_TEST_FIXED_H
#define DPERM_TEST_FIXED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/core.h"
#include "core/loss/loss.h"

#define FIXED_WORDS 6
#define FIXED_ONE 3				/* the word in which 1 is bit 0 */
#define FIXED_CLASSES 40

typedef struct Fixed
{
	bool		minus;
	uint64_t	words[FIXED_WORDS];
} Fixed;

static inline int
fixed_compare_sizes(const Fixed *a, const Fixed *b)
{
	for (int i = FIXED_WORDS - 1; i >= 0; i--)
		if (a->words[i] != b->words[i])
			return a->words[i] > b->words[i] ? 1 : -1;
	return 0;
}

static inline Fixed
fixed_minus(Fixed a)
{
	a.minus = !a.minus;
	return a;
}

static inline Fixed
fixed_add(Fixed a, Fixed b)
{
	unsigned __int128 carry = 0;

	if (a.minus == b.minus)
	{
		for (int i = 0; i < FIXED_WORDS; i++)
		{
			carry += (unsigned __int128) a.words[i] + b.words[i];
			a.words[i] = (uint64_t) carry;
			carry >>= 64;
		}
		return a;
	}
	if (fixed_compare_sizes(&a, &b) < 0)
	{
		Fixed		swap = a;

		a = b;
		b = swap;
	}
	for (int i = 0; i < FIXED_WORDS; i++)
	{
		unsigned __int128 less = (unsigned __int128) b.words[i] + carry;

		carry = a.words[i] < less;
		a.words[i] -= (uint64_t) less;
	}
	return a;
}

static inline Fixed
fixed_subtract(Fixed a, Fixed b)
{
	return fixed_add(a, fixed_minus(b));
}

/* The product, cut off. */
static inline Fixed
fixed_times(Fixed a, Fixed b)
{
	uint64_t	all[2 * FIXED_WORDS] = {0};
	Fixed		product = {a.minus != b.minus, {0}};

	for (int i = 0; i < FIXED_WORDS; i++)
	{
		unsigned __int128 carry = 0;

		for (int j = 0; j < FIXED_WORDS; j++)
		{
			carry += (unsigned __int128) a.words[i] * b.words[j] + all[i + j];
			all[i + j] = (uint64_t) carry;
			carry >>= 64;
		}
		all[i + FIXED_WORDS] = (uint64_t) carry;
	}
	memcpy(product.words, all + FIXED_ONE, sizeof(product.words));
	return product;
}

/* The quotient, cut off, bit by bit. */
static inline Fixed
fixed_over(Fixed a, Fixed b)
{
	Fixed		quotient = {a.minus != b.minus, {0}};
	Fixed		rest = {false, {0}};

	b.minus = false;
	for (int i = 64 * (FIXED_WORDS + FIXED_ONE) - 1; i >= 0; i--)
	{
		int			from = i - 64 * FIXED_ONE;
		uint64_t	next = from >= 0 ? a.words[from / 64] >> (from % 64) & 1 : 0;

		for (int k = FIXED_WORDS - 1; k >= 0; k--)
			rest.words[k] = rest.words[k] << 1 | (k > 0 ? rest.words[k - 1] >> 63 : next);
		if (fixed_compare_sizes(&rest, &b) < 0)
			continue;
		rest = fixed_subtract(rest, b);
		if (i < 64 * FIXED_WORDS)
			quotient.words[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return quotient;
}

/* A double below 2^190, without its bits below 2^-192. */
static inline Fixed
fixed_of(double x)
{
	Fixed		out = {x < 0, {0}};
	int			exponent;
	uint64_t	bits = (uint64_t) ldexp(frexp(fabs(x), &exponent), 53);
	int			shift = 64 * FIXED_ONE + exponent - 53;

	if (shift <= -64)
		return out;
	if (shift < 0)
	{
		out.words[0] = bits >> -shift;
		return out;
	}
	out.words[shift / 64] = bits << (shift % 64);
	if (shift % 64 != 0 && shift / 64 + 1 < FIXED_WORDS)
		out.words[shift / 64 + 1] = bits >> (64 - shift % 64);
	return out;
}

/* A pair; and a number of extended precision, in three doubles. */
static inline Fixed
fixed_of_pair(double high, double low)
{
	return fixed_add(fixed_of(high), fixed_of(low));
}

static inline Fixed
fixed_of_extended(DpermExtended x)
{
	double		high = (double) x;
	double		low = (double) (x - high);

	return fixed_add(fixed_of_pair(high, low), fixed_of((double) (x - high - low)));
}

/* The size of a difference. */
static inline double
fixed_apart(Fixed a, Fixed b)
{
	double		size = 0;

	a = fixed_subtract(a, b);
	for (int i = 0; i < FIXED_WORDS; i++)
		size += ldexp((double) a.words[i], 64 * (i - FIXED_ONE));
	return size;
}

/* a 2^-bits, for bits below 64. */
static inline Fixed
fixed_shift(Fixed a, int bits)
{
	for (int i = 0; i < FIXED_WORDS; i++)
		a.words[i] = a.words[i] >> bits | (i + 1 < FIXED_WORDS ? a.words[i + 1] << (64 - bits) : 0);
	return a;
}

/*
 * e^x: the Taylor series of x/2^32, squared 32 times, all minus one. Off by less
 * than 2^-140 for x from -700 to 1.
 */
static inline Fixed
fixed_exp(Fixed x)
{
	Fixed		term = fixed_of(1);
	Fixed		sum = fixed_of(0);

	x = fixed_shift(x, 32);
	for (int k = 1; k < 12; k++)
	{
		term = fixed_over(fixed_times(term, x), fixed_of(k));
		sum = fixed_add(sum, term);
	}
	for (int i = 0; i < 32; i++)
		sum = fixed_times(sum, fixed_add(fixed_of(2), sum));
	return fixed_add(sum, fixed_of(1));
}

/* Outputs become slopes, by the definitions of the guarantee document. */
static inline void
fixed_slopes(DpermLoss loss, Fixed *z, double label)
{
	const Fixed one = fixed_of(1);
	const Fixed h = fixed_of(loss.h);
	Fixed		sum = fixed_of(0);
	Fixed		q;

	switch (loss.kind)
	{
		case DPERM_LOSS_SOFTMAX:
			q = z[0];
			for (int k = 1; k < loss.classes; k++)
				q = fixed_subtract(z[k], q).minus ? q : z[k];
			for (int k = 0; k < loss.classes; k++)
				sum = fixed_add(sum, z[k] = fixed_exp(fixed_subtract(z[k], q)));
			for (int k = 0; k < loss.classes; k++)
			{
				z[k] = label == 0 ? fixed_of(0) : fixed_over(z[k], sum);
				z[k] = k + 1 == label ? fixed_subtract(z[k], one) : z[k];
			}
			return;
		case DPERM_LOSS_LOG_COSH:
			q = fixed_over(fixed_subtract(*z, fixed_of(label)), h);
			sum = fixed_exp(fixed_times(q, fixed_of(q.minus ? 2 : -2)));
			*z = fixed_over(fixed_subtract(one, sum), fixed_add(one, sum));
			z->minus = q.minus;
			return;
		case DPERM_LOSS_LOGISTIC:
			q = fixed_times(*z, fixed_of(label));
			sum = fixed_exp(q.minus ? q : fixed_minus(q));
			*z = fixed_over(q.minus ? one : sum, fixed_add(one, sum));
			break;
		case DPERM_LOSS_HUBER:
		case DPERM_LOSS_SMOOTH_HINGE:
			q = fixed_over(fixed_subtract(one, fixed_times(*z, fixed_of(label))), h);
			if (fixed_compare_sizes(&q, &one) > 0)
				*z = fixed_of(!q.minus);
			else if (loss.kind == DPERM_LOSS_HUBER)
				*z = fixed_times(fixed_add(one, q), fixed_of(0.5));
			else
				*z = fixed_add(fixed_of(0.5), fixed_times(fixed_times(q, fixed_subtract(fixed_of(3), fixed_times(q, q))),
														  fixed_of(0.25)));
	}

	/* so far minus the slope by the margin */
	*z = fixed_times(*z, fixed_of(-label));
}

/* Add the gradient of a row, at weights that are pairs, to sums. */
static inline void
fixed_add_gradient(DpermLoss loss, int dim, const double *x, double label, double weight, const double *weights,
				   const double *weights_low, Fixed *sums)
{
	int			blocks = dperm_loss_blocks(loss);
	Fixed		z[FIXED_CLASSES];

	for (int k = 0; k < blocks; k++)
	{
		z[k] = fixed_of(0);
		for (int j = 0; j < dim; j++)
			if (x[j] != 0)
				z[k] = fixed_add(z[k], fixed_times(fixed_of(x[j]), fixed_of_pair(weights[j * blocks + k],
																				 weights_low[j * blocks + k])));
	}
	fixed_slopes(loss, z, label);
	for (int k = 0; k < blocks; k++)
	{
		z[k] = fixed_times(z[k], fixed_of(weight));
		for (int j = 0; j < dim; j++)
			if (x[j] != 0)
				sums[j * blocks + k] = fixed_add(sums[j * blocks + k], fixed_times(z[k], fixed_of(x[j])));
	}
}

/* The norm of what is between sums and pairs. */
static inline double
fixed_off(int dim, const double *high, const double *low, const Fixed *sums)
{
	double		off = 0;

	for (int j = 0; j < dim; j++)
		off = hypot(off, fixed_apart(fixed_of_pair(high[j], low[j]), sums[j]));
	return off;
}

#endif							/* DPERM_TEST_FIXED_H */
