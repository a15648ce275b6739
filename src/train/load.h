/*
 * load.h: load the rows of a source into memory, in one pass.
 */
#ifndef DPERM_LOAD_H
#define DPERM_LOAD_H

#include "query/source.h"
#include "train/cache.h"

/* Rows to train on: those of a source, or of a portion of it. */
typedef struct DpermRows
{
	const DpermSource *source;	/* with its final encoder, once they are loaded and bent */
	DpermEncoder encoder;		/* that they were read with; it may have open numbers */
	int			portion;		/* -1: all */
	int64		count;			/* units: rows, or persons; public */
	bool		complete;		/* are all rows in memory, and not compact? */
	bool		elsewhere;		/* do rows stay on other servers? Then there is a sample. */
	/*
	 * the rows, or compact ones, or a sample of those; its spool has all rows
	 * if they may be read only once
	 */
	DpermCache	cache;
	/* of the first set: where the rows of all sets are, if several processes loaded them */
	DpermSharedRows *shared;
} DpermRows;

/*
 * Read rows into count sets, in the current memory context; their sources
 * differ only in encoder and portion. All rows are kept if they fit into
 * dperm.cache_memory together, else compact ones, or a sample of each set. If
 * portions is not NULL, it receives the number of units of each portion. Needs
 * an SPI connection.
 */
extern void dperm_load(DpermRows *sets, int count, int64 *portions);

/*
 * Bend the open numbers of loaded sets (core/encode/bend.h) as the encoders of
 * their sources say, which must have been settled by now.
 */
extern void dperm_load_bend(DpermRows *sets, int count);

/*
 * Close the files of sets that are no longer used, and release shared memory;
 * other memory belongs to the context.
 */
extern void dperm_load_close(DpermRows *sets, int count);

#endif							/* DPERM_LOAD_H */
