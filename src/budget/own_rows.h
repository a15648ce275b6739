/*
 * own_rows.h: read and write rows of the extension's tables without SQL.
 *
 * A statement would have to be parsed and planned by every process that reads a
 * protected relation. Here nothing runs but our own row triggers, and
 * privileges and search path do not matter.
 */
#ifndef DPERM_OWN_ROWS_H
#define DPERM_OWN_ROWS_H

#include "access/htup.h"
#include "access/tupdesc.h"

#include "core/privacy/amount.h"

/* Some rows of a table, in the current memory context. */
typedef struct DpermOwnRows
{
	Oid			table;
	TupleDesc	desc;
	int			count;
	HeapTuple  *rows;
} DpermOwnRows;

/*
 * The rows in which a column has a value: an oid, a uuid, or a text of
 * collation "C". In the latest state, including the changes of this
 * transaction, whatever its snapshot is. A query with parallel workers uses its
 * snapshot.
 */
extern DpermOwnRows dperm_own_rows_find(const char *table, const char *column, Datum value);

/* The last of these rows in the order of a column, or none. */
extern DpermOwnRows dperm_own_rows_last(const char *table, const char *column, Datum value,
										const char *order);

/* Does the table have a row? */
extern bool dperm_own_rows_any(const char *table);

/* Add the rows of another result, of the same table. */
extern void dperm_own_rows_add(DpermOwnRows *rows, const DpermOwnRows *more);

/*
 * Columns of a row: 0 or NULL for NULL. Text is the result of the output
 * function.
 */
extern Datum dperm_own_rows_value(const DpermOwnRows *rows, int row, const char *column);
extern char *dperm_own_rows_text(const DpermOwnRows *rows, int row, const char *column);
extern DpermAmount dperm_own_rows_amount(const DpermOwnRows *rows, int row, const char *column);

/* A uuid as a search value. */
extern Datum dperm_own_rows_uuid(const char *text);

/*
 * Lock a row as FOR UPDATE does, and read it again; false if it has been
 * deleted.
 */
extern bool dperm_own_rows_lock(DpermOwnRows *rows, int row);

/* A column to write; a value of 0 is NULL. */
typedef struct DpermOwnField
{
	const char *column;
	Datum		value;
} DpermOwnField;

/*
 * Insert a row, whose other columns are NULL or generated; or update some
 * columns of a row. Raises an error if the table has triggers that are not
 * ours.
 */
extern void dperm_own_rows_insert(const char *table, const DpermOwnField *fields, int count);
extern void dperm_own_rows_update(DpermOwnRows *rows, int row,
								  const DpermOwnField *fields, int count);

#endif							/* DPERM_OWN_ROWS_H */
