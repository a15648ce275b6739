/*
 * record.h: rows of a record type, taken apart.
 *
 * The descriptor of a type is kept from row to row, together with the version
 * that it is of: a type can be altered between two rows of one query.
 */
#ifndef DPERM_RECORD_H
#define DPERM_RECORD_H

#include "access/htup_details.h"
#include "access/tupdesc.h"

/*
 * A record type, and the columns of the last row of it. All zero: no type yet.
 */
typedef struct DpermRecord
{
	Oid			type;
	int32		typmod;
	uint64		version;		/* of the type; desc may be newer, never older */
	TupleDesc	desc;
	Datum	   *datums;			/* one per column, dropped ones included */
	bool	   *nulls;
} DpermRecord;

/* Is the row of this type, and has the type not been altered? */
extern bool dperm_record_fits(const DpermRecord *record, HeapTupleHeader row);

/* Take the type of a row. Everything is allocated in the current context. */
extern void dperm_record_take(DpermRecord *record, HeapTupleHeader row);

/* Take a row apart that fits. */
extern void dperm_record_read(DpermRecord *record, HeapTupleHeader row);

#endif							/* DPERM_RECORD_H */
