/*
 * pass.h: the flat form of a pass: what is asked of it, and what it found.
 *
 * A pass over rows starts from a request and ends in the same form with the sums filled
 * in; partial results of parallel workers and of shards are of the same form. All of it is
 * a sequence of 64-bit words, so one rule (big-endian words) makes it portable:
 *
 *   header | weights dim | gradient dim | gradient_low dim | packed Hessian | kept rows
 *
 * where a part is present from its order on, and the sums only once there are rows: a
 * request is short. The decoder takes hostile words.
 */
#ifndef DPERM_PASS_H
#define DPERM_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder.h"
#include "loss.h"

/* What a pass computes. */
typedef enum DpermPassOrder
{
	DPERM_PASS_COUNT = 0,		/* rows, and the sample */
	DPERM_PASS_GRADIENT = 1,	/* loss and gradient too */
	DPERM_PASS_HESSIAN = 2		/* and second derivatives */
} DpermPassOrder;

typedef struct DpermPass
{
	/* the request */
	DpermPassOrder order;
	DpermLoss	loss;
	DpermEncoder encoder;
	int64_t		capacity;		/* of the sample, in rows: 0 or >= 2 */

	/* the sums */
	int64_t		rows;
	double		value[2];
	int64_t		stride;			/* of the sample */
	int64_t		used;			/* rows in the sample */
} DpermPass;

#define DPERM_PASS_HEADER 15	/* words */

/* Words of the whole form. */
extern size_t dperm_pass_words(const DpermPass *pass);

/* Where the parts begin, in words. */
extern size_t dperm_pass_weights_at(const DpermPass *pass);
extern size_t dperm_pass_gradient_at(const DpermPass *pass);
extern size_t dperm_pass_hess_at(const DpermPass *pass);
extern size_t dperm_pass_sample_at(const DpermPass *pass);

/* Write the header; the parts are the caller's to fill in. */
extern void dperm_pass_write(const DpermPass *pass, uint64_t *words);

/*
 * Read and check a form of count words: false, and *why, unless every field is in range,
 * count is exactly right and all numbers are finite.
 */
extern bool dperm_pass_read(const uint64_t *words, size_t count, DpermPass *pass,
							const char **why);

/* Do two forms answer the same request? The weights are the caller's to compare. */
extern bool dperm_pass_matches(const DpermPass *a, const DpermPass *b);

#endif							/* DPERM_PASS_H */
