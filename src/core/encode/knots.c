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

/* One of several even knots, which are even on the scale of the number. */
static double
even_value(const DpermBlock *block, int i)
{
	int			last = block->count - 1;
	double		low = dperm_block_scaled(block, block->low);
	double		high = dperm_block_scaled(block, block->high);

	if (i == 0 || i == last)
		return i == 0 ? block->low : block->high;
	return dperm_block_unscaled(block, low + (high - low) * i / last);
}

/* The value of a knot. */
double
dperm_knots_value(const DpermBlock *block, int i)
{
	return block->knots ? block->knots[i] : even_value(block, i);
}

/* Are the knots at even distances? */
bool
dperm_knots_are_even(const DpermBlock *block)
{
	DpermBlock	number = block->each > 0 ? dperm_block_element(block, 0) : *block;

	for (int i = 0; number.knots && i < number.count; i++)
		if (number.knots[i] != even_value(&number, i))
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

/* The position of a number among listed knots, by bisection. */
static double
position_in_list(const DpermBlock *block, double clamped)
{
	const double *knots = block->knots;
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
	return fmin((place + share) / (block->count - 1), 1);
}

/* The position of a number. */
static double
position_of(const DpermBlock *block, double x)
{
	double		clamped = fmax(block->low, fmin(block->high, x));

	if (isnan(x))
		return DPERM_KNOTS_NONE;
	if (block->knots)
		return position_in_list(block, clamped);
	return dperm_block_share(dperm_block_scaled(block, x), dperm_block_scaled(block, block->low),
							 dperm_block_scaled(block, block->high));
}

/* The position of one of the numbers of a block. */
double
dperm_knots_position(const DpermBlock *block, const DpermValue *value, int i)
{
	DpermBlock	element;

	if (!value->present)
		return DPERM_KNOTS_NONE;
	if (dperm_block_is_number(block))
		return position_of(block, value->number);
	element = dperm_block_element(block, i);
	return position_of(&element, value->vector[i]);
}

/* The place of one of the numbers of a block. */
int
dperm_knots_place(const DpermBlock *block, const DpermValue *value, int i, double target,
				  double *entry)
{
	double		position = dperm_knots_position(block, value, i);

	*entry = 0;
	return position < 0 ? -1 :
		dperm_knots_point(position, dperm_block_part_count(block) - 1, target, entry);
}
