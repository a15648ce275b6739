/*
 * load_parts.c: the rows of one load that several processes have encoded.
 */
#include "postgres.h"

#include "train/load_parts.h"

/* The head of the description of a set; the places of its chunks follow. */
typedef struct SetHead
{
	int64		used;
	int64		seen;
	int64		compact;
	int64		chunks;
} SetHead;

/* Describe a part. */
void
dperm_load_parts_write(StringInfo to, const DpermLoadPart *part, const int64 *portions,
					   int portion_count, DpermFill *fill)
{
	bool		failed;

	for (int i = 0; i < fill->count; i++)
		dperm_cache_end(fill->sets[i].cache);
	failed = dperm_shared_rows_stage(fill->shared) == DPERM_SHARED_FAILED;
	appendBinaryStringInfo(to, (const char *) part, sizeof(*part));
	appendBinaryStringInfo(to, (const char *) portions, sizeof(int64) * portion_count);
	for (int i = 0; i < fill->count; i++)
	{
		const DpermCache *cache = fill->sets[i].cache;
		const DpermKeep *keep = &cache->keep;
		SetHead		set = {keep->used, keep->seen, cache->compact,
						   (keep->used + keep->chunk_rows - 1) / keep->chunk_rows};

		if (failed)
			set.chunks = 0;
		appendBinaryStringInfo(to, (char *) &set, sizeof(set));
		for (int64 j = 0; j < set.chunks; j++)
		{
			uint64		place = dperm_shared_rows_place(fill->shared, keep->chunks[j]);

			appendBinaryStringInfo(to, (char *) &place, sizeof(place));
		}
	}
}

/* Where descriptions are read. */
typedef struct Cursor
{
	const char *at;
	const char *end;
} Cursor;

/* Copy the next bytes. */
static void
next_bytes(Cursor *cursor, void *to, Size size)
{
	if ((Size) (cursor->end - cursor->at) < size)
		elog(ERROR, "a part of a load is incomplete");
	if (to)
		memcpy(to, cursor->at, size);
	cursor->at += size;
}

/* Skip the sets of a part. */
static void
skip_sets(Cursor *cursor, int count)
{
	for (int i = 0; i < count; i++)
	{
		SetHead		set;

		next_bytes(cursor, &set, sizeof(set));
		next_bytes(cursor, NULL, sizeof(uint64) * set.chunks);
	}
}

/* Add the rows of a set of a part to a cache, in the form that it has. */
static void
take_set(DpermCache *cache, DpermSharedRows *shared, Cursor *cursor, const DpermCache *empty)
{
	DpermCache	part = *empty;
	SetHead		set;

	next_bytes(cursor, &set, sizeof(set));
	if (set.compact)
		dperm_cache_compact(&part);
	part.keep.used = set.used;
	part.keep.seen = set.seen;
	part.chunk_count = part.chunk_room = (int) set.chunks;
	if (set.chunks > 0)
	{
		part.keep.chunks = MemoryContextAllocHuge(part.context, sizeof(double *) * set.chunks);
		part.allocated = MemoryContextAllocHuge(part.context, sizeof(void *) * set.chunks);
	}
	for (int64 i = 0; i < set.chunks; i++)
	{
		uint64		place;

		next_bytes(cursor, &place, sizeof(place));
		part.keep.chunks[i] = part.allocated[i] = dperm_shared_rows_at(shared, place);
	}
	if (cache->compact && !set.compact)
		dperm_cache_compact(&part);
	dperm_cache_join(cache, &part);
}

/*
 * Where the last version of each part begins, by the number of its process; NULL
 * for a process without a row.
 */
static Cursor *
find_parts(Cursor cursor, uint32 count, int portion_count, int sets)
{
	Cursor	   *found = palloc0(sizeof(Cursor) * count);
	uint32	   *versions = palloc0(sizeof(uint32) * count);

	while (cursor.at < cursor.end)
	{
		Cursor		begin = cursor;
		DpermLoadPart part;

		next_bytes(&cursor, &part, sizeof(part));
		next_bytes(&cursor, NULL, sizeof(int64) * portion_count);
		skip_sets(&cursor, sets);
		if (part.number >= count)
			elog(ERROR, "a part of a load is of no process");
		if (part.version > versions[part.number])
		{
			versions[part.number] = part.version;
			found[part.number] = begin;
		}
	}
	return found;
}

/* Take over the rows of all parts. */
void
dperm_load_parts_take(DpermSharedRows *shared, const char *parts, Size size, int64 *portions,
					  int portion_count, DpermFill *fill)
{
	uint32		count = dperm_shared_rows_joined(shared);
	Cursor	   *found =
		find_parts((Cursor) {parts, parts + size}, count, portion_count, fill->count);
	bool		compact = dperm_shared_rows_stage(shared) >= DPERM_SHARED_COMPACT;
	DpermCache *empty = palloc(sizeof(DpermCache) * fill->count);

	dperm_shared_rows_take(shared);
	for (int i = 0; i < fill->count; i++)
	{
		dperm_cache_share(fill->sets[i].cache, shared, dperm_fill_chunk_bytes(fill));
		empty[i] = *fill->sets[i].cache;
		if (compact)
			dperm_cache_compact(fill->sets[i].cache);
	}
	for (uint32 i = 0; i < count; i++)
	{
		DpermLoadPart part;

		if (found[i].at == NULL)
			continue;
		next_bytes(&found[i], &part, sizeof(part));
		for (int j = 0; j < portion_count; j++)
		{
			int64		of_portion;

			next_bytes(&found[i], &of_portion, sizeof(of_portion));
			portions[j] += of_portion;
		}
		for (int j = 0; j < fill->count; j++)
			take_set(fill->sets[j].cache, shared, &found[i], &empty[j]);
	}
	dperm_shared_rows_settle(shared);
	fill->shared = shared;
	fill->compact = compact;
}
