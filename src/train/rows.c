/*
 * rows.c: encoded rows, in memory and in temporary files. Trusted.
 *
 * How much is in memory depends on the number of rows and on their encoder alone,
 * never on the contents of rows.
 *
 * A store that several processes fill has a segment of shared memory of its own,
 * with an area (dsa) for chunks and a set of files, which the process that made
 * the store keeps to the end of the call: so they outlive the workers of a query.
 * Files are those of fd.h, not BufFiles, whose reads show in EXPLAIN (BUFFERS):
 * the number of passes depends on the contents of rows.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "access/parallel.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/sharedfileset.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "base/base.h"
#include "train/rows.h"

/*
 * The size of a chunk, for all sets together: each process has one that is not
 * full, and chunks are what a team divides among its members. A chunk has at
 * least LEAST_ROWS rows; the first one in private memory begins with as many,
 * since there may be thousands of groups.
 */
#define CHUNK_BYTES ((Size) 512 * 1024)
#define LEAST_ROWS 64

/*
 * In private memory a chunk is half of the rows so far, but no more than this: from
 * the size of a huge page on, the system gives memory out in fewer and larger pieces.
 */
#define PRIVATE_CHUNKS 32
#define HUGE_BYTES ((Size) 2 * 1024 * 1024)

/* The rows of a sample in one piece, at most; and the least number of pieces. */
#define PIECE_ROWS 32
#define PIECES 512

/*
 * Whoever can call the aggregate can name any segment of the server, and may
 * know how it begins. So that of a store begins as no other does: PostgreSQL's
 * have numbers of their own there, those of an area, too.
 */
#define MAGIC "dpermrow"
#define MAGIC_BYTES 8

/* What all processes of a store see. An area for each follows, then the note. */
typedef struct Control
{
	char		magic[MAGIC_BYTES];
	unsigned char token[DPERM_ROWS_TOKEN];
	int			processes;
	pg_atomic_uint32 full;		/* does the system have no more memory? */
	pg_atomic_uint32 files;		/* that have been made */
	pg_atomic_uint64 bytes;		/* of them */
	SharedFileSet set;
} Control;

struct DpermStore
{
	MemoryContext context;
	ResourceOwner owner;		/* of files and shared memory, if there may be any */
	Size		limit;			/* of private memory */
	Size		bytes;			/* of it that are used */
	bool		files;			/* may there be files? */
	File	   *opened;			/* by their numbers; 0: not */
	int64		opened_room;
	int64		writing;		/* the file that this process writes, or -1 */
	int64		at;				/* its end */

	/* NULL for a store of this process alone */
	dsm_segment *segment;
	Control    *control;
	dsa_area  **areas;			/* one for each process, which allocates in it */
	bool		full;			/* is that of this process? */
};

static Size
area_offset(int number)
{
	return MAXALIGN(sizeof(Control)) + number * MAXALIGN(dsa_minimum_size());
}

/* The note follows the last area. */
static Size
note_offset(int processes)
{
	return area_offset(processes);
}

/* The area in which this process allocates. */
static int
own_area(const DpermStore *store)
{
	return (ParallelWorkerNumber + 1) % store->control->processes;
}

/* -------------------------------------------------------------- stores */

/* Describe a store in this process, in the current context and resource owner. */
static DpermStore *
make_store(bool files)
{
	DpermStore *store = palloc0(sizeof(*store));

	store->context = CurrentMemoryContext;
	if (files)
		store->owner = ResourceOwnerCreate(CurrentResourceOwner, "dperm rows");
	store->files = files;
	store->writing = -1;
	return store;
}

/*
 * Make a store of this process. To find temp_tablespaces takes a look into the
 * catalog, which a call on a protected relation does not take.
 */
DpermStore *
dperm_rows_make(Size limit, bool files, bool protected)
{
	DpermStore *store = make_store(files);

	store->limit = limit;
	if (files && !protected)
		PrepareTempTablespaces();
	return store;
}

/* Release what belongs to a resource owner. */
static void
release_owner(ResourceOwner owner)
{
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(owner);
}

/*
 * Make a segment, or NULL if there is no room. PostgreSQL raises an error then.
 * What it leaves behind belongs to the resource owner.
 */
static dsm_segment *
make_segment(Size size, ResourceOwner owner)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner before = CurrentResourceOwner;
	dsm_segment *volatile made = NULL;

	CurrentResourceOwner = owner;
	PG_TRY();
	{
		made = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	CurrentResourceOwner = before;
	return made;
}

bool
dperm_rows_room(Size size)
{
	ResourceOwner owner = ResourceOwnerCreate(CurrentResourceOwner, "dperm rows");
	bool		room = make_segment(size, owner) != NULL;

	release_owner(owner);
	return room;
}

DpermStore *
dperm_rows_share(Size limit, int processes, const char *note, Size note_size, DpermRowsKey *key)
{
	DpermStore *store = make_store(true);
	ResourceOwner before = CurrentResourceOwner;
	Control    *control;

	store->segment = make_segment(note_offset(processes) + note_size, store->owner);
	if (store->segment == NULL || !pg_strong_random(key->token, DPERM_ROWS_TOKEN))
	{
		release_owner(store->owner);
		return NULL;
	}
	store->control = control = dsm_segment_address(store->segment);
	memset(control, 0, sizeof(Control));
	SharedFileSetInit(&control->set, store->segment);
	store->areas = palloc(sizeof(dsa_area *) * processes);
	CurrentResourceOwner = store->owner;	/* an area keeps it for its segments, from 17 on */
	for (int i = 0; i < processes; i++)
	{
		store->areas[i] =
			dsa_create_in_place((char *) control + area_offset(i), dsa_minimum_size(),
								LWTRANCHE_PARALLEL_QUERY_DSA, store->segment);
		dsa_set_size_limit(store->areas[i], dsa_minimum_size() + limit / processes);
	}
	CurrentResourceOwner = before;
	memcpy(control->magic, MAGIC, MAGIC_BYTES);
	memcpy(control->token, key->token, DPERM_ROWS_TOKEN);
	control->processes = processes;
	pg_atomic_init_u32(&control->full, 0);
	pg_atomic_init_u32(&control->files, 0);
	pg_atomic_init_u64(&control->bytes, 0);
	memcpy((char *) control + note_offset(processes), note, note_size);
	key->handle = dsm_segment_handle(store->segment);
	return store;
}

/*
 * Attach to the areas and the files of a store; false if they are gone, as nobody
 * uses the rows any more. PostgreSQL raises an error then, holding a lock.
 */
static bool
attach(DpermStore *store)
{
	MemoryContext context = CurrentMemoryContext;
	volatile int attached = 0;

	store->areas = palloc(sizeof(dsa_area *) * store->control->processes);
	PG_TRY();
	{
		SharedFileSetAttach(&store->control->set, store->segment);
		for (; attached < store->control->processes; attached++)
			store->areas[attached] =
				dsa_attach_in_place((char *) store->control + area_offset(attached),
									store->segment);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		LWLockReleaseAll();
	}
	PG_END_TRY();
	return attached == store->control->processes;
}

/* Join a store, for as long as this process lives. */
DpermStore *
dperm_rows_join(const DpermRowsKey *key)
{
	dsm_segment *segment;
	Control    *control;
	DpermStore *store;

	if (!IsParallelWorker() || dsm_find_mapping(key->handle) != NULL)
		return NULL;
	segment = dsm_attach(key->handle);
	if (segment == NULL)
		return NULL;
	control = dsm_segment_address(segment);
	if (dsm_segment_map_length(segment) < note_offset(1) ||
		memcmp(control->magic, MAGIC, MAGIC_BYTES) != 0 ||
		memcmp(control->token, key->token, DPERM_ROWS_TOKEN) != 0)
	{
		dsm_detach(segment);
		return NULL;
	}
	store = make_store(true);
	store->segment = segment;
	store->control = control;
	if (!attach(store))
	{
		dsm_detach(segment);
		release_owner(store->owner);
		return NULL;
	}
	dsm_pin_mapping(segment);
	for (int i = 0; i < control->processes; i++)
		dsa_pin_mapping(store->areas[i]);
	return store;
}

const char *
dperm_rows_note(const DpermStore *store)
{
	return (const char *) store->control + note_offset(store->control->processes);
}

DpermRowsKey
dperm_rows_key(const DpermStore *store)
{
	DpermRowsKey key = {.handle = dsm_segment_handle(store->segment)};

	memcpy(key.token, store->control->token, DPERM_ROWS_TOKEN);
	return key;
}

int
dperm_rows_processes(const DpermStore *store)
{
	return store->control ? store->control->processes : 1;
}

/* Release a store. */
void
dperm_rows_close(DpermStore *store)
{
	if (store == NULL)
		return;
	for (int64 i = 0; i < store->opened_room; i++)
		if (store->opened[i] > 0)
			FileClose(store->opened[i]);
	if (store->control)
	{
		for (int i = 0; i < store->control->processes; i++)
			dsa_detach(store->areas[i]);
		dsm_detach(store->segment);
	}
	if (store->owner)
		release_owner(store->owner);
}

/* --------------------------------------------------------------- files */

/* The entry of a file. */
static File *
entry_of(DpermStore *store, int64 number)
{
	if (number >= store->opened_room)
	{
		int64		more = Max(16, 2 * number);

		store->opened = store->opened ? repalloc(store->opened, sizeof(File) * more) :
			MemoryContextAlloc(store->context, sizeof(File) * more);
		memset(store->opened + store->opened_room, 0,
			   sizeof(File) * (more - store->opened_room));
		store->opened_room = more;
	}
	return &store->opened[number];
}

/* A file that has been made, or is made now. */
static File
open_file(DpermStore *store, int64 number, bool make)
{
	File	   *file = entry_of(store, number);
	ResourceOwner before = CurrentResourceOwner;
	char		name[MAXPGPATH];

	if (*file > 0)
		return *file;
	snprintf(name, sizeof(name), INT64_FORMAT, number);
	CurrentResourceOwner = store->owner;
	*file = !store->control ? OpenTemporaryFile(false) :
		make ? FileSetCreate(&store->control->set.fs, name) :
		FileSetOpen(&store->control->set.fs, name, O_RDWR);
	CurrentResourceOwner = before;
	if (*file <= 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open a temporary file: %m")));
	return *file;
}

/* Write rows to a place in a file. */
static void
write_at(DpermStore *store, const DpermChunk *chunk, const double *rows, Size bytes)
{
	errno = 0;
	if (FileWrite(open_file(store, chunk->file, true), (char *) rows, bytes, chunk->at,
				  PG_WAIT_EXTENSION) == bytes)
		return;
	if (errno == 0)
		errno = ENOSPC;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not write to a temporary file: %m")));
}

/* PostgreSQL has a limit on the files of a process; a store has it on those of all. */
static void
count_bytes(DpermStore *store, Size bytes)
{
	uint64		all = store->at + bytes;

	if (store->control)
		all = pg_atomic_add_fetch_u64(&store->control->bytes, bytes);
	if (store->control && temp_file_limit >= 0 && all > (uint64) temp_file_limit * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("temporary file size exceeds temp_file_limit (%dkB)", temp_file_limit)));
}

/* Append rows to the file of this process. */
static void
append_to_file(DpermStore *store, DpermChunk *chunk, const double *rows, Size bytes)
{
	if (store->writing < 0)
	{
		store->writing =
			store->control ? pg_atomic_fetch_add_u32(&store->control->files, 1) : 0;
		store->at = 0;
	}
	count_bytes(store, bytes);
	chunk->file = store->writing;
	chunk->at = store->at;
	write_at(store, chunk, rows, bytes);
	store->at += bytes;
}

/* -------------------------------------------------------------- memory */

static Size
bytes_of(const DpermRows *rows, int64 count)
{
	return sizeof(double) * rows->words * count;
}

/* Allocate private memory, in huge pages as far as the system has them. */
static double *
allocate_private(MemoryContext context, Size size)
{
	double	   *made = MemoryContextAllocHuge(context, size);

#ifdef MADV_HUGEPAGE
	uintptr_t	first = TYPEALIGN(HUGE_BYTES, (uintptr_t) made);
	uintptr_t	end = TYPEALIGN_DOWN(HUGE_BYTES, (uintptr_t) made + size);

	if (first < end)
		(void) madvise((void *) first, end - first, MADV_HUGEPAGE);
#endif
	return made;
}

/*
 * Allocate shared memory, if there is any left. PostgreSQL raises an error,
 * holding a lock, if the system has none.
 */
static dsa_pointer
allocate_shared(DpermStore *store, Size size)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner before = CurrentResourceOwner;
	volatile dsa_pointer made = InvalidDsaPointer;

	if (store->full || pg_atomic_read_u32(&store->control->full) || InterruptHoldoffCount > 0)
		return InvalidDsaPointer;
	CurrentResourceOwner = store->owner;
	PG_TRY();
	{
		made = dsa_allocate_extended(store->areas[own_area(store)], size,
									 DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		LWLockReleaseAll();
		pg_atomic_write_u32(&store->control->full, 1);
	}
	PG_END_TRY();
	CurrentResourceOwner = before;
	store->full = !DsaPointerIsValid(made);
	return made;
}

/* Where shared memory is in this process. */
static double *
shared_address(DpermStore *store, const DpermChunk *chunk)
{
	ResourceOwner before = CurrentResourceOwner;
	double	   *address;

	CurrentResourceOwner = store->owner;
	address = dsa_get_address(store->areas[chunk->file], chunk->shared);
	CurrentResourceOwner = before;
	return address;
}

/* Private memory for rows of files. */
static double *
buffer_of(DpermRows *rows)
{
	if (rows->buffer == NULL)
		rows->buffer =
			MemoryContextAllocHuge(rows->store->context, bytes_of(rows, rows->chunk_rows));
	return rows->buffer;
}

/* Append a chunk. */
static void
append_chunk(DpermRows *rows, const DpermChunk *chunk)
{
	if (rows->chunk_count == rows->chunk_room)
	{
		int64		more = Max(16, 2 * rows->chunk_room);

		rows->chunks = rows->chunks ? repalloc_huge(rows->chunks, sizeof(DpermChunk) * more) :
			MemoryContextAllocHuge(rows->store->context, sizeof(DpermChunk) * more);
		rows->chunk_room = more;
	}
	rows->chunks[rows->chunk_count++] = *chunk;
}

/* Make a chunk of the rows that are in none yet. */
static void
finish_chunk(DpermRows *rows)
{
	int64		count = rows->used - rows->first;
	DpermChunk	chunk = rows->block;

	if (count == 0)
		return;
	chunk.rows = count;
	if (chunk.memory)
		chunk.memory += rows->words * rows->first;
	else if (DsaPointerIsValid(chunk.shared))
		chunk.shared += bytes_of(rows, rows->first);
	else
	{
		append_to_file(rows->store, &chunk, rows->memory, bytes_of(rows, count));
		rows->used = 0;
	}
	rows->first = rows->used;
	append_chunk(rows, &chunk);
}

/* Is there private memory within the limit? Then it is used. */
static bool
reserve(DpermStore *store, Size size)
{
	if (store->control || store->bytes + size > store->limit)
		return false;
	store->bytes += size;
	return true;
}

/* Double the size of a small block; false if it cannot be. */
static bool
double_block(DpermRows *rows)
{
	int64		more = Min(rows->room, Max(rows->chunk_rows - rows->room, 0));

	if (rows->block.memory == NULL || more == 0 || !reserve(rows->store, bytes_of(rows, more)))
		return false;
	rows->room += more;
	rows->memory = repalloc_huge(rows->memory, bytes_of(rows, rows->room));
	rows->block.memory = rows->memory;
	return true;
}

/* The rows of the next block. */
static int64
next_room(const DpermRows *rows)
{
	const DpermStore *store = rows->store;
	int64		most = Min(PRIVATE_CHUNKS * rows->chunk_rows, rows->seen / 2);
	int64		room = rows->chunk_rows;

	if (store->control)
		return room;
	if (rows->chunk_count == 0)
		return LEAST_ROWS;
	while (2 * room <= most && store->bytes + bytes_of(rows, 2 * room) <= store->limit)
		room *= 2;
	return room;
}

/* Start a block; false if there is no place. */
static bool
start_block(DpermRows *rows)
{
	DpermStore *store = rows->store;
	int64		room = next_room(rows);
	Size		size = bytes_of(rows, room);

	rows->block = (DpermChunk) {.shared = InvalidDsaPointer};
	rows->first = rows->used = rows->room = 0;
	if (store->control)
	{
		rows->block.file = own_area(store);
		rows->block.shared = allocate_shared(store, size);
	}
	else if (reserve(store, size))
		rows->block.memory = allocate_private(store->context, size);
	if (!rows->block.memory && !DsaPointerIsValid(rows->block.shared) && !store->files)
		return false;
	rows->memory = rows->block.memory ? rows->block.memory :
		DsaPointerIsValid(rows->block.shared) ? shared_address(store, &rows->block) :
		buffer_of(rows);
	rows->room = rows->memory == rows->buffer ? rows->chunk_rows : room;
	return true;
}

/* ---------------------------------------------------------------- sets */

void
dperm_rows_init(DpermRows *rows, DpermStore *store, int words, int sets)
{
	memset(rows, 0, sizeof(*rows));
	rows->store = store;
	rows->words = words;
	rows->chunk_rows = Max(CHUNK_BYTES / sets / bytes_of(rows, 1), LEAST_ROWS);
}

void
dperm_rows_init_encoded(DpermRows *rows, DpermStore *store, const DpermEncoder *encoder,
						DpermLabelKind label, bool weighted, const DpermRows *like, int sets)
{
	DpermFeed	feed;

	dperm_feed_init(&feed, encoder, weighted, like ? &like->feed : NULL);
	feed.layout.label = label;
	dperm_rows_init(rows, store, feed.layout.words, sets);
	rows->feed = feed;
}

/* The place for one more row. */
double *
dperm_rows_next(DpermRows *rows)
{
	if (rows->used == rows->room && !double_block(rows))
	{
		CHECK_FOR_INTERRUPTS();
		finish_chunk(rows);
		if ((rows->used == rows->room) && !start_block(rows))
			return NULL;
	}
	rows->seen++;
	return rows->memory + rows->words * rows->used++;
}

/* Encode the rows that wait, and add them. */
static bool
add_waiting(DpermRows *rows)
{
	int			waiting = rows->feed.waiting;
	double	   *encoded;

	if (waiting == 0)
		return true;
	encoded = dperm_feed_map(&rows->feed);
	for (int i = 0; i < waiting; i++, encoded += rows->words)
	{
		double	   *row = dperm_rows_next(rows);

		if (row == NULL)
			return false;
		memcpy(row, encoded, bytes_of(rows, 1));
	}
	return true;
}

/* Encode and add a row. */
bool
dperm_rows_add(DpermRows *rows, const DpermValue *values, double label, double owner)
{
	DpermFeed  *feed = &rows->feed;
	double	   *row;

	if (feed->frequencies)
		return !dperm_feed_wait(feed, values, label, owner) || add_waiting(rows);
	row = dperm_rows_next(rows);
	if (row == NULL)
		return false;
	dperm_layout_encode(&feed->layout, feed->encoder, values, label, owner, row);
	return true;
}

/* All rows have arrived. */
void
dperm_rows_end(DpermRows *rows)
{
	(void) add_waiting(rows);
	finish_chunk(rows);
	rows->room = rows->used;
	rows->count = 0;
	for (int64 i = 0; i < rows->chunk_count; i++)
		rows->count += rows->chunks[i].rows;
	if (rows->count != rows->seen)
		elog(ERROR, "rows were lost");
	if (rows->store->control && pg_atomic_read_u32(&rows->store->control->full))
		ereport(DEBUG1, (errmsg_internal("there is not enough shared memory for the rows")));
}

/* What is handed over: this, and the chunks. */
typedef struct Handed
{
	int64		rows;
	int64		chunks;
} Handed;

/* Hand chunks over. */
void
dperm_rows_hand_over(DpermRows *rows, StringInfo to)
{
	DpermStore *store = rows->store;
	Handed		handed;

	(void) add_waiting(rows);
	finish_chunk(rows);
	handed = (Handed) {rows->seen, rows->chunk_count};
	appendBinaryStringInfo(to, (char *) &handed, sizeof(handed));
	if (rows->chunk_count > 0)
		appendBinaryStringInfo(to, (char *) rows->chunks,
							   sizeof(DpermChunk) * rows->chunk_count);
	rows->seen = rows->chunk_count = 0;

	/* this process may end before the others read its file */
	if (store->writing >= 0)
	{
		FileClose(store->opened[store->writing]);
		store->opened[store->writing] = 0;
		store->writing = -1;
	}
}

/* Copy from the front of what is read. */
static const char *
take_bytes(void *to, const char *from, const char *end, Size size)
{
	if ((Size) (end - from) < size)
		elog(ERROR, "rows were handed over in part");
	memcpy(to, from, size);
	return from + size;
}

/* Take chunks over. */
const char *
dperm_rows_take_over(DpermRows *rows, const char *from, const char *end)
{
	Handed		handed;

	from = take_bytes(&handed, from, end, sizeof(handed));
	rows->seen += handed.rows;
	for (int64 i = 0; i < handed.chunks; i++)
	{
		DpermChunk	chunk;

		from = take_bytes(&chunk, from, end, sizeof(chunk));
		append_chunk(rows, &chunk);
	}
	return from;
}

/* Some rows of a chunk. */
static const double *
fetch(DpermRows *rows, const DpermChunk *chunk, int64 first, int64 count)
{
	Size		skip = bytes_of(rows, first);
	Size		bytes = bytes_of(rows, count);
	File		file;

	if (chunk->memory)
		return chunk->memory + rows->words * first;
	if (DsaPointerIsValid(chunk->shared))
		return shared_address(rows->store, chunk) + rows->words * first;
	CHECK_FOR_INTERRUPTS();
	file = open_file(rows->store, chunk->file, false);
	errno = 0;
	if (FileRead(file, (char *) buffer_of(rows), bytes, chunk->at + skip, PG_WAIT_EXTENSION) !=
		bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file: %m")));
	return rows->buffer;
}

/* The rows of a chunk. */
const double *
dperm_rows_chunk(DpermRows *rows, int64 i)
{
	return fetch(rows, &rows->chunks[i], 0, rows->chunks[i].rows);
}

/* Give memory back, if the system can do so before the store is closed. */
void
dperm_rows_discard(DpermRows *rows, int64 i)
{
#ifdef MADV_REMOVE
	const DpermChunk *chunk = &rows->chunks[i];

	if (DsaPointerIsValid(chunk->shared))
	{
		uintptr_t	page = sysconf(_SC_PAGESIZE);
		uintptr_t	first = (uintptr_t) shared_address(rows->store, chunk);
		uintptr_t	end = TYPEALIGN_DOWN(page, first + bytes_of(rows, chunk->rows));

		first = TYPEALIGN(page, first);
		if (first < end)
			(void) madvise((void *) first, end - first, MADV_REMOVE);
	}
#endif
}

/* A sample. */
int64
dperm_rows_sample(DpermRows *rows, int64 count, double **sample)
{
	int64		piece = Max(Min(PIECE_ROWS, count / PIECES), 1);
	int64		taken = 0;
	int64		before = 0;		/* rows of earlier chunks */
	int64		next = 0;		/* where the next piece begins */
	double	   *to;

	count = Min(count, rows->count);
	*sample = to = allocate_private(CurrentMemoryContext, Max(bytes_of(rows, count), 1));
	for (int64 i = 0; i < rows->chunk_count; before += rows->chunks[i++].rows)
	{
		const DpermChunk *chunk = &rows->chunks[i];

		while (next < before + chunk->rows && taken < count)
		{
			int64		some =
				Min(Min(piece, before + chunk->rows - next), count - taken);

			memcpy(to, fetch(rows, chunk, next - before, some), bytes_of(rows, some));
			to += rows->words * some;
			taken += some;
			next = Max(next + some, (int64) ((double) taken / count * rows->count));
		}
	}
	return taken;
}
