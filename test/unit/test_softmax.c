/*
 * test_softmax.c: the loss of several classes: every constant of its bounds
 * against a search over outputs, slopes against arithmetic of 113 bits, and what
 * solvers use of its curvature against the definition.
 */
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/loss/loss.h"
#include "unit/fixed.h"
#include "unit/quad.h"

#define CLASSES_MAX 40

static const int sizes[] = {3, 4, 7, 20, CLASSES_MAX};

#define SIZES (int) (sizeof(sizes) / sizeof(sizes[0]))

static DpermLoss
softmax_of(int classes)
{
	return (DpermLoss) {DPERM_LOSS_SOFTMAX, 0, classes};
}

/* Slopes by the definition. */
static void
exact_slopes(int classes, const Quad *z, int own, Quad *slopes)
{
	Quad		most = z[0];
	Quad		sum = 0;

	for (int k = 1; k < classes; k++)
		most = z[k] > most ? z[k] : most;
	for (int k = 0; k < classes; k++)
		sum += slopes[k] = quad_exp(z[k] - most);
	for (int k = 0; k < classes; k++)
		slopes[k] = slopes[k] / sum - (k == own);
}

/* Outputs of a row: near each other, far apart, or one far ahead. */
static void
any_outputs(TestRandom *state, int classes, double *z)
{
	double		scale = pow(10, 4 * test_uniform(state) - 2);
	bool		tied = test_below(state, 3) == 0;

	for (int k = 0; k < classes; k++)
		z[k] = tied && k > 1 ? z[1] : scale * (2 * test_uniform(state) - 1);
	if (test_below(state, 2))
		z[test_below(state, classes)] += scale * 3 * test_uniform(state);
}

/* What a search maximises: a ratio of what is found to what is claimed. */
typedef enum Claim
{
	CLAIM_REACH, CLAIM_NORM, CLAIM_TRACE, CLAIM_EIGENVALUE, CLAIM_SHARE, CLAIM_FLAT, CLAIMS
} Claim;

/* The largest eigenvalue of the curvature, by the power method in long double. */
static long double
largest_eigenvalue(int classes, const long double *p)
{
	long double v[CLASSES_MAX];
	long double found = 0;

	for (int k = 0; k < classes; k++)
		v[k] = (k % 2 ? 1 : -1) + 0.01L * k;
	for (int step = 0; step < 100; step++)
	{
		long double mean = 0;
		long double norm = 0;

		for (int k = 0; k < classes; k++)
			mean += p[k] * v[k];
		for (int k = 0; k < classes; k++)
		{
			v[k] = p[k] * (v[k] - mean);
			norm += v[k] * v[k];
		}
		found = sqrtl(norm);
		for (int k = 0; k < classes; k++)
			v[k] /= norm > 0 ? found : 1;
	}
	return found;
}

static double
ratio_at(Claim claim, DpermLoss loss, const double *z, int own)
{
	DpermLossBounds bounds = dperm_loss_bounds(loss);
	const DpermLossEntry *entry = dperm_loss_entry(DPERM_LOSS_SOFTMAX);
	int			classes = loss.classes;
	long double p[CLASSES_MAX];
	long double most = z[0];
	long double sum = 0;
	long double size = 0;
	long double norm = 0;
	long double trace = 0;
	long double t = 0;
	double		change;

	for (int k = 0; k < classes; k++)
		most = fmaxl(most, z[k]);
	for (int k = 0; k < classes; k++)
		sum += p[k] = expl(z[k] - most);
	for (int k = 0; k < classes; k++)
		p[k] /= sum;
	for (int k = 0; k < classes; k++)
		t += k == own ? 0 : p[k];
	for (int k = 0; k < classes; k++)
	{
		long double slope = k == own ? -t : p[k];

		size += fabsl(slope);
		norm += slope * slope;
		trace += p[k] * (1 - p[k]);
	}
	if (claim == CLAIM_REACH)
		return (double) (t > 0 ? size / (bounds.reach * t) : 0);
	if (claim == CLAIM_NORM)
		return (double) (t > 0 ? sqrtl(norm) / (bounds.norm * t) : 0);
	if (claim == CLAIM_TRACE)
		return (double) (trace / bounds.trace);
	if (claim == CLAIM_EIGENVALUE)
		return (double) (largest_eigenvalue(classes, p) / bounds.curvature);
	if (claim == CLAIM_FLAT)	/* how large the slope gets, and with it the size */
		return (double) t;
	return t > 1e-3L && t < 1 - 1e-3L ? (double) (trace / (bounds.trace * entry->share(loss, (double) (1 - t), &change))) : 0;
}

/* None is too small, and none is larger than it has to be: climbed from many starts. */
TEST(states_every_bound)
{
	TestRandom	state = 5;

	for (int s = 0; s < SIZES; s++)
		for (int claim = 0; claim < CLAIMS; claim++)
		{
			DpermLoss	loss = softmax_of(sizes[s]);
			double		most = 0;

			for (int start = 0; start < 6; start++)
			{
				double		z[CLASSES_MAX];
				double		best;
				int			own = test_below(&state, loss.classes);

				any_outputs(&state, loss.classes, z);
				best = ratio_at((Claim) claim, loss, z, own);
				for (int step = 0; step < 600; step++)
				{
					double		other[CLASSES_MAX];
					double		size = pow(10, 2 - 5 * test_uniform(&state));
					double		ratio;

					memcpy(other, z, sizeof(z));
					for (int k = 0; k < loss.classes; k++)
						if (test_below(&state, 3) == 0)
							other[k] += size * (2 * test_uniform(&state) - 1);
					if (test_below(&state, 3) == 0)
						other[test_below(&state, loss.classes)] = other[test_below(&state, loss.classes)];
					if (test_below(&state, 20) == 0)
						for (int k = 0; k < loss.classes; k++)
							other[k] = k < 2 ? 0 : -size;
					ratio = ratio_at((Claim) claim, loss, other, own);
					if (ratio >= best)
					{
						best = ratio;
						memcpy(z, other, sizeof(z));
					}
				}
				most = fmax(most, best);
			}
			CHECK(most <= 1 + 1e-12);
			CHECK(most > 0.995);
		}
}

/* The others, which are numbers of something. */
TEST(states_every_number)
{
	for (int s = 0; s < SIZES; s++)
	{
		DpermLoss	loss = softmax_of(sizes[s]);
		DpermLossBounds bounds = dperm_loss_bounds(loss);
		double		z[CLASSES_MAX] = {0};
		double		label = 2;

		CHECK(bounds.rank == sizes[s] - 1 && bounds.directions == sizes[s] - 1);
		CHECK(bounds.norm * bounds.norm >= 2 && bounds.norm < sqrt(2) * (1 + 1e-15));
		CHECK(bounds.start >= dperm_loss_block(loss, 1, z, &label, NULL, NULL));
		CHECK_NEAR(bounds.start, (double) logl(sizes[s]), 1e-14);
		CHECK_NEAR(bounds.typical_norm, 20 * sqrt(sizes[s] / 2.0), 1e-12);
		CHECK(bounds.slope_rounding == 2 * sizes[s] + 16);
		CHECK(dperm_loss_blocks(loss) == sizes[s] && dperm_loss_fault(loss) == NULL);
	}
	CHECK(dperm_loss_blocks((DpermLoss) {DPERM_LOSS_LOGISTIC, 0, 0}) == 1);
	CHECK_TEXT(dperm_loss_fault(softmax_of(2)), "the number of classes must be between 3 and 128");
	CHECK_TEXT(dperm_loss_fault(softmax_of(129)), "the number of classes must be between 3 and 128");
	CHECK_TEXT(dperm_loss_fault((DpermLoss) {DPERM_LOSS_LOGISTIC, 0, 3}), "this loss has no classes");
	CHECK_TEXT(dperm_loss_fault((DpermLoss) {DPERM_LOSS_SOFTMAX, 0.5, 3}), "this loss has no h");
}

/* The share of the trace falls and rises as its derivative says, and is concave. */
TEST(knows_the_share_of_the_trace)
{
	const DpermLossEntry *entry = dperm_loss_entry(DPERM_LOSS_SOFTMAX);

	for (int s = 0; s < SIZES; s++)
		for (double rest = 0.01; rest < 0.995; rest += 0.01)
		{
			DpermLoss	loss = softmax_of(sizes[s]);
			double		k = sizes[s];
			double		t = 1 - rest;
			double		change;
			double		before;
			double		after;
			double		share = entry->share(loss, rest, &change);

			CHECK_NEAR(share * (1 - 1 / k), 2 * t - k * t * t / (k - 1), 1e-14);
			before = entry->share(loss, rest + 1e-5, &(double) {0});
			after = entry->share(loss, rest - 1e-5, &(double) {0});
			CHECK_NEAR(change, (after - before) / 2e-5, 1e-7);
			CHECK(before + after <= 2 * share);
		}
}

/* Slopes in doubles, as close as the certificate allows for; climbed from many starts. Outputs are exact here. */
TEST(rounds_slopes_within_their_bound)
{
	TestRandom	state = 9;

	for (int s = 0; s < SIZES; s++)
	{
		DpermLoss	loss = softmax_of(sizes[s]);
		DpermLossBounds bounds = dperm_loss_bounds(loss);
		double		most = 0;

		for (int start = 0; start < 60; start++)
		{
			double		z[CLASSES_MAX];
			double		best = 0;
			double		label = 1 + test_below(&state, loss.classes);

			any_outputs(&state, loss.classes, z);
			for (int step = 0; step < 40; step++)
			{
				double		other[CLASSES_MAX];
				double		slopes[CLASSES_MAX];
				Quad		wide[CLASSES_MAX];
				Quad		exact[CLASSES_MAX];
				double		off = 0;

				for (int k = 0; k < loss.classes; k++)
				{
					other[k] = z[k] + (step ? pow(10, -14 * test_uniform(&state)) * (2 * test_uniform(&state) - 1) : 0);
					slopes[k] = other[k];
					wide[k] = other[k];
				}
				dperm_loss_block(loss, 1, slopes, &label, NULL, NULL);
				exact_slopes(loss.classes, wide, (int) label - 1, exact);
				for (int k = 0; k < loss.classes; k++)
					off += pow(quad_size(slopes[k] - exact[k]) / (DBL_EPSILON / 2), 2);
				if (sqrt(off) > best)
				{
					best = sqrt(off);
					memcpy(z, other, sizeof(z));
				}
			}
			most = fmax(most, best);
		}
		CHECK(most <= bounds.slope_rounding);
		CHECK(most > 0.5);
	}
}

/* In extended precision. */
TEST(has_extended_slopes)
{
	TestRandom	state = 3;

	for (int round = 0; round < 300; round++)
	{
		int			classes = sizes[round % SIZES];
		double		label = test_below(&state, classes + 1);
		double		z[CLASSES_MAX];
		DpermExtended slopes[CLASSES_MAX];
		Fixed		exact[CLASSES_MAX];

		any_outputs(&state, classes, z);
		for (int k = 0; k < classes; k++)
		{
			z[k] *= round % 7 == 0 ? 50 : 1;
			slopes[k] = dperm_quad_of(z[k], 0x1p-55 * z[k] * test_uniform(&state));
			exact[k] = fixed_of_extended(slopes[k]);
		}
		dperm_loss_slopes(softmax_of(classes), slopes, label);
		fixed_slopes(softmax_of(classes), exact, label);
		for (int k = 0; k < classes; k++)
			CHECK(fixed_apart(fixed_of_extended(slopes[k]), exact[k]) < 0x1p-106);
	}
}

/* Blocks give what rows give one by one; weights multiply; labels that are none add nothing. */
TEST(agrees_in_blocks)
{
	TestRandom	state = 4;

	for (int round = 0; round < 300; round++)
	{
		DpermLoss	loss = softmax_of(sizes[round % SIZES]);
		int			classes = loss.classes;
		int			count = 1 + test_below(&state, 20);
		static double outputs[20 * CLASSES_MAX],
					again[20 * CLASSES_MAX];
		double		labels[20],
					weights[20];
		double		sum = 0;
		double		value;

		for (int i = 0; i < count; i++)
		{
			any_outputs(&state, classes, outputs + i * classes);
			labels[i] = test_below(&state, 5) == 0 ? 0 : 1 + test_below(&state, classes);
			weights[i] = test_below(&state, 5) == 0 ? 0 : test_uniform(&state);
		}
		if (round % 3 == 0)
			labels[0] = (double[]) {NAN, -1, classes + 1, INFINITY}[test_below(&state, 4)];
		memcpy(again, outputs, sizeof(outputs));
		value = dperm_loss_block(loss, count, again, labels, NULL, round % 2 ? weights : NULL);
		for (int i = 0; i < count; i++)
		{
			double		alone[CLASSES_MAX];
			double		weight = round % 2 ? weights[i] : 1;
			bool		labelled = labels[i] >= 1 && labels[i] <= classes;
			double		total = 0;

			memcpy(alone, outputs + i * classes, sizeof(double) * classes);
			sum += weight * dperm_loss_block(loss, 1, alone, labels + i, NULL, NULL);
			for (int k = 0; k < classes; k++)
			{
				CHECK(again[i * classes + k] == weight * alone[k]);
				CHECK(labelled || again[i * classes + k] == 0);
				total += again[i * classes + k];
			}
			CHECK_NEAR(total, 0, 1e-14);
		}
		CHECK_NEAR(value, sum, 1e-12 * (1 + fabs(sum)));
	}
}

/* Values and slopes belong together. */
TEST(has_slopes_of_its_values)
{
	TestRandom	state = 6;

	for (int round = 0; round < 200; round++)
	{
		DpermLoss	loss = softmax_of(sizes[round % SIZES]);
		double		label = 1 + test_below(&state, loss.classes);
		double		z[CLASSES_MAX];
		double		slopes[CLASSES_MAX];

		for (int k = 0; k < loss.classes; k++)
			slopes[k] = z[k] = 6 * test_uniform(&state);
		dperm_loss_block(loss, 1, slopes, &label, NULL, NULL);
		for (int k = 0; k < loss.classes; k++)
		{
			double		values[2];

			for (int side = 0; side < 2; side++)
			{
				double		moved[CLASSES_MAX];

				memcpy(moved, z, sizeof(z));
				moved[k] += side ? 1e-5 : -1e-5;
				values[side] = dperm_loss_block(loss, 1, moved, &label, NULL, NULL);
			}
			CHECK_NEAR(slopes[k], (values[1] - values[0]) / 2e-5, 1e-9);
		}
	}
}

/* Nothing is out of range, whatever weights that are never certified produce. */
TEST(survives_any_output)
{
	static const double odd[] = {0, -0.0, 1e308, -1e308, INFINITY, -INFINITY, NAN, 1e-320};
	TestRandom	state = 8;

	for (int round = 0; round < 3000; round++)
	{
		DpermLoss	loss = softmax_of(sizes[round % SIZES]);
		double		label = test_below(&state, loss.classes + 1);
		double		z[CLASSES_MAX];
		DpermExtended extended[CLASSES_MAX];
		bool		finite = true;

		for (int k = 0; k < loss.classes; k++)
		{
			z[k] = odd[test_below(&state, 8)];
			extended[k] = z[k];
			finite = finite && fabs(z[k]) < 1e307;
		}
		dperm_loss_slopes(loss, extended, label);
		dperm_loss_block(loss, 1, z, &label, NULL, NULL);
		for (int k = 0; k < loss.classes && finite; k++)
			CHECK(fabs(z[k]) <= 1 && extended[k] >= -1 && extended[k] <= 1);
	}
}

/* What solvers use: traces, and their terms by class; relative errors of traces stay small where a row is almost certain. */
TEST(has_curvatures_of_its_slopes)
{
	TestRandom	state = 7;

	for (int round = 0; round < 400; round++)
	{
		int			classes = sizes[round % SIZES];
		double		label = 1 + test_below(&state, classes);
		double		weight = round % 2 ? test_uniform(&state) + 1e-3 : 1;
		double		slopes[CLASSES_MAX];
		long double p[CLASSES_MAX];
		long double sum = 0;
		long double most = 0;
		long double trace = 0;
		double		found;
		double		by_class[CLASSES_MAX] = {0};
		bool		certain = round % 5 == 0;
		int			own = (int) label - 1;

		for (int k = 0; k < classes; k++)
		{
			slopes[k] = 5 * test_uniform(&state) + (certain && k == own ? 40 : 0);
			most = fmaxl(most, slopes[k]);
		}
		for (int k = 0; k < classes; k++)
			sum += p[k] = expl(slopes[k] - most);
		for (int k = 0; k < classes; k++)
			p[k] /= sum;
		dperm_loss_block(softmax_of(classes), 1, slopes, &label, NULL, &weight);
		dperm_loss_curvatures(classes, 1, slopes, &label, &weight, &found, by_class);
		for (int j = 0; j < classes; j++)
		{
			long double others = 0;

			for (int i = 0; i < classes; i++)
				others += i == j ? 0 : p[i];
			trace += p[j] * others;
			CHECK_NEAR(by_class[j], (double) (weight * p[j] * others), 1e-14);
		}
		CHECK_NEAR(found, (double) (weight * trace), 1e-13 * (double) trace);
	}
}

/* Without a label or a weight, nothing. */
TEST(adds_nothing_for_nobody)
{
	double		slopes[9] = {0};
	double		labels[3] = {2, 0, 3};
	double		weights[3] = {1, 1, 0};
	double		traces[3];
	double		by_class[3] = {0};

	dperm_loss_block(softmax_of(3), 3, slopes, labels, NULL, weights);
	dperm_loss_curvatures(3, 3, slopes, labels, weights, traces, by_class);
	CHECK_NEAR(traces[0], 2.0 / 3, 1e-14);
	CHECK(traces[1] == 0 && traces[2] == 0);
	for (int k = 0; k < 3; k++)
		CHECK_NEAR(by_class[k], 2.0 / 9, 1e-15);
}
