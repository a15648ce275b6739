/*
 * persons.h: the persons of a relation, by the values of the column that tells
 * them apart.
 *
 * Equality is that of the type, with the collation of the column. A value that
 * is NULL, or too large to be looked at (datum_values.h), is nobody's. Nothing
 * here raises because of what a value is.
 */
#ifndef DPERM_PERSONS_H
#define DPERM_PERSONS_H

#include "core/privacy/entropy.h"

typedef struct DpermPersons DpermPersons;

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

/*
 * Are values of a base type that differ different as text, whatever the
 * settings of the session?
 */
extern bool dperm_persons_told_by_text(Oid base);

/* Is a type one whose values can tell persons apart? */
extern bool dperm_persons_takes(Oid type);

/*
 * Begin a persons in the current memory context, for values of a type. Each
 * person is in one of so many portions, drawn at first sight out of entropy,
 * which stays in use; 0 portions: none.
 */
extern DpermPersons *
dperm_persons_make(Oid type, Oid collation, int portions, DpermEntropy *entropy);

/*
 * The number of the person of a value, from 0 on, or DPERM_NOBODY. What is
 * fetched for it is in the current memory context.
 */
extern int64 dperm_persons_enter(DpermPersons *persons, Datum value, bool isnull);

/*
 * How many persons there are, and one of them: the pointer is good until
 * another one is entered.
 */
extern int64 dperm_persons_count(const DpermPersons *persons);
extern DpermPerson *dperm_persons_person(const DpermPersons *persons, int64 number);

/*
 * What a row of each person weighs, in the current memory context: 1 divided by
 * their rows with a label, rounded down.
 */
extern double *dperm_persons_weights(const DpermPersons *persons);

/* Forget all. */
extern void dperm_persons_free(DpermPersons *persons);

#endif							/* DPERM_PERSONS_H */
