/*
 * loss.c: the losses of one output, that of several classes, and the table of all
 * of them. Trusted.
 */
#include "core/loss/loss.h"

#include <math.h>
#include <string.h>

#include "core/base/vector.h"

#define LOG_TWO 0x1.62e42fefa39efp-1

/*
 * Two margins at a time, without branches: margins are practically random, and
 * a mispredicted branch costs more than all the arithmetic. What two rows add to
 * the sum is a value, and the logarithm of a product.
 */
typedef struct Sums
{
	DpermPair	value;
	DpermPair	product;		/* 1 unless the loss sets it */
} Sums;

static inline DpermPair
at_least(DpermPair x, double least)
{
	return dperm_choose(x > least, x, dperm_both(least));
}

static inline DpermPair
at_most(DpermPair x, double most)
{
	return dperm_choose(x < most, x, dperm_both(most));
}

/* Slopes of two margins; curve may be NULL. */
typedef DpermPair (*Pair) (double h, DpermPair z, Sums *sums, DpermPair *curve);

/*
 * Logarithms of numbers from 1 to 2, by the series of the inverse hyperbolic
 * tangent of (x-1)/(x+1), for x or x/2. The error is a few units in the last
 * place of 1.
 */
static inline DpermPair
log_of(DpermPair x)
{
	DpermInts	large = x > 1.4142135623730951;
	DpermPair	less = dperm_choose(large, x * 0.5, x);
	DpermPair	t = (less - 1) / (less + 1);
	DpermPair	z = t * t;
	DpermPair	sum = dperm_both(1.0 / 21);

	for (int k = 19; k > 0; k -= 2)
		sum = dperm_multiply_add(sum, z, dperm_both(1.0 / k));
	return 2 * t * sum + dperm_choose(large, dperm_both(LOG_TWO), dperm_both(0));
}

/* Store a pair, or the first of it if it is the last one of an odd number. */
static inline void
store(DpermPair pair, bool last, double *out)
{
	if (last)
		*out = pair[0];
	else
		dperm_put_pair(pair, out);
}

/*
 * A block. Inlined, so that the compiler knows the loss and which pointers are
 * NULL. An odd last margin is paired with none, which adds nothing. By weights,
 * losses, slopes and curves are multiplied; without them, one logarithm is enough.
 */
static inline double
sum_pairs(Pair pair, double h, double none, int count, double *margins, double *curves,
		  const double *weights)
{
	DpermPair	total = dperm_both(0);
	DpermPair	product = dperm_both(1);

	for (int i = 0; i < count; i += 2)
	{
		bool		last = i + 1 == count;
		DpermPair	z = last ? (DpermPair) {margins[i], none} : dperm_pair_at(margins + i);
		Sums		sums = {dperm_both(0), dperm_both(1)};
		DpermPair	curve = dperm_both(0);
		DpermPair	slope = pair(h, z, &sums, curves ? &curve : NULL);

		if (weights)
		{
			DpermPair	weight = last ? (DpermPair) {weights[i], 0} : dperm_pair_at(weights + i);

			total += weight * (sums.value + log_of(sums.product));
			slope *= weight;
			curve *= weight;
		}
		else
		{
			total += sums.value;
			product *= sums.product;
		}
		store(slope, last, margins + i);
		if (curves)
			store(curve, last, curves + i);
	}
	return total[0] + total[1] + log(product[0]) + log(product[1]);
}

/* The same with a separate loop for each case. */
static inline double
block_of(Pair pair, double h, double none, int count, double *margins, double *curves,
		 const double *weights)
{
	if (weights)
		return curves ? sum_pairs(pair, h, none, count, margins, curves, weights) :
						sum_pairs(pair, h, none, count, margins, NULL, weights);
	return curves ? sum_pairs(pair, h, none, count, margins, curves, NULL) :
					sum_pairs(pair, h, none, count, margins, NULL, NULL);
}

/* What is left of log 2 beside the nearest double. */
#define LOG_TWO_LOW ((DpermExtended) 0x1.abc9e3b39803fp-56 + 0x1.7b57a079a1934p-111)

/*
 * A power of two times the exponential of the remainder r, computed from r/32 by
 * Taylor's series and squaring. One is subtracted until the end, so that squaring
 * keeps the relative error small. For the terms from the eighth on, below 2^-60
 * times the first, doubles are enough.
 */
DpermExtended
dperm_loss_exp(DpermExtended x)
{
	static const DpermExtended factors[] = {
		1, (DpermExtended) 1 / 2, (DpermExtended) 1 / 6, (DpermExtended) 1 / 24,
		(DpermExtended) 1 / 120, (DpermExtended) 1 / 720, (DpermExtended) 1 / 5040
	};
	double		power = rint((double) x / LOG_TWO);
	DpermExtended r = (x - power * (DpermExtended) LOG_TWO - power * LOG_TWO_LOW) * 0x1p-5;
	double		rest = 0;
	DpermExtended less_one;

	for (int k = 13; k > 7; k--)
		rest = (1 + rest) * (double) r / k;
	less_one = factors[6] * (1 + (DpermExtended) rest);
	for (int k = 5; k >= 0; k--)
		less_one = less_one * r + factors[k];
	less_one *= r;
	for (int i = 0; i < 5; i++)
		less_one *= 2 + less_one;
	return (1 + less_one) * ldexp(1, (int) power);
}

/* Arguments beyond which a slope is as at infinity, up to 2 e^-700; and as doubles. */
#define FLAT 700
#define LEAST (-708)

/*
 * The logistic loss, log(1 + exp(-z)). The logarithm is taken of a product: the
 * factors 1 + e are between 1 and 2, and a block has too few of them to overflow.
 */
static inline DpermPair
logistic_pair(double h, DpermPair z, Sums *sums, DpermPair *curve)
{
	DpermInts	negative = z < 0;
	DpermPair	away = (DpermPair) ((DpermInts) z | INT64_MIN);	/* -|z| */
	DpermPair	e = dperm_exp(at_least(away, LEAST));
	DpermPair	sum = 1 + e;

	(void) h;
	sums->product = sum;
	sums->value = dperm_choose(negative, -z, dperm_both(0));
	if (curve)
		*curve = at_most(e / (sum * sum), 0.25);
	return dperm_choose(negative, dperm_both(-1), -e) / sum;
}

/* -1/(1 + e^z). */
static DpermExtended
logistic_slope(double h, DpermExtended z)
{
	DpermExtended e;

	(void) h;
	if (!(z < FLAT))
		return 0;
	if (z < -FLAT)
		return -1;
	e = dperm_loss_exp(z > 0 ? -z : z);
	return -(z > 0 ? e : 1) / (1 + e);
}

/* The curvature is s(1 - s), for slope s. */
static double
logistic_share(DpermLoss loss, double rest, double *change)
{
	(void) loss;
	*change = 4 * (2 * rest - 1);
	return 4 * rest * (1 - rest);
}

/*
 * The place q = (1-z)/h on the bend of a loss that is 0 beyond it and 1 - z
 * before it: from -1 to 1, and these are for what is beyond and before.
 */
static DpermExtended
place_on_bend(double h, DpermExtended z)
{
	DpermExtended q = (1 - z) / h;

	if (!(q > -1))
		return -1;
	return q < 1 ? q : 1;
}

/*
 * The paper's Huber loss: a parabola of width 2h between 0 and 1 - z, plus the
 * linear part before it.
 */
static inline DpermPair
huber_pair(double h, DpermPair z, Sums *sums, DpermPair *curve)
{
	double		first = 1 - h;
	double		last = 1 + h;
	DpermPair	share = at_most(at_least((last - z) / (2 * h), 0), 1);

	sums->value = h * share * share + at_least(first - z, 0);
	if (curve)
		*curve = dperm_choose((z < first) | (z > last), dperm_both(0), dperm_both(1 / (2 * h)));
	return -share;
}

/* -(1 + q)/2. */
static DpermExtended
huber_slope(double h, DpermExtended z)
{
	return (1 + place_on_bend(h, z)) * -0.5;
}

/*
 * The paper's l_s: a quartic between 0 and 1 - z, twice differentiable, plus the
 * linear part before it.
 */
static inline DpermPair
smooth_hinge_pair(double h, DpermPair z, Sums *sums, DpermPair *curve)
{
	DpermPair	q = at_most(at_least((1 - z) / h, -1), 1);
	DpermPair	slope = (q * q - 3) * q * 0.25 - 0.5;

	sums->value =
		h * at_least(((q * q * (-1.0 / 16) + 3.0 / 8) * q + 0.5) * q + 3.0 / 16, 0) +
		at_least((1 - h) - z, 0);
	if (curve)
		*curve = 0.75 * at_least(1 - q * q, 0) / h;
	return at_most(at_least(slope, -1), 0);
}

/* (q^3 - 3 q)/4 - 1/2. */
static DpermExtended
smooth_hinge_slope(double h, DpermExtended z)
{
	DpermExtended q = place_on_bend(h, z);

	return q * (q * q - 3) * 0.25 - 0.5;
}

/*
 * The curvature is c (1 - q^2), where the slope is 1/2 + (3 q - q^3)/4. With q
 * = 2 sin(x) that is (1 + sin(3 x))/2; x is computed from its end, so that 1 -
 * q keeps its relative precision there. Both ends are alike.
 */
static double
smooth_hinge_share(DpermLoss loss, double rest, double *change)
{
	double		angle = asin(sqrt(fmin(rest, 1 - rest))) * 2 / 3;
	double		half = sin(angle / 2);
	double		away = 2 * half * half + sqrt(3) * sin(angle);	/* 1 - |q| */
	double		share = away * (2 - away);

	(void) loss;
	*change = (rest < 0.5 ? -8 : 8) * (1 - away) / (3 * share);
	return share;
}

/*
 * h log cosh(r/h) of a residual r, without the factor h: a parabola near 0, and
 * |r| - h log 2 far from it. With e = exp(-2|r|/h), in (0, 1], nothing overflows.
 */
static inline DpermPair
log_cosh_pair(double h, DpermPair r, Sums *sums, DpermPair *curve)
{
	DpermPair	away = (DpermPair) ((DpermInts) r | INT64_MIN) / h;	/* -|r/h| */
	DpermPair	e = dperm_exp(at_least(2 * away, LEAST));
	DpermPair	sum = 1 + e;
	DpermPair	size = (1 - e) / sum;

	sums->product = sum;
	sums->value = -LOG_TWO - away;
	if (curve)
		*curve = at_most(4 * e / (sum * sum), 1) / h;
	return dperm_choose(r < 0, -size, size);
}

/* The hyperbolic tangent of r/h, 1 - 2/(1 + e^(2r/h)). */
static DpermExtended
log_cosh_slope(double h, DpermExtended r)
{
	return 1 + 2 * logistic_slope(h, 2 * r / h);
}

/* The curvature is 1 - s^2 of its largest, for slope s. */
static double
log_cosh_share(DpermLoss loss, double rest, double *change)
{
	(void) loss;
	*change = -2 * (1 - rest);
	return rest * (2 - rest);
}

/*
 * Softmax: the negative logarithm of the probability of a row's class, where the
 * probabilities are proportional to the exponentials of its outputs. With
 * probabilities p and class y the slope is p - e_y, and the curvature diag(p) - pp'.
 * Both can be computed from the slope without cancellation, because it holds 1 - p_y
 * itself.
 */

/* The index of a label's class, or -1. */
static inline int
class_of(int classes, double label)
{
	return label >= 1 && label <= classes ? (int) label - 1 : -1;
}

/*
 * A row: its loss is returned, and slopes replace its outputs, both times
 * weight. Where p_y is large, 1 - p_y is the sum of the others.
 */
static inline double
softmax_row(int classes, double *z, int own, double weight)
{
	double		at_own = z[own];
	double		most = z[0];
	double		sum;
	double		likely;
	DpermPair	sums = dperm_both(0);
	DpermPair	others = dperm_both(0);

	for (int k = 1; k < classes; k++)
		most = z[k] > most ? z[k] : most;
	for (int k = 0; k < classes; k += 2)
	{
		bool		last = k + 1 == classes;
		DpermPair	away = (last ? dperm_both(z[k]) : dperm_pair_at(z + k)) - most;
		DpermPair	e = dperm_exp(at_least(away, LEAST));

		store(e, last, z + k);
		sums += last ? (DpermPair) {e[0], 0} : e;
	}
	sum = sums[0] + sums[1];
	likely = z[own] / sum;
	z[own] = 0;
	for (int k = 0; k < classes; k += 2)
	{
		bool		last = k + 1 == classes;
		DpermPair	share = (last ? (DpermPair) {z[k], 0} : dperm_pair_at(z + k)) / sum;

		store(share, last, z + k);
		others += share;
	}
	z[own] = likely > 0.5 ? -(others[0] + others[1]) : likely - 1;
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

		outputs[k] = away > -FLAT ? dperm_loss_exp(away) : 0;
		sum += outputs[k];
	}
	for (int k = 0; k < classes; k++)
		outputs[k] = own < 0 ? 0 : outputs[k] / sum;
	if (own >= 0)
		outputs[own] -= 1;
}

/* Traces of curvatures, and their terms by class. */
void
dperm_loss_curvatures(int classes, int count, const double *slopes, const double *labels,
					  const double *weights, double *traces, double *by_class)
{
	for (int i = 0; i < count; i++, slopes += classes)
	{
		int			own = class_of(classes, labels[i]);
		double		weight = weights ? weights[i] : 1;
		double		trace = 0;

		traces[i] = 0;
		if (own < 0 || !(weight > 0))
			continue;
		for (int k = 0; k < classes; k++)
		{
			/* the class's probability times the weight, and what is left of that */
			double		likely = k == own ? weight + slopes[k] : slopes[k];
			double		others = k == own ? -slopes[k] : weight - slopes[k];
			double		curvature = likely * others / weight;

			by_class[k] += curvature;
			trace += curvature;
		}
		traces[i] = fmax(trace, 0);
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
 * The bounds of a loss. One of two classes has one slope, of one sign, and so one
 * direction. At 0 those with a bend are 1 for any h.
 */
DpermLossBounds
dperm_loss_bounds(DpermLoss loss)
{
	double		classes = loss.classes;
	DpermLossBounds bounds = {
		.reach = 1,
		.norm = 1,
		.rank = 1,
		.directions = 1,
		.start = 1,
		.slope_rounding = 4,
		.typical_norm = 20
	};

	switch (loss.kind)
	{
		case DPERM_LOSS_LOGISTIC:
			bounds.curvature = 0.25;
			bounds.start = LOG_TWO;
			break;
		case DPERM_LOSS_HUBER:
			bounds.curvature = 0.5 / loss.h;
			break;
		case DPERM_LOSS_SMOOTH_HINGE:
			bounds.curvature = 0.75 / loss.h;
			break;
		case DPERM_LOSS_LOG_COSH:
			/* a slope has either sign; labels, and residuals at weights 0, are in [-1, 1] */
			bounds.curvature = 1 / loss.h;
			bounds.directions = 2;
			bounds.start = 1 + loss.h * (log1p(exp(-2 * (1 / loss.h))) - LOG_TWO);
			bounds.slope_rounding = 8;
			bounds.typical_norm = 5;
			break;
		case DPERM_LOSS_SOFTMAX:
			/*
			 * the slope has 1 - p_y in one place, and the same in all others together:
			 * it is an average of e_k - e_y over the other classes k
			 */
			return (DpermLossBounds) {
				.reach = 2,
				.norm = 0x1.6a09e667f3bcdp0,	/* the root of 2, rounded up */
				.curvature = 0.5,
				.trace = 1 - 1 / classes,
				.rank = loss.classes - 1,
				.directions = loss.classes - 1,
				.start = log(classes) * (1 + 0x1p-50),
				.slope_rounding = 2 * classes + 16,
				.typical_norm = 20 * sqrt(classes / 2)
			};
	}
	bounds.trace = bounds.curvature;
	return bounds;
}

static const DpermLossEntry losses[DPERM_LOSS_COUNT] = {
	[DPERM_LOSS_LOGISTIC] = {
		.learner = DPERM_LEARNER_LOGREG,
		.label = DPERM_LABEL_TWO,
		.slope = logistic_slope,
		.share = logistic_share
	},
	[DPERM_LOSS_HUBER] = {
		.learner = DPERM_LEARNER_SVM,
		.label = DPERM_LABEL_TWO,
		.h_min = DPERM_H_MIN,
		.slope = huber_slope
	},
	[DPERM_LOSS_SMOOTH_HINGE] = {
		.learner = DPERM_LEARNER_SVM,
		.label = DPERM_LABEL_TWO,
		.h_min = DPERM_H_MIN,
		.slope = smooth_hinge_slope,
		.share = smooth_hinge_share
	},
	[DPERM_LOSS_LOG_COSH] = {
		.learner = DPERM_LEARNER_LINREG,
		.label = DPERM_LABEL_NUMBER,
		.h_min = DPERM_H_MIN_LOG_COSH,
		.slope = log_cosh_slope,
		.share = log_cosh_share
	},
	[DPERM_LOSS_SOFTMAX] = {
		.learner = DPERM_LEARNER_LOGREG,
		.label = DPERM_LABEL_SEVERAL,
		.share = softmax_share
	}
};

DPERM_WORDS(dperm_loss_name, "logistic", "huber", "smooth_hinge", "log_cosh", "softmax");
DPERM_WORDS(dperm_loss_learner_name, "logistic regression", "support vector machine",
			"linear regression");

/* The entry of a kind. */
const DpermLossEntry *
dperm_loss_entry(int kind)
{
	return kind >= 0 && kind < DPERM_LOSS_COUNT ? &losses[kind] : NULL;
}

/* Multiply numbers by others, two at a time: this is done for every row of every pass. */
static void
multiply(int count, double *x, const double *by)
{
	int			i = 0;

	for (; i + 2 <= count; i += 2)
		dperm_put_pair(dperm_pair_at(x + i) * dperm_pair_at(by + i), x + i);
	if (i < count)
		x[i] *= by[i];
}

/* A block of arguments of a loss of one output. */
static double
block_of_one(DpermLoss loss, int count, double *z, double *curves, const double *weights)
{
	switch (loss.kind)
	{
		case DPERM_LOSS_LOGISTIC:
			return block_of(logistic_pair, 0, INFINITY, count, z, curves, weights);
		case DPERM_LOSS_HUBER:
			return block_of(huber_pair, loss.h, INFINITY, count, z, curves, weights);
		case DPERM_LOSS_SMOOTH_HINGE:
			return block_of(smooth_hinge_pair, loss.h, INFINITY, count, z, curves, weights);
		default:
			return loss.h * block_of(log_cosh_pair, loss.h, 0, count, z, curves, weights);
	}
}

/*
 * Losses, slopes and curvatures of a block. Labels have loops of their own, so
 * that those of the losses know nothing of them. A number without a label is 0 away
 * from it, and moves with nothing.
 */
double
dperm_loss_block(DpermLoss loss, int count, double *outputs, const double *labels, double *curves,
				 const double *weights)
{
	double		slopes[DPERM_LOSS_BLOCK];
	const double *by_output = labels;
	double		value;

	if (loss.kind == DPERM_LOSS_SOFTMAX)
		return softmax_block(loss.classes, count, outputs, labels, weights);
	if (labels == NULL)
		return block_of_one(loss, count, outputs, curves, weights);
	if (losses[loss.kind].label == DPERM_LABEL_TWO)
		multiply(count, outputs, labels);
	else
	{
		for (int i = 0; i < count; i++)
		{
			bool		there = dperm_label_kind_has(DPERM_LABEL_NUMBER, labels[i]);

			slopes[i] = there;
			outputs[i] = there ? outputs[i] - labels[i] : 0;
		}
		by_output = slopes;
	}
	value = block_of_one(loss, count, outputs, curves, weights);
	multiply(count, outputs, by_output);
	if (curves)
	{
		multiply(count, curves, by_output);
		multiply(count, curves, by_output);
	}
	return value;
}

/* The slopes of a row in extended precision. */
void
dperm_loss_slopes(DpermLoss loss, DpermExtended *outputs, double label)
{
	const DpermLossEntry *entry = &losses[loss.kind];

	if (loss.kind == DPERM_LOSS_SOFTMAX)
		softmax_slopes(loss.classes, outputs, label);
	else if (!dperm_label_kind_has(entry->label, label))
		*outputs = 0;
	else if (entry->label == DPERM_LABEL_TWO)
		*outputs = label * entry->slope(loss.h, label * *outputs);
	else
		*outputs = entry->slope(loss.h, *outputs - label);
}

/* What is wrong with h or classes, or NULL. */
const char *
dperm_loss_fault(DpermLoss loss)
{
	const DpermLossEntry *entry = dperm_loss_entry((int) loss.kind);

	if (entry == NULL)
		return "the loss is unknown";
	if (entry->label != DPERM_LABEL_SEVERAL && loss.classes != 0)
		return "this loss has no classes";
	if (entry->label == DPERM_LABEL_SEVERAL &&
		(loss.classes < DPERM_CLASSES_MIN || loss.classes > DPERM_CLASSES_MAX))
		return "the number of classes must be between 3 and 128";
	if (entry->h_min == 0)
		return loss.h == 0 ? NULL : "this loss has no h";
	if (loss.h >= entry->h_min && loss.h <= DPERM_H_MAX)
		return NULL;
	return entry->h_min == DPERM_H_MIN ? "h must be between 0.01 and 1" :
		"h must be between 0.02 and 1";
}

/* The default loss of a learner. */
DpermLoss
dperm_loss_default(DpermLearner learner)
{
	static const DpermLoss defaults[DPERM_LEARNER_COUNT] = {
		[DPERM_LEARNER_LOGREG] = {DPERM_LOSS_LOGISTIC, 0, 0},
		[DPERM_LEARNER_SVM] = {DPERM_LOSS_HUBER, 0.5, 0},
		[DPERM_LEARNER_LINREG] = {DPERM_LOSS_LOG_COSH, 0.25, 0}
	};

	return defaults[learner];
}
