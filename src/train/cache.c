/*
 * cache.c: encoded rows in memory.
 *
 * The memory of a cache depends only on the number of rows and on their
 * encoder, never on the contents of rows.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "core/encode/compact.h"
#include "train/bend_rows.h"
#include "train/cache.h"

/*
 * The maximum size of a chunk; and the size of a huge page, on which chunks are
 * allocated if available.
 */
#define CHUNK_BYTES (8 * 1024 * 1024)
#define HUGE_PAGE (2 * 1024 * 1024)

/* The initial number of rows of the first chunk. */
#define FIRST_ROWS 64

/*
 * Rows of a chunk: a power of two, so that every 2^k-th row has the same place
 * in each chunk.
 */
static int64
chunk_rows(int words, Size bytes)
{
	int64		rows = FIRST_ROWS;

	while (2 * rows * words * sizeof(double) <= bytes)
		rows *= 2;
	return rows;
}

/* Rows of a sample. */
static int64
sample_rows(Size bytes, int words)
{
	return Max(bytes / (words * sizeof(double)), 2);
}

/* Start a cache. */
void
dperm_cache_init(DpermCache *cache, const DpermEncoder *encoder, DpermLabelKind label,
				 Size sample_bytes, const DpermCache *like, bool weighted)
{
	int			words;

	memset(cache, 0, sizeof(*cache));
	cache->context = CurrentMemoryContext;
	dperm_host_feed(&cache->feed, encoder, like ? &like->feed : NULL);
	cache->feed.layout.label = label;
	if (weighted)
		dperm_layout_weigh(&cache->feed.layout);
	words = cache->feed.layout.words;
	cache->sample_bytes = sample_bytes;
	dperm_keep_init(&cache->keep, words, PG_INT64_MAX, sample_rows(sample_bytes, words),
					FIRST_ROWS);
	cache->chunk_bytes = CHUNK_BYTES;
	cache->chunk_rows = chunk_rows(words, cache->chunk_bytes);
}

/* Keep rows in shared memory: all chunks have the same size from the start. */
void
dperm_cache_share(DpermCache *cache, DpermSharedRows *shared, Size chunk_bytes)
{
	cache->shared = shared;
	cache->chunk_bytes = chunk_bytes;
	cache->chunk_rows = chunk_rows(cache->keep.words, chunk_bytes);
	cache->keep.chunk_rows = cache->chunk_rows;
}

static Size
row_bytes(const DpermCache *cache)
{
	return sizeof(double) * cache->keep.words;
}

/* Bytes of the rows. */
Size
dperm_cache_size(const DpermCache *cache)
{
	return dperm_cache_room(cache) * row_bytes(cache);
}

/* Allocate a chunk; one of full size on huge pages if the system has them. */
static double *
make_chunk(const DpermCache *cache, int64 rows, void **allocated)
{
	Size		size = rows * row_bytes(cache);
	char	   *start;

	if (cache->shared)
		return *allocated = dperm_shared_rows_alloc(cache->shared, size);
	if (rows < cache->chunk_rows)
		return *allocated = MemoryContextAllocHuge(cache->context, size);
	*allocated = MemoryContextAllocHuge(cache->context, size + HUGE_PAGE);
	start = (char *) TYPEALIGN(HUGE_PAGE, *allocated);
#ifdef MADV_HUGEPAGE
	(void) madvise(start, TYPEALIGN_DOWN(HUGE_PAGE, size), MADV_HUGEPAGE);
#endif
	return (double *) start;
}

/* Free a chunk, as it was allocated. */
static void
free_chunk(const DpermCache *cache, void *allocated)
{
	if (cache->shared)
		dperm_shared_rows_free(cache->shared, allocated);
	else
		pfree(allocated);
}

/*
 * Double the size of the only chunk: it starts small, because there may be
 * thousands of groups.
 */
static void
double_chunk(DpermCache *cache)
{
	DpermKeep  *keep = &cache->keep;
	DpermKeep	before = *keep;
	void	   *allocated = cache->allocated[0];
	double	   *chunk = keep->chunks[0];

	before.chunks = &chunk;
	keep->chunk_rows *= 2;
	keep->chunks[0] = make_chunk(cache, keep->chunk_rows, &cache->allocated[0]);
	for (int64 i = 0; i < before.chunk_rows; i++)
		memcpy(dperm_keep_row(keep, i), dperm_keep_row(&before, i), row_bytes(cache));
	pfree(allocated);
}

/* Append a chunk. */
static void
append_chunk(DpermCache *cache, double *chunk, void *allocated)
{
	DpermKeep  *keep = &cache->keep;

	if (cache->chunk_count == cache->chunk_room)
	{
		int			more = Max(16, 2 * cache->chunk_room);

		keep->chunks = keep->chunks ? repalloc(keep->chunks, sizeof(double *) * more) :
			MemoryContextAlloc(cache->context, sizeof(double *) * more);
		cache->allocated = cache->allocated ?
			repalloc(cache->allocated, sizeof(void *) * more) :
			MemoryContextAlloc(cache->context, sizeof(void *) * more);
		cache->chunk_room = more;
	}
	keep->chunks[cache->chunk_count] = chunk;
	cache->allocated[cache->chunk_count++] = allocated;
}

/* Make room for one more row. */
static void
grow(DpermCache *cache)
{
	void	   *allocated;
	double	   *chunk;

	if (cache->chunk_count == 1 && cache->keep.chunk_rows < cache->chunk_rows)
	{
		double_chunk(cache);
		return;
	}
	chunk = make_chunk(cache, cache->keep.chunk_rows, &allocated);
	append_chunk(cache, chunk, allocated);
}

/* Put an encoded row in its place, and into the spool. */
static void
store(DpermCache *cache, const double *row, int64 place)
{
	double	   *to;

	if (cache->spool)
		memcpy(dperm_spool_next(cache->spool), row, sizeof(double) * cache->feed.layout.words);
	if (place < 0)
		return;
	to = dperm_keep_row(&cache->keep, place);
	if (cache->compact)
		dperm_compact_put(&cache->feed.layout, row, to);
	else
		memcpy(to, row, row_bytes(cache));
}

/* Encode the waiting rows, and store them at their places. */
static void
settle_waiting(DpermCache *cache)
{
	const DpermLayout *layout = &cache->feed.layout;
	int			waiting = cache->feed.waiting;
	double	   *row;

	if (waiting == 0)
		return;
	row = dperm_feed_map(&cache->feed);
	for (int i = 0; i < waiting; i++, row += layout->words)
	{
		if (layout->weighted)
			*dperm_row_weight(layout, row) = cache->owners[i];
		store(cache, row, cache->places[i]);
	}
}

/* Encode and keep a row. */
void
dperm_cache_add(DpermCache *cache, const DpermValue *values, double label, int64 owner)
{
	DpermKeep  *keep = &cache->keep;
	int64		place;

	/* rows that are dropped must not wait */
	if (keep->used >= keep->capacity)
		settle_waiting(cache);
	place = dperm_keep_offer(keep);
	if (place < 0 && !cache->spool)
		return;
	if (place >= dperm_cache_room(cache))
		grow(cache);
	if (!dperm_feed_waits(&cache->feed))
	{
		double	   *row = cache->compact ? cache->row : dperm_keep_row(keep, place);

		dperm_feed_write(&cache->feed, values, label, row);
		if (cache->feed.layout.weighted)
			*dperm_row_weight(&cache->feed.layout, row) = (double) owner;
		if (cache->compact)
			store(cache, row, place);
	}
	else
	{
		cache->places[cache->feed.waiting] = place;
		cache->owners[cache->feed.waiting] = (double) owner;
		if (dperm_feed_wait(&cache->feed, values, label))
			settle_waiting(cache);
	}
}

/* Write all rows to a spool. */
void
dperm_cache_spill(DpermCache *cache)
{
	MemoryContext caller = MemoryContextSwitchTo(cache->context);

	settle_waiting(cache);
	cache->spool = dperm_spool_make(cache->feed.layout.words);
	for (int64 i = 0; i < cache->keep.used; i++)
		memcpy(dperm_spool_next(cache->spool), dperm_keep_row(&cache->keep, i), row_bytes(cache));
	MemoryContextSwitchTo(caller);
}

/*
 * Convert rows to their compact form: a chunk is released as soon as its rows
 * are converted.
 */
void
dperm_cache_compact(DpermCache *cache)
{
	DpermKeep  *keep = &cache->keep;
	const DpermLayout *layout = &cache->feed.layout;
	DpermKeep	before;
	DpermSpool *spool = cache->spool;
	void	  **allocated = cache->allocated;
	int			chunk_count = cache->chunk_count;

	settle_waiting(cache);
	before = *keep;
	cache->compact = true;
	cache->spool = NULL;		/* it already has these rows */
	cache->row = MemoryContextAlloc(cache->context, row_bytes(cache));
	keep->words = dperm_compact_words(layout);
	keep->sample = sample_rows(cache->sample_bytes, keep->words);
	keep->chunks = NULL;
	cache->chunk_rows = chunk_rows(keep->words, cache->chunk_bytes);
	keep->chunk_rows = cache->shared ? cache->chunk_rows : FIRST_ROWS;
	cache->allocated = NULL;
	cache->chunk_count = 0;
	cache->chunk_room = 0;
	for (int64 i = 0; i < before.used; i++)
	{
		if (i >= dperm_cache_room(cache))
			grow(cache);
		store(cache, dperm_keep_row(&before, i), i);
		if ((i + 1) % before.chunk_rows == 0)
		{
			free_chunk(cache, allocated[i / before.chunk_rows]);
			CHECK_FOR_INTERRUPTS();
		}
	}
	for (int i = before.used / before.chunk_rows; i < chunk_count; i++)
		free_chunk(cache, allocated[i]);
	if (chunk_count > 0)
	{
		pfree(allocated);
		pfree(before.chunks);
	}
	cache->spool = spool;
}

/* Keep no more than a sample. */
void
dperm_cache_shrink(DpermCache *cache)
{
	DpermKeep  *keep = &cache->keep;

	settle_waiting(cache);
	dperm_keep_shrink(keep);
	while (cache->chunk_count > 1 &&
		   (cache->chunk_count - 1) * keep->chunk_rows >= keep->capacity)
		free_chunk(cache, cache->allocated[--cache->chunk_count]);
}

/* All rows have arrived. */
void
dperm_cache_end(DpermCache *cache)
{
	settle_waiting(cache);
}

/*
 * Move rows from the end of one chunk to the end of another, as many as fit.
 */
static void
move_rows(const DpermKeep *keep, double *from, int64 *from_used, double *to, int64 *to_used)
{
	DpermKeep	source = *keep;
	DpermKeep	target = *keep;

	source.chunks = &from;
	target.chunks = &to;
	while (*from_used > 0 && *to_used < keep->chunk_rows)
		memcpy(dperm_keep_row(&target, (*to_used)++), dperm_keep_row(&source, --*from_used),
			   sizeof(double) * keep->words);
}

/*
 * Add the rows of another cache: its full chunks as they are, so that only the
 * last chunk is not full.
 */
void
dperm_cache_join(DpermCache *cache, DpermCache *other)
{
	DpermKeep  *keep = &cache->keep;
	int64		used = keep->used % keep->chunk_rows;
	int64		more = other->keep.used % keep->chunk_rows;
	int64		full = other->keep.used / keep->chunk_rows;
	double	   *last = used > 0 ? keep->chunks[--cache->chunk_count] : NULL;
	double	   *rest = more > 0 ? other->keep.chunks[full] : NULL;

	Assert(cache->shared && cache->compact == other->compact &&
		   keep->chunk_rows == other->keep.chunk_rows);
	for (int64 i = 0; i < full; i++)
		append_chunk(cache, other->keep.chunks[i], other->allocated[i]);
	for (int64 i = full + (more > 0); i < other->chunk_count; i++)
		free_chunk(cache, other->allocated[i]);
	if (last && rest)
		move_rows(keep, rest, &more, last, &used);
	if (last)
		append_chunk(cache, last, last);
	if (rest && more > 0)
		append_chunk(cache, rest, rest);
	else if (rest)
		free_chunk(cache, rest);
	keep->used += other->keep.used;
	keep->seen += other->keep.seen;
}

/* Rewrite the rows for an encoder with knots. */
void
dperm_cache_bend(DpermCache *cache, const DpermEncoder *encoder)
{
	MemoryContext caller = MemoryContextSwitchTo(cache->context);
	DpermBend	bend = {.lines = cache->feed.encoder, .curves = encoder,
						.from = cache->feed.layout};
	DpermBendRows rows;

	dperm_host_feed(&cache->feed, encoder, NULL);
	cache->feed.layout.label = bend.from.label;
	if (bend.from.weighted)
		dperm_layout_weigh(&cache->feed.layout);
	bend.to = cache->feed.layout;
	Assert(bend.to.words == bend.from.words);
	dperm_bend_rows_init(&rows, &bend, &cache->keep, cache->compact);
	dperm_bend_rows_all(&rows, cache->shared);
	if (cache->spool)
		dperm_spool_change(cache->spool, dperm_bend_rows_one, &rows);
	MemoryContextSwitchTo(caller);
}

/* Set the weights of rows. */
void
dperm_cache_weigh(DpermCache *cache, const double *weights)
{
	const DpermLayout *layout = &cache->feed.layout;

	for (int64 i = 0; i < cache->keep.used; i++)
	{
		double	   *row = dperm_keep_row(&cache->keep, i);
		double	   *word =
			cache->compact ? dperm_compact_weight(layout, row) : dperm_row_weight(layout, row);

		*word = *word < 0 ? 0 : weights[(int64) *word];
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (cache->spool)
		cache->spool->weights = weights;
}
