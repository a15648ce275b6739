/*
 * score.c: the prediction of a model for one row. Plain.
 */
#include "core/model/model.h"

#include <float.h>
#include <math.h>

#include "core/base/vector.h"
#include "core/encode/encoder.h"

/* The weights of one or several classes, from those of a block on. */
typedef struct Weights
{
	const double *of;			/* the first class */
	size_t		apart;			/* from one class to the next */
	int			classes;
} Weights;

/* Add what the elements of a block, encoded up to a factor, are worth. */
static void
add_products(size_t count, const double *x, double factor, Weights weights, double *sums)
{
	for (int k = 0; k < weights.classes; k++, weights.of += weights.apart)
		sums[k] += factor * dperm_inner(count, x, weights.of);
}

/* A vector; most can be multiplied before they are encoded. */
static void
add_vector(const DpermBlock *block, const DpermValue *value, double target, Weights weights,
		   double *room, double *sums)
{
	double		factor = dperm_encoder_vector_factor(block, value->vector, target);

	if (factor == 0)
		dperm_encoder_encode_block(block, value, target, room);
	add_products((size_t) block->count, factor == 0 ? room : value->vector,
				 factor == 0 ? 1 : factor, weights, sums);
}

/* Curves are straight lines between two knots: those of each part. */
static void
add_curves(const DpermBlock *block, const DpermValue *value, double target, Weights weights,
		   double *sums)
{
	int			each = dperm_block_knots(block);

	for (int i = 0; i < dperm_block_elements(block); i++, weights.of += each)
	{
		double		position = dperm_encoder_position(block, value, i);
		const double *w = weights.of;
		double		entry;

		if (position < 0)
			continue;
		w += dperm_knots_point(position, each - 1, target, &entry);
		for (int k = 0; k < weights.classes; k++, w += weights.apart)
			sums[k] += w[0] * entry + w[1] * (target - entry);
	}
}

/*
 * Add what a block is worth to the sum of each class; missing values and
 * unlisted categories add nothing.
 */
static void
score_block(const DpermBlock *block, const DpermValue *value, double target, Weights weights,
			double *room, double *sums)
{
	if (!value->present)
		return;
	if (block->kind == DPERM_BLOCK_VECTOR)
		add_vector(block, value, target, weights, room, sums);
	else if (block->kind == DPERM_BLOCK_CATEGORY)
	{
		if (value->category >= 0 && value->category < block->count)
			for (int k = 0; k < weights.classes; k++)
				sums[k] += weights.of[k * weights.apart + (size_t) value->category] * target;
	}
	else if (dperm_block_knots(block) > 1)
		add_curves(block, value, target, weights, sums);
	else
	{
		dperm_encoder_encode_block(block, value, target, room);
		add_products((size_t) block->count, room, 1, weights, sums);	/* a number, or a box */
	}
}

/* Without a kernel: block by block. */
static void
score_blocks(const DpermEncoder *enc, const DpermValue *values, Weights weights, double *room,
			 double *sums)
{
	double		target = dperm_encoder_target(enc);

	for (int i = 0; i < enc->block_count; i++)
	{
		score_block(&enc->blocks[i], &values[i], target, weights, room, sums);
		weights.of += enc->blocks[i].count;
	}
	if (enc->intercept)
		for (int k = 0; k < weights.classes; k++)
			sums[k] += weights.of[k * weights.apart] * target;
}

/*
 * Without a kernel: the terms of that sum in order, one for each block and one for the
 * intercept, if there is one.
 */
void
dperm_score_terms(const DpermEncoder *enc, const double *weights, const DpermValue *values,
				  double *room, double *terms)
{
	double		target = dperm_encoder_target(enc);

	for (int i = 0; i < enc->block_count; i++)
	{
		terms[i] = 0;
		score_block(&enc->blocks[i], &values[i], target, (Weights) {weights, 0, 1}, room,
					&terms[i]);
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

/*
 * Has a row a value for any block? All that encoding turns into zeros because it is
 * missing, unlisted or not a number is none; a number whose code happens to be zero is
 * one.
 */
bool
dperm_score_says_something(const DpermEncoder *enc, const DpermValue *values)
{
	for (int i = 0; i < enc->block_count; i++)
		if (value_says_something(&enc->blocks[i], &values[i]))
			return true;
	return false;
}

/*
 * Of a model of several classes, whose weights are there class by class: the decision of
 * each, w_k.x. With a kernel a row is encoded once.
 */
void
dperm_score_outputs(const DpermEncoder *enc, const double *frequencies, int classes,
					const double *weights, const DpermValue *values, double *room,
					double *outputs)
{
	size_t		dim = (size_t) dperm_encoder_dim(enc);

	for (int k = 0; k < classes; k++)
		outputs[k] = 0;
	if (enc->kernel.kind == DPERM_KERNEL_LINEAR)
	{
		score_blocks(enc, values, (Weights) {weights, dim, classes}, room, outputs);
		return;
	}
	dperm_encoder_encode(enc, frequencies, values, 1.0, room, room + dim);
	add_products(dim, room, 1, (Weights) {weights, dim, classes}, outputs);
}

/*
 * w.x for the encoded x, clipped as in training. frequencies are the kernel's (NULL without
 * one); room overlaps nothing else.
 */
double
dperm_score_decision(const DpermEncoder *enc, const double *frequencies, const double *weights,
					 const DpermValue *values, double *room)
{
	double		decision;

	dperm_score_outputs(enc, frequencies, 1, weights, values, room, &decision);
	return decision;
}

/* The number between bounds that a decision between -1 and 1 stands for, clipped. */
double
dperm_score_value(double decision, double low, double high)
{
	double		share = fmax(0, fmin(1, decision / 2 + 0.5));

	return fmax(low, fmin(high, low + share * (high - low)));
}

/* 1/(1 + exp(-decision)), without overflow. */
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

/* An output that is finite, whatever the weights are. */
static double
tame(double output)
{
	return fmin(DBL_MAX, fmax(-DBL_MAX, output));
}

/* The class with the largest output, counted from 1; the first of several. */
int
dperm_score_class(int classes, const double *outputs)
{
	int			most = 0;

	for (int k = 1; k < classes; k++)
		if (tame(outputs[k]) > tame(outputs[most]))
			most = k;
	return most + 1;
}

/* Their probabilities, which replace them. Nothing overflows, as the largest is subtracted. */
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

/* The logarithm of the odds of the first class against the others: a decision. */
double
dperm_score_odds(int classes, const double *outputs)
{
	double		most = tame(outputs[dperm_score_class(classes - 1, outputs + 1)]);
	double		sum = 0;

	for (int k = 1; k < classes; k++)
		sum += exp(tame(outputs[k]) - most);
	return tame(outputs[0]) - most - log(sum);
}

/*
 * What a row is counted by (core/privacy/counts.h): the decision or, if there are several
 * classes, the number of the class, or the odds of the first one if there are bins. classes
 * is 0 if there are not several. room has as many doubles more as there are classes.
 */
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
