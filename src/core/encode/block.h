/*
 * block.h: a column as a block of coordinates, and its value in one row.
 */
#ifndef DPERM_BLOCK_H
#define DPERM_BLOCK_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/host.h"

/* Are two texts the same? */
static inline bool
dperm_block_same_text(const DpermText *a, const DpermText *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->bytes, b->bytes, (size_t) a->len) == 0);
}

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
	/* the positions of the knots of a number, or of each element; NULL: at even distances */
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

/* Is it a curve, a number over knots, or are its elements? */
static inline bool
dperm_block_is_curve(const DpermBlock *block)
{
	return (dperm_block_is_number(block) && block->count > 1) || block->each > 0;
}

/* Where the coordinates of a block are in rows, in this order (layout.h). */
typedef enum DpermPart
{
	DPERM_PART_NUMBER,
	DPERM_PART_LINE,			/* of an open number; the intercept follows */
	DPERM_PART_CODE,
	DPERM_PART_CURVE,
	DPERM_PART_OPEN,			/* of an open number, too */
	DPERM_PARTS
} DpermPart;

static inline DpermPart
dperm_block_part(const DpermBlock *block)
{
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return DPERM_PART_CODE;
	if (dperm_block_is_curve(block))
		return block->open ? DPERM_PART_OPEN : DPERM_PART_CURVE;
	return block->open ? DPERM_PART_LINE : DPERM_PART_NUMBER;
}

/*
 * How many parts of the ball a block takes: curves take one each, so a vector
 * of them is encoded as so many columns are.
 */
static inline int
dperm_block_parts(const DpermBlock *block)
{
	return block->each > 0 ? block->count / block->each : 1;
}

/* The coordinates of a part. */
static inline int
dperm_block_part_count(const DpermBlock *block)
{
	return block->each > 0 ? block->each : block->count;
}

/* The knots of a number, or of each element of a BOX; 1: straight. */
static inline int
dperm_block_knots(const DpermBlock *block)
{
	return dperm_block_is_number(block) ? block->count : block->each > 0 ? block->each : 1;
}

/* The elements of a vector. */
static inline int
dperm_block_elements(const DpermBlock *block)
{
	return block->each > 0 ? block->count / block->each : block->count;
}

/* The bounds of element i of a BOX. */
static inline double
dperm_block_low(const DpermBlock *block, int i)
{
	return block->bounds ? block->bounds[2 * i] : block->low;
}

static inline double
dperm_block_high(const DpermBlock *block, int i)
{
	return block->bounds ? block->bounds[2 * i + 1] : block->high;
}

/* Element i of a BOX as a number. */
static inline DpermBlock
dperm_block_element(const DpermBlock *block, int i)
{
	return (DpermBlock) {
		.kind = DPERM_BLOCK_NUMBER,
		.count = block->each > 0 ? block->each : 1,
		.low = dperm_block_low(block, i),
		.high = dperm_block_high(block, i),
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

/* Map a number from its bounds to [-1, 1]. */
static inline double
dperm_block_between(double x, double low, double high)
{
	return 2 * dperm_block_share(x, low, high) - 1;
}

/* A value on the scale of a number, which is odd and increasing, and back. */
static inline double
dperm_block_scaled(const DpermBlock *block, double x)
{
	return block->log ? copysign(log1p(fabs(x)), x) : x;
}

static inline double
dperm_block_unscaled(const DpermBlock *block, double scaled)
{
	return block->log ? copysign(expm1(fabs(scaled)), scaled) : scaled;
}

/* Map a value of a number, which is not NaN, to [-1, 1]. */
static inline double
dperm_block_line(const DpermBlock *block, double x)
{
	return dperm_block_between(dperm_block_scaled(block, x), dperm_block_scaled(block, block->low),
							   dperm_block_scaled(block, block->high));
}

/* The value that is mapped to 0. */
static inline double
dperm_block_middle(const DpermBlock *block)
{
	return dperm_block_unscaled(block, dperm_block_scaled(block, block->low) / 2 +
								dperm_block_scaled(block, block->high) / 2);
}

#endif							/* DPERM_BLOCK_H */
