/*
 * test_composition.c: Renyi curves against integrals, and totals against
 * compositions that can be computed exactly.
 *
 * Where a law is known, the exact answer is computed here by other means: the
 * library's may be a little larger, never smaller.
 */
#include "unit/test.h"

#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/model/model.h"
#include "core/privacy/composition.h"
#include "loss_at.h"

static const double orders[] = {1.01, 1.2, 2, 3.5, 9, 30, 200};

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* A release of pure epsilon. */
static DpermRelease
pure(double epsilon)
{
	return (DpermRelease) {.epsilon = epsilon, .curve = DPERM_CURVE_PURE};
}

/* The least epsilon at which something that falls with it is at most delta. */
static double
invert(double (*delta_at) (const void *arg, double epsilon), const void *arg, double delta)
{
	double		low = 0;
	double		high = 1000;

	while (high - low > 1e-10)
	{
		double		middle = (low + high) / 2;

		if (delta_at(arg, middle) > delta)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double
gaussian_delta_at(const void *mu, double epsilon)
{
	return dperm_privacy_delta(*(const double *) mu, epsilon);
}

/*
 * A release with Gaussian noise; its own epsilon and delta are those of the
 * law.
 */
static DpermRelease
gaussian(double mu, double delta)
{
	return (DpermRelease) {
		.epsilon = invert(gaussian_delta_at, &mu, delta), .delta = delta, .curve = DPERM_CURVE_SHIFT, .mu = mu
	};
}

/* A release of which only epsilon and delta are known. */
static DpermRelease
bound(double epsilon, double delta)
{
	return (DpermRelease) {.epsilon = epsilon, .delta = delta, .curve = DPERM_CURVE_NONE};
}

/* Several releases together. */
static DpermComposed
compose(const DpermRelease *releases, int kinds, int times, double delta, bool fits)
{
	static DpermComposition sums;
	DpermComposed out;

	memset(&sums, 0, sizeof(sums));
	for (int i = 0; i < kinds * times; i++)
		CHECK(dperm_composition_add(&sums, &releases[i % kinds]) == DPERM_COMPOSITION_FITS);
	CHECK(dperm_composition_total(&sums, delta, &out) == fits);
	return out;
}

/* One kind of release, repeated. */
static DpermComposed
repeat(DpermRelease release, int times, double delta)
{
	return compose(&release, 1, times, delta, true);
}

TEST(orders_are_a_list)
{
	CHECK_NEAR(dperm_composition_order(0), 1.01, 1e-12);
	CHECK_NEAR(dperm_composition_order(DPERM_ORDER_COUNT - 1), 1e6 + 1, 1e-3);
	for (int i = 1; i < DPERM_ORDER_COUNT; i++)
		CHECK(dperm_composition_order(i) > dperm_composition_order(i - 1));
}

/* ---------------------------------------------------------------- curves */

/* The moment of two outcomes, as it is defined. */
TEST(pure_is_randomised_response)
{
	static const double epsilons[] = {1e-6, 1e-3, 0.1, 1, 3, 20};

	for (int e = 0; e < COUNT(epsilons); e++)
		for (int i = 0; i < COUNT(orders); i++)
		{
			DpermRelease release = pure(epsilons[e]);
			long double p = 1 / (1 + expl(-(long double) epsilons[e]));
			long double q = 1 / (1 + expl((long double) epsilons[e]));
			long double moment = powl(p, orders[i]) * powl(q, 1 - orders[i]) + powl(q, orders[i]) * powl(p, 1 - orders[i]);
			double		exact = (double) (logl(moment) / ((long double) orders[i] - 1));
			double		got = dperm_composition_curve(&release, orders[i]);

			/* for the smallest epsilons even these digits are few */
			CHECK_NEAR(got, exact, 1e-9 * exact + 1e-15);
			CHECK(got >= exact - 1e-15);
			CHECK(got <= epsilons[e] * (1 + 1e-9));
		}
}

/*
 * The logarithm of the mean over a standard normal of a function that is given
 * by its logarithm, divided by order - 1.
 */
static double
normal_mean(double (*f) (double z, double mu, double kappa, double order), double mu, double kappa, double order)
{
	const double step = 2e-3;
	double		sum = 0;

	/* less 1, for digits */
	for (double z = -40 + step / 2; z < 40; z += step)
	{
		double		log_ratio = f(z, mu, kappa, order);

		sum += log_ratio > 1 ? exp(log_ratio - z * z / 2) - exp(-z * z / 2) : expm1(log_ratio) * exp(-z * z / 2);
	}
	return log1p(sum * step / sqrt(2 * acos(-1))) / (order - 1);
}

/*
 * Two normals: the ratio of their densities under the first, to the power of
 * order - 1.
 */
static double
shift_ratio(double z, double mu, double kappa, double order)
{
	(void) kappa;
	return (order - 1) * (mu * z + mu * mu / 2);
}

/*
 * log h, with h as in the guarantee, which is applied to a loss in place of its
 * moment.
 */
static double
log_h(double loss, double order)
{
	double		power = (order - 1) * loss;

	return power > 600 ? power : log1p(expm1(power) + (order - 1) * expm1(-loss));
}

/*
 * The larger of h at both ends of the range of the loss, which a search over
 * slopes s finds.
 */
static double
worst_h(double low, double high, double order)
{
	return fmax(log_h(low, order), log_h(high, order));
}

/*
 * A row that is removed: the least and the most over slopes, with kappa added
 * to the most.
 */
static double
remove_ratio(double z, double mu, double kappa, double order)
{
	double		low = 0;
	double		high = 0;

	for (int i = 0; i <= 50; i++)
	{
		double		s = i / 50.0;

		low = fmin(low, s * mu * z + s * s * mu * mu / 2);
		high = fmax(high, s * mu * z + s * s * mu * mu / 2);
	}
	return worst_h(low, high + kappa, order);
}

/* The other way round, kappa is subtracted from the least. */
static double
empty_ratio(double z, double mu, double kappa, double order)
{
	double		s = fmin(fmax(-z / mu, 0), 1);

	return worst_h(s * mu * z + s * s * mu * mu / 2 - kappa, fmax(0, mu * z + mu * mu / 2), order);
}

/* The most, without kappa. */
static double
most_ratio(double z, double mu, double kappa, double order)
{
	return (order - 1) * (kappa + fmax(0, mu * z + mu * mu / 2));
}

/* Everything else: both signs of the noise. */
static double
average_ratio(double z, double mu, double kappa, double order)
{
	return worst_h(-kappa - mu * fabs(z), kappa + mu * mu / 2 + mu * fabs(z), order);
}

static double
most_average_ratio(double z, double mu, double kappa, double order)
{
	return (order - 1) * (kappa + mu * mu / 2 + mu * fabs(z));
}

/* Formulas against integrals, with the release stage added. */
TEST(gaussian_curves_are_integrals)
{
	static const double mus[] = {1e-3, 0.05, 0.3, 1};
	static const double kappas[] = {0, 0.01, 0.5};
	double (*const ratios[]) (double, double, double, double) = {shift_ratio, remove_ratio, average_ratio};
	static const DpermCurve curves[] = {DPERM_CURVE_SHIFT, DPERM_CURVE_REMOVE, DPERM_CURVE_AVERAGE};

	for (int c = 0; c < COUNT(curves); c++)
		for (int m = 0; m < COUNT(mus); m++)
			for (int k = 0; k < (c == 0 ? 1 : COUNT(kappas)); k++)
				for (int i = 0; i < COUNT(orders) && orders[i] * (mus[m] + kappas[k]) < 12; i++)
				{
					DpermRelease release = {.epsilon = 1, .delta = 1e-6, .curve = curves[c], .mu = mus[m], .kappa = kappas[k]};
					DpermRelease stage = pure(0.01);
					double		exact = normal_mean(ratios[c], mus[m], kappas[k], orders[i]);
					double		got = dperm_composition_curve(&release, orders[i]);

					if (c == 1)
						exact = fmin(fmax(exact, normal_mean(empty_ratio, mus[m], kappas[k], orders[i])),
									 normal_mean(most_ratio, mus[m], kappas[k], orders[i]));

					/*
					 * the bound for a removed row takes both ends at once; the
					 * other is computed at order 2 or more, or of one sign
					 */
					if (c == 2 && orders[i] < 2)
						exact = fmin(dperm_composition_curve(&release, 2),
									 normal_mean(most_average_ratio, mus[m], kappas[k], orders[i]));
					if (c == 2)
						exact = fmin(exact, normal_mean(most_ratio, mus[m], kappas[k], orders[i]));
					if (c != 1)
						CHECK_NEAR(got, exact, 1e-5 * exact + 1e-10);
					if (c == 1)
						CHECK(got >= exact * (1 - 1e-5) - 1e-10 && got <= exact * 1.4 + 1e-10);
					release.stage = 0.01;
					CHECK_NEAR(dperm_composition_curve(&release, orders[i]),
							   got + dperm_composition_curve(&stage, orders[i]), 1e-9);
				}
}

/* Large orders and large ratios neither overflow nor become small. */
TEST(curves_grow)
{
	static const DpermCurve curves[] = {DPERM_CURVE_PURE, DPERM_CURVE_SHIFT, DPERM_CURVE_REMOVE, DPERM_CURVE_AVERAGE};
	static const double sizes[] = {1e-8, 1e-3, 0.7, 0.9, 30, 1e4, 1e200};

	for (int c = 0; c < COUNT(curves); c++)
		for (int s = 0; s < COUNT(sizes); s++)
		{
			DpermRelease release = {.epsilon = sizes[s], .curve = curves[c], .mu = sizes[s]};
			double		before = 0;

			for (int i = 0; i < DPERM_ORDER_COUNT; i++)
			{
				double		now = dperm_composition_curve(&release, dperm_composition_order(i));

				CHECK(isfinite(now) && now > 0 && now >= before * (1 - 1e-9));
				before = now;
			}
		}
}

/*
 * A training of one weight, in exact arithmetic: the loss, lambda, sigma and
 * the rows that neighbours share.
 */
typedef struct Line
{
	DpermLoss	loss;
	double		lambda;
	double		sigma;
	double		others[2];		/* y x of the other rows */
} Line;

/*
 * The density of the minimiser of a tilted objective at f, with one more row.
 */
static double
line_density(const Line *line, double row, double f)
{
	double		rows[3] = {line->others[0], line->others[1], row};
	double		noise = -3 * line->lambda * f;
	double		slope = 3 * line->lambda;

	for (int i = 0; i < 3; i++)
	{
		noise -= loss_at(line->loss, f * rows[i], 1).slope * rows[i];
		slope += loss_at(line->loss, f * rows[i], 1).curve * rows[i] * rows[i];
	}
	return exp(-noise * noise / (2 * line->sigma * line->sigma)) * slope / line->sigma / sqrt(2 * acos(-1));
}

/* The Renyi divergence of the minimisers for two rows. */
static double
line_divergence(const Line *line, double row, double other, double order)
{
	double		reach = (14 * line->sigma * order + 3) / (3 * line->lambda);
	double		step = reach / 3000;
	double		sum = 0;

	for (double f = -reach + step / 2; f < reach; f += step)
	{
		double		p = line_density(line, row, f);
		double		q = line_density(line, other, f);

		if (p > 0 && q > 0)
			sum += exp(order * log(p) + (1 - order) * log(q)) * step;
	}
	return log(sum) / (order - 1);
}

/*
 * The adversary: no pair of rows can be distinguished better than the curve
 * says, and the best pair nearly as well.
 */
TEST(curves_hold_for_objective_perturbation)
{
	static const DpermLossKind kinds[] = {DPERM_LOSS_LOGISTIC, DPERM_LOSS_HUBER};
	static const double lambdas[] = {0.01, 0.3, 10};
	static const double sigmas[] = {0.8, 4, 30};
	static const double rows[] = {-1, 0, 1};
	double		closest[2] = {0, 0};

	for (int k = 0; k < 2; k++)
		for (int l = 0; l < 3; l++)
			for (int s = 0; s < 3; s++)
				for (int o = 0; o < 4; o += 3)
					for (int pair = 0; pair < 9; pair++)
						for (int i = 1; i < 5; i++)
						{
							Line		line = {{kinds[k], 0.5}, lambdas[l], sigmas[s], {o & 1 ? 1 : -1, o & 2 ? 0.5 : -0.2}};
							double		row = rows[pair / 3];
							double		other = rows[pair % 3];
							bool		removed = row == 0 || other == 0;
							DpermRelease release = {
								.epsilon = 1,
								.delta = 1e-6,
								.curve = removed ? DPERM_CURVE_REMOVE : DPERM_CURVE_AVERAGE,
								.mu = (removed ? 1 : 2) / sigmas[s],
								.kappa = log1p(dperm_loss_bounds(line.loss).curvature / (3 * lambdas[l]))
							};
							double		got = dperm_composition_curve(&release, orders[i]);
							double		exact;

							if (row == other)
								continue;
							exact = line_divergence(&line, row, other, orders[i]);
							CHECK(exact <= got * (1 + 1e-4));
							closest[removed] = fmax(closest[removed], exact / got);
						}
	CHECK(closest[0] > 0.8);
	CHECK(closest[1] > 0.8);
}

/* ------------------------------------------------------------ conversion */

/*
 * Published numbers (Google's dp_accounting): a constant divergence, and
 * Gaussian noise.
 */
TEST(published_numbers)
{
	DpermRelease release = {.epsilon = 1, .delta = 1e-6, .curve = DPERM_CURVE_SHIFT, .mu = 1 / 4.530877117};
	DpermComposed one;
	DpermComposed hundred;

	CHECK_NEAR(dperm_composition_convert(1.1, 32, 1e-5), 1.32783806176, 1e-9);

	/*
	 * a standard deviation of 4.530877117 is (1, 1e-6)-private by Renyi
	 * divergences, and so are a hundred of 45.3
	 */
	release.epsilon = 50;
	one = repeat(release, 1, 1e-6);
	release.mu /= 10;
	hundred = repeat(release, 100, 1e-6);
	CHECK(one.order > 1);
	CHECK_NEAR(one.epsilon, 1, 1e-3);
	CHECK_NEAR(hundred.epsilon, 1, 1e-3);
	CHECK(one.epsilon >= 1 - 1e-8 && hundred.epsilon >= 1 - 1e-8);

	/*
	 * fifty of 0.1: below the bounds of concentrated privacy (Bun and Steinke
	 * 2016) and strong composition (Dwork et al. 2010)
	 */
	one = repeat(pure(0.1), 50, 1e-6);
	CHECK_NEAR(one.epsilon, 3.35562, 1e-9);
	CHECK(one.epsilon < 50 * 0.005 + 2 * sqrt(50 * 0.005 * log(1e6)));
	CHECK(one.delta == 1e-6 && one.summed == 0);
}

#if LDBL_MANT_DIG > DBL_MANT_DIG
/*
 * Conversion is rounded up. The search is over all orders, and over deltas and
 * divergences of any size; at large orders a difference of two logarithms would
 * cancel.
 */
TEST(conversion_is_an_upper_bound)
{
	TestRandom	random = 9;
	double		farthest = 0;

	for (int i = 0; i < 30000; i++)
	{
		double		order = 1 + pow(10, -2 + 8 * test_uniform(&random));
		double		delta = pow(10, -15 * test_uniform(&random));
		double		divergence = test_below(&random, 4) ? pow(10, -9 + 11 * test_uniform(&random)) : 0;
		long double above = (long double) order - 1;
		long double exact = divergence - log1pl(1 / above) - (logl(delta) + logl(order)) / above;
		double		got = dperm_composition_convert(divergence, order, delta);

		CHECK(got >= fmaxl(exact, 0));
		if (exact > 0)
			farthest = fmax(farthest, (double) ((got - exact) / (fabsl(exact) + fabsl(log1pl(1 / above)) - logl(delta) / above)));
	}
	CHECK(farthest < 1e-11);
}
#endif

/* --------------------------------------------------------------- totals */

/* Gaussian releases together are one with a larger mean. */
TEST(gaussians_against_the_exact_law)
{
	static const double mus[] = {0.003, 0.02, 0.1, 0.5, 1};
	static const int counts[] = {2, 10, 100, 500};
	static const double deltas[] = {1e-12, 1e-6, 1e-3};

	for (int m = 0; m < COUNT(mus); m++)
		for (int k = 0; k < COUNT(counts); k++)
			for (int d = 0; d < COUNT(deltas); d++)
			{
				double		mu = mus[m] * sqrt(counts[k]);
				double		exact = invert(gaussian_delta_at, &mu, deltas[d]);

				/*
				 * its own delta is as large as that of all, so sums do not fit
				 */
				DpermComposed got = repeat(gaussian(mus[m], deltas[d]), counts[k], deltas[d]);

				CHECK(got.order > 1);
				CHECK(got.epsilon >= exact);
				CHECK(got.epsilon <= exact * (deltas[d] > 1e-5 ? 1.5 : 1.15) + 0.002);
			}
}

typedef struct Coins
{
	double		epsilons[12];
	int			count;
	double		mu;				/* of a Gaussian release as well, or 0 */
	double		lost;			/* the probability that everything is revealed */
} Coins;

/*
 * Randomised response several times, by all outcomes: the exact delta at an
 * epsilon.
 */
static double
coins_delta(const void *arg, double epsilon)
{
	const Coins *coins = arg;
	double		sum = 0;

	for (int outcome = 0; outcome < 1 << coins->count; outcome++)
	{
		double		probability = 1;
		double		loss = 0;

		for (int i = 0; i < coins->count; i++)
		{
			double		e = outcome >> i & 1 ? coins->epsilons[i] : -coins->epsilons[i];

			probability *= 1 / (1 + exp(-e));
			loss += e;
		}
		if (coins->mu > 0)
		{
			double		rest = epsilon - loss;

			/* Phi(mu/2 - rest/mu) - e^rest Phi(-mu/2 - rest/mu) */
			sum += probability * 0.5 * (erfc(-(coins->mu / 2 - rest / coins->mu) * sqrt(0.5)) -
										exp(rest) * erfc((coins->mu / 2 + rest / coins->mu) * sqrt(0.5)));
		}
		else
			sum += probability * fmax(0, -expm1(epsilon - loss));
	}
	return coins->lost + (1 - coins->lost) * sum;
}

/* Many of one kind: the closed form of Kairouz, Oh and Viswanath (2015). */
typedef struct Flips
{
	int			count;
	double		epsilon;
} Flips;

static double
flips_delta(const void *arg, double epsilon)
{
	const Flips *flips = arg;
	double		sum = 0;

	for (int i = 0; i <= flips->count; i++)
	{
		double		log_choose = lgamma(flips->count + 1) - lgamma(i + 1) - lgamma(flips->count - i + 1) -
			flips->count * log1p(exp(flips->epsilon));

		sum += fmax(0, exp(log_choose + (flips->count - i) * flips->epsilon) - exp(log_choose + epsilon + i * flips->epsilon));
	}
	return sum;
}

TEST(pure_against_optimal_composition)
{
	static const double epsilons[] = {0.001, 0.01, 0.1, 0.5, 2};
	static const int counts[] = {1, 5, 50, 300};
	static const double deltas[] = {1e-12, 1e-6, 1e-3};

	for (int e = 0; e < COUNT(epsilons); e++)
		for (int k = 0; k < COUNT(counts); k++)
			for (int d = 0; d < COUNT(deltas); d++)
			{
				Flips		flips = {counts[k], epsilons[e]};
				double		exact = fmin(invert(flips_delta, &flips, deltas[d]), counts[k] * epsilons[e]);
				DpermComposed got = repeat(pure(epsilons[e]), counts[k], deltas[d]);

				CHECK(got.epsilon >= exact * (1 - 1e-9) - 1e-8);
				CHECK(got.epsilon <= exact * 1.25 + 0.02);
				CHECK(got.epsilon <= counts[k] * epsilons[e] * (1 + 1e-12));
				CHECK((got.order == 0) == (got.delta == 0));
			}
}

/*
 * Different ones, with and without a Gaussian, and with releases that reveal
 * everything with probability delta.
 */
TEST(mixtures_against_all_outcomes)
{
	TestRandom	random = 7;
	int			by[2] = {0, 0};
	int			part = 0;

	for (int round = 0; round < 300; round++)
	{
		Coins		coins = {.count = 1 + test_below(&random, 12)};
		int			bounds = test_below(&random, 3);
		double		delta = pow(10, -2 - 6 * test_uniform(&random));
		DpermRelease releases[14];
		int			count = coins.count;
		double		exact;
		DpermComposed got;

		for (int i = 0; i < coins.count; i++)
			coins.epsilons[i] = pow(10, -2 + 2 * test_uniform(&random));
		for (int i = 0; i < coins.count; i++)
			releases[i] = pure(coins.epsilons[i]);

		/*
		 * of some of the pure ones only a bound is known, and they use up their
		 * delta
		 */
		for (int i = 0; i < bounds && i < coins.count; i++)
		{
			releases[i] = bound(coins.epsilons[i], delta * 0.2 * (0.5 + test_uniform(&random)));
			coins.lost = 1 - (1 - coins.lost) * (1 - releases[i].delta);
		}
		if (test_below(&random, 2))
		{
			coins.mu = pow(10, -2 + 2 * test_uniform(&random));
			releases[count++] = gaussian(coins.mu, delta * (test_below(&random, 2) ? 1 : 0.01));
		}
		exact = invert(coins_delta, &coins, delta);
		got = compose(releases, count, 1, delta, true);
		CHECK(got.epsilon >= exact - 1e-7);
		CHECK(got.delta <= delta);
		CHECK(coins_delta(&coins, got.epsilon) <= fmax(got.delta, coins.mu > 0 ? 0 : 1e-12) * (1 + 1e-9) + 1e-15);
		by[got.order > 0]++;
		part += got.order > 0 && got.summed > 0;
	}
	/* every branch was taken */
	CHECK(by[0] > 20 && by[1] > 20 && part > 20);
}

/* A Gaussian that is better summed than converted, beside many that are not. */
TEST(part_may_be_summed)
{
	DpermRelease releases[51];
	DpermComposed got;
	DpermComposed without;

	for (int i = 0; i < 50; i++)
		releases[i] = pure(0.1);
	without = compose(releases, 50, 1, 0.99e-6, true);
	releases[50] = gaussian(1, 1e-8);
	got = compose(releases, 51, 1, 1e-6, true);
	CHECK(got.epsilon <= without.epsilon + releases[50].epsilon + 1e-4);
	CHECK(got.epsilon < 50 * 0.1 + releases[50].epsilon);

	/* and one of which only a bound is known is always summed */
	releases[50] = bound(1, 1e-8);
	got = compose(releases, 51, 1, 1e-6, true);
	CHECK(got.summed == 1 && got.order > 1 && got.delta == 1e-6);
	CHECK_NEAR(got.epsilon, without.epsilon + 1, 1e-5);
}

/* ------------------------------------------------------------ sums, faults */

TEST(sums)
{
	DpermRelease mixed[] = {pure(0.1), bound(0.2, 1e-7), gaussian(0.1, 1e-7)};
	DpermComposed got = repeat(pure(0.1), 50, 0);

	CHECK(got.epsilon == 5 && got.delta == 0 && got.order == 0 && got.summed == 50);
	got = repeat(bound(0.1, 1e-7), 10, 0);
	CHECK(got.epsilon == 1 && got.delta == 1e-6);

	/* the same with a delta that is just enough, and with one that is not */
	got = repeat(bound(0.1, 1e-7), 10, 1e-6);
	CHECK(got.epsilon == 1 && got.delta == 1e-6);
	got = compose(&mixed[1], 1, 11, 1e-6, false);
	CHECK(got.delta >= 1.1e-6 && got.delta < 1.1001e-6);

	/* a delta that is stated includes the tails of releases that state none */
	got = compose(mixed, 3, 1, 0, true);
	CHECK(got.delta > 2e-7 && got.delta < 2.0001e-7);
	CHECK_NEAR(got.epsilon, 0.3 + mixed[2].epsilon, 1e-12);

	/*
	 * so much that the proof does not apply: no Renyi divergences, and no sums
	 * either
	 */
	got = repeat((DpermRelease) {.epsilon = 400, .delta = 1e-6, .curve = DPERM_CURVE_SHIFT, .mu = 40}, 2, 1e-6);
	CHECK(isinf(got.epsilon));
	got = repeat(pure(400), 2, 1e-6);
	CHECK(got.epsilon == 800 && got.order == 0);
}

/* What each release takes of delta adds up. */
TEST(tails_add_up)
{
	static DpermComposition sums;
	DpermRelease release = pure(1e-3);
	DpermComposed few;
	DpermComposed many;

	memset(&sums, 0, sizeof(sums));
	for (int i = 0; i < 16384; i++)
		CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_FITS);
	CHECK(dperm_composition_releases(&sums) == 16384);
	CHECK(dperm_composition_total(&sums, 1e-15, &few) && few.order > 0);
	CHECK(dperm_composition_total(&sums, 8e-16, &many) && many.order == 0 && many.epsilon == 16.384 && many.delta == 0);
	CHECK(16384 * 0x1p-64 > 8e-16 && 16384 * 0x1p-64 < 1e-15);
}

TEST(faults)
{
	static DpermComposition sums;
	DpermRelease release = pure(0.5);

	memset(&sums, 0, sizeof(sums));
	CHECK(dperm_composition_releases(&sums) == 0);
	CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_FITS);
	release.neighbours = DPERM_NEIGHBOURS_REMOVE;
	CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_NEIGHBOURS);
	release = pure(0.5);
	release.unit = (DpermUnit) 1;
	CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_UNITS);
	release = pure(INFINITY);
	CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_NOT_PRIVATE);
	release = pure(0.5);
	release.delta = 1e-9;
	CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_OUT_OF_RANGE);
	for (int i = 0; i < 5; i++)
	{
		double		bad[] = {0, -1, NAN, 1, 2};

		release = i < 3 ? pure(bad[i]) : bound(0.1, bad[i]);
		CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_OUT_OF_RANGE);
		release = i < 3 ? bound(bad[i], 1e-6) : bound(0.1, NAN);
		CHECK(dperm_composition_add(&sums, &release) == DPERM_COMPOSITION_OUT_OF_RANGE);
	}
	CHECK(dperm_composition_releases(&sums) == 1);
}

/* In any order. */
TEST(order_does_not_matter)
{
	static DpermComposition sums;
	TestRandom	random = 3;
	DpermRelease releases[40];
	DpermComposed first;
	DpermComposed got;

	for (int i = 0; i < 40; i++)
		releases[i] = i % 3 == 0 ? pure(0.3 * test_uniform(&random)) : i % 3 == 1 ? bound(0.1 * test_uniform(&random), 1e-9) :
			gaussian(0.1 * test_uniform(&random), 1e-6);
	first = compose(releases, 40, 1, 1e-5, true);
	for (int round = 0; round < 50; round++)
	{
		memset(&sums, 0, sizeof(sums));
		for (int i = 39; i >= 0; i--)
		{
			int			other = test_below(&random, i + 1);
			DpermRelease moved = releases[i];

			releases[i] = releases[other];
			releases[other] = moved;
			dperm_composition_add(&sums, &releases[i]);
		}
		CHECK(dperm_composition_total(&sums, 1e-5, &got));
		CHECK(got.epsilon == first.epsilon && got.delta == first.delta && got.order == first.order && got.summed == first.summed);
	}
}

/* --------------------------------------------------------------- models */

/* The model of a training, as far as privacy is concerned. */
static DpermModel
train(DpermMethod method, DpermNeighbours neighbours, double epsilon, double delta)
{
	DpermSetup	setup = {
		.loss = {DPERM_LOSS_LOGISTIC, 0},
		.method = method,
		.neighbours = neighbours,
		.epsilon = epsilon,
		.delta = delta,
		.lambda = 0.01,
		.rows = 100000,
		.dim = 10
	};
	DpermCalibration calibration;
	DpermModel	model;
	DpermEncoder encoder;

	memset(&model, 0, sizeof(model));
	memset(&encoder, 0, sizeof(encoder));
	CHECK(dperm_calibrate(&setup, &calibration) == NULL);
	dperm_model_fill(&model, &setup, &calibration, &encoder, NULL);
	return model;
}

/*
 * The curve from a model's own parameters fits its claim: one model costs
 * hardly more by it, and never less.
 */
TEST(models_have_curves)
{
	for (int method = 0; method < DPERM_METHOD_COUNT; method++)
		for (int neighbours = 0; neighbours < 2; neighbours++)
		{
			DpermModel	model = train((DpermMethod) method, (DpermNeighbours) neighbours, 1, 1e-6);
			DpermRelease release = dperm_model_release(&model);
			DpermComposed one = repeat(release, 1, 1e-6);
			DpermComposed hundred;
			double		alone;

			CHECK(release.curve == (method == DPERM_METHOD_OUTPUT ? DPERM_CURVE_SHIFT :
									neighbours ? DPERM_CURVE_REMOVE : DPERM_CURVE_AVERAGE));
			CHECK(release.neighbours == (DpermNeighbours) neighbours && release.epsilon == 1 && release.delta == 1e-6);
			CHECK_NEAR(release.stage, model.claim.shares[DPERM_SHARE_RELEASE], 1e-10);
			CHECK_NEAR(release.kappa, method == DPERM_METHOD_OUTPUT ? 0 : log1p(0.25 / (model.rows * model.lambda_effective)), 1e-10);
			CHECK(one.epsilon == 1 && one.order == 0);

			/* without sums: the noise was made for 0.99 */
			release.epsilon = 100;
			alone = repeat(release, 1, 1e-6).epsilon;
			CHECK(alone > 0.99 - 1e-3 && alone < 1.15);
			hundred = repeat(release, 100, 1e-6);
			CHECK(hundred.epsilon > 10 && hundred.epsilon < 20);
		}
}

/*
 * Without delta a model is pure; of one that was chosen among others on private
 * rows, only the claim is known.
 */
TEST(models_without_a_curve)
{
	static const char way[] = "{\"way\": \"private\", \"selection\": \"exponential\", \"rows\": 100000, \"portions\": 2, \"chosen\": {}, \"candidates\": [{}]}";
	DpermModel	model = train(DPERM_METHOD_OBJECTIVE, DPERM_NEIGHBOURS_REPLACE, 0.1, 0);

	CHECK(dperm_model_release(&model).curve == DPERM_CURVE_PURE);
	model.tuning = (DpermText) {way, (int) strlen(way)};
	CHECK(dperm_model_release(&model).curve == DPERM_CURVE_PURE);
	model = train(DPERM_METHOD_OBJECTIVE, DPERM_NEIGHBOURS_REPLACE, 0.1, 1e-6);
	model.tuning = (DpermText) {way, (int) strlen(way)};
	CHECK(dperm_model_release(&model).curve == DPERM_CURVE_NONE);
	model.tuning = (DpermText) {NULL, 0};
	CHECK(dperm_model_release(&model).curve == DPERM_CURVE_AVERAGE);
	model.claim.epsilon = INFINITY;
	CHECK(isinf(dperm_model_release(&model).epsilon));
}
