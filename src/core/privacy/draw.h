/*
 * draw.h: the random bits and draws that protect privacy, and the last step
 * before weights are released: a public grid and exact noise.
 * Trusted.
 *
 * Bits come from the host: the server's strong random source, or a fixed stream
 * in unit tests. If the source fails, the struct remembers it: draws made
 * afterwards are meaningless, and the caller checks the status once at the end.
 */
#ifndef DPERM_DRAW_H
#define DPERM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/core.h"

/* Begins as zeros. */
typedef struct DpermEntropy
{
	DpermStatus status;			/* did the source provide random bits for every draw so far? */
	uint64_t	pool[32];
	int			left;			/* words not yet used */
	uint64_t	bits;			/* single bits not yet used */
	int			bits_left;
} DpermEntropy;

/* Erase the unused bits. */
extern void dperm_entropy_wipe(DpermEntropy *e);

/* Exact draws, using only integer arithmetic. */
extern uint64_t dperm_draw_word(DpermEntropy *e);
extern bool dperm_draw_bit(DpermEntropy *e);
extern uint64_t dperm_draw_below(DpermEntropy *e, uint64_t bound);

/* true with probability exp(-times num/den), num <= den <= 2^50, den > 0 */
extern bool dperm_draw_exp_minus(DpermEntropy *e, uint64_t num, uint64_t den, uint64_t times);

/*
 * P(z) proportional to exp(-|z| den/num): a scale of num/den, num <= 2^50
 * (Canonne, Kamath, Steinke 2020)
 */
extern int64_t dperm_draw_discrete_laplace(DpermEntropy *e, int64_t num, int64_t den);

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

/* |b| is larger than this with probability below 2^-65. */
extern double dperm_draw_gamma_sphere_tail(int dim, double scale);

/*
 * Chi-squared, the squared norm of degrees normal numbers, is larger than this
 * with probability at most exp(-46).
 */
extern double dperm_draw_chi_squared_tail(int degrees);

/* dperm_draw_gamma is larger than this with probability at most exp(-46 - more). */
extern double dperm_draw_gamma_tail(int shape, double more);

/*
 * Replace each weight by grid * (nearest grid point + discrete Laplace of the
 * given scale). Only the result may be shown.
 */
extern void dperm_release(DpermEntropy *e, int dim, double grid, int64_t scale, double *weights);

/* The standard deviation of that noise. */
extern double dperm_release_deviation(double grid, int64_t scale);

#endif							/* DPERM_DRAW_H */
