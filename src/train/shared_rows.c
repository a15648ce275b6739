/*
 * shared_rows.c: memory for encoded rows that several processes fill.
 *
 * A control segment lists the segments. A segment is pinned when it is made, so
 * that it outlives a worker, until the creator takes it over or lets go of the
 * control segment, for whatever reason: then all pins are removed.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "port/atomics.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "train/shared_rows.h"

/* Segments at most. */
#define SEGMENTS 4096

/*
 * A segment is a third of what the process has already, but no more than this,
 * as the system clears it without interrupts; or a sixteenth, because there may
 * not be many segments.
 */
#define SEGMENT_BYTES ((Size) 64 * 1024 * 1024)

/*
 * Whoever can call the aggregate can name any segment of the server, and may
 * know how it begins. So a control segment begins as no other does: PostgreSQL's
 * have numbers of their own there, and those with rows, which come from users,
 * have zeros.
 */
#define MAGIC "dpermrow"
#define MAGIC_BYTES 8
#define HEAD_BYTES PG_CACHE_LINE_SIZE

/* Of a place, the bits that say where in its segment it is. */
#define OFFSET_BITS 44

/* What all processes see. */
typedef struct Control
{
	char		magic[MAGIC_BYTES];
	unsigned char token[DPERM_SHARED_TOKEN];
	int			processes;
	Size		limit;
	Size		compact_limit;	/* for compact rows */
	Size		note_size;
	pg_atomic_uint32 stage;
	pg_atomic_uint32 joined;
	pg_atomic_uint64 bytes;		/* of all segments */
	pg_atomic_uint32 segments;	/* entries in use */
	dsm_handle	handles[SEGMENTS];
	bool		pinned[SEGMENTS];
	char		note[FLEXIBLE_ARRAY_MEMBER];
} Control;

/* A segment that is mapped. */
typedef struct Segment
{
	dsm_segment *mapped;		/* NULL: not */
	char	   *start;
	Size		size;
	Size		used;
	int			live;			/* allocations that have not been freed */
	bool		held;			/* may there be others, whose places are not known yet? */
} Segment;

struct DpermSharedRows
{
	MemoryContext context;
	dsm_segment *mapped;
	Control    *control;
	uint32		number;
	Segment    *segments;		/* in the order of the control segment */
	uint32		room;			/* of it */
	int64		current;		/* the one that allocations are made in; -1: none */
	Size		bytes;			/* of those that this process has made */
};

/* Remove all pins. */
static void
unpin_all(dsm_segment *mapped, Datum arg)
{
	Control    *control = dsm_segment_address(mapped);
	uint32		count = Min(pg_atomic_read_u32(&control->segments), SEGMENTS);

	for (uint32 i = 0; i < count; i++)
		if (control->pinned[i])
		{
			control->pinned[i] = false;
			dsm_unpin_segment(control->handles[i]);
		}
}

/*
 * Make a segment, mapped by the current resource owner, or NULL if there is no
 * room. PostgreSQL raises an error then. What it leaves behind belongs to a
 * resource owner of our own.
 */
static dsm_segment *
make_segment(Size size)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner before = CurrentResourceOwner;
	ResourceOwner owner;
	dsm_segment *volatile made = NULL;

	owner = ResourceOwnerCreate(before, "dperm shared rows");
	CurrentResourceOwner = owner;
	PG_TRY();
	{
		made = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		if (made)
			dsm_pin_mapping(made);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	CurrentResourceOwner = before;
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(owner);
	if (made)
		dsm_unpin_mapping(made);
	return made;
}

/* Is there so much shared memory? */
bool
dperm_shared_rows_room(Size size)
{
	dsm_segment *made = make_segment(size);

	if (made)
		dsm_detach(made);
	return made != NULL;
}

/* Describe the memory in this process. */
static DpermSharedRows *
describe_shared(dsm_segment *mapped)
{
	DpermSharedRows *shared = palloc0(sizeof(*shared));

	shared->context = CurrentMemoryContext;
	shared->mapped = mapped;
	shared->control = dsm_segment_address(mapped);
	shared->number = pg_atomic_fetch_add_u32(&shared->control->joined, 1);
	shared->current = -1;
	return shared;
}

/* Create the memory. */
DpermSharedRows *
dperm_shared_rows_create(Size limit, Size compact_limit, int processes, const char *note,
						 Size note_size, DpermSharedKey *key)
{
	dsm_segment *mapped = make_segment(offsetof(Control, note) + note_size);
	Control    *control;

	if (mapped == NULL)
		return NULL;
	control = dsm_segment_address(mapped);
	memset(control, 0, offsetof(Control, note));
	if (!pg_strong_random(key->token, DPERM_SHARED_TOKEN))
	{
		dsm_detach(mapped);
		return NULL;
	}
	memcpy(control->magic, MAGIC, MAGIC_BYTES);
	memcpy(control->token, key->token, DPERM_SHARED_TOKEN);
	key->handle = dsm_segment_handle(mapped);
	control->processes = processes;
	control->limit = limit;
	control->compact_limit = compact_limit;
	control->note_size = note_size;
	memcpy(control->note, note, note_size);
	pg_atomic_init_u32(&control->stage, DPERM_SHARED_EXACT);
	pg_atomic_init_u32(&control->joined, 0);
	pg_atomic_init_u64(&control->bytes, 0);
	pg_atomic_init_u32(&control->segments, 0);
	on_dsm_detach(mapped, unpin_all, (Datum) 0);
	return describe_shared(mapped);
}

/* Join. */
DpermSharedRows *
dperm_shared_rows_join(const DpermSharedKey *key)
{
	dsm_segment *mapped;
	const Control *control;

	if (!IsParallelWorker() || dsm_find_mapping(key->handle) != NULL)
		return NULL;
	mapped = dsm_attach(key->handle);
	if (mapped == NULL)
		return NULL;
	control = dsm_segment_address(mapped);
	if (dsm_segment_map_length(mapped) < offsetof(Control, note) ||
		memcmp(control->magic, MAGIC, MAGIC_BYTES) != 0 ||
		memcmp(control->token, key->token, DPERM_SHARED_TOKEN) != 0)
	{
		dsm_detach(mapped);
		return NULL;
	}
	dsm_pin_mapping(mapped);	/* as long as the process lives */
	return describe_shared(mapped);
}

/* How to join. */
DpermSharedKey
dperm_shared_rows_key(const DpermSharedRows *shared)
{
	DpermSharedKey key = {.handle = dsm_segment_handle(shared->mapped)};

	memcpy(key.token, shared->control->token, DPERM_SHARED_TOKEN);
	return key;
}

int
dperm_shared_rows_processes(const DpermSharedRows *shared)
{
	return shared->control->processes;
}

uint32
dperm_shared_rows_joined(const DpermSharedRows *shared)
{
	return pg_atomic_read_u32(&shared->control->joined);
}

uint32
dperm_shared_rows_number(const DpermSharedRows *shared)
{
	return shared->number;
}

const char *
dperm_shared_rows_note(const DpermSharedRows *shared, Size *size)
{
	*size = shared->control->note_size;
	return shared->control->note;
}

/* How rows are kept. */
DpermSharedStage
dperm_shared_rows_stage(const DpermSharedRows *shared)
{
	return (DpermSharedStage) pg_atomic_read_u32(&shared->control->stage);
}

Size
dperm_shared_rows_least(void)
{
	return (Size) min_parallel_table_scan_size * BLCKSZ;
}

int
dperm_shared_rows_helpers(const DpermSharedRows *shared, Size size)
{
	if (shared == NULL || size < dperm_shared_rows_least() ||
		dperm_shared_rows_stage(shared) == DPERM_SHARED_FAILED)
		return 0;
	return dperm_shared_rows_processes(shared) - 1;
}

/* Advance, unless another process has advanced further. */
void
dperm_shared_rows_advance(DpermSharedRows *shared, DpermSharedStage stage)
{
	uint32		now = pg_atomic_read_u32(&shared->control->stage);

	while (now < (uint32) stage &&
		   !pg_atomic_compare_exchange_u32(&shared->control->stage, &now, stage))
		;
}

/* The entry of a segment. */
static Segment *
entry_of(DpermSharedRows *shared, uint32 i)
{
	if (i >= shared->room)
	{
		uint32		more = Max(64, 2 * i);

		shared->segments = shared->segments ?
			repalloc(shared->segments, sizeof(Segment) * more) :
			MemoryContextAlloc(shared->context, sizeof(Segment) * more);
		memset(shared->segments + shared->room, 0, sizeof(Segment) * (more - shared->room));
		shared->room = more;
	}
	return &shared->segments[i];
}

/* Enter a segment that has been mapped. */
static Segment *
enter_segment(DpermSharedRows *shared, uint32 i, dsm_segment *mapped)
{
	Segment    *segment = entry_of(shared, i);

	*segment = (Segment) {.mapped = mapped,
						  .start = (char *) dsm_segment_address(mapped) + HEAD_BYTES,
						  .size = dsm_segment_map_length(mapped) - HEAD_BYTES};
	if (IsParallelWorker())
		dsm_pin_mapping(mapped);
	return segment;
}

/*
 * Make a segment to allocate from; false if there is no room. Nothing between
 * its pin and its entry into the list can be interrupted.
 */
static bool
add_segment(DpermSharedRows *shared, Size size)
{
	Control    *control = shared->control;
	dsm_segment *mapped = make_segment(HEAD_BYTES + size);
	uint32		i;

	if (mapped == NULL)
		return false;
	memset(dsm_segment_address(mapped), 0, HEAD_BYTES);
	i = pg_atomic_fetch_add_u32(&control->segments, 1);
	if (i >= SEGMENTS)
	{
		dsm_detach(mapped);
		return false;
	}
	enter_segment(shared, i, mapped);
	dsm_pin_segment(mapped);
	control->handles[i] = dsm_segment_handle(mapped);
	control->pinned[i] = true;
	shared->current = i;
	shared->bytes += size;
	return true;
}

/* Is there room in the current segment? */
static bool
fits(const DpermSharedRows *shared, Size size)
{
	const Segment *segment;

	if (shared->current < 0)
		return false;
	segment = &shared->segments[shared->current];
	return segment->size - segment->used >= size;
}

/* Count bytes of a segment in advance, if they are within the limit. */
static bool
count_in_advance(Control *control, Size size, Size limit)
{
	if (pg_atomic_fetch_add_u64(&control->bytes, size) + size <= limit)
		return true;
	pg_atomic_fetch_sub_u64(&control->bytes, size);
	return false;
}

/*
 * The size of the next segment for allocations of a size, within a limit: some
 * of them, but no more than a fair share of what is left.
 */
static Size
next_size(const DpermSharedRows *shared, Size size, Size limit)
{
	Control    *control = shared->control;
	Size		used = pg_atomic_read_u64(&control->bytes);
	Size		share = (limit - Min(used, limit)) / (4 * control->processes);
	Size		more = Max(Min(shared->bytes / 3, SEGMENT_BYTES), shared->bytes / 16);

	return Max(Min(more, share) / size, 1) * size;
}

/* Reserve room within the limit. */
bool
dperm_shared_rows_reserve(DpermSharedRows *shared, Size size)
{
	Control    *control = shared->control;
	DpermSharedStage stage = dperm_shared_rows_stage(shared);
	Size		limit =
		stage >= DPERM_SHARED_COMPACT ? control->compact_limit : control->limit;
	Size		more;

	size = TYPEALIGN(PG_CACHE_LINE_SIZE, size);
	if (fits(shared, size) || stage == DPERM_SHARED_FAILED)
		return true;
	more = next_size(shared, size, limit);
	if (!count_in_advance(control, more, limit))
	{
		more = size;
		if (!count_in_advance(control, more, limit))
			return false;
	}
	if (!add_segment(shared, more))
	{
		pg_atomic_fetch_sub_u64(&control->bytes, more);
		dperm_shared_rows_advance(shared, DPERM_SHARED_FAILED);
	}
	return true;
}

/* Allocate bytes. */
void *
dperm_shared_rows_alloc(DpermSharedRows *shared, Size size)
{
	Segment    *segment;
	char	   *memory;

	size = TYPEALIGN(PG_CACHE_LINE_SIZE, size);
	if (!fits(shared, size))
	{
		Size		more = next_size(shared, size, PG_UINT64_MAX / 2);

		if (dperm_shared_rows_stage(shared) == DPERM_SHARED_FAILED || !add_segment(shared, more))
		{
			dperm_shared_rows_advance(shared, DPERM_SHARED_FAILED);
			return MemoryContextAllocHuge(shared->context, size);
		}
		pg_atomic_fetch_add_u64(&shared->control->bytes, more);
	}
	segment = &shared->segments[shared->current];
	memory = segment->start + segment->used;
	segment->used += size;
	segment->live++;
	return memory;
}

/* The segment that memory is in, or -1. */
static int64
segment_of(const DpermSharedRows *shared, const void *memory)
{
	const char *at = memory;

	for (int64 i = (int64) shared->room - 1; i >= 0; i--)
	{
		const Segment *segment = &shared->segments[i];

		if (segment->mapped && at >= segment->start && at < segment->start + segment->size)
			return i;
	}
	return -1;
}

/* Release a segment if everything in it is free. */
static void
release_segment(DpermSharedRows *shared, int64 i)
{
	Segment    *segment = &shared->segments[i];

	if (segment->live > 0 || segment->held || i == shared->current)
		return;
	pg_atomic_fetch_sub_u64(&shared->control->bytes, segment->size);
	if (shared->control->pinned[i])
	{
		shared->control->pinned[i] = false;
		dsm_unpin_segment(dsm_segment_handle(segment->mapped));
	}
	shared->control->handles[i] = DSM_HANDLE_INVALID;
	dsm_detach(segment->mapped);
	segment->mapped = NULL;
}

/* Free bytes. */
void
dperm_shared_rows_free(DpermSharedRows *shared, void *memory)
{
	int64		i = segment_of(shared, memory);

	if (i < 0)
	{
		pfree(memory);
		return;
	}
	shared->segments[i].live--;
	release_segment(shared, i);
}

/* Where memory is. */
uint64
dperm_shared_rows_place(const DpermSharedRows *shared, const void *memory)
{
	int64		i = segment_of(shared, memory);

	if (i < 0)
		elog(ERROR, "rows are not in shared memory");
	return (uint64) i << OFFSET_BITS |
		   (uint64) ((const char *) memory - shared->segments[i].start);
}

/* Map a segment that another process has made. */
static Segment *
map_segment(DpermSharedRows *shared, uint32 i)
{
	Segment    *segment = entry_of(shared, i);
	dsm_segment *mapped;

	if (segment->mapped)
		return segment;
	mapped = dsm_attach(shared->control->handles[i]);
	if (mapped == NULL)
		elog(ERROR, "could not map shared rows");
	return enter_segment(shared, i, mapped);
}

/* What is at a place. */
void *
dperm_shared_rows_at(DpermSharedRows *shared, uint64 place)
{
	Segment    *segment = map_segment(shared, (uint32) (place >> OFFSET_BITS));

	segment->live++;
	return segment->start + (place & (((uint64) 1 << OFFSET_BITS) - 1));
}

/* Take over all segments. */
void
dperm_shared_rows_take(DpermSharedRows *shared)
{
	Control    *control = shared->control;
	uint32		count = Min(pg_atomic_read_u32(&control->segments), SEGMENTS);

	for (uint32 i = 0; i < count; i++)
		if (control->pinned[i])
		{
			Segment    *segment = map_segment(shared, i);

			segment->live = 0;
			segment->held = true;
			control->pinned[i] = false;
			dsm_unpin_segment(control->handles[i]);
		}
	shared->current = -1;
}

/* All places are known. */
void
dperm_shared_rows_settle(DpermSharedRows *shared)
{
	for (uint32 i = 0; i < shared->room; i++)
		if (shared->segments[i].held)
		{
			shared->segments[i].held = false;
			release_segment(shared, i);
		}
}

/* Release everything. */
void
dperm_shared_rows_close(DpermSharedRows *shared)
{
	for (uint32 i = 0; i < shared->room; i++)
		if (shared->segments[i].mapped)
			dsm_detach(shared->segments[i].mapped);
	dsm_detach(shared->mapped);
}
