/*
 * load.h: rows of a source into memory, in one pass.
 */
#ifndef DPERM_LOAD_H
#define DPERM_LOAD_H

#include "cache.h"
#include "source.h"

/* Rows that are trained on: those of a source, or of a portion of it. */
typedef struct DpermRows
{
	const DpermSource *source;	/* its encoder is settled */
	int			portion;		/* -1: all */
	int64		count;
	bool		complete;		/* are all rows in memory, as they are? */
	DpermCache	cache;			/* the rows, or compact ones, or a sample of those */
} DpermRows;

/*
 * Read rows, in the current memory context: count sets, of sources that differ in nothing but encoder
 * and portion. All that fit into dperm.cache_memory together are kept, or else compact ones, or a sample of each. If
 * portions is not NULL, it gets the number of rows of each portion. Needs an SPI connection.
 */
extern void dperm_load(DpermRows *sets, int count, int64 *portions);

#endif							/* DPERM_LOAD_H */
