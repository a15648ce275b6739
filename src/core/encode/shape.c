/*
 * shape.c: the public sets that contain the parts of an encoded row. Trusted.
 */
#include "core/encode/encoder.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "core/base/core.h"

/* Allows for the rounding of a computed radius; docs/guarantee.md, Lemma 13. */
#define RADIUS_NUDGE (1 + 16 * DBL_EPSILON)

/*
 * The shape that a coordinate is in, of norm at most target: of a part of a block, of all
 * features of a kernel, or of the intercept, which follows the lines in rows that are
 * stored.
 */
static DpermShape
shape_at(const DpermEncoder *enc, int coordinate, double target, DpermPart *part)
{
	int			features = enc->kernel.features;
	const DpermBlock *block = dperm_encoder_block(enc, &coordinate);
	bool		box = block && block->kind == DPERM_BLOCK_BOX && block->each == 0;
	int			knots = block ? dperm_block_knots(block) : 1;
	int			count = knots > 1 ? knots : block ? block->count : 1;

	*part = block ? dperm_block_part(block) : DPERM_PART_LINE;
	if (coordinate < features)
		return (DpermShape) {
			.kind = DPERM_SHAPE_DISCS, .count = features,
			.radius = target * sqrt(2.0 / features) * RADIUS_NUDGE
		};
	return (DpermShape) {
		/* in one dimension all of them are intervals, so use one name */
		.kind = count == 1 || box ? DPERM_SHAPE_BOX :
			block->kind == DPERM_BLOCK_VECTOR ? DPERM_SHAPE_BALL : DPERM_SHAPE_CROSS,
		.count = count,
		.radius = block ? dperm_encoder_most(block, target) : target
	};
}

/* The shapes of an encoder, in the order of its coordinates. */
int
dperm_shape_list(const DpermEncoder *enc, bool as_stored, DpermShape *out)
{
	double		target = dperm_encoder_target(enc);
	int			dim = dperm_encoder_dim(enc);
	int			count = 0;
	int			first = 0;

	for (int turn = 0; turn < (as_stored ? DPERM_PARTS : 1); turn++)
		for (int at = 0, size; at < dim; at += size)
		{
			DpermPart	part;
			DpermShape	shape = shape_at(enc, at, target, &part);

			size = shape.count;
			if (as_stored && part != (DpermPart) turn)
				continue;
			shape.first = first;
			first += size;
			out[count++] = shape;
		}
	return count;
}

/* The shapes of vectors that one encoder produced and another encodes. */
int
dperm_shape_list_within(const DpermEncoder *inner, const DpermEncoder *outer, DpermShape *out)
{
	double		target = dperm_encoder_target(outer);
	int			count = dperm_shape_list(inner, false, out);

	for (int i = 0; i < count; i++)
		out[i].radius *= target / outer->blocks[0].norm * RADIUS_NUDGE;
	if (outer->intercept)
		out[count++] = (DpermShape) {
			.kind = DPERM_SHAPE_BOX, .first = outer->blocks[0].count, .count = 1, .radius = target
		};
	return count;
}

/*
 * Is the sum of squares of coordinates, stride apart, at most the square of the
 * radius, in exact arithmetic?
 */
static bool
within_ball(const double *x, int count, int stride, double radius)
{
	double		sum = 0;

	for (int i = 0; i < count; i++)
		sum += x[i * stride] * x[i * stride];
	return sum * (1 + (count / 2.0 + 2) * DBL_EPSILON) <= radius * radius;
}

/*
 * Is the sum of absolute values at most the radius, in exact arithmetic? Usually no more
 * than two of them are not zero, as for a category or a curve. Then nothing is rounded
 * that matters: the difference is exact if the largest value is at least half the radius
 * (Sterbenz' lemma), else it is larger than the other one.
 */
static bool
within_cross(const double *x, int count, double radius)
{
	double		largest = 0;
	double		rest = 0;
	int			others = 0;

	for (int i = 0; i < count; i++)
	{
		double		size = fabs(x[i]);

		if (!(size <= radius))
			return false;
		others += fmin(size, largest) > 0;
		rest += fmin(size, largest);
		largest = fmax(size, largest);
	}
	return rest * (others > 1 ? 1 + (others + 1) * DBL_EPSILON : 1) <= radius - largest;
}

/* A box has a part for each coordinate, discs one for each pair. */
static int
parts_of(const DpermShape *shape)
{
	return shape->kind == DPERM_SHAPE_BOX ? shape->count :
		shape->kind == DPERM_SHAPE_DISCS ? shape->count / 2 : 1;
}

/* Is a vector in a shape? NaN is in none. */
bool
dperm_shape_contains(const DpermShape *shape, const double *x)
{
	bool		round = shape->kind == DPERM_SHAPE_BALL || shape->kind == DPERM_SHAPE_DISCS;
	int			parts = parts_of(shape);
	int			each = shape->count / parts;

	x += shape->first;
	for (int i = 0; i < parts; i++)
		if (!(round ? within_ball(x + i, each, parts, shape->radius) :
			  within_cross(x + i, each, shape->radius)))
			return false;
	return true;
}

/* The mean squared norm of a point that is uniform in the shape. */
double
dperm_shape_mean_square(const DpermShape *shape)
{
	double		parts = parts_of(shape);
	double		k = shape->count / parts;
	double		square = shape->radius * shape->radius;

	return shape->kind == DPERM_SHAPE_CROSS ? square * 2 * k / ((k + 1) * (k + 2)) :
		square * parts * k / (k + 2);
}

/* The largest norm in the shape. */
double
dperm_shape_norm(const DpermShape *shape)
{
	return shape->radius * sqrt(parts_of(shape));
}

DPERM_WORDS(dperm_shape_name, "ball", "box", "cross", "discs");
