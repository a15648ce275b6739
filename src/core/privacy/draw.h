/*
 * draw.h: the random draws that protect privacy, from the bits of entropy.h.
 */
#ifndef DPERM_DRAW_H
#define DPERM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/privacy/entropy.h"

/* Exact draws, using only integer arithmetic. */
extern uint64_t dperm_draw_word(DpermEntropy *e);
extern bool dperm_draw_bit(DpermEntropy *e);
extern uint64_t dperm_draw_below(DpermEntropy *e, uint64_t bound);

/* true with probability exp(-num/den), num <= den <= 2^50, den > 0 */
extern bool dperm_draw_exp_minus(DpermEntropy *e, uint64_t num, uint64_t den);

/*
 * P(z) proportional to exp(-|z|/scale), 1 <= scale <= 2^50 (Canonne, Kamath,
 * Steinke 2020)
 */
extern int64_t dperm_draw_discrete_laplace(DpermEntropy *e, int64_t scale);

/*
 * P(z) proportional to exp(-|z| den/num): the same for a scale of num/den, num
 * <= 2^50
 */
extern int64_t dperm_draw_discrete_laplace_ratio(DpermEntropy *e, int64_t num, int64_t den);

/* P(z) proportional to exp(-z^2/(2 scale^2)), 1 <= scale <= 2^49 */
extern int64_t dperm_draw_discrete_gaussian(DpermEntropy *e, int64_t scale);

/*
 * Draws of doubles whose relative distance from an exact draw is a few units in
 * the last place.
 */
extern double dperm_draw_exponential(DpermEntropy *e);
extern double dperm_draw_normal(DpermEntropy *e);
extern double dperm_draw_between(DpermEntropy *e);	/* uniform between -1 and 1 */
/* density proportional to x^(shape-1) exp(-x) */
extern double dperm_draw_gamma(DpermEntropy *e, int shape);

/*
 * Points that are uniform in a ball, and where the sum of absolute values is at
 * most radius. Coordinates are stride apart.
 */
extern void dperm_draw_in_ball(DpermEntropy *e, int dim, double radius, double *b, int stride);
extern void dperm_draw_in_cross(DpermEntropy *e, int dim, double radius, double *b);

/*
 * A vector b of dim coordinates with density proportional to exp(-|b|/scale):
 * its norm is Gamma(dim, scale), its direction uniform.
 */
extern void dperm_draw_gamma_sphere(DpermEntropy *e, int dim, double scale, double *b);

/* |computed - exact| <= this times |exact|, for dperm_draw_gamma_sphere. */
extern double dperm_draw_gamma_sphere_rounding(int dim);

/* |b| is larger than this with probability below 2^-65. */
extern double dperm_draw_gamma_sphere_tail(int dim, double scale);

/*
 * Chi-squared, the squared norm of degrees normal numbers, is larger than this
 * with probability at most exp(-46).
 */
extern double dperm_draw_chi_squared_tail(int degrees);

/*
 * dperm_draw_gamma is larger than this with probability at most exp(-46 -
 * more).
 */
extern double dperm_draw_gamma_tail(int shape, double more);

#endif							/* DPERM_DRAW_H */
