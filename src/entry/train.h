/*
 * train.h: what dp_logreg_train, dp_svm_train, their tuning counterparts and
 * dp_cost share.
 */
#ifndef DPERM_TRAIN_H
#define DPERM_TRAIN_H

#include "fmgr.h"

#include "base/options.h"
#include "core/model/model.h"
#include "protect/call.h"
#include "query/source.h"

/*
 * Read the arguments of a training, and open its source, with its registration
 * or NULL, whose rows may or may not be read: every mistake is an error here,
 * before any row is read.
 */
extern void dperm_train_open(FunctionCallInfo fcinfo, DpermLearner learner,
							 const DpermRegistration *registration, bool reads,
							 DpermOptions *options, DpermSource *source);

/*
 * The result of a training function, in the memory context of its caller; ends
 * the SPI connection.
 */
extern Datum dperm_train_result(DpermCall *call, MemoryContext caller, const DpermSource *source,
								DpermModel *model);

#endif							/* DPERM_TRAIN_H */
