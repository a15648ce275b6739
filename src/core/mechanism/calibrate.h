/*
 * calibrate.h: the mechanisms, and from the public parameters of a training to
 * every constant of its mechanism.
 * Trusted.
 *
 * All of this is pure functions of public numbers. The formulas of choices and
 * counts are in counts.h. Section names are those of docs/guarantee.md.
 */
#ifndef DPERM_CALIBRATE_H
#define DPERM_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/loss/loss.h"
#include "core/mechanism/noise.h"
#include "core/privacy/claim.h"

/* The mechanisms: indexes of their table, stored in models. */
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
	/* the shape of noise in the objective, the same for each class; NULL: the ball */
	const DpermNoise *noise;
	/* the largest share of epsilon for the slack; 0: by the criterion */
	double		slack;
	/* above the norm of the weights of a prior, where the regulariser is centred; 0: none */
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

/* How many more than one of these there can be for each unit. */
static inline double
dperm_setup_more_rows(const DpermSetup *setup)
{
	return (double) dperm_setup_most_rows(setup) / (double) setup->rows - 1;
}

/*
 * A mechanism turns rows into weights that hide every row: it splits epsilon,
 * draws noise, minimises an objective, and releases weights (fit.h).
 */
typedef struct DpermMechanism
{
	const char *description;	/* in the guarantee */

	/*
	 * Is the noise in the objective? Then it has the shape of the data, that of
	 * each class is drawn by itself, and curvatures damp it as they damp weights.
	 * If not, it is added to the minimum, and is the same in all directions.
	 */
	bool		in_objective;

	/*
	 * a proxy for the excess risk at a lambda, from public quantities only;
	 * INFINITY if no epsilon is left
	 */
	double		(*risk) (const DpermSetup *s, double lambda);

	/* split the remaining epsilon: set effective lambda, shares and noise_scale */
	void		(*spend) (const DpermSetup *s, DpermCalibration *out);

	/*
	 * the certificate and the residual;
	 * returns the largest norm of what is released
	 */
	double		(*bound) (const DpermSetup *s, DpermCalibration *out);

	/*
	 * the standard deviation that the noise gives to each weight, class by class
	 * (section "The noise of a weight"); true: exactly, false: a bound
	 */
	bool		(*deviations) (const DpermSetup *s, const DpermCalibration *cal, double *each);
} DpermMechanism;

/* The entry of a method; NULL if there is none. */
extern const DpermMechanism *dperm_mechanism_entry(int method);

static inline bool
dperm_setup_in_objective(const DpermSetup *setup)
{
	return dperm_mechanism_entry((int) setup->method)->in_objective;
}

/*
 * A bound on the root mean square norm of what the noise adds to the weights,
 * and so on the mean of the norm.
 */
extern double dperm_mechanism_effect(const DpermSetup *s, const DpermCalibration *cal);

/* Draw the noise: dim doubles, class by class. */
extern void dperm_mechanism_draw(DpermEntropy *e, const DpermSetup *s,
								 const DpermCalibration *cal, double *noise);

/*
 * What the determinants of objective perturbation cost (section "The slack").
 *
 * A row's slope s decides how much the noise differs between neighbours, and
 * its curvature how much the determinants do. Both belong to the same output:
 * where the slope is largest, the curvature of a smooth loss is not. So for all
 * slopes s in [0, 1] the determinants contribute at most a line in s, slack + (1
 * - s) fall, to the privacy loss, and the noise saves (1 - s) epsilon_b/nu. Both
 * numbers are rounded up.
 */
typedef struct DpermSlack
{
	double		slack;
	double		fall;
} DpermSlack;

/*
 * The line of least slack with slack + nu fall <= epsilon, or a constant. If
 * its slack is not below epsilon, lambda is too small for this epsilon.
 */
extern DpermSlack dperm_slack(const DpermSetup *setup, double lambda, double epsilon);

/* The rank of what a row or a person adds to the Hessian of dim weights. */
extern double dperm_slack_rank(DpermLoss loss, DpermUnit unit, int dim);

/*
 * The slack whatever the slope, where ratio is the largest trace of the
 * curvature over n Lambda: that of the constant line, not rounded.
 */
extern double dperm_slack_any_slope(double rank, double ratio);

/*
 * The default lambda, which does not depend on the data: that of the mechanism,
 * or 1/rows without noise.
 */
extern double dperm_calibrate_default_lambda(const DpermSetup *setup);

/* The risk at the lambda that a setup uses; INFINITY if the setup is not valid. */
extern double dperm_calibrate_expected_risk(const DpermSetup *setup);

/* The delta that is left for the noise after its tail and truncated loops are accounted for. */
static inline double
dperm_calibrate_delta(double delta)
{
	return delta - DPERM_TAIL;
}

/*
 * The largest share of epsilon that the release stage takes (section "The share
 * of the release").
 */
#define DPERM_RELEASE_SHARE_MAX 0.01

/*
 * Every constant. What is returned is a static text if a parameter is out of
 * range, the effective Lambda would be below DPERM_LAMBDA_MIN, or no noise is
 * large enough, which no parameters in range are known to lead to; else NULL.
 */
extern const char *dperm_calibrate(const DpermSetup *setup, DpermCalibration *out);

/* The reason for an effective lambda below DPERM_LAMBDA_MIN. */
#define DPERM_LAMBDA_TOO_SMALL "lambda is too small: it must be at least 1e-10"

/* Names, in SQL and in models. */
extern const char *dperm_mechanism_name(int method);
extern const char *dperm_calibrate_analysis_name(int analysis);

/*
 * How many knots numbers have unless the caller specifies them. More knots
 * follow the data more closely, and have more noise. What decides is how far the
 * number of units n exceeds the noise b of an encoder with k knots, which has all
 * of epsilon: the rule chooses the largest k up to 16 with
 *
 *   k <= round(0.85 s^(1/3)),    s = n / sqrt(E|b|^2).
 *
 * Below 4 knots a straight line is as good: the result is 1, or 4 to 16.
 */
#define DPERM_KNOTS_LEAST 4
#define DPERM_KNOTS_MOST 16

/*
 * The noise is sqrt(E|b|^2) by the number of knots; infinite for those that the
 * rule must not choose.
 */
extern int	dperm_calibrate_knots(const double *noise, int64_t rows);

/*
 * sqrt(E|b|^2) by epsilon, delta, neighbours, loss and the shape of the noise,
 * for one class if there are several; it does not depend on the other parameters
 * of a setup. 0 if epsilon is infinite.
 */
extern double dperm_calibrate_knots_noise(const DpermSetup *setup);

/*
 * A bound on the root mean square norm of the noise in the weights: what the
 * mechanism adds, and the release noise, of variance 2 T^2 per coordinate, in
 * grid steps.
 */
extern double dperm_noise_share_norm(const DpermSetup *setup, const DpermCalibration *calibration);

/*
 * The noise in the scores of rows as a share of what the scores of a model vary
 * by that finds something.
 */
extern double dperm_noise_share(const DpermSetup *setup, const DpermCalibration *calibration);

/*
 * Up to the first a model is likely to make half of the way from the majority to
 * one without noise; above the second it is hardly ever better than the majority.
 * Both are from docs/experiments.md.
 */
#define DPERM_NOISE_USEFUL 0.5
#define DPERM_NOISE_TOO_MUCH 1.5

#endif							/* DPERM_CALIBRATE_H */
