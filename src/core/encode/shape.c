/*
 * shape.c: the public sets that contain the parts of an encoded row.
 */
#include "core/encode/shape.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* Allows for the rounding of a computed radius; docs/guarantee.md, Lemma 13. */
#define RADIUS_NUDGE (1 + 16 * DBL_EPSILON)

/*
 * The shape of a part of a block, of all features of a kernel, or of the intercept, whose
 * norm is at most target.
 */
static DpermShape
shape_of(const DpermEncoder *enc, const DpermCoordinate *what, double target)
{
	const DpermBlock *block = what->block;
	bool		box = block && block->kind == DPERM_BLOCK_BOX && block->each == 0;
	int			count = block ? dperm_block_part_count(block) : 1;
	int			features = enc->kernel.features;

	if (what->kernel)
		return (DpermShape) {
			.kind = DPERM_SHAPE_DISCS, .count = features,
			.radius = target * sqrt(2.0 / features) * RADIUS_NUDGE
		};
	return (DpermShape) {
		/* in one dimension all of them are intervals, so use one name */
		.kind = count == 1 || box ? DPERM_SHAPE_BOX :
			block->kind == DPERM_BLOCK_VECTOR ? DPERM_SHAPE_BALL : DPERM_SHAPE_CROSS,
		.count = count,
		.radius = box ? dperm_encoder_box_target(block, target) : target
	};
}

/* Where it is in rows that are stored; the intercept, which is last, follows the lines. */
static DpermPart
part_of(const DpermCoordinate *what)
{
	return what->block ? dperm_block_part(what->block) :
		   what->intercept ? DPERM_PART_LINE : DPERM_PART_PLAIN;
}

/* Append a shape. */
static void
append(DpermShape *out, int *count, DpermShape shape)
{
	shape.first = *count == 0 ? 0 : out[*count - 1].first + out[*count - 1].count;
	out[(*count)++] = shape;
}

/* The shapes of an encoder, in the order of its coordinates. */
int
dperm_shape_list(const DpermEncoder *enc, bool as_stored, DpermShape *out)
{
	double		target = dperm_encoder_target(enc);
	DpermCoordinate what;
	DpermShape	shape;
	int			count = 0;

	for (int part = 0; part < (as_stored ? DPERM_PARTS : 1); part++)
		for (int at = 0; dperm_encoder_coordinate(enc, at, &what); at += shape.count)
		{
			shape = shape_of(enc, &what, target);
			if (!as_stored || part_of(&what) == (DpermPart) part)
				append(out, &count, shape);
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
		append(out, &count, shape_of(outer, &(DpermCoordinate) {.intercept = true}, target));
	return count;
}

/* Is a shape one of an encoder's? */
bool
dperm_shape_belongs(const DpermEncoder *enc, const DpermShape *shape)
{
	DpermCoordinate what;
	DpermShape	own;

	if (!dperm_encoder_coordinate(enc, shape->first, &what))
		return false;
	own = shape_of(enc, &what, dperm_encoder_target(enc));
	return what.within % own.count == 0 && own.kind == shape->kind && own.count == shape->count &&
		   fabs(own.radius - shape->radius) <= 1e-9 * own.radius;
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
 * Is the sum of absolute values at most the radius, in exact arithmetic?
 * Usually no more than two of them are not zero, as for a category or a curve:
 * then the rounding of their sum is known exactly (Knuth's two-sum).
 */
static bool
within_cross(const double *x, int count, double radius)
{
	double		sum = 0;
	double		low = 0;
	int			others = 0;

	for (int i = 0; i < count; i++)
		if (x[i] != 0)			/* NaN, too */
		{
			double		more = fabs(x[i]);
			double		total = sum + more;
			double		part = total - sum;

			low += (sum - (total - part)) + (more - part);
			sum = total;
			others++;
		}
	if (others <= 2)
		return sum < radius || (sum == radius && low <= 0);
	return sum * (1 + others * DBL_EPSILON) <= radius;
}

/* Is a vector in a shape? NaN is in none. */
bool
dperm_shape_contains(const DpermShape *shape, const double *x)
{
	x += shape->first;
	switch (shape->kind)
	{
		case DPERM_SHAPE_BALL:
			return within_ball(x, shape->count, 1, shape->radius);
		case DPERM_SHAPE_BOX:
			for (int i = 0; i < shape->count; i++)
				if (!(fabs(x[i]) <= shape->radius))
					return false;
			return true;
		case DPERM_SHAPE_CROSS:
			return within_cross(x, shape->count, shape->radius);
		case DPERM_SHAPE_DISCS:
			for (int i = 0; i < shape->count / 2; i++)
				if (!within_ball(x + i, 2, shape->count / 2, shape->radius))
					return false;
			return true;
	}
	return false;
}

/* The mean squared norm of a point that is uniform in the shape. */
double
dperm_shape_mean_square(const DpermShape *shape)
{
	double		k = shape->count;
	double		square = shape->radius * shape->radius;

	switch (shape->kind)
	{
		case DPERM_SHAPE_BALL:
			return square * k / (k + 2);
		case DPERM_SHAPE_BOX:
			return square * k / 3;
		case DPERM_SHAPE_CROSS:
			return square * 2 * k / ((k + 1) * (k + 2));
		case DPERM_SHAPE_DISCS:
			return square * k / 4;
	}
	return 0;
}

/* The largest norm in the shape. */
double
dperm_shape_norm(const DpermShape *shape)
{
	switch (shape->kind)
	{
		case DPERM_SHAPE_BALL:
		case DPERM_SHAPE_CROSS:
			return shape->radius;
		case DPERM_SHAPE_BOX:
			return shape->radius * sqrt(shape->count);
		case DPERM_SHAPE_DISCS:
			return shape->radius * sqrt(shape->count / 2.0);
	}
	return 0;
}

static const char *const shape_names[DPERM_SHAPE_KINDS] = {"ball", "box", "cross", "discs"};

const char *
dperm_shape_name(int kind)
{
	return shape_names[kind];
}
