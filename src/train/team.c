/*
 * team.c: parallel workers that sum up rows together with this process. Trusted.
 *
 * The leader posts a question, sums up its own share of the chunks, waits for
 * the members that take part, and adds their sums in the order of their
 * numbers. Each says how many rows of each chunk it has summed up, and the sums
 * are used if that is each row of the store, once. Who takes part is decided when
 * a question is posted: members that have joined by then. They are launched before
 * the start of the first training, and no worker needs to start: the first question
 * waits for them only as long as it might take alone.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/base.h"
#include "train/team.h"

/* Keys of the table of contents. */
#define KEY_TEAM 1
#define KEY_SETS 2
#define KEY_ROOM 3

/* The bytes of rows that are summed up in a millisecond, or more. */
#define WAIT_BYTES ((Size) 4 * 1024 * 1024)

/*
 * Memory for the sums of members, private and shared; or what the rows leave of
 * dperm.cache_memory, if that is more.
 */
#define TEAM_BYTES ((Size) 256 * 1024 * 1024)

/* How often to look before going to sleep: questions come soon after another. */
#define SPINS 1000

/* A question that says what it is, and how many members take part in it. */
#define MEMBER_BITS 16
#define QUESTION(number, members) ((uint64) (number) << MEMBER_BITS | (uint64) (members))
#define MEMBERS_OF(question) ((uint32) ((question) & ((1 << MEMBER_BITS) - 1)))

/* What all members see. */
typedef struct Shared
{
	DpermRowsKey key;			/* of the store */
	int			set_count;
	int			dim;			/* of rows: the largest */
	int			blocks;			/* of weights: the most */
	int64		chunks;			/* the most */
	Size		pass_words;		/* room for a pass: the most */
	pg_atomic_uint32 joined;	/* members so far */
	pg_atomic_uint64 question;	/* QUESTION(); 0: none so far */
	pg_atomic_uint32 pending;	/* members that have not answered it */
	pg_atomic_uint32 ended;		/* there will be no more */
	bool		discard;		/* are the rows not used any more then? */
	ConditionVariable asked;
	ConditionVariable answered;

	/* the question; stable until all that take part have answered */
	int			set;
	DpermMatrix matrix;			/* without its pointers */
	bool		hess;
	bool		extended;
} Shared;

/* A set of rows; its chunks, and the steps and first coordinates of its curves, follow. */
typedef struct Set
{
	DpermLayout layout;
	int64		chunk_rows;
	int64		chunks;
} Set;

struct DpermTeam
{
	MemoryContext memory;
	int			wanted;			/* members; 0: no more */
	int			dim;			/* as in Shared */
	int			blocks;
	int64		chunks;
	Size		pass_words;
	ParallelContext *context;	/* NULL: not launched */
	Shared	   *shared;
	double	   *room;
	uint64		number;			/* of the last question */
	int			count;
	DpermRows **sets;
};

/*
 * The sums of a member, in words: value, rows, gradient, Hessian, and the rows of
 * each chunk.
 */
static Size
sum_words(int dim, int blocks, int64 chunks)
{
	DpermLoss	loss = {.classes = blocks > 1 ? blocks : 0};

	return 3 + 2 * (Size) dim * blocks + dperm_moments_packed(dim * blocks, loss) + chunks;
}

/* Where the sums of a member are; the first one is number 1. */
static double *
sums_of(double *room, const Shared *shared, uint32 member)
{
	return room + 2 * (Size) shared->dim * shared->blocks +
		   (member - 1) * sum_words(shared->dim, shared->blocks, shared->chunks);
}

/* Where the rows of each chunk are in them. */
static double *
counted_of(double *sums, const Shared *shared)
{
	return sums + sum_words(shared->dim, shared->blocks, 0);
}

/* The first chunk of a participant among several; all have contiguous chunks. */
static int64
share_of(const DpermRows *rows, uint32 participant, uint32 participants)
{
	return rows->chunk_count * participant / participants;
}

/*
 * Sum up the chunks of a participant. The chunks of a process that loaded rows are
 * contiguous, too, so a participant uses the memory and the files of few of them.
 */
static void
sum_chunks(DpermRows *rows, DpermMoments *m, uint32 participant, uint32 participants,
		   double *counted)
{
	int64		end = share_of(rows, participant + 1, participants);

	memset(counted, 0, sizeof(double) * rows->chunk_count);
	for (int64 i = share_of(rows, participant, participants); i < end; i++)
	{
		int64		before = m->rows;

		dperm_moments_add(m, dperm_rows_chunk(rows, i), rows->chunks[i].rows, 1);
		counted[i] += m->rows - before;
	}
}

/* Raise an error unless each row has been summed up once. */
static void
check_counted(const DpermRows *rows, const double *counted)
{
	int64		all = 0;

	for (int64 i = 0; i < rows->chunk_count; i++)
	{
		if (counted[i] != rows->chunks[i].rows)
			elog(ERROR, "rows were not summed up once");
		all += rows->chunks[i].rows;
	}
	if (all != rows->count)
		elog(ERROR, "rows were lost");
}

/* Bytes of the description of a set: chunks and positions. */
static Size
set_bytes(const DpermRows *rows)
{
	return MAXALIGN(sizeof(Set)) + sizeof(DpermChunk) * rows->chunk_count +
		   sizeof(DpermPosition) * dperm_layout_positions(&rows->feed.layout);
}

/* Describe a set; returns the end of its description. */
static char *
write_set(char *at, const DpermRows *rows)
{
	const DpermLayout *layout = &rows->feed.layout;
	Set			set = {.layout = *layout, .chunk_rows = rows->chunk_rows,
					   .chunks = rows->chunk_count};
	Size		positions = sizeof(DpermPosition) * dperm_layout_positions(layout);

	memcpy(at, &set, sizeof(set));
	at += MAXALIGN(sizeof(set));
	memcpy(at, rows->chunks, sizeof(DpermChunk) * rows->chunk_count);
	at += sizeof(DpermChunk) * rows->chunk_count;
	memcpy(at, layout->positions, positions);
	return at + positions;
}

/*
 * The bytes of rows from which workers pay: those of a table that PostgreSQL would
 * scan in parallel.
 */
static Size
least_bytes(void)
{
	return (Size) min_parallel_table_scan_size * BLCKSZ;
}

/*
 * How many members a team for some sets should have at most: as many as have
 * loaded the rows, unless there are few rows, or their sums take too much
 * memory.
 */
static int
wanted_members(const DpermTeam *team)
{
	Size		each = sizeof(double) *
		(sum_words(team->dim, team->blocks, team->chunks) + team->pass_words);
	Size		memory = (Size) dperm_cache_memory * 1024;
	Size		used = 0;

	for (int i = 0; i < team->count; i++)
		used += dperm_rows_bytes(team->sets[i]);
	if (used < least_bytes())
		return 0;
	memory = Max(TEAM_BYTES, memory - Min(memory, used));
	return (int) Min(dperm_rows_processes(team->sets[0]->store) - 1, memory / each);
}

/* Fill in what members see. */
static void
fill_in(DpermTeam *team, Size sets, Size room)
{
	shm_toc    *toc = team->context->toc;
	Shared	   *shared = shm_toc_allocate(toc, sizeof(Shared));
	char	   *at = shm_toc_allocate(toc, sets);

	team->shared = shared;
	team->room = shm_toc_allocate(toc, room);
	memset(shared, 0, sizeof(*shared));
	shared->key = dperm_rows_key(team->sets[0]->store);
	shared->set_count = team->count;
	shared->dim = team->dim;
	shared->blocks = team->blocks;
	shared->chunks = team->chunks;
	shared->pass_words = team->pass_words;
	pg_atomic_init_u32(&shared->joined, 0);
	pg_atomic_init_u64(&shared->question, 0);
	pg_atomic_init_u32(&shared->pending, 0);
	pg_atomic_init_u32(&shared->ended, 0);
	ConditionVariableInit(&shared->asked);
	ConditionVariableInit(&shared->answered);
	shm_toc_insert(toc, KEY_TEAM, shared);
	shm_toc_insert(toc, KEY_SETS, at);
	shm_toc_insert(toc, KEY_ROOM, team->room);
	for (int i = 0; i < team->count; i++)
		at = write_set(at, team->sets[i]);
}

/* Let members go, and leave parallel mode. */
static void
dismiss(DpermTeam *team)
{
	DestroyParallelContext(team->context);
	ExitParallelMode();
	team->context = NULL;
	team->wanted = 0;
}

/* Launch members, if that is possible. */
static void
launch(DpermTeam *team)
{
	MemoryContext caller = MemoryContextSwitchTo(team->memory);
	Size		words = 2 * (Size) team->dim * team->blocks +
		team->wanted * sum_words(team->dim, team->blocks, team->chunks);
	Size		room = sizeof(double) * words;
	Size		sets = 0;
	ParallelContext *context;

	for (int i = 0; i < team->count; i++)
		sets += set_bytes(team->sets[i]);
	if (!dperm_rows_room(sets + room))
		team->wanted = 0;
	else
	{
		EnterParallelMode();
		context = CreateParallelContext("$libdir/dperm", "dperm_team_main", team->wanted);
		team->context = context;
		shm_toc_estimate_chunk(&context->estimator, sizeof(Shared));
		shm_toc_estimate_chunk(&context->estimator, sets);
		shm_toc_estimate_chunk(&context->estimator, room);
		shm_toc_estimate_keys(&context->estimator, 3);
		InitializeParallelDSM(context);
		fill_in(team, sets, room);
		LaunchParallelWorkers(context);
		if (context->nworkers_launched == 0)
			dismiss(team);
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Wait for members that were launched, but no longer than a question about these rows
 * might take without them.
 */
static void
await_members(const DpermTeam *team, const DpermRows *rows)
{
	uint32		launched = team->context->nworkers_launched;

	for (Size left = dperm_rows_bytes(rows) / WAIT_BYTES;
		 left > 0 && pg_atomic_read_u32(&team->shared->joined) < launched; left--)
	{
		CHECK_FOR_INTERRUPTS();
		pg_usleep(1000);
	}
}

/* Wait until all members have answered. */
static void
await_answers(Shared *shared)
{
	for (int i = 0; i < SPINS && pg_atomic_read_u32(&shared->pending) > 0; i++)
		SPIN_DELAY();
	ConditionVariablePrepareToSleep(&shared->answered);
	while (pg_atomic_read_u32(&shared->pending) > 0)
		ConditionVariableSleep(&shared->answered, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	pg_read_barrier();
}

/* Post a question about a set, to so many members. */
static void
post(DpermTeam *team, int set, const DpermMatrix *x, const DpermAsk *ask, uint32 members)
{
	Shared	   *shared = team->shared;
	int			dim = x->dim;

	shared->set = set;
	shared->matrix = *x;
	shared->hess = ask->hess != NULL;
	shared->extended = ask->weights_low != NULL;
	memcpy(team->room, ask->weights, sizeof(double) * dim);
	if (shared->extended)
		memcpy(team->room + dim, ask->weights_low, sizeof(double) * dim);
	pg_atomic_write_u32(&shared->pending, members);
	pg_write_barrier();
	pg_atomic_write_u64(&shared->question, QUESTION(++team->number, members));
	if (members > 0)
		ConditionVariableBroadcast(&shared->asked);
}

/* The number of a set that a team helps with, or -1. */
static int
number_of(const DpermTeam *team, const DpermRows *rows)
{
	if (team)
		for (int i = 0; i < team->count; i++)
			if (team->sets[i] == rows)
				return i;
	return -1;
}

/* Sum up all rows of a set. */
void
dperm_team_sum(DpermTeam *team, DpermRows *rows, const DpermMatrix *x, const DpermAsk *ask,
			   DpermMoments *m)
{
	double	   *counted = palloc_extended(sizeof(double) * Max(rows->chunk_count, 1),
										  MCXT_ALLOC_HUGE);
	int			set = number_of(team, rows);
	uint32		members = 0;

	if (set >= 0 && team->context)
	{
		if (team->number == 0)
			await_members(team, rows);
		members = pg_atomic_read_u32(&team->shared->joined);
		post(team, set, x, ask, members);
	}
	sum_chunks(rows, m, 0, members + 1, counted);
	dperm_moments_flush(m);
	if (members > 0)
		await_answers(team->shared);
	for (uint32 i = 1; i <= members; i++)
	{
		double	   *sums = sums_of(team->room, team->shared, i);
		const double *also = counted_of(sums, team->shared);

		dperm_moments_merge(m, (int64) sums[2], sums, sums + 3, sums + 3 + x->dim,
							sums + 3 + 2 * x->dim);
		for (int64 j = 0; j < rows->chunk_count; j++)
			counted[j] += also[j];
	}
	check_counted(rows, counted);
	pfree(counted);
}

/* Start a team. */
DpermTeam *
dperm_team_begin(DpermLoad **sets, int count, int blocks)
{
	DpermTeam  *team = palloc0(sizeof(*team));

	team->memory = CurrentMemoryContext;
	team->blocks = blocks;
	team->count = count;
	team->sets = palloc(sizeof(DpermRows *) * count);
	for (int i = 0; i < count; i++)
	{
		DpermRows  *rows = team->sets[i] = &sets[i]->rows;
		int			dim = rows->feed.layout.dim;

		team->dim = Max(team->dim, dim);
		team->chunks = Max(team->chunks, rows->chunk_count);
		team->pass_words = Max(team->pass_words, dperm_moments_room(dim * blocks, blocks, true));
	}
	team->wanted = wanted_members(team);
	if (team->wanted == 0)
	{
		pfree(team->sets);
		pfree(team);
		return NULL;
	}
	launch(team);
	return team;
}

/* End a team. */
void
dperm_team_end(DpermTeam *team, bool discard)
{
	if (team == NULL)
		return;
	if (team->context)
	{
		team->shared->discard = discard;
		pg_write_barrier();
		pg_atomic_write_u32(&team->shared->ended, 1);
		ConditionVariableBroadcast(&team->shared->asked);
		WaitForParallelWorkersToFinish(team->context);
		/* weights reveal the noise that they were trained with */
		dperm_wipe(team->room, 2 * (size_t) team->dim * team->blocks);
		dismiss(team);
	}
	pfree(team->sets);
	pfree(team);
}

/* A member. */
typedef struct Member
{
	Shared	   *shared;
	DpermStore *store;
	DpermRows  *sets;
	uint32		number;			/* from 1 on */
	const double *weights;
	double	   *sums;
	double	   *room;			/* for a pass */
} Member;

/* Read the description of a set; returns its end. */
static char *
read_set(DpermRows *rows, DpermStore *store, char *at)
{
	const Set  *set = (const Set *) at;
	DpermLayout layout = set->layout;

	at += MAXALIGN(sizeof(Set));
	dperm_rows_init(rows, store, layout.words, 1);
	rows->chunk_rows = set->chunk_rows;
	rows->chunks = (DpermChunk *) at;
	rows->chunk_count = set->chunks;
	at += sizeof(DpermChunk) * set->chunks;
	layout.place = layout.starts = NULL;	/* only the leader encodes rows and restores weights */
	layout.positions = (const DpermPosition *) at;
	rows->feed.layout = layout;
	return at + sizeof(DpermPosition) * dperm_layout_positions(&layout);
}

/* Answer a question. */
static void
answer(Member *member, uint32 members)
{
	const Shared *shared = member->shared;
	DpermRows  *rows = &member->sets[shared->set];
	DpermMatrix matrix = shared->matrix;
	DpermAsk	ask = {.weights = member->weights};
	DpermMoments m;
	double	   *sums = member->sums;

	matrix.layout = &rows->feed.layout;
	matrix.room = member->room;
	if (shared->extended)
		ask.weights_low = member->weights + matrix.dim;
	if (shared->hess)
		ask.hess = member->room;	/* it is only asked whether there is one */
	dperm_matrix_start(&matrix, &ask, &m);
	sum_chunks(rows, &m, member->number, members + 1, counted_of(sums, shared));
	dperm_moments_flush(&m);
	sums[0] = m.value[0];
	sums[1] = m.value[1];
	sums[2] = (double) m.rows;
	memcpy(sums + 3, m.gradient, sizeof(double) * m.dim);
	memcpy(sums + 3 + m.dim, m.gradient_low, sizeof(double) * m.dim);
	if (shared->hess)
		dperm_moments_pack(&m, sums + 3 + 2 * m.dim);
}

/*
 * Give back the memory of the chunks that a member has summed up. The system takes
 * long for it, in the process that lets go of shared memory last, unless all have
 * done their share before.
 */
static void
discard_share(Member *member, uint32 members)
{
	for (int i = 0; i < member->shared->set_count; i++)
	{
		DpermRows  *rows = &member->sets[i];
		int64		end = share_of(rows, member->number + 1, members + 1);

		for (int64 j = share_of(rows, member->number, members + 1); j < end; j++)
			dperm_rows_discard(rows, j);
	}
}

/* Wait for the next question; 0 if there will be none. */
static uint64
next_question(Shared *shared, uint64 last)
{
	uint64		question = last;

	for (int i = 0; i < SPINS && question == last && !pg_atomic_read_u32(&shared->ended); i++)
	{
		SPIN_DELAY();
		question = pg_atomic_read_u64(&shared->question);
	}
	ConditionVariablePrepareToSleep(&shared->asked);
	while ((question = pg_atomic_read_u64(&shared->question)) == last &&
		   !pg_atomic_read_u32(&shared->ended))
		ConditionVariableSleep(&shared->asked, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	pg_read_barrier();
	return question == last ? 0 : question;
}

/* The main function of a member. */
void
dperm_team_main(dsm_segment *segment, shm_toc *toc)
{
	Shared	   *shared = shm_toc_lookup(toc, KEY_TEAM, false);
	double	   *room = shm_toc_lookup(toc, KEY_ROOM, false);
	Member		member = {.shared = shared, .weights = room};
	char	   *sets = shm_toc_lookup(toc, KEY_SETS, false);
	uint64		question;
	uint32		members = 0;

	pgstat_report_activity(STATE_RUNNING, "dperm: sums over rows");
	member.store = dperm_rows_join(&shared->key);
	if (member.store == NULL)
		return;					/* too late: the rows are not used any more */
	member.sets = palloc(sizeof(DpermRows) * shared->set_count);
	for (int i = 0; i < shared->set_count; i++)
		sets = read_set(&member.sets[i], member.store, sets);
	member.room = MemoryContextAllocHuge(CurrentMemoryContext,
										 sizeof(double) * shared->pass_words);
	question = pg_atomic_read_u64(&shared->question);
	pg_memory_barrier();
	member.number = pg_atomic_fetch_add_u32(&shared->joined, 1) + 1;
	member.sums = sums_of(room, shared, member.number);
	while ((question = next_question(shared, question)) != 0)
	{
		/* those who have joined later do not take part */
		members = MEMBERS_OF(question);
		if (member.number > members)
			continue;
		answer(&member, members);
		pg_write_barrier();
		if (pg_atomic_sub_fetch_u32(&shared->pending, 1) == 0)
			ConditionVariableBroadcast(&shared->answered);
	}
	dperm_wipe(member.room, shared->pass_words);
	if (shared->discard && member.number <= members)
		discard_share(&member, members);
	dperm_rows_close(member.store);
}
