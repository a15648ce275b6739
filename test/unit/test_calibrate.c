/*
 * test_calibrate.c: every constant of the mechanism, recomputed in long double
 * from the formulas of the design. None is on the wrong side of its formula.
 */
#include "unit/test.h"

#include <float.h>

#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/solve/solver.h"
#include "core/privacy/draw.h"
#include "core/privacy/composition.h"
#include "unit/goodness.h"
#include "unit/hockey.h"
#include "unit/slack.h"

/* The constants by the formulas. */
typedef struct Expected
{
	long double lambda;
	long double slack;			/* what the analysis charges for the Jacobian */
	long double noise;
	long double release;
	long double scale;
} Expected;

/* The curvature bounds of the design's table. */
static long double
curvature(DpermLoss loss)
{
	if (loss.kind == DPERM_LOSS_HUBER)
		return 1 / (2 * (long double) loss.h);
	if (loss.kind == DPERM_LOSS_SMOOTH_HINGE)
		return 3 / (4 * (long double) loss.h);
	if (loss.kind == DPERM_LOSS_LOG_COSH)
		return 1 / (long double) loss.h;
	return loss.kind == DPERM_LOSS_SOFTMAX ? 0.5L : 0.25L;
}

/* The slopes of a row of several classes: their sum, their norm; and the rank of their curvature. */
static long double
reach_of(DpermLoss loss)
{
	return loss.classes > 0 ? 2 : 1;
}

static long double
norm_of(DpermLoss loss)
{
	return loss.classes > 0 ? sqrtl(2) : 1;
}

static long double
rank_of(DpermLoss loss)
{
	return loss.classes > 0 ? loss.classes - 1 : 1;
}

/* The loss at weights 0, at most. */
static long double
start_of(DpermLoss loss)
{
	return loss.classes > 0 ? logl(loss.classes) : loss.kind == DPERM_LOSS_LOGISTIC ? logl(2) :
		loss.kind == DPERM_LOSS_LOG_COSH ? loss.h * logl(coshl(1 / (long double) loss.h)) : 1;
}

/* What the noise may have of delta: a slope of a residual has two directions, one of several classes one for each other. */
static double
delta_of(const DpermSetup *s)
{
	if (s->method != DPERM_METHOD_OBJECTIVE)
		return s->delta;
	return s->delta / (s->loss.kind == DPERM_LOSS_LOG_COSH ? 2 : (double) rank_of(s->loss));
}

/* A row that is replaced, or removed. */
static long double
apart(const DpermSetup *s)
{
	return s->neighbours == DPERM_NEIGHBOURS_REMOVE ? 1 : 2;
}

/* Algorithms 1 and 2 with a share of epsilon set aside; with the sharp analysis at the lambda that was taken. */
static Expected
expect(const DpermSetup *s, const DpermCalibration *out)
{
	long double n = (long double) s->rows;
	long double c = curvature(s->loss);
	long double eps = s->epsilon;
	Expected	e;

	e.release = out->claim.shares[DPERM_SHARE_RELEASE];
	e.lambda = s->lambda;
	e.slack = 0;
	if (s->method == DPERM_METHOD_OUTPUT)
	{
		e.noise = eps - e.release;
		e.scale = norm_of(s->loss) * apart(s) / (n * e.lambda * e.noise);
		return e;
	}
	if (s->analysis == DPERM_ANALYSIS_SHARP)
	{
		e.lambda = out->lambda;
		e.slack = slack_reference(s->loss, (int) apart(s), rank_of(s->loss), n * e.lambda, eps - e.release);
		e.noise = eps - e.slack - e.release;
	}
	else
	{
		long double left = eps - e.release;
		long double ratio = c / (n * e.lambda);

		e.slack = logl(1 + 2 * ratio + ratio * ratio);
		if (ratio < 1e-3L)
			e.slack = 2 * log1pl(ratio);
		e.noise = left - e.slack;
		if (!(e.noise > 0))
		{
			e.lambda = c / (n * expm1l(left / 4));
			e.slack = e.noise = left / 2;
		}
	}
	e.scale = reach_of(s->loss) * apart(s) / e.noise;
	return e;
}

/* Is |a - b| within a fraction of b, for long doubles? */
static bool
close_to(double a, long double b, long double share)
{
	return fabsl(a - b) <= share * fabsl(b);
}

/* A number between 10^low and 10^high, log-uniform. */
static double
power_between(TestRandom *state, double low, double high)
{
	return pow(10, low + (high - low) * test_uniform(state));
}

/* A setup somewhere in the range of public parameters. */
static DpermSetup
any_setup(TestRandom *state)
{
	DpermSetup	s = {.loss = {.kind = (DpermLossKind) test_below(state, DPERM_LOSS_COUNT)}};

	if (s.loss.kind == DPERM_LOSS_SOFTMAX)
		s.loss.classes = 3 + test_below(state, test_below(state, 4) ? 10 : DPERM_CLASSES_MAX - 2);
	else if (s.loss.kind != DPERM_LOSS_LOGISTIC)
		s.loss.h = power_between(state, s.loss.kind == DPERM_LOSS_LOG_COSH ? log10(0.0201) : -2, 0);
	s.method = (DpermMethod) test_below(state, 2);
	s.analysis = s.loss.kind >= DPERM_LOSS_LOG_COSH ? DPERM_ANALYSIS_SHARP : (DpermAnalysis) test_below(state, 2);
	s.epsilon = power_between(state, -6, test_below(state, 4) ? 2 : 2.69);
	s.rows = (int64_t) power_between(state, 0, 9.9);
	s.dim = (int) power_between(state, 0, log10(DPERM_DIM_MAX / dperm_loss_blocks(s.loss))) * dperm_loss_blocks(s.loss);
	s.lambda = power_between(state, -10, test_below(state, 4) ? 2 : 9);
	s.slack = test_below(state, 2) ? 0.1 : 0.01 + 0.89 * test_uniform(state);
	s.neighbours = (DpermNeighbours) test_below(state, 2);
	return s;
}

/* A plain setup, which tests vary. */
static DpermSetup
plain_setup(void)
{
	return (DpermSetup) {.loss = {DPERM_LOSS_LOGISTIC, 0}, .epsilon = 1, .lambda = 0.01,
		.rows = 1000, .dim = 10, .slack = 0.1};
}

/* Calibrate a setup that has to be accepted. */
static DpermCalibration
calibrated(const DpermSetup *s)
{
	DpermCalibration out;

	CHECK(dperm_calibrate(s, &out) == NULL);
	return out;
}

/* Are all constants finite and, where they have to be, positive? */
static bool
sane(const DpermCalibration *c)
{
	return c->lambda > 0 && c->claim.shares[DPERM_SHARE_SLACK] >= 0 && c->claim.shares[DPERM_SHARE_NOISE] > 0 && c->claim.shares[DPERM_SHARE_RELEASE] > 0 &&
		c->noise_scale > 0 && c->gradient_bound > 0 && c->weight_bound > 0 &&
		c->residual > 0 && c->grid > 0 && c->release_scale > 0 &&
		isfinite(c->lambda) && isfinite(c->noise_scale) && isfinite(c->gradient_bound) &&
		isfinite(c->weight_bound) && isfinite(c->residual) && isfinite(c->grid);
}

/*
 * The solver's bounds and the release stage of a calibration, from first
 * principles.
 */
static void
check_release(const DpermSetup *s, const DpermCalibration *out)
{
	bool		tilted = s->method == DPERM_METHOD_OBJECTIVE;
	long double c = curvature(s->loss);
	long double unit = DBL_EPSILON / 2;
	long double n = (long double) s->rows;
	long double lambda = out->lambda;
	int			blocks = dperm_loss_blocks(s->loss);
	long double norm_of_slope = norm_of(s->loss);
	long double tail = dperm_noise_tail(dperm_setup_law(s), tilted ? s->noise : NULL, tilted ? s->dim / blocks : s->dim, tilted ? blocks : 1,
										out->noise_scale) +
		norm_of_slope * (tilted ? 2 : 2 / (n * lambda));	/* under a neighbour too */
	long double start = start_of(s->loss);
	long double pull = tilted ? tail / n / lambda : 0;
	long double longest = fminl(pull + norm_of_slope / lambda,
								pull + sqrtl(pull * pull + 2 * start / lambda));
	long double rounding;
	long double rho;
	long double span;
	long double steps;
	int			exponent;

	/* no minimiser has a larger norm, and the bound is not wasteful */
	CHECK(out->weight_bound >= longest * 1.001L);
	CHECK(out->weight_bound <= longest * 1.02L);

	/*
	 * The least that dot products (a quarter of dim roundings, or dim), slopes, sums of
	 * 96 terms and the two additions of the solver can cost.
	 */
	for (int k = 0; k < 2; k++)
	{
		long double norm = k * out->weight_bound;

		rounding = unit * (c * (blocks > 1 ? s->dim / blocks : s->dim / 4) * norm + norm_of_slope * (96 + 4) + 2 * s->loss.classes + 4 * (lambda * norm + (tilted ? tail / n : 0)));
		CHECK(out->rounding[0] + out->rounding[1] * norm >= rounding);
		CHECK(out->rounding[0] + out->rounding[1] * norm <= 10 * rounding + 20 * unit * c * (1 + norm));
	}

	/*
	 * the bound that is accepted: a hundredth of the main noise, and within
	 * reach of the slowest method
	 */
	CHECK(out->gradient_bound >= fminl(1e-10L, 6e-5L / n) * 0.999999L);
	CHECK(out->gradient_bound <= fmaxl(fminl(1e-10L, 6e-5L / n) * 1.000001L,
									   4.0001L * dperm_solver_reach(s->dim, out->lambda, s->loss, s->rows, 0,
																	 out->weight_bound, tilted ? (double) (tail / n) : 0)));
	rho = out->gradient_bound;
	if (tilted)
		rho = (rho + 32 * unit * tail / n) / lambda + unit * out->weight_bound;
	else
		rho = rho / lambda + 32 * unit * tail + unit * (out->weight_bound + tail);
	CHECK(out->residual >= rho);
	CHECK(out->residual <= rho * 10 + 2 * s->dim * DBL_EPSILON * tail / (tilted ? n * lambda : 1));

	/* the slowest method: sqrt(c/lambda) times a logarithm */
	CHECK(out->descent_steps >= sqrtl(c / lambda) * 10);
	CHECK(out->descent_steps <= 2 + sqrtl((c + lambda) / lambda) * 400);

	/* the grid: a power of two, as fine as the bounds allow */
	CHECK(frexp(out->grid, &exponent) == 0.5);
	CHECK(out->grid >= 0x1p-40);
	span = out->weight_bound + out->gradient_bound / lambda + (tilted ? 0 : tail);
	CHECK(span / out->grid <= 0x1p50L);
	steps = 2 * sqrtl(s->dim) * out->residual / out->grid + s->dim;
	CHECK((long double) out->release_scale * out->claim.shares[DPERM_SHARE_RELEASE] >= steps);
	CHECK((long double) out->release_scale * out->claim.shares[DPERM_SHARE_RELEASE] <=
		  steps * 1.000001L + out->claim.shares[DPERM_SHARE_RELEASE]);
	CHECK(out->release_scale <= INT64_C(1) << 50);
	if (out->grid > 0x1p-40)
		CHECK(2 * span / out->grid > 0x1p50L ||
			  (2 * steps - s->dim) / out->claim.shares[DPERM_SHARE_RELEASE] * 1.000001L > 0x1p50L - 1);
}

/* Lambda is the caller's, or the least at which the slack has its share. */
static void
check_lambda(const DpermSetup *s, const DpermCalibration *out)
{
	long double left = s->epsilon - (long double) out->claim.shares[DPERM_SHARE_RELEASE];
	double		least = out->lambda * (1 - 1e-8);

	CHECK(out->claim.shares[DPERM_SHARE_SLACK] <= s->slack * s->epsilon * (1 + 1e-12));
	CHECK(out->lambda == fmax(s->lambda, DPERM_LAMBDA_MIN) ||
		  slack_reference(s->loss, (int) apart(s), rank_of(s->loss), (long double) s->rows * least, left) > s->slack * s->epsilon);
}

/* One setup against all formulas. */
static void
check_setup(const DpermSetup *s)
{
	DpermCalibration out = calibrated(s);
	Expected	e = expect(s, &out);
	long double n = (long double) s->rows;
	long double sensitivity = s->method == DPERM_METHOD_OUTPUT ? norm_of(s->loss) * apart(s) / (n * out.lambda) :
		reach_of(s->loss) * apart(s);
	long double jacobian = s->method == DPERM_METHOD_OUTPUT ? 0 :
		slack_reference(s->loss, (int) apart(s), rank_of(s->loss), n * out.lambda, s->epsilon - (long double) out.claim.shares[DPERM_SHARE_RELEASE]);
	long double spent;

	CHECK(sane(&out));
	CHECK(close_to(out.lambda, e.lambda, 1e-13L));
	CHECK(out.claim.shares[DPERM_SHARE_RELEASE] <= 0.01 * s->epsilon);
	CHECK(fabsl(out.claim.shares[DPERM_SHARE_SLACK] - e.slack) <= 1e-11L * s->epsilon);
	CHECK(fabsl(out.claim.shares[DPERM_SHARE_NOISE] - e.noise) <= 1e-11L * s->epsilon);
	CHECK(close_to(out.noise_scale, e.scale,
				   2e-12L + 1e-11L * s->epsilon / e.noise));
	if (s->method == DPERM_METHOD_OBJECTIVE && s->analysis == DPERM_ANALYSIS_SHARP)
		check_lambda(s, &out);

	/* what an adversary can learn, in exact arithmetic, is not above epsilon */
	spent = jacobian + sensitivity / out.noise_scale + out.claim.shares[DPERM_SHARE_RELEASE];
	CHECK(spent <= s->epsilon);
	CHECK(out.claim.shares[DPERM_SHARE_SLACK] >= jacobian - 1e-17L * s->epsilon);
	CHECK(out.noise_scale * (long double) out.claim.shares[DPERM_SHARE_NOISE] >= sensitivity);
	CHECK((long double) out.claim.shares[DPERM_SHARE_SLACK] + out.claim.shares[DPERM_SHARE_NOISE] + out.claim.shares[DPERM_SHARE_RELEASE] <=
		  s->epsilon * (1 + (long double) DBL_EPSILON));
	check_release(s, &out);
}

TEST(follows_the_formulas)
{
	TestRandom	state = 7;

	for (int i = 0; i < test_rounds(10000); i++)
	{
		DpermSetup	s = any_setup(&state);

		check_setup(&s);
	}
}

/* Noise of some groups of shapes for so many coordinates. */
static const DpermNoise *
any_noise(TestRandom *state, int dim)
{
	static DpermShape shapes[20];
	static DpermNoiseGroup groups[20];
	static DpermNoise noise;
	double		left = 1;

	noise = (DpermNoise) {.shapes = shapes, .groups = groups};
	for (int at = 0; at < dim; noise.shape_count++)
	{
		int			some = noise.shape_count == 19 ? dim - at : 1 + test_below(state, dim - at);
		bool		discs = some % 2 == 0 && test_below(state, 4) == 0;

		shapes[noise.shape_count] = (DpermShape) {.kind = discs ? DPERM_SHAPE_DISCS : (DpermShapeKind) test_below(state, 3),
			.first = at, .count = some, .radius = power_between(state, -2, 0)};
		if (noise.shape_count == 0 || test_below(state, 2))
		{
			double		share = left * (0.1 + 0.8 * test_uniform(state));

			groups[noise.group_count++] = (DpermNoiseGroup) {.first = noise.shape_count, .share = share};
			left -= share;
		}
		groups[noise.group_count - 1].count++;
		at += some;
	}
	dperm_noise_measure(DPERM_LAW_NORM, &noise);
	CHECK(dperm_noise_fault(&noise, dim) == NULL);
	return &noise;
}

/* The same with noise in shapes: the shares of epsilon are those of the ball but for the release's, the bounds are not. */
TEST(follows_the_formulas_in_shapes)
{
	TestRandom	state = 17;
	int			tighter = 0;

	for (int i = 0; i < test_rounds(2000); i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermSetup	plain;
		DpermCalibration ball;
		DpermCalibration shaped;

		s.method = DPERM_METHOD_OBJECTIVE;
		s.analysis = DPERM_ANALYSIS_SHARP;
		plain = s;
		s.noise = any_noise(&state, dperm_setup_row_dim(&s));
		check_setup(&s);
		ball = calibrated(&plain);
		shaped = calibrated(&s);
		CHECK(fabs(ball.claim.shares[DPERM_SHARE_NOISE] - shaped.claim.shares[DPERM_SHARE_NOISE]) <= 0.01 * s.epsilon);
		CHECK_NEAR(ball.lambda, shaped.lambda, 0.02 * ball.lambda);
		tighter += shaped.weight_bound < ball.weight_bound;
	}
	CHECK(tighter > test_rounds(100) && tighter < test_rounds(2000));
}

/* On both sides of the paper's eps' = 0, and close to it, whatever the release takes. */
TEST(follows_the_paper_across_its_jump)
{
	DpermSetup	s = plain_setup();
	double		jump,
				left;

	s.analysis = DPERM_ANALYSIS_PAPER;
	for (double epsilon = 1e-5; epsilon < 100; epsilon *= 3)
	{
		s.epsilon = epsilon;
		jump = 0.25 / (s.rows * expm1(0.99 * epsilon / 2));
		if (jump < DPERM_LAMBDA_MIN)
			break;
		for (double near = 1e-14; near < 0.9; near *= 10)
		{
			DpermCalibration out;

			s.lambda = jump * (1 + near);
			out = calibrated(&s);
			CHECK(out.lambda == s.lambda);
			CHECK(out.claim.shares[DPERM_SHARE_SLACK] > out.claim.shares[DPERM_SHARE_NOISE] || near > 0.1);
			check_release(&s, &out);
			if (near > 1e-12)
				check_setup(&s);

			s.lambda = 0.25 / (s.rows * expm1(epsilon / 2)) * (1 - near);
			out = calibrated(&s);
			left = epsilon - out.claim.shares[DPERM_SHARE_RELEASE];
			CHECK(out.lambda > jump);
			CHECK_NEAR(out.claim.shares[DPERM_SHARE_SLACK], left / 2, 1e-12 * epsilon);
			CHECK_NEAR(out.noise_scale, 2 / (left / 2), 1e-11 / epsilon);
			check_setup(&s);
		}
	}
}

/*
 * Numbers computed by hand, to detect a mistake that is also in the formulas
 * above.
 */
TEST(gives_known_numbers)
{
	DpermSetup	s = plain_setup();
	DpermCalibration out = calibrated(&s);

	/* n Lambda = 10 is above 2/epsilon */
	CHECK(out.claim.shares[DPERM_SHARE_SLACK] == 0);
	CHECK(out.claim.shares[DPERM_SHARE_NOISE] == 1 - out.claim.shares[DPERM_SHARE_RELEASE]);
	CHECK_NEAR(out.noise_scale, 2 / (1 - out.claim.shares[DPERM_SHARE_RELEASE]), 1e-11);
	CHECK(out.lambda == 0.01);

	/* a bend: 0.5/(0.5 1000 (e^0.1 - 1)) */
	s.loss = (DpermLoss) {DPERM_LOSS_HUBER, 0.5};
	s.lambda = 0.001;
	out = calibrated(&s);
	CHECK_NEAR(out.lambda, 0.0095083319447750496, 1e-15);
	CHECK_NEAR(out.claim.shares[DPERM_SHARE_SLACK], 0.1, 1e-12);
	CHECK_NEAR(out.claim.shares[DPERM_SHARE_NOISE], 0.9 - out.claim.shares[DPERM_SHARE_RELEASE], 1e-12);

	s.loss = plain_setup().loss;
	s.method = DPERM_METHOD_OUTPUT;
	out = calibrated(&s);
	CHECK(out.lambda == 0.001);
	CHECK_NEAR(out.noise_scale, 2 / (1 - out.claim.shares[DPERM_SHARE_RELEASE]), 1e-11);

	s.method = DPERM_METHOD_OBJECTIVE;
	s.analysis = DPERM_ANALYSIS_PAPER;
	s.lambda = 0.01;
	out = calibrated(&s);
	CHECK_NEAR(out.claim.shares[DPERM_SHARE_SLACK], 0.049385225180743, 1e-14);
	CHECK_NEAR(out.noise_scale, 2 / (1 - out.claim.shares[DPERM_SHARE_RELEASE] - 0.049385225180743), 1e-11);
}

TEST(is_monotone)
{
	TestRandom	state = 11;

	for (int i = 0; i < 5000; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermSetup	more = s;
		DpermCalibration a = calibrated(&s);
		DpermCalibration b;

		/* a larger epsilon never means more noise (the paper's rule jumps) */
		more.epsilon = fmin(1.5 * s.epsilon, DPERM_EPSILON_MAX);
		if (s.method == DPERM_METHOD_OUTPUT || s.analysis == DPERM_ANALYSIS_SHARP)
		{
			b = calibrated(&more);
			CHECK(b.noise_scale <= a.noise_scale);
			CHECK(b.lambda <= a.lambda);
		}

		/* nor do more rows */
		more = s;
		more.rows = s.rows * 2 < DPERM_ROWS_MAX ? s.rows * 2 : s.rows;
		if (s.method == DPERM_METHOD_OUTPUT || s.analysis == DPERM_ANALYSIS_SHARP)
		{
			b = calibrated(&more);
			CHECK(b.lambda <= a.lambda);
			CHECK(b.noise_scale / b.lambda / more.rows <=
				  a.noise_scale / a.lambda / s.rows * (1 + 1e-9) ||
				  s.method == DPERM_METHOD_OUTPUT || b.lambda < a.lambda);
		}

		/* the dimension changes no share of epsilon by more than the release has */
		more = s;
		more.dim = s.dim + dperm_loss_blocks(s.loss);
		if (more.dim > DPERM_DIM_MAX)
			more.dim = dperm_loss_blocks(s.loss);
		b = calibrated(&more);
		if (s.analysis == DPERM_ANALYSIS_SHARP || s.method == DPERM_METHOD_OUTPUT)
		{
			CHECK(fabs(b.claim.shares[DPERM_SHARE_NOISE] - a.claim.shares[DPERM_SHARE_NOISE]) <= 0.01 * s.epsilon);
			CHECK(fabs(b.claim.shares[DPERM_SHARE_SLACK] - a.claim.shares[DPERM_SHARE_SLACK]) <= 0.01 * s.epsilon);
			CHECK(more.dim < s.dim || b.weight_bound >= a.weight_bound * 0.99);
			CHECK(more.dim < s.dim || b.residual >= a.residual * 0.99);
		}
	}
}

/* The tail bound: 2^-65, and too large by a small factor at most. */
TEST(bounds_the_tail_of_the_noise)
{
	for (int dim = 1; dim <= DPERM_DIM_MAX; dim += 1 + dim / 7)
	{
		double		tail = dperm_draw_gamma_sphere_tail(dim, 1);

		CHECK(gamma_upper(dim, tail) < 0x1p-65);
		CHECK(gamma_upper(dim, tail / 3) > 0x1p-65);
		CHECK_NEAR(dperm_draw_gamma_sphere_tail(dim, 7), 7 * tail, 1e-12 * tail);
	}
}

TEST(needs_no_noise_without_privacy)
{
	TestRandom	state = 13;

	for (int i = 0; i < 5000; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermCalibration out;

		s.epsilon = INFINITY;
		out = calibrated(&s);
		CHECK(out.lambda == s.lambda);
		CHECK(out.noise_scale == 0 && out.claim.shares[DPERM_SHARE_SLACK] == 0 && out.claim.shares[DPERM_SHARE_NOISE] == 0 &&
			  out.claim.shares[DPERM_SHARE_RELEASE] == 0 && out.release_scale == 0 && out.grid == 0);
		CHECK(out.gradient_bound >= 1e-12 && out.weight_bound > 0);
		CHECK(isfinite(out.gradient_bound) && isfinite(out.weight_bound));
	}
}

TEST(has_a_plain_default)
{
	DpermSetup	s = {.method = DPERM_METHOD_OBJECTIVE, .analysis = DPERM_ANALYSIS_PAPER, .epsilon = 0.5, .rows = 1000, .dim = 20};

	CHECK_NEAR(dperm_calibrate_default_lambda(&s), 0.004, 1e-17);
	s.epsilon = INFINITY;
	CHECK_NEAR(dperm_calibrate_default_lambda(&s), 0.001, 1e-18);
	s = (DpermSetup) {.analysis = DPERM_ANALYSIS_PAPER, .epsilon = 1e9, .rows = DPERM_ROWS_MAX, .dim = 1};
	CHECK(dperm_calibrate_default_lambda(&s) == DPERM_LAMBDA_MIN);
	s = (DpermSetup) {.analysis = DPERM_ANALYSIS_PAPER, .epsilon = 1e-6, .rows = 1, .dim = 5000};
	CHECK(dperm_calibrate_default_lambda(&s) == 5e8);
	s.epsilon = 1e-9;
	CHECK(dperm_calibrate_default_lambda(&s) == DPERM_LAMBDA_MAX);
}

/* Pure noise: what is left of it when rows are removed is a half or less, as the slack may be less, too. */
TEST(removing_needs_half_the_noise)
{
	TestRandom	state = 37;

	for (int i = 0; i < 5000; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermSetup	removed = s;
		DpermCalibration a,
					b;

		s.neighbours = DPERM_NEIGHBOURS_REPLACE;
		removed.neighbours = DPERM_NEIGHBOURS_REMOVE;
		a = calibrated(&s);
		b = calibrated(&removed);
		if (s.method == DPERM_METHOD_OUTPUT || (s.analysis == DPERM_ANALYSIS_SHARP && b.lambda == a.lambda))
			CHECK(b.noise_scale <= a.noise_scale * 0.56);	/* the release may have more */
		if (s.method == DPERM_METHOD_OUTPUT || s.loss.kind == DPERM_LOSS_HUBER)
			CHECK(b.noise_scale >= a.noise_scale * 0.44 || s.analysis == DPERM_ANALYSIS_PAPER);
		CHECK(s.analysis == DPERM_ANALYSIS_PAPER || b.lambda <= a.lambda * (1 + 1e-9));
		CHECK(a.claim.neighbours == DPERM_NEIGHBOURS_REPLACE && b.claim.neighbours == DPERM_NEIGHBOURS_REMOVE && b.claim.delta == 0);
	}
}

/*
 * With delta: what an adversary can learn, from first principles, is within it,
 * and the noise is less than twice what is needed.
 */
TEST(gaussian_noise_is_enough)
{
	TestRandom	state = 41;

	for (int i = 0; i < 400; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermCalibration out;
		double		epsilon;

		s.analysis = DPERM_ANALYSIS_SHARP;
		s.delta = pow(10, -15 * test_uniform(&state)) * 0.9;
		s.delta = fmax(s.delta, DPERM_DELTA_MIN);
		out = calibrated(&s);
		CHECK(sane(&out) && out.claim.delta == s.delta);

		/* what is left of epsilon, once the Jacobian and the release are paid for; of delta the tail takes its part */
		epsilon = s.epsilon - out.claim.shares[DPERM_SHARE_RELEASE];
		if (s.method == DPERM_METHOD_OBJECTIVE)
			epsilon -= (double) slack_reference(s.loss, (int) apart(&s), rank_of(s.loss), s.rows * (long double) out.lambda, epsilon);
		CHECK(epsilon > 0 && out.claim.shares[DPERM_SHARE_NOISE] <= epsilon * (1 + 1e-12));
		if (s.method == DPERM_METHOD_OBJECTIVE && s.neighbours == DPERM_NEIGHBOURS_REPLACE)
		{
			/* test_person has what that is compared with */
			double		mu = (double) (2 * norm_of(s.loss) / out.noise_scale);

			CHECK(dperm_privacy_average_delta(mu, epsilon, out.floor) + 0x1p-66 * (delta_of(&s) / s.delta) <= delta_of(&s) * (1 + 1e-9));
			CHECK(dperm_privacy_average_delta(mu * 1.001, epsilon, out.floor) > delta_of(&s) * (1 - 1e-3) - 0x1p-63);
			CHECK(hockey_closed(mu, epsilon) <= delta_of(&s));
		}
		else
		{
			long double mu = norm_of(s.loss) * apart(&s) / out.noise_scale /
				(s.method == DPERM_METHOD_OUTPUT ? s.rows * (long double) out.lambda : 1);

			CHECK(hockey_closed(mu, epsilon) + 0x1p-66L * (delta_of(&s) / s.delta) <= delta_of(&s));
			CHECK(hockey_closed(mu * 1.001L, epsilon) > delta_of(&s) - 0x1p-63L);
		}
		check_release(&s, &out);
	}
}

/*
 * A tangent that takes all of epsilon, up to rounding, leaves a floor that is
 * not above the rest: the search for sigma ends.
 */
TEST(ends_at_the_least_delta)
{
	TestRandom	state = 47;

	for (int i = 0; i < 400; i++)
	{
		DpermSetup	s = {.loss = {.kind = DPERM_LOSS_SMOOTH_HINGE, .h = 0.5}, .dim = 6, .delta = DPERM_DELTA_MIN};

		s.unit = i % 2 ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW;
		s.epsilon = 8 + 60 * test_uniform(&state);
		s.rows = 100 + (int64_t) test_below(&state, 4000);
		s.lambda = dperm_calibrate_default_lambda(&s);
		CHECK(isfinite(calibrated(&s).noise_scale));
	}
}

/* The proxy of the excess risk, as the design has it. */
static long double
design_risk(const DpermSetup *s, long double spread, long double lambda)
{
	long double n = (long double) s->rows;
	long double left = s->epsilon - slack_reference(s->loss, (int) apart(s), rank_of(s->loss), n * lambda, s->epsilon);
	long double typical = s->loss.kind == DPERM_LOSS_LOG_COSH ? 25 : s->loss.classes > 0 ? 200 * s->loss.classes : 400;	/* its square */

	return left > 0 ? spread / (2 * (left * n) * (left * n) * lambda) + lambda * typical / 2 : INFINITY;
}

/* The default has the least risk of all, found by trying, but for its three digits. */
TEST(chooses_lambda_by_the_criterion)
{
	TestRandom	state = 29;

	for (int i = 0; i < test_rounds(300); i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermNoise	noise = {.spread = 0};
		DpermCalibration out;
		int			dim = dperm_setup_row_dim(&s);
		long double squares = dperm_loss_blocks(s.loss) * powl(reach_of(s.loss) * apart(&s), 2);
		long double spread = squares * dim * (dim + 1);
		long double best = INFINITY;
		long double found;

		s.method = DPERM_METHOD_OBJECTIVE;
		s.analysis = DPERM_ANALYSIS_SHARP;
		s.slack = 0;
		if (i % 2)
		{
			noise.spread = dperm_noise_spread(DPERM_LAW_NORM, NULL, dim) * power_between(&state, -2, 0);
			spread = squares * (long double) noise.spread;
			s.noise = &noise;
		}
		s.lambda = dperm_calibrate_default_lambda(&s);
		for (long double lambda = DPERM_LAMBDA_MIN; lambda < DPERM_LAMBDA_MAX; lambda *= 1.05L)
			best = fminl(best, design_risk(&s, spread, lambda));
		for (long double near = 0.95L; near < 1.05L; near += 0.002L)
			best = fminl(best, design_risk(&s, spread, fmaxl(near * s.lambda, DPERM_LAMBDA_MIN)));
		found = design_risk(&s, spread, s.lambda);
		CHECK(found <= best * 1.002L);	/* of three digits, at a corner */

		/*
		 * and is used as it is, with the slack that it needs, where rounding is
		 * paid for
		 */
		s.noise = NULL;
		s.lambda = dperm_calibrate_default_lambda(&s);
		out = calibrated(&s);
		CHECK(out.lambda == s.lambda || out.claim.shares[DPERM_SHARE_SLACK] > 0.899 * s.epsilon);
		CHECK(out.claim.shares[DPERM_SHARE_NOISE] > 0.08 * s.epsilon);
	}
}

/*
 * A lambda that the caller specifies is raised only where the slack would take
 * more than a tenth of epsilon, or more than the criterion gives it.
 */
TEST(keeps_lambda_where_it_can)
{
	TestRandom	state = 31;

	for (int i = 0; i < 2000; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermSetup	free = s;
		DpermCalibration out,
					best;
		double		most;

		s.method = free.method = DPERM_METHOD_OBJECTIVE;
		s.analysis = free.analysis = DPERM_ANALYSIS_SHARP;
		s.slack = free.slack = 0;
		free.lambda = dperm_calibrate_default_lambda(&free);
		best = calibrated(&free);
		out = calibrated(&s);
		most = fmax(0.1 * s.epsilon, best.claim.shares[DPERM_SHARE_SLACK]);
		CHECK(out.claim.shares[DPERM_SHARE_SLACK] <= most * (1 + 1e-9));
		CHECK(out.lambda == s.lambda || out.claim.shares[DPERM_SHARE_SLACK] >= most * (1 - 1e-9));
	}
}

/* The release has the share at which it and the noise together move the weights least, up to a hundredth. */
TEST(release_takes_the_best_share)
{
	TestRandom	state = 43;
	int			inside = 0;

	for (int i = 0; i < 3000; i++)
	{
		DpermSetup	s = any_setup(&state);
		DpermCalibration out;
		double		share,
					noise,
					release,
					found;

		s.analysis = DPERM_ANALYSIS_SHARP;
		out = calibrated(&s);
		share = out.claim.shares[DPERM_SHARE_RELEASE] / s.epsilon;
		CHECK(share > 0 && share <= 0.01 * (1 + 1e-15));
		noise = dperm_mechanism_effect(&s, &out) * (1 - share);
		release = sqrt(2.0 * s.dim) * out.grid * (double) out.release_scale * share;
		release *= sqrt((double) (1 + curvature(s.loss) / (s.dim * (long double) out.lambda)));	/* the mean of curvatures, over lambda */
		found = pow(noise / (1 - share), 2) + pow(release / share, 2);
		for (double other = 1e-9; other <= 0.01; other *= 1.1)
			CHECK(found <= 1.002 * (pow(noise / (1 - other), 2) + pow(release / other, 2)));
		inside += share < 0.0099;
	}
	CHECK(inside > 1000 && inside < 3000);
}

/* Each parameter just outside its range. */
TEST(refuses_bad_arguments)
{
	DpermCalibration out;
	DpermSetup	s;

#define REFUSED(change) \
	do { \
		s = plain_setup(); \
		change; \
		CHECK(dperm_calibrate(&s, &out) != NULL); \
	} while (0)
#define TAKEN(change) \
	do { \
		s = plain_setup(); \
		change; \
		CHECK(dperm_calibrate(&s, &out) == NULL); \
	} while (0)

	REFUSED(s.epsilon = 0);
	REFUSED(s.epsilon = -1);
	REFUSED(s.epsilon = NAN);
	REFUSED(s.epsilon = -INFINITY);
	REFUSED(s.epsilon = nextafter(1e-6, 0));
	TAKEN(s.epsilon = 1e-6);
	TAKEN(s.epsilon = 500);
	REFUSED(s.epsilon = nextafter(500, 501));
	REFUSED(s.delta = -1e-6);
	REFUSED(s.delta = NAN);
	REFUSED(s.delta = 1);
	REFUSED(s.delta = nextafter(DPERM_DELTA_MIN, 0));
	TAKEN(s.delta = DPERM_DELTA_MIN);
	TAKEN(s.delta = 1 - 0x1p-53);
	TAKEN((s.delta = 1e-6, s.method = DPERM_METHOD_OUTPUT));
	REFUSED((s.delta = 1e-6, s.epsilon = INFINITY));
	REFUSED((s.delta = 1e-6, s.analysis = DPERM_ANALYSIS_PAPER));
	REFUSED(s.neighbours = (DpermNeighbours) 2);
	TAKEN(s.neighbours = DPERM_NEIGHBOURS_REMOVE);
	REFUSED(s.lambda = -1e-300);
	REFUSED(s.lambda = NAN);
	REFUSED(s.lambda = INFINITY);
	REFUSED(s.lambda = nextafter(1e9, 1e10));
	TAKEN(s.lambda = 1e9);
	TAKEN(s.lambda = 0);
	TAKEN((s.lambda = 0, s.analysis = DPERM_ANALYSIS_PAPER));
	REFUSED((s.lambda = 0, s.method = DPERM_METHOD_OUTPUT));
	REFUSED((s.lambda = 0, s.epsilon = INFINITY));
	TAKEN((s.lambda = 0, s.epsilon = 500));
	REFUSED((s.lambda = 9e-11, s.method = DPERM_METHOD_OUTPUT));
	TAKEN((s.lambda = 1e-10, s.method = DPERM_METHOD_OUTPUT));
	REFUSED(s.rows = 0);
	REFUSED(s.rows = -1);
	REFUSED(s.rows = DPERM_ROWS_MAX + 1);
	TAKEN(s.rows = DPERM_ROWS_MAX);
	TAKEN(s.rows = 1);
	REFUSED(s.dim = 0);
	REFUSED(s.dim = -5);
	REFUSED(s.dim = DPERM_DIM_MAX + 1);
	TAKEN(s.dim = DPERM_DIM_MAX);
	REFUSED(s.loss = ((DpermLoss) {DPERM_LOSS_HUBER, 0}));
	REFUSED(s.loss = ((DpermLoss) {DPERM_LOSS_HUBER, NAN}));
	REFUSED(s.loss = ((DpermLoss) {DPERM_LOSS_SMOOTH_HINGE, 0.0099}));
	REFUSED(s.loss = ((DpermLoss) {DPERM_LOSS_SMOOTH_HINGE, 1.01}));
	TAKEN(s.loss = ((DpermLoss) {DPERM_LOSS_SMOOTH_HINGE, 0.01}));
	TAKEN(s.loss = ((DpermLoss) {DPERM_LOSS_HUBER, 1}));
	REFUSED(s.loss = ((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.0199}));
	TAKEN(s.loss = ((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.02}));
	REFUSED((s.loss = ((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}), s.analysis = DPERM_ANALYSIS_PAPER));
}

TEST(knows_names)
{
	CHECK_TEXT(dperm_mechanism_name(DPERM_METHOD_OBJECTIVE), "objective");
	CHECK_TEXT(dperm_mechanism_name(DPERM_METHOD_OUTPUT), "output");
	CHECK_TEXT(dperm_calibrate_analysis_name(DPERM_ANALYSIS_SHARP), "sharp");
	CHECK_TEXT(dperm_calibrate_analysis_name(DPERM_ANALYSIS_PAPER), "paper");
}
