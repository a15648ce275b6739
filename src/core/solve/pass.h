/*
 * pass.h: the flat form of a pass: what is asked of it, and what it found.
 *
 * A pass over rows starts from a request and ends in the same form with the sums filled
 * in; partial results of parallel workers and of shards are of the same form. It is a sequence
 * of 64-bit words, and at the end the binary form of the encoder, padded to a word:
 *
 *   header | weights dim | low parts dim | gradient dim | gradient_low dim | packed Hessian | readers | encoder
 *
 * where the low parts of the weights are present in a careful pass, the Hessian if it was asked for, and the sums only
 * once there are rows: a request is short. Weights and sums are in the order of layout.h. Readers are words that say how the caller's columns are stored; they mean nothing here.
 * The decoder takes hostile words.
 */
#ifndef DPERM_PASS_H
#define DPERM_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/loss/loss.h"

/* What a pass computes. */
typedef enum DpermPassOrder
{
	DPERM_PASS_GRADIENT = 1,	/* rows, loss and gradient */
	DPERM_PASS_HESSIAN = 2,		/* and second derivatives */
	DPERM_PASS_ROUGH = 3,		/* those in single precision, but for their sums */
	DPERM_PASS_CAREFUL = 4		/* rows and gradient, in twice the precision */
} DpermPassOrder;

typedef struct DpermPass
{
	/* the request */
	DpermPassOrder order;
	DpermLoss	loss;
	int			dim;			/* trained dimension */
	int64_t		readers;		/* words */
	int64_t		encoder;		/* bytes */

	/* the sums */
	int64_t		rows;
	double		value[2];
} DpermPass;

#define DPERM_PASS_HEADER 10	/* words */

/* Are second derivatives asked for? */
static inline bool
dperm_pass_has_hess(const DpermPass *pass)
{
	return pass->order == DPERM_PASS_HESSIAN || pass->order == DPERM_PASS_ROUGH;
}

/* Words of the whole form. */
extern size_t dperm_pass_words(const DpermPass *pass);

/* Where the parts begin, in words. */
extern size_t dperm_pass_weights_at(const DpermPass *pass);
extern size_t dperm_pass_gradient_at(const DpermPass *pass);
extern size_t dperm_pass_hess_at(const DpermPass *pass);
extern size_t dperm_pass_readers_at(const DpermPass *pass);
extern size_t dperm_pass_encoder_at(const DpermPass *pass);

/* Write the header; the parts are the caller's to fill in. */
extern void dperm_pass_write(const DpermPass *pass, uint64_t *words);

/*
 * Read and check a form of count words: false, and *why, unless every field is in range,
 * count is exactly right and all numbers are finite. The encoder is not looked into.
 */
extern bool dperm_pass_read(const uint64_t *words, size_t count, DpermPass *pass,
							const char **why);

/*
 * How many leading words of a form are words and not bytes, for a change of byte order; the header
 * must be in native order. No more than count, whatever the header says.
 */
extern size_t dperm_pass_ordered_words(const uint64_t *words, size_t count);

/* Do two forms answer the same request? Weights, readers and encoder are the caller's to compare. */
extern bool dperm_pass_matches(const DpermPass *a, const DpermPass *b);

#endif							/* DPERM_PASS_H */
