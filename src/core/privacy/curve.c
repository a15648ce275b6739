/*
 * curve.c: a ROC curve and the area under it, from a noisy histogram of
 * decisions.
 */
#include "core/privacy/curve.h"

#include <math.h>

#define BUDGET_UNIT 0x1p20
#define BINS_LEAST 4
#define BINS_MOST 120

/*
 * The number of bins. The noise of the area grows with the square root of their
 * number, what ties hide falls with its square: their sum is least for a number
 * that grows as the power 2/5 of n epsilon (docs/guarantee.md, "Evaluation").
 * It is even so that one threshold is 0, where predictions change.
 */
int
dperm_curve_bins(uint64_t budget, int64_t n)
{
	double		wanted =
		budget == 0 ? BINS_MOST : pow((double) n * ((double) budget / BUDGET_UNIT), 0.4);
	int			bins = (int) ceil(fmax(BINS_LEAST, fmin(wanted, BINS_MOST)));

	while (DPERM_CURVE_FINE % bins != 0 || bins % 2 != 0)
		bins++;
	return bins;
}

/* Merge bins. */
void
dperm_curve_merge(int64_t *counts, int bins)
{
	int			each = DPERM_CURVE_FINE / bins;

	for (int i = 0; i < 2 * bins; i++)
	{
		int64_t		sum = 0;

		for (int k = 0; k < each; k++)
			sum += counts[i * each + k];
		counts[i] = sum;
	}
}

/*
 * Counts that are not negative: take the same from each, and from those that
 * fall below zero no more than they have.
 */
void
dperm_curve_settle(const int64_t *counts, int bins, uint64_t parts, double *out)
{
	double		total = 0,
				taken = 0;

	for (int i = 0; i < bins; i++)
		total += out[i] = (double) counts[i] / (double) parts;
	for (int round = 0; total > 0 && round < bins; round++)
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
		out[i] = total > 0 ? fmax(0, out[i] - taken) : 0;
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

/* The area under the curve with its interval. */
DpermEstimate
dperm_curve_area(const double *positive, const double *negative, int bins, double noise_variance)
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
	half = DPERM_NORMAL_QUANTILE * sqrt(variance);
	result.low = fmax(0, fmin(result.value, centre - half));
	result.high = fmin(1, fmax(result.value, centre + half));
	return result;
}
