/*
 * shape.h: the public sets that contain the parts of an encoded row.
 *
 * The possible rows fill only a small part of the unit ball: a number lies in
 * an interval, a category on one of a few axes. Noise that hides one row has to
 * cover only that part (docs/guarantee.md, "Shapes").
 */
#ifndef DPERM_SHAPE_H
#define DPERM_SHAPE_H

#include <stdbool.h>

#include "core/encode/encoder.h"

/* Stored in models, so the numbers must not change. */
typedef enum DpermShapeKind
{
	DPERM_SHAPE_BALL = 0,		/* norm at most radius: a vector */
	/*
	 * each coordinate at most radius: a number, a boolean, the intercept, a
	 * vector with bounds
	 */
	DPERM_SHAPE_BOX = 1,
	DPERM_SHAPE_CROSS = 2,		/* sum of absolute values at most radius: a category, a curve */
	/*
	 * pairs of coordinates, half of them apart, of norm at most radius: a
	 * kernel
	 */
	DPERM_SHAPE_DISCS = 3
} DpermShapeKind;

#define DPERM_SHAPE_KINDS 4

typedef struct DpermShape
{
	DpermShapeKind kind;
	int			first;			/* the coordinates are first ... first + count - 1 */
	int			count;
	double		radius;
} DpermShape;

/*
 * The shapes of an encoder, one for each part of a block and the intercept, or for all
 * features of a kernel; returns how many, at most as many as coordinates. In the order of
 * the model, or of the coordinates of rows as they are stored (layout.h).
 */
extern int	dperm_shape_list(const DpermEncoder *enc, bool as_stored, DpermShape *out);

/*
 * The same for vectors that inner produces and outer, which has one vector and
 * no kernel, encodes again; at most one more than inner has coordinates.
 */
extern int
dperm_shape_list_within(const DpermEncoder *inner, const DpermEncoder *outer, DpermShape *out);

/* Is a shape one of an encoder's, up to the rounding of its radius? */
extern bool dperm_shape_belongs(const DpermEncoder *enc, const DpermShape *shape);

/*
 * Is a vector in a shape, in exact arithmetic? The answer may be no for a
 * vector just inside the boundary.
 */
extern bool dperm_shape_contains(const DpermShape *shape, const double *x);

/*
 * The mean squared norm of a point that is uniform in a shape; and the largest
 * norm.
 */
extern double dperm_shape_mean_square(const DpermShape *shape);
extern double dperm_shape_norm(const DpermShape *shape);

/* "ball", "box", "cross", "discs" */
extern const char *dperm_shape_name(int kind);

#endif							/* DPERM_SHAPE_H */
