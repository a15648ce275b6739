/*
 * load.c: rows of a source into memory, in one pass.
 *
 * The executor hands each row to a receiver of ours, which encodes it right away. How much is kept
 * depends on the number of rows and on the encoders alone.
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

#include "dperm.h"
#include "load.h"
#include "queries.h"
#include "reader.h"

/* Memory for compact rows or samples, when rows do not fit, together and even if less is set. */
#define SAMPLE_BYTES ((Size) 48 * 1024 * 1024)

/* Rows between two reports. */
#define REPORT_ROWS 1000000

/* A receiver of rows. */
typedef struct Loader
{
	DestReceiver pub;			/* must be first */
	DpermRows  *sets;
	int			count;
	Size		limit;			/* of all caches together */
	bool		compact;		/* are rows kept in their compact form? */
	bool		sampled;		/* did rows have to go? */
	int64	   *portions;		/* rows of each, or NULL */
	int64		rows;
	MemoryContext row_context;	/* reset after each row */
	DpermReader **readers;		/* of each set */
	DpermValue **values;
} Loader;

/* Keep compact rows from now on. */
static void
compact(Loader *loader)
{
	loader->compact = true;
	loader->limit = Max(loader->limit, SAMPLE_BYTES);
	for (int i = 0; i < loader->count; i++)
		dperm_cache_compact(&loader->sets[i].cache);
}

/* Keep samples from now on. */
static void
shrink(Loader *loader)
{
	loader->sampled = true;
	for (int i = 0; i < loader->count; i++)
		dperm_cache_shrink(&loader->sets[i].cache);
}

/* Would a set with one more row take too much memory? */
static bool
is_full(const Loader *loader, const DpermRows *set)
{
	Size		size = dperm_cache_needs(&set->cache);

	if (size == 0)
		return false;
	for (int i = 0; i < loader->count; i++)
		size += dperm_cache_size(&loader->sets[i].cache);
	return size > loader->limit;
}

/* Make sure that a set can take one more row. */
static void
check_room(Loader *loader, const DpermRows *set)
{
	if (!loader->compact && is_full(loader, set))
		compact(loader);
	if (loader->compact && !loader->sampled && is_full(loader, set))
		shrink(loader);
}

/* Take a row into a set. */
static void
take_row(Loader *loader, int number, TupleTableSlot *slot)
{
	DpermRows  *set = &loader->sets[number];
	DpermReader *readers = loader->readers[number];
	DpermValue *values = loader->values[number];
	MemoryContext caller;
	int			sign = 0;

	if (!dperm_cache_wants(&set->cache))
	{
		dperm_cache_skip(&set->cache);
		return;
	}
	check_room(loader, set);
	if (!slot->tts_isnull[0])
		sign = DatumGetBool(slot->tts_values[0]) ? 1 : -1;
	caller = MemoryContextSwitchTo(loader->row_context);
	for (int i = 0; i < set->source->block_count; i++)
		dperm_reader_read(&readers[i], slot->tts_values[i + 1], slot->tts_isnull[i + 1],
						  &values[i]);
	dperm_cache_add(&set->cache, values, sign);
	MemoryContextSwitchTo(caller);
	if (!loader->row_context->isReset || loader->row_context->firstchild)
		MemoryContextReset(loader->row_context);
}

/* A row has arrived. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Loader	   *loader = (Loader *) self;
	int			portion = -1;

	slot_getallattrs(slot);
	if (loader->portions)
	{
		portion = DatumGetInt32(slot->tts_values[slot->tts_nvalid - 1]);
		loader->portions[portion]++;
	}
	for (int i = 0; i < loader->count; i++)
		if (loader->sets[i].portion == portion)
			take_row(loader, i, slot);
	if (++loader->rows % REPORT_ROWS == 0 && dperm_progress)
		ereport(INFO, (errmsg("dperm: " INT64_FORMAT " rows read", loader->rows)));
	return true;
}

static void
start_rows(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
end_rows(DestReceiver *self)
{
}

/* Prepare to take rows. */
static void
init_loader(Loader *loader, DpermRows *sets, int count, int64 *portions)
{
	memset(loader, 0, sizeof(*loader));
	loader->pub.receiveSlot = receive_row;
	loader->pub.rStartup = start_rows;
	loader->pub.rShutdown = end_rows;
	loader->pub.rDestroy = end_rows;
	loader->pub.mydest = DestTuplestore;	/* anything that SPI does not make itself */
	loader->sets = sets;
	loader->count = count;
	loader->portions = portions;
	loader->limit = (Size) dperm_cache_memory * 1024;
	loader->row_context = AllocSetContextCreate(CurrentMemoryContext, "dperm row",
												ALLOCSET_DEFAULT_SIZES);
	loader->readers = palloc(sizeof(DpermReader *) * count);
	loader->values = palloc(sizeof(DpermValue *) * count);
	for (int i = 0; i < count; i++)
	{
		const DpermPassSpec *spec = &sets[i].source->spec;

		dperm_cache_init(&sets[i].cache, &spec->encoder, SAMPLE_BYTES / count,
						 i > 0 ? &sets[i - 1].cache : NULL);
		loader->readers[i] = dperm_reader_make_all(&spec->encoder, spec->readers);
		loader->values[i] = palloc0(sizeof(DpermValue) * spec->encoder.block_count);
	}
	if (loader->limit == 0)
		compact(loader);
}

/* Read rows. */
void
dperm_load(DpermRows *sets, int count, int64 *portions)
{
	const DpermSource *source = sets[0].source;
	Loader		loader;

	if (portions)
		memset(portions, 0, sizeof(int64) * source->portions);
	init_loader(&loader, sets, count, portions);
	dperm_queries_read(source, &loader.pub);
	for (int i = 0; i < count; i++)
	{
		dperm_cache_end(&sets[i].cache);
		sets[i].count = sets[i].cache.keep.seen;
		sets[i].complete = !loader.compact;
	}
	MemoryContextDelete(loader.row_context);
	if (dperm_progress && loader.rows % REPORT_ROWS != 0)
		ereport(INFO, (errmsg("dperm: " INT64_FORMAT " rows read", loader.rows)));
}
