/*
 * count_decisions.h: the rows of a source that is read once, counted by cells
 * as a model decides on them.
 */
#ifndef DPERM_COUNT_DECISIONS_H
#define DPERM_COUNT_DECISIONS_H

#include "core/model/model.h"
#include "query/source.h"

/*
 * Count the rows with a label in each of count cells, those of
 * dperm_counts_cell() for so many bins, in one scan: in parts of a unit
 * (core/privacy/person.h). Each row of a person counts for the same part,
 * rounded down. The source was opened for the features of the model. Needs an
 * SPI connection.
 */
extern void dperm_count_decisions(const DpermSource *source, const DpermModel *model, int bins,
								  int64 *counts, int count);

#endif							/* DPERM_COUNT_DECISIONS_H */
