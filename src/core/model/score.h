/*
 * score.h: the prediction of a model for one row.
 */
#ifndef DPERM_SCORE_H
#define DPERM_SCORE_H

#include <stdbool.h>

#include "core/encode/encoder.h"

/*
 * w.x for the encoded x, clipped as in training. frequencies are the kernel's
 * (NULL without one); room is dperm_encoder_dim() + dperm_encoder_linear_dim()
 * doubles and overlaps nothing else.
 */
extern double dperm_score_decision(const DpermEncoder *enc, const double *frequencies,
								   const double *weights, const DpermValue *values,
								   double *room);

/*
 * Without a kernel: the terms of this sum in order, one for each block and one
 * for the intercept, if there is one.
 */
extern void dperm_score_terms(const DpermEncoder *enc, const double *weights,
							  const DpermValue *values, double *room, double *terms);

/*
 * Has a row a value for any block? All that encoding turns into zeros because
 * it is missing, unlisted or not a number is none; a number whose code happens
 * to be zero is one.
 */
extern bool dperm_score_says_something(const DpermEncoder *enc, const DpermValue *values);

/* The number between bounds that a decision between -1 and 1 stands for, clipped. */
extern double dperm_score_value(double decision, double low, double high);

/* 1/(1 + exp(-decision)), without overflow. */
extern double dperm_score_probability(double decision);

/*
 * Of a model of several classes, whose weights are there class by class: the
 * decision of each, w_k.x.
 */
extern void dperm_score_outputs(const DpermEncoder *enc, const double *frequencies, int classes,
								const double *weights, const DpermValue *values, double *room,
								double *outputs);

/*
 * What a row is counted by (core/privacy/counts.h): the decision or, if there
 * are several classes, the number of the class, or the odds of the first one if
 * there are bins. classes is 0 if there are not several. room is that of
 * dperm_score_decision() and as many doubles as there are classes.
 */
extern double dperm_score_judge(const DpermEncoder *enc, const double *frequencies, int classes,
								const double *weights, const DpermValue *values, int bins,
								double *room);

/* The class with the largest output, counted from 1; the first of several. */
extern int	dperm_score_class(int classes, const double *outputs);

/* Their probabilities, which replace them: proportional to exponentials. */
extern void dperm_score_probabilities(int classes, double *outputs);

/* The logarithm of the odds of the first class against the others: a decision. */
extern double dperm_score_odds(int classes, const double *outputs);

#endif							/* DPERM_SCORE_H */
