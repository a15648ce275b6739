/*
 * vector.h: the inner loops over numbers, two lanes at a time.
 *
 * A sum is kept in eight parts, which do not wait for each other; that changes the order of additions, not
 * the bound on their rounding. GCC's vectors work on every machine, with or without such instructions.
 */
#ifndef DPERM_VECTOR_H
#define DPERM_VECTOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two doubles; in memory they lie where doubles do, at no alignment of their own. */
typedef double DpermPair __attribute__((vector_size(16)));

static inline DpermPair
dperm_pair_at(const double *x)
{
	DpermPair	pair;

	memcpy(&pair, x, sizeof(pair));
	return pair;
}

static inline void
dperm_put_pair(DpermPair pair, double *x)
{
	memcpy(x, &pair, sizeof(pair));
}

static inline double
dperm_sum_pairs(DpermPair a, DpermPair b, DpermPair c, DpermPair d)
{
	DpermPair	sum = (a + b) + (c + d);

	return sum[0] + sum[1];
}

/* The inner product. */
static inline double
dperm_inner(size_t count, const double *x, const double *y)
{
	DpermPair	a = {0},
				b = {0},
				c = {0},
				d = {0};
	size_t		i = 0;
	double		rest = 0;

	for (; i + 8 <= count; i += 8)
	{
		a += dperm_pair_at(x + i) * dperm_pair_at(y + i);
		b += dperm_pair_at(x + i + 2) * dperm_pair_at(y + i + 2);
		c += dperm_pair_at(x + i + 4) * dperm_pair_at(y + i + 4);
		d += dperm_pair_at(x + i + 6) * dperm_pair_at(y + i + 6);
	}
	for (; i < count; i++)
		rest += x[i] * y[i];
	return dperm_sum_pairs(a, b, c, d) + rest;
}

/* The sum of squares. */
static inline double
dperm_sum_of_squares(size_t count, const double *x)
{
	return dperm_inner(count, x, x);
}

/* out = factor x */
static inline void
dperm_scale(size_t count, double factor, const double *restrict x, double *restrict out)
{
	size_t		i = 0;

	for (; i + 4 <= count; i += 4)
	{
		dperm_put_pair(dperm_pair_at(x + i) * factor, out + i);
		dperm_put_pair(dperm_pair_at(x + i + 2) * factor, out + i + 2);
	}
	for (; i < count; i++)
		out[i] = x[i] * factor;
}

/* Two integers, and angles up to here for dperm_cos_sin(). */
typedef int64_t DpermInts __attribute__((vector_size(16)));
#define DPERM_ANGLE_MAX 0x1p20

/* The one where the mask has ones, the other where it has zeros. */
static inline DpermPair
dperm_choose(DpermInts mask, DpermPair one, DpermPair other)
{
	return (DpermPair) (((DpermInts) one & mask) | ((DpermInts) other & ~mask));
}

/*
 * Cosines and sines. The angle less a multiple of pi/2, which is subtracted in three parts, is at most pi/4, where
 * Taylor's series end soon. Each is off by two units in the last place at most, up to DPERM_ANGLE_MAX; and the sum
 * of their squares is as close to 1 whatever the angle, because both are taken of the same reduced one.
 */
static inline void
dperm_cos_sin(DpermPair angle, DpermPair *cosine, DpermPair *sine)
{
	const double round = 0x1.8p52;	/* adding it leaves an integer in the last bits */
	DpermPair	turns = angle * 0x1.45f306dc9c883p-1 + round;
	DpermInts	quarter = (DpermInts) turns;
	DpermInts	odd = -(quarter & 1);
	DpermPair	r,
				z,
				c,
				s;

	turns -= round;
	r = ((angle - turns * 0x1.921fb54400000p+0) - turns * 0x1.0b4611a600000p-34) - turns * 0x1.3198a2e037073p-69;
	z = r * r;
	s = z * (1.0 / 355687428096000) - 1.0 / 1307674368000;
	s = s * z + 1.0 / 6227020800;
	s = s * z - 1.0 / 39916800;
	s = s * z + 1.0 / 362880;
	s = s * z - 1.0 / 5040;
	s = s * z + 1.0 / 120;
	s = s * z - 1.0 / 6;
	s = r + r * (z * s);
	c = z * (1.0 / 20922789888000) - 1.0 / 87178291200;
	c = c * z + 1.0 / 479001600;
	c = c * z - 1.0 / 3628800;
	c = c * z + 1.0 / 40320;
	c = c * z - 1.0 / 720;
	c = c * z + 1.0 / 24;
	c = 1 - (z * 0.5 - z * z * c);

	/* quarter turns: cos, -sin, -cos, sin and sin, cos, -sin, -cos */
	*cosine = (DpermPair) ((DpermInts) dperm_choose(odd, s, c) ^ ((quarter + 1) & 2) << 62);
	*sine = (DpermPair) ((DpermInts) dperm_choose(odd, c, s) ^ (quarter & 2) << 62);
}

#endif							/* DPERM_VECTOR_H */
