/*
 * The filter of a budget, against adversaries that choose each release in the
 * light of earlier outcomes. The neighbouring tables give laws P and Q to what
 * is released. The delta that an adversary attains is the mean under P of (1 -
 * e^(epsilon - loss))_+, where loss is the logarithm of P over Q of everything
 * released. All laws here are finite, so it is computed exactly.
 */
#include "core/mechanism/charge.h"

#include <stdlib.h>

#include "core/privacy/composition.h"
#include "unit/test.h"

#define OUTCOMES 4

/* A release: its laws, and what it costs. */
typedef struct Law
{
	int			count;
	double		p[OUTCOMES];
	double		q[OUTCOMES];
} Law;

/* The larger of the Renyi divergences in both directions. */
static double
divergence(const Law *law, double order)
{
	double		largest = 0;

	for (int way = 0; way < 2; way++)
	{
		const double *p = way ? law->q : law->p;
		const double *q = way ? law->p : law->q;
		double		top = -INFINITY;
		double		sum = 0;

		for (int i = 0; i < law->count; i++)
			top = fmax(top, order * log(p[i]) + (1 - order) * log(q[i]));
		for (int i = 0; i < law->count; i++)
			sum += exp(order * log(p[i]) + (1 - order) * log(q[i]) - top);
		largest = fmax(largest, (top + log(sum)) / (order - 1));
	}
	return largest;
}

/* An event of probability p with a loss, and everything else. */
static Law
needle(double p, double loss)
{
	return (Law) {2, {p, 1 - p}, {p * exp(-loss), 1 - p * exp(-loss)}};
}

static Law
response(double epsilon)
{
	double		high = 1 / (1 + exp(-epsilon));

	return (Law) {2, {high, 1 - high}, {1 - high, high}};
}

/*
 * The worst (epsilon, delta)-private release: everything is revealed with
 * probability delta.
 */
static Law
worst(double epsilon, double delta)
{
	Law			law = response(epsilon);

	for (int i = 0; i < 2; i++)
	{
		law.p[i] *= 1 - delta;
		law.q[i] *= 1 - delta;
	}
	law.p[2] = law.q[3] = delta;
	law.count = 4;
	return law;
}

static double
loss_of(const Law *law, int i)
{
	return law->q[i] > 0 ? log(law->p[i] / law->q[i]) : INFINITY;
}

/* The largest absolute loss. */
static double
epsilon_of(const Law *law)
{
	double		largest = 0;

	for (int i = 0; i < law->count; i++)
		largest = fmax(largest, fabs(loss_of(law, i)));
	return largest;
}

static DpermFilter
filter_of(double epsilon, double delta)
{
	return (DpermFilter) {dperm_amount_of(epsilon, 12, false), dperm_amount_of(delta, 24, false), dperm_filter_order(epsilon, delta)};
}

/*
 * The cost of a law whose divergence is known: although pure, it takes a tail
 * of delta.
 */
static DpermFilterSums
known_cost(const Law *law, double order)
{
	DpermFilterSums cost = {.epsilon = dperm_amount_of(epsilon_of(law), 12, true), .divergence = dperm_amount_of(divergence(law, order), 15, true)};

	cost.tail = cost.direct = dperm_amount_of(DPERM_TAIL, 24, true);
	return cost;
}

/* The cost of a release of which only epsilon and delta are known. */
static DpermFilterSums
bound_cost(double epsilon, double delta, double order)
{
	DpermFilterSums cost = dperm_filter_pure(epsilon, order);

	cost.delta = cost.direct = dperm_amount_of(delta, 24, true);
	cost.tail = 0;
	return cost;
}

static double
hockey(double loss, double epsilon)
{
	return loss > epsilon ? -expm1(epsilon - loss) : 0;
}

/* The delta of an adversary that makes no more releases after this one. */
static double
reach(const Law *law, double loss, double epsilon)
{
	double		sum = 0;

	for (int i = 0; i < law->count; i++)
		sum += law->p[i] > 0 ? law->p[i] * hockey(loss + loss_of(law, i), epsilon) : 0;
	return sum;
}

/* ---- the order and the limit ---- */

TEST(limit_converts_to_its_share)
{
	const double epsilons[] = {0.01, 0.1, 1, 3, 10, 100, 500};
	const double deltas[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1};

	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++)
		{
			DpermFilter filter = filter_of(epsilons[i], deltas[j]);
			double		limit = dperm_amount_double(dperm_filter_limit(&filter));

			CHECK(filter.order > 1);
			if (limit == 0)
				continue;
			CHECK(dperm_composition_convert(limit, filter.order, 11.0 / 16 * deltas[j]) <= epsilons[i]);
			CHECK(dperm_composition_convert(limit * 1.000001 + 1e-9, filter.order, 11.0 / 16 * deltas[j]) > epsilons[i]);
		}
}

/*
 * No other order allows more releases with a little Gaussian noise each, except
 * for rounding to three digits.
 */
TEST(order_is_the_best_for_gaussian_noise)
{
	const double epsilons[] = {0.1, 1, 3, 10};

	for (int i = 0; i < 4; i++)
	{
		DpermFilter filter = filter_of(epsilons[i], 1e-6);
		double		best = dperm_amount_double(dperm_filter_limit(&filter)) / filter.order;

		CHECK(best > 0);
		for (double order = 1.01; order < 1e5; order *= 1.02)
		{
			filter.order = order;
			CHECK(dperm_amount_double(dperm_filter_limit(&filter)) / order <= best * 1.01);
		}
	}
	CHECK(dperm_filter_order(1, 0) == 0);
}

/* ---- the rules ---- */

TEST(sums_without_delta)
{
	DpermFilter filter = filter_of(1, 0);
	DpermFilterSums spent = {0};
	DpermFilterSums tenth = dperm_filter_pure(0.1, 0);
	DpermFilterSums least = dperm_filter_pure(1e-12, 0);
	DpermFilterSums more;

	for (int i = 0; i < 10; i++)
	{
		CHECK_NEAR(dperm_amount_double(dperm_filter_left(&filter, &spent)), 1 - 0.1 * i, 1e-15);
		spent = dperm_filter_add(&spent, &tenth);
		CHECK(dperm_filter_allows(&filter, &spent));
	}
	more = dperm_filter_add(&spent, &least);
	CHECK(!dperm_filter_allows(&filter, &more));
	CHECK(dperm_amount_double(dperm_filter_left(&filter, &spent)) == 0);

	/* no delta is allowed, however small */
	spent = (DpermFilterSums) {.delta = 1};
	CHECK(!dperm_filter_allows(&filter, &spent));
}

/* Either rule alone is enough; what neither allows is refused. */
TEST(either_rule)
{
	DpermFilter filter = filter_of(1, 1e-6);
	DpermAmount limit = dperm_filter_limit(&filter);
	DpermAmount one = 1;
	DpermAmount quarter = filter.delta / 4;
	DpermAmount sixteenth = filter.delta / 16;
	DpermAmount much = dperm_amount_of(1000, 0, true);
	DpermFilterSums a = {filter.epsilon, quarter, much, filter.delta, 0};
	DpermFilterSums b = {much, filter.delta, limit, sixteenth, filter.delta};
	DpermFilterSums over;

	CHECK(dperm_filter_allows(&filter, &a));
	CHECK(dperm_filter_allows(&filter, &b));
	over = a, over.epsilon = dperm_amount_add(a.epsilon, one);
	CHECK(!dperm_filter_allows(&filter, &over));
	over = a, over.delta = dperm_amount_add(a.delta, one);
	CHECK(!dperm_filter_allows(&filter, &over));
	/* tails count as deltas do */
	over = a, over.tail = one;
	CHECK(!dperm_filter_allows(&filter, &over));
	over.delta = a.delta - one;
	CHECK(dperm_filter_allows(&filter, &over));
	over = b, over.divergence = dperm_amount_add(b.divergence, one);
	CHECK(!dperm_filter_allows(&filter, &over));
	over = b, over.direct = dperm_amount_add(b.direct, one);
	CHECK(!dperm_filter_allows(&filter, &over));
}

/* What is left is allowed, and one unit more is not. */
TEST(left_is_the_largest)
{
	srand(5);
	for (int i = 0; i < 200; i++)
	{
		double		epsilon = exp(-3 + 6.0 * rand() / RAND_MAX);
		DpermFilter filter = filter_of(epsilon, i % 4 ? exp(-25 + 15.0 * rand() / RAND_MAX) : 0);
		DpermFilterSums spent = {0};
		DpermFilterSums each = dperm_filter_pure(epsilon * exp(-6.0 * rand() / RAND_MAX), filter.order);
		DpermAmount left;
		DpermFilterSums next;

		for (int k = rand() % 30; k > 0; k--)
			spent = dperm_filter_add(&spent, &each);
		left = dperm_filter_left(&filter, &spent);
		if (left > 0)
		{
			next = dperm_filter_pure(dperm_amount_double(left), filter.order);
			next = dperm_filter_add(&spent, &next);
			CHECK(dperm_filter_allows(&filter, &next));
		}
		left += DPERM_AMOUNT_ONE / 1000000000000;
		next = dperm_filter_pure(dperm_amount_double(left), filter.order);
		next = dperm_filter_add(&spent, &next);
		CHECK(!dperm_filter_allows(&filter, &next));
	}
}

/* The same of delta, beside an epsilon. */
TEST(delta_left_is_the_largest)
{
	int			some = 0;

	srand(6);
	for (int round = 0; round < 300; round++)
	{
		DpermFilter filter = filter_of(exp(-3 + 6.0 * rand() / RAND_MAX), exp(-25 + 24.0 * rand() / RAND_MAX));
		double		epsilon = dperm_amount_double(filter.epsilon) * exp(-6.0 * rand() / RAND_MAX);
		DpermFilterSums spent = {0};
		DpermFilterSums next;
		DpermAmount left;

		/* a few, or so many small ones that sums do not allow any more */
		for (int i = 0; i < (round % 2 ? 6 : 300); i++)
		{
			double		part = round % 2 ? epsilon * rand() / RAND_MAX : dperm_amount_double(filter.epsilon) / 200;
			DpermFilterSums cost = i % 20 ? dperm_filter_pure(part, filter.order) : bound_cost(part, dperm_amount_double(filter.delta) * 0.1 * rand() / RAND_MAX, filter.order);

			next = dperm_filter_add(&spent, &cost);
			if (dperm_filter_allows(&filter, &next))
				spent = next;
		}
		left = dperm_filter_delta_left(&filter, &spent, epsilon);
		next = bound_cost(epsilon, 0, filter.order);
		next.delta = next.direct = left;
		next = dperm_filter_add(&spent, &next);
		if (left > 0)
		{
			CHECK(dperm_filter_allows(&filter, &next));
			some++;
		}
		next.delta = dperm_amount_add(next.delta, 1);
		next.direct = dperm_amount_add(next.direct, 1);
		CHECK(!dperm_filter_allows(&filter, &next));
	}
	CHECK(some > 50 && some < 300);
}

/* ---- adversaries ---- */

/* The wrong rule: the best of all orders for what was released. */
static bool
best_order_allows(const Law *first, const Law *second, double epsilon, double delta)
{
	for (int i = 0; i < DPERM_ORDER_COUNT; i++)
	{
		double		order = dperm_composition_order(i);

		if (dperm_composition_convert(divergence(first, order) + divergence(second, order), order, delta) <= epsilon)
			return true;
	}
	return false;
}

/*
 * The counter-example to the best order: the outcome of a first release chooses
 * between two second ones, which the rule allows by different orders. Together
 * they attain a delta of 1.77e-5 where the budget is 1e-5.
 */
TEST(best_order_is_no_filter)
{
	Law			first = needle(0.105, 0.046);
	Law			second[] = {needle(0.0099, 0.9634), needle(0.000121, 1.0828)};
	DpermFilter filter = filter_of(1, 1e-5);
	DpermFilterSums cost = known_cost(&first, filter.order);
	double		sum = 0;
	int			allowed = 0;

	for (int i = 0; i < 2; i++)
	{
		DpermFilterSums more = known_cost(&second[i], filter.order);

		CHECK(best_order_allows(&first, &second[i], 1, 1e-5));
		sum += first.p[i] * reach(&second[i], loss_of(&first, i), 1);
		more = dperm_filter_add(&cost, &more);
		allowed += dperm_filter_allows(&filter, &more);
	}
	CHECK(sum > 1.2e-5);

	/* the filter does not allow both */
	CHECK(allowed < 2);
}

/* The probability of a needle that spends a divergence. */
static double
needle_for(double loss, double order, double left)
{
	double		low = 0;
	double		high = 0.999;

	for (int i = 0; i < 60; i++)
	{
		double		middle = (low + high) / 2;
		Law			law = needle(middle, loss);

		if (middle > 0 && divergence(&law, order) > left)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* a - b, or 0 if b is larger. */
static DpermAmount
less(DpermAmount a, DpermAmount b)
{
	return a > b ? a - b : 0;
}

/*
 * The best last release, given the loss so far: a needle that spends the rest
 * by Renyi divergences, where conversion is tight; the worst that sums still
 * allow; the worst of which only epsilon and delta are known, by divergences.
 */
static double
best_last(const DpermFilter *filter, const DpermFilterSums *spent, double loss, double epsilon)
{
	const double tries[] = {1, 0.5, 0.25, 0.125, 0.0625};
	double		most = hockey(loss, epsilon);
	double		rest = dperm_amount_double(less(dperm_filter_limit(filter), spent->divergence));
	double		aim = fmax(epsilon - loss + log(filter->order / (filter->order - 1)), 1e-6);
	double		left = dperm_amount_double(less(filter->epsilon, spent->epsilon));
	double		pure = dperm_amount_double(dperm_filter_left(filter, spent));
	double		delta = dperm_amount_double(filter->delta);
	Law			laws[11];
	DpermFilterSums costs[11];
	int			count = 1;

	laws[0] = needle(fmax(needle_for(aim, filter->order, rest * 0.9999999), 1e-30), aim);
	costs[0] = known_cost(&laws[0], filter->order);

	/* as much delta as may be left; the filter decides */
	for (int i = 0; i < 5; i++)
	{
		double		direct = fmax(tries[i] * delta - dperm_amount_double(spent->delta), 0) * 0.999999;

		laws[count] = worst(left, direct);
		costs[count++] = bound_cost(left, direct, filter->order);
		direct = fmax(tries[i] * delta - dperm_amount_double(spent->direct), 0) * 0.999999;
		laws[count] = worst(pure * 0.999999, direct);
		costs[count++] = bound_cost(pure * 0.999999, direct, filter->order);
	}
	for (int i = 0; i < count; i++)
	{
		DpermFilterSums all = dperm_filter_add(spent, &costs[i]);

		if (dperm_filter_allows(filter, &all))
			most = fmax(most, reach(&laws[i], loss, epsilon));
	}
	return most;
}

/*
 * The same after some more releases from a pool, each chosen in the light of
 * earlier outcomes.
 */
static double
best_of(const DpermFilter *filter, const DpermFilterSums *spent, double loss, double epsilon, const Law *pool, int count, int depth)
{
	double		most = best_last(filter, spent, loss, epsilon);

	for (int i = 0; depth > 0 && i < count; i++)
	{
		DpermFilterSums cost = known_cost(&pool[i], filter->order);
		DpermFilterSums all = dperm_filter_add(spent, &cost);
		double		sum = 0;

		if (!dperm_filter_allows(filter, &all))
			continue;
		for (int k = 0; k < pool[i].count; k++)
			sum += pool[i].p[k] * best_of(filter, &all, loss + loss_of(&pool[i], k), epsilon, pool, count, depth - 1);
		most = fmax(most, sum);
	}
	return most;
}

/*
 * Random pools of first releases, and the best that can follow. They come close
 * to delta, and not beyond. The same with the order of another epsilon, as a
 * grant has it whose epsilon was changed after its first charge.
 */
TEST(adversaries_stay_within_delta)
{
	const double epsilons[] = {1, 0.3, 3};
	const double deltas[] = {1e-5, 1e-3, 1e-6};
	const double before[] = {1, 0.25, 4, 1};
	double		closest = 0;

	srand(7);
	for (int i = 0; i < 36; i++)
	{
		double		epsilon = epsilons[i % 3];
		double		delta = deltas[i / 3 % 3];
		DpermFilter filter = filter_of(epsilon, delta);
		DpermFilterSums nothing = {0};
		Law			pool[3];
		double		reached;

		filter.order = dperm_filter_order(before[i / 9] * epsilon, delta);
		for (int k = 0; k < 3; k++)
		{
			double		loss = epsilon * exp(-5.0 * rand() / RAND_MAX);

			pool[k] = k == 0 ? response(loss) : needle(exp(-8.0 * rand() / RAND_MAX) * 0.9, loss);
		}
		reached = best_of(&filter, &nothing, 0, epsilon, pool, 3, 2);
		CHECK(reached <= delta);
		closest = fmax(closest, reached / delta);
	}
	CHECK(closest > 0.5);
}

/*
 * Every strategy over two sizes of randomised response, without a limit on
 * their number: by backward induction over everything that the filter allows,
 * and all losses. RATIO of the small ones are as large as the other.
 */
#define RATIO 4
#define MOST 600
#define MOST_LARGE 40
static double values[2][MOST_LARGE + 2][2 * MOST + 1];

static double
best_strategy(const DpermFilter *filter, double epsilon, double size, int *small_ones)
{
	static bool allowed[MOST + 2][MOST_LARGE + 2];
	DpermFilterSums costs[] = {dperm_filter_pure(size, filter->order), dperm_filter_pure(RATIO * size, filter->order)};
	double		high[] = {1 / (1 + exp(-size)), 1 / (1 + exp(-RATIO * size))};
	DpermFilterSums small = {0};

	*small_ones = 0;
	for (int i = 0; i <= MOST; i++)
	{
		DpermFilterSums all = small;

		for (int j = 0; j <= MOST_LARGE; j++)
		{
			/* if this is too much, so is more */
			allowed[i][j] = (j == 0 || allowed[i][j - 1]) && (i == 0 || allowed[i - 1][j]) && dperm_filter_allows(filter, &all);
			all = dperm_filter_add(&all, &costs[1]);
		}
		if (allowed[i][0])
			*small_ones = i;
		small = dperm_filter_add(&small, &costs[0]);
	}
	for (int i = *small_ones; i >= 0; i--)
		for (int j = MOST_LARGE; j >= 0; j--)
			for (int at = 0; allowed[i][j] && at <= 2 * MOST; at++)
			{
				int			loss = at - MOST;
				double		most = hockey(loss * size, epsilon);

				if (i + 1 <= *small_ones && allowed[i + 1][j] && at > 0 && at < 2 * MOST)
					most = fmax(most, high[0] * values[(i + 1) % 2][j][at + 1] + (1 - high[0]) * values[(i + 1) % 2][j][at - 1]);
				if (j < MOST_LARGE && allowed[i][j + 1] && at >= RATIO && at <= 2 * MOST - RATIO)
					most = fmax(most, high[1] * values[i % 2][j + 1][at + RATIO] + (1 - high[1]) * values[i % 2][j + 1][at - RATIO]);
				values[i % 2][j][at] = most;
			}
	return values[0][0][MOST];
}

TEST(no_strategy_of_small_releases_gets_beyond_delta)
{
	DpermFilter filter = filter_of(0.5, 1e-3);
	int			small_ones;
	double		reached = best_strategy(&filter, 0.5, 0.01, &small_ones);

	CHECK(reached <= 1e-3);
	CHECK(reached > 1e-7);

	/* far more than the fifty that sums allow, and all losses were in range */
	CHECK(small_ones > 100 && small_ones < MOST);
}
