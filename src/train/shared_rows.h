/*
 * shared_rows.h: memory for encoded rows that several processes fill.
 *
 * One process creates it, and tells the others how to join. Each allocates
 * chunks for its own rows. The memory is in dynamic shared memory segments that
 * outlive the processes which made them, but not the process that created all:
 * src/README.md, "All cores".
 */
#ifndef DPERM_SHARED_ROWS_H
#define DPERM_SHARED_ROWS_H

#include "storage/dsm.h"

#define DPERM_SHARED_TOKEN 16

/* What a process must know to join. */
typedef struct DpermSharedKey
{
	dsm_handle	handle;
	unsigned char token[DPERM_SHARED_TOKEN];	/* random: nobody else can join */
} DpermSharedKey;

/* How rows are kept; it only ever advances, for all processes. */
typedef enum DpermSharedStage
{
	DPERM_SHARED_EXACT,			/* as they are */
	DPERM_SHARED_COMPACT,		/* compact, because memory was full */
	DPERM_SHARED_SAMPLED,		/* a sample of them, because it was full again */
	DPERM_SHARED_FAILED			/* there is no shared memory: rows are lost */
} DpermSharedStage;

/* The memory, as a process sees it. */
typedef struct DpermSharedRows DpermSharedRows;

/*
 * Create it, in the current memory context and resource owner, for at most
 * limit bytes, or compact_limit once rows are compact. About so many processes
 * will join; all can read a note. NULL if there is no room.
 */
extern DpermSharedRows *
dperm_shared_rows_create(Size limit, Size compact_limit, int processes, const char *note,
						 Size note_size, DpermSharedKey *key);

/* Join, in a parallel worker, in the current context; NULL for a wrong key. */
extern DpermSharedRows *dperm_shared_rows_join(const DpermSharedKey *key);

/*
 * How to join; how many processes were expected, and how many did; the number of
 * this one among those that did; and the note.
 */
extern DpermSharedKey dperm_shared_rows_key(const DpermSharedRows *shared);
extern int	dperm_shared_rows_processes(const DpermSharedRows *shared);
extern uint32 dperm_shared_rows_joined(const DpermSharedRows *shared);
extern uint32 dperm_shared_rows_number(const DpermSharedRows *shared);
extern const char *dperm_shared_rows_note(const DpermSharedRows *shared, Size *size);

extern DpermSharedStage dperm_shared_rows_stage(const DpermSharedRows *shared);
extern void dperm_shared_rows_advance(DpermSharedRows *shared, DpermSharedStage stage);

/* Is there room for so many bytes within the limit? Then it is reserved. */
extern bool dperm_shared_rows_reserve(DpermSharedRows *shared, Size size);

/*
 * Allocate bytes, even beyond the limit; if there is no shared memory, in
 * private memory, and all rows are lost. And free them.
 */
extern void *dperm_shared_rows_alloc(DpermSharedRows *shared, Size size);
extern void dperm_shared_rows_free(DpermSharedRows *shared, void *memory);

/*
 * Where memory is, in the same words for all processes; and back, to use it, and
 * to free it once.
 */
extern uint64 dperm_shared_rows_place(const DpermSharedRows *shared, const void *memory);
extern void *dperm_shared_rows_at(DpermSharedRows *shared, uint64 place);

/*
 * After other processes have filled it and ended, take over what all have
 * allocated, to be used by its places; then, when all places that are used are
 * known, settle. And, at the end, release everything.
 */
extern void dperm_shared_rows_take(DpermSharedRows *shared);
extern void dperm_shared_rows_settle(DpermSharedRows *shared);
extern void dperm_shared_rows_close(DpermSharedRows *shared);

/* Is there so much shared memory? PostgreSQL's parallel contexts raise an error if not. */
extern bool dperm_shared_rows_room(Size size);

/*
 * The bytes of rows from which workers pay: those of a table that PostgreSQL
 * would scan in parallel. How many workers could help with rows of a size: as
 * many as have loaded them; 0 if that was this process alone (NULL), or failed.
 */
extern Size dperm_shared_rows_least(void);

extern int	dperm_shared_rows_helpers(const DpermSharedRows *shared, Size size);

#endif							/* DPERM_SHARED_ROWS_H */
