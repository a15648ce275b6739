/*
 * protected_call.h: a call on a protected relation, in the session of the
 * caller: another process runs it (worker.h), and the session gets what is
 * released.
 */
#ifndef DPERM_PROTECTED_CALL_H
#define DPERM_PROTECTED_CALL_H

#include "fmgr.h"

/*
 * The relation that argument source of a call names, if it is protected and the
 * call must be handed over; otherwise InvalidOid, also in the process that it
 * was handed to. Raises an error if this transaction has protected the relation
 * or ended its protection.
 */
extern Oid	dperm_protected_call_relation(FunctionCallInfo fcinfo);

/*
 * Run a call in another process, and return its result. A cancel, or the end of
 * this session, ends that process. With InvalidOid as the relation, it reads
 * none.
 */
extern Datum dperm_protected_call(FunctionCallInfo fcinfo, Oid relation);

#endif							/* DPERM_PROTECTED_CALL_H */
