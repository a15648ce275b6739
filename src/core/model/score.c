/*
 * score.c: the prediction of a model for one row.
 */
#include "core/model/score.h"

#include <float.h>
#include <math.h>

#include "core/base/vector.h"
#include "core/encode/knots.h"

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

/* The contribution of curves: they are straight lines between two knots. */
static double
curve_score(const DpermBlock *block, const DpermValue *value, double target,
			const double *weights)
{
	double		sum = 0;
	double		entry;

	for (int i = 0; i < dperm_block_parts(block); i++, weights += dperm_block_part_count(block))
	{
		int			place = dperm_knots_place_part(block, value, i, target, &entry);

		if (place >= 0)
			sum += weights[place] * entry + weights[place + 1] * dperm_knots_rest(target, entry);
	}
	return sum;
}

/* What a block adds; missing values and unlisted categories add nothing. */
static double
block_score(const DpermBlock *block, const DpermValue *value, double target,
			const double *weights, double *room)
{
	if (!value->present)
		return 0;
	if (block->kind == DPERM_BLOCK_VECTOR)
		return vector_score(block, value, target, weights, room);
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return value->category >= 0 && value->category < block->count ?
				   weights[value->category] * target :
				   0;
	if (dperm_block_is_curve(block))
		return curve_score(block, value, target, weights);
	dperm_encoder_encode_block(block, value, target, room);
	return block->count == 1 ? weights[0] * room[0] :
		dperm_inner((size_t) block->count, room, weights);	/* a box */
}

/* Without a kernel: block by block. */
static double
linear_decision(const DpermEncoder *enc, const double *weights, const DpermValue *values,
				double *room)
{
	double		target = dperm_encoder_target(enc);
	double		sum = 0.0;

	for (int i = 0; i < enc->block_count; i++)
	{
		sum += block_score(&enc->blocks[i], &values[i], target, weights, room);
		weights += enc->blocks[i].count;
	}
	return enc->intercept ? sum + weights[0] * target : sum;
}

/* The terms of that sum. */
void
dperm_score_terms(const DpermEncoder *enc, const double *weights, const DpermValue *values,
				  double *room, double *terms)
{
	double		target = dperm_encoder_target(enc);

	for (int i = 0; i < enc->block_count; i++)
	{
		terms[i] = block_score(&enc->blocks[i], &values[i], target, weights, room);
		weights += enc->blocks[i].count;
	}
	if (enc->intercept)
		terms[enc->block_count] = weights[0] * target;
}

/* Does a value of a block say something, or is it read as zeros? */
static bool
value_says_something(const DpermBlock *block, const DpermValue *value)
{
	int			numbers = 0;	/* elements that are not NaN */
	int			finite = 0;

	if (!value->present || block->kind == DPERM_BLOCK_FLAG)
		return value->present;
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return value->category >= 0 && value->category < block->count;
	if (block->kind != DPERM_BLOCK_VECTOR && block->kind != DPERM_BLOCK_BOX)
		return !isnan(value->number);
	for (int i = 0; i < dperm_block_elements(block); i++)
	{
		numbers += !isnan(value->vector[i]);
		finite += isfinite(value->vector[i]) != 0;
	}
	return block->kind == DPERM_BLOCK_BOX ? numbers > 0 : finite == block->count;
}

/* Does any block say something? */
bool
dperm_score_says_something(const DpermEncoder *enc, const DpermValue *values)
{
	for (int i = 0; i < enc->block_count; i++)
		if (value_says_something(&enc->blocks[i], &values[i]))
			return true;
	return false;
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

/* The decision from [-1, 1] to bounds; halving avoids overflow. */
double
dperm_score_value(double decision, double low, double high)
{
	double		share = fmax(0, fmin(1, decision / 2 + 0.5));

	return fmax(low, fmin(high, low + 2 * (share * (high / 2 - low / 2))));
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

/*
 * The outputs of all classes. With a kernel a row is encoded once; without one,
 * that is no more work than a product.
 */
void
dperm_score_outputs(const DpermEncoder *enc, const double *frequencies, int classes,
					const double *weights, const DpermValue *values, double *room,
					double *outputs)
{
	size_t		dim = (size_t) dperm_encoder_dim(enc);
	bool		linear = enc->kernel.kind == DPERM_KERNEL_LINEAR;

	if (!linear)
		dperm_encoder_encode(enc, frequencies, values, 1.0, room, room + dim);
	for (int k = 0; k < classes; k++, weights += dim)
		outputs[k] = linear ? linear_decision(enc, weights, values, room) :
			dperm_inner(dim, weights, room);
}

/* An output that is finite, whatever the weights are. */
static double
tame(double output)
{
	return fmin(DBL_MAX, fmax(-DBL_MAX, output));
}

/* The first of the largest outputs. */
int
dperm_score_class(int classes, const double *outputs)
{
	int			most = 0;

	for (int k = 1; k < classes; k++)
		if (tame(outputs[k]) > tame(outputs[most]))
			most = k;
	return most + 1;
}

/* Softmax. Outputs are reduced by the largest, so that nothing overflows. */
void
dperm_score_probabilities(int classes, double *outputs)
{
	double		most = tame(outputs[dperm_score_class(classes, outputs) - 1]);
	double		sum = 0;

	for (int k = 0; k < classes; k++)
		sum += outputs[k] = exp(tame(outputs[k]) - most);
	for (int k = 0; k < classes; k++)
		outputs[k] /= sum;
}

/* z_1 - log(sum of exp(z_k) over the others). */
double
dperm_score_odds(int classes, const double *outputs)
{
	double		most = tame(outputs[dperm_score_class(classes - 1, outputs + 1)]);
	double		sum = 0;

	for (int k = 1; k < classes; k++)
		sum += exp(tame(outputs[k]) - most);
	return tame(outputs[0]) - most - log(sum);
}

/* What a row is counted by. */
double
dperm_score_judge(const DpermEncoder *enc, const double *frequencies, int classes,
				  const double *weights, const DpermValue *values, int bins, double *room)
{
	double	   *outputs = room + dperm_encoder_dim(enc) + dperm_encoder_linear_dim(enc);

	if (classes == 0)
		return dperm_score_decision(enc, frequencies, weights, values, room);
	dperm_score_outputs(enc, frequencies, classes, weights, values, room, outputs);
	return bins > 0 ? dperm_score_odds(classes, outputs) : dperm_score_class(classes, outputs);
}
