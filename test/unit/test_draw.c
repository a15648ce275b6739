/*
 * test_draw.c: the random draws against their exact laws, on fixed streams, and
 * what happens when the random source fails.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "unit/entropy.h"
#include "unit/goodness.h"

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */
#define DRAWS 200000

static double values[DRAWS];

/* Chi-square p-value of counts against probabilities. */
static double
counts_p(const int64_t *counts, const double *probabilities, int cells, int64_t total)
{
	double		statistic = 0;

	for (int i = 0; i < cells; i++)
	{
		double		expected = probabilities[i] * total;

		statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
	}
	return chi_square_p(statistic, cells - 1);
}

/* Two-sided p-value of a success count. */
static double
binomial_p(int64_t successes, int64_t total, double probability)
{
	double		spread = sqrt(total * probability * (1 - probability));

	return erfc(fabs(successes - total * probability) / spread / sqrt(2));
}

TEST(words_and_bits_are_the_stream)
{
	TestEntropy source;
	TestEntropy same = {.state = 5, .fail_at = -1};
	DpermEntropy e;
	uint64_t	pool[32];
	uint64_t	word = 0;
	int64_t		ones = 0;

	test_entropy_init(&e, &source, 5);
	for (int block = 0; block < 4; block++)
	{
		bool		used[32] = {false};

		/* every word of the stream exactly once, in any order within a block */
		test_entropy_fill(&same, pool, sizeof(pool));
		for (int i = 0; i < 32; i++)
		{
			int			at = 0;

			word = dperm_draw_word(&e);
			while (at < 32 && (pool[at] != word || used[at]))
				at++;
			CHECK(at < 32);
			if (at < 32)
				used[at] = true;
		}
	}
	test_entropy_init(&e, &source, 6);
	for (int i = 0; i < DRAWS; i++)
		ones += dperm_draw_bit(&e);
	CHECK(binomial_p(ones, DRAWS, 0.5) > P_MIN);
	CHECK(e.status == DPERM_OK);
}

TEST(below_is_uniform)
{
	static const uint64_t small[] = {1, 2, 3, 7, 10, 63, 64, 65, 1000};
	static const uint64_t large[] = {(UINT64_C(1) << 63) - 1, UINT64_C(1) << 63,
		(UINT64_C(1) << 63) + 1, UINT64_C(0xc000000000000000), UINT64_MAX,
	UINT64_C(0xaaaaaaaaaaaaaaab), UINT64_C(1) << 50};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 1);
	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
	{
		int64_t		counts[1000] = {0};
		double		probabilities[1000];
		int			bound = (int) small[i];

		for (int k = 0; k < DRAWS; k++)
		{
			uint64_t	draw = dperm_draw_below(&e, small[i]);

			CHECK(draw < small[i]);
			counts[draw]++;
		}
		for (int k = 0; k < bound; k++)
			probabilities[k] = 1.0 / bound;
		if (bound > 1)
			CHECK(counts_p(counts, probabilities, bound, DRAWS) > P_MIN);
	}

	/* without rejection, one half of 3/4 of 2^64 would be twice as likely */
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
	{
		for (int k = 0; k < DRAWS / 4; k++)
		{
			uint64_t	draw = dperm_draw_below(&e, large[i]);

			CHECK(draw < large[i]);
			values[k] = (double) draw / (double) large[i];
		}
		CHECK(uniform_p(values, DRAWS / 4) > P_MIN);
	}
}

/*
 * Given words: the first is drawn last in a block, so both halves are filled
 * alike.
 */
static bool
edge_fill(void *arg, void *bytes, size_t count)
{
	uint64_t   *words = arg;

	for (size_t i = 0; i + sizeof(uint64_t) <= count; i += sizeof(uint64_t))
		memcpy((char *) bytes + i, &words[i / sizeof(uint64_t) % 2], sizeof(uint64_t));
	return true;
}

TEST(below_rejects_exactly_the_excess)
{
	/* 2^64 = 1 mod 3: the last word alone is rejected */
	uint64_t	last[2] = {1, UINT64_MAX};
	DpermEntropy e;

	test_entropy_from(&e, edge_fill, last);
	CHECK(dperm_draw_below(&e, 3) == 1);	/* redrawn */
	CHECK(e.left == 30);
	last[1] = UINT64_MAX - 1;
	test_entropy_from(&e, edge_fill, last);
	CHECK(dperm_draw_below(&e, 3) == 2);
	CHECK(e.left == 31);

	/* a power of two rejects nothing */
	last[1] = UINT64_MAX;
	test_entropy_from(&e, edge_fill, last);
	CHECK(dperm_draw_below(&e, UINT64_C(1) << 50) == (UINT64_C(1) << 50) - 1);
	CHECK(e.left == 31);
}

TEST(exp_minus_has_its_probability)
{
	static const uint64_t pairs[][2] = {{0, 1}, {1, 1}, {1, 2}, {1, 10}, {9, 10}, {999, 1000},
	{1, 1000}, {UINT64_C(1) << 49, UINT64_C(1) << 50},
	{(UINT64_C(1) << 50) - 1, UINT64_C(1) << 50}, {3, 7}};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 2);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
	{
		double		probability = exp(-(double) pairs[i][0] / (double) pairs[i][1]);
		int64_t		hits = 0;

		for (int k = 0; k < DRAWS; k++)
			hits += dperm_draw_exp_minus(&e, pairs[i][0], pairs[i][1], 1);
		if (pairs[i][0] == 0)
			CHECK(hits == DRAWS);
		else
			CHECK(binomial_p(hits, DRAWS, probability) > P_MIN);
	}
}

TEST(discrete_laplace_has_its_law)
{
	static const int scales[] = {1, 2, 3, 7, 20};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 3);
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
	{
		int			reach = 4 * scales[i];	/* |z| beyond it shares the two outer cells */
		int			cells = 2 * reach + 1;
		double		q = exp(-1.0 / scales[i]);
		int64_t		counts[200] = {0};
		double		probabilities[200];

		for (int k = 0; k < DRAWS; k++)
		{
			int64_t		z = dperm_draw_discrete_laplace(&e, scales[i], 1);

			z = z > reach ? reach : z < -reach ? -reach : z;
			counts[z + reach]++;
		}
		for (int k = -reach; k <= reach; k++)
			probabilities[k + reach] = (1 - q) / (1 + q) * pow(q, abs(k));
		probabilities[0] = probabilities[cells - 1] = pow(q, reach) / (1 + q);
		CHECK(counts_p(counts, probabilities, cells, DRAWS) > P_MIN);
	}
}

TEST(discrete_laplace_of_large_scale)
{
	static const int64_t scales[] = {1000, 1000000, INT64_C(1) << 50};
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 4);
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
	{
		TestRandom	state = 99;

		for (int k = 0; k < DRAWS / 2; k++)
		{
			/* spread over its own step, so that the law is continuous */
			double		z = (double) dperm_draw_discrete_laplace(&e, scales[i], 1);
			double		scale = (double) scales[i];
			double		q = exp(-1 / scale);
			double		at = (exp(-fabs(z) / scale)) / (1 + q);	/* P(beyond, z included) */
			double		mass = -expm1(-1 / scale) / (1 + q) * exp(-fabs(z) / scale);
			double		below = z <= 0 ? at - mass : 1 - at;

			values[k] = below + mass * test_uniform(&state);
		}
		CHECK(uniform_p(values, DRAWS / 2) > P_MIN);
	}
}

TEST(exponential_and_normal_have_their_laws)
{
	TestEntropy source;
	DpermEntropy e;
	double		pairs = 0;

	test_entropy_init(&e, &source, 5);
	for (int i = 0; i < DRAWS; i++)
		values[i] = -expm1(-dperm_draw_exponential(&e));
	CHECK(uniform_p(values, DRAWS) > P_MIN);

	/* the far end too: given that it is above 5, it is 5 plus an exponential */
	for (int i = 0; i < 3000;)
	{
		double		x = dperm_draw_exponential(&e);

		if (x > 5)
			values[i++] = -expm1(5 - x);
	}
	CHECK(uniform_p(values, 3000) > P_MIN);

	for (int i = 0; i < DRAWS; i += 2)
	{
		double		x = dperm_draw_normal(&e);
		double		y = dperm_draw_normal(&e);

		values[i] = erfc(-x / sqrt(2)) / 2;
		values[i + 1] = erfc(-y / sqrt(2)) / 2;
		pairs += x * y;
	}
	CHECK(uniform_p(values, DRAWS) > P_MIN);
	CHECK(fabs(pairs) / sqrt(DRAWS / 2) < 4);
}

/* Norm, direction and scale of the noise vector. */
TEST(gamma_sphere_has_its_law)
{
	static const int dims[] = {1, 2, 3, 4, 9, 40};
	static double b[40];
	static double angles[DRAWS];
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 6);
	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++)
	{
		int			dim = dims[i];
		int			count = 20000;
		int64_t		positive = 0;
		double		cross = 0;

		for (int k = 0; k < count; k++)
		{
			double		length = 0;

			dperm_draw_gamma_sphere(&e, dim, 0.37, b);
			for (int j = 0; j < dim; j++)
				length += b[j] * b[j];
			length = sqrt(length);
			values[k] = 1 - gamma_upper(dim, length / 0.37);
			angles[k] = dim == 1 ? 0.5 : direction_cdf(dim, b[k % dim] / length);
			positive += b[k % dim] > 0;
			cross += (values[k] - 0.5) * (angles[k] - 0.5) * 12;
		}
		CHECK(uniform_p(values, count) > P_MIN);
		CHECK(binomial_p(positive, count, 0.5) > P_MIN);
		CHECK(fabs(cross) / sqrt(count) < 4);
		if (dim > 1)
			CHECK(uniform_p(angles, count) > P_MIN);
	}
}

/* Every kind of draw, in turn. */
static void
draw_all(DpermEntropy *e)
{
	double		b[5];

	dperm_draw_discrete_laplace(e, 1, 1);
	dperm_draw_discrete_laplace(e, INT64_C(1) << 50, 1);
	dperm_draw_below(e, UINT64_C(0xaaaaaaaaaaaaaaab));
	dperm_draw_exp_minus(e, 1, 1, 1);
	dperm_draw_exponential(e);
	dperm_draw_gamma_sphere(e, 5, 1, b);
	for (int i = 0; i < 50; i++)
		dperm_draw_bit(e);
}

TEST(reports_a_failed_source)
{
	for (int k = 0; k < 40; k++)
	{
		TestEntropy source = {.state = 8, .fail_at = k};
		DpermEntropy e;

		test_entropy_from(&e, test_entropy_fill, &source);
		for (int i = 0; i < 100; i++)
		{
			bool		ok = e.status == DPERM_OK;

			draw_all(&e);
			CHECK((e.status == DPERM_OK) == (source.fills <= k));
			CHECK(ok || e.status != DPERM_OK);
		}
		CHECK(e.status != DPERM_OK);
		CHECK(source.fills == k + 1);	/* asked once more than it can answer, and never again */
		CHECK(dperm_draw_word(&e) == UINT64_MAX);
	}

	/* a failure inside each single draw, at each word of it */
	for (int kind = 0; kind < 6; kind++)
		for (int left = 0; left <= 32; left++)
		{
			TestEntropy source = {.state = 9 + (uint64_t) left, .fail_at = 1};
			DpermEntropy e;

			test_entropy_from(&e, test_entropy_fill, &source);
			for (int i = 0; i < left; i++)
				dperm_draw_word(&e);
			for (int i = 0; i < 40; i++)
				switch (kind)
				{
					case 0:
						dperm_draw_discrete_laplace(&e, 1000003, 1);
						break;
					case 1:
						dperm_draw_below(&e, (UINT64_C(1) << 63) + 1);
						break;
					case 2:
						dperm_draw_exp_minus(&e, 1, 1, 1);
						break;
					case 3:
						dperm_draw_exponential(&e);
						break;
					case 4:
						draw_all(&e);
						break;
					default:
						dperm_draw_word(&e);
				}
			CHECK(e.status != DPERM_OK);
		}
}

/*
 * Integer draws are the same on every machine; those that use libm nearly so.
 */
TEST(repeats_itself)
{
	static const int64_t laplace[] = {-957666, 1110391, 317745, -683819, -815442, -1327954};
	static const double sphere[] = {0.28814318788559939, -0.51336770808148668,
	0.42921794167155891};
	TestEntropy source;
	DpermEntropy e;
	double		b[3];

	test_entropy_init(&e, &source, 2024);
	for (int i = 0; i < 6; i++)
		CHECK(dperm_draw_discrete_laplace(&e, 1000000, 1) == laplace[i]);
	dperm_draw_gamma_sphere(&e, 3, 1, b);
	for (int i = 0; i < 3; i++)
		CHECK_NEAR(b[i], sphere[i], 1e-13);
}

TEST(wipes)
{
	TestEntropy source;
	DpermEntropy e;

	test_entropy_init(&e, &source, 10);
	dperm_draw_bit(&e);
	dperm_draw_word(&e);
	dperm_entropy_wipe(&e);
	CHECK(e.left == 0 && e.bits == 0 && e.bits_left == 0);
	for (int i = 0; i < 32; i++)
		CHECK(e.pool[i] == 0);
	CHECK(e.status == DPERM_OK);
	dperm_draw_word(&e);
	CHECK(e.left == 31);
}

/* A source stuck at zero is not a detectable failure, but nothing may hang. */
TEST(ends_on_zero_bits)
{
	DpermEntropy e;

	test_entropy_from(&e, test_entropy_zeros, NULL);
	CHECK(dperm_draw_discrete_laplace(&e, 12345, 1) == 0);
	CHECK(dperm_draw_exponential(&e) >= 0);
	CHECK(dperm_draw_below(&e, 3) == 0);
	CHECK(isfinite(dperm_draw_exponential(&e)));
}
