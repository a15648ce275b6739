/*
 * record.c: deform rows of a record type.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/typcache.h"

#include "column/record.h"

/*
 * The typmod of a row. Only anonymous types have one: newer servers store a
 * version there.
 */
static int32
row_typmod(HeapTupleHeader row)
{
	return HeapTupleHeaderGetTypeId(row) == RECORDOID ? HeapTupleHeaderGetTypMod(row) : -1;
}

/* Does the row have this type, and is the type unaltered? */
bool
dperm_record_fits(const DpermRecord *record, HeapTupleHeader row)
{
	return OidIsValid(record->type) &&
		HeapTupleHeaderGetTypeId(row) == record->type &&
		row_typmod(row) == record->typmod &&
		assign_record_type_identifier(record->type, record->typmod) == record->version;
}

/*
 * Remember the type of a row. The version is read first: if the type is altered
 * between the two lookups, the version is out of date, and the next row will
 * not fit.
 *
 * natts must not be changed: the server uses it to locate data after the
 * attributes.
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

/* Deform a row that fits. */
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
