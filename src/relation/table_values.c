/*
 * table_values.c: the different values of a column of some tables.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "column/datum_values.h"
#include "column/domain_types.h"
#include "core/base/limits.h"
#include "relation/table_values.h"

/* Values that are kept: enough to sort them seldom; and their bytes. */
#define VALUES_ROOM (4 * DPERM_DIM_MAX)
#define BYTES_MAX ((Size) 64 * 1024 * 1024)

/* Values, of which the first are sorted and different. */
typedef struct Values
{
	TypeCacheEntry *type;
	Datum	   *each;
	int			count;
	int			sorted;
	Size		bytes;			/* that values have taken since they were sorted */
} Values;

/* How a type orders two values; texts by their bytes. */
static int
compare_values(const void *one, const void *other, void *arg)
{
	Values	   *values = arg;

	return DatumGetInt32(FunctionCall2Coll(&values->type->cmp_proc_finfo, C_COLLATION_OID,
										   *(const Datum *) one, *(const Datum *) other));
}

/* Sort all values, and keep each once. */
static void
sort_values(Values *values)
{
	int			kept = 0;

	qsort_arg(values->each, values->count, sizeof(Datum), compare_values, values);
	for (int i = 0; i < values->count; i++)
		if (kept == 0 ||
			compare_values(&values->each[kept - 1], &values->each[i], values) != 0)
			values->each[kept++] = values->each[i];
		else if (!values->type->typbyval)
			pfree(DatumGetPointer(values->each[i]));
	values->count = values->sorted = kept;
	values->bytes = 0;
}

/* Is a value among the sorted ones? */
static bool
is_sorted(Values *values, Datum value)
{
	int			low = 0;
	int			high = values->sorted;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		int			order = compare_values(&value, &values->each[middle], values);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/* Count the bytes of a value. */
static void
count_bytes(Values *values, Datum value)
{
	Size		size = values->type->typlen == -1 ? toast_raw_datum_size(value) : sizeof(Datum);

	if (size > DPERM_VALUE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a value is longer than %d bytes", DPERM_VALUE_MAX - VARHDRSZ),
				 errhint("Categories are short: use a column with codes or names.")));
	values->bytes += size;
}

/* Add a value. */
static void
add_value(Values *values, Datum value)
{
	count_bytes(values, value);
	if (is_sorted(values, value))
		return;
	values->each[values->count++] = values->type->typlen == -1 ?
		PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
		datumCopy(value, values->type->typbyval, values->type->typlen);
	if (values->count == VALUES_ROOM || values->bytes > BYTES_MAX)
		sort_values(values);
}

/* Raise an error for a table whose values are not stored in it. */
static void
check_values_stored(Relation table, AttrNumber number)
{
	if (!RelationIsPopulated(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(table)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	if (TupleDescAttr(RelationGetDescr(table), number - 1)->attgenerated ==
		ATTRIBUTE_GENERATED_VIRTUAL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a domain cannot come from virtual generated columns"),
				 errhint("Use a stored generated column.")));
#endif
}

/* Add the values of one table, unless there are too many already. */
static void
add_table(Values *values, Oid relation, const char *column)
{
	Relation	table = table_open(relation, NoLock);
	AttrNumber	number = get_attnum(relation, column);
	TupleTableSlot *slot;
	TableScanDesc scan;

	check_values_stored(table, number);
	slot = table_slot_create(table, NULL);
	scan = table_beginscan_strat(table, GetActiveSnapshot(), 0, NULL, true, true);
	while (values->sorted <= DPERM_DIM_MAX &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		null;
		Datum		value = slot_getattr(slot, number, &null);

		CHECK_FOR_INTERRUPTS();
		if (!null)
			add_value(values, value);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(table, NoLock);
}

/* The different values. */
Datum *
dperm_table_values(List *tables, const char *column, Oid type, int *count)
{
	/* texts are categories by their bytes, whatever their type says */
	bool		text = dperm_domain_types_is_text(type) && get_typlen(type) == -1 &&
		type != BPCHAROID;
	Values		values = {
		.type = lookup_type_cache(text ? TEXTOID : type, TYPECACHE_CMP_PROC_FINFO),
		.each = palloc(sizeof(Datum) * VALUES_ROOM)
	};
	ListCell   *cell;

	if (!OidIsValid(values.type->cmp_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("values of type %s have no order", format_type_be(type))));

	/* what was committed before the tables were locked is seen */
	PushActiveSnapshot(GetLatestSnapshot());
	foreach(cell, tables)
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE &&
			!isOtherTempNamespace(get_rel_namespace(lfirst_oid(cell))))
			add_table(&values, lfirst_oid(cell), column);
	PopActiveSnapshot();
	sort_values(&values);
	*count = Min(values.count, DPERM_DIM_MAX + 1);
	return values.each;
}
