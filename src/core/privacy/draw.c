/*
 * draw.c: random bits; exact integer draws, and doubles that approximate exact
 * real draws; the release of weights.
 * Trusted.
 *
 * The section names are those of docs/guarantee.md.
 */
#include "core/privacy/draw.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/host.h"

/*
 * Grid points are clamped here before noise is added. The calibration makes the
 * grid so coarse that the clamp is only reached in the tail event of the noise;
 * a clamp is a contraction, so it never increases the sensitivity.
 */
#define POINT_MAX 0x1p60

/* The tails of the noise are cut off at a probability of e^-46 each. */
#define TAIL 46

/* In a way that the compiler does not optimise away. */
void
dperm_entropy_wipe(DpermEntropy *e)
{
	volatile uint64_t *word = e->pool;

	for (size_t i = 0; i < sizeof(e->pool) / sizeof(e->pool[0]); i++)
		word[i] = 0;
	e->left = 0;
	e->bits = 0;
	e->bits_left = 0;
}

uint64_t
dperm_draw_word(DpermEntropy *e)
{
	if (e->left == 0)
	{
		if (e->status != DPERM_OK || !dperm_host_random(e->pool, sizeof(e->pool)))
		{
			/* all ones, which ends every loop below after a few rounds */
			e->status = DPERM_NO_ENTROPY;
			return UINT64_MAX;
		}
		e->left = (int) (sizeof(e->pool) / sizeof(e->pool[0]));
	}
	return e->pool[--e->left];
}

bool
dperm_draw_bit(DpermEntropy *e)
{
	bool		bit;

	if (e->bits_left == 0)
	{
		e->bits = dperm_draw_word(e);
		e->bits_left = 64;
	}
	bit = e->bits & 1;
	e->bits >>= 1;
	e->bits_left--;
	return bit;
}

/* Uniform on 0 .. bound - 1, by rejection. */
uint64_t
dperm_draw_below(DpermEntropy *e, uint64_t bound)
{
	/* words from the largest multiple of bound on are redrawn */
	uint64_t	excess = (UINT64_MAX % bound + 1) % bound;
	uint64_t	word;

	do
		word = dperm_draw_word(e);
	while (word > UINT64_MAX - excess && e->status == DPERM_OK);
	return word % bound;
}

/*
 * Von Neumann's alternating series, so often in a row: with x = num/den, a run of
 * successes of Bernoulli(x/k), k = 1, 2, ..., ends at an odd k with probability
 * exp(-x).
 */
bool
dperm_draw_exp_minus(DpermEntropy *e, uint64_t num, uint64_t den, uint64_t times)
{
	for (; times > 0 && e->status == DPERM_OK; times--)
	{
		uint64_t	k = 1;

		/* k beyond 2^13 has a probability below 1/(2^13)!: den * k cannot overflow */
		while (k < 8192 && e->status == DPERM_OK && dperm_draw_below(e, den * k) < num)
			k++;
		if (k % 2 == 0)
			return false;
	}
	return true;
}

/* Discrete Laplace of scale num/den: Algorithm 2 of Canonne, Kamath and Steinke. */
int64_t
dperm_draw_discrete_laplace(DpermEntropy *e, int64_t num, int64_t den)
{
	while (e->status == DPERM_OK)
	{
		int64_t		low = (int64_t) dperm_draw_below(e, (uint64_t) num);
		int64_t		high = 0;
		int64_t		size;
		bool		negative;

		if (!dperm_draw_exp_minus(e, (uint64_t) low, (uint64_t) num, 1))
			continue;

		/* the bound keeps num * high within 64 bits; e^-4096 is negligible */
		while (high < 4096 && e->status == DPERM_OK && dperm_draw_exp_minus(e, 1, 1, 1))
			high++;
		size = (low + num * high) / den;
		negative = dperm_draw_bit(e);
		if (negative && size == 0)
			continue;
		return negative ? -size : size;
	}
	return 0;
}

/* true with probability exp(-low^2/(2 scale^2)), low < scale <= 2^49: the same series. */
static bool
draw_exp_minus_square(DpermEntropy *e, uint64_t low, uint64_t scale)
{
	uint64_t	k = 1;

	while (k < 8192 && e->status == DPERM_OK && dperm_draw_below(e, scale) < low &&
		   dperm_draw_below(e, 2 * scale * k) < low)
		k++;
	return k % 2 == 1;
}

/*
 * Discrete Gaussian: Algorithm 3 of Canonne, Kamath and Steinke, from a discrete
 * Laplace of the same scale. It is accepted with probability exp(-x^2/2), where x =
 * (|z| - scale)/scale = whole + low/scale, as the product of exp(-whole^2/2),
 * exp(-whole low/scale) and the rest.
 */
int64_t
dperm_draw_discrete_gaussian(DpermEntropy *e, int64_t scale)
{
	while (e->status == DPERM_OK)
	{
		int64_t		z = dperm_draw_discrete_laplace(e, scale, 1);
		uint64_t	away = (uint64_t) (llabs(z) > scale ? llabs(z) - scale : scale - llabs(z));
		uint64_t	whole = away / (uint64_t) scale;
		uint64_t	low = away % (uint64_t) scale;

		if (draw_exp_minus_square(e, low, (uint64_t) scale) &&
			dperm_draw_exp_minus(e, low, (uint64_t) scale, whole) &&
			dperm_draw_exp_minus(e, 1, 2, whole * whole))
			return z;
	}
	return 0;
}

/*
 * A uniform real from (0, 1/2), rounded: the exponent is geometric and the
 * fraction has 64 bits, so the relative error is one unit in the last place,
 * however small the number is.
 */
static double
draw_half_uniform(DpermEntropy *e)
{
	int			exponent = -2;
	uint64_t	word;

	while (!dperm_draw_bit(e) && exponent > -1000 && e->status == DPERM_OK)
		exponent--;
	word = dperm_draw_word(e);
	return ldexp(1 + (double) word * 0x1p-64, exponent);
}

/*
 * Standard exponential -log(u). For u above 1/2 the complement is drawn
 * instead, so that small results have the same relative accuracy as large ones.
 */
double
dperm_draw_exponential(DpermEntropy *e)
{
	double		v = draw_half_uniform(e);

	return dperm_draw_bit(e) ? -log(v) : -log1p(-v);
}

/*
 * A standard normal, from the Box-Muller radius and the sine of an angle in a
 * quarter of the circle. The angle has a small relative error, so the sine and
 * the product have one, too. Using both sine and cosine would save draws but
 * lose that.
 */
double
dperm_draw_normal(DpermEntropy *e)
{
	static const double pi = 3.141592653589793238462643;
	double		radius = sqrt(2 * dperm_draw_exponential(e));
	double		size = radius * sin(pi * draw_half_uniform(e));

	return dperm_draw_bit(e) ? size : -size;
}

/* Uniform between -1 and 1, with a small relative error even near zero. */
double
dperm_draw_between(DpermEntropy *e)
{
	double		size = 2 * draw_half_uniform(e);

	return dperm_draw_bit(e) ? size : -size;
}

/* Gamma with a whole shape: a sum of exponentials. */
double
dperm_draw_gamma(DpermEntropy *e, int shape)
{
	double		sum = 0;

	for (int i = 0; i < shape; i++)
		sum += dperm_draw_exponential(e);
	return sum;
}

/* Chi-squared with the given degrees of freedom. */
static double
draw_chi_squared(DpermEntropy *e, int degrees)
{
	double		sum = 2 * dperm_draw_gamma(e, degrees / 2);
	double		last = degrees % 2 == 1 ? dperm_draw_normal(e) : 0;

	return sum + last * last;
}

/*
 * A point that is uniform in the ball: dim coordinates of a point of the sphere
 * in dim + 2 dimensions. The sum of squares is positive and has a small
 * relative error, so the quotients have one, too.
 */
void
dperm_draw_in_ball(DpermEntropy *e, int dim, double radius, double *b, int stride)
{
	double		sum = 2 * dperm_draw_exponential(e);
	double		factor;

	for (int i = 0; i < dim; i++)
	{
		b[i * stride] = dperm_draw_normal(e);
		sum += b[i * stride] * b[i * stride];
	}
	factor = radius / sqrt(sum);
	for (int i = 0; i < dim; i++)
		b[i * stride] *= factor;
}

/*
 * A point that is uniform where the absolute values add up to at most radius:
 * dim of dim + 1 shares, with random signs.
 */
void
dperm_draw_in_cross(DpermEntropy *e, int dim, double radius, double *b)
{
	double		sum = dperm_draw_exponential(e);
	double		factor;

	for (int i = 0; i < dim; i++)
	{
		b[i] = dperm_draw_exponential(e);
		sum += b[i];
	}
	factor = radius / sum;
	for (int i = 0; i < dim; i++)
		b[i] *= dperm_draw_bit(e) ? factor : -factor;
}

/*
 * b = scale sqrt(v) g with v ~ chi-squared(dim + 1), g standard normal: the
 * density of that is proportional to exp(-|b|/scale) (section "Sampling the
 * noise"). Unlike a normalised direction times a Gamma radius, it involves no
 * division, so that it is within a few units in the last place of the exact
 * draw without any special case.
 */
void
dperm_draw_gamma_sphere(DpermEntropy *e, int dim, double scale, double *b)
{
	double		factor = scale * sqrt(draw_chi_squared(e, dim + 1));

	for (int i = 0; i < dim; i++)
		b[i] = factor * dperm_draw_normal(e);
}

/*
 * Laurent and Massart (2000), Lemma 1: chi-squared(k) exceeds k + 2 sqrt(k t) +
 * 2t with probability at most e^-t.
 */
double
dperm_draw_chi_squared_tail(int degrees)
{
	const double t = TAIL;

	return degrees + 2 * sqrt(degrees * t) + 2 * t;
}

/* The bound above for v and for |g|^2. */
double
dperm_draw_gamma_sphere_tail(int dim, double scale)
{
	return scale * sqrt(dperm_draw_chi_squared_tail(dim + 1)) *
		   sqrt(dperm_draw_chi_squared_tail(dim));
}

/* The same for half of chi-squared(2 shape). */
double
dperm_draw_gamma_tail(int shape, double more)
{
	const double t = TAIL + more;

	return shape + sqrt(2 * shape * t) + t;
}

/* Replace weights by their released form (section "Release"). */
void
dperm_release(DpermEntropy *e, int dim, double grid, int64_t scale, double *weights)
{
	for (int i = 0; i < dim; i++)
	{
		double		point = rint(weights[i] / grid);	/* exact: grid is a power of two */

		point = fmax(-POINT_MAX, fmin(POINT_MAX, point));
		weights[i] = grid * (double) ((int64_t) point + dperm_draw_discrete_laplace(e, scale, 1));
	}
}

/* The variance of P(z) ~ q^|z| is 2 q/(1 - q)^2, here with q = exp(-1/scale). */
double
dperm_release_deviation(double grid, int64_t scale)
{
	return grid / (sqrt(2) * sinh(0.5 / (double) scale));
}
