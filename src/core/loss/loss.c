/*
 * loss.c: the losses of one output, and the table of all of them.
 */
#include "core/loss/loss.h"

#include <math.h>
#include <string.h>

#include "core/base/vector.h"

#define LOG_TWO 0x1.62e42fefa39efp-1

/*
 * Two margins at a time, without branches: margins are practically random, and
 * a mispredicted branch costs more than all the arithmetic. Sums go
 * to Sums.
 */
typedef struct Sums
{
	DpermPair	value;
	DpermPair	product;		/* its logarithm is part of the value */
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
 * A block. Inlined, so that the compiler knows the loss and whether curves is
 * NULL. An odd last margin is paired with none, which adds nothing.
 */
static inline double
plain_pairs(Pair pair, double h, double none, int count, double *margins, double *curves)
{
	Sums		sums = {dperm_both(0), dperm_both(1)};
	DpermPair	curve = dperm_both(0);
	int			i = 0;

	for (; i + 2 <= count; i += 2)
	{
		dperm_put_pair(pair(h, dperm_pair_at(margins + i), &sums, curves ? &curve : NULL),
					   margins + i);
		if (curves)
			dperm_put_pair(curve, curves + i);
	}
	if (i < count)
	{
		DpermPair	last = {margins[i], none};

		margins[i] = pair(h, last, &sums, curves ? &curve : NULL)[0];
		if (curves)
			curves[i] = curve[0];
	}
	return sums.value[0] + sums.value[1] + log(sums.product[0]) + log(sums.product[1]);
}

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

/*
 * The same as plain_pairs() for margins that have weights, by which losses,
 * slopes and curves are multiplied.
 */
static inline double
weighted_pairs(Pair pair, double h, double none, int count, double *margins, double *curves,
			   const double *weights)
{
	DpermPair	total = dperm_both(0);

	for (int i = 0; i < count; i += 2)
	{
		bool		last = i + 1 == count;
		DpermPair	z = last ? (DpermPair) {margins[i], none} : dperm_pair_at(margins + i);
		DpermPair	weight = last ? (DpermPair) {weights[i], 0} : dperm_pair_at(weights + i);
		Sums		sums = {dperm_both(0), dperm_both(1)};
		DpermPair	curve = dperm_both(0);
		DpermPair	slope = weight * pair(h, z, &sums, curves ? &curve : NULL);

		total += weight * (sums.value + log_of(sums.product));
		curve *= weight;
		if (last)
		{
			margins[i] = slope[0];
			if (curves)
				curves[i] = curve[0];
			break;
		}
		dperm_put_pair(slope, margins + i);
		if (curves)
			dperm_put_pair(curve, curves + i);
	}
	return total[0] + total[1];
}

/* The block function of a loss, with a separate loop for each case. */
static inline double
block_of(Pair pair, double h, double none, int count, double *margins, double *curves,
		 const double *weights)
{
	if (weights)
		return curves ? weighted_pairs(pair, h, none, count, margins, curves, weights) :
			weighted_pairs(pair, h, none, count, margins, NULL, weights);
	return curves ? plain_pairs(pair, h, none, count, margins, curves) :
					plain_pairs(pair, h, none, count, margins, NULL);
}

/*
 * The bounds of a loss of two classes: one slope, of one sign, and so one
 * direction.
 */
static inline DpermLossBounds
bounds_of_margin(double curvature, double start)
{
	return (DpermLossBounds) {
		.reach = 1,
		.norm = 1,
		.curvature = curvature,
		.trace = curvature,
		.rank = 1,
		.directions = 1,
		.lines = 1,
		.start = start,
		.slope_rounding = 4,
		.typical_norm = 20
	};
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

/* Arguments beyond which a slope is as at infinity, up to 2 e^-700. */
#define FLAT 700

/*
 * The logistic loss, log(1 + exp(-z)). The logarithm is taken of a product: the
 * factors 1 + e are between 1 and 2, and a block has too few of them to overflow.
 */
static inline DpermPair
logistic_pair(double h, DpermPair z, Sums *sums, DpermPair *curve)
{
	DpermInts	negative = z < 0;
	DpermPair	away = (DpermPair) ((DpermInts) z | INT64_MIN);	/* -|z| */
	DpermPair	e = dperm_exp(at_least(away, -708));	/* practically zero beyond */
	DpermPair	sum = 1 + e;

	(void) h;
	sums->product *= sum;
	sums->value -= dperm_choose(negative, z, dperm_both(0));
	if (curve)
		*curve = at_most(e / (sum * sum), 0.25);
	return dperm_choose(negative, dperm_both(-1), -e) / sum;
}

/* A block of margins. */
static double
logistic_block(double h, int count, double *margins, double *curves, const double *weights)
{
	return block_of(logistic_pair, h, INFINITY, count, margins, curves, weights);
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

/* At 0 the loss is log 2. */
static DpermLossBounds
logistic_bounds(DpermLoss loss)
{
	(void) loss;
	return bounds_of_margin(0.25, 0x1.62e42fefa39efp-1);
}

static const DpermLossEntry logistic = {
	.name = "logistic",
	.learner = DPERM_LEARNER_LOGREG,
	.label = DPERM_LABEL_TWO,
	.probability = true,
	.bounds = logistic_bounds,
	.block = logistic_block,
	.slope = logistic_slope,
	.share = logistic_share
};

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

	sums->value += h * share * share + at_least(first - z, 0);
	if (curve)
		*curve = dperm_choose((z < first) | (z > last), dperm_both(0), dperm_both(1 / (2 * h)));
	return -share;
}

/* A block of margins. */
static double
huber_block(double h, int count, double *margins, double *curves, const double *weights)
{
	return block_of(huber_pair, h, INFINITY, count, margins, curves, weights);
}

/* -(1 + q)/2. */
static DpermExtended
huber_slope(double h, DpermExtended z)
{
	return (1 + place_on_bend(h, z)) * -0.5;
}

/* On the bend the curvature is at most 0.5 / h; at 0 the loss is 1 for any h. */
static DpermLossBounds
huber_bounds(DpermLoss loss)
{
	return bounds_of_margin(0.5 / loss.h, 1);
}

static const DpermLossEntry huber = {
	.name = "huber",
	.learner = DPERM_LEARNER_SVM,
	.label = DPERM_LABEL_TWO,
	.h_min = DPERM_H_MIN,
	.h_range = "h must be between 0.01 and 1",
	.flat = true,
	.bounds = huber_bounds,
	.block = huber_block,
	.slope = huber_slope,
};

/*
 * The paper's l_s: a quartic between 0 and 1 - z, twice differentiable, plus the
 * linear part before it.
 */
static inline DpermPair
smooth_hinge_pair(double h, DpermPair z, Sums *sums, DpermPair *curve)
{
	DpermPair	q = at_most(at_least((1 - z) / h, -1), 1);
	DpermPair	slope = (q * q - 3) * q * 0.25 - 0.5;

	sums->value +=
		h * at_least(((q * q * (-1.0 / 16) + 3.0 / 8) * q + 0.5) * q + 3.0 / 16, 0) +
		at_least((1 - h) - z, 0);
	if (curve)
		*curve = 0.75 * at_least(1 - q * q, 0) / h;
	return at_most(at_least(slope, -1), 0);
}

/* A block of margins. */
static double
smooth_hinge_block(double h, int count, double *margins, double *curves, const double *weights)
{
	return block_of(smooth_hinge_pair, h, INFINITY, count, margins, curves, weights);
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

/* On the bend the curvature is at most 0.75 / h; at 0 the loss is 1 for any h. */
static DpermLossBounds
smooth_hinge_bounds(DpermLoss loss)
{
	return bounds_of_margin(0.75 / loss.h, 1);
}

static const DpermLossEntry smooth_hinge = {
	.name = "smooth_hinge",
	.learner = DPERM_LEARNER_SVM,
	.label = DPERM_LABEL_TWO,
	.h_min = DPERM_H_MIN,
	.h_range = "h must be between 0.01 and 1",
	.flat = true,
	.bounds = smooth_hinge_bounds,
	.block = smooth_hinge_block,
	.slope = smooth_hinge_slope,
	.share = smooth_hinge_share
};

/*
 * h log cosh(r/h) of a residual r, without the factor h: a parabola near 0, and
 * |r| - h log 2 far from it. With e = exp(-2|r|/h), in (0, 1], nothing overflows.
 */
static inline DpermPair
log_cosh_pair(double h, DpermPair r, Sums *sums, DpermPair *curve)
{
	DpermPair	away = (DpermPair) ((DpermInts) r | INT64_MIN) / h;	/* -|r/h| */
	DpermPair	e = dperm_exp(at_least(2 * away, -708));	/* practically zero beyond */
	DpermPair	sum = 1 + e;
	DpermPair	size = (1 - e) / sum;

	sums->product *= sum;
	sums->value -= away + LOG_TWO;
	if (curve)
		*curve = at_most(4 * e / (sum * sum), 1) / h;
	return dperm_choose(r < 0, -size, size);
}

/* A block of residuals. */
static double
log_cosh_block(double h, int count, double *residuals, double *curves, const double *weights)
{
	return h * block_of(log_cosh_pair, h, 0, count, residuals, curves, weights);
}

/* The hyperbolic tangent of r/h. */
static DpermExtended
log_cosh_slope(double h, DpermExtended r)
{
	double		sign = r < 0 ? -1 : 1;
	DpermExtended x = sign * 2 * r / h;
	DpermExtended e;

	if (!(x < FLAT))
		return sign;
	e = dperm_loss_exp(-x);
	return sign * (1 - e) / (1 + e);
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
 * A slope has either sign: two directions. Labels are between -1 and 1, and so
 * are the residuals at weights 0.
 */
static DpermLossBounds
log_cosh_bounds(DpermLoss loss)
{
	return (DpermLossBounds) {
		.reach = 1,
		.norm = 1,
		.curvature = 1 / loss.h,
		.trace = 1 / loss.h,
		.rank = 1,
		.directions = 2,
		.lines = 1,
		.start = 1 + loss.h * (log1p(exp(-2 * (1 / loss.h))) - LOG_TWO),
		.slope_rounding = 8,
		.typical_norm = 5
	};
}

static const DpermLossEntry log_cosh = {
	.name = "log_cosh",
	.learner = DPERM_LEARNER_LINREG,
	.label = DPERM_LABEL_NUMBER,
	.h_min = DPERM_H_MIN_LOG_COSH,
	.h_range = "h must be between 0.02 and 1",
	.bounds = log_cosh_bounds,
	.block = log_cosh_block,
	.slope = log_cosh_slope,
	.share = log_cosh_share
};

static const DpermLossEntry *const losses[DPERM_LOSS_COUNT] = {
	[DPERM_LOSS_LOGISTIC] = &logistic,
	[DPERM_LOSS_HUBER] = &huber,
	[DPERM_LOSS_SMOOTH_HINGE] = &smooth_hinge,
	[DPERM_LOSS_LOG_COSH] = &log_cosh,
	[DPERM_LOSS_SOFTMAX] = &dperm_softmax
};

/* The learners: their names and default losses. */
static const struct
{
	const char *name;
	DpermLoss	loss;
}			learners[DPERM_LEARNER_COUNT] = {
	[DPERM_LEARNER_LOGREG] = {"logistic regression", {DPERM_LOSS_LOGISTIC, 0, 0}},
	[DPERM_LEARNER_SVM] = {"support vector machine", {DPERM_LOSS_HUBER, DPERM_H_DEFAULT, 0}},
	[DPERM_LEARNER_LINREG] = {"linear regression",
	{DPERM_LOSS_LOG_COSH, DPERM_H_DEFAULT_LOG_COSH, 0}}
};

/* The entry of a kind. */
const DpermLossEntry *
dperm_loss_entry(int kind)
{
	return kind >= 0 && kind < DPERM_LOSS_COUNT ? losses[kind] : NULL;
}

/* The argument of a loss: the margin, or the residual; 0 without a label. */
static inline double
argument_of(DpermLabelKind kind, double output, double label)
{
	return kind == DPERM_LABEL_TWO ? output * label :
		dperm_label_kind_has(kind, label) ? output - label : 0;
}

/* The derivative of the argument by the output; 0 without a label. */
static inline double
argument_slope(DpermLabelKind kind, double label)
{
	return kind == DPERM_LABEL_TWO ? label : dperm_label_kind_has(kind, label);
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

/*
 * Losses, slopes and curvatures of a block. Labels have loops of their own, so
 * that those of the losses know nothing of them.
 */
double
dperm_loss_block(DpermLoss loss, int count, double *outputs, const double *labels, double *curves,
				 const double *weights)
{
	const DpermLossEntry *entry = losses[loss.kind];
	double		slopes[DPERM_LOSS_BLOCK];
	const double *by_output = labels;
	double		value;

	if (entry->several)
		return entry->several->block(loss.classes, count, outputs, labels, weights);
	if (labels == NULL)
		return entry->block(loss.h, count, outputs, curves, weights);
	if (entry->label == DPERM_LABEL_TWO)
		multiply(count, outputs, labels);
	else
	{
		for (int i = 0; i < count; i++)
		{
			slopes[i] = argument_slope(entry->label, labels[i]);
			outputs[i] = argument_of(entry->label, outputs[i], labels[i]);
		}
		by_output = slopes;
	}
	value = entry->block(loss.h, count, outputs, curves, weights);
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
	const DpermLossEntry *entry = losses[loss.kind];

	if (entry->several)
		entry->several->slopes(loss.classes, outputs, label);
	else if (!dperm_label_kind_has(entry->label, label))
		*outputs = 0;
	else if (entry->label == DPERM_LABEL_TWO)
		*outputs = label * entry->slope(loss.h, label * *outputs);
	else
		*outputs = entry->slope(loss.h, *outputs - label);
}

/* The bounds of a loss. */
DpermLossBounds
dperm_loss_bounds(DpermLoss loss)
{
	return losses[loss.kind]->bounds(loss);
}

/* The SQL name of a loss. */
const char *
dperm_loss_name(int kind)
{
	return losses[kind]->name;
}

/* What is wrong with h or classes, or NULL. */
const char *
dperm_loss_fault(DpermLoss loss)
{
	const DpermLossEntry *entry = dperm_loss_entry((int) loss.kind);

	if (entry == NULL)
		return "the loss is unknown";
	if (entry->several == NULL && loss.classes != 0)
		return "this loss has no classes";
	if (entry->several && (loss.classes < DPERM_CLASSES_MIN || loss.classes > DPERM_CLASSES_MAX))
		return "the number of classes must be between 3 and 128";
	if (entry->h_min == 0)
		return loss.h == 0 ? NULL : "this loss has no h";
	return loss.h >= entry->h_min && loss.h <= DPERM_H_MAX ? NULL : entry->h_range;
}

/* Look up a loss by its SQL name; false if there is none. */
bool
dperm_loss_parse(const char *name, DpermLossKind *kind)
{
	for (int i = 0; i < DPERM_LOSS_COUNT; i++)
		if (strcmp(losses[i]->name, name) == 0)
		{
			*kind = (DpermLossKind) i;
			return true;
		}
	return false;
}

/* The default loss of a learner. */
DpermLoss
dperm_loss_default(DpermLearner learner)
{
	return learners[learner].loss;
}

/* The name of a learner in prose. */
const char *
dperm_loss_learner_name(DpermLearner learner)
{
	return learners[learner].name;
}
