/*
 * count_errors.h: how much of the rows in memory, or in a spool, a model gets
 * wrong.
 */
#ifndef DPERM_COUNT_ERRORS_H
#define DPERM_COUNT_ERRORS_H

#include "core/model/model.h"
#include "train/load.h"

/*
 * The rows with a margin below zero, in parts of a unit
 * (core/privacy/person.h). The rows were encoded as those were that the model
 * was trained on, and include all of their portion.
 */
extern int64 dperm_count_errors(const DpermRows *rows, const DpermModel *model);

#endif							/* DPERM_COUNT_ERRORS_H */
