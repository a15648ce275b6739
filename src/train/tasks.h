/*
 * tasks.h: trainings over the rows of a source, several at a time.
 */
#ifndef DPERM_TASKS_H
#define DPERM_TASKS_H

#include "base/options.h"
#include "core/model/model.h"
#include "query/source.h"
#include "train/load.h"

/* A training: what is asked, and the model. */
typedef struct DpermTask
{
	const DpermOptions *options;
	const DpermRows *rows;		/* loaded, and more than none; tasks may share them */
	DpermModel *model;			/* made in the current memory context */
} DpermTask;

/*
 * Run trainings over rows of one source, and release a model from each. Rows
 * that are not in memory are read again in passes, which all trainings share.
 * Needs an SPI connection.
 */
extern void dperm_tasks_run(DpermTask *tasks, int count);

/*
 * Load the rows of a source and train on them; NULL if there are none. Needs an
 * SPI connection.
 */
extern DpermModel *dperm_tasks_train(const DpermOptions *options, const DpermSource *source);

/*
 * Raise the error for rows that are not as many, or not the same, in every
 * pass.
 */
extern void dperm_tasks_rows_changed(void) __attribute__((noreturn));

#endif							/* DPERM_TASKS_H */
