/*
 * protected_call.h: a call over a protected relation, in the session of the
 * caller: another process does it (worker.h), and the session gets what is
 * released.
 */
#ifndef DPERM_PROTECTED_CALL_H
#define DPERM_PROTECTED_CALL_H

#include "fmgr.h"

/*
 * The relation of a call, by its argument source, if it is protected, so that
 * the call must be handed over; InvalidOid if it must not: also in the process
 * that it was handed to. Raises if this transaction has protected the relation,
 * or ended its protection.
 */
extern Oid	dperm_protected_call_relation(FunctionCallInfo fcinfo);

/*
 * Answers the question of a worker, which is how many units there are: with the
 * number of a candidate.
 */
typedef int (*DpermAnswerer) (int64 units, void *arg);

/*
 * Have another process do a call, and return its result. A cancel, or the end
 * of this session, ends that process. With a relation of InvalidOid, it reads
 * none. The answerer may be NULL where nothing is asked.
 */
extern Datum
dperm_protected_call(FunctionCallInfo fcinfo, Oid relation, DpermAnswerer answerer, void *arg);

#endif							/* DPERM_PROTECTED_CALL_H */
