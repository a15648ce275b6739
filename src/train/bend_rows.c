/*
 * bend_rows.c: rewrite rows in memory for curves, with parallel workers.
 *
 * Each process takes the next chunk until there is none. Whoever comes late
 * finds nothing to do.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"

#include "core/encode/compact.h"
#include "train/bend_rows.h"

/* Keys of the table of contents. */
#define KEY_SHARED 1
#define KEY_LINES 2
#define KEY_CURVES 3
#define KEY_PLACES 4

/* What all processes see. */
typedef struct Shared
{
	DpermSharedKey key;			/* of the rows */
	DpermBendRows rows;			/* without its pointers */
	int			blocks;
	pg_atomic_uint64 next;		/* chunk */
} Shared;

/* Initialise. */
void
dperm_bend_rows_init(DpermBendRows *rows, const DpermBend *bend, const DpermKeep *keep,
					 bool compact)
{
	*rows = (DpermBendRows) {.bend = *bend, .keep = *keep, .compact = compact};
	rows->row = palloc(sizeof(double) * bend->from.words);
	rows->bent = palloc(sizeof(double) * bend->to.words);
}

/* Rewrite a row. */
void
dperm_bend_rows_one(void *arg, double *row)
{
	DpermBendRows *rows = arg;

	dperm_bend_row(&rows->bend, row, rows->bent);
	memcpy(row, rows->bent, sizeof(double) * rows->bend.to.words);
}

/* The same for a compact row. */
static void
bend_compact(DpermBendRows *rows, double *compact)
{
	dperm_compact_get(&rows->bend.from, compact, 0, 1, rows->row);
	dperm_bend_row(&rows->bend, rows->row, rows->bent);
	dperm_compact_put(&rows->bend.to, rows->bent, compact);
}

static int64
chunk_count(const DpermKeep *keep)
{
	return (keep->used + keep->chunk_rows - 1) / keep->chunk_rows;
}

/* Rewrite the rows of a chunk. */
static void
bend_chunk(DpermBendRows *rows, int64 chunk)
{
	const DpermKeep *keep = &rows->keep;
	int64		end = Min((chunk + 1) * keep->chunk_rows, keep->used);

	for (int64 i = chunk * keep->chunk_rows; i < end; i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (rows->compact)
			bend_compact(rows, dperm_keep_row(keep, i));
		else
			dperm_bend_rows_one(rows, dperm_keep_row(keep, i));
	}
}

/* Copy something to where workers see it. */
static void *
show(shm_toc *toc, uint64 key, const void *from, Size size)
{
	void	   *to = shm_toc_allocate(toc, size);

	if (from)
		memcpy(to, from, size);
	shm_toc_insert(toc, key, to);
	return to;
}

/* Start workers. */
static Shared *
start_workers(const DpermBendRows *rows, DpermSharedRows *shared, ParallelContext *context)
{
	int			blocks = rows->bend.lines->block_count;
	int64		chunks = chunk_count(&rows->keep);
	Shared		seen = {.key = dperm_shared_rows_key(shared), .rows = *rows, .blocks = blocks};
	Shared	   *to;
	uint64	   *places;

	shm_toc_estimate_chunk(&context->estimator, sizeof(Shared));
	shm_toc_estimate_chunk(&context->estimator, sizeof(DpermBlock) * blocks);
	shm_toc_estimate_chunk(&context->estimator, sizeof(DpermBlock) * blocks);
	shm_toc_estimate_chunk(&context->estimator, sizeof(uint64) * chunks);
	shm_toc_estimate_keys(&context->estimator, 4);
	InitializeParallelDSM(context);
	to = show(context->toc, KEY_SHARED, &seen, sizeof(seen));
	pg_atomic_init_u64(&to->next, 0);
	show(context->toc, KEY_LINES, rows->bend.lines->blocks, sizeof(DpermBlock) * blocks);
	show(context->toc, KEY_CURVES, rows->bend.curves->blocks, sizeof(DpermBlock) * blocks);
	places = show(context->toc, KEY_PLACES, NULL, sizeof(uint64) * chunks);
	for (int64 i = 0; i < chunks; i++)
		places[i] = dperm_shared_rows_place(shared, rows->keep.chunks[i]);
	LaunchParallelWorkers(context);
	return to;
}

/* Rewrite all rows. */
void
dperm_bend_rows_all(DpermBendRows *rows, DpermSharedRows *shared)
{
	int			workers = dperm_shared_rows_helpers(shared, sizeof(double) * rows->keep.words *
													rows->keep.used);
	int64		chunks = chunk_count(&rows->keep);
	ParallelContext *context;
	Shared	   *seen;
	int64		i;

	if (workers == 0)
	{
		for (i = 0; i < chunks; i++)
			bend_chunk(rows, i);
		return;
	}
	EnterParallelMode();
	context = CreateParallelContext("$libdir/dperm", "dperm_bend_rows_main", workers);
	seen = start_workers(rows, shared, context);
	while ((i = (int64) pg_atomic_fetch_add_u64(&seen->next, 1)) < chunks)
		bend_chunk(rows, i);
	WaitForParallelWorkersToFinish(context);
	DestroyParallelContext(context);
	ExitParallelMode();
}

/* The main function of a worker. Blocks have pointers that it does not follow. */
void
dperm_bend_rows_main(dsm_segment *segment, shm_toc *toc)
{
	Shared	   *seen = shm_toc_lookup(toc, KEY_SHARED, false);
	const uint64 *places = shm_toc_lookup(toc, KEY_PLACES, false);
	DpermSharedRows *shared = dperm_shared_rows_join(&seen->key);
	DpermEncoder lines = {.block_count = seen->blocks};
	DpermEncoder curves = {.block_count = seen->blocks};
	DpermBend	bend = seen->rows.bend;
	DpermKeep	keep = seen->rows.keep;
	int64		chunks = chunk_count(&keep);
	DpermBendRows rows;
	int64		i;

	if (shared == NULL)
		elog(ERROR, "could not join shared rows");
	lines.blocks = shm_toc_lookup(toc, KEY_LINES, false);
	curves.blocks = shm_toc_lookup(toc, KEY_CURVES, false);
	bend.lines = &lines;
	bend.curves = &curves;
	bend.from.place = bend.to.place = NULL;
	keep.chunks = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double *) * Max(chunks, 1));
	dperm_bend_rows_init(&rows, &bend, &keep, seen->rows.compact);
	while ((i = (int64) pg_atomic_fetch_add_u64(&seen->next, 1)) < chunks)
	{
		keep.chunks[i] = dperm_shared_rows_at(shared, places[i]);
		bend_chunk(&rows, i);
	}
}
