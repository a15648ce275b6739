/*
 * count_errors.h: count the rows in memory, or in a spool, that a model gets
 * wrong; or add up its errors, if labels are numbers.
 */
#ifndef DPERM_COUNT_ERRORS_H
#define DPERM_COUNT_ERRORS_H

#include "core/model/model.h"
#include "train/load.h"

/*
 * The rows with a margin below zero, in parts of a unit (core/privacy/claim.h);
 * or the absolute errors, in parts of one (core/privacy/counts.h). The rows must
 * have been encoded like those that the model was trained on, and be all rows of
 * their portion.
 */
extern int64 dperm_count_errors(const DpermRows *rows, const DpermModel *model);

#endif							/* DPERM_COUNT_ERRORS_H */
