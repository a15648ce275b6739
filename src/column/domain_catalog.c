/*
 * domain_catalog.c: the domain of a column as declared in the catalog.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

#include "base/message.h"
#include "column/datum_values.h"
#include "column/domain_catalog.h"
#include "column/domain_checks.h"
#include "column/domain_types.h"
#include "core/base/limits.h"

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

/*
 * Does the type of a column, with its modifier, write a value like this? "01" is
 * no integer that PostgreSQL writes, nor is "true" a boolean.
 */
static bool
is_written(const DpermColumn *column, const DpermText *text)
{
	Datum		value;
	DpermText	written;

	if (!parse_value(column, text, &value))
		return false;
	written = dperm_domain_types_text(column->base, value);
	return dperm_block_same_text(&written, text);
}

/* Set the labels of an enum, or those that constraints list. */
static void
set_labels(DpermColumn *column, const DpermSaid *said)
{
	int			all;
	DpermText  *labels = dperm_domain_types_labels(column->base, &all);
	int			count = 0;

	if (all > DPERM_DIM_MAX)
	{
		column->lack = psprintf("the enum has more than %d labels", DPERM_DIM_MAX);
		return;
	}
	for (int i = 0; i < all; i++)
		if (!said->listed || dperm_domain_checks_lists(said, labels[i].bytes))
			labels[count++] = labels[i];
	column->known = count > 0;
	column->block.count = count;
	column->block.categories = labels;
	if (column->known)
		column->origin = said->origin ? said->origin : "enum labels";
}

/* Set the bounds of a number or a time: a domain, if both are known. */
static void
set_range(DpermColumn *column, const DpermSaid *said)
{
	DpermText  *texts = dperm_domain_checks_texts(said);

	column->known = dperm_block_are_bounds(said->low, said->high);
	column->block.low = said->low;
	column->block.high = said->high;
	column->block.count = 1;
	column->values = texts;
	for (int i = 0; i < said->count; i++)
	{
		double		number = atof(said->texts[i]);
		Datum		value;

		if (number >= said->low && number <= said->high &&
			parse_value(column, &texts[i], &value))
			texts[column->value_count++] = texts[i];
	}
	if (!column->known && said->origin)
		column->lack = psprintf("%s: %s", said->origin,
								said->low == -INFINITY ? "no lower bound" :
								said->high == INFINITY ? "no upper bound" :
								said->low == said->high ? "a single value" :
								said->low > said->high ? "the bounds contradict each other" :
								"the bounds are not between -1e300 and 1e300");
}

/* Set the list of categories, if it is not empty. */
static void
set_categories(DpermColumn *column, const DpermSaid *said)
{
	DpermText  *texts;
	int			count = 0;

	if (get_typtype(column->base) == TYPTYPE_ENUM)
		set_labels(column, said);
	else if (said->listed && said->count > 0)
	{
		texts = dperm_domain_checks_texts(said);
		for (int i = 0; i < said->count; i++)
		{
			if (texts[i].len > DPERM_VALUE_MAX - VARHDRSZ)
			{
				column->lack = psprintf("%s: a value of more than %d bytes", said->origin,
										DPERM_VALUE_MAX - VARHDRSZ);
				return;
			}
			if (is_written(column, &texts[i]))
				texts[count++] = texts[i];
		}
		column->known = count > 0;
		column->block.count = count;
		column->block.categories = texts;
	}
	if (!column->known && said->listed)
		column->lack = psprintf("%s: no value is left", said->origin);
}

/* Set the dimension of a vector, from the type or from constraints. */
static void
set_vector_dimension(DpermColumn *column, const DpermSaid *said)
{
	double		dimension = said->low == said->high ? said->low : 0;

	if (column->typmod > 0 && dperm_domain_types_is_pgvector(column->base))
	{
		dimension = column->typmod;
		column->origin = "type modifier";
	}
	if (dimension == 0 && column->made_dimension > 0)
	{
		dimension = column->made_dimension;
		column->origin = "definition of the view";
	}
	if (dimension >= 1 && dimension <= DPERM_DIM_MAX)
	{
		column->known = true;
		column->block.count = (int) dimension;
		column->block.norm = 1;
		return;
	}
	if (column->origin == NULL)
		column->origin = said->origin;
	if (column->origin)
		column->lack = psprintf("%s: the dimension is not between 1 "
								"and %d", column->origin, DPERM_DIM_MAX);
	column->origin = NULL;
}

/*
 * Set the range of the elements of a vector whose dimension is known, if both
 * bounds are.
 */
static void
set_vector_range(DpermColumn *column, const DpermSaid *said)
{
	if (!dperm_block_are_bounds(said->low, said->high))
		return;
	column->block.kind = DPERM_BLOCK_BOX;
	column->block.norm = 0;
	column->block.low = said->low;
	column->block.high = said->high;
	column->origin = said->origin;
}

/* Read the domain from the catalog. */
void
dperm_domain_catalog_read(List **cache, Oid relation, DpermColumn *column)
{
	DpermSaid	said = dperm_domain_checks_read(cache, relation, column);

	if (column->block.kind == DPERM_BLOCK_FLAG)
	{
		column->known = true;
		column->block.count = 1;
		column->origin = "boolean";
	}
	else if (column->block.kind == DPERM_BLOCK_CATEGORY)
		set_categories(column, &said);
	else if (column->block.kind == DPERM_BLOCK_VECTOR)
		set_vector_dimension(column, &said);
	else
		set_range(column, &said);
	if (column->known && column->origin == NULL)
		column->origin = said.origin;
	if (column->known && column->block.kind == DPERM_BLOCK_VECTOR)
	{
		said = dperm_domain_checks_elements(cache, relation, column);
		set_vector_range(column, &said);
	}
}
