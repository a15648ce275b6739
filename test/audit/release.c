/*
 * release.c: the release stage by brute force, one dimension.
 *
 * Two vectors within the certified residual of one ideal output are up to 2 rho
 * apart. Whatever both are rounded to, no released integer may be more than
 * exp(claim.shares[DPERM_SHARE_RELEASE]) times as likely under the one as under
 * the other.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/privacy/draw.h"
#include "unit/entropy.h"

#define DRAWS 400000

/* The grid point that the library rounds to: zero bits make the noise zero. */
static int64_t
point_of(const DpermCalibration *cal, double weight)
{
	DpermEntropy e;

	test_entropy_from(&e, test_entropy_zeros, NULL);
	dperm_release(&e, 1, cal->grid, cal->release_scale, &weight);
	return (int64_t) (weight / cal->grid);
}

/*
 * Log of the probability of an integer, exact up to the normalising constant.
 */
static long double
log_mass(const DpermCalibration *cal, int64_t point, int64_t released)
{
	return -fabsl((long double) (released - point)) / cal->release_scale;
}

/* The worst log ratio over outputs, for one pair of weights. */
static long double
worst_ratio(const DpermCalibration *cal, double ours, double theirs)
{
	int64_t		a = point_of(cal, ours);
	int64_t		b = point_of(cal, theirs);
	int64_t		from = (a < b ? a : b) - 3 * cal->release_scale;
	int64_t		to = (a > b ? a : b) + 3 * cal->release_scale;
	int64_t		step = 1 + (to - from) / 500;
	long double worst = 0;

	for (int64_t k = from; k <= to; k += step)
		worst = fmaxl(worst, fabsl(log_mass(cal, a, k) - log_mass(cal, b, k)));
	return worst;
}

/* A setup with one weight. */
static DpermSetup
any_setup(TestRandom *state)
{
	DpermSetup	s = {
		.loss = {.kind = (DpermLossKind) test_below(state, 3), .h = 0.5},
		.method = (DpermMethod) test_below(state, 2),
		.analysis = (DpermAnalysis) test_below(state, 2),
		.epsilon = pow(10, -3 + 5.69 * test_uniform(state)),
		.lambda = pow(10, -8 + 10 * test_uniform(state)),
		.rows = (int64_t) pow(10, 6 * test_uniform(state)),
		.dim = 1
	};

	if (s.loss.kind == DPERM_LOSS_LOGISTIC)
		s.loss.h = 0;
	return s;
}

TEST(no_output_tells_neighbours_apart)
{
	TestRandom	state = 31;
	long double closest = 0;
	int64_t		largest = 0;

	for (int i = 0; i < 400; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermCalibration cal;

		CHECK(dperm_calibrate(&s, &cal) == NULL);
		if (cal.release_scale > largest)
			largest = cal.release_scale;
		for (int k = 0; k < 50; k++)
		{
			/*
			 * from all over the range, and from just below where rounding turns
			 */
			double		ideal = cal.weight_bound * (2 * test_uniform(&state) - 1);
			double		turn = cal.grid * (rint(ideal / cal.grid) + 0.5);
			double		ours = (k % 2 ? turn : ideal) - cal.residual;
			double		theirs = (k % 2 ? turn : ideal) + cal.residual;
			long double ratio;

			/* the two ends are rounded themselves */
			while ((long double) theirs - ours > 2 * (long double) cal.residual)
				theirs = nextafter(theirs, ours);
			ratio = worst_ratio(&cal, ours, theirs);
			CHECK(ratio <= cal.claim.shares[DPERM_SHARE_RELEASE]);
			closest = fmaxl(closest, ratio / cal.claim.shares[DPERM_SHARE_RELEASE]);

			/* only a fault in the rounding makes it negligible */
			if (2 * cal.residual > 10 * cal.grid && cal.release_scale > 100)
				CHECK(ratio > 0.8L * cal.claim.shares[DPERM_SHARE_RELEASE]);
		}
	}
	CHECK(closest > 0.95L);
	CHECK(largest > 1000000);
}

/*
 * A scale that is smaller by one, or a residual half as large, would be
 * detected.
 */
TEST(finds_planted_faults)
{
	DpermSetup	s = {.epsilon = 1, .lambda = 0.001, .rows = 100, .dim = 1};
	DpermCalibration cal;
	double		turn;

	CHECK(dperm_calibrate(&s, &cal) == NULL);
	turn = cal.grid * 1000.5;
	CHECK(worst_ratio(&cal, turn - cal.residual, turn + cal.residual) <= cal.claim.shares[DPERM_SHARE_RELEASE]);
	CHECK(worst_ratio(&cal, turn - 2 * cal.residual, turn + 2 * cal.residual) > cal.claim.shares[DPERM_SHARE_RELEASE]);
	cal.release_scale = cal.release_scale * 9 / 10;
	CHECK(worst_ratio(&cal, turn - cal.residual, turn + cal.residual) > cal.claim.shares[DPERM_SHARE_RELEASE]);
}

/*
 * At a large epsilon the scale is small enough to count outcomes of the real
 * program.
 */
TEST(drawn_frequencies_agree)
{
	static const double epsilons[] = {100, 50, 20, 400};

	for (int i = 0; i < 4; i++)
	{
		DpermSetup	s = {.epsilon = epsilons[i], .lambda = 1000, .rows = 1000000, .dim = 1};
		DpermCalibration cal;
		TestEntropy source;
		DpermEntropy e;
		int64_t		counts[2][41] = {{0}};

		CHECK(dperm_calibrate(&s, &cal) == NULL);
		CHECK(cal.release_scale < 20);
		test_entropy_init(&e, &source, 41 + (uint64_t) i);
		for (int side = 0; side < 2; side++)
			for (int k = 0; k < DRAWS; k++)
			{
				double		weight = cal.grid * 0.5 + (side ? cal.residual : -cal.residual);
				double		at;

				dperm_release(&e, 1, cal.grid, cal.release_scale, &weight);
				at = weight / cal.grid;
				CHECK(at == rint(at));
				if (fabs(at) <= 20)
					counts[side][(int) at + 20]++;
			}
		for (int k = 0; k <= 40; k++)
		{
			double		few = fmin(counts[0][k], counts[1][k]);

			if (few > 1000)
				CHECK(fabs(log((double) counts[0][k] / counts[1][k])) <=
					  cal.claim.shares[DPERM_SHARE_RELEASE] + 5 * sqrt(2 / few));
		}
	}
}
