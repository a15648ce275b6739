/*
 * load_step.h: load rows by a parallel aggregate.
 *
 * Each process that reads rows encodes them into shared memory, in caches of
 * its own. The result of the aggregate says where they are.
 */
#ifndef DPERM_LOAD_STEP_H
#define DPERM_LOAD_STEP_H

#include "query/source.h"
#include "train/fill.h"

/*
 * Prepare to load the sets of a fill, whose caches are initialised and empty,
 * with so many parallel workers: *key is the argument of the aggregate. Returns
 * NULL if there is no room. In the current context.
 */
extern DpermSharedRows *
dperm_load_step_begin(const DpermFill *fill, const DpermSource *source, int workers,
					  DpermSharedKey *key);

/* The load has ended: its key is of no use any more. */
extern void dperm_load_step_end(const DpermSharedRows *shared);

#endif							/* DPERM_LOAD_STEP_H */
