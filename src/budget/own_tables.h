/*
 * own_tables.h: statements over the tables of the extension.
 */
#ifndef DPERM_OWN_TABLES_H
#define DPERM_OWN_TABLES_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "core/privacy/amount.h"

/*
 * Queries over our own tables: as the owner of these tables, in a search path
 * without anything of the caller's, with SPI connected. An error undoes all of
 * it with its (sub)transaction.
 *
 * 		DpermTablesScope scope;
 *
 * 		dperm_own_tables_enter(&scope);
 * 		... dperm_own_tables_query(), or dperm_own_tables_execute() with
 * 		names qualified by scope.schema, which is quoted
 * 		dperm_own_tables_leave(&scope);
 *
 * What is to outlive it is made in scope.caller, a memory context.
 */
typedef struct DpermTablesScope
{
	char	   *schema;
	Oid			schema_oid;
	MemoryContext caller;
	Oid			user;
	int			security;
	int			settings;
	int			depth;			/* how many others it is in */
} DpermTablesScope;

/* Watch what is analysed within scopes; when the library is loaded. */
extern void dperm_own_tables_init(void);

/*
 * Raises if our tables have triggers that our script has not made, or lack
 * those that it has. Somebody with the privilege TRIGGER, say by GRANT ALL ON
 * ALL TABLES, can make one, and it would run with the rights of the owner of
 * the table. The second one warns, and returns false, for event triggers: an
 * error would stop everybody's commands, also the one that puts it right.
 */
extern void dperm_own_tables_enter(DpermTablesScope *scope);
extern bool dperm_own_tables_try_enter(DpermTablesScope *scope);

/* The same, raising, of one table that is open; or of all, for NULL. */
extern void dperm_own_tables_check_triggers(Relation table);

/*
 * Enable our event triggers: from the first budget on, commands are followed.
 * A restore without triggers may have left them disabled.
 */
extern void dperm_own_tables_follow_commands(void);

/* A table of ours by its name; raises if there is none. */
extern Oid	dperm_own_tables_find(const char *name);

/*
 * Can the owner of our tables, who need not be a superuser any more, reach
 * them? Warns if not: for event triggers, too.
 */
extern bool dperm_own_tables_reachable(void);

/*
 * To read alone, which fires no triggers: it takes no locks on our tables that
 * stop anybody, and does not mind triggers.
 */
extern void dperm_own_tables_enter_reading(DpermTablesScope *scope);
extern void dperm_own_tables_leave(DpermTablesScope *scope);

/*
 * Run a statement; the number of rows, which SPI_tuptable then has. All
 * statements over our tables come through here.
 */
extern uint64 dperm_own_tables_execute(const char *statement, int count, Oid *types, Datum *values,
									   const char *nulls, bool read_only);

/*
 * The same for one that writes, or locks, or sees what this transaction has
 * written, in which each %s is our schema.
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
