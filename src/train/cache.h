/*
 * cache.h: encoded rows in memory.
 */
#ifndef DPERM_CACHE_H
#define DPERM_CACHE_H

#include "core/encode/encoder.h"
#include "core/encode/feed.h"
#include "core/encode/keep.h"
#include "train/spool.h"

typedef struct DpermCache
{
	MemoryContext context;		/* of the rows and all else */
	DpermFeed	feed;
	DpermKeep	keep;
	int			chunk_count;
	int			chunk_room;		/* of keep.chunks */
	void	  **allocated;		/* each chunk as it was allocated */
	int64		chunk_rows;		/* of a chunk of full size; until then there is one, which grows */
	bool		compact;		/* are the rows as in core/compact.h? */
	double	   *row;			/* then: room for one as it was */
	Size		sample_bytes;
	/* of the rows that wait; -1: they go to the spool alone */
	int64		places[DPERM_FEED_ROWS];
	double		owners[DPERM_FEED_ROWS];	/* of the same, if rows have weights */
	/*
	 * all rows as they are, once they do not fit into memory and may not be
	 * read again; or NULL
	 */
	DpermSpool *spool;
} DpermCache;

/*
 * Start a cache in the current context. Once rows had to go, it keeps about
 * sample_bytes of them. The encoder stays in use, and so does like, a cache
 * that lends what is the same, or NULL. If weighted, rows have an owner until
 * dperm_cache_weigh() says what they weigh.
 */
extern void dperm_cache_init(DpermCache *cache, const DpermEncoder *encoder, Size sample_bytes,
							 const DpermCache *like, bool weighted);

/* Rows that there is room for. */
static inline int64
dperm_cache_room(const DpermCache *cache)
{
	return cache->chunk_count * cache->keep.chunk_rows;
}

/*
 * Bytes that the next row will need beyond those in use, most often 0: the
 * first chunk doubles, then others come.
 */
static inline Size
dperm_cache_needs(const DpermCache *cache)
{
	return cache->keep.used < dperm_cache_room(cache) ? 0 :
		cache->keep.chunk_rows * cache->keep.words * sizeof(double);
}

/* Bytes of the rows. */
extern Size dperm_cache_size(const DpermCache *cache);

/*
 * Encode and keep a row; sign 0: without a label. owner is for rows with
 * weights. Waiting rows are settled by dperm_cache_end().
 */
extern void dperm_cache_add(DpermCache *cache, const DpermValue *values, int sign, int64 owner);

/*
 * Does the next row matter at all? If not, it is enough to count it with
 * dperm_cache_skip().
 */
static inline bool
dperm_cache_wants(const DpermCache *cache)
{
	return cache->spool || dperm_keep_wants(&cache->keep);
}

static inline void
dperm_cache_skip(DpermCache *cache)
{
	cache->keep.seen++;
}

/*
 * Bring all rows, as they are, to a spool, before they are made compact; and
 * all that come.
 */
extern void dperm_cache_spill(DpermCache *cache);

/* Keep rows in their compact form from now on. */
extern void dperm_cache_compact(DpermCache *cache);

/*
 * Keep no more than a sample from now on, and release the rest of the memory.
 */
extern void dperm_cache_shrink(DpermCache *cache);

/* All rows have arrived. */
extern void dperm_cache_end(DpermCache *cache);

/*
 * After that: what rows weigh by their owner, who may be less than 0 for nobody
 * and nothing. The weights stay in use.
 */
extern void dperm_cache_weigh(DpermCache *cache, const double *weights);

#endif							/* DPERM_CACHE_H */
