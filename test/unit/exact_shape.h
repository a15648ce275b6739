/*
 * exact_shape.h: is a vector in a shape, in exact arithmetic?
 *
 * A coordinate is a sum of some doubles, so that a difference of two rows has
 * no rounding either.
 */
#ifndef DPERM_TEST_EXACT_SHAPE_H
#define DPERM_TEST_EXACT_SHAPE_H

#include "core/encode/encoder.h"
#include "unit/exact.h"

#define EXACT_TERMS 4

/*
 * A vector: coordinate i is the sum of terms of its numbers, at numbers + i *
 * terms.
 */
typedef struct ExactVector
{
	const double *numbers;
	int			terms;
} ExactVector;

/*
 * A double times a power of two. What falls below the smallest double is
 * rounded to it, away from zero.
 */
static inline double
exact_scaled(double x, int exponent)
{
	double		scaled = ldexp(x, exponent);

	return ldexp(scaled, -exponent) == x ? scaled : nextafter(scaled, copysign(INFINITY, x));
}

/* The terms of coordinate i, times a power of two. */
static inline void
exact_terms(const ExactVector *x, int i, int exponent, double *terms)
{
	for (int k = 0; k < x->terms; k++)
		terms[k] = exact_scaled(x->numbers[i * x->terms + k], exponent);
}

/* Subtract the square of coordinate i from a number. */
static inline void
exact_less_square(ExactNumber *left, const ExactVector *x, int i, int exponent)
{
	double		terms[EXACT_TERMS];

	exact_terms(x, i, exponent, terms);
	for (int k = 0; k < x->terms; k++)
		for (int l = 0; l < x->terms; l++)
			exact_number_add(left, -terms[k], terms[l]);
}

/* Subtract the absolute value of coordinate i from a number. */
static inline void
exact_less_size(ExactNumber *left, const ExactVector *x, int i, int exponent)
{
	double		terms[EXACT_TERMS];
	ExactNumber sum;
	int			sign;

	memset(&sum, 0, sizeof(sum));
	exact_terms(x, i, exponent, terms);
	for (int k = 0; k < x->terms; k++)
		exact_number_add(&sum, terms[k], 1);
	sign = exact_sign(&sum);
	for (int k = 0; k < x->terms && sign != 0; k++)
		exact_number_add(left, terms[k], -sign);
}

/*
 * Do all coordinates of a part, stride apart, add up to at most radius (or
 * their squares to its square)?
 */
static inline bool
exact_part(const ExactVector *x, int first, int count, int stride, double radius, int exponent, bool squares)
{
	ExactNumber left;

	memset(&left, 0, sizeof(left));
	exact_number_add(&left, radius, squares ? radius : 1);
	for (int i = 0; i < count; i++)
		if (squares)
			exact_less_square(&left, x, first + i * stride, exponent);
		else
			exact_less_size(&left, x, first + i * stride, exponent);
	return exact_sign(&left) >= 0;
}

/*
 * Is x in a shape, times 1 or 2? All of it is first brought near 1 by a power
 * of two.
 */
static inline bool
exact_in_shape(const DpermShape *shape, double times, const ExactVector *x)
{
	int			half = shape->count / 2;
	int			exponent;
	double		radius = times * frexp(shape->radius, &exponent);

	for (int i = 0; i < shape->count * x->terms; i++)
		if (!(fabs(x->numbers[shape->first * x->terms + i]) <= 4 * times * shape->radius))
			return false;
	switch (shape->kind)
	{
		case DPERM_SHAPE_BALL:
			return exact_part(x, shape->first, shape->count, 1, radius, -exponent, true);
		case DPERM_SHAPE_CROSS:
			return exact_part(x, shape->first, shape->count, 1, radius, -exponent, false);
		case DPERM_SHAPE_BOX:
			for (int i = 0; i < shape->count; i++)
				if (!exact_part(x, shape->first + i, 1, 1, radius, -exponent, false))
					return false;
			return true;
		case DPERM_SHAPE_DISCS:
			for (int i = 0; i < half; i++)
				if (!exact_part(x, shape->first + i, 2, half, radius, -exponent, true))
					return false;
			return true;
	}
	return false;
}

/* The same for doubles. */
static inline bool
exact_row_in_shape(const DpermShape *shape, const double *x)
{
	return exact_in_shape(shape, 1, &(ExactVector) {x, 1});
}

#endif							/* DPERM_TEST_EXACT_SHAPE_H */
