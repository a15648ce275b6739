/*
 * pass.h: the flat form of a pass: its request and its result.
 *
 * A pass over rows starts from a request and returns the same form with the
 * sums filled in; partial results of parallel workers and shards have the same
 * form. It is a sequence of 64-bit words, followed by the binary form of the
 * encoder and the domain of labels, each padded to a word. The domain is the
 * positive value of two classes, the bounds of a number, or the values of
 * several classes (classes.h):
 *
 *   header | weights dim | low parts dim | gradient dim | gradient_low dim |
 *   packed Hessian | readers | encoder | domain
 *   header | weights dim | counts | readers | encoder | domain
 *
 * The low parts of the weights are present in a careful pass, the Hessian if it
 * was requested (with several classes, what moments.h has in its place), and
 * sums and counts only if there are rows: a request is short. If the Hessian is
 * to be multiplied by a direction, that takes the place of the low parts, and
 * the product that of the gradient. The second form is for a pass that counts
 * rows by a model's decisions: it has no loss and no sums. In a pass over the
 * rows of persons each row has a weight, and is counted in parts of a person.
 * Weights and sums are in the order of layout.h, and of products.h within that;
 * the weights of a pass that counts are in the order of the model. Readers are
 * words that describe how columns are stored; they are opaque here, and so is
 * the type of labels. The decoder accepts hostile words.
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
	DPERM_PASS_HESSIAN = 2,		/* also second derivatives */
	DPERM_PASS_ROUGH = 3,		/* these in single precision, except for their sums */
	DPERM_PASS_CAREFUL = 4,		/* rows and gradient, in extended precision */
	/*
	 * rows, and the number of those with a label in each cell; or sums of errors,
	 * if labels are numbers
	 */
	DPERM_PASS_COUNT = 5,
	DPERM_PASS_PRODUCT = 6		/* of several classes: rows, and the Hessian times a vector */
} DpermPassOrder;

#define DPERM_PASS_LAST DPERM_PASS_PRODUCT

typedef struct DpermPass
{
	/* the request */
	DpermPassOrder order;
	DpermLoss	loss;			/* zeros in a pass that counts, except for the number of classes */
	/*
	 * of a pass that counts: by class (the first of several, and the others) and
	 * bin; 0: the confusion matrix
	 */
	int			bins;
	/* are the units persons, whose rows together weigh as much as one row? */
	bool		weighted;
	int			dim;			/* weights: those of the encoder, for each class */
	int64_t		readers;		/* words */
	int64_t		encoder;		/* bytes */
	/* bytes of the domain of labels plus one; 0: there is none */
	int64_t		domain;
	int			domain_encoding;	/* opaque, 0 to 255: of its text */
	uint32_t	label_type;		/* opaque */
	DpermLabelKind label;		/* that of the loss, if there is one */
	uint64_t	seed;			/* of the digest of rows (digest.h); 0: no digest */

	/* the sums */
	int64_t		rows;
	int64_t		persons;		/* if weighted; no more than rows */
	double		value[2];
	uint64_t	digest;			/* of the rows, if there is a seed */
} DpermPass;

#define DPERM_PASS_HEADER 14	/* words */

/* Cells of a confusion matrix; and the sums over labels that are numbers. */
#define DPERM_PASS_CELLS 4
#define DPERM_PASS_SUMS 5

/* The most classes that are counted without bins: each pair of them is a cell. */
#define DPERM_PASS_CLASSES_MAX 100

/*
 * Counts of a pass over the rows of persons are in parts of a person, and sums
 * in parts of 1: a row counts for at most this many.
 */
#define DPERM_PASS_PARTS (UINT64_C(1) << 20)

/* The number of units of privacy that a pass has seen. */
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

/* Is there a vector beside the weights: their low parts, or a direction? */
static inline bool
dperm_pass_has_second(const DpermPass *pass)
{
	return pass->order == DPERM_PASS_CAREFUL || pass->order == DPERM_PASS_PRODUCT;
}

/*
 * The number of counts if there are rows, by label and within that by decision;
 * 0 in a pass that does not count.
 */
static inline int
dperm_pass_count_cells(const DpermPass *pass)
{
	return pass->order != DPERM_PASS_COUNT	  ? 0 :
		   pass->label == DPERM_LABEL_NUMBER  ? DPERM_PASS_SUMS :
		   pass->bins > 0					  ? 2 * pass->bins :
		   pass->label == DPERM_LABEL_SEVERAL ? pass->loss.classes * pass->loss.classes :
												DPERM_PASS_CELLS;
}

/* Words of the whole form. */
extern size_t dperm_pass_words(const DpermPass *pass);

/* Where the parts begin, in words; counts take the place of the gradient. */
extern size_t dperm_pass_weights_at(const DpermPass *pass);
extern size_t dperm_pass_gradient_at(const DpermPass *pass);
extern size_t dperm_pass_hess_at(const DpermPass *pass);
extern size_t dperm_pass_readers_at(const DpermPass *pass);
extern size_t dperm_pass_encoder_at(const DpermPass *pass);
extern size_t dperm_pass_domain_at(const DpermPass *pass);

/*
 * The bounds of labels that are numbers, as bytes: the domain of such a pass.
 * And what they are in a form whose bytes have the right length.
 */
#define DPERM_PASS_BOUNDS 16

extern void dperm_pass_put_bounds(double low, double high, unsigned char *bytes);
extern void dperm_pass_get_bounds(const uint64_t *words, const DpermPass *pass, double *low,
								  double *high);

/* Write the header; the caller fills in the parts. */
extern void dperm_pass_write(const DpermPass *pass, uint64_t *words);

/*
 * Read and check a form of count words: false, and *why, unless every field is
 * in range, count matches, all numbers are finite, classes are as many as stated,
 * and the counts add up to at most the number of rows. The encoder is not checked.
 */
extern bool dperm_pass_read(const uint64_t *words, size_t count, DpermPass *pass,
							const char **why);

/*
 * The number of leading words of a form that are words, not bytes, for byte
 * order conversion; the header must be in native order. At most count, whatever
 * the header says.
 */
extern size_t dperm_pass_ordered_words(const uint64_t *words, size_t count);

/*
 * Do two forms answer the same request? The caller compares weights, readers,
 * encoder and domain.
 */
extern bool dperm_pass_matches(const DpermPass *a, const DpermPass *b);

#endif							/* DPERM_PASS_H */
