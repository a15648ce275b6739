/*
 * spool.h: encoded rows in a temporary file, to be read in passes.
 *
 * For rows that may be read only once from their relation and do not fit into
 * memory. The file is a temporary file of fd.h, which counts against
 * temp_file_limit and is removed at the end of the transaction at the latest.
 * It is not a BufFile, whose reads show in EXPLAIN (BUFFERS): the number of
 * passes depends on the contents of rows. The size of the file depends only on
 * the number of rows and on their encoder.
 */
#ifndef DPERM_SPOOL_H
#define DPERM_SPOOL_H

#include "storage/fd.h"

typedef struct DpermSpool
{
	int			words;			/* of a row, in doubles */
	int64		rows;			/* written */
	/*
	 * by owner; unless NULL, the last word of a row on file is its owner, and
	 * reading replaces it by the weight
	 */
	const double *weights;
	File		file;
	off_t		at;				/* next position to write or read */
	double	   *buffer;
	int			buffer_rows;
	int			waiting;		/* rows in the buffer, not yet on file */
	int64		left;			/* rows to read */
} DpermSpool;

/* Begin a spool, in the current memory context. */
extern DpermSpool *dperm_spool_make(int words);

/* The place for one more row; the caller fills in all of its words. */
extern double *dperm_spool_next(DpermSpool *spool);

/* Start reading at the first row; no more rows may be added. */
extern void dperm_spool_rewind(DpermSpool *spool);

/*
 * Some more rows, contiguous, and their number; NULL at the end. They are valid
 * until the next call, and may be modified.
 */
extern double *dperm_spool_read(DpermSpool *spool, int *count);

/*
 * Change every row on file in its place; no more rows may be added. Words stay
 * as many, and the last one of a row is still its owner.
 */
extern void
dperm_spool_change(DpermSpool *spool, void (*change) (void *arg, double *row), void *arg);

/*
 * Close the file; the end of the transaction does so, too. The spool may be
 * NULL.
 */
extern void dperm_spool_close(DpermSpool *spool);

#endif							/* DPERM_SPOOL_H */
