/*
 * claim.h: what a release claims about privacy.
 *
 * A mechanism makes the claim and a model carries it. The guarantee, dp_cost
 * and the forms of a model take everything about privacy from it.
 */
#ifndef DPERM_CLAIM_H
#define DPERM_CLAIM_H

#include <stdbool.h>

/*
 * Which tables are neighbours; stored in models, so the numbers must not
 * change.
 */
typedef enum DpermNeighbours
{
	DPERM_NEIGHBOURS_REPLACE = 0,	/* the same number of rows, one of which differs */
	/* the same number of rows, one of which is empty in one of the tables */
	DPERM_NEIGHBOURS_REMOVE = 1
} DpermNeighbours;

/* Whose data differs between neighbours. */
typedef enum DpermUnit
{
	DPERM_UNIT_ROW = 0,
	/*
	 * all rows that share the value of a column; together they weigh as one row
	 */
	DPERM_UNIT_PERSON = 1
} DpermUnit;

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
extern int	dperm_claim_rows_apart(DpermNeighbours neighbours);

/* Is anything claimed? */
extern bool dperm_claim_private(const DpermClaim *claim);

/* What is wrong with a claim, or NULL. */
extern const char *dperm_claim_fault(const DpermClaim *claim);

/* Names, as in the JSON form; parse returns -1 for an unknown name. */
extern const char *dperm_claim_neighbours_name(int neighbours);
extern int	dperm_claim_neighbours_parse(const char *name);
extern const char *dperm_claim_unit_name(int unit);
extern int	dperm_claim_unit_parse(const char *name);
extern const char *dperm_claim_share_name(int share);

#endif							/* DPERM_CLAIM_H */
