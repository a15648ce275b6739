/*
 * fill.c: rows into caches, encoded, within a limit of memory.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "train/fill.h"

/*
 * The size of a chunk of shared rows, for all sets together: each process has
 * one that is not full, and chunks are what a team divides among its members.
 */
#define SHARED_CHUNK_BYTES ((Size) 1024 * 1024)

/* The size of a chunk of shared rows of one set. */
Size
dperm_fill_chunk_bytes(const DpermFill *fill)
{
	return SHARED_CHUNK_BYTES / fill->count;
}

/* Initialise. */
void
dperm_fill_init(DpermFill *fill, int count, Size limit, DpermSharedRows *shared,
				MemoryContext row_context)
{
	memset(fill, 0, sizeof(*fill));
	fill->count = count;
	fill->sets = palloc0(sizeof(DpermFillSet) * count);
	fill->limit = limit;
	fill->shared = shared;
	fill->row_context = row_context;
}

/* Describe a set. */
void
dperm_fill_describe(DpermFill *fill, int set, int portion, const DpermEncoder *encoder,
					const uint64 *words, DpermCache *cache)
{
	fill->sets[set] = (DpermFillSet) {
		.portion = portion,
		.encoder = encoder,
		.words = words,
		.readers = dperm_reader_make_all(encoder, words),
		.values = palloc0(sizeof(DpermValue) * encoder->block_count),
		.cache = cache
	};
}

/* Initialise the caches. */
void
dperm_fill_start(DpermFill *fill, DpermLabelKind label, int processes, bool weighted)
{
	for (int i = 0; i < fill->count; i++)
	{
		DpermCache *cache = fill->sets[i].cache;

		dperm_cache_init(cache, fill->sets[i].encoder, label,
						 DPERM_FILL_SAMPLE / fill->count / processes,
						 i > 0 ? fill->sets[i - 1].cache : NULL, weighted);
		if (fill->shared)
			dperm_cache_share(cache, fill->shared, dperm_fill_chunk_bytes(fill));
	}
}

/* Keep compact rows from now on. */
void
dperm_fill_compact(DpermFill *fill)
{
	fill->compact = true;
	fill->limit = Max(fill->limit, DPERM_FILL_SAMPLE);
	for (int i = 0; i < fill->count; i++)
	{
		if (fill->spill)
			dperm_cache_spill(fill->sets[i].cache);
		dperm_cache_compact(fill->sets[i].cache);
	}
}

/* Keep samples from now on. */
static void
shrink(DpermFill *fill)
{
	fill->sampled = true;
	for (int i = 0; i < fill->count; i++)
		dperm_cache_shrink(fill->sets[i].cache);
}

/* Would one more row in a cache take too much memory? */
static bool
is_full(const DpermFill *fill, const DpermCache *cache)
{
	Size		size = dperm_cache_needs(cache);

	if (size == 0)
		return false;
	if (fill->shared)
		return !dperm_shared_rows_reserve(fill->shared, size);
	for (int i = 0; i < fill->count; i++)
		size += dperm_cache_size(fill->sets[i].cache);
	return size > fill->limit;
}

/*
 * Make sure that a cache can take one more row. Rows that do not fit into shared
 * memory are loaded again, by one process.
 */
static void
check_room(DpermFill *fill, const DpermCache *cache)
{
	if (fill->shared)
	{
		if (is_full(fill, cache))
			dperm_shared_rows_advance(fill->shared, DPERM_SHARED_FAILED);
		return;
	}
	if (!fill->compact && is_full(fill, cache))
		dperm_fill_compact(fill);
	if (fill->compact && !fill->sampled && is_full(fill, cache))
		shrink(fill);
}

/*
 * Add a row to a set. Values are read in any case: what is fetched must not
 * depend on the label or the owner.
 */
static void
take_row(DpermFill *fill, DpermFillSet *set, const Datum *values, const bool *nulls, double label,
		 int64 owner)
{
	MemoryContext caller;

	if (!dperm_cache_wants(set->cache))
	{
		dperm_cache_skip(set->cache);
		return;
	}
	check_room(fill, set->cache);
	caller = MemoryContextSwitchTo(fill->row_context);
	for (int i = 0; i < set->encoder->block_count; i++)
		dperm_reader_read(&set->readers[i], values[i], nulls[i], &set->values[i]);
	dperm_cache_add(set->cache, set->values, label, owner);
	MemoryContextSwitchTo(caller);
	if (!fill->row_context->isReset || fill->row_context->firstchild)
		MemoryContextReset(fill->row_context);
}

/* Add a row to every set of its portion. */
void
dperm_fill_take(DpermFill *fill, int portion, const Datum *values, const bool *nulls, double label,
				int64 owner)
{
	for (int i = 0; i < fill->count; i++)
		if (fill->sets[i].portion == portion)
			take_row(fill, &fill->sets[i], values, nulls, label, owner);
}
