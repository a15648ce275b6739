/*
 * own_tables.h: statements over the extension's tables.
 */
#ifndef DPERM_OWN_TABLES_H
#define DPERM_OWN_TABLES_H

#include "nodes/pg_list.h"

#include "core/privacy/amount.h"

/*
 * Queries over our own tables: as the owner of these tables, with a search path
 * that contains nothing of the caller's, connected to SPI. An error undoes all
 * of this with its (sub)transaction.
 *
 * 		DpermTablesScope scope;
 *
 * 		dperm_own_tables_enter(&scope);
 * 		... dperm_own_tables_query(), with names such as dperm.dp_budget_accounts
 * 		dperm_own_tables_leave(&scope);
 *
 * What has to outlive the scope is allocated in the memory context
 * scope.caller.
 */
typedef struct DpermTablesScope
{
	MemoryContext caller;
	Oid			owner;			/* of our tables */
	Oid			user;
	int			security;
	int			settings;
} DpermTablesScope;

extern void dperm_own_tables_enter(DpermTablesScope *scope);
extern void dperm_own_tables_leave(DpermTablesScope *scope);

/*
 * Enable our event triggers: from the first budget on, commands are tracked. A
 * restore without triggers may have left them disabled.
 */
extern void dperm_own_tables_follow_commands(void);

/* One of our tables by name; raises an error if it does not exist. */
extern Oid	dperm_own_tables_find(const char *name);

/*
 * Run a statement within a scope; returns the number of rows, which are in
 * SPI_tuptable. It sees what this transaction has written. All statements over
 * our tables come through here.
 */
extern uint64 dperm_own_tables_query(DpermTablesScope *scope, const char *query, int count,
									 Oid *types, Datum *values, const char *nulls);

/* Columns of a row of the result, counted from 1: as text, NULL for NULL; an OID. */
extern char *dperm_own_tables_value(uint64 row, int column);
extern Oid	dperm_own_tables_oid(uint64 row, int column);

/* A column of OIDs, as a list. */
extern List *dperm_own_tables_oids(uint64 count, int column);

/* An amount as numeric. */
extern Datum dperm_own_tables_numeric(DpermAmount amount);

#endif							/* DPERM_OWN_TABLES_H */
