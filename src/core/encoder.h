/*
 * encoder.h: from the caller's values to a vector inside the unit ball.
 *
 * Whatever comes in, |x| <= 1 holds exactly, in real arithmetic, for the doubles
 * that come out: the clipping leaves room for its own rounding.
 */
#ifndef DPERM_ENCODER_H
#define DPERM_ENCODER_H

#include <stdbool.h>

/* The range of the public norm bound: its inverse and its square stay finite. */
#define DPERM_NORM_MIN 1e-100
#define DPERM_NORM_MAX 1e100

typedef struct DpermEncoder
{
	int			dimension;		/* length of the caller's vector */
	double		norm;			/* public bound the vector is divided by, > 0 */
	bool		intercept;		/* a constant coordinate follows the vector */
} DpermEncoder;

/* Trained dimension: the vector and, with an intercept, one more. */
static inline int
dperm_encoder_dim(const DpermEncoder *enc)
{
	return enc->dimension + (enc->intercept ? 1 : 0);
}

/*
 * Write the dperm_encoder_dim() coordinates of one row to out, times sign (-1 or
 * +1). raw == NULL stands for a vector that is missing or has another length: a
 * zero block. So does a vector that holds a NaN or an infinity. raw and out may
 * not overlap.
 */
extern void dperm_encode_vector(const DpermEncoder *enc, const double *raw,
								double sign, double *out);

#endif							/* DPERM_ENCODER_H */
