/*
 * worker.h: the process that runs a call on a protected relation, in the phases
 * of phase.h and three transactions: check and charge; read; keep.
 */
#ifndef DPERM_WORKER_H
#define DPERM_WORKER_H

#include "protect/call.h"

/* The functions that it knows, and one of them. */
extern void dperm_worker_knows(const DpermFunction *functions, int count);
extern const DpermFunction *dperm_worker_function(const char *name);

/*
 * What the background worker runs; its argument is the handle of the shared
 * memory.
 */
extern PGDLLEXPORT void dperm_worker_main(Datum handle);

#endif							/* DPERM_WORKER_H */
