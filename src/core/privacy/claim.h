/*
 * claim.h: what a release claims about privacy.
 * Trusted.
 *
 * A mechanism makes the claim and a model carries it. The guarantee, dp_cost
 * and the forms of a model take everything about privacy from it.
 */
#ifndef DPERM_CLAIM_H
#define DPERM_CLAIM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Which tables are neighbours; stored in models, so the numbers must not change. */
typedef enum DpermNeighbours
{
	DPERM_NEIGHBOURS_REPLACE = 0,	/* the same number of rows, one of which differs */
	/* the same number of rows, one of which is empty in one of the tables */
	DPERM_NEIGHBOURS_REMOVE = 1
} DpermNeighbours;

#define DPERM_NEIGHBOURS_COUNT 2

/* Whose data differs between neighbours. */
typedef enum DpermUnit
{
	DPERM_UNIT_ROW = 0,
	/* all rows that share the value of a column; together they weigh as one row */
	DPERM_UNIT_PERSON = 1
} DpermUnit;

#define DPERM_UNIT_COUNT 2

/*
 * What each release adds to delta: the tail of its noise, below 2^-65, and
 * truncated loops, far below that.
 */
#define DPERM_TAIL 0x1p-64

/* What epsilon is spent on. */
enum
{
	DPERM_SHARE_SLACK,			/* how the minimum moves with the data */
	DPERM_SHARE_NOISE,
	DPERM_SHARE_RELEASE,		/* the release of rounded numbers */
	DPERM_SHARE_COUNT
};

typedef struct DpermClaim
{
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		epsilon;		/* INFINITY: nothing is claimed */
	/* 0: only the tail of the noise, below 2^-65; else it includes that tail */
	double		delta;
	double		shares[DPERM_SHARE_COUNT];	/* of epsilon; zero if nothing is claimed */
} DpermClaim;

/*
 * How many rows neighbours differ by: 2 if one row is replaced by another, 1 if
 * it is removed.
 */
static inline int
dperm_claim_rows_apart(DpermNeighbours neighbours)
{
	return neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2;
}

/* Is anything claimed? */
static inline bool
dperm_claim_private(const DpermClaim *claim)
{
	return !isinf(claim->epsilon);
}

/* What is wrong with a claim, or NULL. */
extern const char *dperm_claim_fault(const DpermClaim *claim);

/* Names, as in the JSON form (dperm_find_word() finds them). */
extern const char *dperm_claim_neighbours_name(int neighbours);
extern const char *dperm_claim_unit_name(int unit);
extern const char *dperm_claim_share_name(int share);

/*
 * The weights of the rows of a unit (docs/guarantee.md, "Persons"). A person is
 * all rows that share a value. Together they weigh at most as much as one row
 * does if rows are the units: every number here is rounded down, so that this
 * holds exactly. Counts of persons are in parts of a person, others are in units.
 */
#define DPERM_PERSON_PARTS (UINT64_C(1) << 20)
extern uint64_t dperm_unit_parts(DpermUnit unit);

/*
 * The weight of each row of a person with this many rows, 1 to 2^53: the
 * largest double w with rows * w <= 1.
 */
extern double dperm_unit_weight(int64_t rows);

/*
 * The parts that some of the rows of a person count for; over different cells
 * they add up to at most DPERM_PERSON_PARTS. 0 <= some <= rows, 1 <= rows <
 * 2^43.
 */
extern int64_t dperm_unit_count(int64_t some, int64_t rows);

#endif							/* DPERM_CLAIM_H */
