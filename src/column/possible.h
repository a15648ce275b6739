/*
 * possible.h: the values that the rows of a column can have, by what is publicly
 * known.
 *
 * These are all values that rows have, and perhaps more. So what is refused
 * because of them is worth nothing, whatever the rows are.
 */
#ifndef DPERM_POSSIBLE_H
#define DPERM_POSSIBLE_H

#include "column/domain_checks.h"
#include "column/domain_column.h"

/* From here on, different numbers may be the same as doubles. */
#define DPERM_POSSIBLE_EXACT 9007199254740992.0

/*
 * By the type of a column whose block has the kind of that type, and by
 * constraints that hold.
 */
extern DpermPossible dperm_possible_make(const DpermColumn *column, const DpermSaid *sure);

/* Those of them in the domain of the column, if an argument or a registration states it. */
extern DpermPossible dperm_possible_stated(const DpermColumn *column);

/* Is a value of the column's base type among them? */
extern bool
dperm_possible_has(const DpermPossible *possible, const DpermColumn *column, Datum value);

/*
 * Does the type of a column, with its modifier, write a value like this? "01" is
 * no integer that PostgreSQL writes, nor is "true" a boolean.
 */
extern bool dperm_possible_writes(const DpermColumn *column, const DpermText *text);

/* Is a value among them that the domain of the column lists? */
extern bool dperm_possible_allows(const DpermPossible *possible, const DpermColumn *column,
								  const DpermText *text);

/* The least and the largest number among them; the least is larger if there is none. */
extern void dperm_possible_ends(const DpermPossible *possible, double *least, double *largest);

/*
 * How many of them, and NULL, a block can tell apart: none, one, or 2 if more.
 * Numbers beyond its bounds are clamped to them, so if all are beyond the same
 * one, it knows none.
 */
extern int dperm_possible_seen(const DpermPossible *possible, const DpermColumn *column,
							   const DpermBlock *block);

#endif							/* DPERM_POSSIBLE_H */
