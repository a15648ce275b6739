/*
 * wide.c: the exponential in double-double arithmetic.
 */
#include "core/base/wide.h"

#include <math.h>

/* Terms of Taylor's series, and how often its argument is halved. */
#define EXP_TERMS 11
#define EXP_HALVINGS 8

/*
 * A power of two times the exponential of the remainder r, computed from r/2^8
 * by Taylor's series and squaring. One is subtracted until the end, so that
 * squaring keeps the relative error small.
 */
DpermWide
dperm_wide_exp(DpermWide x)
{
	static const double log2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56,
								  0x1.7b57a079a1934p-111};
	static const DpermWide inverses[] = {	/* of 2, 3, ... */
		{0x1.0000000000000p-1, 0x0.0p+0},
		{0x1.5555555555555p-2, 0x1.5555555555555p-56},
		{0x1.0000000000000p-2, 0x0.0p+0},
		{0x1.999999999999ap-3, -0x1.999999999999ap-57},
		{0x1.5555555555555p-3, 0x1.5555555555555p-57},
		{0x1.2492492492492p-3, 0x1.2492492492492p-57},
		{0x1.0000000000000p-3, 0x0.0p+0},
		{0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
		{0x1.999999999999ap-4, -0x1.999999999999ap-58},
		{0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59}
	};
	double		power = rint(x.high / log2[0]);
	DpermWide	less_one = {1, 0};

	for (int i = 0; i < 3; i++)
		x = dperm_wide_subtract(x, dperm_wide_product(power, log2[i]));
	x = (DpermWide) {ldexp(x.high, -EXP_HALVINGS), ldexp(x.low, -EXP_HALVINGS)};
	for (int k = EXP_TERMS; k > 1; k--)
		less_one =
			dperm_wide_add(dperm_wide_of(1),
						   dperm_wide_multiply(dperm_wide_multiply(x, inverses[k - 2]), less_one));
	less_one = dperm_wide_multiply(x, less_one);
	for (int i = 0; i < EXP_HALVINGS; i++)
		less_one =
			dperm_wide_add(dperm_wide_scale(less_one, 2), dperm_wide_multiply(less_one, less_one));
	x = dperm_wide_add(less_one, dperm_wide_of(1));
	return (DpermWide) {ldexp(x.high, (int) power), ldexp(x.low, (int) power)};
}
