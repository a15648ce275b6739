/*
 * keep.h: the rows of a stream in memory: all of them while they fit, then an
 * even sample.
 *
 * Every stride-th row is kept. While the stride is 1 that is the whole stream;
 * when the rows no longer fit, every second kept row is dropped and the stride
 * doubles, until a sample of the requested size is left. The solver starts from
 * the sample; what is released does not depend on it beyond the certified
 * residual, so it needs no randomness. Rows are stored in chunks, which the
 * caller allocates as needed and may release when they become empty.
 *
 * The rows of a chunk are distributed over stripes in turn, so that each stripe
 * is an even sample of the chunk that is contiguous in memory.
 */
#ifndef DPERM_KEEP_H
#define DPERM_KEEP_H

#include <stdbool.h>
#include <stdint.h>

/* Stripes of a chunk. */
#define DPERM_STRIPES 8

typedef struct DpermKeep
{
	int			words;			/* of a row, in doubles */
	int64_t		capacity;		/* rows at most: 0 keeps nothing, else >= 2 */
	int64_t		sample;			/* rows at most once some were dropped: 2 to capacity */
	int64_t		used;			/* rows held now */
	int64_t		seen;			/* rows offered */
	int64_t		stride;			/* a power of two */
	int64_t		chunk_rows;		/* rows of a chunk: a power of two, DPERM_STRIPES or more */
	double	  **chunks;			/* the caller's */
} DpermKeep;

extern void dperm_keep_init(DpermKeep *keep, int words, int64_t capacity, int64_t sample,
							int64_t chunk_rows);

/* Keep only a sample from now on. */
extern void dperm_keep_shrink(DpermKeep *keep);

/* The row at a place. */
static inline double *
dperm_keep_row(const DpermKeep *keep, int64_t place)
{
	/* powers of two: a division would be too slow */
	int64_t		within = place & (keep->chunk_rows - 1);
	int64_t		row = (within & (DPERM_STRIPES - 1)) * (keep->chunk_rows / DPERM_STRIPES) +
		within / DPERM_STRIPES;

	return keep->chunks[place >> __builtin_ctzll((uint64_t) keep->chunk_rows)] +
		keep->words * row;
}

/* Will the next row be kept, unless the sample is thinned first? */
static inline bool
dperm_keep_wants(const DpermKeep *keep)
{
	return (keep->seen & (keep->stride - 1)) == 0;
}

/*
 * The place for the next row, or -1 if it is not kept. The caller makes sure
 * that the chunk is allocated, and writes the row to dperm_keep_row() of the
 * place.
 */
static inline int64_t
dperm_keep_offer(DpermKeep *keep)
{
	bool		wanted = keep->capacity > 0 && dperm_keep_wants(keep);

	if (wanted && keep->used >= keep->capacity)
	{
		dperm_keep_shrink(keep);
		wanted = dperm_keep_wants(keep);
	}
	keep->seen++;
	return wanted ? keep->used++ : -1;
}

#endif							/* DPERM_KEEP_H */
