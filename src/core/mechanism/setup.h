/*
 * setup.h: the parameters of a mechanism, and the constants that follow from
 * them.
 */
#ifndef DPERM_SETUP_H
#define DPERM_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/limits.h"
#include "core/loss/loss.h"
#include "core/mechanism/noise.h"
#include "core/privacy/claim.h"

/* The mechanisms: indexes of the table in mechanism.c, stored in models. */
typedef enum DpermMethod
{
	DPERM_METHOD_OBJECTIVE = 0,
	DPERM_METHOD_OUTPUT = 1
} DpermMethod;

#define DPERM_METHOD_COUNT 2

typedef enum DpermAnalysis
{
	DPERM_ANALYSIS_SHARP = 0,
	DPERM_ANALYSIS_PAPER = 1
} DpermAnalysis;

/* The parameters of the mechanism; all public. */
typedef struct DpermSetup
{
	DpermLoss	loss;
	DpermMethod method;
	DpermAnalysis analysis;
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		epsilon;		/* > 0; INFINITY trains without noise */
	double		delta;			/* 0: pure epsilon, else Gaussian noise */
	double		lambda;			/* as requested, >= 0 */
	int64_t		rows;			/* n, public: the number of units */
	int			dim;			/* weights: those of a row's coordinates, for each class */
	/*
	 * the shape of the noise, the same for each class; NULL: the ball, as for
	 * mechanisms without shapes
	 */
	const DpermNoise *noise;
	/* the largest share of epsilon for the slack; 0: by the criterion */
	double		slack;
	/*
	 * is the regulariser centred at the weights of a prior, not at 0? And a
	 * bound on their norm: 0 without one
	 */
	bool		prior;
	double		prior_norm;
} DpermSetup;

/* The constants that follow from the parameters; all public, too. */
typedef struct DpermCalibration
{
	double		lambda;			/* effective Lambda, used by the solver */
	DpermClaim	claim;			/* the claim, and how epsilon is split */
	/*
	 * Gaussian objective perturbation: the privacy loss is an average of terms
	 * that are at least this (section "Gaussian noise")
	 */
	double		floor;
	double		noise_scale;	/* of the noise, whatever its shape (noise.h); 0: no noise */
	double		gradient_goal;	/* the solver aims at this computed norm */
	/* gamma: bound on the norm of the exact gradient at accepted weights */
	double		gradient_bound;
	/*
	 * rounding error of a gradient in doubles: constant term, and term per unit
	 * of the norm of the weights
	 */
	double		rounding[2];
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		descent_steps;	/* after which descent has reached its goal */
	double		residual;		/* rho: bound on |released - ideal| before rounding */
	double		grid;			/* eta, a power of two */
	int64_t		release_scale;	/* T: release noise has P(z) ~ exp(-|z|/T) */
} DpermCalibration;

/* The law of the noise. */
static inline DpermNoiseLaw
dperm_setup_law(const DpermSetup *setup)
{
	return setup->delta > 0 ? DPERM_LAW_GAUSSIAN : DPERM_LAW_NORM;
}

/* The coordinates of a row, intercept included: what each class has weights for. */
static inline int
dperm_setup_row_dim(const DpermSetup *setup)
{
	return setup->dim / dperm_loss_blocks(setup->loss);
}

/*
 * The largest possible number of rows: n if rows are the units. The number of
 * rows of all persons is private, so bounds on rounding use the maximum.
 */
static inline int64_t
dperm_setup_most_rows(const DpermSetup *setup)
{
	return setup->unit == DPERM_UNIT_PERSON ? DPERM_ROWS_MAX : setup->rows;
}

#endif							/* DPERM_SETUP_H */
