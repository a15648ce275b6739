/*
 * object_name.h: roles, relations and columns in our tables, which are dumped
 * by name.
 */
#ifndef DPERM_OBJECT_NAME_H
#define DPERM_OBJECT_NAME_H

#include "access/attnum.h"

#include "budget/own_tables.h"

/*
 * An object as an argument of a statement over our tables: its value; and its
 * type, looked up within a scope as that of a column such as
 * dp_budget_accounts.owner_name. A statement names no function or type of ours:
 * whoever renames the schema could provide another one.
 */
extern Datum dperm_object_name_make(Oid object);
extern Datum dperm_object_name_column(Oid relation, AttrNumber number);
extern Oid	dperm_object_name_type(const char *table, const char *column);

/*
 * The name of a relation as in a dump: with its schema, both always quoted,
 * whatever the reserved words of this version; empty if it has been dropped.
 */
extern char *dperm_object_name_relation(Oid relation);

/*
 * Resolve a relation or column that was restored before its relation, if the
 * relation exists by now and has the owner named in the dump. Returns whether
 * it does.
 */
extern bool dperm_object_name_bind(Datum *reference, bool is_column);

/* Resolve such a column to a relation of this name, whoever owns it. */
extern Datum dperm_object_name_settle(Datum reference, Oid relation);

#endif							/* DPERM_OBJECT_NAME_H */
