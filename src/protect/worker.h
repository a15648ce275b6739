/*
 * worker.h: the process that runs a call on a protected relation.
 *
 * It has three transactions:
 *
 * - check: as the caller. Locks, all checks, the plan, the charge. Reads no
 *   row. Errors are sent in full.
 * - read: as the owner of the relation, READ ONLY. Reads and computes. Only the
 *   class of an error is sent.
 * - keep: stores what was released with the ledger.
 *
 * The function that was called runs in the first two of them, and switches from
 * one to the other when it charges (call_charge.c). It is the same function
 * that reads other relations in sessions.
 */
#ifndef DPERM_WORKER_H
#define DPERM_WORKER_H

#include "fmgr.h"

#include "budget/budget.h"

/*
 * Is this the call that the process was started for, not one made by a function
 * that it calls?
 */
extern bool dperm_worker_is_for(FunctionCallInfo fcinfo);

/* Is this process such a worker? */
extern bool dperm_worker_is_this(void);

/* The relation of that call; InvalidOid for any other call. */
extern Oid	dperm_worker_relation(FunctionCallInfo fcinfo);

/*
 * The charge has been written: commit it, and continue as the owner of the
 * relation, who may read rows.
 */
extern void dperm_worker_charged(DpermLedgerEntry entry, Oid owner);

/* The entry of the ledger, once the call has been charged. */
extern DpermLedgerEntry dperm_worker_entry(void);

/*
 * Between these two a query is planned, before the charge, just as it will be
 * run: with the settings of the server, and as the owner, who sends and writes
 * nothing.
 */
extern void dperm_worker_plans(Oid owner);
extern void dperm_worker_planned(Oid owner);

/*
 * Send a notice that depends only on arguments, the catalog and the number of
 * units. After the charge it is delayed until the release is kept, since
 * sending it to a lost client ends the call.
 */
extern void dperm_worker_notice(const char *message, const char *hint);

/*
 * What the background worker runs; its argument is the handle of the shared
 * memory.
 */
extern PGDLLEXPORT void dperm_worker_main(Datum handle);

#endif							/* DPERM_WORKER_H */
