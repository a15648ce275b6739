/*
 * loss.h: the margin losses, as a table.
 *
 * Every loss is convex with slope in [-1, 0] and curvature in [0, c]; the
 * calibration rests on these bounds (docs/guarantee.md, section "Losses"). A
 * new loss is a file and an entry of the table in loss.c; everything that
 * depends on the loss is read from the table.
 */
#ifndef DPERM_LOSS_H
#define DPERM_LOSS_H

#include <stdbool.h>

#include "core/base/wide.h"

/* Stored in models and passes: the numbers must not change. */
typedef enum DpermLossKind
{
	DPERM_LOSS_LOGISTIC = 0,
	DPERM_LOSS_HUBER = 1,
	DPERM_LOSS_SMOOTH_HINGE = 2
} DpermLossKind;

#define DPERM_LOSS_COUNT 3

typedef struct DpermLoss
{
	DpermLossKind kind;
	double		h;				/* half-width of the bend; 0 for a loss that has none */
} DpermLoss;

#define DPERM_H_MIN 0.01
#define DPERM_H_MAX 1.0
#define DPERM_H_DEFAULT 0.5

/* The kinds of models, as SQL names them. */
typedef enum DpermLearner
{
	DPERM_LEARNER_LOGREG,
	DPERM_LEARNER_SVM
} DpermLearner;

#define DPERM_LEARNER_COUNT 2

typedef struct DpermLossAt
{
	double		value;
	double		slope;			/* in [-1, 0] */
	double		curve;			/* in [0, c] */
} DpermLossAt;

/*
 * What the theorems need of a loss (docs/guarantee.md, "Losses": Property L).
 * Its slope has a size t in [0, 1]; rows have norm at most 1.
 */
typedef struct DpermLossBounds
{
	double		reach;			/* of the slope, in the norm of pure noise: g_1 t */
	double		norm;			/* of the slope: g_2 t */
	double		curvature;		/* the largest eigenvalue of the second derivative */
	double		trace;			/* its largest trace */
	int			rank;
	int			directions;		/* that the slope is an average of */
	double		start;			/* of the loss at weights 0 */
	double		slope_rounding; /* of a slope, besides its margin's, in units of rounding */
	double		typical_norm;	/* of weights, for the criterion; no bound */
} DpermLossBounds;

/* The largest number of margins in a block. */
#define DPERM_LOSS_BLOCK 256

/* An entry of the table. */
typedef struct DpermLossEntry
{
	const char *name;
	DpermLearner learner;
	bool		has_h;
	bool		flat;			/* does the loss have pieces without curvature? */
	bool		probability;	/* does 1/(1 + exp(-margin)) estimate a probability? */
	DpermLossBounds (*bounds) (double h);

	/*
	 * the loss and its first two derivatives at margin z (any z, infinities
	 * included)
	 */
	DpermLossAt (*at) (double h, double z);

	/*
	 * The same for a block of margins: slopes replace the margins, and curves
	 * (unless NULL) receives the curvatures. Returns the sum of the losses.
	 * Unless weights is NULL, each of these is multiplied by the weight of its
	 * row. NaN, which only weights that are never certified produce, may be
	 * treated as any margin.
	 */
	double (*block)(double h, int count, double *margins, double *curves, const double *weights);

	/* the slope in twice the precision, off by less than 2^-94 */
	DpermWide	(*slope) (double h, DpermWide z);

	/*
	 * The trace of the curvature where the slope has size 1 - rest, as a share
	 * of the largest, or an upper bound on it that is concave in the slope;
	 * *change receives its derivative by the slope, which may be infinite at
	 * the ends. NULL: the trace may be the largest at every slope.
	 */
	double		(*share) (double rest, double *change);
} DpermLossEntry;

/* The entries. */
extern const DpermLossEntry dperm_logistic;
extern const DpermLossEntry dperm_huber;
extern const DpermLossEntry dperm_smooth_hinge;

/* The entry of a kind; NULL if there is none. */
extern const DpermLossEntry *dperm_loss_entry(int kind);

/* Look up properties of a known loss in the table. */
extern DpermLossAt dperm_loss_at(DpermLoss loss, double z);
extern double
dperm_loss_block(DpermLoss loss, int count, double *margins, double *curves, const double *weights);
extern DpermLossBounds dperm_loss_bounds(DpermLoss loss);
extern const char *dperm_loss_name(DpermLossKind kind);

/* NULL if h is valid for the loss, else what is wrong. */
extern const char *dperm_loss_fault(DpermLoss loss);

/* "logistic", "huber", "smooth_hinge"; false for any other name. */
extern bool dperm_loss_parse(const char *name, DpermLossKind *kind);

/* The default loss of a learner; and the name of the learner in prose. */
extern DpermLoss dperm_loss_default(DpermLearner learner);
extern const char *dperm_loss_learner_name(DpermLearner learner);

#endif							/* DPERM_LOSS_H */
