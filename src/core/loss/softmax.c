/*
 * softmax.c: the negative logarithm of the probability of a row's class, where
 * the probabilities are proportional to the exponentials of its outputs.
 *
 * With probabilities p and class y the slope is p - e_y, and the curvature
 * diag(p) - pp'. Both can be computed from the slope without cancellation,
 * because it holds 1 - p_y itself.
 */
#include <math.h>

#include "core/base/vector.h"
#include "core/loss/loss.h"

/* The index of a label's class, or -1. */
static inline int
class_of(int classes, double label)
{
	return label >= 1 && label <= classes ? (int) label - 1 : -1;
}

/* Two exponentials of numbers of at most 0; practically zero below -708. */
static inline DpermPair
exponential(DpermPair x)
{
	return dperm_exp(dperm_choose(x > -708, x, dperm_both(-708)));
}

/* The largest of some numbers. */
static inline double
largest_output(int classes, const double *z)
{
	double		most = z[0];

	for (int k = 1; k < classes; k++)
		most = z[k] > most ? z[k] : most;
	return most;
}

/*
 * Exponentials replace numbers that were reduced by the largest of them, which
 * is returned with their sum.
 */
static inline double
exponentials(int classes, double *z, double *most)
{
	double		sum = 0;
	int			k = 0;

	*most = largest_output(classes, z);
	for (; k + 2 <= classes; k += 2)
	{
		DpermPair	e = exponential(dperm_pair_at(z + k) - *most);

		dperm_put_pair(e, z + k);
		sum += e[0];
		sum += e[1];
	}
	if (k < classes)
	{
		z[k] = exponential(dperm_both(z[k] - *most))[0];
		sum += z[k];
	}
	return sum;
}

/*
 * A row: its loss is returned, and slopes replace its outputs, both times
 * weight. Where p_y is large, 1 - p_y is the sum of the others.
 */
static inline double
softmax_row(int classes, double *z, int own, double weight)
{
	double		at_own = z[own];
	double		most;
	double		sum = exponentials(classes, z, &most);
	double		likely = z[own] / sum;
	double		others = 0;

	z[own] = 0;
	for (int k = 0; k < classes; k++)
	{
		z[k] /= sum;
		others += z[k];
	}
	z[own] = likely > 0.5 ? -others : likely - 1;
	if (weight != 1)
		for (int k = 0; k < classes; k++)
			z[k] *= weight;
	return weight * (log(sum) + (most - at_own));
}

/* Some rows. */
static double
softmax_block(int classes, int count, double *outputs, const double *labels,
			  const double *weights)
{
	double		value = 0;

	for (int i = 0; i < count; i++, outputs += classes)
	{
		int			own = class_of(classes, labels[i]);

		if (own >= 0)
			value += softmax_row(classes, outputs, own, weights ? weights[i] : 1);
		else
			for (int k = 0; k < classes; k++)
				outputs[k] = 0;
	}
	return value;
}

/* Outputs so far below the largest have probability 0, up to e^-700. */
#define SOFTMAX_FLAT 700

/* The slopes of a row in extended precision. */
static void
softmax_slopes(int classes, DpermExtended *outputs, double label)
{
	int			own = class_of(classes, label);
	DpermExtended most = outputs[0];
	DpermExtended sum = 0;

	for (int k = 1; k < classes; k++)
		most = outputs[k] > most ? outputs[k] : most;
	for (int k = 0; k < classes; k++)
	{
		DpermExtended away = outputs[k] - most;

		outputs[k] = away > -SOFTMAX_FLAT ? dperm_loss_exp(away) : 0;
		sum += outputs[k];
	}
	for (int k = 0; k < classes; k++)
		outputs[k] = own < 0 ? 0 : outputs[k] / sum;
	if (own >= 0)
		outputs[own] -= 1;
}

/* The weighted probability of a class: the slope, plus the weight if it is the row's own. */
static inline double
probability_of(const double *slopes, int k, int own, double weight)
{
	return k == own ? weight + slopes[k] : slopes[k];
}

/* Add the curvature of a row to the packed matrix. */
static void
add_curvature(int classes, const double *slopes, int own, double weight, double *pairs)
{
	for (int j = 0; j < classes; j++)
	{
		double		q = probability_of(slopes, j, own, weight);
		double		share = q / weight;

		*pairs++ += share * (j == own ? -slopes[j] : weight - q);
		for (int i = j + 1; i < classes; i++)
			*pairs++ -= share * probability_of(slopes, i, own, weight);
	}
}

/* Traces, and the sum of curvatures. */
static void
softmax_curvatures(int classes, int count, const double *slopes, const double *labels,
				   const double *weights, double *traces, double *pairs)
{
	for (int i = 0; i < count; i++, slopes += classes)
	{
		int			own = class_of(classes, labels[i]);
		double		weight = weights ? weights[i] : 1;

		traces[i] = 0;
		if (own < 0 || !(weight > 0))
			continue;
		for (int k = 0; k < classes; k++)
		{
			double		q = probability_of(slopes, k, own, weight);

			traces[i] += q / weight * (k == own ? -slopes[k] : weight - q);
		}
		traces[i] = fmax(traces[i], 0);
		add_curvature(classes, slopes, own, weight, pairs);
	}
}

/*
 * Curvatures times vectors: p_k (v_k - p.v). The same number may be subtracted
 * from all v_k: that of the own class, so that nothing cancels where p_y is
 * nearly 1.
 */
static void
softmax_products(int classes, int count, const double *slopes, const double *labels,
				 const double *weights, double *vectors)
{
	for (int i = 0; i < count; i++, slopes += classes, vectors += classes)
	{
		int			own = class_of(classes, labels[i]);
		double		weight = weights ? weights[i] : 1;
		double		base = own >= 0 ? vectors[own] : 0;
		double		mean = 0;

		for (int k = 0; k < classes; k++)
		{
			vectors[k] -= base;
			mean += k == own ? 0 : slopes[k] * vectors[k];
		}
		mean = weight > 0 ? mean / weight : 0;
		for (int k = 0; k < classes; k++)
			vectors[k] = own < 0 ? 0 : probability_of(slopes, k, own, weight) * (vectors[k] - mean);
	}
}

/*
 * At size t of the slope, where t = 1 - p_y, the trace is largest if the other
 * classes are equally probable: K t (2 - 2/K - t)/(K-1), whose largest is
 * 1 - 1/K.
 */
static double
softmax_share(DpermLoss loss, double rest, double *change)
{
	double		classes = loss.classes;
	double		others = (classes - 1) * (classes - 1);

	*change = 2 * classes * (classes * rest - 1) / others;
	return classes * (1 - rest) * (classes - 2 + classes * rest) / others;
}

/*
 * The slope has 1 - p_y in one place, and the same in all others together. It
 * is an average of e_k - e_y over the other classes k.
 */
static DpermLossBounds
softmax_bounds(DpermLoss loss)
{
	double		classes = loss.classes;

	return (DpermLossBounds) {
		.reach = 2,
		.norm = 0x1.6a09e667f3bcdp0,	/* the root of 2, rounded up */
		.curvature = 0.5,
		.trace = 1 - 1 / classes,
		.rank = loss.classes - 1,
		.directions = loss.classes - 1,
		.lines = loss.classes - 1,
		.start = log(classes) * (1 + 0x1p-50),
		.slope_rounding = 2 * classes + 16,
		.typical_norm = 20 * sqrt(classes / 2)
	};
}

static const DpermLossSeveral several = {
	.block = softmax_block,
	.slopes = softmax_slopes,
	.curvatures = softmax_curvatures,
	.products = softmax_products
};

const DpermLossEntry dperm_softmax = {
	.name = "softmax",
	.learner = DPERM_LEARNER_LOGREG,
	.label = DPERM_LABEL_SEVERAL,
	.probability = true,
	.bounds = softmax_bounds,
	.several = &several,
	.share = softmax_share
};
