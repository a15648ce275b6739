/*
 * transaction.h: which transaction a session is in.
 */
#ifndef DPERM_TRANSACTION_H
#define DPERM_TRANSACTION_H

#include "storage/proc.h"

/* The number of the top transaction, whatever subtransactions there are: no other one of this session has it. InvalidLocalTransactionId outside of any. */
#if PG_VERSION_NUM >= 170000
#define DPERM_TRANSACTION_NUMBER (MyProc->vxid.lxid)
#else
#define DPERM_TRANSACTION_NUMBER (MyProc->lxid)
#endif

#endif							/* DPERM_TRANSACTION_H */
