/*
 * metrics.c: metrics of noisy counts and sums, and their intervals.
 * Plain: what has its noise can be shown.
 */
#include "core/metrics/metrics.h"

#include <math.h>
#include <string.h>

/* What a budget of 1 is counted in (counts.h). */
#define BUDGET_UNIT 0x1p20

/* The 97.5 percent quantile of the normal law. */
#define QUANTILE 1.959963984540054

/* The fewest bins of a histogram, and the most. */
#define BINS_LEAST 4
#define BINS_MOST 120

/*
 * The metrics. One of decisions is a ratio of two weighted sums of four cells;
 * these are the weights, doubled for F1.
 */
static const struct
{
	const char *name;
	double		top[DPERM_CELLS];
	double		bottom[DPERM_CELLS];
}			metrics[] = {
	[DPERM_METRIC_ACCURACY] = {"accuracy", {1, 0, 0, 1}, {1, 1, 1, 1}},
	[DPERM_METRIC_ERROR] = {"error", {0, 1, 1, 0}, {1, 1, 1, 1}},
	[DPERM_METRIC_PRECISION] = {"precision", {1, 0, 0, 0}, {1, 0, 1, 0}},
	[DPERM_METRIC_RECALL] = {"recall", {1, 0, 0, 0}, {1, 1, 0, 0}},
	[DPERM_METRIC_F1] = {"f1", {2, 0, 0, 0}, {2, 1, 1, 0}},
	[DPERM_METRIC_MACRO_F1] = {"macro f1"},
	[DPERM_METRIC_ROWS] = {"labelled"},
	[DPERM_METRIC_ABSOLUTE] = {"mean absolute error"},
	[DPERM_METRIC_SQUARED] = {"root mean square error"},
	[DPERM_METRIC_R2] = {"r2"}
};

const char *
dperm_metrics_name(DpermMetricKind metric)
{
	return metrics[metric].name;
}

/* epsilon/(2 parts): minus the logarithm of the ratio q of neighbouring probabilities. */
static double
decay(uint64_t budget, uint64_t parts)
{
	return (double) budget / BUDGET_UNIT / 2 / (double) parts;
}

/* 2q/(1-q)^2 for the discrete Laplace law of ratio q. */
double
dperm_metrics_variance(DpermCountsNoise noise, uint64_t parts)
{
	double		step = decay(noise.budget, parts);
	double		gap = -expm1(-step) * (double) parts;

	if (noise.sigma > 0)
		return pow((double) noise.sigma / (double) parts, 2);
	return noise.budget == 0 ? 0 : 2 * exp(-step) / (gap * gap);
}

/* A number between 0 and 1, with an interval around it. */
static DpermEstimate
around(double value, double low, double high)
{
	return (DpermEstimate) {value, fmax(0, fmin(value, low)), fmin(1, fmax(value, high))};
}

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
join_cells(DpermMetricKind metric, int classes, int class, const int64_t *counts, uint64_t parts)
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
quotient_of(DpermMetricKind metric, const Four *four, double least)
{
	double		top = 0;
	double		bottom = 0;

	for (int i = 0; i < DPERM_CELLS; i++)
	{
		top += metrics[metric].top[i] * fmax(least, four->cells[i]);
		bottom += metrics[metric].bottom[i] * fmax(least, four->cells[i]);
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
static const Reach one_metric = {QUANTILE * QUANTILE, 1.1682};

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
fieller(DpermMetricKind metric, const Four *four, double noise_variance, Reach reach, double *low,
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
		double		t = metrics[metric].top[i];
		double		u = metrics[metric].bottom[i];
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

/*
 * The mean of F1 over the classes that have one. A cell is of two classes at
 * most, so the variance of a sum over classes is at most twice the sum of their
 * variances; distances to the ends of intervals are added as deviations are (Zou
 * and Donner). Ratios with a certain bottom are not cut at 0 and 1, so that no
 * bias adds up. The others are within an interval that is right for all of them
 * together, or may be anything.
 */
static DpermEstimate
macro_f1(int classes, const int64_t *counts, uint64_t parts, double noise_variance)
{
	double		sum = 0,
				least = 0,
				most = 0,
				below = 0,		/* squares */
				above = 0;
	int			defined = 0;

	for (int i = 1; i <= classes; i++)
	{
		Four		four = join_cells(DPERM_METRIC_F1, classes, i, counts, parts);
		double		value = quotient_of(DPERM_METRIC_F1, &four, 0);
		double		middle = quotient_of(DPERM_METRIC_F1, &four, -INFINITY);
		double		low,
					high;

		sum += isnan(value) ? 0 : value;
		defined += !isnan(value);
		if (!isnan(middle) &&
			fieller(DPERM_METRIC_F1, &four, noise_variance, one_metric, &low, &high) > CERTAIN)
		{
			least += middle;
			most += middle;
			below += pow(fmax(0, middle - low), 2);
			above += pow(fmax(0, high - middle), 2);
		}
		else if (fieller(DPERM_METRIC_F1, &four, noise_variance, reach_together(classes), &low,
						 &high) > 0)
		{
			least += fmin(1, fmax(0, low));
			most += fmax(0, fmin(1, high));
		}
		else
			most++;
	}
	if (defined == 0)
		return (DpermEstimate) {NAN, 0, 1};
	return around(sum / defined, (least - sqrt(2 * below)) / classes,
				  (most + sqrt(2 * above)) / classes);
}

DpermEstimate
dperm_metrics_of_counts(DpermMetricKind metric, int classes, int class, const int64_t *counts,
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
	return around(value, low, high);
}

/* How far noise is from 0 at most, in parts, with 95 percent. */
static double
reach_of(DpermCountsNoise noise, uint64_t parts)
{
	double		step = decay(noise.budget, parts);

	/* 95 percent of the discrete law are within this, as sigma is at least 1 */
	if (noise.sigma > 0)
		return ceil(QUANTILE * (double) noise.sigma);

	/* P(|z| > k) = 2 q^(k+1)/(1+q) <= 0.05 */
	return noise.budget == 0 ? 0 :
		fmax(0, ceil(-log(0.05 * (1 + exp(-step)) / 2) / step - 1));
}

DpermEstimate
dperm_metrics_count(int64_t count, DpermCountsNoise noise, uint64_t parts)
{
	double		whole = (double) count / (double) parts;
	double		reach = reach_of(noise, parts) / (double) parts;

	return (DpermEstimate) {whole, whole - reach, whole + reach};
}

/*
 * The number of bins. The noise of the area grows with the square root of their
 * number, what ties hide falls with its square: their sum is least for a number
 * that grows as the power 2/5 of n epsilon (docs/guarantee.md, "Evaluation").
 * It is even so that one threshold is 0, where predictions change.
 */
int
dperm_metrics_bins(uint64_t budget, int64_t n)
{
	double		wanted =
		budget == 0 ? BINS_MOST : pow((double) n * ((double) budget / BUDGET_UNIT), 0.4);
	int			bins = (int) ceil(fmax(BINS_LEAST, fmin(wanted, BINS_MOST)));

	while (DPERM_COUNTS_FINE % bins != 0 || bins % 2 != 0)
		bins++;
	return bins;
}

/*
 * Counts that are not negative: take the same from each, and from those that
 * fall below zero no more than they have.
 */
void
dperm_metrics_settle(const int64_t *counts, int bins, uint64_t parts, double *out)
{
	double		total = 0,
				taken = 0;

	for (int i = 0; i < bins; i++)
	{
		out[i] = (double) counts[i] / (double) parts;
		total += out[i];
	}
	if (!(total > 0))
	{
		memset(out, 0, sizeof(double) * (size_t) bins);
		return;
	}
	for (int round = 0; round < bins; round++)
	{
		double		sum = 0;
		int			left = 0;

		for (int i = 0; i < bins; i++)
			if (out[i] > taken)
			{
				sum += out[i];
				left++;
			}
		taken = fmax(taken, (sum - total) / left);
	}
	for (int i = 0; i < bins; i++)
		out[i] = fmax(0, out[i] - taken);
}

/* The area, and the sums of both classes, with more in every bin. */
static double
area_with(const double *positive, const double *negative, int bins, double more, double *positives,
		  double *negatives)
{
	double		area = 0;

	*positives = *negatives = 0;
	for (int i = 0; i < bins; i++)
	{
		double		p = positive[i] + more;
		double		n = negative[i] + more;

		area += p * (*negatives + n / 2);
		*positives += p;
		*negatives += n;
	}
	return *positives > 0 && *negatives > 0 ? area / (*positives * *negatives) : NAN;
}

DpermEstimate
dperm_metrics_area(const double *positive, const double *negative, int bins, double noise_variance)
{
	/* one more unit of each class: an area of 1 is not certain either */
	double		more = 1.0 / bins;
	DpermEstimate result = {NAN, 0, 1};
	double		positives,
				negatives,
				centre,
				half,
				above = 0,
				below = 0,
				variance = 0;

	result.value = area_with(positive, negative, bins, 0, &positives, &negatives);
	if (isnan(result.value))
		return result;
	centre = area_with(positive, negative, bins, more, &positives, &negatives);

	/*
	 * The derivative of the area by a count is the share of the other class
	 * that is on the wrong side of this bin, less the area, over the size of the
	 * class. Times the counts these add up to 0 in each class, so that the
	 * multinomial variance, which is that of DeLong et al., has no other term.
	 */
	for (int i = 0; i < bins; i++)
	{
		double		p = positive[i] + more;
		double		n = negative[i] + more;
		double		by_p = ((below + n / 2) / negatives - centre) / positives;
		double		by_n = (1 - (above + p / 2) / positives - centre) / negatives;

		variance += by_p * by_p * (p + noise_variance) + by_n * by_n * (n + noise_variance);
		above += p;
		below += n;
	}
	half = QUANTILE * sqrt(variance);
	return around(result.value, centre - half, centre + half);
}

/* The sums as means, and the variance of their noise. */
typedef struct Means
{
	double		rows;
	double		of[DPERM_SUMS];
	double		variance;		/* of the label */
	double		noise;			/* of a sum */
} Means;

/*
 * The noise is taken as a normal one with the same 95 percent interval, which is
 * that of the Laplace law, up to 2^-20.
 */
static Means
means_of(const int64_t *sums, uint64_t budget)
{
	double		scale = budget > 0 ? DPERM_SUMS * BUDGET_UNIT / (double) budget : 0;
	double		reach = scale * log(20) / QUANTILE;
	Means		m = {.rows = (double) sums[DPERM_SUM_ROWS] / (double) DPERM_ERRORS_PARTS,
					 .noise = reach * reach};

	for (int i = 0; i < DPERM_SUMS; i++)
		m.of[i] = fmin(1, fmax(0, (double) sums[i] / (double) DPERM_ERRORS_PARTS / m.rows));
	m.variance = m.of[DPERM_SUM_LABEL_SQUARED] - m.of[DPERM_SUM_LABEL] * m.of[DPERM_SUM_LABEL];
	return m;
}

/*
 * 1 - c, with c = S/V, S = E e^2. The interval is that of Fieller: all c for
 * which S - c V, whose mean is 0 at the true c, is within so many of its
 * standard deviations; everything if V may be zero. The variance of e^2 - c (y -
 * mean)^2 is at most E e^4 + c^2 E (y - mean)^4, which is at most S + c^2 V
 * far^2.
 */
static DpermEstimate
r2_of(const Means *m)
{
	double		limit = QUANTILE * QUANTILE / m->rows;
	double		noise = m->noise / m->rows;
	double		label = m->of[DPERM_SUM_LABEL];
	double		squared = m->of[DPERM_SUM_SQUARED];
	double		far = fmax(label, 1 - label);
	double		square = label * label;
	double		a = m->variance * m->variance -
		limit * (m->variance * far * far + (1 + 4 * square + square * square) * noise);
	double		b = squared * m->variance;
	double		c = squared * squared - limit * (squared + noise);
	double		root = sqrt(fmax(0, b * b - a * c));
	DpermEstimate result = {1 - squared / m->variance, -INFINITY, 1};

	if (a > 0)
	{
		result.low = 1 - (b + root) / a;
		result.high = fmin(1, 1 - (b - root) / a);
	}
	return result;
}

/*
 * Means are of numbers between 0 and 1: a mean a has the variance of one of them,
 * divided by their number n, and noise (1 + a^2)/n^2 times that of a sum. That of
 * squares is at most their mean less its square.
 */
DpermEstimate
dperm_metrics_of_errors(DpermMetricKind metric, const int64_t *sums, uint64_t budget, double unit)
{
	Means		m = means_of(sums, budget);
	bool		absolute = metric == DPERM_METRIC_ABSOLUTE;
	double		mean = m.of[absolute ? DPERM_SUM_ABSOLUTE : DPERM_SUM_SQUARED];
	double		variance = metric == DPERM_METRIC_ROWS ? m.noise :
		(m.of[DPERM_SUM_SQUARED] - mean * mean) / m.rows +
		(1 + mean * mean) * m.noise / (m.rows * m.rows);
	double		half = QUANTILE * sqrt(fmax(variance, 0));
	DpermEstimate result = {NAN, 0, 1};

	if (metric == DPERM_METRIC_ROWS)
		return (DpermEstimate) {m.rows, m.rows - half, m.rows + half};
	if (metric == DPERM_METRIC_R2)
		return m.rows > 0 && m.variance > 0 ? r2_of(&m) : (DpermEstimate) {NAN, -INFINITY, 1};
	if (m.rows > 0)
		result = around(mean, mean - half, mean + half);
	if (!absolute)
		result = (DpermEstimate) {sqrt(result.value), sqrt(result.low), sqrt(result.high)};
	/* shares of the distance between the bounds; 0 even if that overflows */
	return (DpermEstimate) {2 * (unit * result.value), 2 * (unit * result.low),
							2 * (unit * result.high)};
}

/*
 * Sums of counts that were drawn go up and down, so they may pass the share several times: the
 * quantile is in the middle, and may be from the first place where it could be to the last one.
 */
DpermEstimate
dperm_metrics_quantile(double share_below, const int64_t *counts, double variance, const int *ends,
					   int count)
{
	double		all = 0,
				sum = 0,
				first = NAN,
				last = NAN;
	DpermEstimate result = {NAN, -1, ends[0]};

	for (int i = 0; i < count; i++)
		all += (double) counts[i];
	if (!(all > 0))
		return (DpermEstimate) {NAN, 0, ends[count - 1]};
	for (int i = 0; i < count; i++)
	{
		int			from = i > 0 ? ends[i - 1] : 0;
		double		missing = share_below * all - sum;
		double		reach = QUANTILE *
			sqrt(variance * ((i + 1) * pow(1 - share_below, 2) +
							 (count - i - 1) * pow(share_below, 2)));

		sum += (double) counts[i];
		if (missing > 0 && share_below * all <= sum)
		{
			last = fmin(from + missing / (double) counts[i] * (ends[i] - from), ends[i] - 1);
			first = fmin(first, last);
		}
		if (result.low < 0 && (i + 1 == count || sum - share_below * all >= -reach))
			result.low = from;
		if (i + 1 < count && sum - share_below * all < reach)
			result.high = ends[i + 1];
	}
	result.value = floor((first + last) / 2);
	return result;
}
