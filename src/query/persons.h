/*
 * persons.h: the persons of a relation, by the values of the column that
 * identifies them.
 *
 * Equality is that of the type, with the collation of the column. A value that
 * is NULL, or too large to be read (column.h), identifies nobody. No
 * value raises an error.
 */
#ifndef DPERM_PERSONS_H
#define DPERM_PERSONS_H

#include "access/attnum.h"

#include "core/privacy/draw.h"

typedef struct DpermPersons DpermPersons;

/* What is known of a person. */
typedef struct DpermPerson
{
	uint64		hash;			/* of the value */
	Datum		value;
	int64		next;			/* next person in the same slot, or -1 */
	int64		labelled;		/* rows with a label */
	int			portion;
} DpermPerson;

/* Nobody. */
#define DPERM_NOBODY (-1)

/* The type of a column; raises an error if its values cannot identify persons. */
extern void
dperm_persons_column(Oid relation, AttrNumber column, Oid *type, Oid *collation);

/*
 * Create an empty table in the current memory context, for values of a type.
 * Each person gets one of the portions at random when first entered, from
 * entropy, which stays in use; 0 portions: none.
 */
extern DpermPersons *
dperm_persons_make(Oid type, Oid collation, int portions, DpermEntropy *entropy);

/*
 * Raise an error unless values of a type are read as those of the table: the
 * query that returns them may have found another column.
 */
extern void dperm_persons_check(const DpermPersons *persons, Oid type);

/*
 * The number of the person with this value, from 0, or DPERM_NOBODY. Detoasted
 * copies are in the current memory context.
 */
extern int64 dperm_persons_enter(DpermPersons *persons, Datum value, bool isnull);

/*
 * The number of persons, and one of them: the pointer is valid until another
 * one is entered.
 */
extern int64 dperm_persons_count(const DpermPersons *persons);
extern DpermPerson *dperm_persons_person(const DpermPersons *persons, int64 number);

/*
 * The weight of a row of each person, in the current memory context: 1 divided
 * by the number of their labelled rows, rounded down.
 */
extern double *dperm_persons_weights(const DpermPersons *persons);

/* Free the table. */
extern void dperm_persons_free(DpermPersons *persons);

#endif							/* DPERM_PERSONS_H */
