/*
 * run_as.h: queries that run with the rights of a relation's owner, and work that leaves no trace in statistics.
 */
#ifndef DPERM_RUN_AS_H
#define DPERM_RUN_AS_H

#include "miscadmin.h"
#include "nodes/pg_list.h"

/* The user and the settings of before. */
typedef struct DpermRunAs
{
	Oid			user;
	int			security;
	int			settings;
} DpermRunAs;

/*
 * From here on, messages and plans are kept from the client. With an owner (not InvalidOid), queries run with the rights of that role
 * in a security-restricted operation, with a search path and planner settings that the caller has no say in. An error ends it with its
 * (sub)transaction.
 */
extern void dperm_run_as_begin(DpermRunAs *before, Oid owner);
extern void dperm_run_as_end(DpermRunAs *before);

/* The functions that may run in a query, beside those of PostgreSQL and those in C of a superuser; or all. */
typedef struct DpermCallees
{
	bool		limited;
	List	   *functions;
	List	   *unseen;			/* expressions that no plan shows */
} DpermCallees;

/* What a shield has changed. */
typedef struct DpermShield
{
	bool		active;
	pg_stack_base_t stack;
	int			encoding;		/* of the client */
} DpermShield;

/*
 * Around the part of such a query that reads rows, in PG_TRY. How deep the caller has nested calls must not decide whether an expression over a row
 * fails: the stack is counted from here on, up to a limit that depends on the server alone, and it is an error if there is not that much left. And a
 * message that ends the session does not quote the row that is being read. Text that is made for a client, as functions such as textsend do, has the encoding of the
 * server: whether a character can be converted would be an error that the caller can ask for. A function that is not among those that may run is an error, whoever calls it. With
 * an owner of InvalidOid, nothing is done.
 */
extern void dperm_run_as_shield(DpermShield *before, Oid owner, const DpermCallees *callees);
extern void dperm_run_as_unshield(const DpermShield *before);

/* Raise if a shield is up: there is one at a time. */
extern void dperm_run_as_check_free(void);

/* Watch messages and calls; when the library is loaded. */
extern void dperm_run_as_init(void);

/*
 * In PG_CATCH around such a query: raise another error in place of one that a row can have caused in the owner's own functions, and that may
 * show what the row holds. Returns if the error is not about rows. relation is its name, made before the query was run.
 */
extern void dperm_run_as_hide_error(const char *relation);

/*
 * Do some work over the rows of a protected relation: the server counts no scans, blocks, calls or temporary files of it, so that
 * none of the views that everybody may read tells what rows hold; and the session keeps nothing that the work has looked up in the catalog, whether it fails or not (traces.h). fenced
 * is that of the source: then there is no subtransaction. With an owner of InvalidOid, just do the work.
 */
extern void dperm_run_as_unseen(Oid owner, bool fenced, void (*work) (void *), void *arg);

#endif							/* DPERM_RUN_AS_H */
