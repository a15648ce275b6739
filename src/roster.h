/*
 * roster.h: the persons of a relation, by the values of the column that tells them apart.
 *
 * Equality is that of the type, with the collation of the column. A value that is NULL, or too large to be looked at (rows.h),
 * is nobody's. Nothing here raises because of what a value is.
 */
#ifndef DPERM_ROSTER_H
#define DPERM_ROSTER_H

#include "core/privacy/entropy.h"

typedef struct DpermRoster DpermRoster;

/* What is known of a person. */
typedef struct DpermPerson
{
	uint64		hash;			/* of the value */
	Datum		value;
	int64		next;			/* person with a hash of the same slot, or -1 */
	int64		labelled;		/* rows with a label */
	int64		missing;		/* rows that are known of and have not come */
	int			portion;
} DpermPerson;

/* Nobody. */
#define DPERM_NOBODY (-1)

/* Are values of a base type that differ different as text, whatever the settings of the session? */
extern bool dperm_roster_told_by_text(Oid base);

/* Is a type one whose values can tell persons apart? */
extern bool dperm_roster_takes(Oid type);

/*
 * Begin a roster in the current memory context, for values of a type. Each person is in one of so many portions, drawn at first
 * sight out of entropy, which stays in use; 0 portions: none.
 */
extern DpermRoster *dperm_roster_make(Oid type, Oid collation, int portions, DpermEntropy *entropy);

/* The number of the person of a value, from 0 on, or DPERM_NOBODY. What is fetched for it is in the current memory context. */
extern int64 dperm_roster_enter(DpermRoster *roster, Datum value, bool isnull);

/* How many persons there are, and one of them: the pointer is good until another one is entered. */
extern int64 dperm_roster_count(const DpermRoster *roster);
extern DpermPerson *dperm_roster_person(const DpermRoster *roster, int64 number);

/* What a row of each person weighs, in the current memory context: 1 divided by their rows with a label, rounded down. */
extern double *dperm_roster_weights(const DpermRoster *roster);

/* Forget all. */
extern void dperm_roster_free(DpermRoster *roster);

#endif							/* DPERM_ROSTER_H */
