/*
 * knots.c: a number as a point of a curve.
 */
#include "core/encode/knots.h"

#include <math.h>
#include <stddef.h>

#include "core/base/core.h"

/* What is wrong with the bounds and knots of a number, or NULL. */
const char *
dperm_knots_fault(const DpermBlock *block)
{
	const double *knots = block->knots;
	int			last = block->count - 1;

	if (!dperm_block_are_bounds(block->low, block->high))
		return "the bounds of a number are out of order";
	if (block->log && block->kind != DPERM_BLOCK_NUMBER)
		return "only a number has a scale";
	if (!(dperm_block_scaled(block, block->low) < dperm_block_scaled(block, block->high)))
		return "the bounds of a number are the same on its scale";
	if (block->count < 1 || block->count > DPERM_DIM_MAX)
		return "the number of knots is out of range";
	if (knots == NULL)
		return NULL;
	if (block->log)
		return "listed knots have no scale";
	if (last < 1 || knots[0] != block->low || knots[last] != block->high)
		return "the knots of a number do not begin and end at its bounds";
	for (int i = 0; i < last; i++)
		if (!dperm_block_are_bounds(knots[i], knots[i + 1]))
			return "the knots of a number are out of order";
	return NULL;
}

/* The position of one of several even knots, which are even on the scale of the number. */
static double
even_position(const DpermBlock *block, int i)
{
	int			last = block->count - 1;
	double		low = dperm_block_scaled(block, block->low);
	double		high = dperm_block_scaled(block, block->high);

	if (i == 0 || i == last)
		return i == 0 ? block->low : block->high;
	return dperm_block_unscaled(block, low + (high - low) * i / last);
}

/* The position of a knot. */
double
dperm_knots_position(const DpermBlock *block, int i)
{
	return block->knots ? block->knots[i] : even_position(block, i);
}

/* Are the knots at even distances? */
bool
dperm_knots_are_even(const DpermBlock *block)
{
	DpermBlock	number = block->each > 0 ? dperm_block_element(block, 0) : *block;

	for (int i = 0; number.knots && i < number.count; i++)
		if (number.knots[i] != even_position(&number, i))
			return false;
	return true;
}

/* Let even knots be no list. */
void
dperm_knots_settle(DpermBlock *block)
{
	if (dperm_block_part_count(block) > 1 && block->bounds == NULL && dperm_knots_are_even(block))
		block->knots = NULL;
}

/*
 * The entry of the first of two knots, for a number that is this share of the
 * way from it to the second. The larger entry is rounded and lies between half
 * the target and the target, so that the difference to the target is exact: it
 * is the other entry.
 */
static double
split(double share, double target)
{
	double		larger = target * fmax(share, 1 - share);

	return share > 0.5 ? target - larger : larger;
}

/* The place of a straight line's number among even knots. */
int
dperm_knots_bend(int count, double line, double target, double *entry)
{
	/* line is no larger than target, so the quotient is in [-1, 1] */
	double		way = (line / target + 1) / 2 * (count - 1);
	int			place = (int) way;

	if (place > count - 2)
		place = count - 2;
	*entry = split(way - place, target);
	return place;
}

/* The place of a number among listed knots, by bisection. */
static int
place_in_list(const DpermBlock *block, double x, double target, double *entry)
{
	const double *knots = block->knots;
	double		clamped = fmax(block->low, fmin(block->high, x));
	int			place = 0;
	int			after = block->count - 1;
	double		share;

	while (after - place > 1)
	{
		int			middle = (place + after) / 2;

		if (knots[middle] <= clamped)
			place = middle;
		else
			after = middle;
	}
	share = (clamped - knots[place]) / (knots[after] - knots[place]);
	*entry = split(fmin(share, 1), target);
	return place;
}

/* The place of a number among the knots. */
int
dperm_knots_place(const DpermBlock *block, const DpermValue *value, double target, double *entry)
{
	*entry = 0;
	if (!value->present || isnan(value->number))
		return -1;
	if (block->knots)
		return place_in_list(block, value->number, target, entry);
	return dperm_knots_bend(block->count, target * dperm_block_line(block, value->number), target,
							entry);
}

/* The place of one of the numbers of a block. */
int
dperm_knots_place_part(const DpermBlock *block, const DpermValue *value, int i, double target,
					   double *entry)
{
	DpermBlock	element;
	DpermValue	number = {.present = value->present};

	if (block->each == 0)
		return dperm_knots_place(block, value, target, entry);
	element = dperm_block_element(block, i);
	if (value->present)
		number.number = value->vector[i];
	return dperm_knots_place(&element, &number, target, entry);
}
