/*
 * training.h: one training, from encoded rows to a model.
 *
 *   dperm_training_begin(&training, ...);
 *   while (training.active)
 *       dperm_training_answer(&training);
 *       (or fill in training.ask, and dperm_training_next(&training))
 *   status = dperm_training_finish(&training);
 *   model = dperm_training_model(&training, ...);
 *
 * Functions and aggregates all train in this way.
 */
#ifndef DPERM_TRAINING_H
#define DPERM_TRAINING_H

#include "base/options.h"
#include "core/base/status.h"
#include "core/encode/encoder.h"
#include "core/encode/layout.h"
#include "core/mechanism/fit.h"
#include "core/model/model.h"
#include "core/privacy/draw.h"
#include "core/solve/matrix.h"
#include "core/solve/ask.h"
#include "train/cache.h"

/* A training in progress. */
typedef struct DpermTraining
{
	const DpermLayout *layout;	/* of the rows */
	DpermFit	fit;
	const char *prior;			/* what the model says about it, or NULL */
	DpermEntropy entropy;
	DpermMatrix matrix;			/* the rows in memory */
	DpermFitting fitting;
	double	   *weights;		/* in the order of the layout */
	double	   *room;
	DpermAsk	ask;			/* the question it waits for, if active */
	bool		active;
} DpermTraining;

/*
 * Begin a training, in the current memory context: draw the noise, and start
 * from the rows in memory. noise is its shape, in the order of the rows in
 * memory, or NULL; rows is the public number of units; complete says whether
 * the cache has all rows, and not in compact form, so that it can answer.
 */
extern void
dperm_training_begin(DpermTraining *training, const DpermOptions *options, const DpermCache *cache,
					 DpermNoisePlans noise, int64 rows, bool complete);

/* Answer from the rows in memory, which must be complete, and continue. */
extern void dperm_training_answer(DpermTraining *training);

/* Answer from all rows in a spool, and continue. */
extern void dperm_training_answer_spool(DpermTraining *training, DpermSpool *spool);

/* Continue after the caller has filled in the answer. */
extern void dperm_training_next(DpermTraining *training);

/*
 * End a training: release its weights, and erase the noise. Never raises an
 * error.
 */
extern DpermStatus dperm_training_finish(DpermTraining *training);

/*
 * The model of a training that has ended successfully, made in a context; frees
 * what the training used. label is the label column, NULL if it was an
 * expression; labels is its domain, with the positive value that was specified.
 */
extern DpermModel *
dperm_training_model(DpermTraining *training, const DpermEncoder *encoder, const char *label,
					 const DpermLabels *labels, MemoryContext result);

#endif							/* DPERM_TRAINING_H */
