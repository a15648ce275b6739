/*
 * person.h: the weights of the rows of a person (docs/guarantee.md, "Persons").
 *
 * A person is all rows that share a value. Together they weigh at most as much
 * as one row does if rows are the units: every number here is rounded down, so
 * that this holds exactly.
 */
#ifndef DPERM_PERSON_H
#define DPERM_PERSON_H

#include <stdint.h>

#include "core/privacy/claim.h"

/* Counts of persons are in parts of a person. */
#define DPERM_PERSON_PARTS (UINT64_C(1) << 20)

/* The number of parts of one unit of privacy: 1 if it is a row. */
extern uint64_t dperm_person_parts(DpermUnit unit);

/*
 * The weight of each row of a person with this many rows, 1 to 2^53: the
 * largest double w with rows * w <= 1.
 */
extern double dperm_person_weight(int64_t rows);

/*
 * The parts that some of the rows of a person count for; over different cells
 * they add up to at most DPERM_PERSON_PARTS. 0 <= some <= rows, 1 <= rows <
 * 2^43.
 */
extern int64_t dperm_person_count(int64_t some, int64_t rows);

#endif							/* DPERM_PERSON_H */
