/*
 * score.c: the prediction of a model for one row.
 */
#include "core/model/score.h"

#include <math.h>

#include "core/base/vector.h"

/*
 * The contribution of a vector; most can be multiplied before they are encoded.
 */
static double
vector_score(const DpermBlock *block, const DpermValue *value, double target,
			 const double *weights, double *room)
{
	size_t		count = (size_t) block->count;
	double		factor = dperm_encoder_vector_factor(block, value->vector, target);

	if (factor != 0)
		return factor * dperm_inner(count, value->vector, weights);
	dperm_encoder_encode_block(block, value, target, room);
	return dperm_inner(count, room, weights);
}

/*
 * Without a kernel: block by block; missing values and unlisted categories add
 * nothing.
 */
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
		else if (block->kind == DPERM_BLOCK_VECTOR)
			sum += vector_score(block, &values[i], target, weights, room);
		else if (block->kind != DPERM_BLOCK_CATEGORY)
		{
			dperm_encoder_encode_block(block, &values[i], target, room);
			sum += block->count == 1 ? weights[0] * room[0] :
				dperm_inner((size_t) block->count, room, weights);	/* a box */
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
	dperm_encoder_encode(enc, frequencies, values, 1.0, room, room + dim);
	return dperm_inner((size_t) dim, weights, room);
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
