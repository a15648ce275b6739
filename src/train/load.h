/*
 * load.h: load the rows of a source into a store, in one scan.
 */
#ifndef DPERM_LOAD_H
#define DPERM_LOAD_H

#include "core/encode/bend.h"
#include "query/source.h"
#include "train/rows.h"

/* What is done to a row when it is settled (rows.h). */
typedef struct DpermLoadSettle
{
	/* of persons' rows, by the owner, who is the last word until then; or NULL */
	const double *weights;
	bool		bends;			/* are open numbers bent? Then how, and room for a row */
	DpermBend	bend;
	double	   *bent;
} DpermLoadSettle;

/* The rows of a source, or of a portion of it. */
typedef struct DpermLoad
{
	const DpermSource *source;	/* with its final encoder, once they are loaded */
	DpermEncoder encoder;		/* that they were read with; it may have open numbers */
	int			portion;		/* -1: all */
	int64		count;			/* units: rows, or persons; public */
	bool		remote;			/* do rows stay on other servers? Then there is a sample. */
	DpermRows	rows;
	DpermLoadSettle settle;
} DpermLoad;

/*
 * Read rows into count sets, in the current memory context; their sources
 * differ only in encoder and portion. If portions is not NULL, it receives the
 * number of units of each portion. Needs an SPI connection.
 */
extern void dperm_load(DpermLoad *sets, int count, int64 *portions);

/*
 * Bend the open numbers of loaded sets (core/encode/bend.h) as the encoders of
 * their sources say, which must have been settled by now. In the current memory
 * context.
 */
extern void dperm_load_bend(DpermLoad *sets, int count);

/* Settle a row; arg is a DpermLoadSettle. */
extern void dperm_load_settle_row(void *arg, double *row);

/*
 * Release the store of sets that are no longer used; other memory belongs to the
 * context.
 */
extern void dperm_load_close(DpermLoad *sets, int count);

#endif							/* DPERM_LOAD_H */
