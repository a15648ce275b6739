/*
 * normal.h: the law of Gaussian noise, from the guarantee document: independent
 * normal numbers, whose deviation in a block of k coordinates and largest norm
 * R is scale times w, w^2 = S R/sqrt(k), S the sum of R sqrt(k) over blocks.
 */
#ifndef DPERM_TEST_NORMAL_H
#define DPERM_TEST_NORMAL_H

#include <math.h>
#include <stdlib.h>

#include "core/encode/encoder.h"
#include "unit/goodness.h"

/* The largest norm in a shape. */
static inline double
normal_radius(const DpermShape *shape)
{
	double		pieces = shape->kind == DPERM_SHAPE_BOX ? shape->count : shape->kind == DPERM_SHAPE_DISCS ? shape->count / 2 : 1;

	return sqrt(pieces * shape->radius * shape->radius);
}

/* The deviation of each coordinate at scale 1, for rows of some shapes. */
static inline void
normal_deviations(const DpermShape *shapes, int count, double *out)
{
	double		sum = 0;

	for (int i = 0; i < count; i++)
		sum += normal_radius(&shapes[i]) * sqrt(shapes[i].count);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < shapes[i].count; j++)
			out[shapes[i].first + j] = sqrt(sum * normal_radius(&shapes[i]) / sqrt(shapes[i].count));
}

/* Draws to compare with a law, and a callback for the p-values. */
typedef struct NormalSample
{
	int			dim;
	int			count;
	const double *deviations;	/* of each coordinate, at scale 1 */
	double		scale;
	const double *b;			/* count vectors of dim */
	void		(*report) (void *arg, const char *what, double p);
	void	   *arg;
} NormalSample;

/* One number of a sample, divided by its deviation. */
static inline double
normal_at(const NormalSample *s, int draw, int coordinate)
{
	return s->b[(size_t) draw * (size_t) s->dim + (size_t) coordinate] / (s->scale * s->deviations[coordinate]);
}

/* Two-sided p-value of a standard normal. */
static inline double
normal_p(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

/*
 * Each coordinate by itself: its deviation. All of them: deviation, means, the
 * law.
 */
static inline void
normal_check_coordinates(const NormalSample *s)
{
	size_t		total = (size_t) s->count * (size_t) s->dim;
	double	   *room = malloc(sizeof(double) * total);
	double		all = 0;
	double		means = 0;

	for (int j = 0; j < s->dim; j++)
	{
		double		sum = 0;
		double		squares = 0;

		for (int i = 0; i < s->count; i++)
		{
			double		z = normal_at(s, i, j);

			sum += z;
			squares += z * z;
			room[(size_t) i * (size_t) s->dim + (size_t) j] = erfc(-z / sqrt(2)) / 2;
		}
		all += squares;
		means += sum * sum / s->count;
		s->report(s->arg, "deviation of a coordinate", normal_p((squares - s->count) / sqrt(2.0 * s->count)));
	}
	s->report(s->arg, "deviation of all coordinates", normal_p((all - (double) total) / sqrt(2.0 * (double) total)));
	s->report(s->arg, "means", chi_square_p(means, s->dim));
	s->report(s->arg, "the normal law", uniform_p(room, (int) total));
	free(room);
}

/* Two coordinates, and two calls: neither numbers nor squares are related. */
static inline void
normal_check_relations(const NormalSample *s)
{
	double		pairs = 0;
	double		pair_squares = 0;
	double		calls = 0;
	double		call_squares = 0;

	for (int i = 0; i < s->count; i++)
	{
		int			at = i % s->dim;
		int			other = s->dim > 1 ? (at + 1 + i / s->dim % (s->dim - 1)) % s->dim : 0;
		double		z = normal_at(s, i, at);
		double		beside = normal_at(s, i, other);
		double		before = i > 0 ? normal_at(s, i - 1, at) : 0;

		pairs += z * beside;
		pair_squares += (z * z - 1) * (beside * beside - 1) / 2;
		calls += z * before;
		call_squares += i > 0 ? (z * z - 1) * (before * before - 1) / 2 : 0;
	}
	if (s->dim > 1)
	{
		s->report(s->arg, "two coordinates", normal_p(pairs / sqrt(s->count)));
		s->report(s->arg, "squares of two coordinates", normal_p(pair_squares / sqrt(s->count)));
	}
	s->report(s->arg, "two calls", normal_p(calls / sqrt(s->count - 1)));
	s->report(s->arg, "squares of two calls", normal_p(call_squares / sqrt(s->count - 1)));
}

/* All comparisons. */
static inline void
normal_check(const NormalSample *s)
{
	normal_check_coordinates(s);
	normal_check_relations(s);
}

#endif							/* DPERM_TEST_NORMAL_H */
