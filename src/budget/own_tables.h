/*
 * own_tables.h: statements over the extension's tables.
 */
#ifndef DPERM_OWN_TABLES_H
#define DPERM_OWN_TABLES_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "core/privacy/amount.h"

/*
 * Queries over our own tables: as the owner of these tables, with a search path
 * that contains nothing of the caller's, connected to SPI. An error undoes all
 * of this with its (sub)transaction.
 *
 * 		DpermTablesScope scope;
 *
 * 		dperm_own_tables_enter(&scope);
 * 		... dperm_own_tables_query(), or dperm_own_tables_execute() with
 * 		names qualified by scope.schema, which is quoted
 * 		dperm_own_tables_leave(&scope);
 *
 * What has to outlive the scope is allocated in the memory context
 * scope.caller.
 */
typedef struct DpermTablesScope
{
	char	   *schema;
	Oid			schema_oid;
	MemoryContext caller;
	Oid			user;
	int			security;
	int			settings;
	int			depth;			/* number of enclosing scopes */
} DpermTablesScope;

/*
 * Install the hook that checks statements within scopes, when the library is
 * loaded.
 */
extern void dperm_own_tables_init(void);

/*
 * Open a scope. Raises an error if our tables have triggers that our script did
 * not create, or lack those that it did. A role with the TRIGGER privilege, for
 * example by GRANT ALL ON ALL TABLES, can create one, and it would run with the
 * rights of the owner of the table. The second function warns and returns false
 * instead, for event triggers: an error would stop every command, including the
 * one that fixes the problem.
 */
extern void dperm_own_tables_enter(DpermTablesScope *scope);
extern bool dperm_own_tables_try_enter(DpermTablesScope *scope);

/*
 * Check the triggers of an open table, or of all our tables for NULL, and raise
 * an error.
 */
extern void dperm_own_tables_check_triggers(Relation table);

/*
 * Enable our event triggers: from the first budget on, commands are tracked. A
 * restore without triggers may have left them disabled.
 */
extern void dperm_own_tables_follow_commands(void);

/* One of our tables by name; raises an error if it does not exist. */
extern Oid	dperm_own_tables_find(const char *name);

/*
 * Can the owner of our tables, who may no longer be a superuser, access them?
 * If not, issues a warning, not an error, because event triggers call it, too.
 */
extern bool dperm_own_tables_reachable(void);

/*
 * Open a scope for reading only, which fires no triggers: it takes no locks on
 * our tables that block others, and does not check triggers.
 */
extern void dperm_own_tables_enter_reading(DpermTablesScope *scope);
extern void dperm_own_tables_leave(DpermTablesScope *scope);

/*
 * Run a statement; returns the number of rows, which are in SPI_tuptable. All
 * statements over our tables come through here.
 */
extern uint64 dperm_own_tables_execute(const char *statement, int count, Oid *types, Datum *values,
									   const char *nulls, bool read_only);

/*
 * The same for a query that writes, locks, or has to see what this transaction
 * has written; each %s in it is our schema.
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
