/*
 * test_summary.c: the intervals of a summary against their exact law, and that against the
 * theorem; noise, quantiles and the division of epsilon.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/metrics/metrics.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */
#define CELLS 128
#define ALWAYS 32				/* four quarters of so many cells are made in any case */
#define DRAWS 100000

/* ------------------------------------------- the law of the intervals */

/* The law, from the theorem's text: scale, bias and threshold of what is compared. */
typedef struct Law
{
	double		scale;
	double		bias;
	double		threshold;
} Law;

static Law
law_of(DpermSummary share, int64_t units)
{
	double		scale = (share.removes ? 3 : 4) / (share.intervals / 0x1p20);

	return (Law) {scale, floor((floor(scale) + 1) * 0.693148 + 1), floor((double) units / 32)};
}

/* The probability that an interval with this count is halved, so deep; or its complement. */
static double
chance(const Law *law, double count, int depth, bool halved)
{
	double		q = exp(-1 / law->scale);
	double		excess = fmax(count - law->threshold - depth * law->bias, -law->bias);
	double		above = excess <= 0 ? pow(q, 1 - excess) / (1 + q) : 1 - pow(q, excess) / (1 + q);
	double		below = excess <= 0 ? 1 - pow(q, 1 - excess) / (1 + q) : pow(q, excess) / (1 + q);

	return halved ? above : below;
}

static int64_t
sum_of(const int64_t *cells, int count)
{
	int64_t		sum = 0;

	for (int i = 0; i < count; i++)
		sum += cells[i];
	return sum;
}

/* The largest and the least logarithm of a ratio over all ways to halve an interval. */
static void
extremes(const Law *law, const int64_t *one, const int64_t *other, int count, int depth,
		 double *most, double *least)
{
	double		a = (double) sum_of(one, count);
	double		b = (double) sum_of(other, count);
	double		whole,
				halves[2][2],
				split;

	*most = *least = 0;
	if (count == 1)
		return;
	whole = log(chance(law, a, depth, false) / chance(law, b, depth, false));
	split = log(chance(law, a, depth, true) / chance(law, b, depth, true));
	for (int i = 0; i < 2; i++)
		extremes(law, one + i * count / 2, other + i * count / 2, count / 2, depth + 1,
				 &halves[i][0], &halves[i][1]);
	*most = fmax(whole, split + halves[0][0] + halves[1][0]);
	*least = fmin(whole, split + halves[0][1] + halves[1][1]);
}

/* The privacy loss of two tables. */
static double
loss_of(const Law *law, const int64_t *one, const int64_t *other)
{
	double		most = 0,
				least = 0;

	for (int i = 0; i < CELLS; i += ALWAYS)
	{
		double		high,
					low;

		extremes(law, one + i, other + i, ALWAYS, 0, &high, &low);
		most += high;
		least += low;
	}
	return fmax(most, -least);
}

/* A table, and a unit in it that moves to another cell, or is removed if there is none. */
typedef struct Move
{
	int64_t		cells[CELLS];
	int			from;
	int			to;				/* -1: none */
} Move;

static double
loss_of_move(const Law *law, const Move *move)
{
	int64_t		other[CELLS];

	memcpy(other, move->cells, sizeof(other));
	other[move->from]--;
	if (move->to >= 0)
		other[move->to]++;
	return move->cells[move->from] > 0 ? loss_of(law, move->cells, other) : 0;
}

/* Any count that may matter. */
static int64_t
some_count(const Law *law, uint64_t *seed)
{
	return test_splitmix(seed) % 2 ? 0 :
		(int64_t) (test_splitmix(seed) % (uint64_t) (4 * law->scale + 4));
}

/* Search for the table and the move that cost most. */
static double
climb(const Law *law, bool replace, uint64_t seed)
{
	double		best = 0;

	for (int start = 0; start < 6; start++)
	{
		Move		here = {.from = 0, .to = replace ? CELLS - 1 : -1};
		double		loss;

		for (int i = 0; i < CELLS; i++)
			here.cells[i] = start > 0 || i == 0 ? some_count(law, &seed) + (i == 0) : 0;
		loss = loss_of_move(law, &here);
		for (int step = 0; step < test_rounds(2000); step++)
		{
			Move		there = here;
			int			i = (int) (test_splitmix(&seed) % CELLS);

			if (test_splitmix(&seed) % 8 == 0)
				there.from = i;
			else if (replace && test_splitmix(&seed) % 8 == 0)
				there.to = i;
			else if (test_splitmix(&seed) % 2)
				there.cells[i] = start > 0 || i == 0 ? some_count(law, &seed) + (i == 0) : 0;
			else
				there.cells[i] += test_splitmix(&seed) % 2 || there.cells[i] == 0 ? 1 : -1;
			if (loss_of_move(law, &there) >= loss)
			{
				here = there;
				loss = loss_of_move(law, &here);
			}
		}
		best = fmax(best, loss);
	}
	return best;
}

static DpermSummary
number_share(double epsilon, double delta, DpermNeighbours neighbours, uint64_t parts)
{
	DpermSummary share = {.kind = DPERM_SUMMARY_NUMBER};

	CHECK(dperm_summary_divide(epsilon, delta, neighbours, parts, &share, 1));
	return share;
}

/* No table that a search finds loses more than the share of the intervals, and some nearly do. */
TEST(intervals_keep_their_epsilon)
{
	static const double epsilons[] = {0.5, 1, 2.5, 5, 20};

	for (int i = 0; i < 5; i++)
		for (int replace = 0; replace <= 1; replace++)
		{
			DpermNeighbours neighbours =
				replace ? DPERM_NEIGHBOURS_REPLACE : DPERM_NEIGHBOURS_REMOVE;
			DpermSummary share = number_share(epsilons[i], 0, neighbours, 1);
			double		epsilon = (double) share.intervals / 0x1p20;
			Law			law = law_of(share, 32);
			double		worst = climb(&law, replace, 17 + (uint64_t) i);

			CHECK(epsilon <= 0.4 * epsilons[i]);
			CHECK(worst <= epsilon * (1 + 1e-9));
			CHECK(worst >= 0.65 * epsilon);
			law.bias = floor(law.bias / 8);
			if (i == 1 && replace)
				CHECK(climb(&law, replace, 17) > epsilon);	/* a bias that is too small is found */
		}
}

/* A person's parts in several cells move one by one. */
TEST(parts_of_a_person_keep_it)
{
	uint64_t	seed = 5;
	Law			law = law_of(number_share(1, 0, DPERM_NEIGHBOURS_REPLACE, 1), 32);
	double		worst = 0;

	law.scale *= 8;				/* eight parts of a person, in place of 2^20 */
	law.bias = ceil(law.scale * 0.693148);
	law.threshold *= 8;
	for (int run = 0; run < test_rounds(20000); run++)
	{
		int64_t		one[CELLS],
					other[CELLS];

		for (int i = 0; i < CELLS; i++)
			one[i] = other[i] = test_splitmix(&seed) % 4 == 0 ?
				(int64_t) (test_splitmix(&seed) % (uint64_t) (4 * law.scale)) : 0;
		for (int i = 0; i < 8; i++)
		{
			one[test_splitmix(&seed) % CELLS]++;
			other[test_splitmix(&seed) % CELLS]++;
		}
		worst = fmax(worst, loss_of(&law, one, other));
	}
	CHECK(worst <= 0.4 && worst > 0.1);
}

/* The probability of intervals that end so, and where they end. */
static double
structure_chance(const Law *law, const int64_t *cells, int from, int count, int depth,
				 const int **ends)
{
	double		result;

	if (**ends == from + count)
	{
		++*ends;
		return count == 1 ? 1 : chance(law, (double) sum_of(cells + from, count), depth, false);
	}
	result = chance(law, (double) sum_of(cells + from, count), depth, true);
	result *= structure_chance(law, cells, from, count / 2, depth + 1, ends);
	return result * structure_chance(law, cells, from + count / 2, count / 2, depth + 1, ends);
}

/* The program draws from this law: its structures, by hash, as often as they should be. */
TEST(intervals_have_their_law)
{
	static const int64_t tables[3][16] = {
		{9, 0, 0, 3, 0, 0, 0, 0, 4, 4, 0, 0, 0, 0, 0, 30},
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{2, 40, 0, 0, 5, 5, 5, 5, 1, 0, 0, 0, 9, 0, 12, 0}
	};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 3);
	for (int t = 0; t < 3; t++)
	{
		DpermSummary share = number_share(4, 0, DPERM_NEIGHBOURS_REPLACE, 1);
		Law			law = law_of(share, 64);
		/* 5 ways for each of four quarters: 1, 2 + 2, 1+1+2, 2+1+1, 1+1+1+1 */
		static const int ways[5][5] = {{4}, {2, 4}, {1, 2, 4}, {2, 3, 4}, {1, 2, 3, 4}};
		static const int sizes[5] = {1, 2, 3, 3, 4};
		int64_t		seen[625] = {0};
		double		expected[625];

		for (int k = 0; k < 625; k++)
		{
			expected[k] = 1;
			for (int i = 0, rest = k; i < 4; i++, rest /= 5)
			{
				int			ends[5] = {0};
				const int  *next = ends;

				for (int j = 0; j < sizes[rest % 5]; j++)
					ends[j] = ways[rest % 5][j] + 4 * i;
				expected[k] *= structure_chance(&law, tables[t], 4 * i, 4, 0, &next);
			}
		}
		for (int draw = 0; draw < DRAWS; draw++)
		{
			int			ends[16];
			int			count = dperm_summary_intervals(&e, &share, 1, 64, tables[t], 16, ends);
			int			code = 0,
						scale = 1;

			for (int i = 0, at = 0; i < 4; i++, scale *= 5)
			{
				int			from = at;
				int			way = 0;

				while (ends[at] < 4 * (i + 1))
					at++;
				at++;
				while (sizes[way] != at - from || ends[from] != ways[way][0] + 4 * i)
					way++;
				code += way * scale;
			}
			CHECK(count <= 16);
			seen[code]++;
		}
		CHECK(counts_fit_p(seen, expected, 625, DRAWS) > P_MIN);
	}
}

/* ------------------------------------------------- noise and shares */

TEST(gaussian_noise_has_its_law)
{
	static const int64_t scales[] = {1, 2, 3, 7, 30};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 4);
	for (int i = 0; i < 5; i++)
		for (int other = 0; other <= 1; other++)
		{
			double		sigma = (double) scales[i] * (other ? 1.03 : 1);
			int			reach = 5 * (int) scales[i];
			int64_t		seen[400] = {0};
			double		law[400],
						sum = 0,
						p;

			for (int draw = 0; draw < DRAWS; draw++)
			{
				int64_t		z = dperm_draw_discrete_gaussian(&e, scales[i]);

				seen[(z > reach ? reach : z < -reach ? -reach : z) + reach]++;
			}
			for (int pass = 0; pass <= 1; pass++)
			{
				for (int k = -10 * reach; k <= 10 * reach; k++)
				{
					int			at = (k > reach ? reach : k < -reach ? -reach : k) + reach;
					double		density = exp(-k * (double) k / (2 * sigma * sigma));

					if (pass == 0)
					{
						law[at] = 0;
						sum += density;
					}
					else
						law[at] += density / sum;
				}
			}
			p = counts_fit_p(seen, law, 2 * reach + 1, DRAWS);
			CHECK(other ? p < 1e-3 : p > P_MIN);
		}
}

/* The least delta for a rho: Lemma 18, orders close together. */
static double
delta_of(double rho, double epsilon)
{
	double		least = 1;

	for (double above = 1e-3; above < 1e7; above *= 1.001)
		least = fmin(least, exp(above * ((above + 1) * rho - epsilon) - log1p(above) -
								above * log1p(1 / above)));
	return least;
}

/* All shares together are the epsilon, or the divergence, that was asked for. */
TEST(shares_add_up)
{
	static const double epsilons[] = {0.001, 0.1, 0.5, 3, 40};
	DpermSummary shares[100];

	for (int i = 0; i < 100; i++)
		shares[i].kind = i % 3 == 0 ? DPERM_SUMMARY_NUMBER : DPERM_SUMMARY_VALUES;
	for (int i = 0; i < 5; i++)
		for (int count = 1; count <= 100; count += 11)
			for (int remove = 0; remove <= 1; remove++)
			{
				double		spent = 0,
							rho = 0;

				CHECK(dperm_summary_divide(epsilons[i], 0, (DpermNeighbours) remove, 1, shares,
										   count));
				for (int k = 0; k < count; k++)
					spent += ((double) shares[k].intervals +
							  (double) shares[k].noise.budget / (1 + remove)) / 0x1p20;
				CHECK(spent <= epsilons[i] && spent >= epsilons[i] - 1e-3 * epsilons[i] - count * 0x1p-20);

				CHECK(dperm_summary_divide(epsilons[i], 1e-6, (DpermNeighbours) remove, 1, shares,
										   count));
				for (int k = 0; k < count; k++)
				{
					double		pure = (double) shares[k].intervals / 0x1p20;

					rho += pure * pure / 2 + (2 - remove) / (2.0 * (double) (shares[k].noise.sigma * shares[k].noise.sigma));
				}

				CHECK(delta_of(rho, epsilons[i]) <= 1e-6);
				CHECK(i > 2 || delta_of(1.3 * rho, epsilons[i]) > 1e-6);
			}
	CHECK(!dperm_summary_divide(1e-6, 0, DPERM_NEIGHBOURS_REPLACE, 1, shares, 2));
	CHECK(!dperm_summary_divide(1e-6, 1e-6, DPERM_NEIGHBOURS_REPLACE, DPERM_PERSON_PARTS, shares,
								100));
	CHECK(dperm_summary_divide(INFINITY, 0, DPERM_NEIGHBOURS_REPLACE, 1, shares, 2));
	CHECK(shares[0].noise.budget == 0 && shares[0].noise.sigma == 0 && shares[0].intervals == 0);
}

/* The interval of a count contains it in 95 of 100 draws, and is not wider than it has to be. */
TEST(counts_are_within_their_intervals)
{
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 5);
	for (int i = 0; i < 12; i++)
	{
		uint64_t	parts = i % 2 ? DPERM_PERSON_PARTS : 1;
		DpermSummary share =
			number_share(i < 6 ? 0.5 : 4, i % 3 ? 1e-6 : 0, DPERM_NEIGHBOURS_REPLACE, parts);
		int			within = 0;

		for (int draw = 0; draw < 20000; draw++)
		{
			int64_t		count = 77 * (int64_t) parts;
			DpermEstimate estimate;

			dperm_counts_add_noise(&e, share.noise, parts, &count, 1);
			estimate = dperm_metrics_count(count, share.noise, parts);
			within += estimate.low <= 77 && estimate.high >= 77;
		}
		CHECK(within >= 20000 * 0.945 && within <= 20000 * 0.985);
	}
}

/* Quantiles of exact counts, and where there is nothing. */
TEST(quantiles_of_exact_counts)
{
	static const int64_t counts[] = {10, 0, 30, 60};
	static const int64_t nothing[] = {0, 0};
	static const int ends[] = {10, 20, 30, 90};
	DpermEstimate median = dperm_metrics_quantile(0.5, counts, 0, ends, 4);

	CHECK(median.value == 40 && median.low == 30 && median.high == 90);
	CHECK(dperm_metrics_quantile(0.05, counts, 0, ends, 4).value == 5);
	CHECK(dperm_metrics_quantile(0.25, counts, 0, ends, 4).value == 25);
	CHECK(dperm_metrics_quantile(0.95, counts, 0, ends, 4).high == 90);
	CHECK(dperm_metrics_quantile(0.5, counts, 1e9, ends, 4).low == 0);
	CHECK(dperm_metrics_quantile(0.4, counts, 0, ends, 4).value == 29);
	CHECK(isnan(dperm_metrics_quantile(0.5, nothing, 1, ends, 2).value));
}

/* ------------------------------------------------- a table like Adult */

/* How many of n rows have one of 120 ages, or of 100 hours a week, half of them the same. */
static void
fill_adult(bool hours, int64_t n, int64_t *cells, int count)
{
	double		sum = 0;

	for (int pass = 0; pass <= 1; pass++)
		for (int i = 0; i < count; i++)
		{
			double		share = hours ? (i == 39 ? 0.47 : 0.53 * exp(-pow((i - 40) / 17.0, 2)) / 30) :
				i < 17 ? 0 : exp(-(i - 17) / 30.0) * (i < 90);

			if (pass == 0)
				sum += share;
			else
				cells[i] = llround(share / sum * (double) n);
		}
}

/*
 * 48,842 rows, nine lists of 104 values and their missing ones, and six numbers, at epsilon 0.5:
 * 95 of 100 counts are within 0.4 percent, all of a summary within 1 percent in 95 of 100, and the
 * medians of age and hours within one.
 */
TEST(adult_is_counted_well)
{
	const int64_t n = 48842;
	const int	counts = 104 + 9;
	DpermSummary columns[15];
	TestEntropy source;
	DpermEntropy e;
	double		scale;

	for (int i = 0; i < 15; i++)
		columns[i].kind = i < 9 ? DPERM_SUMMARY_VALUES : DPERM_SUMMARY_NUMBER;
	CHECK(dperm_summary_divide(0.5, 0, DPERM_NEIGHBOURS_REPLACE, 1, columns, 15));
	scale = 0x1p21 / (double) columns[0].noise.budget;
	CHECK(exp(-0.004 * (double) n / scale) <= 0.05);
	CHECK(counts * exp(-0.01 * (double) n / scale) <= 0.05);
	test_entropy_init(&e, &source, 6);
	for (int hours = 0; hours <= 1; hours++)
	{
		const int	size = hours ? 100 : 121;
		const DpermSummary *column = &columns[14];
		int64_t		cells[121],
					below = 0;
		double		median = 0;
		int			near = 0;

		fill_adult(hours, n, cells, size);
		while (2 * (below + cells[(int) median]) < n)
			below += cells[(int) median++];
		for (int run = 0; run < 100; run++)
		{
			int			ends[121];
			int			count = dperm_summary_intervals(&e, column, 1, n, cells, size, ends);
			int64_t		sums[121] = {0};

			for (int i = 0, cell = 0; i < count; i++)
				while (cell < ends[i])
					sums[i] += cells[cell++];
			dperm_counts_add_noise(&e, column->noise, 1, sums, count);
			near += fabs(dperm_metrics_quantile(0.5, sums, 1, ends, count).value - median) <= 1;
		}
		CHECK(near >= 95);
	}
}
