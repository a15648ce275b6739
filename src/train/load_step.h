/*
 * load_step.h: load rows by a parallel aggregate.
 *
 * Each process that reads rows encodes them into one store. The result of the
 * aggregate says where they are.
 */
#ifndef DPERM_LOAD_STEP_H
#define DPERM_LOAD_STEP_H

#include "query/source.h"
#include "train/intake.h"

/*
 * Prepare to load the sets of an intake with so many parallel workers: *key is
 * the argument of the aggregate. NULL if there is no shared memory.
 */
extern DpermStore *dperm_load_step_begin(const DpermIntake *intake, const DpermSource *source,
										 Size limit, int workers, DpermRowsKey *key);

/*
 * The load has ended, with a result, or NULL: take its rows over into the sets of
 * the intake. Returns the number of rows that were loaded, as the aggregate counted
 * them.
 */
extern int64 dperm_load_step_end(DpermStore *store, DpermIntake *intake, DpermLabelKind label,
								 const bytea *parts);

#endif							/* DPERM_LOAD_STEP_H */
