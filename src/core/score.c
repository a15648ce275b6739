/*
 * score.c: what a model says about one row.
 */
#include "score.h"

#include <math.h>

/* A sum with products added to it, one after the other. */
static double
add_products(double sum, int count, const double *weights, const double *x)
{
	for (int i = 0; i < count; i++)
		sum += weights[i] * x[i];
	return sum;
}

/* Without a kernel: block by block, of which absent values and unlisted categories add nothing. */
static double
linear_decision(const DpermEncoder *enc, const double *weights, const DpermValue *values,
				double *room)
{
	double		target = dperm_encoder_target(enc);
	double		sum = 0.0;

	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];
		int			category = values[i].category;

		if (!values[i].present)
			;
		else if (block->kind != DPERM_BLOCK_CATEGORY)
		{
			dperm_encode_block(block, &values[i], target, room);
			sum = add_products(sum, block->count, weights, room);
		}
		else if (category >= 0 && category < block->count)
			sum += weights[category] * target;
		weights += block->count;
	}
	return enc->intercept ? sum + weights[0] * target : sum;
}

/* The weighted sum of one encoded row. */
double
dperm_score_decision(const DpermEncoder *enc, const double *frequencies, const double *weights,
					 const DpermValue *values, double *room)
{
	int			dim = dperm_encoder_dim(enc);

	if (enc->kernel.kind == DPERM_KERNEL_LINEAR)
		return linear_decision(enc, weights, values, room);
	dperm_encode(enc, frequencies, values, 1.0, room, room + dim);
	return add_products(0.0, dim, weights, room);
}

/* The logistic function. */
double
dperm_score_probability(double decision)
{
	double		e;

	/* exp() of a number that is not positive stays in [0, 1]. */
	if (decision >= 0.0)
		return 1.0 / (1.0 + exp(-decision));
	e = exp(decision);
	return e / (1.0 + e);
}
