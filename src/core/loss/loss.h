/*
 * loss.h: the losses, as a table. Trusted.
 *
 * A loss is a convex function of a row's output and label: of the margin, which
 * is their product, if labels are -1 or +1; of the residual, output less label,
 * if they are numbers. With several classes a row has an output for each. The
 * calibration rests on its bounds (docs/guarantee.md, section "Losses"). A new
 * loss is an entry of the table in loss.c; everything that depends on the loss is
 * read from the table.
 */
#ifndef DPERM_LOSS_H
#define DPERM_LOSS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/core.h"

/* Stored in models and passes: the numbers must not change. */
typedef enum DpermLossKind
{
	DPERM_LOSS_LOGISTIC = 0,
	DPERM_LOSS_HUBER = 1,
	DPERM_LOSS_SMOOTH_HINGE = 2,
	DPERM_LOSS_LOG_COSH = 3,
	DPERM_LOSS_SOFTMAX = 4
} DpermLossKind;

#define DPERM_LOSS_COUNT 5

typedef struct DpermLoss
{
	DpermLossKind kind;
	double		h;				/* width of the bend; 0 for a loss that has none */
	int			classes;		/* outputs of a row, one for each class; 0: one output */
} DpermLoss;

/* The number of outputs of a row, and of blocks of weights. */
static inline int
dperm_loss_blocks(DpermLoss loss)
{
	return loss.classes > 0 ? loss.classes : 1;
}

#define DPERM_CLASSES_MIN 3
#define DPERM_CLASSES_MAX 128

#define DPERM_H_MIN 0.01
#define DPERM_H_MIN_LOG_COSH 0.02
#define DPERM_H_MAX 1.0

/* The kinds of models, as SQL names them. */
typedef enum DpermLearner
{
	DPERM_LEARNER_LOGREG,
	DPERM_LEARNER_SVM,
	DPERM_LEARNER_LINREG
} DpermLearner;

#define DPERM_LEARNER_COUNT 3

/*
 * What the theorems need of a loss (docs/guarantee.md, "Losses": Property L).
 * Its slope, a vector of one number for each output, has a size t in [0, 1];
 * rows have norm at most 1.
 */
typedef struct DpermLossBounds
{
	double		reach;			/* sum of the slope's absolute values: g_1 t at most */
	double		norm;			/* of the slope: g_2 t at most */
	double		curvature;		/* the largest eigenvalue of the second derivative */
	double		trace;			/* its largest trace */
	int			rank;			/* and the number of directions up to their sign */
	int			directions;		/* that the slope is an average of */
	double		start;			/* of the loss at weights 0, at most */
	double		slope_rounding; /* of a slope, besides its margin's, in units of rounding */
	double		typical_norm;	/* of weights, for the criterion; no bound */
} DpermLossBounds;

/* The largest number of rows in a block. */
#define DPERM_LOSS_BLOCK 256

/* An entry of the table. */
typedef struct DpermLossEntry
{
	DpermLearner learner;
	DpermLabelKind label;		/* decides what the argument z of the loss is */
	double		h_min;			/* the smallest h; 0: it has none */

	/* the slope of one output in extended precision, off by less than 2^-106 */
	DpermExtended (*slope) (double h, DpermExtended z);

	/*
	 * The trace of the curvature where the slope has size 1 - rest, as a share
	 * of the largest, or an upper bound on it that is concave in the slope;
	 * *change receives its derivative by the slope, which may be infinite at
	 * the ends. NULL: the trace may be the largest at every slope.
	 */
	double		(*share) (DpermLoss loss, double rest, double *change);
} DpermLossEntry;

/* The entry of a kind, or NULL if there is none. */
extern const DpermLossEntry *dperm_loss_entry(int kind);

/*
 * The sum of the losses of a block of outputs (any, infinities included): slopes
 * replace them, and curves (unless NULL) receives the curvatures. Unless weights is
 * NULL, each of these is multiplied by the weight of its row. If labels is NULL,
 * outputs are the arguments of the loss. NaN, which only weights that are never
 * certified produce, may be treated as any argument.
 *
 * With several classes, a row has as many outputs as there are classes, one after
 * the other, and so many slopes; there must be labels and no curves. A row without
 * a label adds nothing, and has none.
 */
extern double dperm_loss_block(DpermLoss loss, int count, double *outputs, const double *labels,
							   double *curves, const double *weights);

/*
 * From the slopes of rows of several classes: the trace of the curvature of each,
 * whose terms are added up by class. Only solvers use them.
 */
extern void dperm_loss_curvatures(int classes, int count, const double *slopes,
								  const double *labels, const double *weights, double *traces,
								  double *by_class);

/* The outputs of a row, one for each block of weights, become its slopes. */
extern void dperm_loss_slopes(DpermLoss loss, DpermExtended *outputs, double label);

/* e^x for x from -700 to 0, with a relative error below 2^-108. */
extern DpermExtended dperm_loss_exp(DpermExtended x);

/* The bounds of a known loss, and its name in SQL. */
extern DpermLossBounds dperm_loss_bounds(DpermLoss loss);
extern const char *dperm_loss_name(int kind);

/* NULL if h and classes are valid for the loss, else what is wrong. */
extern const char *dperm_loss_fault(DpermLoss loss);

/* The default loss of a learner; and the name of the learner in prose. */
extern DpermLoss dperm_loss_default(DpermLearner learner);
extern const char *dperm_loss_learner_name(int learner);

#endif							/* DPERM_LOSS_H */
