/*
 * loss.h: the three margin losses, with slope and curvature.
 *
 * Every loss is convex with slope in [-1, 0] and curvature in [0, c]; the
 * calibration rests on these bounds (docs/guarantee.md, section "Losses").
 */
#ifndef DPERM_LOSS_H
#define DPERM_LOSS_H

#include <stdbool.h>

typedef enum DpermLossKind
{
	DPERM_LOSS_LOGISTIC = 0,
	DPERM_LOSS_HUBER = 1,
	DPERM_LOSS_SMOOTH_HINGE = 2
} DpermLossKind;

typedef struct DpermLoss
{
	DpermLossKind kind;
	double		h;				/* half-width of the bend; unused by logistic */
} DpermLoss;

/* The range of h that the solver is tested on. */
#define DPERM_H_MIN 0.01
#define DPERM_H_MAX 1.0
#define DPERM_H_DEFAULT 0.5

typedef struct DpermLossAt
{
	double		value;
	double		slope;			/* in [-1, 0] */
	double		curve;			/* in [0, c] */
} DpermLossAt;

/* The loss and its first two derivatives at margin z (any z, infinities included). */
extern DpermLossAt dperm_loss_at(DpermLoss loss, double z);

/*
 * The same for a block of margins, at most DPERM_LOSS_BLOCK of them: slopes take their place, curves
 * (unless NULL) gets the curvatures. Returns the sum of the losses. A NaN, of weights that nobody would certify, is
 * taken for any margin.
 */
#define DPERM_LOSS_BLOCK 256
extern double dperm_loss_block(DpermLoss loss, int count, double *margins, double *curves);

/* The curvature bound c of the loss. */
extern double dperm_loss_curvature(DpermLoss loss);

/* "logistic", "huber", "smooth_hinge"; parse returns false for any other name. */
extern const char *dperm_loss_name(DpermLossKind kind);
extern bool dperm_loss_parse(const char *name, DpermLossKind *kind);

#endif							/* DPERM_LOSS_H */
