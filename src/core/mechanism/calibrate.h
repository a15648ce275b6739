/*
 * calibrate.h: from the public parameters to every constant of the mechanism.
 *
 * One pure function. The formulas of a mechanism are in its file (mechanism.h), those of choosing and counting in
 * selection.h and counts.h; section names are those of docs/guarantee.md.
 */
#ifndef DPERM_CALIBRATE_H
#define DPERM_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/loss/loss.h"
#include "core/base/status.h"
#include "core/privacy/claim.h"

/* The mechanisms: places in the table of mechanism.h, stored in models. */
typedef enum DpermMethod
{
	DPERM_METHOD_OBJECTIVE = 0,
	DPERM_METHOD_OUTPUT = 1
} DpermMethod;

typedef enum DpermAnalysis
{
	DPERM_ANALYSIS_SHARP = 0,
	DPERM_ANALYSIS_PAPER = 1
} DpermAnalysis;

/* What the mechanism needs to know; all of it is public. */
typedef struct DpermSetup
{
	DpermLoss	loss;
	DpermMethod method;
	DpermAnalysis analysis;
	double		epsilon;		/* > 0; INFINITY trains without noise */
	double		lambda;			/* as requested, >= 0 */
	int64_t		rows;			/* n, public under replace-one */
	int			dim;			/* trained dimension, intercept included */
} DpermSetup;

/* What follows from it; all of it is public too. */
typedef struct DpermCalibration
{
	double		lambda;			/* effective Lambda: what the solver minimises with */
	DpermClaim	claim;			/* what is claimed, and how epsilon is split */
	double		noise_scale;	/* |b| ~ Gamma(dim, noise_scale); 0: no noise */
	double		gradient_goal;	/* the solver aims at this computed norm */
	double		gradient_bound; /* gamma: on the norm of the exact gradient at weights that are accepted */
	double		rounding[2];	/* of a gradient in doubles: so much, and so much for each unit of norm of the weights */
	double		weight_bound;	/* on the norm of the minimiser */
	int64_t		descent_steps;	/* after which the slowest way to it has arrived */
	double		residual;		/* rho: bound on |released - ideal| before rounding */
	double		grid;			/* eta, a power of two */
	int64_t		release_scale;	/* T: release noise has P(z) ~ exp(-|z|/T) */
} DpermCalibration;

#define DPERM_EPSILON_MIN 1e-6
#define DPERM_EPSILON_MAX 500	/* of a finite one: beyond, the proof does not hold */
#define DPERM_LAMBDA_MIN 1e-10	/* of the effective Lambda */
#define DPERM_LAMBDA_MAX 1e9	/* of the requested one */
#define DPERM_DIM_MAX 5000
#define DPERM_ROWS_MAX (INT64_C(1) << 33)	/* see moments.h: compensated sums */

/* The data-independent default: 0.1 dim/(rows epsilon), or 1/rows without noise. */
extern double dperm_calibrate_default_lambda(double epsilon, int64_t rows, int dim);

/*
 * DPERM_BAD_ARGUMENT when a parameter is out of range or the effective Lambda
 * would be below DPERM_LAMBDA_MIN; *why then says which, in a static string.
 */
extern DpermStatus dperm_calibrate(const DpermSetup *setup, DpermCalibration *out,
								   const char **why);

/*
 * For mechanisms: the bounds of the minimiser and of the certificate, when the tilt times the number of rows has a norm of
 * at most tail.
 */
extern void dperm_calibrate_solver(const DpermSetup *setup, double curvature, double tail, DpermCalibration *out);

extern const char *dperm_calibrate_analysis_name(DpermAnalysis analysis);
extern bool dperm_calibrate_analysis_parse(const char *name, DpermAnalysis *analysis);

#endif							/* DPERM_CALIBRATE_H */
