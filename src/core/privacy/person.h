/*
 * person.h: how much the rows of a person weigh (docs/guarantee.md, "Persons").
 *
 * A person is all rows that share a value. Together they weigh at most as much
 * as one row does where rows are the units: every number here is rounded down,
 * so that this is exactly true.
 */
#ifndef DPERM_PERSON_H
#define DPERM_PERSON_H

#include <stdint.h>

#include "core/privacy/claim.h"

/* Counts of persons are in parts of a person. */
#define DPERM_PERSON_PARTS (UINT64_C(1) << 20)

/* The parts that one unit of privacy counts for: 1 if that is a row. */
extern uint64_t dperm_person_parts(DpermUnit unit);

/*
 * The weight of each row of a person with so many, 1 to 2^53: the largest
 * double w with rows * w <= 1.
 */
extern double dperm_person_weight(int64_t rows);

/*
 * The parts that some of the rows of a person count for: those in different
 * cells add up to DPERM_PERSON_PARTS at most. 0 <= some <= rows, 1 <= rows <
 * 2^43.
 */
extern int64_t dperm_person_count(int64_t some, int64_t rows);

#endif							/* DPERM_PERSON_H */
