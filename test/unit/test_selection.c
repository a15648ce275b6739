/*
 * test_selection.c: the private choice against its closed forms.
 *
 * The closed forms are computed here, and their properties are checked: the
 * ratio of neighbours, and which rule is better. The library is then compared
 * with them by chi-square.
 */
#include "unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/core.h"
#include "core/mechanism/charge.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "unit/entropy.h"
#include "unit/goodness.h"

/* As a whole number of the twelfth digit after the point, amounts are multiples of this. */
#define TRILLION UINT64_C(1000000000000)

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */
#define DRAWS 40000
#define MOST 5					/* candidates */
#define UNIT 0x1p20				/* of a budget */

static const DpermSelection rules[] = {DPERM_SELECT_PERMUTE_AND_FLIP, DPERM_SELECT_EXPONENTIAL};

/* The probability that each candidate accepts: exp(-excess epsilon/2). */
static void
acceptance(const int64_t *mistakes, int count, double epsilon, double *accept)
{
	int64_t		best = mistakes[0];

	for (int i = 1; i < count; i++)
		best = mistakes[i] < best ? mistakes[i] : best;
	for (int i = 0; i < count; i++)
		accept[i] = exp(-(double) (mistakes[i] - best) * epsilon / 2);
}

/*
 * The first of a random order that accepts: candidate i is at a uniform place u
 * of the order, and each other one is before it and refuses with probability u
 * (1 - p_j). So its probability is p_i times the integral of the product of 1 -
 * u p_j, here by its expansion over subsets.
 */
static void
permute_and_flip_law(const double *accept, int count, double *law)
{
	for (int i = 0; i < count; i++)
	{
		law[i] = 0;
		for (int subset = 0; subset < 1 << count; subset++)
		{
			double		product = accept[i];
			int			size = 0;

			if (subset & 1 << i)
				continue;
			for (int j = 0; j < count; j++)
				if (subset & 1 << j)
				{
					product *= -accept[j];
					size++;
				}
			law[i] += product / (size + 1);
		}
	}
}

/* The same by going through all orders. */
static void
add_orders(const double *accept, int count, int used, double weight, double *law)
{
	int			left = count;

	for (int i = 0; i < count; i++)
		left -= used >> i & 1;
	for (int i = 0; i < count; i++)
		if (!(used & 1 << i))
		{
			law[i] += weight / left * accept[i];
			add_orders(accept, count, used | 1 << i, weight / left * (1 - accept[i]), law);
		}
}

/* The exponential mechanism. */
static void
exponential_law(const double *accept, int count, double *law)
{
	double		sum = 0;

	for (int i = 0; i < count; i++)
		sum += accept[i];
	for (int i = 0; i < count; i++)
		law[i] = accept[i] / sum;
}

/* The law of a rule. */
static void
law_of(DpermSelection rule, const int64_t *mistakes, int count, double epsilon, double *law)
{
	double		accept[MOST];

	acceptance(mistakes, count, epsilon, accept);
	if (rule == DPERM_SELECT_EXPONENTIAL)
		exponential_law(accept, count, law);
	else
		permute_and_flip_law(accept, count, law);
}

/* The next vector of digits below base; false after the last. */
static bool
next_vector(int64_t *digits, int count, int base)
{
	for (int i = 0; i < count; i++)
	{
		if (++digits[i] < base)
			return true;
		digits[i] = 0;
	}
	return false;
}

TEST(closed_forms_agree)
{
	for (int count = 1; count <= MOST; count++)
	{
		int64_t		mistakes[MOST] = {0};

		do
		{
			double		accept[MOST];
			double		by_subsets[MOST];
			double		by_orders[MOST] = {0};
			double		sum = 0;

			acceptance(mistakes, count, 0.7, accept);
			permute_and_flip_law(accept, count, by_subsets);
			add_orders(accept, count, 0, 1, by_orders);
			for (int i = 0; i < count; i++)
			{
				CHECK_NEAR(by_subsets[i], by_orders[i], 1e-13);
				sum += by_orders[i];
			}
			CHECK_NEAR(sum, 1, 1e-13);
		} while (next_vector(mistakes, count, 4));
	}
}

/* One vector of mistakes at one epsilon. */
typedef struct Case
{
	double		epsilon;
	int			count;
	int64_t		mistakes[MOST];
} Case;

static const Case cases[] = {
	{1, 1, {7}},
	{1, 2, {0, 0}},
	{1, 2, {0, 1}},
	{1, 2, {5, 3}},
	{0.1, 2, {100, 90}},
	{0.3, 3, {4, 4, 4}},
	{0.3, 3, {0, 4, 9}},
	{1, 3, {1, 1, 3}},
	{2, 4, {3, 2, 1, 0}},
	{0.5, 4, {7, 7, 2, 2}},
	{0.5, 5, {10, 12, 14, 11, 10}},
	{1, 5, {0, 0, 0, 0, 1}},
	{1, 5, {1, 0, 1, 1, 1}},
	{0.01, 5, {1000, 1100, 1200, 1300, 1400}},
	{3, 3, {0, 1, 2}},			/* exponents of 1.5 and 3: an integer part above 1 */
	{5, 2, {1, 0}},
	{1, 2, {0, 4000}},			/* a gap that never wins */
	{1, 3, {4000, 0, 2}},
	{1.0 / 3, 3, {1, 6, 3}},	/* not dyadic */
	{1e-6, 3, {0, 3 * (1 << 20), (1 << 22) + 5}},	/* excess beyond 2^21 */
	{1e-6, 2, {0, 1}},
	{1e6, 3, {4, 3, 3}},		/* one mistake decides */
	{1e6, 2, {INT64_C(1) << 33, 0}},
	{1e-6, 2, {INT64_C(1) << 33, 0}}
};

TEST(has_its_law)
{
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 1);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		for (int r = 0; r < 2; r++)
		{
			const Case *at = &cases[c];
			uint64_t	budget = dperm_selection_budget(at->epsilon, DPERM_NEIGHBOURS_REPLACE);
			int64_t		counts[MOST] = {0};
			double		law[MOST];
			int			order[MOST];
			double		p;

			law_of(rules[r], at->mistakes, at->count, (double) budget / UNIT, law);
			for (int k = 0; k < DRAWS; k++)
			{
				int			chosen = dperm_selection_choose(&e, rules[r], budget, 1, at->mistakes,
												  at->count, order);

				CHECK(chosen >= 0 && chosen < at->count);
				counts[chosen]++;
			}
			p = counts_fit_p(counts, law, at->count, DRAWS);
			CHECK(p > P_MIN);
			if (!(p > P_MIN))
				fprintf(stderr, "case %zu, rule %d: p = %g\n", c, r, p);
		}
	CHECK(e.status == DPERM_OK);
}

/*
 * Mistakes in parts of a person: excess divided by parts in place of excess,
 * whatever the sizes.
 */
TEST(has_its_law_for_persons)
{
	static const Case persons[] = {
		{1, 3, {0, 1, 2}},
		{0.3, 3, {0, 4, 9}},
		{2, 4, {3, 2, 1, 0}},
		{1.0 / 3, 3, {1, 6, 3}},
		{8, 2, {1, 0}},
		{1e6, 3, {4, 3, 3}},
		{1e6, 2, {INT64_C(1) << 33, 0}},
		{1e-6, 3, {0, 3 * (1 << 20), (1 << 22) + 5}},
		{1e-6, 2, {INT64_C(1) << 33, 0}}
	};
	static const uint64_t parts[] = {3, 1000, DPERM_PERSON_PARTS};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 21);
	for (size_t c = 0; c < sizeof(persons) / sizeof(persons[0]); c++)
		for (int r = 0; r < 2; r++)
			for (int p = 0; p < 3; p++)
			{
				const Case *at = &persons[c];
				int64_t		whole = (int64_t) parts[p];
				uint64_t	budget = dperm_selection_budget(at->epsilon, (DpermNeighbours) (p % 2));
				int64_t		mistakes[MOST];
				int64_t		counts[MOST] = {0};
				double		law[MOST];
				int			order[MOST];

				/*
				 * and some parts of a person more, two fifths of one for the
				 * first
				 */
				for (int i = 0; i < at->count; i++)
					mistakes[i] = at->mistakes[i] * whole + (i + 2) * whole / 5;
				law_of(rules[r], mistakes, at->count, (double) budget / UNIT / (double) whole, law);
				for (int k = 0; k < DRAWS / 2; k++)
					counts[dperm_selection_choose(&e, rules[r], budget, parts[p], mistakes, at->count, order)]++;
				CHECK(counts_fit_p(counts, law, at->count, DRAWS / 2) > P_MIN);
			}
	CHECK(e.status == DPERM_OK);
}

/*
 * Replacing a person changes every count by at most the parts of one, in any
 * fraction.
 */
TEST(persons_are_within_epsilon)
{
	enum
	{
		PARTS = 3
	};
	int64_t		mistakes[3] = {0};
	double		spent = (double) dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE) / UNIT;
	double		worst[2] = {0, 0};

	do
	{
		int64_t		steps[3] = {0};

		do
		{
			for (int r = 0; r < 2; r++)
			{
				double		law[MOST],
							other[MOST];
				int64_t		neighbour[3];

				for (int i = 0; i < 3; i++)
					neighbour[i] = mistakes[i] + steps[i] - PARTS;
				law_of(rules[r], mistakes, 3, spent / PARTS, law);
				law_of(rules[r], neighbour, 3, spent / PARTS, other);
				for (int i = 0; i < 3; i++)
					worst[r] = fmax(worst[r], log(law[i] / other[i]));
			}
		} while (next_vector(steps, 3, 2 * PARTS + 1));
	} while (next_vector(mistakes, 3, 8));
	CHECK(worst[0] <= 1 + 1e-12 && worst[1] <= 1 + 1e-12);
	CHECK(worst[0] > 0.75);
}

/*
 * A choice depends on the differences of counts, not on how candidates are
 * numbered.
 */
TEST(knows_no_names)
{
	static const int64_t near[3] = {2, 0, 5};
	static const int64_t far[3] = {2 + (INT64_C(1) << 32), INT64_C(1) << 32, 5 + (INT64_C(1) << 32)};

	for (int r = 0; r < 2; r++)
	{
		TestEntropy one,
					two;
		DpermEntropy e,
					same;
		int			order[3];
		int			same_order[3];

		test_entropy_init(&e, &one, 9);
		test_entropy_init(&same, &two, 9);
		for (int k = 0; k < 1000; k++)
			CHECK(dperm_selection_choose(&e, rules[r], 1 << 20, 1, near, 3, order) ==
				  dperm_selection_choose(&same, rules[r], 1 << 20, 1, far, 3, same_order));
	}
}

/*
 * Replacing a row of the last portion changes every count by at most one;
 * removing it takes one from some of them and adds to none; adding it back is
 * the other direction. Over all vectors and all neighbours of each: how much
 * more likely a candidate becomes.
 */
static double
worst_loss(DpermSelection rule, double epsilon, int count, int base, DpermNeighbours neighbours)
{
	int64_t		mistakes[MOST] = {0};
	bool		removed = neighbours == DPERM_NEIGHBOURS_REMOVE;
	double		worst = 0;

	do
	{
		int64_t		steps[MOST] = {0};
		double		law[MOST];

		law_of(rule, mistakes, count, epsilon, law);
		do
		{
			int64_t		neighbour[MOST];
			double		other[MOST];

			for (int i = 0; i < count; i++)
				neighbour[i] = mistakes[i] - steps[i] + !removed;
			law_of(rule, neighbour, count, epsilon, other);
			for (int i = 0; i < count; i++)
				worst = fmax(worst, fabs(log(law[i] / other[i])));
		} while (next_vector(steps, count, removed ? 2 : 3));
	} while (next_vector(mistakes, count, base));
	return worst;
}

/*
 * So twice the budget is just within epsilon when rows are removed, and not
 * when they are replaced.
 */
TEST(removed_rows_are_within_epsilon)
{
	static const double epsilons[] = {1e-6, 0.05, 1.0 / 3, 1, 2.5, 8};
	static const int bases[] = {0, 3, 12, 7, 5, 3};

	for (size_t k = 0; k < sizeof(epsilons) / sizeof(epsilons[0]); k++)
	{
		double		epsilon = epsilons[k];
		double		preference = (double) dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REMOVE) / UNIT;

		CHECK(dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) == dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE));
		CHECK(preference > epsilon && preference <= 2 * epsilon);
		for (int count = 1; count <= MOST; count++)
			for (int r = 0; r < 2; r++)
			{
				double		worst = worst_loss(rules[r], preference, count, bases[count], DPERM_NEIGHBOURS_REMOVE);

				CHECK(worst <= epsilon * (1 + 1e-12) + 1e-12);
				if (count == 2 && rules[r] == DPERM_SELECT_PERMUTE_AND_FLIP)
				{
					CHECK_NEAR(worst, preference / 2, 1e-12);
					CHECK(worst_loss(rules[r], preference, count, bases[count], DPERM_NEIGHBOURS_REPLACE) > 1.5 * epsilon);
				}
			}
		CHECK(worst_loss(DPERM_SELECT_PERMUTE_AND_FLIP, 2 * preference, 2, 6, DPERM_NEIGHBOURS_REMOVE) > 1.5 * epsilon);
	}
	CHECK(dperm_selection_budget(INFINITY, DPERM_NEIGHBOURS_REMOVE) == 0);
	CHECK(dperm_selection_budget(DPERM_EPSILON_MAX, DPERM_NEIGHBOURS_REMOVE) == (UINT64_C(1000) << 20) - 2);
}

TEST(neighbours_are_within_epsilon)
{
	static const double epsilons[] = {1e-6, 0.05, 1.0 / 3, 1, 2.5, 8};
	static const int bases[] = {0, 3, 12, 7, 5, 3};

	for (size_t k = 0; k < sizeof(epsilons) / sizeof(epsilons[0]); k++)
	{
		double		epsilon = epsilons[k];
		double		spent = (double) dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) / UNIT;

		for (int count = 1; count <= MOST; count++)
			for (int r = 0; r < 2; r++)
			{
				double		worst = worst_loss(rules[r], spent, count, bases[count], DPERM_NEIGHBOURS_REPLACE);

				CHECK(worst <= spent + 1e-12 && spent <= epsilon);
				if (count == 1)
					CHECK(worst == 0);
				else if (rules[r] == DPERM_SELECT_PERMUTE_AND_FLIP && count == 2)
					CHECK_NEAR(worst, spent, 1e-12);
			}

		/* a preference of epsilon instead of epsilon/2 would be detected */
		CHECK(worst_loss(DPERM_SELECT_PERMUTE_AND_FLIP, 2 * spent, 2, 6, DPERM_NEIGHBOURS_REPLACE) > 1.5 * spent);
		CHECK(worst_loss(DPERM_SELECT_EXPONENTIAL, 2 * spent, 3, 6, DPERM_NEIGHBOURS_REPLACE) > 1.05 * spent);
	}
}

/*
 * Permute-and-flip makes no more mistakes than the exponential mechanism,
 * whatever the counts.
 */
TEST(permute_and_flip_is_never_worse)
{
	static const double epsilons[] = {0.05, 0.5, 1, 4};
	static const int bases[] = {0, 2, 20, 9, 6, 4};
	double		gain = 0;

	for (size_t k = 0; k < sizeof(epsilons) / sizeof(epsilons[0]); k++)
		for (int count = 1; count <= MOST; count++)
		{
			int64_t		mistakes[MOST] = {0};

			do
			{
				double		ours[MOST],
							theirs[MOST];
				double		expected = 0,
							paper = 0;

				law_of(DPERM_SELECT_PERMUTE_AND_FLIP, mistakes, count, epsilons[k], ours);
				law_of(DPERM_SELECT_EXPONENTIAL, mistakes, count, epsilons[k], theirs);
				for (int i = 0; i < count; i++)
				{
					expected += ours[i] * (double) mistakes[i];
					paper += theirs[i] * (double) mistakes[i];
				}
				CHECK(expected <= paper + 1e-12);
				gain = fmax(gain, paper - expected);
			} while (next_vector(mistakes, count, bases[count]));
		}
	CHECK(gain > 0.5);
}

TEST(rounds_the_budget_down)
{
	TestRandom	state = 5;

	CHECK(DPERM_EPSILON_MIN >= 1 / UNIT);	/* one unit is within every epsilon */
	CHECK(dperm_selection_budget(DPERM_EPSILON_MIN, DPERM_NEIGHBOURS_REPLACE) == 1);
	for (int i = 0; i < 100000; i++)
	{
		double		epsilon = pow(10, -6 + 12 * test_uniform(&state));
		double		spent;

		if (epsilon < DPERM_EPSILON_MIN)
			continue;
		spent = (double) dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) / UNIT;
		CHECK(spent <= epsilon && spent > epsilon - 1 / UNIT);
	}
	CHECK(dperm_selection_budget(1, DPERM_NEIGHBOURS_REPLACE) == 1 << 20);
	CHECK(dperm_selection_budget(nextafter(1, 0), DPERM_NEIGHBOURS_REPLACE) == (1 << 20) - 1);
	CHECK(dperm_selection_budget(0.1, DPERM_NEIGHBOURS_REPLACE) == 104857);
	CHECK(dperm_selection_budget(DPERM_EPSILON_MAX, DPERM_NEIGHBOURS_REPLACE) == (UINT64_C(500) << 20) - 1);

	/* never 0, which would mean no privacy; and no overflow */
	CHECK(dperm_selection_budget(1e-9, DPERM_NEIGHBOURS_REPLACE) == 1);
	CHECK(dperm_selection_budget(5e-324, DPERM_NEIGHBOURS_REPLACE) == 1);
	CHECK(dperm_selection_budget(0x1p20, DPERM_NEIGHBOURS_REPLACE) == (UINT64_C(1) << 40) - 1);
	CHECK(dperm_selection_budget(1e300, DPERM_NEIGHBOURS_REPLACE) == UINT64_C(1) << 40);
	CHECK(dperm_selection_budget(INFINITY, DPERM_NEIGHBOURS_REPLACE) == 0);
}

/*
 * What is spent is never more than what a budget is charged: the shortest
 * decimal of epsilon, rounded up to 12 digits. The search is where they are
 * closest: decimals of 12 digits just below a multiple of 2^-20 that read as
 * that multiple.
 */
TEST(spends_no_more_than_is_charged)
{
	TestRandom	state = 3;
	int			close = 0;

	for (int i = 0; i < 200000; i++)
	{
		uint64_t	units = 1 + test_below(&state, 500 << 20);
		unsigned __int128 most = (unsigned __int128) units * TRILLION;
		uint64_t	decimal = (uint64_t) (most >> 20);
		char		text[40];
		double		epsilon;
		DpermAmount charged;

		snprintf(text, sizeof(text), "%llu.%012llu", (unsigned long long) (decimal / UINT64_C(1000000000000)),
				 (unsigned long long) (decimal % UINT64_C(1000000000000)));
		epsilon = strtod(text, NULL);
		close += epsilon * UNIT == (double) units && (unsigned __int128) decimal << 20 < most;
		charged = dperm_amount_of(epsilon, 12, true);
		CHECK(charged % TRILLION == 0);
		CHECK((unsigned __int128) dperm_selection_budget(epsilon, DPERM_NEIGHBOURS_REPLACE) * TRILLION <= charged / TRILLION << 20);
	}
	CHECK(close > 100);
}

/*
 * Without privacy: the fewest mistakes, the first of those that tie, and no
 * random bits.
 */
TEST(infinite_epsilon_takes_the_best)
{
	static const int64_t mistakes[5] = {3, 2, 9, 2, 4};
	TestEntropy source;
	DpermEntropy e;
	int			order[5];

	test_entropy_init(&e, &source, 1);
	source.fail_at = 0;
	for (int r = 0; r < 2; r++)
	{
		CHECK(dperm_selection_choose(&e, rules[r], 0, 1, mistakes, 5, order) == 1);
		CHECK(dperm_selection_choose(&e, rules[r], 0, 1, mistakes + 2, 3, order) == 1);
		CHECK(dperm_selection_choose(&e, rules[r], 0, 1, mistakes, 1, order) == 0);
	}
	CHECK(source.fills == 0 && e.status == DPERM_OK);
}

/*
 * A source that fails, now or later: the draw ends with an index within bounds,
 * and the failure is reported.
 */
TEST(ends_without_entropy)
{
	static const int64_t mistakes[5] = {100, 3, 50, 70, 90};

	for (int r = 0; r < 2; r++)
		for (int fail_at = 0; fail_at < 6; fail_at++)
		{
			TestEntropy source;
			DpermEntropy e;
			int			order[5];
			int			draws = 0;

			test_entropy_init(&e, &source, 3);
			source.fail_at = fail_at;
			while (e.status == DPERM_OK && draws++ < 100000)
			{
				int			chosen = dperm_selection_choose(&e, rules[r], 1 << 16, 1, mistakes, 5, order);

				CHECK(chosen >= 0 && chosen < 5);
			}
			CHECK(e.status != DPERM_OK);

			/* and immediately from then on, however unlikely the others are */
			CHECK(dperm_selection_choose(&e, rules[r], UINT64_C(1) << 40, 1, mistakes, 5, order) >= 0);
			CHECK(e.status != DPERM_OK);
		}
}

TEST(names_round_trip)
{
	static const char *const others[] = {"Exponential", "", "permute-and-flip"};

	for (int r = 0; r < 2; r++)
		CHECK(dperm_find_word(dperm_selection_name, DPERM_SELECTION_COUNT,
							  dperm_selection_name(rules[r])) == (int) rules[r]);
	CHECK_TEXT(dperm_selection_name(DPERM_SELECT_EXPONENTIAL), "exponential");
	CHECK_TEXT(dperm_selection_name(DPERM_SELECT_PERMUTE_AND_FLIP), "permute_and_flip");
	for (int i = 0; i < 3; i++)
		CHECK(dperm_find_word(dperm_selection_name, DPERM_SELECTION_COUNT, others[i]) < 0);
}
