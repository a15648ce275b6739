/*
 * vector.h: the inner loops over doubles, two lanes at a time. Trusted.
 *
 * A sum is kept in eight independent partial sums; that changes the order of
 * additions, not the bound on their rounding. GCC's vector types work on every
 * machine, with or without SIMD instructions.
 */
#ifndef DPERM_VECTOR_H
#define DPERM_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Two doubles. The accessors need no alignment beyond that of a double. */
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

/* The same number twice. */
static inline DpermPair
dperm_both(double x)
{
	return (DpermPair) {x, x};
}

static inline double
dperm_sum_pairs(DpermPair a, DpermPair b, DpermPair c, DpermPair d)
{
	DpermPair	sum = (a + b) + (c + d);

	return sum[0] + sum[1];
}

/* a b + c, with a single rounding where the machine does that as fast. */
static inline double
dperm_fused(double a, double b, double c)
{
#ifdef __FP_FAST_FMA
	return __builtin_fma(a, b, c);
#else
	return a * b + c;
#endif
}

static inline DpermPair
dperm_multiply_add(DpermPair a, DpermPair b, DpermPair c)
{
	return (DpermPair) {dperm_fused(a[0], b[0], c[0]), dperm_fused(a[1], b[1], c[1])};
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
	for (; i + 2 <= count; i += 2)
		a += dperm_pair_at(x + i) * dperm_pair_at(y + i);
	if (i < count)
		rest = x[i] * y[i];
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

/*
 * The inner product of a row with y. A row is dim numbers in memory and a
 * constant, the last one, which is the same in all rows, or 0. If three numbers
 * are left of a multiple of four, it may be the fourth.
 */
static inline double
dperm_row_inner(const double *restrict row, size_t dim, double constant, const double *restrict y,
				bool three)
{
	DpermPair	a = {0},
				b = {0};
	size_t		j = 0;
	double		rest = 0;

	for (; j + 4 <= dim; j += 4)
	{
		a = dperm_multiply_add(dperm_pair_at(row + j), dperm_pair_at(y + j), a);
		b = dperm_multiply_add(dperm_pair_at(row + j + 2), dperm_pair_at(y + j + 2), b);
	}
	if (three)
	{
		a = dperm_multiply_add(dperm_pair_at(row + j), dperm_pair_at(y + j), a);
		b = dperm_multiply_add((DpermPair) {row[j + 2], constant}, dperm_pair_at(y + j + 2), b);
		a += b;
		return a[0] + a[1];
	}
	for (; j < dim; j++)
		rest += row[j] * y[j];
	a += b;
	return a[0] + a[1] + (rest + constant * y[dim]);
}

/*
 * Fetch a row that is read some time after this one, where rows are stride bytes
 * apart, or 0 for a single one: a pass over rows in memory takes longer to wait
 * for them than to compute. If there is no such row, that does no harm.
 */
#define DPERM_AHEAD 4096

static inline void
dperm_fetch_ahead(const void *row, size_t stride, size_t size)
{
	uintptr_t	later = (uintptr_t) row + (DPERM_AHEAD / (stride + 1) + 1) * stride;

	for (size_t i = 0; i < size; i += 64)
		__builtin_prefetch((const void *) (later + i));
}

/* The same for count rows, stride apart. Memory is read fastest row by row. */
static inline void
dperm_rows_inner(size_t count, const double *restrict rows, size_t stride, size_t dim,
				 double constant, const double *restrict y, double *restrict out)
{
	bool		three = constant != 0 && dim % 4 == 3;

	for (size_t i = 0; i < count; i++, rows += stride)
	{
		dperm_fetch_ahead(rows, sizeof(double) * stride, sizeof(double) * dim);
		out[i] = dperm_row_inner(rows, dim, constant, y, three);
	}
}

/* Add eight such rows, each times its factor, to a sum. */
static inline void
dperm_add_eight(const double *restrict rows, size_t stride, size_t dim, double constant,
				const double *restrict factors, double *restrict sum)
{
	const double *r0 = rows,
			   *r1 = r0 + stride,
			   *r2 = r1 + stride,
			   *r3 = r2 + stride,
			   *r4 = r3 + stride,
			   *r5 = r4 + stride,
			   *r6 = r5 + stride,
			   *r7 = r6 + stride;
	double		f0 = factors[0],
				f1 = factors[1],
				f2 = factors[2],
				f3 = factors[3],
				f4 = factors[4],
				f5 = factors[5],
				f6 = factors[6],
				f7 = factors[7];

	for (size_t j = 0; j < dim; j++)
	{
		double		even = dperm_fused(r0[j], f0, sum[j]);
		double		odd = r1[j] * f1;

		even = dperm_fused(r2[j], f2, even);
		odd = dperm_fused(r3[j], f3, odd);
		even = dperm_fused(r4[j], f4, even);
		odd = dperm_fused(r5[j], f5, odd);
		even = dperm_fused(r6[j], f6, even);
		odd = dperm_fused(r7[j], f7, odd);
		sum[j] = even + odd;
	}
	if (constant != 0)
	{
		double		even = dperm_fused(constant, f2, dperm_fused(constant, f0, sum[dim]));
		double		odd = dperm_fused(constant, f3, constant * f1);

		even = dperm_fused(constant, f6, dperm_fused(constant, f4, even));
		odd = dperm_fused(constant, f7, dperm_fused(constant, f5, odd));
		sum[dim] = even + odd;
	}
}

/* Add any number of them. */
static inline void
dperm_add_rows(size_t count, const double *restrict rows, size_t stride, size_t dim,
			   double constant, const double *restrict factors, double *restrict sum)
{
	size_t		i = 0;

	for (; i + 8 <= count; i += 8)
		dperm_add_eight(rows + i * stride, stride, dim, constant, factors + i, sum);
	for (; i < count; i++)
	{
		for (size_t j = 0; j < dim; j++)
			sum[j] += rows[i * stride + j] * factors[i];
		sum[dim] += constant * factors[i];
	}
}

/* Add the upper triangle of x x' to a matrix whose columns are stride apart. */
static inline void
dperm_add_square(size_t dim, const double *restrict x, double *restrict sum, size_t stride)
{
	for (size_t j = 0; j < dim; j++, sum += stride)
		for (size_t i = 0; i <= j; i++)
			sum[i] = dperm_fused(x[i], x[j], sum[i]);
}

/* The same for four adjacent rows: the matrix is loaded and stored once. */
static inline void
dperm_add_four_squares(size_t dim, const double *restrict x, double *restrict sum, size_t stride)
{
	const double *y = x + dim;
	const double *z = y + dim;
	const double *u = z + dim;

	for (size_t j = 0; j < dim; j++, sum += stride)
	{
		DpermPair	xj = dperm_both(x[j]);
		DpermPair	yj = dperm_both(y[j]);
		DpermPair	zj = dperm_both(z[j]);
		DpermPair	uj = dperm_both(u[j]);
		size_t		i = 0;

		for (; i + 1 <= j; i += 2)
			dperm_put_pair(dperm_pair_at(sum + i) +
						   ((dperm_pair_at(x + i) * xj + dperm_pair_at(y + i) * yj) +
							(dperm_pair_at(z + i) * zj + dperm_pair_at(u + i) * uj)), sum + i);
		if (i <= j)
			sum[i] += (x[i] * x[j] + y[i] * y[j]) + (z[i] * z[j] + u[i] * u[j]);
	}
}

/* The same for any number of them. */
static inline void
dperm_add_squares(size_t count, size_t dim, const double *rows, double *sum, size_t stride)
{
	size_t		i = 0;

	for (; i + 4 <= count; i += 4)
		dperm_add_four_squares(dim, rows + i * dim, sum, stride);
	for (; i < count; i++)
		dperm_add_square(dim, rows + i * dim, sum, stride);
}

/* Two integers; and the largest angle for which dperm_cos_sin() is accurate. */
typedef int64_t DpermInts __attribute__((vector_size(16)));
#define DPERM_ANGLE_MAX 0x1p20

/* Select by mask: one where it has ones, other where it has zeros. */
static inline DpermPair
dperm_choose(DpermInts mask, DpermPair one, DpermPair other)
{
	return (DpermPair) (((DpermInts) one & mask) | ((DpermInts) other & ~mask));
}

/* The lesser of each two. */
static inline DpermPair
dperm_lesser(DpermPair one, DpermPair other)
{
#ifdef __SSE2__
	return _mm_min_pd(one, other);
#else
	return dperm_choose((DpermInts) (one < other), one, other);
#endif
}

/*
 * Exponentials of numbers from -708 to 0: a power of two times the exponential
 * of a remainder of at most log(2)/2, for which Taylor's series converges
 * quickly. The error is at most two units in the last place.
 */
static inline DpermPair
dperm_exp(DpermPair x)
{
	/* adding it leaves an integer in the last bits */
	const DpermPair round = dperm_both(0x1.8p52);
	DpermPair	power = dperm_multiply_add(x, dperm_both(0x1.71547652b82fep0), round);
	DpermInts	exponent = (DpermInts) power;
	DpermPair	r,
				r2,
				r4,
				low,
				high;

	power -= round;
	r = (x - power * 0x1.62e42fefa0000p-1) - power * 0x1.cf79abc9e3b3ap-40;
	r2 = r * r;
	r4 = r2 * r2;
	low = dperm_multiply_add(r2, dperm_multiply_add(r, dperm_both(1.0 / 120), dperm_both(1.0 / 24)),
							 dperm_multiply_add(r, dperm_both(1.0 / 6), dperm_both(1.0 / 2)));
	high = dperm_multiply_add(
		r2, dperm_multiply_add(r, dperm_both(1.0 / 6227020800), dperm_both(1.0 / 479001600)),
		dperm_multiply_add(r, dperm_both(1.0 / 39916800), dperm_both(1.0 / 3628800)));
	high = dperm_multiply_add(r4, high,
							  dperm_multiply_add(r2, dperm_multiply_add(r, dperm_both(1.0 / 362880),
																		dperm_both(1.0 / 40320)),
												 dperm_multiply_add(r, dperm_both(1.0 / 5040),
																	dperm_both(1.0 / 720))));
	low = dperm_multiply_add(r4, high, low);
	return (DpermPair) ((DpermInts) (1 + dperm_multiply_add(low, r2, r)) + (exponent << 52));
}

/*
 * Cosines and sines. A multiple of pi/2, subtracted in three parts, reduces the
 * angle to at most pi/4, for which Taylor's series converge quickly. Up to
 * DPERM_ANGLE_MAX the error of each is at most two units in the last place. The
 * sum of their squares is as close to 1 for any angle, because both use the
 * same reduced angle.
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
	r = ((angle - turns * 0x1.921fb54400000p+0) - turns * 0x1.0b4611a600000p-34) -
		turns * 0x1.3198a2e037073p-69;
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
