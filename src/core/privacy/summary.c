/*
 * summary.c: counts of all columns of a table at one epsilon
 * (docs/guarantee.md, "A summary").
 */
#include "core/privacy/summary.h"

#include <math.h>

#include "core/privacy/composition.h"
#include "core/privacy/draw.h"
#include "core/privacy/selection.h"

#define BUDGET_UNIT 0x1p20

/* The shares of columns, by kind; and in that of a number, how much is for its intervals. */
#define VALUES_WEIGHT 4
#define NUMBER_WEIGHT 3
#define INTERVALS_TOP 2
#define INTERVALS_BOTTOM 5

/* So often intervals are halved in any case; then those with more than one of so many units. */
#define HALVED 2
#define FINEST_SHARE 32

/* A relative margin for rounding. */
#define NUDGE (1 - 1e-9)

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
divide_rho(double rho, DpermNeighbours neighbours, uint64_t parts, bool number,
		   DpermSummaryShare *share)
{
	double		intervals = number ? rho * INTERVALS_TOP / INTERVALS_BOTTOM : 0;
	double		sigma = sqrt(dperm_claim_rows_apart(neighbours) / (2 * (rho - intervals)));

	if (intervals > 0)
		share->intervals = dperm_selection_budget(sqrt(2 * intervals) * NUDGE);
	share->sigma = (int64_t) ceil(fmin(sigma / NUDGE * (double) parts, 0x1p60));
	return share->sigma <= INT64_C(1) << 49 &&
		(!number || sqrt(2 * intervals) * NUDGE * BUDGET_UNIT >= 1);
}

/* The same of an epsilon, as a budget. */
static bool
divide_budget(uint64_t budget, DpermNeighbours neighbours, bool number, DpermSummaryShare *share)
{
	share->intervals = number ? budget * INTERVALS_TOP / INTERVALS_BOTTOM : 0;
	share->counts = (budget - share->intervals) *
		(neighbours == DPERM_NEIGHBOURS_REMOVE ? 2 : 1);
	return share->counts > 0 && (!number || share->intervals > 0);
}

/*
 * The shares of columns, which add up to (epsilon, delta); false if epsilon is too small to be
 * divided. The counts of a column are those of disjoint cells: if one row takes the place of
 * another they change by 2 in total, and the squares of the changes add up to 2; if it is removed,
 * by 1.
 */
bool
dperm_summary_divide(double epsilon, double delta, DpermNeighbours neighbours, uint64_t parts,
					 const bool *numbers, int count, DpermSummaryShare *shares)
{
	uint64_t	budget = dperm_selection_budget(epsilon);
	double		rho = delta > 0 ? concentrated(epsilon, delta) : 0;
	uint64_t	all = 0;
	bool		enough = true;

	for (int i = 0; i < count; i++)
		all += numbers[i] ? NUMBER_WEIGHT : VALUES_WEIGHT;
	for (int i = 0; i < count; i++)
	{
		uint64_t	weight = numbers[i] ? NUMBER_WEIGHT : VALUES_WEIGHT;

		shares[i] = (DpermSummaryShare) {.removes = neighbours == DPERM_NEIGHBOURS_REMOVE};
		if (budget == 0)
			continue;			/* no noise */
		enough = enough &&
			(delta > 0 ? divide_rho(rho * (double) weight / (double) all, neighbours, parts,
									numbers[i], &shares[i]) :
						 divide_budget(budget * weight / all, neighbours, numbers[i],
										  &shares[i]));
	}
	return enough;
}

/* ------------------------------------------------------- intervals */

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

/*
 * The intervals of a number, from the exact counts of its cells: ends is room for as many as there
 * are cells, and becomes where each ends; the first one begins at 0. PrivTree (Zhang, Xiao, Xie
 * 2016) with halves and integers. Returns their number.
 */
int
dperm_summary_intervals(DpermEntropy *e, DpermSummaryShare share, uint64_t parts, int64_t units,
						const int64_t *cells, int count, int *ends)
{
	Halving		halving = {.e = e, .budget = share.intervals, .cells = cells, .ends = ends};

	/* 3/epsilon for a row that is removed, 1/epsilon for one that is added; log 2 rounded up */
	halving.scale = (int64_t) (parts * (share.removes ? 3 : 4)) << 20;
	if (share.intervals > 0)
		halving.bias = (int64_t)
			(((uint64_t) halving.scale / share.intervals + 1) * 693148 / 1000000 + 1);
	halving.threshold = units / FINEST_SHARE * (int64_t) parts;
	halve(&halving, 0, count, 0);
	return halving.count;
}

/* ---------------------------------------------------------- counts */

/* Add the noise to counts of disjoint cells. */
void
dperm_summary_add_noise(DpermEntropy *e, DpermSummaryShare share, uint64_t parts, int64_t *counts,
						int count)
{
	if (share.sigma == 0)
		dperm_counts_add_noise(e, share.counts, parts, counts, count);
	for (int i = 0; share.sigma > 0 && i < count; i++)
		counts[i] += dperm_draw_discrete_gaussian(e, share.sigma);
}
