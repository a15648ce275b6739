/*
 * worker.h: the process that a call over a protected relation runs in.
 *
 * It has three transactions:
 *
 * - check: as the caller. Locks, all checks, the plan, the charge. Reads no
 *   row. Errors travel whole.
 * - read: as the owner of the relation, READ ONLY. Reads and computes. Of an
 *   error only its class travels.
 * - keep: writes what was released beside the ledger.
 *
 * The function that was called runs in the first two of them, and passes from
 * one to the other when it charges (call_charge.c). It is the same function
 * that reads other relations in sessions.
 */
#ifndef DPERM_WORKER_H
#define DPERM_WORKER_H

#include "fmgr.h"

#include "budget/budget.h"

/*
 * Is a call the one that this process is for? Not one that is made by a
 * function that it calls.
 */
extern bool dperm_worker_is_for(FunctionCallInfo fcinfo);

/* Is this process such a worker? */
extern bool dperm_worker_is_this(void);

/* The relation of that call; InvalidOid for any other call. */
extern Oid	dperm_worker_relation(FunctionCallInfo fcinfo);

/*
 * The charge has been written: commit it, and go on as the owner of the
 * relation, who may read rows.
 */
extern void dperm_worker_charged(DpermLedgerEntry entry, Oid owner);

/* That entry of the ledger, afterwards. */
extern DpermLedgerEntry dperm_worker_entry(void);

/*
 * From here on a query is planned, before the charge, as it will be run: with
 * the server's settings, by the owner, who says and writes nothing; and no
 * longer.
 */
extern void dperm_worker_plans(Oid owner);
extern void dperm_worker_planned(Oid owner);

/*
 * Tell the caller something that depends on arguments, the catalog and the number
 * of units alone. From the charge on that waits until the release is kept: to tell
 * a client that is gone ends the call.
 */
extern void dperm_worker_notice(const char *message, const char *hint);

/* Evaluate a row that nobody has written, for half a second at most. */
extern void dperm_worker_tries(void);
extern void dperm_worker_tried(void);

/*
 * The session's answer to the only question there is: which candidate is best
 * on its own table, if there are so many private units?
 */
extern int	dperm_worker_ask(int64 units);

/*
 * What the background worker runs; its argument is the handle of the shared
 * memory.
 */
extern PGDLLEXPORT void dperm_worker_main(Datum handle);

#endif							/* DPERM_WORKER_H */
