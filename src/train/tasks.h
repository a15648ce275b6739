/*
 * tasks.h: train on the rows of a source, several models at a time.
 */
#ifndef DPERM_TASKS_H
#define DPERM_TASKS_H

#include "base/options.h"
#include "core/model/model.h"
#include "query/source.h"
#include "train/load.h"

/* A training: its parameters, and the model. */
typedef struct DpermTask
{
	const DpermOptions *options;
	DpermLoad  *rows;			/* loaded, at least one; tasks may share them */
	DpermModel *model;			/* the result, in the current memory context */
} DpermTask;

/*
 * Run trainings on rows of one source, each of which releases a model. Needs an
 * SPI connection.
 */
extern void dperm_tasks_run(DpermTask *tasks, int count);

/*
 * Load the rows of a source and train on them; NULL if there are none. Needs an
 * SPI connection.
 */
extern DpermModel *dperm_tasks_train(const DpermOptions *options, const DpermSource *source);

#endif							/* DPERM_TASKS_H */
