/*
 * counts.c: counts with exact noise, and metrics computed from them.
 */
#include "core/privacy/counts.h"

#include <math.h>

#include "core/privacy/draw.h"

#define BUDGET_UNIT 0x1p20
#define PI 3.14159265358979323846

/* The bin of a decision. Any value has one, even NaN. */
static int
bin_of(double decision, int bins)
{
	double		place = isnan(decision) ? 0 : floor((atan(decision) / PI + 0.5) * bins);

	return (int) fmax(0, fmin(place, bins - 1));
}

/*
 * The cell of a decision: in a histogram by class, or in the confusion matrix.
 */
int
dperm_counts_cell(int classes, double decision, double label, int bins)
{
	bool		positive = classes > 0 ? label == 1 : label > 0;

	if (bins > 0)
		return (positive ? 0 : bins) + bin_of(decision, bins);
	if (classes > 0)
		return ((int) label - 1) * classes + (int) decision - 1;
	if (decision > 0)
		return positive ? DPERM_TRUE_POSITIVE : DPERM_FALSE_POSITIVE;
	return positive ? DPERM_FALSE_NEGATIVE : DPERM_TRUE_NEGATIVE;
}

/* Add noise of scale 2 parts/epsilon. */
void
dperm_counts_add_noise(DpermEntropy *e, uint64_t budget, uint64_t parts, int64_t *counts, int count)
{
	/* 2/epsilon = 2^21/budget, as a fraction */
	for (int i = 0; budget > 0 && i < count; i++)
		counts[i] +=
			dperm_draw_discrete_laplace_ratio(e, (int64_t) (parts << 21), (int64_t) budget);
}

/*
 * epsilon/(2 parts): minus the logarithm of the ratio q of neighbouring
 * probabilities.
 */
static double
decay(uint64_t budget, uint64_t parts)
{
	return (double) budget / BUDGET_UNIT / 2 / (double) parts;
}

/*
 * The variance of the noise: 2q/(1-q)^2 for the discrete Laplace law of ratio
 * q.
 */
double
dperm_counts_variance(uint64_t budget, uint64_t parts)
{
	double		step = decay(budget, parts);
	double		gap = -expm1(-step) * (double) parts;

	return budget == 0 ? 0 : 2 * exp(-step) / (gap * gap);
}

static const char *const metric_names[] = {
	"accuracy", "error", "precision", "recall", "f1", "macro f1"
};

const char *
dperm_counts_metric_name(DpermMetric metric)
{
	return metric_names[metric];
}

/*
 * Every metric is a ratio of two weighted sums of four cells; these are the
 * weights, doubled for F1.
 */
static const double tops[DPERM_METRICS][DPERM_CELLS] = {
	{1, 0, 0, 1}, {0, 1, 1, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}
};
static const double bottoms[DPERM_METRICS][DPERM_CELLS] = {
	{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 0, 1, 0}, {1, 1, 0, 0}, {2, 1, 1, 0}
};

/* Cells of a matrix, joined into four, in whole units. */
typedef struct Four
{
	double		cells[DPERM_CELLS];
	double		joined[DPERM_CELLS];	/* how many cells each was */
} Four;

/*
 * Join the cells of a matrix: a class against all others, or what is right
 * against what is wrong.
 */
static Four
join_cells(DpermMetric metric, int classes, int class, const int64_t *counts, uint64_t parts)
{
	Four		four = {{0}, {0}};

	for (int label = 1; label <= classes; label++)
		for (int decided = 1; decided <= classes; decided++)
		{
			int			place = metric <= DPERM_METRIC_ERROR ?
				(label == decided ? DPERM_TRUE_POSITIVE : DPERM_FALSE_NEGATIVE) :
				2 * (label != class) + (decided != class);

			four.cells[place] += (double) *counts++ / (double) parts;
			four.joined[place]++;
		}
	return four;
}

/* The metric of four cells, each of them at least so much; NaN for 0/0. */
static double
quotient_of(DpermMetric metric, const Four *four, double least)
{
	double		top = 0;
	double		bottom = 0;

	for (int i = 0; i < DPERM_CELLS; i++)
	{
		top += tops[metric][i] * fmax(least, four->cells[i]);
		bottom += bottoms[metric][i] * fmax(least, four->cells[i]);
	}
	return bottom > 0 ? top / bottom : NAN;
}

/*
 * How far a number may be from its mean: the square of so many standard
 * deviations; and what the variance of the noise, whose tails are longer than
 * those of the normal law, is multiplied by to have as many of them.
 */
typedef struct Reach
{
	double		square;
	double		tails;
} Reach;

/* 95 percent: those of the Laplace law are within log(20)/sqrt(2) deviations. */
static const Reach one_metric = {DPERM_NORMAL_QUANTILE * DPERM_NORMAL_QUANTILE, 1.1682};

/*
 * The same for some metrics together: one of them misses with a probability of
 * at most 0.05 over their number. The normal law is beyond z with one of at most
 * exp(-z^2/2), the Laplace law with exp(-z sqrt(2)).
 */
static Reach
reach_together(int count)
{
	double		surprise = log(20.0 * count);

	return (Reach) {2 * surprise, fmax(1, surprise / 4)};
}

/*
 * The interval of a metric, by Fieller: with T the top and B the bottom, it is
 * all R for which T - R B, whose mean is 0 at the true R, is within reach. That
 * is the range between the roots of a R^2 - 2 b R + c; all if the bottom may be
 * zero. Each cell has the variance of its count and that of its noise. One unit
 * is added to every cell, as Agresti and Coull do: a rate of 0 or 1 is not
 * certain either. Returns a, as a share of the squared bottom, and sets *low and
 * *high, which may be beyond 0 and 1; or returns 0.
 */
static double
fieller(DpermMetric metric, const Four *four, double noise_variance, Reach reach, double *low,
		double *high)
{
	double		top = 0,
				bottom = 0,
				a = 0,
				b = 0,
				c = 0,
				root;

	for (int i = 0; i < DPERM_CELLS; i++)
	{
		double		t = tops[metric][i];
		double		u = bottoms[metric][i];
		double		variance = reach.square *
			(fmax(0, four->cells[i]) + 1 + reach.tails * four->joined[i] * noise_variance);

		top += t * (four->cells[i] + 1);
		bottom += u * (four->cells[i] + 1);
		a -= u * u * variance;
		b -= u * t * variance;
		c -= t * t * variance;
	}
	a += bottom * bottom;
	b += bottom * top;
	c += top * top;
	if (!(bottom > 0 && a > 0))
		return 0;
	root = sqrt(fmax(0, b * b - a * c));
	*low = (b - root) / a;
	*high = (b + root) / a;
	return a / (bottom * bottom);
}

/*
 * Below this share, the bottom is too uncertain for the error of a ratio to be
 * like that of a sum.
 */
#define CERTAIN 0.95

/* The sums that the interval of a mean over classes consists of. */
typedef struct MacroSums
{
	double		least;
	double		most;
	double		below;			/* squares */
	double		above;
} MacroSums;

/*
 * Add the F1 of a class. Ratios with a certain bottom are not cut at 0 and 1,
 * so that no bias adds up. The others are within an interval that is right for
 * all of them together, or may be anything.
 */
static void
add_class(int classes, const Four *four, double noise_variance, MacroSums *sums)
{
	double		middle = quotient_of(DPERM_METRIC_F1, four, -INFINITY);
	double		low,
				high;

	if (!isnan(middle) &&
		fieller(DPERM_METRIC_F1, four, noise_variance, one_metric, &low, &high) > CERTAIN)
	{
		sums->least += middle;
		sums->most += middle;
		sums->below += pow(fmax(0, middle - low), 2);
		sums->above += pow(fmax(0, high - middle), 2);
	}
	else if (fieller(DPERM_METRIC_F1, four, noise_variance, reach_together(classes), &low,
					 &high) > 0)
	{
		sums->least += fmin(1, fmax(0, low));
		sums->most += fmax(0, fmin(1, high));
	}
	else
		sums->most++;
}

/*
 * The mean of F1 over the classes that have one. A cell is of two classes at
 * most, so the variance of a sum over classes is at most twice the sum of their
 * variances; distances to the ends of intervals are added as deviations are (Zou
 * and Donner).
 */
static DpermEstimate
macro_f1(int classes, const int64_t *counts, uint64_t parts, double noise_variance)
{
	MacroSums	sums = {0};
	double		sum = 0;
	double		mean,
				low,
				high;
	int			defined = 0;

	for (int i = 1; i <= classes; i++)
	{
		Four		four = join_cells(DPERM_METRIC_F1, classes, i, counts, parts);
		double		value = quotient_of(DPERM_METRIC_F1, &four, 0);

		sum += isnan(value) ? 0 : value;
		defined += !isnan(value);
		add_class(classes, &four, noise_variance, &sums);
	}
	if (defined == 0)
		return (DpermEstimate) {NAN, 0, 1};
	mean = sum / defined;
	low = (sums.least - sqrt(2 * sums.below)) / classes;
	high = (sums.most + sqrt(2 * sums.above)) / classes;
	return (DpermEstimate) {mean, fmax(0, fmin(mean, low)), fmin(1, fmax(mean, high))};
}

/* A metric of noisy counts with its interval. */
DpermEstimate
dperm_counts_metric(DpermMetric metric, int classes, int class, const int64_t *counts,
					uint64_t parts, double noise_variance)
{
	Four		four;
	double		value,
				low,
				high;

	if (metric == DPERM_METRIC_MACRO_F1)
		return macro_f1(classes, counts, parts, noise_variance);
	four = join_cells(metric, classes, class, counts, parts);
	value = quotient_of(metric, &four, 0);
	if (isnan(value) || !(fieller(metric, &four, noise_variance, one_metric, &low, &high) > 0))
		return (DpermEstimate) {value, 0, 1};
	return (DpermEstimate) {value, fmax(0, fmin(value, low)), fmin(1, fmax(value, high))};
}

/* A noisy count with an interval for its noise. */
DpermEstimate
dperm_counts_estimate(int64_t count, uint64_t budget, uint64_t parts)
{
	double		whole = (double) count / (double) parts;
	DpermEstimate result = {whole, whole, whole};
	double		step = decay(budget, parts);
	double		reach;

	if (budget == 0)
		return result;

	/* P(|z| > k) = 2 q^(k+1)/(1+q) <= 0.05 */
	reach = fmax(0, ceil(-log(0.05 * (1 + exp(-step)) / 2) / step - 1));
	result.low -= reach / (double) parts;
	result.high += reach / (double) parts;
	return result;
}
