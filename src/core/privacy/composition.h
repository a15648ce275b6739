/*
 * composition.h: how much Gaussian noise (epsilon, delta) requires
 * (docs/guarantee.md, "Gaussian noise"), and what several releases cost together
 * ("Composition of models").
 * Trusted.
 *
 * Epsilons and deltas add up. With a delta to spend, Renyi divergences of
 * releases whose law is known add up, too, at each of a fixed list of orders;
 * the result is the smallest epsilon that follows. Every number is an upper
 * bound, every sigma large enough, rounding included.
 */
#ifndef DPERM_COMPOSITION_H
#define DPERM_COMPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/privacy/claim.h"

/*
 * The delta at epsilon of two normal laws of variance 1 whose means are mu
 * apart (Balle and Wang 2018).
 */
extern double dperm_privacy_delta(double mu, double epsilon);

/* The standard deviation that two means at distance 1 need. */
extern double dperm_privacy_sigma(double epsilon, double delta);

/*
 * The same when the privacy loss is at most an average of terms max(floor, Y),
 * each Y normal with variance mu^2 at most and half of its variance as its
 * mean: as for the rows of a person, or for a row and its replacement. 0 <=
 * floor <= epsilon.
 */
extern double dperm_privacy_average_delta(double mu, double epsilon, double floor);

/*
 * The standard deviation of objective perturbation's noise, after the slack is
 * subtracted from epsilon; rows have norm at most 1.
 */
extern double dperm_privacy_objective_sigma(DpermNeighbours neighbours, DpermUnit unit,
											 double epsilon, double delta, double floor);

/*
 * What is known about the law of a release beyond epsilon and delta: how its
 * Renyi divergence is bounded.
 */
typedef enum DpermCurve
{
	DPERM_CURVE_NONE,			/* nothing */
	DPERM_CURVE_PURE,			/* delta is 0: no worse than randomised response */
	DPERM_CURVE_BALL,			/* delta is 0: noise in the ball added to what is released */
	DPERM_CURVE_SHIFT,			/* Gaussian noise added to what is released */
	/* Gaussian objective perturbation, a row of one direction removed */
	DPERM_CURVE_REMOVE,
	DPERM_CURVE_AVERAGE			/* the same, everything else */
} DpermCurve;

/* A release, as far as composition is concerned. */
typedef struct DpermRelease
{
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		epsilon;
	double		delta;
	DpermCurve	curve;

	/*
	 * how far a unit moves the centre of the noise: in standard deviations, or
	 * in scales of the noise in the ball, of dim coordinates
	 */
	double		mu;
	int			dim;
	/*
	 * objective perturbation: the slack for the determinants, and the number of
	 * directions of a slope, and of lines that they are on, unless that is 1
	 */
	double		kappa;
	int			directions;
	int			lines;
	double		stage;			/* the epsilon of the release stage */
} DpermRelease;

/*
 * The largest epsilon of a release, so that sums are finite. Much smaller
 * values already give no protection.
 */
#define DPERM_COMPOSITION_EPSILON_MAX 1e9

/*
 * The curve of Gaussian objective perturbation, by the release's neighbours and
 * unit, and by the number of directions of a slope and of their lines. Sigma is
 * that of the noise over the norm of a slope.
 */
extern void dperm_composition_objective(DpermRelease *release, int directions, int lines,
										double sigma);

/* Orders: 32 per decade, from 1.01 to a million. */
#define DPERM_ORDER_COUNT 257
extern double dperm_composition_order(int i);

/* A bound on the Renyi divergence of an order above 1; the release has a curve. */
extern double dperm_composition_curve(const DpermRelease *release, double order);

/*
 * An upper bound on the divergence of an order above 1 of noise of density
 * proportional to exp(-|b|), in dim coordinates, around two centres that are at
 * most shift apart (section "Noise in the ball"). INFINITY where the formula is
 * of no use.
 */
extern double dperm_composition_ball(double shift, int dim, double order);

/* Round to a number of digits: to nearest, or up. */
extern double dperm_composition_digits(double x, int digits, bool up);

/* The epsilon that follows from a Renyi divergence of an order, at a delta. */
extern double dperm_composition_convert(double divergence, double order, double delta);

/*
 * Kinds of releases, by what is known about them: the first ones are summed,
 * Renyi divergences are used for the rest; or all are summed.
 */
enum
{
	DPERM_KNOWN_BOUND,			/* only epsilon and delta */
	DPERM_KNOWN_GAUSSIAN,
	DPERM_KNOWN_PURE,
	DPERM_KNOWN_COUNT
};

typedef struct DpermComposition
{
	DpermNeighbours neighbours; /* of all releases, once there is one; likewise the unit */
	DpermUnit	unit;
	int64_t		releases[DPERM_KNOWN_COUNT];
	DpermExtended epsilon[DPERM_KNOWN_COUNT];
	DpermExtended delta[DPERM_KNOWN_COUNT];
	DpermExtended curves[DPERM_KNOWN_COUNT][DPERM_ORDER_COUNT];	/* the first is not used */
} DpermComposition;

/* Why a release cannot be added. */
typedef enum DpermCompositionFault
{
	DPERM_COMPOSITION_FITS,
	DPERM_COMPOSITION_NOT_PRIVATE,
	DPERM_COMPOSITION_OUT_OF_RANGE,
	DPERM_COMPOSITION_NEIGHBOURS,
	DPERM_COMPOSITION_UNITS
} DpermCompositionFault;

/* The number of releases. A zeroed struct is an empty composition. */
extern int64_t dperm_composition_releases(const DpermComposition *sums);
extern DpermCompositionFault
dperm_composition_add(DpermComposition *sums, const DpermRelease *release);

/* The total. */
typedef struct DpermComposed
{
	double		epsilon;		/* INFINITY: too large to be meaningful */
	double		delta;			/* as for a claim: 0 means only the tails of the noise */
	double		order;			/* of the Renyi divergence; 0: only sums */
	int64_t		summed;			/* releases whose epsilons and deltas were added */
} DpermComposed;

/*
 * The smallest epsilon at a delta, or the sums if delta is 0; sums are also
 * used if they are larger by less than a hundredth. False if the releases need
 * more than this delta; out->delta is then what they need. There must be at
 * least one release.
 */
extern bool dperm_composition_total(const DpermComposition *sums, double delta, DpermComposed *out);

#endif							/* DPERM_COMPOSITION_H */
