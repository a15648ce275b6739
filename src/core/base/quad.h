/*
 * quad.h: extended precision: the compiler's numbers of 113 bits, which gcc and
 * clang have on every machine, if need be in software.
 *
 * In memory that others read, and on the wire, such a number is a pair of doubles:
 * the nearest one, and the one nearest to what is left.
 */
#ifndef DPERM_QUAD_H
#define DPERM_QUAD_H

#include <float.h>

/* No wider registers: what is exact or rounded once here would be rounded twice. */
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

/* Memory of the host is aligned for doubles. */
#if LDBL_MANT_DIG == 113
typedef long double DpermExtended __attribute__((aligned(8)));
#elif defined(__SIZEOF_FLOAT128__)
typedef __float128 DpermExtended __attribute__((aligned(8)));
#else
#error "dperm needs numbers of 113 bits: long double or __float128, of gcc or clang"
#endif

static inline DpermExtended
dperm_quad_of(double high, double low)
{
	return (DpermExtended) high + (DpermExtended) low;
}

/* As a pair, with a relative error of at most 2^-106. */
static inline void
dperm_quad_split(DpermExtended x, double *high, double *low)
{
	*high = (double) x;
	*low = (double) (x - (DpermExtended) *high);
}

/* Number i of a vector of dim pairs: all high parts, then all low parts. */
static inline DpermExtended
dperm_quad_get(const double *vector, int dim, int i)
{
	return dperm_quad_of(vector[i], vector[dim + i]);
}

static inline void
dperm_quad_put(double *vector, int dim, int i, DpermExtended x)
{
	dperm_quad_split(x, &vector[i], &vector[dim + i]);
}

#endif							/* DPERM_QUAD_H */
