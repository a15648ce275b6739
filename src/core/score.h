/*
 * score.h: what a model says about one vector.
 */
#ifndef DPERM_SCORE_H
#define DPERM_SCORE_H

#include "encoder.h"

/*
 * w.x for the encoded x, with the clipping of training. raw == NULL and a vector
 * with a NaN or an infinity are zero blocks, as in training. room holds
 * dperm_encoder_dim() doubles and overlaps neither weights nor raw.
 */
extern double dperm_score_decision(const DpermEncoder *enc, const double *weights,
								   const double *raw, double *room);

/* 1/(1 + exp(-decision)), without overflow. */
extern double dperm_score_probability(double decision);

#endif							/* DPERM_SCORE_H */
