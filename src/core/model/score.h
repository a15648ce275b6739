/*
 * score.h: the prediction of a model for one row.
 */
#ifndef DPERM_SCORE_H
#define DPERM_SCORE_H

#include "core/encode/encoder.h"

/*
 * w.x for the encoded x, clipped as in training. frequencies are the kernel's
 * (NULL without one); room is dperm_encoder_dim() + dperm_encoder_linear_dim()
 * doubles and overlaps nothing else.
 */
extern double dperm_score_decision(const DpermEncoder *enc, const double *frequencies,
								   const double *weights, const DpermValue *values,
								   double *room);

/* 1/(1 + exp(-decision)), without overflow. */
extern double dperm_score_probability(double decision);

#endif							/* DPERM_SCORE_H */
