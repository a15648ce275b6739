/*
 * prior.h: what a model says about its prior.
 *
 * A JSON object that the model carries as text:
 *
 *   {"norm": 3.25, "private": true, "epsilon": 1, "delta": 0,
 *    "neighbours": "replace", "unit": "row", "source": "public.january",
 *    "ledger": {"budget": "patients", "entry": 17}}
 *
 * in any order of keys, without source or ledger if the prior has none. epsilon
 * is "Infinity" for a prior without noise. private is also false if a prior
 * behind the prior had no noise.
 */
#ifndef DPERM_PRIOR_H
#define DPERM_PRIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/encode/block.h"
#include "core/privacy/claim.h"

/* The longest text. */
#define DPERM_PRIOR_MAX (1 << 16)

typedef struct DpermPrior
{
	double		norm;			/* a bound on the norm of its weights */
	bool		private;		/* the prior, and those behind it */
	DpermClaim	claim;			/* of the prior, without shares */
	DpermText	source;			/* as in the text, escapes and all; empty if there is none */
	int64_t		entry;			/* of a ledger, or 0 */
} DpermPrior;

/* A bound on the norm of weights that are finite. */
extern double dperm_prior_norm(const double *weights, int dim);

/* Read and check the text: NULL, or what is wrong. */
extern const char *dperm_prior_read(const DpermText *text, DpermPrior *out);

#endif							/* DPERM_PRIOR_H */
