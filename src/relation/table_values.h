/*
 * table_values.h: the different values of a column of some tables.
 */
#ifndef DPERM_TABLE_VALUES_H
#define DPERM_TABLE_VALUES_H

#include "nodes/pg_list.h"

/*
 * The different values of a column of a type, in the order of the type, at most
 * one more than the largest number of categories; *count receives how many.
 * NULLs are left out. The tables are locked, and whether the caller may read
 * them is known.
 *
 * They are scanned without a query: nothing is looked up by name or planned,
 * and so no code of their owners runs.
 */
extern Datum *dperm_table_values(List *tables, const char *column, Oid type, int *count);

#endif							/* DPERM_TABLE_VALUES_H */
