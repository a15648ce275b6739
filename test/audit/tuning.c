/*
 * tuning.c: the tuning procedure as a whole, as a black box.
 *
 * A tiny table is tuned many thousand times: a portion is drawn for each row, one
 * fit is made for each candidate on its own portion, and a choice by mistakes on
 * the last. What is released is the chosen candidate, the
 * size of its portion and its weight. Two tables differ in one row; an event
 * that distinguishes them is searched for on one half of the runs, and its
 * probabilities are bounded on the other half (Clopper and Pearson). What they
 * prove about epsilon never exceeds the claim, and it does as soon as any part
 * of the procedure is wrong.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "audit/binomial.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"
#include "unit/oracle.h"

#define ROWS 9
#define CANDIDATES 2
#define PORTIONS (CANDIDATES + 1)
#define HALF_MAX 20000			/* runs to look for an event, and as many to measure it */
#define HALF test_rounds(HALF_MAX)
#define LEVEL 1e-4				/* of each of the two confidence bounds */
#define EPSILON 0.5

static const double lambdas[CANDIDATES] = {0.2, 2};

/* A table of rows of one feature, and labels of 1 or -1. */
typedef struct Table
{
	double		x[ROWS];
	double		y[ROWS];
} Table;

/* Where the row that differs has to land. */
typedef enum Landing
{
	ANYWHERE = -1,
	FIRST_CANDIDATE = 0,
	LAST_CANDIDATE = CANDIDATES - 1,
	VALIDATION = CANDIDATES
} Landing;

/* Faults that the audit has to find. */
typedef enum Fault
{
	NONE,
	CHOICE_SPENDS_MORE,			/* 20 times epsilon */
	TRAINING_SPENDS_MORE,		/* 4 times epsilon */
	PORTIONS_BY_VALUE,			/* a hash of what a row holds */
	SCORED_ON_TRAINING_ROWS		/* mistakes on all rows, and the best taken */
} Fault;

/* What is attacked. */
typedef struct Target
{
	DpermSelection rule;
	DpermMethod method;
	Landing		landing;
	Fault		fault;
} Target;

/* What is released: -1 rows stand for the error that a portion is empty. */
typedef struct Release
{
	int			chosen;
	int			rows;
	double		weight;
} Release;

static Release runs[2][2 * HALF_MAX];

/* The portion of what a row holds, under a key. */
static int
portion_of(const double *value, uint64_t key)
{
	for (int i = 0; i < 2; i++)
	{
		uint64_t	bits;

		memcpy(&bits, &value[i], sizeof(bits));
		bits ^= key;
		key = test_splitmix(&bits);
	}
	return (int) (key % PORTIONS);
}

/* The portion of every row. */
static void
divide(const Target *t, const Table *table, DpermEntropy *e, int *portions)
{
	uint64_t	key = dperm_draw_word(e);

	for (int i = 0; i < ROWS; i++)
	{
		double		value[2] = {table->x[i], table->y[i]};

		portions[i] = t->fault == PORTIONS_BY_VALUE ? portion_of(value, key) :
			(int) dperm_draw_below(e, PORTIONS);
	}
}

/*
 * Train a candidate on its portion; the weight, and how many rows there were.
 */
static double
train(const Target *t, const Table *table, const int *portions, int candidate, DpermEntropy *e,
	  int *rows)
{
	static double moments_room[200000];
	static double room[2000];
	double		data[ROWS];
	double	   *chunk = data;
	double		weight = 0;
	DpermMatrix matrix = {.dim = 1, .chunks = &chunk, .room = moments_room};
	DpermFit	fit = {.setup = {.method = t->method, .epsilon = EPSILON, .lambda = lambdas[candidate],
	.dim = 1}, .entropy = e};

	*rows = 0;
	for (int i = 0; i < ROWS; i++)
		if (portions[i] == candidate)
			data[(*rows)++] = table->x[i] * table->y[i];
	if (*rows == 0)
		return 0;
	if (t->fault == TRAINING_SPENDS_MORE)
		fit.setup.epsilon *= 4;
	fit.setup.rows = matrix.count = matrix.chunk_rows = *rows;
	CHECK(dperm_calibrate(&fit.setup, &fit.calibration) == NULL);
	CHECK(oracle_fit(oracle_of(&matrix), &fit, &weight, room) == DPERM_OK);
	return weight;
}

/* Tune once. */
static Release
tune(const Target *t, const Table *table, DpermEntropy *e)
{
	int			portions[ROWS];
	int			rows[CANDIDATES];
	double		weights[CANDIDATES];
	int64_t		mistakes[CANDIDATES] = {0};
	int			order[CANDIDATES];
	int			chosen;

	do
	{
		divide(t, table, e, portions);
	} while (t->landing != ANYWHERE && portions[0] != (int) t->landing);
	for (int c = 0; c < CANDIDATES; c++)
	{
		weights[c] = train(t, table, portions, c, e, &rows[c]);
		if (rows[c] == 0)
			return (Release) {-1, -1, 0};
	}
	for (int i = 0; i < ROWS; i++)
		for (int c = 0; c < CANDIDATES; c++)
			if (portions[i] == CANDIDATES || t->fault == SCORED_ON_TRAINING_ROWS)
				mistakes[c] += (weights[c] * table->x[i] > 0) != (table->y[i] > 0);
	chosen = dperm_selection_choose(e, t->rule, dperm_selection_budget(t->fault == CHOICE_SPENDS_MORE ? 20 * EPSILON :
														  t->fault == SCORED_ON_TRAINING_ROWS ? INFINITY :
														  EPSILON, DPERM_NEIGHBOURS_REPLACE), 1, mistakes, CANDIDATES, order);
	return (Release) {chosen, rows[chosen], weights[chosen]};
}

/*
 * An event: a chosen candidate and a number of rows, or any, and a side of a
 * threshold.
 */
typedef struct Event
{
	int			chosen;			/* -2: any */
	int			rows;			/* -2: any */
	bool		above;
	double		threshold;
} Event;

/* How many runs of a half are in an event. */
static int
count_event(const Release *half, const Event *event)
{
	int			count = 0;

	for (int i = 0; i < HALF; i++)
		count += (event->chosen == -2 || half[i].chosen == event->chosen) &&
			(event->rows == -2 || half[i].rows == event->rows) &&
			(half[i].weight > event->threshold) == event->above;
	return count;
}

/* The lower bound on epsilon that counts prove. */
static double
proven(int ours, int theirs)
{
	return binomial_epsilon(ours, theirs, HALF, 2 * LEVEL);
}

/* Order of releases by weight. */
static int
compare_weights(const void *a, const void *b)
{
	double		x = ((const Release *) a)->weight;
	double		y = ((const Release *) b)->weight;

	return (x > y) - (x < y);
}

/* The best event on the first half, measured on the second. */
static double
measure(int ours, int theirs)
{
	static Release sorted[HALF_MAX];
	Event		best = {-2, -2, true, -INFINITY};
	double		most = -INFINITY;

	memcpy(sorted, runs[ours], sizeof(sorted));
	qsort(sorted, HALF, sizeof(Release), compare_weights);
	for (int chosen = -2; chosen < CANDIDATES; chosen++)
		for (int rows = -2; rows <= ROWS; rows++)
			for (int k = -1; k < 20; k++)
				for (int above = 0; above < 2; above++)
				{
					Event		event = {chosen, rows, above, k < 0 ? -INFINITY :
					sorted[(2 * k + 1) * HALF / 40].weight};
					int			seen;
					double		found;

					/* what is as rare as this proves nothing */
					if (rows == 0 || (seen = count_event(runs[ours], &event)) < HALF / 200)
						continue;
					found = proven(seen, count_event(runs[theirs], &event));
					if (found > most)
					{
						most = found;
						best = event;
					}
				}
	return proven(count_event(runs[ours] + HALF, &best), count_event(runs[theirs] + HALF, &best));
}

/* What is proven about epsilon from runs on two tables. */
static double
audit(const Target *t, const Table *ours, const Table *theirs, uint64_t seed)
{
	const Table *tables[2] = {ours, theirs};

	for (int side = 0; side < 2; side++)
	{
		TestEntropy source;
		DpermEntropy e;

		test_entropy_init(&e, &source, 2 * seed + (uint64_t) side);
		for (int i = 0; i < 2 * HALF; i++)
			runs[side][i] = tune(t, tables[side], &e);
		CHECK(e.status == DPERM_OK);
	}
	return fmax(measure(0, 1), measure(1, 0));
}

/* The row that differs is all that there is to learn. */
static void
lonely_tables(Table *ours, Table *theirs)
{
	for (int i = 0; i < ROWS; i++)
	{
		ours->x[i] = i == 0;
		ours->y[i] = 1;
	}
	*theirs = *ours;
	theirs->y[0] = -1;
}

/* One row against others that agree with it, or do not. */
static void
crowded_tables(Table *ours, Table *theirs)
{
	for (int i = 0; i < ROWS; i++)
	{
		ours->x[i] = i == 0 ? 1 : i % 2 ? 0.5 : -1;
		ours->y[i] = i % 3 ? 1 : -1;
	}
	*theirs = *ours;
	theirs->x[0] = -1;
}

/* All rows the same, except for one. */
static void
equal_tables(Table *ours, Table *theirs)
{
	for (int i = 0; i < ROWS; i++)
	{
		ours->x[i] = 1;
		ours->y[i] = 1;
	}
	*theirs = *ours;
	theirs->y[0] = -1;
}

static void (*const make_tables[]) (Table *, Table *) = {lonely_tables, crowded_tables, equal_tables};

TEST(tuning_is_private)
{
	static const Target targets[] = {
		{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, ANYWHERE, NONE},
		{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, FIRST_CANDIDATE, NONE},
		{DPERM_SELECT_EXPONENTIAL, DPERM_METHOD_OBJECTIVE, LAST_CANDIDATE, NONE},
		{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, VALIDATION, NONE},
		{DPERM_SELECT_EXPONENTIAL, DPERM_METHOD_OBJECTIVE, VALIDATION, NONE},
		{DPERM_SELECT_EXPONENTIAL, DPERM_METHOD_OUTPUT, ANYWHERE, NONE},
		{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OUTPUT, FIRST_CANDIDATE, NONE}
	};
	double		most = -INFINITY;
	uint64_t	seed = 1;

	/* all pairs of tables for each target, or one in turn */
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		for (int k = 0; k < 3; k++)
		{
			Table		ours,
						theirs;
			double		found;

			if (HALF < HALF_MAX && (int) (i % 3) != k)
				continue;
			make_tables[k] (&ours, &theirs);
			found = audit(&targets[i], &ours, &theirs, seed++);
			CHECK(found <= EPSILON);
			if (!(found <= EPSILON))
				fprintf(stderr, "target %zu, tables %d: epsilon is at least %g\n", i, k, found);
			most = fmax(most, found);
		}

	/* an audit that proves nothing at all would not find a fault */
	CHECK(most > (HALF == HALF_MAX ? 0.2 : 0.1) * EPSILON);
}

TEST(finds_planted_faults)
{
	static const struct
	{
		Target		target;
		int			tables;
	}			faults[] = {
		{{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, VALIDATION, CHOICE_SPENDS_MORE}, 0},
		{{DPERM_SELECT_EXPONENTIAL, DPERM_METHOD_OBJECTIVE, VALIDATION, CHOICE_SPENDS_MORE}, 0},
		{{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, FIRST_CANDIDATE, TRAINING_SPENDS_MORE}, 0},
		{{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OUTPUT, LAST_CANDIDATE, TRAINING_SPENDS_MORE}, 0},
		{{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, ANYWHERE, PORTIONS_BY_VALUE}, 2},
		{{DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_METHOD_OBJECTIVE, ANYWHERE, SCORED_ON_TRAINING_ROWS}, 0}
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
	{
		Table		ours,
					theirs;
		double		found;

		make_tables[faults[i].tables] (&ours, &theirs);
		found = audit(&faults[i].target, &ours, &theirs, 100 + i);
		CHECK(found > EPSILON);
		if (!(found > EPSILON))
			fprintf(stderr, "fault %zu: no more than %g was found\n", i, found);
	}
}

/*
 * The paper's theorem on tuning: the mistakes of the chosen one are at most
 * z_min + 2 log(m/delta)/epsilon with probability 1 - delta. The counts are
 * those that make it hardest: one good candidate, and all others just beyond
 * the bound.
 */
TEST(few_more_mistakes_than_the_best)
{
	static const double epsilons[] = {0.05, 0.3, 1, 4};
	static const double deltas[] = {0.3, 0.1, 0.01};
	static const int counts[] = {2, 5, 20, 64};
	enum
	{
		DRAWS = 4000
	};
	TestEntropy source;
	DpermEntropy e;
	double		closest = 0;

	test_entropy_init(&e, &source, 200);
	for (int r = 0; r < 2; r++)
		for (int i = 0; i < 4; i++)
			for (int k = 0; k < 3; k++)
				for (int c = 0; c < 4; c++)
				{
					int			m = counts[c];
					double		bound = 2 * log(m / deltas[k]) / epsilons[i];
					int64_t		mistakes[64];
					int			order[64];
					int			beyond = 0;

					for (int j = 0; j < m; j++)
						mistakes[j] = 17 + (j == m / 2 ? 0 : (int64_t) floor(bound) + 1);
					for (int j = 0; j < DRAWS; j++)
					{
						int			chosen = dperm_selection_choose(&e, (DpermSelection) r,
														  dperm_selection_budget(epsilons[i], DPERM_NEIGHBOURS_REPLACE), 1, mistakes, m, order);

						beyond += (double) (mistakes[chosen] - 17) > bound;
					}
					CHECK(binomial_lower(beyond, DRAWS, LEVEL) <= deltas[k]);
					closest = fmax(closest, (double) beyond / DRAWS / deltas[k]);
				}
	CHECK(closest > 0.5);		/* the bound is meaningful: half of it is used up somewhere */
}

/*
 * The same for whole tunings of a table that is large enough to have something
 * to choose from.
 */
TEST(tuned_models_are_nearly_the_best)
{
	enum
	{
		TABLE = 600, TUNINGS = 400, MODELS = 5
	};
	static const double delta = 0.1;
	static double moments_room[200000];
	static double room[2000];
	static const double grid[MODELS] = {1e-3, 1e-2, 0.1, 1, 10};
	TestEntropy source;
	DpermEntropy e;
	TestRandom	state = 7;

	test_entropy_init(&e, &source, 300);
	for (int r = 0; r < 2; r++)
	{
		int			beyond = 0;

		for (int run = 0; run < TUNINGS; run++)
		{
			static double data[MODELS + 1][TABLE][2];
			int			rows[MODELS + 1] = {0};
			int64_t		mistakes[MODELS] = {0};
			int64_t		fewest = TABLE;
			int			order[MODELS];
			int			chosen;

			for (int i = 0; i < TABLE; i++)
			{
				int			at = (int) dperm_draw_below(&e, MODELS + 1);
				double		x = 2 * test_uniform(&state) - 1;
				double		sign = x + 0.3 * (2 * test_uniform(&state) - 1) > 0.4 ? 1 : -1;

				data[at][rows[at]][0] = sign * x * sqrt(0.5);
				data[at][rows[at]++][1] = sign * sqrt(0.5);
			}
			for (int c = 0; c < MODELS; c++)
			{
				double	   *chunk = &data[c][0][0];
				double		weights[2];
				DpermMatrix matrix = {.dim = 2, .count = rows[c], .chunk_rows = rows[c], .chunks = &chunk,
				.room = moments_room};
				DpermFit	fit = {.setup = {.epsilon = 1, .lambda = grid[c], .rows = rows[c], .dim = 2},
				.entropy = &e};

				CHECK(dperm_calibrate(&fit.setup, &fit.calibration) == NULL);
				CHECK(oracle_fit(oracle_of(&matrix), &fit, weights, room) == DPERM_OK);
				for (int i = 0; i < rows[MODELS]; i++)
					mistakes[c] += data[MODELS][i][0] * weights[0] + data[MODELS][i][1] * weights[1] <= 0;
				fewest = mistakes[c] < fewest ? mistakes[c] : fewest;
			}
			chosen = dperm_selection_choose(&e, (DpermSelection) r, dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE), 1, mistakes, MODELS, order);
			beyond += (double) (mistakes[chosen] - fewest) > 2 * log(MODELS / delta);
		}
		CHECK(binomial_lower(beyond, TUNINGS, LEVEL) <= delta);
	}
}
