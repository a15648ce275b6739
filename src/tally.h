/*
 * tally.h: the rows of a source that is read once, counted by cells as a model decides on them.
 */
#ifndef DPERM_TALLY_H
#define DPERM_TALLY_H

#include "core/model/model.h"
#include "source.h"

/* The cell of a row with a label, by what a model decides on it; argument as it was given. */
typedef int (*DpermTallyCell) (double decision, bool positive, int argument);

/*
 * Count the rows with a label in each of count cells, in one scan: in parts of a unit (core/privacy/person.h). Each row of a
 * person counts for the same part, rounded down. The source was opened for the features of the model. Needs an SPI connection.
 */
extern void dperm_tally(const DpermSource *source, const DpermModel *model, DpermTallyCell cell_of, int argument,
						int64 *counts, int count);

#endif							/* DPERM_TALLY_H */
