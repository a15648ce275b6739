/*
 * noise.c: groups of shapes, their shares of epsilon, and the draw.
 * Trusted.
 */
#include "core/mechanism/noise.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/base/host.h"

/* The best groups of the first shapes. */
typedef struct Best
{
	int			dim;			/* of these shapes */
	double		square;			/* mean square, summed likewise */
	double		cost;			/* of the groups; infinite if no group ends here */
	int			from;			/* where the last group begins */
} Best;

/*
 * The mean square of a shape per coordinate. Ordered by this ratio, the best
 * groups are contiguous.
 */
static double
square_ratio(const DpermShape *shape)
{
	return dperm_shape_mean_square(shape) / shape->count;
}

/* Copy the shapes, ordered by their ratio. There are few, so insertion sort will do. */
static void
sort_shapes(const DpermShape *shapes, int count, DpermShape *out)
{
	for (int i = 0; i < count; i++)
	{
		int			at = i;

		for (; at > 0 && square_ratio(&out[at - 1]) > square_ratio(&shapes[i]); at--)
			out[at] = out[at - 1];
		out[at] = shapes[i];
	}
}

/*
 * What the first "to" shapes without the first "from", as a group of dim coordinates,
 * add to the cube root of the spread: the cube root of the mean of |b|^2 at epsilon 1,
 * which is (dim+1)(dim+2) times the mean square of a point of its shapes. Its share is
 * proportional to the same number.
 */
static double
group_cost(const Best *best, int from, int to)
{
	double		dim = best[to].dim - best[from].dim;

	return cbrt((dim + 1) * (dim + 2) * (best[to].square - best[from].square));
}

/*
 * The best groups of the first shapes, however many these are. Of shapes with the
 * same ratio, they contain all or none.
 */
static const Best *
find_groups(const DpermShape *shapes, int count)
{
	Best	   *best = dperm_host_alloc(sizeof(Best) * ((size_t) count + 1));

	best[0] = (Best) {0};
	for (int to = 1; to <= count; to++)
	{
		best[to] = (Best) {
			.dim = best[to - 1].dim + shapes[to - 1].count,
			.square = best[to - 1].square + dperm_shape_mean_square(&shapes[to - 1]),
			.cost = INFINITY
		};
		if (to < count && square_ratio(&shapes[to]) == square_ratio(&shapes[to - 1]))
			continue;
		for (int from = 0; from < to; from++)
		{
			double		cost = best[from].cost;

			if (isfinite(cost))
				cost += group_cost(best, from, to);
			if (cost < best[to].cost)
			{
				best[to].cost = cost;
				best[to].from = from;
			}
		}
	}
	return best;
}

/* The largest squared norm in the shapes of a group. */
static double
largest_square(const DpermNoise *noise, const DpermNoiseGroup *group)
{
	double		sum = 0;

	for (int i = group->first; i < group->first + group->count; i++)
		sum += dperm_shape_norm(&noise->shapes[i]) * dperm_shape_norm(&noise->shapes[i]);
	return sum;
}

/*
 * The factor of a group of Gaussian noise: divided by it, rows have a squared
 * norm of at most the group's share, and so of at most 1 over all groups.
 */
static double
gaussian_factor(const DpermNoise *noise, const DpermNoiseGroup *group)
{
	return sqrt(largest_square(noise, group) / group->share);
}

void
dperm_noise_measure(DpermNoiseLaw law, DpermNoise *noise)
{
	noise->spread = 0;
	for (int i = 0; i < noise->group_count; i++)
	{
		DpermNoiseGroup *group = &noise->groups[i];
		double		square = 0;

		group->dim = 0;
		for (int j = group->first; j < group->first + group->count; j++)
		{
			group->dim += noise->shapes[j].count;
			square += dperm_shape_mean_square(&noise->shapes[j]);
		}
		noise->spread +=
			law == DPERM_LAW_GAUSSIAN ?
				group->dim * largest_square(noise, group) / group->share :
				(group->dim + 1.0) * (group->dim + 2.0) * square / (group->share * group->share);
	}
}

/* Write the best groups, the last of them first. */
static void
write_groups(DpermNoise *noise)
{
	int			count = noise->shape_count;
	const Best *best = find_groups(noise->shapes, count);
	int			at = 0;

	for (int to = count; to > 0; to = best[to].from)
		at++;
	noise->group_count = at;
	for (int to = count; to > 0; to = best[to].from)
		noise->groups[--at] = (DpermNoiseGroup) {
			.first = best[to].from,
			.count = to - best[to].from,
			.share = group_cost(best, best[to].from, to) / best[count].cost
		};
}

/*
 * Gaussian noise: every shape is a group, with a share proportional to its norm
 * times the root of its dimension.
 */
static void
write_gaussian(DpermNoise *noise)
{
	double		sum = 0;

	for (int i = 0; i < noise->shape_count; i++)
		sum += dperm_shape_norm(&noise->shapes[i]) * sqrt(noise->shapes[i].count);
	for (int i = 0; i < noise->shape_count; i++)
		noise->groups[i] = (DpermNoiseGroup) {
			.first = i,
			.count = 1,
			.share = dperm_shape_norm(&noise->shapes[i]) * sqrt(noise->shapes[i].count) / sum
		};
	noise->group_count = noise->shape_count;
}

const DpermNoise *
dperm_noise_plan(DpermNoiseLaw law, const DpermShape *shapes, int count)
{
	DpermNoise *noise;
	int			dim = 0;

	if (count == 0)
		return NULL;
	noise = dperm_host_alloc(sizeof(DpermNoise));
	noise->shape_count = count;
	noise->shapes = dperm_host_alloc(sizeof(DpermShape) * (size_t) count);
	noise->groups = dperm_host_alloc(sizeof(DpermNoiseGroup) * (size_t) count);
	sort_shapes(shapes, count, noise->shapes);
	if (law == DPERM_LAW_GAUSSIAN)
		write_gaussian(noise);
	else
		write_groups(noise);
	dperm_noise_measure(law, noise);
	for (int i = 0; i < noise->group_count; i++)
		dim += noise->groups[i].dim;

	/* a single vector is the ball, and its spread is the same up to rounding */
	return noise->spread <
		0.999999 * dperm_noise_spread(law, NULL, dim) ? noise : NULL;
}

/*
 * The mean of |b|^2 at scale 1; the norm of the ball is Gamma(dim), or its
 * square chi-squared.
 */
double
dperm_noise_spread(DpermNoiseLaw law, const DpermNoise *noise, int dim)
{
	return noise ? noise->spread : law == DPERM_LAW_GAUSSIAN ? dim : (double) dim * (dim + 1.0);
}

/*
 * The deviation of a coordinate is that of a normal number; or that of a uniform
 * point of its shape, times the root mean square of the radius, which is
 * Gamma(dim + 1).
 */
void
dperm_noise_deviations(DpermNoiseLaw law, const DpermNoise *noise, int dim, double *out)
{
	if (noise == NULL)
	{
		for (int i = 0; i < dim; i++)
			out[i] = sqrt(dperm_noise_spread(law, NULL, dim) / dim);
		return;
	}
	for (int i = 0; i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];

		for (int j = group->first; j < group->first + group->count; j++)
		{
			const DpermShape *shape = &noise->shapes[j];
			double		deviation = law == DPERM_LAW_GAUSSIAN ? gaussian_factor(noise, group) :
				sqrt((group->dim + 1.0) * (group->dim + 2.0) * square_ratio(shape)) / group->share;

			for (int k = 0; k < shape->count; k++)
				out[shape->first + k] = deviation;
		}
	}
}

/* Do two shapes have coordinates in common? */
static bool
overlap(const DpermShape *a, const DpermShape *b)
{
	return a->first < b->first + b->count && b->first < a->first + a->count;
}

/* What is wrong with a shape, or NULL. */
static const char *
shape_fault(const DpermShape *shape)
{
	if ((int) shape->kind < 0 || (int) shape->kind >= DPERM_SHAPE_KINDS || shape->count < 1 ||
		shape->count > DPERM_DIM_MAX || shape->first < 0 || shape->first > DPERM_DIM_MAX ||
		(shape->kind == DPERM_SHAPE_DISCS && shape->count % 2 != 0))
		return "a shape of the noise is out of range";
	return shape->radius > 0 && isfinite(shape->radius) ?
		NULL : "a radius of the noise is out of range";
}

/*
 * The groups follow one another. The shapes cover each coordinate once: none
 * overlaps another, and they add up.
 */
const char *
dperm_noise_fault(const DpermNoise *noise, int dim)
{
	double		shares = 0;
	int64_t		covered = 0;
	bool		once;
	int			next = 0;

	if (noise == NULL)
		return NULL;
	if (noise->shape_count < 1 || noise->shape_count > dim || noise->group_count < 1 ||
		noise->group_count > noise->shape_count)
		return "the number of groups of the noise is out of range";
	for (int i = 0; i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];

		if (group->first != next || group->count < 1 || group->count > noise->shape_count - next)
			return "the groups of the noise are out of order";
		if (!(group->share > 0 && group->share <= 1))
			return "a share of the noise is out of range";
		next += group->count;
		shares += group->share;
	}
	once = next == noise->shape_count;
	for (int i = 0; i < noise->shape_count; i++)
	{
		const DpermShape *shape = &noise->shapes[i];

		if (shape_fault(shape))
			return shape_fault(shape);
		covered += shape->count;
		once &= shape->first + shape->count <= dim;
		for (int j = 0; j < i; j++)
			once &= !overlap(shape, &noise->shapes[j]);
	}
	if (!once || covered != dim)
		return "the shapes of the noise do not cover each coordinate once";
	if (!(shares <= 1 + 1e-9))
		return "the shares of the noise add up to more than 1";
	return isfinite(noise->spread) && noise->spread > 0 ?
		NULL : "the spread of the noise is out of range";
}

/* A point that is uniform in a shape, times factor. */
static void
draw_in_shape(DpermEntropy *e, const DpermShape *shape, double factor, double *b)
{
	double		reach = factor * shape->radius;

	b += shape->first;
	switch (shape->kind)
	{
		case DPERM_SHAPE_BALL:
			dperm_draw_in_ball(e, shape->count, reach, b, 1);
			break;
		case DPERM_SHAPE_BOX:
			for (int i = 0; i < shape->count; i++)
				b[i] = reach * dperm_draw_between(e);
			break;
		case DPERM_SHAPE_CROSS:
			dperm_draw_in_cross(e, shape->count, reach, b);
			break;
		case DPERM_SHAPE_DISCS:
			for (int i = 0; i < shape->count / 2; i++)
				dperm_draw_in_ball(e, 2, reach, b + i, shape->count / 2);
			break;
	}
}

/* Normal numbers of one standard deviation. */
static void
draw_normals(DpermEntropy *e, int count, double scale, double *b)
{
	for (int i = 0; i < count; i++)
		b[i] = scale * dperm_draw_normal(e);
}

/*
 * One group: a common radius for all its shapes, and a point in each of them;
 * or normal numbers.
 */
static void
draw_group(DpermEntropy *e, DpermNoiseLaw law, const DpermNoise *noise,
		   const DpermNoiseGroup *group, double scale, double *b)
{
	double		factor = law == DPERM_LAW_GAUSSIAN ? scale * gaussian_factor(noise, group) :
		scale / group->share * dperm_draw_gamma(e, group->dim + 1);

	for (int i = group->first; i < group->first + group->count; i++)
		if (law == DPERM_LAW_GAUSSIAN)
			draw_normals(e, noise->shapes[i].count, factor, b + noise->shapes[i].first);
		else
			draw_in_shape(e, &noise->shapes[i], factor, b);
}

void
dperm_noise_draw(DpermEntropy *e, DpermNoiseLaw law, const DpermNoise *noise, int dim, double scale,
				 double *b)
{
	if (noise)
		for (int i = 0; i < noise->group_count; i++)
			draw_group(e, law, noise, &noise->groups[i], scale, b);
	else if (law == DPERM_LAW_GAUSSIAN)
		draw_normals(e, dim, scale, b);
	else
		dperm_draw_gamma_sphere(e, dim, scale, b);
}

/*
 * The draw in the ball, and those in shapes, stay below this (sections "Sampling
 * the noise" and "Sampling in shapes").
 */
double
dperm_noise_rounding(int dim)
{
	return (64 + dim) * DBL_EPSILON;
}

/*
 * Gaussian noise is bounded by the case in which all groups have the largest factor.
 * Else every group has its radius, and every shape its largest norm (section
 * "Sampling in shapes").
 */
double
dperm_noise_tail(DpermNoiseLaw law, const DpermNoise *noise, int dim, int blocks, double scale)
{
	double		factor = noise ? 0 : 1;
	double		sum = 0;

	if (law == DPERM_LAW_GAUSSIAN)
	{
		if (noise)
			for (int i = 0; i < noise->group_count; i++)
				factor = fmax(factor, gaussian_factor(noise, &noise->groups[i]));
		return scale * factor * sqrt(dperm_draw_chi_squared_tail(dim * blocks)) * (1 + 1e-9);
	}
	if (noise == NULL && blocks == 1)
		return dperm_draw_gamma_sphere_tail(dim, scale);
	if (noise == NULL)
		return scale * sqrt(blocks) * dperm_draw_gamma_tail(dim, log(blocks)) * (1 + 1e-9);
	for (int i = 0; i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];
		double		radius =
			scale / group->share *
			dperm_draw_gamma_tail(group->dim + 1, log((double) noise->group_count * blocks));

		sum += radius * radius * largest_square(noise, group);
	}
	return sqrt(sum * blocks) * (1 + 1e-9);
}
