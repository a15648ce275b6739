/*
 * mistakes.h: how much of the rows in memory, or in a spool, a model gets wrong.
 */
#ifndef DPERM_MISTAKES_H
#define DPERM_MISTAKES_H

#include "core/model/model.h"
#include "load.h"

/*
 * The rows with a margin below zero, in parts of a unit (core/privacy/person.h). The rows were encoded as those were that the model
 * was trained on, and include all of their portion.
 */
extern int64 dperm_mistakes(const DpermRows *rows, const DpermModel *model);

#endif							/* DPERM_MISTAKES_H */
