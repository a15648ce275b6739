/*
 * loss.h: the margin losses, as a table.
 *
 * Every loss is convex with slope in [-1, 0] and curvature in [0, c]; the
 * calibration rests on these bounds (docs/guarantee.md, section "Losses"). A
 * new loss is a file and an entry of the table in loss.c; whoever needs to know
 * something about a loss asks the table.
 */
#ifndef DPERM_LOSS_H
#define DPERM_LOSS_H

#include <stdbool.h>

#include "core/base/wide.h"

/* Stored in models and passes: the numbers stay. */
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

/* What SQL calls the models that a loss makes. */
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

/* Margins of a block, at most. */
#define DPERM_LOSS_BLOCK 256

/* An entry of the table. */
typedef struct DpermLossEntry
{
	const char *name;
	DpermLearner learner;
	bool		has_h;
	bool		flat;			/* does it have pieces without curvature? */
	bool		probability;	/* does 1/(1 + exp(-margin)) estimate a probability? */
	double		curvature;		/* the bound c; for a loss with h, c times h */

	/*
	 * the loss and its first two derivatives at margin z (any z, infinities
	 * included)
	 */
	DpermLossAt (*at) (double h, double z);

	/*
	 * The same for a block of margins: slopes take their place, curves (unless
	 * NULL) gets the curvatures. Returns the sum of the losses. All of them are
	 * multiplied by weights, unless that is NULL. A NaN, of weights that nobody
	 * would certify, is taken for any margin.
	 */
	double (*block)(double h, int count, double *margins, double *curves, const double *weights);

	/* the slope in twice the precision, off by less than 2^-94 */
	DpermWide	(*slope) (double h, DpermWide z);
} DpermLossEntry;

/* The entries. */
extern const DpermLossEntry dperm_logistic;
extern const DpermLossEntry dperm_huber;
extern const DpermLossEntry dperm_smooth_hinge;

/* The entry of a kind; NULL for a number that is none. */
extern const DpermLossEntry *dperm_loss_entry(int kind);

/* What the table says, for a loss that is known. */
extern DpermLossAt dperm_loss_at(DpermLoss loss, double z);
extern double
dperm_loss_block(DpermLoss loss, int count, double *margins, double *curves, const double *weights);
extern double dperm_loss_curvature(DpermLoss loss);
extern const char *dperm_loss_name(DpermLossKind kind);

/* Is h as the loss wants it? NULL, or what is wrong. */
extern const char *dperm_loss_fault(DpermLoss loss);

/* "logistic", "huber", "smooth_hinge"; false for any other name. */
extern bool dperm_loss_parse(const char *name, DpermLossKind *kind);

/* The loss of a learner by default, and how the learner is called in prose. */
extern DpermLoss dperm_loss_default(DpermLearner learner);
extern const char *dperm_loss_learner_name(DpermLearner learner);

#endif							/* DPERM_LOSS_H */
