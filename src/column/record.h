/*
 * record.h: deform rows of a record type.
 *
 * The descriptor of a type is kept from row to row, together with its version:
 * a type can be altered between two rows of one query.
 */
#ifndef DPERM_RECORD_H
#define DPERM_RECORD_H

#include "access/htup_details.h"
#include "access/tupdesc.h"

/* A record type, and the columns of its last row. All zero: no type yet. */
typedef struct DpermRecord
{
	Oid			type;
	int32		typmod;
	uint64		version;		/* of the type; desc may be newer, never older */
	TupleDesc	desc;
	Datum	   *datums;			/* one per column, dropped ones included */
	bool	   *nulls;
} DpermRecord;

/* Does the row have this type, and is the type unaltered? */
extern bool dperm_record_fits(const DpermRecord *record, HeapTupleHeader row);

/*
 * Remember the type of a row. Everything is allocated in the current context.
 */
extern void dperm_record_take(DpermRecord *record, HeapTupleHeader row);

/* Deform a row that fits. */
extern void dperm_record_read(DpermRecord *record, HeapTupleHeader row);

#endif							/* DPERM_RECORD_H */
