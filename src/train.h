/*
 * train.h: training on the rows of an open source.
 */
#ifndef DPERM_TRAIN_H
#define DPERM_TRAIN_H

#include "fmgr.h"

#include "args.h"
#include "core/model.h"
#include "source.h"

/*
 * Run passes over the source and release a model, in the current memory context; NULL if there are no
 * rows. Needs an SPI connection, and a source whose encoder is settled.
 */
extern DpermModel *dperm_train_rows(const DpermOptions *options, const DpermSource *source);

/* The result of a training function, made in its caller's context; ends the SPI connection. */
extern Datum dperm_train_result(FunctionCallInfo fcinfo, MemoryContext caller,
								const DpermModel *model);

#endif							/* DPERM_TRAIN_H */
