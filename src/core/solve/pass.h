/*
 * pass.h: the flat form of a pass: what is asked of it, and what it found.
 *
 * A pass over rows starts from a request and ends in the same form with the
 * sums filled in; partial results of parallel workers and of shards are of the
 * same form. It is a sequence of 64-bit words, and at the end the binary form
 * of the encoder and the positive value of labels, each padded to a word:
 *
 *   header | weights dim | low parts dim | gradient dim | gradient_low dim |
 *   packed Hessian | readers | encoder | positive
 *   header | weights dim | counts | readers | encoder | positive
 *
 * where the low parts of the weights are present in a careful pass, the Hessian
 * if it was asked for, and sums and counts only once there are rows: a request
 * is short. The second is of a pass that counts rows by what a model decides on
 * them: it has no loss and no sums. In a pass over the rows of persons each row
 * has a weight, and is counted in parts of a person. Weights and sums are in
 * the order of layout.h; the weights of a pass that counts are in that of the
 * model. Readers are words that say how the caller's columns are stored; they
 * mean nothing here, and neither does what is said about labels. The decoder
 * takes hostile words.
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
	DPERM_PASS_CAREFUL = 4,		/* rows and gradient, in twice the precision */
	DPERM_PASS_COUNT = 5		/* rows, and how many of those with a label are in each cell */
} DpermPassOrder;

typedef struct DpermPass
{
	/* the request */
	DpermPassOrder order;
	DpermLoss	loss;			/* zeros in a pass that counts */
	/* of a pass that counts: by class and bin; 0: the confusion matrix */
	int			bins;
	/* are the units persons, whose rows weigh as much as one row together? */
	bool		weighted;
	int			dim;			/* trained dimension */
	int64_t		readers;		/* words */
	int64_t		encoder;		/* bytes */
	/* one more than the bytes of the positive value, or 0: there is none */
	int64_t		positive;
	int			positive_encoding;	/* the caller's, 0 to 255: of its text */
	uint32_t	label_type;		/* the caller's */
	uint64_t	seed;			/* of the digest of rows (digest.h); 0: there is none */

	/* the sums */
	int64_t		rows;
	int64_t		persons;		/* if weighted; no more than rows */
	double		value[2];
	uint64_t	digest;			/* of the rows, if there is a seed */
} DpermPass;

#define DPERM_PASS_HEADER 14	/* words */

/* Cells of a confusion matrix. */
#define DPERM_PASS_CELLS 4

/*
 * Counts of a pass over the rows of persons are in parts of a person: a row
 * counts for so many at most.
 */
#define DPERM_PASS_PARTS (UINT64_C(1) << 20)

/* How many units of privacy a pass has seen. */
static inline int64_t
dperm_pass_units(const DpermPass *pass)
{
	return pass->weighted ? pass->persons : pass->rows;
}

/* Are second derivatives asked for? */
static inline bool
dperm_pass_has_hess(const DpermPass *pass)
{
	return pass->order == DPERM_PASS_HESSIAN || pass->order == DPERM_PASS_ROUGH;
}

/*
 * How many counts there are, once there are rows; 0 in a pass that does not
 * count.
 */
static inline int
dperm_pass_count_cells(const DpermPass *pass)
{
	return pass->order != DPERM_PASS_COUNT ? 0 : pass->bins > 0 ? 2 * pass->bins : DPERM_PASS_CELLS;
}

/* Words of the whole form. */
extern size_t dperm_pass_words(const DpermPass *pass);

/* Where the parts begin, in words. */
extern size_t dperm_pass_weights_at(const DpermPass *pass);
extern size_t dperm_pass_gradient_at(const DpermPass *pass);
extern size_t dperm_pass_counts_at(const DpermPass *pass);
extern size_t dperm_pass_hess_at(const DpermPass *pass);
extern size_t dperm_pass_readers_at(const DpermPass *pass);
extern size_t dperm_pass_encoder_at(const DpermPass *pass);
extern size_t dperm_pass_positive_at(const DpermPass *pass);

/* Write the header; the parts are the caller's to fill in. */
extern void dperm_pass_write(const DpermPass *pass, uint64_t *words);

/*
 * Read and check a form of count words: false, and *why, unless every field is
 * in range, count is exactly right, all numbers are finite and no more rows are
 * counted than there are. The encoder is not looked into.
 */
extern bool dperm_pass_read(const uint64_t *words, size_t count, DpermPass *pass,
							const char **why);

/*
 * How many leading words of a form are words and not bytes, for a change of
 * byte order; the header must be in native order. No more than count, whatever
 * the header says.
 */
extern size_t dperm_pass_ordered_words(const uint64_t *words, size_t count);

/*
 * Do two forms answer the same request? Weights, readers, encoder and positive
 * value are the caller's to compare.
 */
extern bool dperm_pass_matches(const DpermPass *a, const DpermPass *b);

#endif							/* DPERM_PASS_H */
