/*
 * train.h: what dp_logreg_train, dp_svm_train and their tuning counterparts share.
 */
#ifndef DPERM_TRAIN_H
#define DPERM_TRAIN_H

#include "fmgr.h"

#include "core/model/model.h"

/* The result of a training function, made in its caller's context; ends the SPI connection. */
extern Datum dperm_train_result(FunctionCallInfo fcinfo, MemoryContext caller,
								const DpermModel *model);

#endif							/* DPERM_TRAIN_H */
