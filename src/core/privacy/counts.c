/*
 * counts.c: which cell or sums a row counts in, and exact noise for them.
 * Trusted: a row must not count more than once.
 */
#include "core/privacy/counts.h"

#include <math.h>

#define PI 3.14159265358979323846

/* The bin of a decision. Any value has one, even NaN. */
static int
bin_of(double decision, int bins)
{
	double		place = isnan(decision) ? 0 : floor((atan(decision) / PI + 0.5) * bins);

	return (int) fmax(0, fmin(place, bins - 1));
}

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

/* 2/epsilon is 2^21/budget. */
void
dperm_counts_add_noise(DpermEntropy *e, uint64_t budget, uint64_t parts, int64_t *counts, int count)
{
	if (budget == 0)
		return;
	for (int i = 0; i < count; i++)
		counts[i] += dperm_draw_discrete_laplace(e, (int64_t) (parts << 21), (int64_t) budget);
}

void
dperm_counts_merge(int64_t *counts, int bins)
{
	int			each = DPERM_COUNTS_FINE / bins;

	for (int i = 0; i < 2 * bins; i++)
	{
		int64_t		sum = 0;

		for (int k = 0; k < each; k++)
			sum += counts[i * each + k];
		counts[i] = sum;
	}
}

/* Add a row: every number is rounded down. */
void
dperm_counts_add_errors(double decision, double label, int64_t labelled, int64_t *sums)
{
	double		error = fabs(fmax(-1, fmin(1, decision)) - label) / 2;
	double		place = (label + 1) / 2;
	double		terms[DPERM_SUMS] = {
		[DPERM_SUM_ROWS] = 1,
		[DPERM_SUM_ABSOLUTE] = error,
		[DPERM_SUM_SQUARED] = error * error,
		[DPERM_SUM_LABEL] = place,
		[DPERM_SUM_LABEL_SQUARED] = place * place
	};

	for (int i = 0; i < DPERM_SUMS; i++)
		sums[i] += (int64_t) (terms[i] * (double) DPERM_ERRORS_PARTS) / labelled;
}

/* 1/epsilon is 2^20/budget. */
void
dperm_counts_add_error_noise(DpermEntropy *e, uint64_t budget, int64_t *sums)
{
	if (budget == 0)
		return;
	for (int i = 0; i < DPERM_SUMS; i++)
		sums[i] += dperm_draw_discrete_laplace(
			e, (int64_t) ((DPERM_SUMS * DPERM_ERRORS_PARTS) << 20), (int64_t) budget);
}
