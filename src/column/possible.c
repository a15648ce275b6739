/*
 * possible.c: the values that the rows of a column can have, by what is publicly
 * known.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/message.h"
#include "column/domain_types.h"
#include "column/possible.h"
#include "column/reader.h"
#include "core/base/limits.h"
#include "core/encode/encoder.h"

/* May rows be NULL although a column of a table is NOT NULL? */
static bool
is_unsure(Oid relation, AttrNumber number)
{
	/* before version 18, a child that is no partition may allow NULL */
	bool		unsure = get_rel_relkind(relation) != RELKIND_PARTITIONED_TABLE &&
		has_subclass(relation);
#if PG_VERSION_NUM >= 180000
	HeapTuple	tuple = findNotNullConstraintAttnum(relation, number);

	if (HeapTupleIsValid(tuple))
	{
		unsure |= !((Form_pg_constraint) GETSTRUCT(tuple))->convalidated;
		heap_freetuple(tuple);
	}
#endif
	return unsure;
}

/*
 * May a column be NULL? Views that are not materialized are of a single table:
 * others cannot be protected.
 */
static bool
may_be_null(const DpermColumn *column)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(column->relation),
										Int16GetDatum(column->home));
	bool		null = true;

	if (HeapTupleIsValid(tuple))
	{
		null = column->stale || !((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull ||
			is_unsure(column->relation, column->home);
		ReleaseSysCache(tuple);
	}
	return null;
}

/* The single-precision number next to a double; the compiler must not skip it. */
static pg_noinline double
single_of(double x)
{
	volatile float single = (float) x;

	return single;
}

/*
 * The least value of a column's type from a bound on, or above it if it is
 * excluded; then, *excluded becomes false. Types without a grid keep the bound.
 */
static double
first_from(const DpermColumn *column, double bound, bool *excluded)
{
	double		grid = dperm_domain_types_grid(column->base, column->typmod);
	double		steps = bound * grid;
	double		first;

	if (column->base == FLOAT4OID && isfinite(bound))
	{
		first = single_of(bound);
		if (first < bound)
			first = nextafterf((float) first, INFINITY);
	}
	else if (grid == 0 || !(fabs(steps) < DPERM_POSSIBLE_EXACT / (grid == 1 ? 1 : 4)))
		return bound;			/* steps may be rounded to another number */
	else if (rint(steps) / grid == bound)
	{
		first = (rint(steps) + *excluded) / grid;
		*excluded = false;
	}
	else
		first = ceil(steps) / grid;
	if (first > bound)
		*excluded = false;
	return first;
}

/* Leave the values of a range. */
static void
cut_range(DpermPossible *possible, const DpermColumn *column, double low, bool above, double high,
		  bool below)
{
	low = first_from(column, low, &above);
	high = -first_from(column, -high, &below);
	if (low >= possible->low)
	{
		possible->above = above || (possible->above && low == possible->low);
		possible->low = low;
	}
	if (high <= possible->high)
	{
		possible->below = below || (possible->below && high == possible->high);
		possible->high = high;
	}
}

/* Is a number within the bounds? A large excluded bound may be a rounded value. */
static bool
within(const DpermPossible *possible, double number)
{
	bool		exact = fabs(number) < DPERM_POSSIBLE_EXACT;

	return (possible->above && exact ? number > possible->low : number >= possible->low) &&
		   (possible->below && exact ? number < possible->high : number <= possible->high);
}

/* The number that a value is read as. */
static double
number_of_value(const DpermColumn *column, Datum value)
{
	DpermBlockKind kind;

	(void) dperm_domain_types_kind(column->base, &kind);
	return dperm_reader_number(dperm_reader_kind(column->base, kind), value);
}

/* Is a number, or a text, among those of a list? */
static bool
lists_number(const DpermPossible *possible, double number)
{
	for (int i = 0; i < possible->count; i++)
		if (possible->values[i] == number)
			return true;
	return false;
}

static bool
lists_text(const DpermPossible *possible, const DpermText *text)
{
	for (int i = 0; i < possible->count; i++)
		if (dperm_block_same_text(&possible->texts[i], text))
			return true;
	return false;
}

/* Is a value possible? */
bool
dperm_possible_has(const DpermPossible *possible, const DpermColumn *column, Datum value)
{
	DpermText	text;
	double		number;

	if (possible->numbers)
	{
		number = number_of_value(column, value);
		return within(possible, number) &&
			(!possible->listed || lists_number(possible, number));
	}
	if (!possible->listed)
		return true;
	text = dperm_domain_types_text(column->base, value);
	return lists_text(possible, &text);
}

/*
 * Read the text of a value as a column's type does, with its modifier; false if
 * that fails. An error of the input function of a type that can be a feature
 * leaves nothing behind.
 */
static bool
parse_value(const DpermColumn *column, const DpermText *text, Datum *value)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool read = true;
	Oid			input,
				ioparam;

	getTypeInputInfo(column->base, &input, &ioparam);
	PG_TRY();
	{
		*value = OidInputFunctionCall(input, pnstrdup(text->bytes, text->len), ioparam,
									  column->typmod);
	}
	PG_CATCH();
	{
		(void) dperm_message_data_error(context);
		read = false;
	}
	PG_END_TRY();
	return read;
}

/* Does a column's type write a value like this, and which one? */
static bool
is_written(const DpermColumn *column, const DpermText *text, Datum *value)
{
	DpermText	written;

	if (!parse_value(column, text, value))
		return false;
	written = dperm_domain_types_text(column->base, *value);
	return dperm_block_same_text(&written, text);
}

bool
dperm_possible_writes(const DpermColumn *column, const DpermText *text)
{
	Datum		value;

	return is_written(column, text, &value);
}

/* Can a column have a value that is written like this? */
static bool
has_text(const DpermPossible *possible, const DpermColumn *column, const DpermText *text)
{
	Datum		value;

	/* a label that is not committed yet cannot be read */
	if (get_typtype(column->base) == TYPTYPE_ENUM)
		return !possible->listed || lists_text(possible, text);
	return is_written(column, text, &value) && dperm_possible_has(possible, column, value);
}

/*
 * Can a column have this number, which a constraint lists? Its type may have
 * another one in place of it.
 */
static bool
has_number(const DpermPossible *possible, const DpermColumn *column, double number)
{
	bool		excluded = false;

	return first_from(column, number, &excluded) == number && within(possible, number);
}

/* Can a column have a value that its domain lists? */
bool
dperm_possible_allows(const DpermPossible *possible, const DpermColumn *column,
					  const DpermText *text)
{
	if (possible->listed)
		return lists_text(possible, text);
	return !possible->numbers ||
		has_number(possible, column, strtod(pnstrdup(text->bytes, text->len), NULL));
}

/*
 * Leave those values of a list that a column can have; written: as its type
 * writes them, not as a constraint lists numbers.
 */
static void
cut_list(DpermPossible *possible, const DpermColumn *column, const DpermText *texts, int count,
		 bool written)
{
	DpermText  *left = palloc(sizeof(DpermText) * Max(count, 1));
	double	   *values = palloc(sizeof(double) * Max(count, 1));
	int			some = 0;

	for (int i = 0; i < count; i++)
	{
		double		value = possible->numbers ?
			strtod(pnstrdup(texts[i].bytes, texts[i].len), NULL) : 0;

		if (!(written ? has_text(possible, column, &texts[i]) :
			  has_number(possible, column, value)))
			continue;
		values[some] = value;
		left[some++] = texts[i];
	}
	possible->listed = true;
	possible->texts = left;
	possible->values = values;
	possible->count = some;
}

/* All values of a type that has few, in order; NULL for others. */
static const DpermText *
values_of_type(const DpermColumn *column, int *count)
{
	static const DpermText flags[] = {{"f", 1}, {"t", 1}};
	const DpermText *texts = NULL;

	*count = lengthof(flags);
	if (column->block.kind == DPERM_BLOCK_FLAG)
		texts = flags;
	else if (get_typtype(column->base) == TYPTYPE_ENUM)
		texts = dperm_domain_types_labels(column->base, count);
	return *count <= DPERM_DIM_MAX ? texts : NULL;
}

/* By type and constraints, of a column that has neither numbers nor vectors. */
static void
make_list(DpermPossible *possible, const DpermColumn *column, const DpermSaid *sure)
{
	int			count;
	const DpermText *texts = values_of_type(column, &count);

	if (sure->listed)
		cut_list(possible, column, dperm_domain_checks_texts(sure), sure->count, true);
	if (texts)
		cut_list(possible, column, texts, count, true);
}

/* By type and constraints. */
DpermPossible
dperm_possible_make(const DpermColumn *column, const DpermSaid *sure)
{
	DpermPossible possible = {.nothing = may_be_null(column),
							  .constrained = sure->origin != NULL,
							  .low = -INFINITY,
							  .high = INFINITY};

	if (column->block.kind == DPERM_BLOCK_VECTOR)
		return possible;
	possible.numbers = dperm_block_is_number(&column->block);
	if (possible.numbers)
	{
		dperm_domain_types_limits(column->base, column->typmod, &possible.low, &possible.high);
		cut_range(&possible, column, sure->low, sure->above, sure->high, sure->below);

		/* NaN is larger than all numbers */
		possible.nothing |= sure->high == INFINITY &&
			(column->base == NUMERICOID || column->base == FLOAT4OID || column->base == FLOAT8OID);
		if (sure->listed)
			cut_list(&possible, column, dperm_domain_checks_texts(sure), sure->count, false);
	}
	else
		make_list(&possible, column, sure);
	return possible;
}

/* Those in a domain that is stated. */
DpermPossible
dperm_possible_stated(const DpermColumn *column)
{
	DpermPossible possible = column->possible;
	const DpermBlock *block = &column->block;

	if (!column->known || !column->stated)
		return possible;
	if (block->kind == DPERM_BLOCK_CATEGORY)
		cut_list(&possible, column, block->categories, block->count, true);
	else if (dperm_block_is_number(block))
	{
		/* people write 0.1 for the single-precision number */
		bool		single = column->base == FLOAT4OID;

		cut_range(&possible, column, single ? single_of(block->low) : block->low, false,
				  single ? single_of(block->high) : block->high, false);
		if (possible.listed)
			cut_list(&possible, column, possible.texts, possible.count, false);
	}
	return possible;
}

/* The least and the largest number. */
void
dperm_possible_ends(const DpermPossible *possible, double *least, double *largest)
{
	bool		empty = possible->listed ||
		(possible->low == possible->high && (possible->above || possible->below));

	*least = empty ? INFINITY : possible->low;
	*largest = empty ? -INFINITY : possible->high;
	for (int i = 0; i < possible->count; i++)
	{
		*least = Min(*least, possible->values[i]);
		*largest = Max(*largest, possible->values[i]);
	}
}

/* The number of categories of a block that are possible. */
static int
count_categories(const DpermPossible *possible, const DpermColumn *column, const DpermBlock *block)
{
	int			count = 0;

	for (int i = 0; i < block->count; i++)
		count += has_text(possible, column, &block->categories[i]);
	return count;
}

/* Is more possible than this number of values? */
static bool
has_more(const DpermPossible *possible, const DpermColumn *column, int count)
{
	double		grid = dperm_domain_types_grid(column->base, column->typmod);

	if (possible->listed)
		return possible->count > count;
	return !possible->numbers || grid == 0 ||
		(possible->high - possible->low) * grid + 1 > count;
}

/* Is an element of a vector known, which a domain of the column may narrow? */
static bool
box_known(const DpermPossible *possible, const DpermBlock *block, const DpermBlock *domain)
{
	for (int i = 0; i < dperm_block_elements(block); i++)
	{
		double		low = Max(possible->low, domain ? dperm_block_low(domain, i) : -INFINITY);
		double		high = Min(possible->high, domain ? dperm_block_high(domain, i) : INFINITY);

		if (high > dperm_block_low(block, i) && low < dperm_block_high(block, i))
			return true;
	}
	return false;
}

/* How many of the values a block can tell apart. */
int
dperm_possible_seen(const DpermPossible *possible, const DpermColumn *column,
					const DpermBlock *block)
{
	double		least,
				largest;
	int			count;

	switch (block->kind)
	{
		case DPERM_BLOCK_CATEGORY:
			count = count_categories(possible, column, block);
			if (count == 0)
				return 0;
			return count > 1 || possible->nothing || has_more(possible, column, count) ? 2 : 1;
		case DPERM_BLOCK_FLAG:
			return possible->count == 0 ? 0 : possible->count > 1 || possible->nothing ? 2 : 1;
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			dperm_possible_ends(possible, &least, &largest);
			if (least == largest ? least < block->low || least > block->high :
				!(least < largest && largest > block->low && least < block->high))
				return 0;
			return possible->nothing || Max(least, block->low) < Min(largest, block->high) ? 2 : 1;
		case DPERM_BLOCK_BOX:
			return box_known(possible, block,
							 column->stated && column->block.kind == DPERM_BLOCK_BOX &&
							 dperm_block_elements(block) == dperm_block_elements(&column->block) ?
							 &column->block : NULL) ? 2 : 0;
		case DPERM_BLOCK_VECTOR:
			break;
	}
	return 2;
}
