/*
 * domain_catalog.c: the domain of a column as declared in the catalog.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "column/datum_values.h"
#include "column/domain_catalog.h"
#include "column/domain_checks.h"
#include "column/domain_types.h"
#include "core/base/limits.h"

/* The labels of an enum, in order; only those in the list, if there is one. */
static void
read_labels(DpermColumn *column, const DpermSaid *said)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	int			count = 0;
	DpermText  *texts = palloc(DPERM_DIM_MAX * sizeof(DpermText));

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(column->base));
	scan = systable_beginscan_ordered(catalog, index, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)))
	{
		char	   *label = pstrdup(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));
		bool		allowed = !said->listed || said->loose;

		for (int i = 0; i < said->count && !allowed; i++)
			allowed = strcmp(said->texts[i], label) == 0;
		if (!allowed)
			continue;
		if (count < DPERM_DIM_MAX)
		{
			texts[count].bytes = label;
			texts[count].len = strlen(label);
		}
		count++;
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);

	column->known = count >= 1 && count <= DPERM_DIM_MAX;
	if (count > DPERM_DIM_MAX)
		column->lack = psprintf("the enum has more than %d labels", DPERM_DIM_MAX);
	if (!column->known)
		return;
	column->block.count = count;
	column->block.categories = texts;
	column->origin = said->listed ? said->origin : "enum labels";
}

/* A list as texts with their lengths. */
static DpermText *
said_texts(const DpermSaid *said)
{
	DpermText  *texts = palloc(Max(said->count, 1) * sizeof(DpermText));

	for (int i = 0; i < said->count; i++)
		texts[i] = (DpermText) {said->texts[i], (int) strlen(said->texts[i])};
	return texts;
}

/*
 * Set the bounds of a number or a time. They are a domain if both are known; one
 * alone, or a single value, may tell the classes of a label.
 */
static void
set_range(DpermColumn *column, const DpermSaid *said)
{
	DpermText  *texts;

	column->known = said->low < said->high && isfinite(said->low) && isfinite(said->high);
	column->bounded = column->known || (said->origin && said->low <= said->high);
	column->loose = said->loose;
	if (column->bounded)
	{
		column->block.low = said->low;
		column->block.high = said->high;
		column->block.count = 1;
		column->above = said->above;
		column->below = said->below;
		column->values = texts = said_texts(said);
		for (int i = 0; i < said->count; i++)
		{
			double		value = atof(said->texts[i]);

			if ((said->above ? value > said->low : value >= said->low) &&
				(said->below ? value < said->high : value <= said->high))
				texts[column->value_count++] = texts[i];
		}
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

	if (get_typtype(column->base) == TYPTYPE_ENUM)
		read_labels(column, said);
	else if (said->listed && said->count > 0)
	{
		texts = said_texts(said);
		for (int i = 0; i < said->count; i++)
			if (texts[i].len > DPERM_VALUE_MAX - VARHDRSZ)
			{
				column->lack = psprintf("%s: a value of more than %d bytes", said->origin,
										DPERM_VALUE_MAX - VARHDRSZ);
				return;
			}
		column->known = true;
		column->loose = said->loose;
		column->block.count = said->count;
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

/* Has the column no NULL, in the table with its constraints? */
static bool
lacks_null(const DpermColumn *column)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(column->relation),
										Int16GetDatum(column->home));
	bool		result = false;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
		ReleaseSysCache(tuple);
	}
	return result;
}

/* Does the catalog allow a single value? */
static bool
is_single(const DpermColumn *column)
{
	if (column->loose)
		return false;
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		return column->known && column->block.count == 1;
	return column->bounded && (column->value_count == 1 || column->block.low == column->block.high);
}

/* Read the domain from the catalog. */
void
dperm_domain_catalog_read(List **cache, Oid relation, DpermColumn *column)
{
	DpermSaid	said;

	if (column->block.kind == DPERM_BLOCK_FLAG)
	{
		column->known = true;
		column->block.count = 1;
		column->origin = "boolean";
		return;
	}
	said = dperm_domain_checks_read(cache, relation, column);
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		set_categories(column, &said);
	else if (column->block.kind == DPERM_BLOCK_VECTOR)
		set_vector_dimension(column, &said);
	else
		set_range(column, &said);
	column->constant = is_single(column) && lacks_null(column);
	if (column->known && column->origin == NULL)
		column->origin = said.origin;
	if (column->known && column->block.kind == DPERM_BLOCK_VECTOR)
	{
		said = dperm_domain_checks_elements(cache, relation, column);
		set_vector_range(column, &said);
	}
}
