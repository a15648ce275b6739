/*
 * ball_divergence.h: the Renyi divergence of noise in the ball between two
 * centres (docs/guarantee.md, "Noise in the ball").
 */
#ifndef DPERM_BALL_DIVERGENCE_H
#define DPERM_BALL_DIVERGENCE_H

/*
 * An upper bound for noise of density proportional to exp(-|b|), in dim
 * coordinates, around two centres that are at most shift apart; the order is
 * above 1. INFINITY where the formula is of no use.
 */
extern double dperm_ball_divergence(double shift, int dim, double order);

#endif							/* DPERM_BALL_DIVERGENCE_H */
