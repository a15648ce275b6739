/*
 * gaussian.h: how much Gaussian noise (epsilon, delta) requires
 * (docs/guarantee.md, "Gaussian noise").
 * Trusted.
 *
 * Every delta is an upper bound and every sigma large enough, rounding
 * included.
 */
#ifndef DPERM_GAUSSIAN_H
#define DPERM_GAUSSIAN_H

#include "core/privacy/claim.h"

/*
 * The delta at epsilon of two normal laws of variance 1 whose means are mu
 * apart (Balle and Wang 2018).
 */
extern double dperm_gaussian_delta(double mu, double epsilon);

/* The standard deviation that two means at distance 1 need. */
extern double dperm_gaussian_sigma(double epsilon, double delta);

/*
 * The same when the privacy loss is at most an average of terms max(floor, Y),
 * each Y normal with variance mu^2 at most and half of its variance as its
 * mean: as for the rows of a person, or for a row and its replacement. 0 <=
 * floor <= epsilon.
 */
extern double dperm_gaussian_average_delta(double mu, double epsilon, double floor);

/*
 * The standard deviation of objective perturbation's noise, after the slack is
 * subtracted from epsilon; rows have norm at most 1.
 */
extern double dperm_gaussian_objective_sigma(DpermNeighbours neighbours, DpermUnit unit,
											 double epsilon, double delta, double floor);

#endif							/* DPERM_GAUSSIAN_H */
