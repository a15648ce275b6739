/*
 * domain_apart.c: can a column have no value that a model knows?
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

#include "base/message.h"
#include "column/domain_apart.h"
#include "column/domain_types.h"
#include "column/reader.h"
#include "core/encode/encoder.h"

/* Have two ranges nothing but a bound in common? */
static bool
ranges_apart(double low, double high, double other_low, double other_high)
{
	return high <= other_low || low >= other_high;
}

/* Is this so for a range and the numbers that a column has, by domain and type? */
static bool
column_apart(const DpermBlock *range, const DpermColumn *column)
{
	double		low,
				high;

	dperm_domain_types_limits(column->base, column->typmod, &low, &high);
	if (dperm_column_is_confined(column))
	{
		low = Max(low, column->block.low);
		high = Min(high, column->block.high);
	}
	return ranges_apart(range->low, range->high, low, high);
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

/* Are all numbers of a list beyond the same bound, which they are clamped to? */
static bool
numbers_apart(const DpermBlock *range, const DpermBlock *list)
{
	int			below = 0;
	int			above = 0;

	for (int i = 0; i < list->count; i++)
	{
		double		number = strtod(pnstrdup(list->categories[i].bytes, list->categories[i].len),
									NULL);

		below += number <= range->low;
		above += number >= range->high;
	}
	return below == list->count || above == list->count;
}

/*
 * The value of a column's type that is written like this, if there is one: "01"
 * is no integer that PostgreSQL writes, nor is "true" a boolean. An error of
 * the input function of a type that can be a feature leaves nothing behind.
 */
static bool
read_spelling(const DpermColumn *column, char *text, Datum *value)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool read = true;
	Oid			input,
				ioparam,
				output;
	bool		varlena;
	char	   *written;

	getTypeInputInfo(column->base, &input, &ioparam);
	PG_TRY();
	{
		*value = OidInputFunctionCall(input, text, ioparam, column->typmod);
	}
	PG_CATCH();
	{
		(void) dperm_message_data_error(context);
		read = false;
	}
	PG_END_TRY();
	if (!read)
		return false;
	getTypeOutputInfo(column->base, &output, &varlena);
	written = OidOutputFunctionCall(output, *value);
	written[dperm_category_length(column->base == BPCHAROID, written, strlen(written))] = '\0';
	return strcmp(written, text) == 0;
}

/* Is a text in a list of categories? */
static bool
is_category(const DpermBlock *block, const DpermText *text)
{
	for (int i = 0; i < block->count; i++)
		if (block->categories[i].len == text->len &&
			memcmp(block->categories[i].bytes, text->bytes, text->len) == 0)
			return true;
	return false;
}

/* Can a column have a value with this text? */
static bool
can_be(const DpermColumn *column, const DpermText *text)
{
	const DpermBlock *block = &column->block;
	Datum		value;
	double		number;

	if (column->known && !column->loose && block->kind == DPERM_BLOCK_CATEGORY)
		return is_category(block, text);
	if (!read_spelling(column, pnstrdup(text->bytes, text->len), &value))
		return false;
	if (!column->known || column->loose ||
		(block->kind != DPERM_BLOCK_NUMBER && block->kind != DPERM_BLOCK_TIME))
		return true;
	number = dperm_reader_number(dperm_reader_kind(column->base, block->kind), value);
	return !(number < block->low || number > block->high);
}

/* Can a column have none of these categories? */
static bool
categories_apart(const DpermBlock *model, const DpermColumn *column)
{
	for (int i = 0; i < model->count; i++)
		if (can_be(column, &model->categories[i]))
			return false;
	return true;
}

/* Can a column have no value that a model knows? */
bool
dperm_domain_apart(const DpermBlock *model, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;

	if (model->kind == DPERM_BLOCK_CATEGORY)
		return categories_apart(model, column);
	if (model->kind == DPERM_BLOCK_NUMBER && block->kind == DPERM_BLOCK_CATEGORY)
		return column->known && numbers_apart(model, block);
	if (model->kind != block->kind)
		return false;
	switch (model->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return column_apart(model, column);
		case DPERM_BLOCK_BOX:
			return column->known && boxes_apart(model, block);
		default:
			return false;
	}
}
