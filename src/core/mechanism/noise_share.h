/*
 * noise_share.h: how large the noise of a training is beside its weights, by
 * public quantities alone.
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
 * A bound on the norm of the weights without noise: the loss at zero, or at the
 * weights of the prior, bounds the regulariser.
 */
extern double dperm_noise_share_bound(const DpermSetup *setup, const DpermCalibration *calibration);

/*
 * The first as a share of the second; infinite where the parameters make no
 * sense. Above 1 a model says hardly more than chance.
 */
extern double dperm_noise_share(const DpermSetup *setup);

#endif							/* DPERM_NOISE_SHARE_H */
