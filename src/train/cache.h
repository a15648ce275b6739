/*
 * cache.h: encoded rows in memory.
 */
#ifndef DPERM_CACHE_H
#define DPERM_CACHE_H

#include "core/encode/encoder.h"
#include "core/encode/feed.h"
#include "core/encode/keep.h"
#include "core/solve/matrix.h"
#include "train/shared_rows.h"
#include "train/spool.h"

typedef struct DpermCache
{
	MemoryContext context;		/* of the rows and everything else */
	DpermFeed	feed;
	DpermKeep	keep;
	int			chunk_count;
	int			chunk_room;		/* of keep.chunks */
	void	  **allocated;		/* each chunk as it was allocated */
	int64		chunk_rows;		/* of a full-size chunk; until then there is one that grows */
	bool		compact;		/* are the rows compact (core/encode/compact.h)? */
	double	   *row;			/* if so: room for one row that is not compact */
	Size		sample_bytes;
	DpermSharedRows *shared;	/* where chunks are; NULL: in the context */
	Size		chunk_bytes;	/* of a full-size chunk, at most */
	DpermHelp	help;			/* of other processes with sums over the rows; or zeros */
	/* of the waiting rows; -1: only in the spool */
	int64		places[DPERM_FEED_ROWS];
	double		owners[DPERM_FEED_ROWS];	/* of the waiting rows, if rows have weights */
	/*
	 * all rows unchanged, if they do not fit into memory and must not be read
	 * again; or NULL
	 */
	DpermSpool *spool;
} DpermCache;

/*
 * Start a cache in the current context. Once rows have to be dropped, it keeps
 * about sample_bytes of them. The encoder stays in use, and so does like, a
 * cache with which it shares what is the same, or NULL. If weighted, rows have
 * an owner until dperm_cache_weigh() sets their weights.
 */
extern void dperm_cache_init(DpermCache *cache, const DpermEncoder *encoder, DpermLabelKind label,
							 Size sample_bytes, const DpermCache *like, bool weighted);

/*
 * Just after that: keep rows in shared memory, in chunks of about this size.
 */
extern void dperm_cache_share(DpermCache *cache, DpermSharedRows *shared, Size chunk_bytes);

/* How many rows there is room for. */
static inline int64
dperm_cache_room(const DpermCache *cache)
{
	return cache->chunk_count * cache->keep.chunk_rows;
}

/*
 * Additional bytes for the next row, usually 0: the first chunk doubles, then
 * more chunks are added.
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
 * Encode and keep a row, whose label is as its kind says (label_kind.h). owner
 * is for rows with weights. dperm_cache_end() stores rows that still wait.
 */
extern void dperm_cache_add(DpermCache *cache, const DpermValue *values, double label,
							int64 owner);

/*
 * Will the next row be kept? If not, it is enough to count it with
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
 * Write all rows to a spool, before they are made compact, and all later rows,
 * too.
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
 * After that: add the rows of another cache, which is not used any more. Both
 * share rows in the same way.
 */
extern void dperm_cache_join(DpermCache *cache, DpermCache *other);

/*
 * After that: rewrite the rows for an encoder that has settled the open numbers
 * of the cache's (core/encode/bend.h), and stays in use.
 */
extern void dperm_cache_bend(DpermCache *cache, const DpermEncoder *encoder);

/*
 * After that: set the weights of rows by owner; an owner less than 0 is nobody,
 * with weight 0. The weights stay in use.
 */
extern void dperm_cache_weigh(DpermCache *cache, const double *weights);

#endif							/* DPERM_CACHE_H */
