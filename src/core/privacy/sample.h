/*
 * sample.h: the random draws that protect privacy.
 *
 * All of them consume bits from one entropy callback (the server's strong random
 * source; a fixed stream in unit tests). A failed source is remembered in the
 * struct: draws made afterwards are meaningless, and the caller asks once at the
 * end with dperm_entropy_ok().
 */
#ifndef DPERM_SAMPLE_H
#define DPERM_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DpermEntropy
{
	bool		(*fill) (void *arg, void *bytes, size_t count);
	void	   *arg;
	bool		failed;
	uint64_t	pool[32];
	int			left;			/* words not yet used */
	uint64_t	bits;			/* single bits not yet used */
	int			bits_left;
} DpermEntropy;

extern void dperm_entropy_init(DpermEntropy *e, bool (*fill) (void *, void *, size_t),
							   void *arg);

/* Did every draw so far have its random bits? */
static inline bool
dperm_entropy_ok(const DpermEntropy *e)
{
	return !e->failed;
}

/* Forget the unused bits. */
extern void dperm_entropy_wipe(DpermEntropy *e);

/* Exact draws, by integer arithmetic alone. */
extern uint64_t dperm_draw_word(DpermEntropy *e);
extern bool dperm_draw_bit(DpermEntropy *e);
extern uint64_t dperm_draw_below(DpermEntropy *e, uint64_t bound);

/* true with probability exp(-num/den), num <= den <= 2^50, den > 0 */
extern bool dperm_draw_exp_minus(DpermEntropy *e, uint64_t num, uint64_t den);

/* P(z) proportional to exp(-|z|/scale), 1 <= scale <= 2^50 (Canonne, Kamath, Steinke 2020) */
extern int64_t dperm_draw_discrete_laplace(DpermEntropy *e, int64_t scale);

/* P(z) proportional to exp(-|z| den/num): the same for a scale of num/den, num <= 2^50 */
extern int64_t dperm_draw_discrete_laplace_ratio(DpermEntropy *e, int64_t num, int64_t den);

/* Draws of doubles that lie within a few units in the last place of an exact draw, relatively. */
extern double dperm_draw_exponential(DpermEntropy *e);
extern double dperm_draw_normal(DpermEntropy *e);

/*
 * A vector b of dim coordinates with density proportional to exp(-|b|/scale): its norm
 * is Gamma(dim, scale), its direction uniform.
 */
extern void dperm_draw_gamma_sphere(DpermEntropy *e, int dim, double scale, double *b);

/* |computed - exact| <= this times |exact|, for dperm_draw_gamma_sphere. */
extern double dperm_gamma_sphere_rounding(int dim);

/* |b| is longer than this with probability below 2^-65. */
extern double dperm_gamma_sphere_tail(int dim, double scale);

#endif							/* DPERM_SAMPLE_H */
