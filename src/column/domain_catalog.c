/*
 * domain_catalog.c: the domain of a column as declared in the catalog.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "column/datum_values.h"
#include "column/domain_catalog.h"
#include "column/domain_checks.h"
#include "column/domain_types.h"
#include "column/possible.h"
#include "core/base/limits.h"

/* The labels of an enum that are possible. */
static void
set_labels(DpermColumn *column, const DpermSaid *said)
{
	const DpermPossible *possible = &column->possible;

	column->known = possible->listed && possible->count > 0;
	if (!possible->listed)
		column->lack = psprintf("the enum has more than %d labels", DPERM_DIM_MAX);
	if (!column->known)
		return;
	column->block.count = possible->count;
	column->block.categories = (DpermText *) possible->texts;
	column->origin = possible->constrained ? said->origin : "enum labels";
}

/* Set the bounds of a number or a time: a domain, if both are known. */
static void
set_range(DpermColumn *column, const DpermSaid *said)
{
	DpermText  *texts = dperm_domain_checks_texts(said);

	column->known = said->low < said->high && isfinite(said->low) && isfinite(said->high);
	column->block.low = said->low;
	column->block.high = said->high;
	column->block.count = 1;
	column->values = texts;
	for (int i = 0; i < said->count; i++)
	{
		double		value = atof(said->texts[i]);

		if ((said->above ? value > said->low : value >= said->low) &&
			(said->below ? value < said->high : value <= said->high))
			texts[column->value_count++] = texts[i];
	}
	if (!column->known && said->origin)
		column->lack = psprintf("%s: %s", said->origin,
								said->low == -INFINITY ? "no lower bound" :
								said->high == INFINITY ? "no upper bound" :
								said->low == said->high ? "a single value" :
								"the bounds contradict each other");
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
			if (dperm_possible_writes(column, &texts[i]))
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
	if (!isfinite(said->low) || !isfinite(said->high) || !(said->low / 2 < said->high / 2))
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
	DpermSaid	sure;
	DpermSaid	said = dperm_domain_checks_read(cache, relation, column, &sure);

	column->possible = dperm_possible_make(column, &sure);
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
		said = dperm_domain_checks_elements(cache, relation, column, &sure);
		set_vector_range(column, &said);
		column->possible.low = sure.low;
		column->possible.high = sure.high;
	}
}
