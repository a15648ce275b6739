/*
 * domain_narrow.c: is one domain contained in another?
 */
#include "postgres.h"

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
		if (dperm_block_same_text(&block->categories[*at], category))
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
