/*
 * count_values.h: count the rows of a source by the values of each column.
 */
#ifndef DPERM_COUNT_VALUES_H
#define DPERM_COUNT_VALUES_H

#include "column/column.h"
#include "query/source.h"

/*
 * The cells of a column, which are public: its values, or pieces of its range, and one more for
 * rows without a value in its domain.
 */
typedef struct DpermCells
{
	const DpermBlock *block;
	DpermReaderKind kind;
	int			count;			/* without the last one; 0: a vector, which is not counted */
	bool		whole;			/* of a number: is each of them a whole number? */
	int64	   *counts;			/* in parts of a unit */
} DpermCells;

extern DpermCells *dperm_count_values_cells(const DpermSource *source);
extern double dperm_count_values_edge(const DpermCells *cells, int place);
extern int64 dperm_count_values(const DpermSource *source, DpermCells *cells, bool skip_empty);

#endif							/* DPERM_COUNT_VALUES_H */
