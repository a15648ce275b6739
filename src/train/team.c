/*
 * team.c: parallel workers that sum up rows together with this process.
 *
 * The leader posts a question, sums up its own share of the chunks, waits for
 * the members that take part, and adds their sums in the order of their
 * numbers. Who takes part is decided when a question is posted: members that
 * have joined by then. So nobody waits for workers to start, and none need to.
 * They are launched with the first question.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/host.h"
#include "train/team.h"

/* Keys of the table of contents. */
#define KEY_TEAM 1
#define KEY_SETS 2
#define KEY_ROOM 3

/* To ask a team pays if this part of the rows from which one pays is selected. */
#define ASK_PART 8

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
	DpermSharedKey key;			/* of the rows */
	int			set_count;
	int			dim;			/* of rows: the largest */
	int			blocks;			/* of weights: the most */
	Size		pass_words;		/* room for a pass: the most */
	pg_atomic_uint32 joined;	/* members so far */
	pg_atomic_uint64 question;	/* QUESTION(); 0: none so far */
	pg_atomic_uint32 pending;	/* members that have not answered it */
	pg_atomic_uint32 ended;		/* there will be no more */
	ConditionVariable asked;
	ConditionVariable answered;

	/* the question; stable until all that take part have answered */
	int			set;
	DpermMatrix matrix;			/* without its pointers */
	bool		hess;
	bool		careful;
	bool		product;
} Shared;

/* A set of rows; its places in the model and those of its chunks follow. */
typedef struct Set
{
	DpermLayout layout;
	int64		chunks;
} Set;

/* A cache that a team helps with. */
typedef struct Side
{
	DpermTeam  *team;
	DpermCache *cache;
	int			set;
} Side;

struct DpermTeam
{
	MemoryContext memory;
	int			wanted;			/* members; 0: no more */
	int			dim;			/* as in Shared */
	int			blocks;
	Size		pass_words;
	ParallelContext *context;	/* NULL: not launched */
	Shared	   *shared;
	double	   *room;
	uint64		number;			/* of the last question */
	int			count;
	Side	   *sides;
};

/* The sums of a member, in words: value, rows, gradient, and Hessian. */
static Size
sum_words(int dim, int blocks)
{
	DpermLoss	loss = {.classes = blocks > 1 ? blocks : 0};

	return 3 + 2 * (Size) dim * blocks + dperm_moments_packed(dim * blocks, loss);
}

/* Where the sums of a member are; the first one is number 1. */
static double *
sums_of(double *room, const Shared *shared, uint32 member)
{
	return room + 2 * (Size) shared->dim * shared->blocks +
		   (member - 1) * sum_words(shared->dim, shared->blocks);
}

/* The chunks of a participant among several: from first to before last. */
static void
chunks_of(const DpermMatrix *x, uint32 participant, uint32 members, int64 *first, int64 *last)
{
	int64		chunks = dperm_matrix_chunks(x);

	*first = chunks * participant / (members + 1);
	*last = chunks * (participant + 1) / (members + 1);
}

/* Bytes of the description of a set. */
static Size
set_bytes(const DpermCache *cache)
{
	return MAXALIGN(sizeof(Set)) + MAXALIGN(sizeof(int) * cache->feed.layout.dim) +
		   sizeof(uint64) * cache->chunk_count;
}

/* Describe a set; returns the end of its description. */
static char *
write_set(char *at, const DpermCache *cache)
{
	const DpermLayout *layout = &cache->feed.layout;
	Set		   *set = (Set *) at;
	uint64	   *places;

	*set = (Set) {.layout = *layout, .chunks = cache->chunk_count};
	at += MAXALIGN(sizeof(Set));
	if (layout->place)
		memcpy(at, layout->place, sizeof(int) * layout->dim);
	at += MAXALIGN(sizeof(int) * layout->dim);
	places = (uint64 *) at;
	for (int i = 0; i < cache->chunk_count; i++)
		places[i] = dperm_shared_rows_place(cache->shared, cache->keep.chunks[i]);
	return (char *) (places + cache->chunk_count);
}

/*
 * How many members a team for some caches should have at most: as many as have
 * loaded the rows, unless there are few rows, or their sums take too much
 * memory.
 */
static int
wanted_members(const DpermTeam *team, DpermCache **caches, int count)
{
	Size		each = sizeof(double) *
		(sum_words(team->dim, team->blocks) + team->pass_words);
	Size		memory = (Size) dperm_cache_memory * 1024;
	Size		used = 0;

	for (int i = 0; i < count; i++)
		used += dperm_cache_size(caches[i]);
	for (int i = 0; i < count; i++)
		if (dperm_shared_rows_helpers(caches[i]->shared, used) == 0)
			return 0;
	memory = Max(TEAM_BYTES, memory - Min(memory, used));
	return (int) Min(dperm_shared_rows_helpers(caches[0]->shared, used), memory / each);
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
	shared->key = dperm_shared_rows_key(team->sides[0].cache->shared);
	shared->set_count = team->count;
	shared->dim = team->dim;
	shared->blocks = team->blocks;
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
		at = write_set(at, team->sides[i].cache);
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
		team->wanted * sum_words(team->dim, team->blocks);
	Size		room = sizeof(double) * words;
	Size		sets = 0;
	ParallelContext *context;

	for (int i = 0; i < team->count; i++)
		sets += set_bytes(team->sides[i].cache);
	if (!dperm_shared_rows_room(sets + room))
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

/* Sum up the selected rows of a matrix, with the team. */
static void
sum_together(void *arg, const DpermMatrix *x, const DpermAsk *ask, DpermMoments *m)
{
	const Side *side = arg;
	DpermTeam  *team = side->team;
	Shared	   *shared;
	uint32		members;
	int			dim = x->dim;
	int64		first,
				last;

	if (team->wanted > 0 && team->context == NULL)
		launch(team);
	if (team->context == NULL)
	{
		dperm_matrix_add(x, m, 0, dperm_matrix_chunks(x));
		return;
	}
	shared = team->shared;
	members = pg_atomic_read_u32(&shared->joined);
	shared->set = side->set;
	shared->matrix = *x;
	shared->hess = ask->hess != NULL;
	shared->careful = ask->weights_low != NULL;
	shared->product = ask->direction != NULL;
	memcpy(team->room, ask->weights, sizeof(double) * dim);
	if (shared->careful || shared->product)
		memcpy(team->room + dim, shared->careful ? ask->weights_low : ask->direction,
			   sizeof(double) * dim);
	pg_atomic_write_u32(&shared->pending, members);
	pg_write_barrier();
	pg_atomic_write_u64(&shared->question, QUESTION(++team->number, members));
	if (members > 0)
		ConditionVariableBroadcast(&shared->asked);
	chunks_of(x, 0, members, &first, &last);
	dperm_matrix_add(x, m, first, last);
	dperm_moments_flush(m);
	await_answers(shared);
	for (uint32 i = 1; i <= members; i++)
	{
		const double *sums = sums_of(team->room, shared, i);

		dperm_moments_merge(m, (int64) sums[2], sums, sums + 3, sums + 3 + dim,
							sums + 3 + 2 * dim);
	}
}

/* Start a team. */
DpermTeam *
dperm_team_begin(DpermCache **caches, int count, int blocks)
{
	DpermTeam  *team = palloc0(sizeof(*team));
	int64		least = (int64) (dperm_shared_rows_least() / sizeof(double));

	team->blocks = blocks;
	for (int i = 0; i < count; i++)
	{
		int			dim = caches[i]->feed.layout.dim;

		team->dim = Max(team->dim, dim);
		team->pass_words = Max(team->pass_words, dperm_moments_room(dim * blocks, blocks, true));
	}
	team->wanted = wanted_members(team, caches, count);
	if (team->wanted == 0)
	{
		pfree(team);
		return NULL;
	}
	team->memory = CurrentMemoryContext;
	team->count = count;
	team->sides = palloc0(sizeof(Side) * count);
	for (int i = 0; i < count; i++)
	{
		team->sides[i] = (Side) {.team = team, .cache = caches[i], .set = i};
		caches[i]->help = (DpermHelp) {.sum = sum_together, .arg = &team->sides[i],
									   .least_words = least / ASK_PART};
	}
	return team;
}

/* End a team. */
void
dperm_team_end(DpermTeam *team)
{
	if (team == NULL)
		return;
	for (int i = 0; i < team->count; i++)
		team->sides[i].cache->help = (DpermHelp) {0};
	if (team->context)
	{
		pg_atomic_write_u32(&team->shared->ended, 1);
		ConditionVariableBroadcast(&team->shared->asked);
		WaitForParallelWorkersToFinish(team->context);
		/* weights reveal the noise that they were trained with */
		dperm_wipe(team->room, 2 * (size_t) team->dim * team->blocks);
		dismiss(team);
	}
	pfree(team->sides);
	pfree(team);
}

/* A set of rows, as a member sees it. */
typedef struct MemberSet
{
	DpermLayout layout;
	const uint64 *places;
	double	  **chunks;			/* NULL: not mapped yet */
} MemberSet;

/* A member. */
typedef struct Member
{
	Shared	   *shared;
	DpermSharedRows *rows;
	MemberSet  *sets;
	uint32		number;			/* from 1 on */
	const double *weights;
	double	   *sums;
	double	   *room;			/* for a pass */
} Member;

/* Read the descriptions of sets. */
static void
read_sets(Member *member, const char *at)
{
	member->sets = palloc(sizeof(MemberSet) * member->shared->set_count);
	for (int i = 0; i < member->shared->set_count; i++)
	{
		const Set  *set = (const Set *) at;
		MemberSet  *mine = &member->sets[i];

		mine->layout = set->layout;
		at += MAXALIGN(sizeof(Set));
		if (set->layout.place)
			mine->layout.place = (const int *) at;
		at += MAXALIGN(sizeof(int) * set->layout.dim);
		mine->places = (const uint64 *) at;
		mine->chunks = MemoryContextAllocExtended(CurrentMemoryContext,
												  sizeof(double *) * Max(set->chunks, 1),
												  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		at = (const char *) (mine->places + set->chunks);
	}
}

/* Answer a question. */
static void
answer(Member *member, uint32 members)
{
	const Shared *shared = member->shared;
	MemberSet  *set = &member->sets[shared->set];
	DpermMatrix matrix = shared->matrix;
	DpermAsk	ask = {.weights = member->weights};
	DpermMoments m;
	double	   *sums = member->sums;
	int64		first,
				last;

	matrix.layout = &set->layout;
	matrix.chunks = set->chunks;
	matrix.help = NULL;
	matrix.room = member->room;
	if (shared->careful)
		ask.weights_low = member->weights + matrix.dim;
	if (shared->product)
		ask.direction = member->weights + matrix.dim;
	if (shared->hess)
		ask.hess = member->room;	/* it is only asked whether there is one */
	chunks_of(&matrix, member->number, members, &first, &last);
	for (int64 i = first; i < last; i++)
		if (set->chunks[i] == NULL)
			set->chunks[i] = dperm_shared_rows_at(member->rows, set->places[i]);
	dperm_matrix_start(&matrix, &ask, &m);
	dperm_matrix_add(&matrix, &m, first, last);
	dperm_moments_flush(&m);
	sums[0] = m.value[0];
	sums[1] = m.value[1];
	sums[2] = (double) m.rows;
	memcpy(sums + 3, m.gradient, sizeof(double) * m.dim);
	memcpy(sums + 3 + m.dim, m.gradient_low, sizeof(double) * m.dim);
	if (shared->hess)
		dperm_moments_pack(&m, sums + 3 + 2 * m.dim);
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
	uint64		question;

	pgstat_report_activity(STATE_RUNNING, "dperm: sums over rows");
	member.rows = dperm_shared_rows_join(&shared->key);
	if (member.rows == NULL)
		return;					/* too late: the rows are not used any more */
	read_sets(&member, shm_toc_lookup(toc, KEY_SETS, false));
	member.room = MemoryContextAllocHuge(CurrentMemoryContext,
										 sizeof(double) * shared->pass_words);
	question = pg_atomic_read_u64(&shared->question);
	pg_memory_barrier();
	member.number = pg_atomic_fetch_add_u32(&shared->joined, 1) + 1;
	member.sums = sums_of(room, shared, member.number);
	while ((question = next_question(shared, question)) != 0)
	{
		/* those who have joined later do not take part */
		if (member.number > MEMBERS_OF(question))
			continue;
		answer(&member, MEMBERS_OF(question));
		pg_write_barrier();
		if (pg_atomic_sub_fetch_u32(&shared->pending, 1) == 0)
			ConditionVariableBroadcast(&shared->answered);
	}
	dperm_wipe(member.room, shared->pass_words);
}
