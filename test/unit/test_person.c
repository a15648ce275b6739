/*
 * test_person.c: persons as the unit of privacy: the weights of their rows, the
 * slack they cost, and the Gaussian noise that hides them, against exact
 * arithmetic and adversaries who search.
 */
#include "unit/slack.h"
#include "unit/test.h"

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/composition.h"
#include "core/privacy/claim.h"
#include "core/model/model.h"
#include "loss_at.h"
#include "unit/hockey.h"
#include "unit/sample_model.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* Is rows * weight <= 1, exactly? weight = mantissa 2^exponent. */
static bool
within_one(int64_t rows, double weight)
{
	int			exponent;
	__extension__ unsigned __int128 product = (unsigned __int128) ldexp(frexp(weight, &exponent), 53);

	exponent -= 53;
	product *= (uint64_t) rows;
	return exponent <= -127 || product <= (__extension__ (unsigned __int128) 1) << -exponent;
}

TEST(weights_are_rounded_down)
{
	TestRandom	state = 1;
	int			lowered = 0;

	for (int64_t i = 1; i <= 300000; i++)
	{
		int64_t		rows = i <= 200000 ? i : (int64_t) ldexp(0.5 + test_uniform(&state) / 2, test_below(&state, 43) + 1);
		double		weight = dperm_unit_weight(rows);

		CHECK(within_one(rows, weight));
		CHECK(!within_one(rows, nextafter(weight, 2)));
		lowered += weight < 1.0 / (double) rows;
	}
	CHECK(lowered > 10000);		/* many weights were rounded down */
	CHECK(dperm_unit_weight(1) == 1 && dperm_unit_weight(2) == 0.5);
	CHECK(dperm_unit_weight(49) < 1.0 / 49 || within_one(49, 1.0 / 49));
}

/*
 * However the rows of a person are divided among cells, they count for at most
 * one person, and nearly one.
 */
TEST(parts_add_up_to_a_person)
{
	TestRandom	state = 2;

	CHECK(dperm_unit_parts(DPERM_UNIT_ROW) == 1);
	CHECK(dperm_unit_parts(DPERM_UNIT_PERSON) == DPERM_PERSON_PARTS);
	for (int round = 0; round < 100000; round++)
	{
		int64_t		rows = 1 + (int64_t) ldexp(test_uniform(&state), test_below(&state, 42));
		int64_t		left = rows;
		int64_t		sum = 0;
		int			cells = 1 + test_below(&state, 8);

		for (int i = 0; i < cells; i++)
		{
			int64_t		some = i == cells - 1 ? left : (int64_t) (test_uniform(&state) * (double) (left + 1));
			int64_t		parts;

			some = some > left ? left : some;
			parts = dperm_unit_count(some, rows);
			CHECK(parts >= 0 && (long double) parts <= (long double) some * DPERM_PERSON_PARTS / rows);
			sum += parts;
			left -= some;
		}
		CHECK(left == 0 && sum <= (int64_t) DPERM_PERSON_PARTS && sum > (int64_t) DPERM_PERSON_PARTS - cells);
	}
	CHECK(dperm_unit_count(1, 1) == (int64_t) DPERM_PERSON_PARTS && dperm_unit_count(0, 5) == 0);
}

#define DIM_MAX 6
#define ROWS_MAX 12

/* The logarithm of a determinant, by Cholesky. */
static double
log_det(int dim, double a[DIM_MAX][DIM_MAX])
{
	double		sum = 0;

	for (int j = 0; j < dim; j++)
	{
		for (int k = 0; k < j; k++)
			a[j][j] -= a[j][k] * a[j][k];
		sum += log(a[j][j]);
		a[j][j] = sqrt(a[j][j]);
		for (int i = j + 1; i < dim; i++)
		{
			for (int k = 0; k < j; k++)
				a[i][j] -= a[i][k] * a[j][k];
			a[i][j] /= a[j][j];
		}
	}
	return sum;
}

/*
 * A person's rows, of norm at most 1, and rows of others, whose Hessian is
 * scaled.
 */
typedef struct Rows
{
	int			dim;
	int			count;
	double		rows[ROWS_MAX][DIM_MAX];
	double		others[ROWS_MAX][DIM_MAX];
	double		scale;
} Rows;

/*
 * How much the person changes the log of the determinant, with curvature c for
 * every row; n Lambda is 1.
 */
static double
det_ratio(const Rows *r, double c)
{
	double		with[DIM_MAX][DIM_MAX] = {{0}};
	double		without[DIM_MAX][DIM_MAX] = {{0}};

	for (int i = 0; i < r->dim; i++)
		for (int j = 0; j < r->dim; j++)
		{
			without[i][j] = i == j;
			for (int k = 0; k < ROWS_MAX; k++)
				without[i][j] += r->scale * r->others[k][i] * r->others[k][j];
			with[i][j] = without[i][j];
			for (int k = 0; k < r->count; k++)
				with[i][j] += c * dperm_unit_weight(r->count) * r->rows[k][i] * r->rows[k][j];
		}
	return log_det(r->dim, with) - log_det(r->dim, without);
}

/* Into the unit ball. */
static void
shrink(int dim, double *row)
{
	double		norm = 0;

	for (int i = 0; i < dim; i++)
		norm += row[i] * row[i];
	for (int i = 0; i < dim && norm > 1; i++)
		row[i] /= sqrt(norm) * (1 + 1e-15);
}

/* Random rows. Some have a norm above 1 and become unit vectors. */
static Rows
random_rows(TestRandom *state, int dim)
{
	Rows		r = {.dim = dim, .count = 1 + test_below(state, ROWS_MAX), .scale = test_below(state, 3) ? 0 : 2 * test_uniform(state)};

	for (int k = 0; k < ROWS_MAX; k++)
	{
		for (int i = 0; i < dim; i++)
		{
			r.rows[k][i] = 3 * test_uniform(state) - 1.5;
			r.others[k][i] = 3 * test_uniform(state) - 1.5;
		}
		shrink(dim, r.rows[k]);
		shrink(dim, r.others[k]);
	}
	return r;
}

/*
 * The adversary climbs over rows in any directions: never above the slack,
 * close to it, and well above that of a row.
 */
TEST(slack_is_the_worst_that_a_person_does)
{
	TestRandom	state = 3;
	static const double ratios[] = {1e-3, 0.1, 1, 20};

	for (int dim = 1; dim <= DIM_MAX; dim++)
		for (int c = 0; c < COUNT(ratios); c++)
		{
			double		slack = dperm_slack_any_slope(dim, ratios[c]);
			double		most = 0;

			for (int start = 0; start < 20; start++)
			{
				Rows		at = random_rows(&state, dim);
				double		found = det_ratio(&at, ratios[c]);

				for (int step = 0; step < 300; step++)
				{
					Rows		next = at;
					int			k = test_below(&state, at.count);

					for (int i = 0; i < dim; i++)
						next.rows[k][i] += (test_uniform(&state) - 0.5) * (step < 150 ? 1 : 0.1);
					shrink(dim, next.rows[k]);
					next.scale *= 0.9;
					if (det_ratio(&next, ratios[c]) > found)
					{
						at = next;
						found = det_ratio(&at, ratios[c]);
					}
				}
				most = fmax(most, found);
			}
			CHECK(most <= slack * (1 + 1e-12) + 1e-14);
			CHECK(most > 0.98 * slack);
			if (dim > 1 && ratios[c] >= 1)
				CHECK(most > 1.05 * dperm_slack_any_slope(1, ratios[c]));
		}
}

/*
 * One row in every direction is the worst, exactly; one row costs what it costs
 * without persons.
 */
TEST(slack_is_attained)
{
	const DpermLoss logistic = {DPERM_LOSS_LOGISTIC, 0};

	for (int dim = 1; dim <= DIM_MAX; dim++)
		for (double c = 1e-6; c < 1e4; c *= 7)
		{
			Rows		r = {.dim = dim, .count = dim};

			for (int i = 0; i < dim; i++)
				r.rows[i][i] = 1;
			CHECK_NEAR(det_ratio(&r, c) / dperm_slack_any_slope(dim, c), 1, 1e-9);
			CHECK(dperm_slack_any_slope(1, c) == log1p(c));
			CHECK(dperm_slack_rank(logistic, DPERM_UNIT_PERSON, dim) == dim);
			CHECK(dperm_slack_rank(logistic, DPERM_UNIT_ROW, dim) == 1);
			CHECK(dperm_slack_any_slope(dim, c) <= c);
		}
}

/* A setup for persons. */
static DpermSetup
any_setup(TestRandom *state)
{
	static const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.5}};

	return (DpermSetup) {
		.loss = losses[test_below(state, 2)],
		.unit = DPERM_UNIT_PERSON,
		.neighbours = (DpermNeighbours) test_below(state, 2),
		.epsilon = pow(10, -6 + 8.69 * test_uniform(state)),
		.lambda = pow(10, -10 + 12 * test_uniform(state)),
		.rows = (int64_t) pow(10, 9.9 * test_uniform(state)),
		.dim = (int) pow(10, 3.69 * test_uniform(state)),
		.slack = test_below(state, 2) ? 0.1 : 0.01 + 0.89 * test_uniform(state)
	};
}

/* Lambda, shares and scales by the formulas, in long double. */
TEST(calibration_follows_the_formulas)
{
	TestRandom	state = 4;

	for (int i = 0; i < test_rounds(20000); i++)
	{
		DpermSetup	s = any_setup(&state);
		long double c = s.loss.kind == DPERM_LOSS_LOGISTIC ? 0.25L : 1;
		long double least = c / ((long double) s.dim * s.rows * expm1l((long double) s.slack * s.epsilon / s.dim));
		long double apart = s.neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2;
		long double slack,
					left;
		DpermCalibration out;

		CHECK(dperm_calibrate(&s, &out) == NULL);
		CHECK(out.claim.unit == DPERM_UNIT_PERSON);
		CHECK(out.lambda <= fmaxl(fmaxl(s.lambda, least), DPERM_LAMBDA_MIN) * (1 + 1e-12L));
		CHECK(out.claim.shares[DPERM_SHARE_SLACK] <= s.slack * s.epsilon * (1 + 1e-9));

		/* with the true constants no more than epsilon is spent, and no less; a larger lambda was not asked for */
		left = s.epsilon - (long double) out.claim.shares[DPERM_SHARE_RELEASE];
		slack = slack_reference(s.loss, (int) apart, s.dim, s.rows * (long double) out.lambda, left);
		CHECK(slack + apart / out.noise_scale + out.claim.shares[DPERM_SHARE_RELEASE] <= s.epsilon);
		CHECK_NEAR((double) (out.noise_scale * (left - slack) / apart), 1, 1e-9);
		CHECK(out.lambda == fmax(s.lambda, DPERM_LAMBDA_MIN) ||
			  slack_reference(s.loss, (int) apart, s.dim, s.rows * (long double) out.lambda * (1 - 1e-8L), left) > s.slack * s.epsilon);

		/* output perturbation is as for rows */
		s.method = DPERM_METHOD_OUTPUT;
		s.slack = 0;
		CHECK(dperm_calibrate(&s, &out) == NULL);
		CHECK_NEAR((double) (out.noise_scale * s.rows * (long double) s.lambda * (s.epsilon - out.claim.shares[DPERM_SHARE_RELEASE]) / apart), 1, 1e-9);
		CHECK(out.claim.shares[DPERM_SHARE_SLACK] == 0);
	}
}

/*
 * No lambda has less risk than the default, found by trying, except for its
 * three digits.
 */
TEST(default_lambda_is_best)
{
	TestRandom	state = 5;

	for (int i = 0; i < 100; i++)
	{
		DpermSetup	s = any_setup(&state);
		double		best;

		s.slack = 0;
		s.delta = i % 3 == 0 ? 1e-6 : 0;
		s.lambda = dperm_calibrate_default_lambda(&s);
		best = dperm_mechanism_entry((int) s.method)->risk(&s, s.lambda);
		if (s.lambda <= DPERM_LAMBDA_MIN || s.lambda >= DPERM_LAMBDA_MAX)
			continue;
		CHECK(isfinite(best));
		for (double times = 1e-4; times < 1e4; times *= 1.1)
			CHECK(dperm_mechanism_entry((int) s.method)->risk(&s, s.lambda * times) >= best * (1 - 1e-4));
	}
}

TEST(refuses_what_is_not_for_persons)
{
	DpermSetup	s = {.loss = {DPERM_LOSS_LOGISTIC, 0}, .unit = DPERM_UNIT_PERSON, .analysis = DPERM_ANALYSIS_PAPER, .epsilon = 1,
	.lambda = 1, .rows = 10, .dim = 2};
	DpermCalibration out;

	CHECK_TEXT(dperm_calibrate(&s, &out), "the analysis of the paper supports rows, not persons");
	s.analysis = DPERM_ANALYSIS_SHARP;
	s.rows = 0;
	CHECK_TEXT(dperm_calibrate(&s, &out), "the number of persons is out of range");
	s.rows = 10;
	s.unit = (DpermUnit) 2;
	CHECK_TEXT(dperm_calibrate(&s, &out), "unit is unknown");
}

/*
 * The rounding of gradients allows for one more product, and for the maximum
 * number of rows.
 */
TEST(rounding_allows_for_weights)
{
	DpermSetup	s = {.loss = {DPERM_LOSS_LOGISTIC, 0}, .epsilon = 1, .lambda = 1e-8, .rows = 1000, .dim = 3, .slack = 0.9};
	DpermCalibration rows,
				persons;

	s.epsilon = INFINITY;
	CHECK(dperm_calibrate(&s, &rows) == NULL);
	s.unit = DPERM_UNIT_PERSON;
	CHECK(dperm_calibrate(&s, &persons) == NULL);
	CHECK(persons.rounding[0] >= rows.rounding[0] + 0x1p-53);
	CHECK(persons.rounding[1] == rows.rounding[1]);
	CHECK(dperm_setup_most_rows(&s) == DPERM_ROWS_MAX);
	s.unit = DPERM_UNIT_ROW;
	CHECK(dperm_setup_most_rows(&s) == 1000);
}

#define EXCESS_STEPS 300

/* The mean of (max(0, Y) - from)_+, by Simpson's rule. */
static double
excess_by_sum(double mu, double from)
{
	double		start = fmax((fmax(from, 0) - mu * mu / 2) / mu, -12);
	double		length = start > 0 ? fmin(12, HOCKEY_FOLDS / start) : 12 - start;
	double		step = length / EXCESS_STEPS;
	double		sum = 0;

	for (int i = 0; i <= EXCESS_STEPS; i++)
	{
		double		z = start + i * step;

		sum += hockey_weight(i, EXCESS_STEPS) * exp(-z * z / 2) * (mu * z + mu * mu / 2 - fmax(from, 0));
	}
	return sum * step / 3 / sqrt(2 * M_PI) + fmax(-from, 0);
}

/*
 * The closed form is that integral for the best tangent: never below it, and
 * not above.
 */
TEST(delta_is_the_integral)
{
	static const double epsilons[] = {1e-6, 0.01, 0.1, 1, 3, 20};

	for (int i = 0; i < COUNT(epsilons); i++)
		for (double mu = 1e-7; mu < 12; mu *= 1.7)
		{
			double		found = dperm_privacy_average_delta(mu, epsilons[i], 0);
			double		least = 1;

			for (double p = 0; p < 20; p = p * 1.03 + 1e-8)
				least = fmin(least, exp(-p) * excess_by_sum(mu, epsilons[i] - (expm1(p) - p)));
			if (least < 1e-40)
				continue;
			CHECK(found >= hockey_normals(mu, epsilons[i]) * (1 - 1e-6));
			CHECK(found >= least * (1 - 3e-4));
			CHECK(found <= least * (1 + (found < 0.5 ? 1e-3 : 1e-2)));
			if (!(found >= least * (1 - 3e-4) && found <= least * (1 + 1e-2)))
				fprintf(stderr, "mu %g, epsilon %g: %g instead of %g\n", mu, epsilons[i], found, least);
		}
}

#define DIRECTIONS 6

/*
 * A person, as far as noise is concerned: rows in a plane, with weights; those
 * of the replacement count as well.
 */
typedef struct Fan
{
	int			count;
	double		weights[DIRECTIONS];	/* 1 in all, or 2 if a person is replaced */
	double		angles[DIRECTIONS];
} Fan;

/*
 * The largest privacy loss at noise b (sigma 1) over all slopes between 0 and
 * 1: it is convex in them.
 */
static double
worst_loss(const Fan *fan, double x, double y)
{
	double		worst = 0;

	for (int subset = 0; subset < 1 << fan->count; subset++)
	{
		double		v[2] = {0, 0};

		for (int i = 0; i < fan->count; i++)
			if (subset & 1 << i)
			{
				v[0] += fan->weights[i] * cos(fan->angles[i]);
				v[1] += fan->weights[i] * sin(fan->angles[i]);
			}
		worst = fmax(worst, x * v[0] + y * v[1] + (v[0] * v[0] + v[1] * v[1]) / 2);
	}
	return worst;
}

/*
 * The mean of (1 - exp(epsilon - loss))_+ over noise, in polar coordinates;
 * rows are divided by sigma.
 */
static double
fan_delta(const Fan *fan, double sigma, double epsilon)
{
	enum
	{
		RADII = 200,
		TURNS = 64
	};
	Fan			scaled = *fan;
	double		sum = 0;

	for (int i = 0; i < fan->count; i++)
		scaled.weights[i] /= sigma;
	for (int i = 0; i < TURNS; i++)
		for (int j = 0; j < RADII; j++)
		{
			double		r = 10 * (j + 0.5) / RADII;
			double		turn = 2 * M_PI * (i + 0.5) / TURNS;
			double		loss = worst_loss(&scaled, r * cos(turn), r * sin(turn));

			if (loss > epsilon)
				sum += r * exp(-r * r / 2) * -expm1(epsilon - loss);
		}
	return sum * (10.0 / RADII) / TURNS;
}

/*
 * The adversary chooses the directions and weights of all rows, and for each
 * noise their slopes.
 */
TEST(no_person_needs_more_noise)
{
	static const double epsilons[] = {0.1, 1, 5};
	static const double deltas[] = {1e-6, 1e-2, 0.3};
	TestRandom	state = 6;

	for (int e = 0; e < COUNT(epsilons); e++)
		for (int d = 0; d < COUNT(deltas); d++)
			for (int neighbours = 0; neighbours < 2; neighbours++)
			{
				double		total = neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2;
				double		sigma = dperm_privacy_objective_sigma((DpermNeighbours) neighbours, DPERM_UNIT_PERSON, epsilons[e],
																   deltas[d], 0);
				double		most = 0;

				/* a row and its replacement at all angles */
				for (int i = 0; i <= 8 && neighbours == DPERM_NEIGHBOURS_REPLACE; i++)
				{
					Fan			pair = {.count = 2, .weights = {1, 1}, .angles = {0.05, 0.05 + M_PI * i / 8}};

					CHECK(dperm_privacy_objective_sigma(DPERM_NEIGHBOURS_REPLACE, DPERM_UNIT_ROW, epsilons[e], deltas[d], 0) == sigma);
					most = fmax(most, fan_delta(&pair, sigma, epsilons[e]));
				}

				for (int round = 0; round < 12; round++)
				{
					Fan			fan = {.count = round == 0 ? 1 : 1 + test_below(&state, DIRECTIONS)};
					double		sum = 0;

					/* around one direction, or in all */
					for (int i = 0; i < fan.count; i++)
					{
						sum += fan.weights[i] = test_uniform(&state);
						fan.angles[i] = round == 0 ? 0.05 : (round % 2 ? 0.3 : 2 * M_PI) * test_uniform(&state);
					}
					for (int i = 0; i < fan.count; i++)
						fan.weights[i] *= total / sum;
					most = fmax(most, fan_delta(&fan, sigma, epsilons[e]));
				}
				CHECK(most <= deltas[d] * 1.005);	/* and the error of the sum */
				CHECK(most > 0.5 * deltas[d]);
			}
}

/*
 * Enough noise, a little less would not be enough, and never less than two
 * means at that distance require.
 */
TEST(sigma_is_the_least)
{
	static const double epsilons[] = {1e-6, 1e-3, 0.1, 1, 10, 200, 500};
	static const double deltas[] = {1e-15, 1e-9, 1e-6, 1e-3, 0.1, 0.9, 1 - 0x1p-53};

	for (int i = 0; i < COUNT(epsilons); i++)
		for (int j = 0; j < COUNT(deltas); j++)
		{
			double		sigma = dperm_privacy_objective_sigma(DPERM_NEIGHBOURS_REMOVE, DPERM_UNIT_PERSON, epsilons[i], deltas[j], 0);

			CHECK(isfinite(sigma) && sigma > 0);
			CHECK(dperm_privacy_average_delta(1 / sigma, epsilons[i], 0) <= deltas[j]);
			CHECK(dperm_privacy_average_delta(1 / (sigma * (1 - 1e-4)), epsilons[i], 0) > deltas[j] * (1 - 1e-9));
			CHECK(sigma >= dperm_privacy_sigma(epsilons[i], deltas[j]) * (1 - 3e-5));
			if (deltas[j] <= 1e-6)
				CHECK(sigma <= 1.01 * dperm_privacy_sigma(epsilons[i], deltas[j]));
		}
}

/* The bound falls as epsilon grows, and as mu falls. */
TEST(delta_falls)
{
	TestRandom	state = 7;

	for (int i = 0; i < 20000; i++)
	{
		double		epsilon = pow(10, -6 + 8.69 * test_uniform(&state));
		double		mu = pow(10, -6 + 8 * test_uniform(&state));
		double		more = 1 + test_uniform(&state);
		double		found = dperm_privacy_average_delta(mu, epsilon, 0);

		CHECK(found >= 0 && found <= 1);
		CHECK(dperm_privacy_average_delta(mu * more, epsilon, 0) >= found * (1 - 1e-6));
		CHECK(dperm_privacy_average_delta(mu, epsilon * more, 0) <= found * (1 + 1e-6));
	}
}

/*
 * With a delta: within it with the true constants, and hardly more noise than
 * needed.
 */
TEST(gaussian_calibration_is_enough)
{
	TestRandom	state = 8;

	for (int i = 0; i < 2000; i++)
	{
		DpermSetup	s = any_setup(&state);
		long double c = s.loss.kind == DPERM_LOSS_LOGISTIC ? 0.25L : 1;
		double		apart = s.neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2;
		DpermCalibration out;
		double		left;

		s.delta = fmax(pow(10, -15 * test_uniform(&state)) * 0.9, DPERM_DELTA_MIN);
		CHECK(dperm_calibrate(&s, &out) == NULL);
		left = s.epsilon - out.claim.shares[DPERM_SHARE_RELEASE];
		left -= (double) slack_reference(s.loss, (int) apart, s.dim, s.rows * (long double) out.lambda, left);
		CHECK(s.dim * log1pl(c / ((long double) s.dim * s.rows * out.lambda)) <= s.slack * s.epsilon * (1 + 1e-9L));
		CHECK(out.floor >= 0 && out.floor <= left * (1 + 1e-12));
		CHECK(dperm_privacy_average_delta(apart / out.noise_scale, left, out.floor) + 0x1p-65 <= s.delta * (1 + 1e-9));
		CHECK(dperm_privacy_average_delta(apart / out.noise_scale * 1.001, left, out.floor) > s.delta * (1 - 1e-3) - 0x1p-63);
	}
}

#define LINE_ROWS 4

/*
 * A training of one weight on three persons, in exact arithmetic: two have one
 * row each, the third some of equal weight.
 */
typedef struct Line
{
	DpermLoss	loss;
	double		lambda;
	double		sigma;
	double		others[2];
} Line;

/* The density of the minimiser at f. */
static double
line_density(const Line *line, const double *rows, int count, double f)
{
	double		noise = -3 * line->lambda * f;
	double		slope = 3 * line->lambda;

	for (int i = 0; i < 2 + count; i++)
	{
		double		row = i < 2 ? line->others[i] : rows[i - 2];
		double		weight = i < 2 ? 1 : dperm_unit_weight(count);

		noise -= weight * loss_at(line->loss, f * row, 1).slope * row;
		slope += weight * loss_at(line->loss, f * row, 1).curve * row * row;
	}
	return exp(-noise * noise / (2 * line->sigma * line->sigma)) * slope / line->sigma / sqrt(2 * M_PI);
}

/*
 * No person can be distinguished from another, or from none, better than the
 * curve and the delta say.
 */
TEST(curve_and_delta_hold_on_a_line)
{
	static const double lambdas[] = {0.01, 0.3, 10};
	static const double orders[] = {1.1, 1.5, 2, 4, 16};
	TestRandom	state = 9;
	double		closest = 0;

	for (int round = 0; round < 300; round++)
	{
		bool		removed = test_below(&state, 2);
		double		epsilon = round % 4 == 0 ? 0.3 : 1.5;
		double		delta = round % 3 == 0 ? 1e-2 : 1e-4;
		Line		line = {{round % 2 ? DPERM_LOSS_LOGISTIC : DPERM_LOSS_HUBER, round % 2 ? 0 : 0.5}, lambdas[test_below(&state, 3)], 0,
		{2 * test_uniform(&state) - 1, 2 * test_uniform(&state) - 1}};
		double		ratio = dperm_loss_bounds(line.loss).curvature / (3 * line.lambda);
		DpermRelease release = {
			.neighbours = removed ? DPERM_NEIGHBOURS_REMOVE : DPERM_NEIGHBOURS_REPLACE,
			.unit = DPERM_UNIT_PERSON, .epsilon = 1, .delta = 1e-6, .kappa = dperm_slack_any_slope(1, ratio)
		};
		double		rows[2][LINE_ROWS];
		int			counts[2] = {1 + test_below(&state, LINE_ROWS), removed ? 0 : 1 + test_below(&state, LINE_ROWS)};
		double		sums[COUNT(orders)] = {0};
		double		lost = 0;
		double		reach,
					step;

		for (int i = 0; i < 2 * LINE_ROWS; i++)
			rows[i / LINE_ROWS][i % LINE_ROWS] = test_below(&state, 3) ? (test_below(&state, 2) ? 1 : -1) : 2 * test_uniform(&state) - 1;
		line.sigma = dperm_privacy_objective_sigma(release.neighbours, DPERM_UNIT_PERSON, epsilon, delta, 0);
		dperm_composition_objective(&release, 1, 1, line.sigma);
		CHECK(release.curve == DPERM_CURVE_AVERAGE);
		CHECK_NEAR(release.mu, (removed ? 1 : 2) / line.sigma, 1e-15);
		for (int way = 0; way < 2; way++)
		{
			memset(sums, 0, sizeof(sums));
			lost = 0;
			reach = (12 * line.sigma + 36) / (3 * line.lambda);
			step = reach / 2000;
			for (double f = -reach + step / 2; f < reach; f += step)
			{
				double		p = line_density(&line, rows[way], counts[way], f);
				double		q = line_density(&line, rows[1 - way], counts[1 - way], f);

				lost += fmax(p - exp(epsilon + release.kappa) * q, 0) * step;
				for (int i = 0; i < COUNT(orders) && p > 0 && q > 0; i++)
					sums[i] += exp(orders[i] * log(p) + (1 - orders[i]) * log(q)) * step;
			}
			CHECK(lost <= delta * (1 + 1e-3));
			closest = fmax(closest, lost / delta);
			for (int i = 0; i < COUNT(orders); i++)
				CHECK(log(sums[i]) / (orders[i] - 1) <= dperm_composition_curve(&release, orders[i]) * (1 + 1e-6) + 1e-9);
		}
	}
	CHECK(closest > 0.3);
}

/*
 * For persons the bound on the loss is the better of two: with both signs of
 * the noise, or with one sign and without the other density.
 */
TEST(curve_is_the_smaller_of_two)
{
	static const double orders[] = {1.01, 1.5, 2, 5, 30, 300};

	for (double mu = 1e-3; mu < 4; mu *= 2)
		for (int k = 0; k < 3; k++)
			for (int i = 0; i < COUNT(orders); i++)
			{
				double		kappa = k == 0 ? 0 : k == 1 ? 0.01 : 0.4;
				DpermRelease person = {.epsilon = 1, .delta = 1e-6, .curve = DPERM_CURVE_AVERAGE, .mu = mu, .kappa = kappa};
				double		one_sided = 0;
				double		both = 0;
				double		above = fmax(orders[i], 2) - 1;
				double		step = 1e-3;
				double		got = dperm_composition_curve(&person, orders[i]);

				if (mu * orders[i] > 12)
					continue;
				for (double z = -40 + step / 2; z < 40; z += step)
				{
					double		density = exp(-z * z / 2) * step / sqrt(2 * M_PI);
					double		u = kappa + mu * mu / 2 + mu * fabs(z);

					one_sided += exp((orders[i] - 1) * fmax(0, mu * z + mu * mu / 2)) * density;
					both += (exp(above * u) + above * expm1(-u)) * density;
				}
				one_sided = kappa + log(one_sided) / (orders[i] - 1);
				CHECK_NEAR(got, fmin(one_sided, log(both) / above), 1e-5 * got + 1e-9);
			}
}

/* A model for persons has that curve, with the slack of persons. */
TEST(models_have_the_curve)
{
	for (int neighbours = 0; neighbours < 2; neighbours++)
		for (int method = 0; method < DPERM_METHOD_COUNT; method++)
		{
			DpermModel	m = plain_model();
			double		apart = neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2;
			double		flat = (double) m.rows * m.lambda_effective;
			DpermRelease release;

			m.method = (DpermMethod) method;
			m.claim.unit = DPERM_UNIT_PERSON;
			m.claim.neighbours = (DpermNeighbours) neighbours;
			m.claim.delta = 1e-6;
			release = dperm_model_release(&m);
			CHECK(release.unit == DPERM_UNIT_PERSON);
			CHECK(release.curve == (method == DPERM_METHOD_OUTPUT ? DPERM_CURVE_SHIFT : DPERM_CURVE_AVERAGE));
			CHECK_NEAR(release.mu * m.noise_scale * (method == DPERM_METHOD_OUTPUT ? flat : 1) / apart, 1, 1e-8);
			CHECK(release.mu * m.noise_scale * (method == DPERM_METHOD_OUTPUT ? flat : 1) >= apart);
			CHECK_NEAR(release.kappa, method == DPERM_METHOD_OUTPUT ? 0 : 2 * log1p(0.125 / flat), 1e-9);
			CHECK(method == DPERM_METHOD_OUTPUT || release.kappa >= 2 * log1p(0.125 / flat));
		}
}
