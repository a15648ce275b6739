/*
 * person.c: the weights of the rows of a person.
 */
#include "core/privacy/person.h"

#include <math.h>

/* The number of parts of one unit. */
uint64_t
dperm_person_parts(DpermUnit unit)
{
	return unit == DPERM_UNIT_PERSON ? DPERM_PERSON_PARTS : 1;
}

/*
 * The nearest double to 1/rows, or the one below it: fma() rounds once, so its
 * sign is exact.
 */
double
dperm_person_weight(int64_t rows)
{
	double		weight = 1.0 / (double) rows;

	return fma((double) rows, weight, -1) > 0 ? nextafter(weight, 0) : weight;
}

/* The parts of a person, rounded down. */
int64_t
dperm_person_count(int64_t some, int64_t rows)
{
	return (int64_t) ((uint64_t) some * DPERM_PERSON_PARTS / (uint64_t) rows);
}
