/*
 * domain_narrow.c: is one domain contained in another, or apart from it?
 */
#include "postgres.h"

#include <math.h>

#include "column/domain_narrow.h"
#include "core/encode/encoder.h"

/*
 * Is a category in a list? The search starts at *at, which becomes its
 * position.
 */
static bool
has_category(const DpermBlock *block, const DpermText *category, int *at)
{
	for (int i = 0; i < block->count; i++)
	{
		const DpermText *one = &block->categories[*at];

		if (one->len == category->len && memcmp(one->bytes, category->bytes, one->len) == 0)
			return true;
		*at = (*at + 1) % block->count;
	}
	return false;
}

/* Are the ranges of all elements subsets? */
static bool
box_within(const DpermBlock *outer, const DpermBlock *inner)
{
	for (int i = 0; i < dperm_block_elements(inner); i++)
		if (dperm_block_low(inner, i) < dperm_block_low(outer, i) ||
			dperm_block_high(inner, i) > dperm_block_high(outer, i))
			return false;
	return true;
}

/* What is not contained in the other domain, or NULL. */
const char *
dperm_domain_narrow_fault(const DpermBlock *outer, const DpermBlock *inner)
{
	int			at = 0;			/* usually both lists are in the same order */

	if (inner->kind != outer->kind)
		return "kind";
	switch (inner->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return inner->low < outer->low || inner->high > outer->high ? "range" : NULL;
		case DPERM_BLOCK_FLAG:
			return NULL;
		case DPERM_BLOCK_CATEGORY:
			for (int i = 0; i < inner->count; i++)
				if (!has_category(outer, &inner->categories[i], &at))
					return "list of categories";
			return NULL;
		case DPERM_BLOCK_VECTOR:
			return inner->count != outer->count ? "dimension" :
				   inner->norm > outer->norm	? "norm" :
												  NULL;
		case DPERM_BLOCK_BOX:
			return dperm_block_elements(inner) != dperm_block_elements(outer) ? "dimension" :
				   box_within(outer, inner) ? NULL : "range";
	}
	return "kind";
}

/* Have two ranges nothing but a bound in common? */
static bool
ranges_apart(double low, double high, double other_low, double other_high)
{
	return high <= other_low || low >= other_high;
}

/* Is this so for all elements of two vectors? */
static bool
boxes_apart(const DpermBlock *one, const DpermBlock *other)
{
	if (dperm_block_elements(one) != dperm_block_elements(other))
		return true;
	for (int i = 0; i < dperm_block_elements(one); i++)
		if (!ranges_apart(dperm_block_low(one, i), dperm_block_high(one, i),
						  dperm_block_low(other, i), dperm_block_high(other, i)))
			return false;
	return true;
}

/* Is a category how PostgreSQL writes a number? "01" and "one" are not. */
static bool
is_number_text(const char *text)
{
	if (strcmp(text, "NaN") == 0)
		return true;
	text += *text == '-';
	if (text[0] == '0' && text[1] != '.' && text[1] != '\0')
		return false;
	return *text >= '0' && *text <= '9' && text[strspn(text, "0123456789.")] == '\0';
}

/*
 * Are all categories of a list that are numbers beyond the bounds of a range:
 * each beyond either, or all beyond the same one, which they are clamped to?
 */
static bool
numbers_apart(const DpermBlock *range, const DpermBlock *list, bool clamped)
{
	int			below = 0;
	int			above = 0;
	int			at_bound = 0;

	for (int i = 0; i < list->count; i++)
	{
		char	   *text = pnstrdup(list->categories[i].bytes, list->categories[i].len);
		double		number = is_number_text(text) ? strtod(text, NULL) : -INFINITY;

		below += number <= range->low;
		above += number >= range->high;
		at_bound += number == range->low || number == range->high;
	}
	return clamped ? below == list->count || above == list->count :
					 below + above == list->count && at_bound == 0;
}

/* Do the domain of a model and that of a column have no value in common? */
bool
dperm_domain_narrow_disjoint(const DpermBlock *model, const DpermBlock *column)
{
	int			at = 0;

	if (model->kind == DPERM_BLOCK_NUMBER && column->kind == DPERM_BLOCK_CATEGORY)
		return numbers_apart(model, column, true);
	if (model->kind == DPERM_BLOCK_CATEGORY && column->kind == DPERM_BLOCK_NUMBER)
		return numbers_apart(column, model, false);
	if (model->kind != column->kind)
		return false;
	switch (model->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return ranges_apart(model->low, model->high, column->low, column->high);
		case DPERM_BLOCK_CATEGORY:
			for (int i = 0; i < model->count; i++)
				if (has_category(column, &model->categories[i], &at))
					return false;
			return true;
		case DPERM_BLOCK_BOX:
			return boxes_apart(model, column);
		default:
			return false;
	}
}
