/*
 * load.h: load the rows of a source into a store, in one scan.
 */
#ifndef DPERM_LOAD_H
#define DPERM_LOAD_H

#include "query/source.h"
#include "train/rows.h"

/* The rows of a source, or of a portion of it. */
typedef struct DpermLoad
{
	const DpermSource *source;
	int			portion;		/* -1: all */
	int64		count;			/* units: rows, or persons; public */
	bool		remote;			/* do rows stay on other servers? Then there is a sample. */
	DpermRows	rows;
} DpermLoad;

/*
 * Read rows into count sets, in the current memory context; their sources
 * differ only in encoder and portion. If portions is not NULL, it receives the
 * number of units of each portion. Needs an SPI connection.
 */
extern void dperm_load(DpermLoad *sets, int count, int64 *portions);

/*
 * The encoders of the sources of sets that have been loaded have the knots of open
 * numbers now. In the current memory context.
 */
extern void dperm_load_settle(DpermLoad *sets, int count);

/*
 * Release the store of sets that are no longer used; other memory belongs to the
 * context.
 */
extern void dperm_load_close(DpermLoad *sets, int count);

#endif							/* DPERM_LOAD_H */
