/*
 * release.h: the last step before weights are released: a public grid and exact
 * noise.
 */
#ifndef DPERM_RELEASE_H
#define DPERM_RELEASE_H

#include <stdint.h>

#include "core/privacy/entropy.h"

/*
 * Replace each weight by grid * (nearest grid point + discrete Laplace of the
 * given scale). Only the result may be shown.
 */
extern void dperm_release(DpermEntropy *e, int dim, double grid, int64_t scale,
						  double *weights);

/* The standard deviation of that noise. */
extern double dperm_release_deviation(double grid, int64_t scale);

#endif							/* DPERM_RELEASE_H */
