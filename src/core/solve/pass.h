/*
 * pass.h: what a pass over the rows of another server is asked, and what it
 * answers, as bytes. Trusted.
 *
 *   request | answer
 *
 * A request says all that there is to know: what is computed, how columns are
 * read and encoded, and the weights. The state of a pass begins with its request,
 * so that states of one and the same pass can be told from others; the answer is
 * there only if there are rows. Weights and sums are in the order of layout.h, and
 * of sums.h within that; the weights of a pass that counts are in the order of
 * the model. Readers are words that describe how columns are stored, and opaque
 * here. In a pass over the rows of persons each row has a weight, and is counted
 * in parts of a person (DPERM_PERSON_PARTS); errors add up in as many parts of 1.
 *
 * pass.c describes both once, for writing and for reading. Nothing that is read is
 * trusted.
 */
#ifndef DPERM_PASS_H
#define DPERM_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/loss/loss.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "core/solve/certify.h"

typedef struct DpermPass
{
	/* the request */
	DpermPassOrder order;
	DpermLoss	loss;			/* zeros in a pass that counts, except for the number of classes */
	DpermLabelKind label;		/* that of the loss, if there is one */
	/*
	 * of a pass that counts: by class (the first of several, and the others) and
	 * bin; 0: the confusion matrix
	 */
	int			bins;
	bool		weighted;		/* are the units persons, whose rows weigh as much as one row? */
	uint64_t	seed;			/* of the digest of rows (bytes.h); 0: no digest */
	int			dim;			/* weights: those of the encoder, for each class */
	const double *weights;
	const double *weights_low;	/* in extended precision; else NULL */
	int			reader_count;
	const uint64_t *readers;	/* their low 32 bits */
	size_t		encoder_size;
	const unsigned char *encoder;	/* its binary form, which is not checked here */

	/* the answer */
	int64_t		rows;
	int64_t		persons;		/* if weighted; no more than rows */
	double		value[2];
	uint64_t	digest;			/* of the rows, if there is a seed */
	const double *sums;			/* gradient, and its low parts */
	/* if it was asked for, packed; with several classes, what sums.h has in its place */
	const double *hess;
	const int64_t *counts;		/* by label and within that by decision */
} DpermPass;

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

/* The number of counts; 0 in a pass that does not count. */
static inline int
dperm_pass_count_cells(const DpermPass *pass)
{
	return pass->order != DPERM_PASS_COUNT	  ? 0 :
		   pass->label == DPERM_LABEL_NUMBER  ? DPERM_SUMS :
		   pass->bins > 0					  ? 2 * pass->bins :
		   pass->label == DPERM_LABEL_SEVERAL ? pass->loss.classes * pass->loss.classes :
												DPERM_CELLS;
}

/* Write a request, or an answer; and return its size. Only that, if out is NULL. */
extern size_t dperm_pass_write_request(const DpermPass *pass, unsigned char *out);
extern size_t dperm_pass_write_answer(const DpermPass *pass, unsigned char *out);

/*
 * Read and check a request, and the answer that follows it, unless there is none:
 * then rows is 0. Returns NULL, or what is wrong. The encoder stays where it is in
 * the bytes; the rest is copied into memory of the host. *request gets the size of
 * the request.
 */
extern const char *dperm_pass_read(const unsigned char *bytes, size_t size, DpermPass *pass,
								   size_t *request);

#endif							/* DPERM_PASS_H */
