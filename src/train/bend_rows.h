/*
 * bend_rows.h: rewrite rows in memory for curves, with parallel workers.
 */
#ifndef DPERM_BEND_ROWS_H
#define DPERM_BEND_ROWS_H

#include "storage/dsm.h"
#include "storage/shm_toc.h"

#include "core/encode/bend.h"
#include "core/encode/keep.h"
#include "train/shared_rows.h"

/* How rows are rewritten, which ones, and room for two. */
typedef struct DpermBendRows
{
	DpermBend	bend;
	DpermKeep	keep;
	bool		compact;		/* are they compact? */
	double	   *row;
	double	   *bent;
} DpermBendRows;

/* Initialise, in the current memory context. */
extern void dperm_bend_rows_init(DpermBendRows *rows, const DpermBend *bend, const DpermKeep *keep,
								 bool compact);

/* Rewrite a row that is not compact, in its place. */
extern void dperm_bend_rows_one(void *rows, double *row);

/*
 * Rewrite all rows, in their places, which are in shared memory or, if shared
 * is NULL, not. No query may run.
 */
extern void dperm_bend_rows_all(DpermBendRows *rows, DpermSharedRows *shared);

/* The main function of a worker. */
extern PGDLLEXPORT void dperm_bend_rows_main(dsm_segment *segment, shm_toc *toc);

#endif							/* DPERM_BEND_ROWS_H */
