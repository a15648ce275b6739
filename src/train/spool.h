/*
 * spool.h: encoded rows in a temporary file, written once and read in passes.
 *
 * For rows that may be read only once from their relation, and do not fit into
 * memory. The file is a plain one of fd.h, which counts against temp_file_limit
 * and is gone at the end of the transaction at the latest. It is not a BufFile,
 * whose reads show in EXPLAIN (BUFFERS): how many passes there are depends on
 * what rows hold. How large the file is depends on the number of rows and on
 * their encoder alone.
 */
#ifndef DPERM_SPOOL_H
#define DPERM_SPOOL_H

#include "storage/fd.h"

typedef struct DpermSpool
{
	int			words;			/* of a row, in doubles */
	int64		rows;			/* written */
	/*
	 * by owner: unless NULL, the last word of a row on file is its owner, and
	 * is read as what it weighs
	 */
	const double *weights;
	File		file;
	off_t		at;				/* where to write or read on */
	double	   *buffer;
	int			buffer_rows;
	int			waiting;		/* rows in the buffer that are not on file yet */
	int64		left;			/* rows to read */
} DpermSpool;

/* Begin a spool, in the current memory context. */
extern DpermSpool *dperm_spool_make(int words);

/* The place for one more row; the caller fills in all of its words. */
extern double *dperm_spool_next(DpermSpool *spool);

/* Start to read from the first row on; no row may be added any more. */
extern void dperm_spool_rewind(DpermSpool *spool);

/*
 * Some more rows, row after row, and how many; NULL at the end. They last until
 * the next call, and may be changed.
 */
extern double *dperm_spool_read(DpermSpool *spool, int *count);

/* Let go of the file; the end of the transaction does so too. NULL is none. */
extern void dperm_spool_close(DpermSpool *spool);

#endif							/* DPERM_SPOOL_H */
