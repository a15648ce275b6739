/*
 * encoder.h: from the values of a row to a vector inside the unit ball. Trusted.
 *
 * Each column is a block of coordinates of norm at most 1 (docs/guarantee.md,
 * "Encoding"); B blocks and the intercept share the ball, so that the row is
 * divided by sqrt(B + 1). A vector of curves counts as a block for each of its
 * elements. Whatever the input, |x| <= 1 holds exactly, in real
 * arithmetic, for the resulting doubles: every step allows for its own
 * rounding. With a kernel, the encoded blocks are mapped to random features of
 * norm 1 (fourier.c), which share the ball with an intercept.
 *
 * A number between two neighbouring knots is written as two entries, one for
 * each of them, by linear interpolation: hat functions. The weights of a block
 * of knots are the points of a curve, so that a linear model of such blocks is
 * an additive model of the columns. Both entries have the sign of the target,
 * and they add up to it exactly, as the entries of a category do. A vector over
 * knots is one such number after the other. A number with a scale is interpolated
 * on it, and its knots are at even distances there.
 */
#ifndef DPERM_ENCODER_H
#define DPERM_ENCODER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/codec.h"
#include "core/base/host.h"

typedef enum DpermBlockKind
{
	/* clamped to [low, high], mapped to [-1, 1], or to hats over knots */
	DPERM_BLOCK_NUMBER = 0,
	DPERM_BLOCK_TIME = 1,		/* the same, in days since 2000-01-01, or of a day */
	DPERM_BLOCK_FLAG = 2,		/* -1 or +1 */
	DPERM_BLOCK_CATEGORY = 3,	/* one-hot; all zeros for an unlisted value */
	DPERM_BLOCK_VECTOR = 4,		/* divided by norm, clipped to norm 1 */
	DPERM_BLOCK_BOX = 5			/* a vector whose elements are clamped and mapped like numbers */
} DpermBlockKind;

typedef struct DpermBlock
{
	DpermBlockKind kind;
	/* coordinates: 1, knots, number of categories, or dimension, times the knots of each */
	int			count;
	int			each;			/* BOX: the knots of each element, 2 or more; 0: it is straight */
	/*
	 * NUMBER, TIME: is the number of knots left to the rule, which needs n? Until then
	 * it is 1, a straight line.
	 */
	bool		open;
	bool		log;			/* NUMBER: does x count as sign(x) log(1 + |x|)? */
	DpermText	column;			/* empty for an array that is not a column */
	double		low;			/* NUMBER, TIME; BOX: of all elements, unless there are bounds */
	double		high;
	/* listed knots of a number, or of each element; NULL: they are at even distances */
	const double *knots;
	double		norm;			/* VECTOR */
	const DpermText *categories;	/* CATEGORY: count of them */
	const double *bounds;		/* BOX: low and high of each element, or NULL */
} DpermBlock;

/* The value of a column in one row. */
typedef struct DpermValue
{
	bool		present;		/* false: a zero block */
	double		number;			/* NUMBER, TIME; FLAG: < 0 or > 0 */
	int			category;		/* CATEGORY: position, -1 for an unlisted value */
	const double *vector;		/* VECTOR, BOX: its elements */
} DpermValue;

/* Is a block a number or a time? */
static inline bool
dperm_block_is_number(const DpermBlock *block)
{
	return block->kind == DPERM_BLOCK_NUMBER || block->kind == DPERM_BLOCK_TIME;
}

/* The knots of a number, or of each element of a BOX: those of a curve; 1: straight. */
static inline int
dperm_block_knots(const DpermBlock *block)
{
	return dperm_block_is_number(block) ? block->count : block->each > 0 ? block->each : 1;
}

/* The elements of a vector, of as many knots each; a number is one. */
static inline int
dperm_block_elements(const DpermBlock *block)
{
	return dperm_block_is_number(block) ? 1 : block->count / dperm_block_knots(block);
}

/* Where the coordinates of a block are in rows, in this order (layout.h). */
typedef enum DpermPart
{
	DPERM_PART_PLAIN,
	DPERM_PART_LINE,			/* a straight number; the intercept follows */
	DPERM_PART_CODE,
	DPERM_PART_CURVE,
	DPERM_PARTS
} DpermPart;

static inline DpermPart
dperm_block_part(const DpermBlock *block)
{
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return DPERM_PART_CODE;
	if (dperm_block_knots(block) > 1)
		return DPERM_PART_CURVE;
	return dperm_block_is_number(block) ? DPERM_PART_LINE : DPERM_PART_PLAIN;
}

/* Element i of a BOX as a number; of a number, its bounds and knots. */
static inline DpermBlock
dperm_block_element(const DpermBlock *block, int i)
{
	return (DpermBlock) {
		.kind = DPERM_BLOCK_NUMBER,
		.count = dperm_block_knots(block),
		.low = block->bounds ? block->bounds[2 * i] : block->low,
		.high = block->bounds ? block->bounds[2 * i + 1] : block->high,
		.knots = block->knots
	};
}

/* The largest magnitude of bounds and knots; their differences are finite. */
#define DPERM_BOUND_MAX 1e300

/* In order and in range. */
static inline bool
dperm_block_are_bounds(double low, double high)
{
	return low < high && low >= -DPERM_BOUND_MAX && high <= DPERM_BOUND_MAX;
}

/* The share of the way from one bound to the other, clamped to [0, 1]. */
static inline double
dperm_block_share(double x, double low, double high)
{
	double		clamped = fmax(low, fmin(high, x));

	return (clamped - low) / (high - low);
}

/* A value on the scale of a number, which is odd and increasing. */
static inline double
dperm_block_scaled(const DpermBlock *block, double x)
{
	return block->log ? copysign(log1p(fabs(x)), x) : x;
}

/* The same of a number, on its scale. */
static inline double
dperm_block_way(const DpermBlock *block, double x)
{
	return dperm_block_share(dperm_block_scaled(block, x), dperm_block_scaled(block, block->low),
							 dperm_block_scaled(block, block->high));
}

/* The value of a knot, from 0; the last one is at count - 1. */
extern double dperm_encoder_knot(const DpermBlock *block, int i);

/* The value that is so many of some even steps from low to high, on the scale of the number. */
extern double dperm_encoder_even(const DpermBlock *block, int step, int steps);

/*
 * The position of a number, or of element i of a vector: the share of the way from
 * the first knot to the last one, where each step from knot to knot is as long; of a
 * straight line, from the lower bound to the upper one. Negative if there is no number.
 */
extern double dperm_encoder_position(const DpermBlock *block, const DpermValue *value, int i);

/*
 * From a position, which is there, to a point: it is between the knot that is returned
 * and the next one. *entry is the entry of the first of them, and what it leaves of the
 * target that of the second: that difference is exact, whatever was rounded before
 * (docs/guarantee.md, Lemma 1). steps is the number of knots less 1.
 */
static inline int
dperm_knots_point(double position, double steps, double target, double *entry)
{
	double		way = position * steps;
	double		most = steps - 0.5; /* before the last knot */
	int			place = (int) (way < most ? way : most);

	*entry = target - target * (way - place);
	return place;
}

/* The entry of a straight line: a multiple of the target, between -1 and 1. */
static inline double
dperm_knots_line(double position, double target)
{
	return position < 0 ? 0 : target * (2 * position - 1);
}

/* The parameters of a kernel. */
typedef enum DpermKernelKind
{
	DPERM_KERNEL_LINEAR = 0,	/* none */
	DPERM_KERNEL_GAUSSIAN = 1,
	DPERM_KERNEL_LAPLACIAN = 2,
	DPERM_KERNEL_CAUCHY = 3,
	DPERM_KERNEL_MATERN = 4
} DpermKernelKind;

typedef struct DpermKernel
{
	DpermKernelKind kind;
	double		gamma;			/* bandwidth, > 0 */
	int			features;		/* D, even */
	int64_t		seed;			/* public */
} DpermKernel;

#define DPERM_GAMMA_MIN 1e-6
#define DPERM_GAMMA_MAX 1e6

/* The range of the public norm bound; its inverse and its square are finite. */
#define DPERM_NORM_MIN 1e-100
#define DPERM_NORM_MAX 1e100

typedef struct DpermEncoder
{
	int			block_count;
	const DpermBlock *blocks;
	bool		intercept;		/* a constant coordinate comes last */
	DpermKernel kernel;
} DpermEncoder;

/* Coordinates of the blocks, before a kernel. */
extern int	dperm_encoder_linear_dim(const DpermEncoder *enc);

/* Trained dimension: the blocks or the kernel's features, and the intercept. */
extern int	dperm_encoder_dim(const DpermEncoder *enc);

/* Are numbers left to the rule of knots? */
extern bool dperm_encoder_is_open(const DpermEncoder *enc);

/*
 * The encoder with so many knots for these numbers, 1 for straight lines, in memory of
 * the host. Its dimension may be too large for an encoder.
 */
extern DpermEncoder dperm_encoder_with_knots(const DpermEncoder *enc, int knots);

/* NULL if every field is in range, else what is wrong. */
extern const char *dperm_encoder_fault(const DpermEncoder *enc);

/*
 * The block of a trained coordinate, from 0, which becomes its position in the block; NULL
 * for the intercept and for a kernel's feature.
 */
extern const DpermBlock *dperm_encoder_block(const DpermEncoder *enc, int *coordinate);

/*
 * Write the dperm_encoder_dim() coordinates of one row to out, times sign (-1
 * or +1). frequencies are the kernel's (NULL without one), room is
 * dperm_encoder_linear_dim() doubles (unused without a kernel).
 */
extern void dperm_encoder_encode(const DpermEncoder *enc, const double *frequencies,
						 const DpermValue *values, double sign, double *out, double *room);

/*
 * Encode one block, each of its parts with norm at most |target|, into its count
 * coordinates; and the target of each part of an encoder and of its intercept, or of all
 * features of its kernel and of its intercept.
 */
extern void dperm_encoder_encode_block(const DpermBlock *block, const DpermValue *value,
									   double target, double *out);
extern double dperm_encoder_target(const DpermEncoder *enc);

/*
 * The factor by which a vector is multiplied to be encoded: target divided by its bound or
 * its norm. 0 if that is not enough: for squares that overflow, and elements that are not
 * finite.
 */
extern double
dperm_encoder_vector_factor(const DpermBlock *block, const double *raw, double target);

/*
 * The bound on each coordinate of a block, of parts of norm at most |target|: no encoded
 * coordinate exceeds it in absolute value, and for a straight BOX count times its square
 * is at most the square of target, exactly.
 */
extern double dperm_encoder_most(const DpermBlock *block, double target);

/* With a kernel: write its dperm_encoder_linear_dim() inputs. */
extern void
dperm_encoder_encode_inputs(const DpermEncoder *enc, const DpermValue *values, double *out);

/*
 * The frequencies of a kernel for inputs of dim coordinates, in memory of the host: D/2
 * rows of dim, so none without a kernel. Only +, -, *, /, sqrt and integer arithmetic are
 * used, so that the result is the same on every IEEE machine.
 */
extern double *dperm_fourier_make(const DpermKernel *kernel, int dim);

/*
 * Write the D features of each of count vectors, of norm at most |target|, with the sign
 * of target: row after row, D + extra doubles apart.
 */
extern void dperm_fourier_map_rows(const DpermKernel *kernel, const double *frequencies, int dim,
								   int count, const double *x, double target, int extra,
								   double *out);

/* "gaussian", ...; "linear" means no kernel. */
extern const char *dperm_encoder_kernel_name(int kind);

/*
 * "number", "time", "boolean", "category", "vector"; a BOX is a "vector" too,
 * and has a range in place of a norm
 */
extern const char *dperm_encoder_kind_name(int kind);

/* "linear", "log" */
extern const char *dperm_encoder_scale_name(int log);

/*
 * Its forms: encoder.c describes them, as part of a model, and as bytes by
 * themselves. What is read from bytes points into them.
 */
extern void dperm_encoder_form_visit(DpermCodec *c, DpermEncoder *enc);
extern void dperm_encoder_form_features(DpermCodec *c, const char *key, DpermEncoder *enc);
extern DpermText dperm_encoder_form_write(const DpermEncoder *enc);
extern const char *dperm_encoder_form_read(DpermText bytes, DpermEncoder *out);

/*
 * The public sets that contain the parts of an encoded row. The possible rows fill only a
 * small part of the unit ball: a number lies in an interval, a category on one of a few
 * axes. Noise that hides one row has to cover only that part (docs/guarantee.md, "Shapes").
 */

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

#endif							/* DPERM_ENCODER_H */
