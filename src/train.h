/*
 * train.h: training on the rows of an open source.
 */
#ifndef DPERM_TRAIN_H
#define DPERM_TRAIN_H

#include "fmgr.h"

#include "args.h"
#include "core/model/model.h"
#include "load.h"

/* A training: what is asked, and the model. */
typedef struct DpermTask
{
	const DpermOptions *options;
	const DpermRows *rows;		/* loaded, and more than none; tasks may share them */
	DpermModel *model;			/* made in the current memory context */
} DpermTask;

/*
 * Run trainings over rows of one source, and release a model from each. Rows that are not in memory are
 * read again in passes, which all trainings share. Needs an SPI connection.
 */
extern void dperm_train_tasks(DpermTask *tasks, int count);

/* Load the rows of a source and train on them; NULL if there are none. Needs an SPI connection. */
extern DpermModel *dperm_train_rows(const DpermOptions *options, const DpermSource *source);

/* Raise the error for rows that are not the same in every pass. */
extern void dperm_rows_changed(void) __attribute__((noreturn));

/* The result of a training function, made in its caller's context; ends the SPI connection. */
extern Datum dperm_train_result(FunctionCallInfo fcinfo, MemoryContext caller,
								const DpermModel *model);

#endif							/* DPERM_TRAIN_H */
