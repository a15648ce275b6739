/*
 * measure.h: a model, and the rows it is measured on.
 */
#ifndef DPERM_MEASURE_H
#define DPERM_MEASURE_H

#include "fmgr.h"

#include "base/options.h"
#include "core/model/model.h"
#include "protect/call.h"
#include "query/source.h"

/* A model, the rows to evaluate it on, and what that may cost. */
typedef struct DpermMeasure
{
	DpermSource source;
	DpermModel *model;
	uint64		budget;
	uint64		parts;			/* of a unit, in which counts are measured */
	/* of a histogram; 0: the cells of the confusion matrix are counted */
	int			bins;
	bool		choose_bins;	/* is their number to be chosen? Then these are fine-grained */
	int64	   *counts;
} DpermMeasure;

/* The number of its classes, if they are several; else 0. */
static inline int
dperm_measure_classes(const DpermMeasure *measure)
{
	return measure->model->loss.classes;
}

/* Are errors added up, in place of rows that are counted? */
static inline bool
dperm_measure_sums_errors(const DpermMeasure *measure)
{
	return dperm_model_label(measure->model) == DPERM_LABEL_NUMBER;
}

/*
 * Check the arguments of dp_evaluate or dp_roc and open the source, before any
 * row is read. bins are set. Of several classes, the one that dp_roc is about
 * becomes the first.
 */
extern void dperm_measure_open(DpermCall *call, DpermMeasure *measure);

/*
 * Read and count the rows, and add the noise. If the number of bins is to be
 * chosen, it is.
 */
extern void dperm_measure_count(DpermMeasure *measure);

/* dp_evaluate and dp_roc. */
extern const DpermFunction dperm_measure_functions[2];

#endif							/* DPERM_MEASURE_H */
