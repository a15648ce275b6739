/*
 * load.h: rows of a source into memory, in one pass.
 */
#ifndef DPERM_LOAD_H
#define DPERM_LOAD_H

#include "query/source.h"
#include "train/cache.h"

/* Rows that are trained on: those of a source, or of a portion of it. */
typedef struct DpermRows
{
	const DpermSource *source;	/* its encoder is settled */
	int			portion;		/* -1: all */
	int64		count;			/* units: rows, or persons; public */
	bool		complete;		/* are all rows in memory, as they are? */
	bool		elsewhere;		/* do rows stay on other servers, of which a sample has come? */
	/*
	 * the rows, or compact ones, or a sample of those; all of them in its spool
	 * if they may be read only once
	 */
	DpermCache	cache;
} DpermRows;

/*
 * Read rows, in the current memory context: count sets, of sources that differ
 * in nothing but encoder and portion. All that fit into dperm.cache_memory
 * together are kept, or else compact ones, or a sample of each. If portions is
 * not NULL, it gets the number of units of each portion. Needs an SPI
 * connection.
 */
extern void dperm_load(DpermRows *sets, int count, int64 *portions);

/*
 * Let go of the files of sets that are not used any more; their memory is that
 * of the context.
 */
extern void dperm_load_close(DpermRows *sets, int count);

/*
 * The number of units of a source that is read once, by a scan of its own: of
 * the table behind it if there is one. Needs an SPI connection.
 */
extern int64 dperm_load_count(const DpermSource *source);

#endif							/* DPERM_LOAD_H */
