/*
 * fill.h: rows into caches, encoded, within a limit of memory.
 *
 * How much is kept depends only on the number of rows and on the encoders: all
 * rows as they are; once these are too many, all of them compact; then a
 * sample. Several processes that share rows do this together.
 */
#ifndef DPERM_FILL_H
#define DPERM_FILL_H

#include "column/reader.h"
#include "train/cache.h"

/*
 * The total memory for compact rows or samples if rows do not fit, even if
 * dperm.cache_memory is smaller.
 */
#define DPERM_FILL_SAMPLE ((Size) 48 * 1024 * 1024)

/* A set of rows: those of a portion, in one encoding. */
typedef struct DpermFillSet
{
	int			portion;		/* -1: all rows */
	const DpermEncoder *encoder;
	const uint64 *words;		/* of its readers, as in a request */
	DpermReader *readers;
	DpermValue *values;
	DpermCache *cache;
} DpermFillSet;

typedef struct DpermFill
{
	DpermFillSet *sets;
	int			count;
	Size		limit;			/* of all caches together */
	bool		spill;			/* do rows that do not fit go to a spool? */
	bool		compact;		/* are rows kept in their compact form? */
	bool		sampled;		/* were rows dropped? */
	DpermSharedRows *shared;	/* where the rows are, or NULL */
	MemoryContext row_context;	/* the caller's; reset after each row */
} DpermFill;

/*
 * Initialise, in the current context; then describe each set, by its encoder
 * and the words of its readers, with a cache that is initialised here.
 */
extern void dperm_fill_init(DpermFill *fill, int count, Size limit, DpermSharedRows *shared,
							MemoryContext row_context);
extern void
dperm_fill_describe(DpermFill *fill, int set, int portion, const DpermEncoder *encoder,
					const uint64 *words, DpermCache *cache);

/*
 * Initialise the caches, for a kind of labels; processes says how many fill
 * them, for rows that are shared.
 */
extern void
dperm_fill_start(DpermFill *fill, DpermLabelKind label, int processes, bool weighted);

/* The size of a chunk of a set, for rows that are shared. */
extern Size dperm_fill_chunk_bytes(const DpermFill *fill);

/* Keep compact rows from now on. */
extern void dperm_fill_compact(DpermFill *fill);

/*
 * Add a row to every set of its portion, with one value for each block. The
 * owner is for rows with weights.
 */
extern void dperm_fill_take(DpermFill *fill, int portion, const Datum *values, const bool *nulls,
							double label, int64 owner);

#endif							/* DPERM_FILL_H */
