/*
 * encoder.c: clipping into the unit ball, rounding included.
 *
 * The invariant is |out| <= 1 in exact arithmetic. A computed norm is off by at
 * most (dimension/2 + 4) units in the last place, a scaled coordinate by three,
 * so a vector is only taken unscaled when its norm is below the bound by MARGIN,
 * and is scaled to that otherwise.
 */
#include "encoder.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* The largest double whose square is at most 1/2: a block and the intercept share the ball. */
#define ROOT_HALF 0x1.6a09e667f3bccp-1

#define MARGIN(dimension) (1 + ((dimension) + 16) * DBL_EPSILON)

/* The range in which a sum of squares is as exact as its terms. */
#define SQUARE_MIN 1e-200
#define SQUARE_MAX 1e300

/* Write a zero block. */
static void
zero_block(int dimension, double *out)
{
	for (int i = 0; i < dimension; i++)
		out[i] = 0;
}

/* The block for vectors whose squares over- or underflow: scale by the largest first. */
static void
extreme_block(const DpermEncoder *enc, const double *raw, double target, double *out)
{
	double		largest = 0;
	double		sum = 0;
	double		length;

	for (int i = 0; i < enc->dimension; i++)
	{
		if (!isfinite(raw[i]))
		{
			zero_block(enc->dimension, out);
			return;
		}
		largest = fmax(largest, fabs(raw[i]));
	}
	if (largest == 0)
	{
		zero_block(enc->dimension, out);
		return;
	}
	for (int i = 0; i < enc->dimension; i++)
		sum += (raw[i] / largest) * (raw[i] / largest);
	length = sqrt(sum) * MARGIN(enc->dimension);
	if (largest / enc->norm * length <= 1)
		for (int i = 0; i < enc->dimension; i++)
			out[i] = raw[i] / enc->norm * target;
	else
		for (int i = 0; i < enc->dimension; i++)
			out[i] = raw[i] / largest * (target / length);
}

/* One row: the clipped vector, the intercept, both times sign. */
void
dperm_encode_vector(const DpermEncoder *enc, const double *raw, double sign, double *out)
{
	int			dimension = enc->dimension;
	double		target = sign * (enc->intercept ? ROOT_HALF : 1);
	double		sum = 0;
	double		length;
	double		factor;

	if (enc->intercept)
		out[dimension] = target;
	if (raw == NULL)
	{
		zero_block(dimension, out);
		return;
	}
	for (int i = 0; i < dimension; i++)
		sum += raw[i] * raw[i];
	if (!(sum >= SQUARE_MIN && sum <= SQUARE_MAX))
	{
		extreme_block(enc, raw, target, out);
		return;
	}
	length = sqrt(sum) * MARGIN(dimension);
	factor = target / fmax(length, enc->norm);
	for (int i = 0; i < dimension; i++)
		out[i] = raw[i] * factor;
}
