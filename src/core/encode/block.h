/*
 * block.h: a column as a block of coordinates, and its value in one row.
 */
#ifndef DPERM_BLOCK_H
#define DPERM_BLOCK_H

#include <math.h>
#include <stdbool.h>

/* Bytes, not zero-terminated. */
typedef struct DpermText
{
	const char *bytes;
	int			len;
} DpermText;

typedef enum DpermBlockKind
{
	/* clamped to [low, high], mapped to [-1, 1], or to hats over knots */
	DPERM_BLOCK_NUMBER = 0,
	DPERM_BLOCK_TIME = 1,		/* the same, in days since 2000-01-01, or of a day */
	DPERM_BLOCK_FLAG = 2,		/* -1 or +1 */
	DPERM_BLOCK_CATEGORY = 3,	/* one-hot; all zeros for an unlisted value */
	DPERM_BLOCK_VECTOR = 4,		/* divided by norm, clipped to norm 1 */
	DPERM_BLOCK_BOX = 5			/* a vector whose coordinates are clamped and mapped like numbers */
} DpermBlockKind;

typedef struct DpermBlock
{
	DpermBlockKind kind;
	int			count;			/* coordinates: 1, knots, number of categories, or dimension */
	DpermText	column;			/* empty for an array that is not a column */
	double		low;			/* NUMBER, TIME; BOX: of all coordinates, unless there are bounds */
	double		high;
	/* NUMBER, TIME: the positions of count knots; NULL: at even distances */
	const double *knots;
	/* NUMBER, TIME: straight for now, and is bent when n is known (bend.h)? */
	bool		open;
	double		norm;			/* VECTOR */
	const DpermText *categories;	/* CATEGORY: count of them */
	const double *bounds;		/* BOX: low and high of each coordinate, or NULL */
} DpermBlock;

/* The value of a column in one row. */
typedef struct DpermValue
{
	bool		present;		/* false: a zero block */
	double		number;			/* NUMBER, TIME; FLAG: < 0 or > 0 */
	int			category;		/* CATEGORY: position, -1 for an unlisted value */
	const double *vector;		/* VECTOR, BOX: count numbers */
} DpermValue;

/* Is a block a number or a time? */
static inline bool
dperm_block_is_number(const DpermBlock *block)
{
	return block->kind == DPERM_BLOCK_NUMBER || block->kind == DPERM_BLOCK_TIME;
}

/* Is it a curve: a number over knots? */
static inline bool
dperm_block_is_curve(const DpermBlock *block)
{
	return dperm_block_is_number(block) && block->count > 1;
}

/* Finite, in order, and distinct even when halved. */
static inline bool
dperm_block_are_bounds(double low, double high)
{
	return isfinite(low) && isfinite(high) && low / 2 < high / 2;
}

/* Map a number from its bounds to [-1, 1]; halving avoids overflow. */
static inline double
dperm_block_between(double x, double low, double high)
{
	double		clamped = fmax(low, fmin(high, x));
	double		share = (clamped / 2 - low / 2) / (high / 2 - low / 2);

	return fmax(-1, fmin(1, 2 * share - 1));
}

#endif							/* DPERM_BLOCK_H */
