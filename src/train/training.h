/*
 * training.h: trainings, each from a plan and encoded rows to a model. Trusted.
 *
 * A training function reads the rows of a source and trains on them; a tuning has a
 * task for each candidate; an aggregate trains on the rows of a group.
 */
#ifndef DPERM_TRAINING_H
#define DPERM_TRAINING_H

#include "base/options.h"
#include "core/encode/layout.h"
#include "core/model/model.h"
#include "query/source.h"
#include "train/load.h"

/* A training of several: its plan, which has been checked, and the model. */
typedef struct DpermTask
{
	const DpermPlan *plan;
	DpermLoad  *rows;			/* its own, loaded, at least one */
	DpermModel *model;			/* the result, in the current memory context */
} DpermTask;

/*
 * Load the rows of a source and train on them, by a plan that this completes; NULL
 * if there are none. Needs an SPI connection.
 */
extern DpermModel *dperm_train_source(DpermPlan *plan, const DpermSource *source);

/* Run trainings on rows of one source. Needs an SPI connection. */
extern void dperm_train_tasks(DpermTask *tasks, int count);

/* Train on rows of no source, in this process; their model does not name a label. */
extern DpermModel *dperm_train_rows(const DpermPlan *plan, DpermRows *rows);

/* The weights of a model in the order of rows of a layout, and of classes within that. */
extern double *dperm_train_arrange(const DpermModel *model, const DpermLayout *layout);

#endif							/* DPERM_TRAINING_H */
