/*
 * noise_share.h: how large the noise of a training is beside what it should
 * find, by public quantities alone.
 */
#ifndef DPERM_NOISE_SHARE_H
#define DPERM_NOISE_SHARE_H

#include "core/mechanism/setup.h"

/*
 * A bound on the root mean square norm of the noise in the weights: what the
 * mechanism adds, and the release noise, of variance 2 T^2 per coordinate, in
 * grid steps.
 */
extern double dperm_noise_share_norm(const DpermSetup *setup, const DpermCalibration *calibration);

/*
 * The noise in the scores of rows as a share of what the scores of a model vary
 * by that finds something; infinite where the parameters make no sense.
 */
extern double dperm_noise_share(const DpermSetup *setup);

/*
 * Up to the first a model is likely to make half of the way from the majority to
 * one without noise; above the second it is hardly ever better than the majority.
 * Both are from docs/experiments.md.
 */
#define DPERM_NOISE_USEFUL 0.5
#define DPERM_NOISE_TOO_MUCH 1.5

#endif							/* DPERM_NOISE_SHARE_H */
