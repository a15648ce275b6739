/*
 * object_name.h: roles, relations and columns in our tables, which a dump has
 * by name.
 */
#ifndef DPERM_OBJECT_NAME_H
#define DPERM_OBJECT_NAME_H

#include "access/attnum.h"

#include "budget/own_tables.h"

/*
 * An object as an argument of a statement over our tables: its value, and the
 * type, that of a column such as dp_budget_accounts.owner_name, within a scope.
 * A statement names no function or type of ours: whoever renames the schema
 * could offer another one.
 */
extern Datum dperm_object_name_make(Oid object);
extern Datum dperm_object_name_column(Oid relation, AttrNumber number);
extern Oid
dperm_object_name_type(const DpermTablesScope *scope, const char *table, const char *column);

/* Is a relation a table, a view, a materialized view or a foreign table? */
extern bool dperm_object_name_is_kind(Oid relation);

/*
 * The name of a relation as a dump has it: with its schema, both quoted,
 * whatever the words of this version are; empty if it is gone.
 */
extern char *dperm_object_name_relation(Oid relation);

/*
 * Let a relation or column that was restored before its relation be of it, if
 * that is there by now, with the owner that the dump tells. Is it?
 */
extern bool dperm_object_name_bind(Datum *reference, bool is_column);

/*
 * Such a column as one of a relation that has the name, whoever owns it; and
 * the number of a column, 0 if it is not there.
 */
extern Datum dperm_object_name_settle(Datum reference, Oid relation);
extern AttrNumber dperm_object_name_number(Datum reference);

#endif							/* DPERM_OBJECT_NAME_H */
