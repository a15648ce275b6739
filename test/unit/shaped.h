/*
 * shaped.h: the law of noise in shapes, from its definition: the density is
 * proportional to exp(-sum share_g N_g(b)/scale).
 *
 * Given N_g, the noise of a group of D coordinates is on the border of a
 * product of sets: intervals, balls, crosses. There, by the cone measure, a set
 * of k coordinates is the one that touches the border with probability k/D,
 * each other is at a k-th root of a uniform share of its radius, and all
 * directions are as in the sets themselves. N_g itself is Gamma(D).
 */
#ifndef DPERM_TEST_SHAPED_H
#define DPERM_TEST_SHAPED_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mechanism/noise.h"
#include "unit/goodness.h"

/* A set whose coordinates are stride apart: all that shapes are products of. */
typedef struct ShapedPart
{
	bool		ball;			/* else a cross; in one dimension both are an interval */
	int			first;
	int			count;
	int			stride;
	double		radius;
} ShapedPart;

/* The parts of a shape; returns how many. */
static inline int
shaped_parts(const DpermShape *shape, ShapedPart *out)
{
	int			count = shape->kind == DPERM_SHAPE_BOX ? shape->count :
		shape->kind == DPERM_SHAPE_DISCS ? shape->count / 2 : 1;

	for (int i = 0; i < count; i++)
		out[i] = (ShapedPart) {
			.ball = shape->kind == DPERM_SHAPE_BALL || shape->kind == DPERM_SHAPE_DISCS,
			.first = shape->first + i,
			.count = shape->kind == DPERM_SHAPE_BOX ? 1 : shape->kind == DPERM_SHAPE_DISCS ? 2 : shape->count,
			.stride = shape->kind == DPERM_SHAPE_DISCS ? shape->count / 2 : 1,
			.radius = shape->radius
		};
	return count;
}

/* The distance of b from the centre of a part, in radii. */
static inline double
shaped_gauge(const ShapedPart *part, const double *b)
{
	double		sum = 0;

	for (int i = 0; i < part->count; i++)
	{
		double		x = b[part->first + i * part->stride];

		sum += part->ball ? x * x : fabs(x);
	}
	return (part->ball ? sqrt(sum) : sum) / part->radius;
}

/* N_g of a group. */
static inline double
shaped_group_norm(const DpermNoise *noise, int group, const double *b)
{
	const DpermNoiseGroup *g = &noise->groups[group];
	double		most = 0;

	for (int i = g->first; i < g->first + g->count; i++)
	{
		const DpermShape *s = &noise->shapes[i];
		ShapedPart	parts[s->count];
		int			count = shaped_parts(s, parts);

		for (int j = 0; j < count; j++)
			most = fmax(most, shaped_gauge(&parts[j], b));
	}
	return most;
}

/* The norm in the density; NULL is the ball. */
static inline double
shaped_norm(const DpermNoise *noise, int dim, const double *b)
{
	double		sum = 0;

	for (int i = 0; noise == NULL && i < dim; i++)
		sum += b[i] * b[i];
	if (noise == NULL)
		return sqrt(sum);
	for (int i = 0; i < noise->group_count; i++)
		sum += noise->groups[i].share * shaped_group_norm(noise, i, b);
	return sum;
}

/*
 * The mean squared norm of a uniform point in a shape, and (D+1)(D+2) times
 * that of a group, by the tables of the guarantee document.
 */
static inline double
shaped_mean_square(const DpermShape *shape)
{
	double		k = shape->count;
	double		r = shape->radius;

	if (shape->kind == DPERM_SHAPE_BALL)
		return r * r * k / (k + 2);
	if (shape->kind == DPERM_SHAPE_CROSS)
		return r * r * k * 2 / (k * k + 3 * k + 2);
	return r * r * k / (shape->kind == DPERM_SHAPE_BOX ? 3 : 4);
}

/* The best of all partitions of shapes into groups. */
typedef struct ShapedPartition
{
	const DpermShape *shapes;
	int			count;
	int			trial[12];		/* the group of a shape */
	int			best[12];
	double		best_cost;		/* the sum of cube roots; the mean of |b|^2 at scale 1 is its third power */
} ShapedPartition;

/* The cube root that a group of a partition adds. */
static inline double
shaped_cost(const ShapedPartition *p, const int *of, int group)
{
	double		dim = 0;
	double		square = 0;

	for (int i = 0; i < p->count; i++)
		if (of[i] == group)
		{
			dim += p->shapes[i].count;
			square += shaped_mean_square(&p->shapes[i]);
		}
	return cbrt((dim + 1) * (dim + 2) * square);
}

/*
 * All ways to put shape number at and those after it into groups, some of which
 * exist already.
 */
static inline void
shaped_try(ShapedPartition *p, int at, int groups)
{
	double		cost = 0;

	if (at < p->count)
	{
		for (p->trial[at] = 0; p->trial[at] <= groups; p->trial[at]++)
			shaped_try(p, at + 1, p->trial[at] == groups ? groups + 1 : groups);
		return;
	}
	for (int i = 0; i < groups; i++)
		cost += shaped_cost(p, p->trial, i);
	if (cost < p->best_cost)
	{
		p->best_cost = cost;
		memcpy(p->best, p->trial, sizeof(p->best));
	}
}

static inline ShapedPartition
shaped_best(const DpermShape *shapes, int count)
{
	ShapedPartition p = {.shapes = shapes, .count = count, .best_cost = INFINITY};

	shaped_try(&p, 0, 0);
	return p;
}

/*
 * The noise of a partition, in the caller's memory: each group's share by its
 * cube root.
 */
static inline DpermNoise
shaped_noise(const ShapedPartition *p, DpermShape *shapes, DpermNoiseGroup *groups)
{
	DpermNoise	noise = {.shapes = shapes, .groups = groups, .spread = pow(p->best_cost, 3)};

	for (int i = 0; i < p->count; i++)
	{
		DpermNoiseGroup *group = &groups[noise.group_count];

		*group = (DpermNoiseGroup) {.first = noise.shape_count, .share = shaped_cost(p, p->best, i) / p->best_cost};
		for (int j = 0; j < p->count; j++)
			if (p->best[j] == i)
			{
				shapes[noise.shape_count++] = p->shapes[j];
				group->count++;
				group->dim += p->shapes[j].count;
			}
		noise.group_count += group->count > 0;
	}
	return noise;
}

/* Draws to compare with a law, and a callback for the p-values. */
typedef struct ShapedSample
{
	const DpermNoise *noise;
	int			dim;
	double		scale;
	int			count;
	const double *b;			/* count vectors of dim */
	void		(*report) (void *arg, const char *what, double p);
	void	   *arg;
} ShapedSample;

/* Two-sided p-value of a standard normal. */
static inline double
shaped_normal_p(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

/* Correlation of uniform numbers, as a standard normal. */
static inline double
shaped_relation(const double *x, const double *y, int count)
{
	double		sum = 0;

	for (int i = 0; i < count; i++)
		sum += (x[i] - 0.5) * (y[i] - 0.5) * 12;
	return sum / sqrt(count);
}

/*
 * The rank of a direction in a part among all directions, by one coordinate:
 * uniform.
 */
static inline double
shaped_direction(const ShapedPart *part, const double *b, int at, double gauge)
{
	double		share = b[part->first + at % part->count * part->stride] / (gauge * part->radius);

	return part->ball ? direction_cdf(part->count, share) : 1 - pow(1 - fmin(1, fabs(share)), part->count - 1);
}

/*
 * One group: its norm, the part that touches the border, the other parts, their
 * directions, and that they are unrelated.
 */
static inline void
shaped_check_group(const ShapedSample *s, int group, double *norms)
{
	const DpermNoiseGroup *g = &s->noise->groups[group];
	ShapedPart *parts = malloc(sizeof(ShapedPart) * (size_t) g->dim);
	int64_t    *touching = calloc((size_t) g->dim, sizeof(int64_t));
	double	   *expected = malloc(sizeof(double) * (size_t) g->dim);
	double	   *room = malloc(sizeof(double) * (size_t) s->count * 3);
	double	   *depths = room + s->count;
	double	   *directions = depths + s->count;
	int			count = 0;
	int			depth_count = 0;
	int			direction_count = 0;
	double		depth_relation = 0;
	double		direction_relation = 0;

	for (int i = g->first; i < g->first + g->count; i++)
		count += shaped_parts(&s->noise->shapes[i], parts + count);
	for (int i = 0; i < s->count; i++)
	{
		const double *b = s->b + (size_t) i * (size_t) s->dim;
		int			some = (int) ((uint64_t) i * 7919 % (uint64_t) count);
		double		some_gauge = shaped_gauge(&parts[some], b);
		double		norm = 0;
		int			outermost = 0;

		for (int j = 0; j < count; j++)
		{
			double		gauge = shaped_gauge(&parts[j], b);

			if (gauge > norm)
				outermost = j;
			norm = fmax(norm, gauge);
		}
		touching[outermost]++;
		norms[i] = room[i] = 1 - gamma_upper(g->dim, norm * g->share / s->scale);
		if (some != outermost)
		{
			depths[depth_count] = pow(some_gauge / norm, parts[some].count);
			depth_relation += (depths[depth_count++] - 0.5) * (norms[i] - 0.5) * 12;
		}
		if (parts[some].count > 1)
		{
			directions[direction_count] = shaped_direction(&parts[some], b, i / count, some_gauge);
			direction_relation += (directions[direction_count++] - 0.5) * (norms[i] - 0.5) * 12;
		}
	}
	s->report(s->arg, "radius", uniform_p(room, s->count));
	s->report(s->arg, "radii of two calls", shaped_normal_p(shaped_relation(norms, norms + 1, s->count - 1)));
	for (int j = 0; j < count; j++)
		expected[j] = (double) parts[j].count / g->dim;
	s->report(s->arg, "part at the border", counts_fit_p(touching, expected, count, s->count));
	if (depth_count > 0)
	{
		s->report(s->arg, "parts within", uniform_p(depths, depth_count));
		s->report(s->arg, "radius and parts within", shaped_normal_p(depth_relation / sqrt(depth_count)));
	}
	if (direction_count > 0)
	{
		s->report(s->arg, "direction", uniform_p(directions, direction_count));
		s->report(s->arg, "radius and direction", shaped_normal_p(direction_relation / sqrt(direction_count)));
	}
	free(parts);
	free(touching);
	free(expected);
	free(room);
}

/*
 * Signs are fair and independent between coordinates; the mean square is the
 * spread.
 */
static inline void
shaped_check_whole(const ShapedSample *s)
{
	double		signs = 0;
	double		pairs = 0;
	double		sum = 0;
	double		squares = 0;
	double		calls = 0;

	for (int i = 0; i < s->count; i++)
	{
		const double *b = s->b + (size_t) i * (size_t) s->dim;
		int			at = i % s->dim;
		double		square = 0;

		for (int j = 0; j < s->dim; j++)
			square += b[j] * b[j];
		sum += square;
		squares += square * square;
		signs += b[at] > 0 ? 1 : -1;
		pairs += b[at] * b[(at + 1 + i / s->dim % (s->dim > 1 ? s->dim - 1 : 1)) % s->dim] > 0 ? 1 : -1;
		calls += i > 0 ? b[at] * b[at - s->dim] > 0 ? 1 : -1 : 0;
	}
	s->report(s->arg, "signs", shaped_normal_p(signs / sqrt(s->count)));
	s->report(s->arg, "signs of two calls", shaped_normal_p(calls / sqrt(s->count - 1)));
	if (s->dim > 1)
		s->report(s->arg, "pairs of signs", shaped_normal_p(pairs / sqrt(s->count)));
	sum /= s->count;
	squares = sqrt((squares / s->count - sum * sum) / s->count);
	s->report(s->arg, "mean square", shaped_normal_p((sum - s->noise->spread * s->scale * s->scale) / squares));
}

/* All comparisons. */
static inline void
shaped_check(const ShapedSample *s)
{
	double	   *norms[2] = {malloc(sizeof(double) * (size_t) s->count), malloc(sizeof(double) * (size_t) s->count)};

	for (int i = 0; i < s->noise->group_count; i++)
	{
		shaped_check_group(s, i, norms[i % 2]);
		if (i > 0)
			s->report(s->arg, "radii of two groups", shaped_normal_p(shaped_relation(norms[0], norms[1], s->count)));
	}
	shaped_check_whole(s);
	free(norms[0]);
	free(norms[1]);
}

#endif							/* DPERM_TEST_SHAPED_H */
