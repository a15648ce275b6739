/*
 * count_decisions.h: count the rows of a source that is read once, by a model's
 * decisions.
 */
#ifndef DPERM_COUNT_DECISIONS_H
#define DPERM_COUNT_DECISIONS_H

#include "core/model/model.h"
#include "query/source.h"

/*
 * Count the rows with a label in each of count cells, those of
 * dperm_counts_cell() for this many bins, in one scan: in parts of a unit
 * (core/privacy/claim.h). Each row of a person counts for the same part,
 * rounded down. *units, unless NULL, is the number of rows, or persons, of the
 * source, or of the table behind it, which is public. The source must have been
 * opened for the features of the model. Needs an SPI connection.
 */
extern void dperm_count_decisions(const DpermSource *source, const DpermModel *model, int bins,
								  int64 *counts, int count, int64 *units);

#endif							/* DPERM_COUNT_DECISIONS_H */
