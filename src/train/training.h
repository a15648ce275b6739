/*
 * training.h: one training, from encoded rows to a model.
 *
 *   dperm_training_begin(&training, ...);
 *   while (training.active)
 *       dperm_training_answer(&training, team);
 *       (or fill in training.ask, and dperm_training_next(&training))
 *   status = dperm_training_finish(&training);
 *   model = dperm_training_model(&training, ...);
 *
 * Functions and aggregates all train in this way.
 */
#ifndef DPERM_TRAINING_H
#define DPERM_TRAINING_H

#include "base/options.h"
#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/encode/layout.h"
#include "core/mechanism/fit.h"
#include "core/model/model.h"
#include "core/privacy/draw.h"
#include "core/solve/sums.h"
#include "core/solve/ask.h"
#include "train/rows.h"
#include "train/team.h"

/* A training in progress. */
typedef struct DpermTraining
{
	DpermRows  *rows;
	const DpermLayout *layout;	/* of the rows */
	DpermFit	fit;
	const char *prior;			/* what the model says about it, or NULL */
	DpermEntropy entropy;
	DpermMatrix matrix;			/* a sample of the rows */
	double	   *sample;
	DpermFitting fitting;
	double	   *weights;		/* in the order of the layout */
	double	   *room;
	DpermAsk	ask;			/* the question it waits for, if active */
	bool		active;
} DpermTraining;

/*
 * Begin a training, in the current memory context: draw the noise, and start
 * from a sample of the rows. noise is its shape, in the order of the rows, or
 * NULL; units is their public number; remote says that these are not all rows,
 * so that they cannot answer.
 */
extern void
dperm_training_begin(DpermTraining *training, const DpermOptions *options, DpermRows *rows,
					 DpermNoisePlans noise, int64 units, bool remote);

/* Answer from all rows, with a team or NULL, and continue. */
extern void dperm_training_answer(DpermTraining *training, DpermTeam *team);

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
