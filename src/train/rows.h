/*
 * rows.h: encoded rows, in memory and in temporary files. Trusted: a row that is
 * lost here, or is here twice, breaks the guarantee.
 *
 * A store has sets of rows: those of a portion, in one encoding. All rows of a
 * set have the same size, and are in chunks. A chunk is in private memory, in
 * shared memory, or in a temporary file; memory is used up to a limit, which
 * holds for all sets and all processes together. Several processes can fill a
 * store, each its own chunks, and read it.
 */
#ifndef DPERM_ROWS_H
#define DPERM_ROWS_H

#include "lib/stringinfo.h"
#include "storage/dsm.h"
#include "utils/dsa.h"

#include "core/encode/encoder.h"
#include "core/encode/layout.h"

#define DPERM_ROWS_TOKEN 16

/* What a process must know to join a store. */
typedef struct DpermRowsKey
{
	dsm_handle	handle;
	unsigned char token[DPERM_ROWS_TOKEN];	/* random: nobody else can join */
} DpermRowsKey;

typedef struct DpermStore DpermStore;

/* Some rows of a set, contiguous. */
typedef struct DpermChunk
{
	int64		rows;
	double	   *memory;			/* private; NULL: elsewhere */
	dsa_pointer shared;			/* invalid: elsewhere */
	int64		file;			/* its number, if neither; of shared memory, that of the area */
	int64		at;				/* if neither: the first byte in the file */
} DpermChunk;

/*
 * A set of rows. Rows are filled in by dperm_rows_next() or, if they are encoded
 * here, by dperm_rows_add(), and stay as they are.
 */
typedef struct DpermRows
{
	DpermStore *store;
	DpermFeed	feed;			/* how rows are encoded, and their layout; may be zeros */
	int			words;			/* of a row */
	int64		count;			/* rows, once all have arrived */
	int64		seen;			/* by this process */
	DpermChunk *chunks;
	int64		chunk_count;
	int64		chunk_room;
	int64		chunk_rows;		/* of a full one */

	/* the block of memory that is being filled */
	DpermChunk	block;			/* where it is */
	double	   *memory;			/* of it; in front of a file, a buffer */
	int64		first;			/* of its rows that are in no chunk yet */
	int64		used;
	int64		room;
	double	   *buffer;			/* for rows of files, or NULL */
} DpermRows;

/*
 * Make a store in the current context, for this process alone: rows beyond the
 * limit go to a file if files are allowed; else there is no place for them. Are
 * they rows of a protected relation?
 */
extern DpermStore *dperm_rows_make(Size limit, bool files, bool protected);

/*
 * Make a store that other processes can join; all can read a note. NULL if there
 * is no shared memory for it.
 */
extern DpermStore *dperm_rows_share(Size limit, int processes, const char *note, Size note_size,
									DpermRowsKey *key);

/* Is there so much shared memory? PostgreSQL's parallel contexts raise an error if not. */
extern bool dperm_rows_room(Size size);

/* Join, in a parallel worker, in the current context; NULL for a wrong key. */
extern DpermStore *dperm_rows_join(const DpermRowsKey *key);
extern const char *dperm_rows_note(const DpermStore *store);

/* How to join a store, and how many processes fill it; of a private one, 1. */
extern DpermRowsKey dperm_rows_key(const DpermStore *store);
extern int	dperm_rows_processes(const DpermStore *store);

/*
 * Release a store, which may be NULL, with its files and shared memory; what is
 * not released is at the end of the transaction.
 */
extern void dperm_rows_close(DpermStore *store);

/*
 * Initialise a set, one of so many, in the current context: of rows of so many
 * words; or of rows that are encoded, which have an owner if they are weighted.
 * The encoder stays in use, and so does like, a set with which this one shares
 * what is the same, or NULL.
 */
extern void dperm_rows_init(DpermRows *rows, DpermStore *store, int words, int sets);
extern void dperm_rows_init_encoded(DpermRows *rows, DpermStore *store,
									const DpermEncoder *encoder, DpermLabelKind label,
									bool weighted, const DpermRows *like, int sets);

/* The place for one more row; NULL if there is none. The caller fills in all of its words. */
extern double *dperm_rows_next(DpermRows *rows);

/* Encode and add a row; false if there is no place. */
extern bool dperm_rows_add(DpermRows *rows, const DpermValue *values, double label, double owner);

/* All rows have arrived, those of other processes, too. */
extern void dperm_rows_end(DpermRows *rows);

/*
 * Hand over the chunks that this process has filled since the last time, to a
 * process that takes them. Taking returns the end of what was read.
 */
extern void dperm_rows_hand_over(DpermRows *rows, StringInfo to);
extern const char *dperm_rows_take_over(DpermRows *rows, const char *from, const char *end);

/* The rows of a chunk. They are valid until the next call for this set. */
extern const double *dperm_rows_chunk(DpermRows *rows, int64 chunk);

/* Give the shared memory of a chunk back to the system. Nobody may use its rows any more. */
extern void dperm_rows_discard(DpermRows *rows, int64 chunk);

/*
 * A sample of so many rows, in the current context: pieces of a few
 * rows, at even distances. All rows must have arrived. Returns how many it has.
 */
extern int64 dperm_rows_sample(DpermRows *rows, int64 count, double **sample);

static inline Size
dperm_rows_bytes(const DpermRows *rows)
{
	return sizeof(double) * rows->words * rows->count;
}

#endif							/* DPERM_ROWS_H */
