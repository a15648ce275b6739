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
 * Does a block know one of them? Numbers beyond its bounds are clamped to them,
 * so they are not known if all are beyond the same one.
 */
extern bool dperm_possible_known(const DpermPossible *possible, const DpermColumn *column,
								 const DpermBlock *block);

/* Can the block tell two of them apart, or one of them from NULL? */
extern bool dperm_possible_varies(const DpermPossible *possible, const DpermColumn *column,
								  const DpermBlock *block);

#endif							/* DPERM_POSSIBLE_H */
