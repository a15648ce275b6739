/*
 * own_rows.h: read and write rows of the extension's tables without SQL.
 *
 * A statement would have to be parsed and planned by every process that reads a
 * protected relation. Here privileges and search path do not matter, and no
 * trigger runs, so that no foreign key is checked: CHECK constraints and unique
 * indexes are.
 */
#ifndef DPERM_OWN_ROWS_H
#define DPERM_OWN_ROWS_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "utils/snapshot.h"

#include "core/privacy/amount.h"

/* One of our tables by name; raises an error if it does not exist. */
extern Oid	dperm_own_rows_table(const char *name);

/* Some rows of a table, in the current memory context. */
typedef struct DpermOwnRows
{
	Oid			table;
	TupleDesc	desc;
	int			count;
	HeapTuple  *rows;
} DpermOwnRows;

/*
 * A snapshot of the latest state, including the changes of this transaction,
 * whatever its own snapshot is. A query with parallel workers uses that. What is
 * found with one snapshot fits together. It is to be unregistered.
 */
extern Snapshot dperm_own_rows_newest(void);

/*
 * The rows in which a column has a value: an oid, a uuid, a name, or a text of
 * collation "C". In the latest state, or in that of a snapshot.
 */
extern DpermOwnRows dperm_own_rows_find(const char *table, const char *column, Datum value,
										Snapshot snapshot);

/* Does the table have a row? */
extern bool dperm_own_rows_any(const char *table);

/* The number of such rows in which another column is NULL. */
extern int	dperm_own_rows_count(const char *table, const char *column, Datum value,
								 const char *null);

/*
 * The number of units that the newest kept release of a protected table is about,
 * by the id of the registration; 0 if there is none.
 */
extern int64 dperm_own_rows_units(const char *registration);

/*
 * Columns of a row: 0 or NULL for NULL. Text is the result of the output
 * function.
 */
extern Datum dperm_own_rows_value(const DpermOwnRows *rows, int row, const char *column);
extern char *dperm_own_rows_text(const DpermOwnRows *rows, int row, const char *column);
extern DpermAmount dperm_own_rows_amount(const DpermOwnRows *rows, int row, const char *column);

/* Was a row written by this transaction? */
extern bool dperm_own_rows_is_fresh(const DpermOwnRows *rows, int row);

/* A uuid as a value; an amount as one of type numeric. */
extern Datum dperm_own_rows_uuid(const char *text);
extern Datum dperm_own_rows_numeric(DpermAmount amount);

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
 * columns of a row.
 */
extern void dperm_own_rows_insert(const char *table, const DpermOwnField *fields, int count);
extern void dperm_own_rows_update(DpermOwnRows *rows, int row,
								  const DpermOwnField *fields, int count);

/*
 * A role as a value of dperm_role_name, and the role of such a value
 * (role_name.c).
 */
extern Datum dperm_role_name_make(Oid role);
extern Oid	dperm_role_name_role(Datum value);

#endif							/* DPERM_OWN_ROWS_H */
