/*
 * record.c: rows of a record type, taken apart.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/typcache.h"

#include "column/record.h"

/*
 * The typmod of a row. Only anonymous types have one: newer servers keep a
 * version there.
 */
static int32
row_typmod(HeapTupleHeader row)
{
	return HeapTupleHeaderGetTypeId(row) == RECORDOID ? HeapTupleHeaderGetTypMod(row) : -1;
}

/* Is the row of this type, and has the type not been altered? */
bool
dperm_record_fits(const DpermRecord *record, HeapTupleHeader row)
{
	return OidIsValid(record->type) &&
		HeapTupleHeaderGetTypeId(row) == record->type &&
		row_typmod(row) == record->typmod &&
		assign_record_type_identifier(record->type, record->typmod) == record->version;
}

/*
 * Take the type of a row. The version comes first: if the type is altered
 * between the two looks, then the version is out of date, and the next row will
 * not fit.
 *
 * natts must not be changed: the server finds what it keeps behind the
 * attributes by their number.
 */
void
dperm_record_take(DpermRecord *record, HeapTupleHeader row)
{
	record->type = HeapTupleHeaderGetTypeId(row);
	record->typmod = row_typmod(row);
	record->version = assign_record_type_identifier(record->type, record->typmod);
	record->desc = lookup_rowtype_tupdesc_copy(record->type, record->typmod);
	record->datums = palloc(sizeof(Datum) * Max(record->desc->natts, 1));
	record->nulls = palloc(sizeof(bool) * Max(record->desc->natts, 1));
}

/* Take a row apart that fits. */
void
dperm_record_read(DpermRecord *record, HeapTupleHeader row)
{
	HeapTupleData tuple;

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, record->desc, record->datums, record->nulls);
}
