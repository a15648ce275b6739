/*
 * encoder.h: from the values of a row to a vector inside the unit ball.
 *
 * Each column is a block of coordinates of norm at most 1 (docs/guarantee.md,
 * "Encoding"); B blocks and the intercept share the ball, so that the row is
 * divided by sqrt(B + 1). A vector of curves counts as a block for each of its
 * elements. Whatever the input, |x| <= 1 holds exactly, in real
 * arithmetic, for the resulting doubles: every step allows for its own
 * rounding. With a kernel, the encoded blocks are mapped to random features of
 * norm 1 (fourier.h), which share the ball with an intercept.
 */
#ifndef DPERM_ENCODER_H
#define DPERM_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/codec.h"
#include "core/encode/block.h"
#include "core/encode/kernel.h"

/* The range of the public norm bound; its inverse and its square are finite. */
#define DPERM_NORM_MIN 1e-100
#define DPERM_NORM_MAX 1e100

typedef struct DpermEncoder
{
	int			block_count;
	const DpermBlock *blocks;
	bool		intercept;		/* a constant coordinate comes last */
	DpermKernel kernel;
} DpermEncoder;

/* Coordinates of the blocks, before a kernel. */
extern int	dperm_encoder_linear_dim(const DpermEncoder *enc);

/* Trained dimension: the blocks or the kernel's features, and the intercept. */
extern int	dperm_encoder_dim(const DpermEncoder *enc);

/* Are numbers left to the rule of knots? */
extern bool dperm_encoder_is_open(const DpermEncoder *enc);

/*
 * The encoder with so many knots for these numbers, 1 for straight lines, in memory of
 * the host; and its dimension, which may be too large for an encoder.
 */
extern DpermEncoder dperm_encoder_with_knots(const DpermEncoder *enc, int knots);
extern int64_t dperm_encoder_knots_dim(const DpermEncoder *enc, int knots);

/* NULL if every field is in range, else what is wrong. */
extern const char *dperm_encoder_fault(const DpermEncoder *enc);

/*
 * Check the names of an encoder that has no such fault: columns and categories
 * have no zero bytes and no duplicates; only a single vector may have no
 * column. NULL, else what is wrong.
 */
extern const char *dperm_encoder_form_names_fault(const DpermEncoder *enc);

/* What a trained coordinate stands for. */
typedef struct DpermCoordinate
{
	const DpermBlock *block;	/* NULL for the intercept and for a kernel's feature */
	int			within;			/* position in the block or among the kernel's features */
	bool		intercept;
	bool		kernel;
} DpermCoordinate;

/* Coordinate i, from 0; false if there is none. */
extern bool dperm_encoder_coordinate(const DpermEncoder *enc, int i, DpermCoordinate *out);

/*
 * Write the dperm_encoder_dim() coordinates of one row to out, times sign (-1
 * or +1). frequencies are the kernel's (NULL without one), room is
 * dperm_encoder_linear_dim() doubles (unused without a kernel).
 */
extern void dperm_encoder_encode(const DpermEncoder *enc, const double *frequencies,
						 const DpermValue *values, double sign, double *out, double *room);

/*
 * Encode one block, each of its parts with norm at most |target|, into its count
 * coordinates; and the target of each part of an encoder without a kernel, and
 * of its intercept.
 */
extern void dperm_encoder_encode_block(const DpermBlock *block, const DpermValue *value,
									   double target, double *out);
extern double dperm_encoder_target(const DpermEncoder *enc);

/*
 * The factor by which a vector is multiplied to be encoded: target divided by
 * its bound or its norm. 0 if multiplying is not enough: norms outside the
 * common range, and elements that are not finite.
 */
extern double
dperm_encoder_vector_factor(const DpermBlock *block, const double *raw, double target);

/*
 * The bound on each coordinate of a straight BOX of norm at most |target|: no
 * encoded coordinate exceeds it in absolute value, and count times its square
 * is at most the square of target, exactly.
 */
extern double dperm_encoder_box_target(const DpermBlock *block, double target);

/* Do all elements of a BOX have the same bounds? */
extern bool dperm_encoder_box_is_cube(const DpermBlock *block);

/* Take bounds that are all the same into low and high. */
extern void dperm_encoder_box_settle(DpermBlock *block);

/*
 * With a kernel: write its dperm_encoder_linear_dim() inputs; and the norm of
 * its features.
 */
extern void
dperm_encoder_encode_inputs(const DpermEncoder *enc, const DpermValue *values, double *out);
extern double dperm_encoder_kernel_target(const DpermEncoder *enc);

/* The frequencies of its kernel, in memory of the host; NULL without one. */
extern double *dperm_encoder_frequencies(const DpermEncoder *enc);

/*
 * Are two kernels the same? Then they have the same frequencies in any
 * dimension.
 */
static inline bool
dperm_kernel_equal(const DpermKernel *a, const DpermKernel *b)
{
	return a->kind == b->kind && a->gamma == b->gamma && a->features == b->features &&
		a->seed == b->seed;
}

/* "gaussian", ...; "linear" means no kernel. */
extern const char *dperm_encoder_kernel_name(int kind);

/*
 * "number", "time", "boolean", "category", "vector"; a BOX is a "vector" too,
 * and has a range in place of a norm
 */
extern const char *dperm_encoder_kind_name(int kind);

/*
 * Its forms: encoder_form.c describes them, as part of a model, and as bytes by
 * themselves. What is read from bytes points into them.
 */
extern void dperm_encoder_form_visit(DpermCodec *c, DpermEncoder *enc);
extern void dperm_encoder_form_features(DpermCodec *c, const char *key, DpermEncoder *enc);
extern DpermText dperm_encoder_form_write(const DpermEncoder *enc);
extern const char *dperm_encoder_form_read(DpermText bytes, DpermEncoder *out);

#endif							/* DPERM_ENCODER_H */
