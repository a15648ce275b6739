/*
 * weight_noise.h: how much of a weight may be noise.
 */
#ifndef DPERM_WEIGHT_NOISE_H
#define DPERM_WEIGHT_NOISE_H

#include <stdbool.h>

#include "core/model/model.h"

/*
 * The standard deviation that noise gives to each weight of a model
 * (docs/guarantee.md, "The noise of a weight"), from what the model says of
 * itself: true if that is exact, false if it is a bound. Zeros without noise.
 */
extern bool dperm_weight_noise(const DpermModel *model, double *out);

/* How many deviations a weight has to be from zero to stand out. */
#define DPERM_WEIGHT_STANDS_OUT 2.5

#endif							/* DPERM_WEIGHT_NOISE_H */
