/*
 * count.h: count the rows of a source in one scan: by a model's decisions,
 * or by the values of each column; and rows in a store that a model gets wrong.
 * Trusted.
 *
 * Counts are in parts of a unit (core/privacy/claim.h): each row of a person
 * counts for the same part, rounded down. Those that scan return the number of
 * rows, or persons, of the source, or of the table behind it, which is public.
 * They need an SPI connection.
 */
#ifndef DPERM_COUNT_H
#define DPERM_COUNT_H

#include "column/column.h"
#include "core/model/model.h"
#include "core/privacy/counts.h"
#include "query/source.h"
#include "train/load.h"

/*
 * Count the rows with a label in the cells of dperm_counts_cell() for this many
 * bins, or add up their errors if it is a number; counts begin at 0. The source
 * must have been opened for the features of the model.
 */
extern int64 dperm_count_decisions(const DpermSource *source, const DpermModel *model, int bins,
								   int64 *counts);

/*
 * The cells of a column, which are public: its values, or pieces of its range, and one more for
 * rows without a value in its domain.
 */
typedef struct DpermCells
{
	const DpermBlock *block;
	DpermReaderKind reader;
	DpermSummaryKind kind;		/* of a vector nothing is counted */
	int			count;			/* without the last one */
	bool		whole;			/* of a number: is each of them a whole number? */
	int64	   *counts;
} DpermCells;

/* The cells of each column, all of them empty. */
extern DpermCells *dperm_count_cells(const DpermSource *source);

/* Where a cell of a number begins; the last one ends where the next one would. */
extern double dperm_count_edge(const DpermCells *cells, int place);

/* Count the rows by the values of each column; with skip_empty those without any count nowhere. */
extern int64 dperm_count_values(const DpermSource *source, DpermCells *cells, bool skip_empty);

/*
 * The rows with a margin below zero; or, of labels that are numbers, the absolute
 * errors, in parts of one (core/privacy/counts.h). The rows must have been encoded
 * like those that the model was trained on, and be all rows of their portion.
 */
extern int64 dperm_count_errors(DpermLoad *load, const DpermModel *model);

#endif							/* DPERM_COUNT_H */
