/*
 * counts.c: which cell or sums a row counts in, exact noise for them, a private
 * choice by them, and the intervals of a summary.
 * Trusted: a row must not count more than once, and what counts is its noise.
 */
#include "core/privacy/counts.h"

#include <math.h>

#include "core/privacy/composition.h"

#define PI 3.14159265358979323846

#define BUDGET_BITS 20
#define DECIMAL_MAX 32

/* The shares of columns of a summary, by kind; and in that of a number, that of its intervals. */
static const uint64_t column_weights[] = {
	[DPERM_SUMMARY_NOTHING] = 0,
	[DPERM_SUMMARY_VALUES] = 4,
	[DPERM_SUMMARY_NUMBER] = 3
};

#define INTERVALS_TOP 2
#define INTERVALS_BOTTOM 5

/* So often intervals are halved in any case; then those with more than one of so many units. */
#define HALVED 2
#define FINEST_SHARE 32

/* A relative margin for rounding. */
#define NUDGE (1 - 1e-9)

uint64_t
dperm_selection_budget(double epsilon, DpermNeighbours neighbours)
{
	double		units;

	if (isinf(epsilon))
		return 0;

	/*
	 * a budget is charged the decimal that reads back as epsilon: above this it
	 * can be smaller than a fraction that is not above epsilon
	 */
	if (epsilon > DECIMAL_MAX)
		epsilon = nextafter(epsilon, 0);

	/* beyond 2^20 a single error decides anyway */
	units = floor(ldexp(fmin(epsilon, 0x1p20), BUDGET_BITS));
	return (units < 1 ? 1 : (uint64_t) units) * (neighbours == DPERM_NEIGHBOURS_REMOVE ? 2 : 1);
}

/* true with probability exp(-excess epsilon/(2 parts)), epsilon = budget/2^20. */
static bool
accept(DpermEntropy *e, int64_t excess, uint64_t budget, uint64_t parts)
{
	/*
	 * The exponent is excess * budget / den: too large for a word with up to
	 * 2^33 units, so whole units and parts of a unit are multiplied separately.
	 * budget is at most 2^41, parts at most 2^20.
	 */
	const uint64_t den = UINT64_C(2) << BUDGET_BITS;
	uint64_t	units = (uint64_t) excess / parts;
	uint64_t	whole = units / den * budget;
	uint64_t	rest = units % den * budget;

	whole += rest / den;
	rest = rest % den * parts + (uint64_t) excess % parts * budget;
	whole += rest / (den * parts);
	return dperm_draw_exp_minus(e, 1, 1, whole) &&
		dperm_draw_exp_minus(e, rest % (den * parts), den * parts, 1);
}

/* A uniformly random order, by Fisher and Yates. */
static void
shuffle(DpermEntropy *e, int *order, int count)
{
	for (int i = 0; i < count; i++)
		order[i] = i;
	for (int i = count - 1; i > 0; i--)
	{
		int			j = (int) dperm_draw_below(e, (uint64_t) i + 1);
		int			was = order[i];

		order[i] = order[j];
		order[j] = was;
	}
}

int
dperm_selection_choose(DpermEntropy *e, DpermSelection rule, uint64_t budget, uint64_t parts,
					   const int64_t *mistakes, int count, int *order)
{
	int			best = 0;

	for (int i = 1; i < count; i++)
		if (mistakes[i] < mistakes[best])
			best = i;
	if (budget == 0)
		return best;
	if (rule == DPERM_SELECT_PERMUTE_AND_FLIP)
	{
		shuffle(e, order, count);
		for (int i = 0; i < count; i++)
			if (accept(e, mistakes[order[i]] - mistakes[best], budget, parts))
				return order[i];
		return best;			/* not reached: the best one always accepts */
	}
	while (e->status == DPERM_OK)
	{
		/*
		 * a uniform draw, accepted with probability equal to its weight: the
		 * exponential mechanism, exactly
		 */
		int			i = (int) dperm_draw_below(e, (uint64_t) count);

		if (accept(e, mistakes[i] - mistakes[best], budget, parts))
			return i;
	}
	return best;
}

DPERM_WORDS(dperm_selection_name, "permute_and_flip", "exponential");

/* ------------------------------------------------- counts and sums */

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
dperm_counts_add_noise(DpermEntropy *e, DpermCountsNoise noise, uint64_t parts, int64_t *counts,
					   int count)
{
	for (int i = 0; i < count; i++)
		if (noise.sigma > 0)
			counts[i] += dperm_draw_discrete_gaussian(e, noise.sigma);
		else if (noise.budget > 0)
			counts[i] += dperm_draw_discrete_laplace(e, (int64_t) (parts << 21),
													 (int64_t) noise.budget);
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

/* ------------------------------------------------------- a summary */

/*
 * The largest rho for which divergences of alpha rho for all orders alpha are (epsilon, delta):
 * the best order decides.
 */
static double
concentrated(double epsilon, double delta)
{
	double		most = 0;

	for (int i = 0; i < DPERM_ORDER_COUNT; i++)
	{
		double		order = dperm_composition_order(i);

		most = fmax(most, (epsilon - dperm_composition_convert(0, order, delta * NUDGE)) / order);
	}
	return most * NUDGE;
}

/*
 * The share of a column, a part of rho: epsilon-private is epsilon^2/2-concentrated, and so is
 * sigma for rows that are so far apart. False if that is too small.
 */
static bool
divide_rho(double rho, DpermNeighbours neighbours, uint64_t parts, DpermSummary *column)
{
	bool		number = column->kind == DPERM_SUMMARY_NUMBER;
	double		intervals = number ? rho * INTERVALS_TOP / INTERVALS_BOTTOM : 0;
	double		epsilon = sqrt(2 * intervals) * NUDGE;
	double		sigma = sqrt(dperm_claim_rows_apart(neighbours) / (2 * (rho - intervals)));

	column->intervals = number ? dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) : 0;
	column->noise.sigma = (int64_t) ceil(fmin(sigma / NUDGE * (double) parts, 0x1p60));
	return column->noise.sigma <= INT64_C(1) << 49 &&
		(!number || ldexp(epsilon, BUDGET_BITS) >= 1);
}

/* The same of an epsilon, as a budget. */
static bool
divide_budget(uint64_t budget, DpermNeighbours neighbours, DpermSummary *column)
{
	bool		number = column->kind == DPERM_SUMMARY_NUMBER;

	column->intervals = number ? budget * INTERVALS_TOP / INTERVALS_BOTTOM : 0;
	column->noise.budget = (budget - column->intervals) *
		(neighbours == DPERM_NEIGHBOURS_REMOVE ? 2 : 1);
	return column->noise.budget > 0 && (!number || column->intervals > 0);
}

/*
 * The counts of a column are those of disjoint cells: if one row takes the place of another they
 * change by 2 in total, and the squares of the changes add up to 2; if it is removed, by 1.
 */
bool
dperm_summary_divide(double epsilon, double delta, DpermNeighbours neighbours, uint64_t parts,
					 DpermSummary *columns, int count)
{
	uint64_t	budget = dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE);
	double		rho = delta > 0 ? concentrated(epsilon, delta) : 0;
	uint64_t	all = 0;
	bool		enough = true;

	for (int i = 0; i < count; i++)
		all += column_weights[columns[i].kind];
	for (int i = 0; i < count; i++)
	{
		uint64_t	weight = column_weights[columns[i].kind];

		columns[i] = (DpermSummary) {
			.kind = columns[i].kind, .removes = neighbours == DPERM_NEIGHBOURS_REMOVE};
		if (budget == 0 || weight == 0)
			continue;			/* no noise */
		enough &= delta > 0 ?
			divide_rho(rho * (double) weight / (double) all, neighbours, parts, &columns[i]) :
			divide_budget(budget * weight / all, neighbours, &columns[i]);
	}
	return enough;
}

/* The intervals of one number, while they are halved. */
typedef struct Halving
{
	DpermEntropy *e;
	uint64_t	budget;
	int64_t		scale;			/* of the noise, times the budget */
	int64_t		bias;
	int64_t		threshold;
	const int64_t *cells;
	int		   *ends;
	int			count;
} Halving;

/*
 * Is an interval with this count to be halved? Its depth counts from where that is decided by its
 * count. What is compared falls by the bias from an interval to its halves, but not below minus the
 * bias.
 */
static bool
decide(Halving *halving, int64_t count, int depth)
{
	int64_t		excess = count - halving->threshold - depth * halving->bias;

	if (excess < -halving->bias)
		excess = -halving->bias;
	if (halving->budget > 0)
		excess += dperm_draw_discrete_laplace(halving->e, halving->scale,
											  (int64_t) halving->budget);
	return excess > 0;
}

/* Halve an interval of cells, or keep it. */
static void
halve(Halving *halving, int from, int to, int depth)
{
	int			middle = from + (to - from) / 2;
	int64_t		count = 0;

	for (int i = from; i < to; i++)
		count += halving->cells[i];
	if (to - from > 1 && (depth < HALVED || decide(halving, count, depth - HALVED)))
	{
		halve(halving, from, middle, depth + 1);
		halve(halving, middle, to, depth + 1);
	}
	else
		halving->ends[halving->count++] = to;
}

/* PrivTree (Zhang, Xiao, Xie 2016) with halves and integers. */
int
dperm_summary_intervals(DpermEntropy *e, const DpermSummary *column, uint64_t parts, int64_t units,
						const int64_t *cells, int count, int *ends)
{
	Halving		halving = {.e = e, .budget = column->intervals, .cells = cells, .ends = ends};

	/* 3/epsilon for a row that is removed, 1/epsilon for one that is added; log 2 rounded up */
	halving.scale = (int64_t) (parts * (column->removes ? 3 : 4)) << 20;
	if (column->intervals > 0)
		halving.bias = (int64_t)
			(((uint64_t) halving.scale / column->intervals + 1) * 693148 / 1000000 + 1);
	halving.threshold = units / FINEST_SHARE * (int64_t) parts;
	halve(&halving, 0, count, 0);
	return halving.count;
}
